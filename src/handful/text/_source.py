"""`InputFile`: a file to read once, opened once. It may be a path, ``-`` or an open file, and gzip."""

import codecs
import gzip
import io
import os
import select
import stat
import sys
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cached_property
from typing import Any

from handful._util.files import AnyFile, file_name
from handful.errors import Advice, DataError, FileError, FormatError, HandfulError

HEAD = 1 << 16  # characters that recognition looks at
PAUSE = 0.5  # seconds without more text, after a line, in which a pipe's head is taken to be all there is for now
_FIRST = 16  # bytes that tell formats that are not text
_GZIP = b"\x1f\x8b"
_MARKS = {codecs.BOM_UTF32_LE: "utf-32", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


def check_encoding(encoding: str) -> None:
    """Refuse an encoding that does not exist."""
    if not isinstance(encoding, str):
        raise DataError(f"encoding is {encoding!r}, expected a name such as 'utf-8'")
    try:
        b" ".decode(encoding)
    except (LookupError, ValueError) as error:
        if not isinstance(error, UnicodeError):  # that is half a character of it
            raise DataError(f"there is no text encoding {encoding!r}") from None


class InputFile:
    """A file to read once: as lines or chunks of text, or as bytes. Its beginning can be looked at first.

    A chunk of a pipe or a terminal can be had as soon as it is there. Before this object waits for one, what was
    written to standard output goes out. So a program that reads lines and writes answers has answered each line before
    it waits for the next.

    Gzip is recognised by its first bytes, and a byte-order mark is left out. An open file is not closed.
    """

    def __init__(self, file: AnyFile, encoding: str = "utf-8") -> None:
        check_encoding(encoding)
        self.is_standard_input = file == "-"
        self.name = "standard input" if self.is_standard_input else file_name(file)  # in messages
        self.path = self.name if isinstance(file, str | os.PathLike) and file != "-" else None
        self.first = b""  # the first bytes, unpacked; none of an open file of text
        self.is_whole = False  # whether `head` is all there is
        self._encoding = encoding
        self._stack = ExitStack()
        self._decoder: Any = None  # None where the file has text
        self._unread = b""  # bytes that were read to look at them
        self._is_over = False
        self._chunks = self.chunks()  # of which `lines` are made
        self._waiting: deque[str] | None = None  # lines that are read and not handed out; None: nobody reads lines
        self._rest: list[str] = []  # the beginning of a line whose end has not been read
        self._longest: int | None = None
        self._n_read = self._n_out = self._n_lines = 0  # characters that were read and handed out; lines
        with self.errors():
            try:
                self._open(file)
            except BaseException:
                self.close()
                raise

    def _open(self, file: AnyFile) -> None:
        opened: Any = file
        if self.is_standard_input:
            if sys.stdin is None:
                raise FileError("standard input: cannot be read: it is closed")
            opened = getattr(sys.stdin, "buffer", sys.stdin)
        elif self.path is not None:
            opened = self._stack.enter_context(open(self.path, "rb"))  # noqa: SIM115
        self._file = self._raw = opened
        status = None
        with suppress(OSError, AttributeError, TypeError, ValueError):  # not a file of the system
            status = os.fstat(opened.fileno())
        is_regular = status is not None and stat.S_ISREG(status.st_mode)
        self._n_bytes = status.st_size if status is not None and is_regular else 0
        self._may_wait = status is not None and not is_regular  # and `select` can tell
        if isinstance(opened.read(0), str):
            self._may_wait = False  # it may have text of its own in store
            return
        if not hasattr(opened, "peek"):
            self._file = wrapper = io.BufferedReader(opened)
            self._stack.callback(_detach, wrapper)
        self._before_waiting()
        first = self._file.peek(_FIRST)
        self.first = first[:_FIRST]
        if first[: len(_GZIP)] == _GZIP:
            self._file = self._stack.enter_context(gzip.GzipFile(fileobj=self._file))
            self.first = self._file.peek(_FIRST)[:_FIRST]
            self._may_wait = False
        else:
            self._unread = self._file.read(len(first))  # from here on nothing is kept behind the descriptor's back
        if codecs.lookup(self._encoding).name == "utf-8":
            self._encoding = next((name for mark, name in _MARKS.items() if self.first.startswith(mark)), "utf-8")
        self._decoder = io.IncrementalNewlineDecoder(codecs.getincrementaldecoder(self._encoding)(), translate=True)

    @cached_property
    def head(self) -> str:
        """The beginning: 64 K characters, or less where the text ends or a pipe pauses after a line."""
        head = ""
        while len(head) < HEAD:
            line, *others = head.lstrip().split("\n", 1)  # the bracket that opens a JSON record is no whole line
            if others and line.strip() not in ("{", "[", "[{") and not self._has_chunk(PAUSE):
                break
            chunk = self._read(HEAD - len(head))
            if not chunk:
                self.is_whole = True
                break
            head += chunk
        return head.removeprefix("\ufeff")

    def read_bytes(self) -> bytes:
        """Return all of a file that is not text."""
        if self._decoder is None:
            raise FormatError(f"{self.name}: the format is one of bytes; open the file for bytes, not for text")
        return self._unread + bytes(self._file.read())

    def seekable(self) -> Any:
        """Return the path, or an open file, from which bytes can be read at any place."""
        if self.path is not None:
            return self.path
        is_seekable = self._decoder is not None and self._raw.seekable() and not self.is_standard_input
        return self._raw if is_seekable else io.BytesIO(self.read_bytes())

    def chunks(self) -> Iterator[str]:
        """Yield the text in pieces of growing size."""
        yield self.head
        size = HEAD
        while chunk := self._read(size):
            yield chunk
            size = min(2 * size, 1 << 20)

    def lines(self, longest: int | None = None) -> Iterator[str]:
        """Yield the lines, each with its line feed (the last one may have none).

        A line of more than `longest` characters may come in parts; only the last one has the line feed.
        """
        self._waiting, self._longest = deque(), longest
        is_more = True
        while is_more:
            is_more = self._take_chunk(self._waiting)
            while self._waiting:
                line = self._waiting.popleft()
                self._n_out += len(line)
                yield line

    def _take_chunk(self, waiting: deque[str]) -> bool:
        """Put the lines of the next chunk with those that wait to be handed out; return False at the end."""
        chunk = next(self._chunks, "")
        first, *others = chunk.split("\n")
        self._rest.append(first)
        if others:
            waiting.extend(line + "\n" for line in ("".join(self._rest), *others[:-1]))
            self._rest = [others[-1]]
        if not chunk or (self._longest is not None and sum(map(len, self._rest)) > self._longest):
            waiting.extend(filter(None, ["".join(self._rest)]))
            self._rest = []
        return bool(chunk)

    def is_ready(self, seconds: float) -> bool:
        """Whether the next line of a pipe can be had without waiting longer than this, as far as can be told."""
        if self._waiting is None or not self._may_wait:
            return True
        until = time.monotonic() + seconds
        while all(map(str.isspace, self._waiting)):
            if not self._has_chunk(until - time.monotonic()):
                return False
            if not self._take_chunk(self._waiting):
                return True
        return True

    @property
    def share(self) -> float | None:
        """The share of the text that was handed out, as far as can be told; None where its size is not known."""
        if not self._n_bytes or not self._n_read:
            return None
        try:
            share = min(1.0, float(self._raw.tell() - len(self._unread)) / self._n_bytes)
        except (OSError, ValueError):
            return None
        return share * self._n_out / self._n_read

    def _read(self, size: int) -> str:
        """Return the next characters, about `size` of them at most; none at the end of the text."""
        text = ""
        while not text and not self._is_over:
            if self._decoder is None:
                text = self._file.read(size)
                self._is_over = not text
            else:
                self._before_waiting()
                data, self._unread = self._unread or self._file.read1(size), b""
                text = self._decoder.decode(data, final=not data)
                self._is_over = not data
        self._n_read += len(text)
        self._n_lines += text.count("\n")
        return text

    def _has_chunk(self, seconds: float) -> bool:
        """Whether a chunk, or the end, can be read without waiting longer than this; True where nobody can tell."""
        if not self._may_wait or self._unread or self._is_over:
            return True
        try:
            return bool(select.select([self._raw], [], [], max(0.0, seconds))[0])
        except (OSError, ValueError):  # on Windows only sockets can be asked
            self._may_wait = False
            return True

    def _before_waiting(self) -> None:
        if not self._may_wait or self._has_chunk(0) or sys.stdout is None:
            return
        try:
            sys.stdout.flush()
        except BrokenPipeError:
            raise
        except OSError as error:
            raise FileError(f"standard output: cannot be written: {error.strerror or error}") from None

    def close(self) -> None:
        """Close what this object opened."""
        self._stack.close()

    def on_close(self, function: Callable[[], object]) -> None:
        """Call a function when this object is closed."""
        self._stack.callback(function)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors of the system and of decoding into those of handful."""
        try:
            yield
        except (HandfulError, BrokenPipeError):  # the latter is about what was written before waiting for more
            raise
        except UnicodeError as error:
            where, found, likely = self.name, "", "cp1252"
            if isinstance(error, UnicodeDecodeError):
                before = error.object[: error.start].decode(self._encoding, "ignore")
                where = f"{where}:{self._n_lines + before.count(chr(10)) + 1}"
                found = f" (byte {error.object[error.start]:#04x})"
                with suppress(UnicodeDecodeError):
                    likely = "latin-1"
                    error.object.decode("cp1252")
                    likely = "cp1252"
            advice = Advice.of(
                "if it is text, say in which encoding, for example {}",
                (
                    f"encoding='{likely}' or encoding='utf-16'",
                    f"handful convert --encoding {likely} or --encoding utf-16",
                ),
            )
            raise FormatError(f"{where}: this is not text in {self._encoding}{found}", advice) from None
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise FormatError(f"{self.name}: the gzip file is damaged or cut off ({error})") from None
        except OSError as error:
            raise FileError(f"{self.name}: cannot be read: {error.strerror or error}") from None


def read_small(file: AnyFile, encoding: str) -> tuple[str, str]:
    """Return the name and the text of a file that is read as a whole."""
    source = InputFile(file, encoding)
    try:
        with source.errors():
            return source.name, "".join(source.chunks())
    finally:
        source.close()


def _detach(wrapper: io.BufferedReader) -> None:
    with suppress(ValueError):  # what it wraps was closed before
        wrapper.detach()
