"""The whole state of a training in one file: tensors in safetensors, the rest as JSON in its header."""

import json
import signal
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, uint8

from handful._util.files import failed, replacing
from handful.errors import Advice, ModelError

_KEY, _CHECKSUM = "handful training", "checksum"


class Checkpoint:
    """The file that a training continues from, and writes to; whoever trains removes it at the end.

    `what` is everything that the result depends on, in types that JSON has: a checkpoint of anything else is an error.
    `every` is the seconds between two writes.
    """

    def __init__(self, path: Path, what: Mapping[str, Any], every: float) -> None:
        self._path, self._what, self._every = path, what, every

    def read(self) -> tuple[dict[str, Tensor], dict[str, Any]] | None:
        """Return the tensors and the rest of the state; None if there is no checkpoint."""
        if not self._path.exists():
            return None
        tensors, state = read_checkpoint(self._path)
        if differing := [key for key in self._what if state.get("what", {}).get(key) != self._what[key]]:
            raise ModelError(
                f"{self._path} is the checkpoint of another training, with different {' and '.join(differing)}",
                Advice(
                    "remove it, say restart=True, or write to another folder",
                    "remove it, say --restart, or write to another folder",
                ),
            )
        return tensors, state

    @contextmanager
    def guarding(
        self, save: Callable[[], tuple[Mapping[str, Tensor], dict[str, Any]]]
    ) -> Iterator[Callable[[str], None]]:
        """Yield a function to call after each step, with words that say how far the training is.

        It writes what `save` returns if it is time, or if Ctrl-C or SIGTERM came; then it raises `KeyboardInterrupt`.
        """
        saved = time.monotonic()

        def write() -> None:
            tensors, state = save()
            write_checkpoint(self._path, tensors, {"what": self._what, **state})

        def after_step(where: str) -> None:
            nonlocal saved
            if interrupted():
                write()
                raise KeyboardInterrupt(
                    f"stopped {where}; the same call again continues from there (state in {self._path})"
                )
            if time.monotonic() - saved >= self._every:
                write()
                saved = time.monotonic()

        with _interrupts() as interrupted:
            yield after_step


def write_checkpoint(path: Path, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    """Write a checkpoint; the previous one is replaced when the new one is complete."""
    contents = {name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()}
    with replacing(path, sync=True) as temporary:
        try:
            text = json.dumps(state)
            save_file(contents, temporary, metadata={_KEY: text, _CHECKSUM: _checksum(contents, text)})
        except SafetensorError as error:
            raise failed(path, error) from None


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a checkpoint: its tensors, and the rest of its state."""
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            state = json.loads(about[_KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if about[_CHECKSUM] != _checksum(tensors, about[_KEY]):
            raise ValueError("it does not match its checksum")
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelError(f"{path} is not a checkpoint that training can go on from ({error}); remove it") from None
    return tensors, state


def _checksum(tensors: Mapping[str, Tensor], text: str) -> str:
    crc = zlib.crc32(text.encode())
    for name, tensor in sorted(tensors.items()):
        crc = zlib.crc32(name.encode(), crc)
        crc = zlib.crc32(tensor.reshape(-1).view(uint8).numpy().data, crc)
    return f"{crc:08x}"


@contextmanager
def _interrupts() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C and SIGTERM wait for the end of a step; a second one does not wait.

    Yields a function that tells whether one came. Outside the main thread, Python does not deliver signals.
    """
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, frame: object) -> None:
        came.append(number)
        for each, handler in before.items():
            signal.signal(each, handler)

    for number in before:
        signal.signal(number, note)
    try:
        yield lambda: bool(came)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
