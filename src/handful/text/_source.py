"""`Source`: a text to read once: a path, ``-``, an open file; gzip and byte-order marks are seen to."""

import gzip
import os
import re
import sys
import time
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

from handful.errors import Advice, FileError, FormatError, HandfulError

from ._feed import Feed
from .files import AnyFile, check_encoding, file_name

__all__ = ["Source"]

HEAD = 1 << 16  # characters that recognition looks at
PAUSE = 0.5  # seconds without more text, after a line, in which a pipe's head is taken to be all there is for now
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


class Source:
    """A text to read once, as lines or as chunks. Its beginning can be looked at first.

    Parameters
    ----------
    file : path, "-", or open file
        Gzip is recognised by its first bytes. An open file is not closed.
    encoding : str
        The encoding of the text; a byte-order mark is left out.

    Attributes
    ----------
    head : str
        The beginning: 64 K characters, or less where the text ends or a pipe pauses after a line.
    is_whole : bool
        Whether `head` is all there is.
    is_empty_input : bool
        Whether this is standard input, with nothing but white space.
    """

    def __init__(self, file: AnyFile, encoding: str = "utf-8") -> None:
        check_encoding(encoding)
        self._encoding = encoding
        self._stack = ExitStack()
        self._path: str | None = None
        self._ahead: deque[str] = deque()  # chunks that `is_ready` has read
        self._rest: list[str] = []  # the beginning of a line whose end has not been read
        self._n_pending: int | None = None  # lines or blocks that are read and not handed out; None: nobody counts them
        self._n_read = self._n_out = 0  # characters
        self.name = "standard input" if file == "-" else file_name(file)
        self.is_whole = False
        with self.errors():
            try:
                self._feed = self._open(file)
                self.head = self._read_head()
                self.is_empty_input = file == "-" and self.is_whole and not self.head.strip()
            except BaseException:
                self.close()
                raise

    def _open(self, file: AnyFile) -> Feed:
        opened: Any = file
        if file == "-":
            if sys.stdin is None:
                raise FileError("standard input: cannot be read: it is closed")
            opened = getattr(sys.stdin, "buffer", sys.stdin)
        elif isinstance(file, str | os.PathLike):
            self._path = os.fspath(file)
            opened = self._stack.enter_context(open(self._path, "rb"))  # noqa: SIM115
        feed = Feed(opened, self._encoding)
        self._stack.callback(feed.close)
        return feed

    def _read_head(self) -> str:
        head = ""
        while len(head) < HEAD and not (_has_line(head) and not self._feed.is_ready(PAUSE)):
            chunk = self._feed.read(HEAD - len(head))
            if not chunk:
                self.is_whole = True
                break
            self._n_read += len(chunk)
            head += chunk
        return head.removeprefix("\ufeff")

    def is_ready(self, seconds: float) -> bool:
        """Whether what comes next can be had without waiting longer than this, as far as can be told.

        On a pipe, that is a line or a block of lines; anywhere else it is always ready.
        """
        if self._n_pending is None or self._n_pending or not self._feed.may_wait:
            return True
        until = time.monotonic() + seconds
        while self._feed.is_ready(until - time.monotonic()):
            chunk = self._read(HEAD)
            self._ahead.append(chunk)
            if not chunk or ("\n" in chunk and (chunk.strip() or any(map(str.strip, self._rest)))):
                return True
        return False

    @property
    def share(self) -> float | None:
        """The share of the text that was handed out, as far as can be told; None where its size is not known."""
        share = self._feed.share()
        return None if share is None else share * self._n_out / max(self._n_read, 1)

    def lines(self, longest: int | None = None) -> Iterator[str]:
        """Yield the lines, each with its line feed (the last one may have none).

        Parameters
        ----------
        longest
            A line with more characters may come in parts; only the last one has the line feed.
        """
        n_rest = 0
        for chunk in self.chunks():
            first, *others = chunk.split("\n")
            self._rest.append(first)
            n_rest += len(first)
            if others:
                whole = ["".join(self._rest), *others[:-1]]
                self._rest, n_rest = [others[-1]], len(others[-1])
                yield from self._hand_out([line + "\n" for line in whole])
            if longest is not None and n_rest > longest:
                part = "".join(self._rest)
                self._rest, n_rest = [], 0
                yield from self._hand_out([part])
        if last := "".join(self._rest):
            self._rest = []
            yield from self._hand_out([last])

    def blocks(self) -> Iterator[tuple[int, str]]:
        """Yield the blocks between blank lines, each with the number of its first line.

        A block may hold lines of white space. It has no line feed at its ends.
        """
        number, rest = 1, ""
        for chunk in self.chunks():
            text = rest + chunk
            pieces = text.split("\n\n")
            if len(pieces) == 1:
                pieces = _BLANK_LINE.split(text)
            rest = pieces.pop()
            for piece in self._hand_out(pieces):
                block = piece.lstrip("\n")
                if block:
                    yield number + len(piece) - len(block), block
                number += piece.count("\n") + 2
        block = rest.lstrip("\n")
        if block:
            yield number + len(rest) - len(block), block.removesuffix("\n")

    def chunks(self) -> Iterator[str]:
        """Yield the text in pieces of growing size."""
        yield self.head
        size = HEAD
        while chunk := self._ahead.popleft() if self._ahead else self._read(size):
            yield chunk
            size = min(2 * size, 1 << 20)

    def _hand_out(self, items: list[str]) -> Iterator[str]:
        """Yield items, and note how many there are still to come; blank ones at the end do not count."""
        n_pending = len(items)
        while n_pending and items[n_pending - 1].isspace():
            n_pending -= 1
        for number, item in enumerate(items, 1):
            self._n_pending = max(0, n_pending - number)
            self._n_out += len(item)
            yield item

    def _read(self, size: int) -> str:
        chunk = self._feed.read(size)
        self._n_read += len(chunk)
        return chunk

    def close(self) -> None:
        """Close what this object opened."""
        self._stack.close()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors of the system and of decoding into those of handful."""
        try:
            yield
        except (HandfulError, BrokenPipeError):  # the latter is about what was written before waiting for more
            raise
        except UnicodeError as error:
            raise self._undecodable(error) from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(f"{self.name}: the gzip file is damaged or cut off ({error})") from None
        except OSError as error:
            raise FileError(f"{self.name}: cannot be read: {error.strerror or error}") from None

    def _undecodable(self, error: UnicodeError) -> FormatError:
        where = self.name
        if self._path is not None and self._encoding == "utf-8":
            with suppress(Exception), ExitStack() as stack:
                binary: Any = stack.enter_context(open(self._path, "rb"))
                if binary.peek(2)[:2] == b"\x1f\x8b":
                    binary = stack.enter_context(gzip.GzipFile(fileobj=binary))
                for number, line in enumerate(binary, 1):
                    try:
                        line.decode()
                    except UnicodeDecodeError as exact:
                        where, error = f"{where}:{number}", exact
                        break
        found = f" (byte {error.object[error.start]:#04x})" if isinstance(error, UnicodeDecodeError) else ""
        advice = "if it is text, say in which encoding, for example"
        return FormatError(
            f"{where}: this is not text in {self._encoding}{found}",
            Advice(
                f"{advice} encoding='latin-1' or encoding='utf-16'",
                f"{advice} --encoding latin-1 or --encoding utf-16",
            ),
        )


def _has_line(head: str) -> bool:
    """Whether there is a whole line with something in it, other than the bracket that opens a JSON record."""
    line, *others = head.lstrip().split("\n", 1)
    return bool(others) and line.strip() not in ("{", "[", "[{")
