"""Text as it comes: the decoded chunks of a file, a pipe or a terminal, and whether more of it is there."""

import codecs
import gzip
import io
import os
import select
import stat
import sys
from contextlib import suppress
from typing import Any

from handful.errors import FileError

__all__ = ["Feed"]

_GZIP = b"\x1f\x8b"


class Feed:
    """The text of an open file, chunk by chunk, each as soon as it is there.

    Before it waits for a pipe or a terminal, what was written to standard output goes out. So a program that reads
    lines and writes answers has answered each line before it waits for the next.

    Parameters
    ----------
    file
        An open file, of text or bytes; gzip is recognised by its first bytes. It is not closed.
    encoding
        The encoding of bytes.

    Attributes
    ----------
    may_wait : bool
        Whether a chunk may have to be waited for, and `is_ready` can tell.
    """

    def __init__(self, file: Any, encoding: str) -> None:
        self._file = file
        self._wrapper: io.BufferedReader | None = None
        self._decoder: Any = None
        self._first = b""
        self._is_over = False
        status = _status(file)
        self.may_wait = status is not None and not stat.S_ISREG(status.st_mode)
        self._n_bytes = status.st_size if status is not None and stat.S_ISREG(status.st_mode) else 0
        self._raw = file
        if isinstance(file.read(0), str):
            self.may_wait = False  # it may have text of its own in store
            return
        if not hasattr(file, "peek"):
            self._file = self._wrapper = io.BufferedReader(file)
        self._before_waiting()
        first = self._file.peek(len(_GZIP))
        if first[: len(_GZIP)] == _GZIP:
            self._file = gzip.GzipFile(fileobj=self._file)
            self.may_wait = False
        else:
            self._first = self._file.read(len(first))  # from here on nothing is kept behind the descriptor's back
        self._decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(encoding)(), translate=True)

    def read(self, size: int) -> str:
        """Return the next characters, about `size` of them at most; none at the end of the text."""
        if self._is_over:
            return ""
        if self._decoder is None:
            text: str = self._file.read(size)
            self._is_over = not text
            return text
        while True:
            self._before_waiting()
            data, self._first = self._first or self._file.read1(size), b""
            text = self._decoder.decode(data, final=not data)
            self._is_over = not data
            if text or not data:
                return text

    def is_ready(self, seconds: float) -> bool:
        """Whether a chunk, or the end, can be read without waiting longer than this; True where nobody can tell."""
        if not self.may_wait or self._first or self._is_over:
            return True
        try:
            return bool(select.select([self._raw], [], [], max(0.0, seconds))[0])
        except (OSError, ValueError):  # on Windows only sockets can be asked
            self.may_wait = False
            return True

    def share(self) -> float | None:
        """Return the share of the file that was read; None where its size is not known."""
        if not self._n_bytes:
            return None
        try:
            return min(1.0, float(self._raw.tell() - len(self._first)) / self._n_bytes)
        except (OSError, ValueError):
            return None

    def close(self) -> None:
        """Let go of the file, which stays open."""
        if isinstance(self._file, gzip.GzipFile):
            self._file.close()
        if self._wrapper is not None:
            with suppress(ValueError):  # what it wraps was closed before
                self._wrapper.detach()
            self._wrapper = None

    def _before_waiting(self) -> None:
        if not self.may_wait or self.is_ready(0) or sys.stdout is None:
            return
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FileError(f"standard output: cannot be written: {error.strerror or error}") from None


def _status(file: Any) -> os.stat_result | None:
    try:
        return os.fstat(file.fileno())
    except (OSError, AttributeError, TypeError, ValueError):  # not a file of the system
        return None
