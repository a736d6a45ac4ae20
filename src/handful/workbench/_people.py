"""`People`: several people at one project, so that no two of them have the same open sentence on their pages.

A share of the sentences is given to two of them, each without sight of the other's answer.
"""

import hmac
import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock

from handful.errors import DataError
from handful.text.projects import State

HELD = 300.0  # seconds for which a sentence is kept for somebody who does nothing
AWAY = 5.0  # seconds after which the sentences of somebody who has left are free: a page that is read again comes back
LONGEST_NAME = 40


class People:
    """The names of people, who is there, and which sentence is on whose page. Any thread may call it.

    Parameters
    ----------
    names : two or more
    both : the share of sentences that are given to two people
    clock : tells the seconds
    """

    def __init__(self, names: Sequence[str], both: float = 0.1, clock: Callable[[], float] = time.monotonic) -> None:
        self.names = check_names(names)
        if not 0 <= both <= 1:
            raise DataError(f"the share of sentences that two people decide is {both}, expected 0 to 1")
        self.both = both
        self.tell: Callable[[], object] = lambda: None  # called when somebody comes or goes
        self._clock = clock
        self._lock = Lock()
        self._held: dict[int, dict[str, float]] = {}  # by sentence, until when somebody has it
        self._pages: Counter[str] = Counter()  # how many pages somebody has open
        self._left: dict[str, float] = {}  # when the last page of somebody was closed

    def tokens(self, secret: str) -> dict[str, str]:
        """Return the token of each person; they follow from the secret of the server."""
        return {
            name: hmac.digest(secret.encode(), f"handful person {name}".encode(), "sha256").hex() for name in self.names
        }

    def is_for_two(self, id: int) -> bool:
        """Whether a sentence is given to two people; the same ones each time."""
        return random.Random(id).random() < self.both

    @contextmanager
    def here(self, name: str) -> Iterator[None]:
        """Count a page of somebody, until the end of the block."""
        with self._lock:
            self._pages[name] += 1
        self.tell()
        try:
            yield
        finally:
            with self._lock:
                self._pages[name] -= 1
                self._left[name] = self._clock()
            self.tell()

    def present(self) -> list[str]:
        """Return who is there."""
        return [name for name in self.names if self._pages[name]]

    def other(self, name: str, id: int, places: int = 1, *, is_taken: bool = False) -> str | None:
        """Return who else has a sentence, where all its places are taken; else keep it, if that is what is wanted."""
        with self._lock:
            now = self._clock()
            holders = self._held.get(id, {})
            for one, until in list(holders.items()):
                if until < now or (not self._pages[one] and self._left.get(one, now) < now - AWAY):
                    del holders[one]
            others = [one for one in holders if one != name]
            if len(others) >= places:
                return others[0]
            if is_taken:
                self._held.setdefault(id, holders)[name] = now + HELD
            return None

    def free(self, name: str, id: int) -> None:
        """Keep a sentence no longer."""
        with self._lock:
            if self._held.get(id, {}).pop(name, None) and not self._held[id]:
                del self._held[id]


def check_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names of people; an error where they cannot be told apart."""
    for one in names:
        if not one.strip() or one != one.strip() or len(one) > LONGEST_NAME or not one.isprintable():
            raise DataError(f"{one!r:.60} is no name of a person: give one line of at most {LONGEST_NAME} characters")
    if len({one.casefold() for one in names}) < max(2, len(names)):
        raise DataError(f"the people are {', '.join(names)}; give two names or more, and each of them once")
    return tuple(names)


def settled(one: State, other: State) -> State:
    """Return the second of two answers where they are the same; else the sentence is disputed, with what they share."""
    if one == other:
        return other
    return State("disputed", tuple(span for span in one.spans if span in other.spans))
