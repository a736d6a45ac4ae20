"""Targets that end or stop the process that tries them, for the tests of the fuzzer itself."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fuzz.engine import Case, Run, Target

__all__ = ["FAULTY"]


@contextmanager
def open_exit(folder: Path) -> Iterator[Run]:
    """End the process."""
    yield lambda case: os._exit(3)


@contextmanager
def open_hang(folder: Path) -> Iterator[Run]:
    """Never come back."""

    def run(case: Case) -> object:
        while True:
            pass

    yield run


FAULTY = {
    "faulty-exit": Target("faulty-exit", "it ends the process", open_exit, {}),
    "faulty-hang": Target("faulty-hang", "it never comes back", open_hang, {}),
}
