"""`Events`: changes of a session, in order, for pages that listen and for those that come back."""

from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

KEPT = 1_000


class Events:
    """The last events, each with a number. Any thread may add one."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._kept: deque[tuple[int, dict[str, Any]]] = deque(maxlen=KEPT)
        self._listeners: list[Callable[[], object]] = []
        self.last = 0

    def add(self, kind: str, **details: Any) -> None:
        """Add an event, and wake those who listen."""
        with self._lock:
            self.last += 1
            self._kept.append((self.last, {"kind": kind, **details}))
            listeners = list(self._listeners)
        for wake in listeners:
            wake()

    def since(self, number: int) -> list[tuple[int, dict[str, Any]]]:
        """Return the events after one of them; where they are no longer there, one that says so."""
        with self._lock:
            first = self._kept[0][0] if self._kept else self.last + 1
            if number > self.last or number + 1 < first:
                return [(self.last, {"kind": "reset"})] if number != self.last else []
            return [(n, event) for n, event in self._kept if n > number]

    @contextmanager
    def listen(self, wake: Callable[[], object]) -> Iterator[None]:
        """Call a function at each event, until the end of the block."""
        with self._lock:
            self._listeners.append(wake)
        try:
            yield
        finally:
            with self._lock:
                self._listeners.remove(wake)
