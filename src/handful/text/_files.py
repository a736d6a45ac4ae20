"""Opening and writing: paths, ``-``, open files, gzip, byte-order marks; files that appear when they are complete."""

import gzip
import io
import os
import re
import sys
import zlib
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain
from pathlib import Path
from typing import IO, Any

from handful._util.files import replacing
from handful.errors import Advice, DataError, FileError, FormatError, HandfulError

__all__ = ["AnyFile", "Source", "check_encoding", "write_text"]

AnyFile = str | os.PathLike[str] | IO[str] | IO[bytes]
"""A path, ``-`` for standard input or output, or an open file, of text or bytes."""

HEAD = 1 << 16  # characters that recognition looks at
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")


class Source:
    """A text to read once, as lines or as chunks. Its beginning can be looked at first.

    Parameters
    ----------
    file : path, "-", or open file
        Gzip is recognised by its first bytes. An open file is not closed.
    encoding : str
        The encoding of the text; a byte-order mark is left out.
    """

    def __init__(self, file: AnyFile, encoding: str = "utf-8") -> None:
        check_encoding(encoding)
        self._encoding = encoding
        self._stack = ExitStack()
        self._path: str | None = None
        self.name = "standard input" if file == "-" else file_name(file)
        with self.errors():
            try:
                self._file = self._open(file)
                self.head = self._file.read(HEAD).removeprefix("\ufeff")
            except BaseException:
                self.close()
                raise

    def _open(self, file: AnyFile) -> IO[str]:
        if file == "-":
            binary: Any = getattr(sys.stdin, "buffer", sys.stdin)
        elif isinstance(file, str | os.PathLike):
            self._path = os.fspath(file)
            binary = self._stack.enter_context(open(self._path, "rb"))  # noqa: SIM115
        else:
            binary = file
        if isinstance(binary.read(0), str):
            return binary  # type: ignore[no-any-return]
        if not hasattr(binary, "peek"):
            binary = io.BufferedReader(binary)
            self._stack.callback(_detach, binary)
        if binary.peek(2)[:2] == b"\x1f\x8b":
            binary = self._stack.enter_context(gzip.GzipFile(fileobj=binary))
        text = io.TextIOWrapper(binary, encoding=self._encoding)
        self._stack.callback(_detach, text)
        return text

    @property
    def is_whole(self) -> bool:
        """Whether `head` is all there is, as far as is known."""
        return len(self.head) < HEAD - 1

    def lines(self) -> Iterator[str]:
        """Yield the lines, each with its line feed (the last one may have none)."""
        head = self.head.split("\n")
        last = head.pop() + self._file.readline()
        lines = [line + "\n" for line in head]
        return chain(lines, [last] if last else [], self._file)

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
            for piece in pieces:
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
        while chunk := self._file.read(size):
            yield chunk
            size = min(2 * size, 1 << 20)

    def close(self) -> None:
        """Close what this object opened."""
        self._stack.close()

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors of the system and of decoding into those of handful."""
        try:
            yield
        except HandfulError:
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


def check_encoding(encoding: str) -> None:
    """Refuse an encoding that does not exist."""
    if not isinstance(encoding, str):
        raise DataError(f"encoding is {encoding!r}, expected a name such as 'utf-8'")
    try:
        b" ".decode(encoding)
    except (LookupError, ValueError) as error:
        if not isinstance(error, UnicodeError):  # that is half a character of it
            raise DataError(f"there is no text encoding {encoding!r}") from None


def _detach(wrapper: io.BufferedReader | io.TextIOWrapper) -> None:
    with suppress(ValueError):  # what it wraps was closed before
        wrapper.detach()


def write_text(file: AnyFile, pieces: Iterable[str]) -> None:
    """Write pieces of text in UTF-8; a file appears, or is replaced, when it is complete.

    A path that ends in ``.gz`` is compressed. Text for anything but a plain file (standard output, a pipe, an open
    file) goes there directly.
    """
    name = "standard output" if file == "-" else file_name(file)
    pieces = _guard_bom(pieces)
    try:
        if file == "-":
            target: Any = getattr(sys.stdout, "buffer", sys.stdout)
            _pour(pieces, target)
            target.flush()
        elif isinstance(file, str | os.PathLike):
            _replace(Path(os.path.realpath(file)), pieces, is_gzip=os.fspath(file).endswith(".gz"))
        else:
            _pour(pieces, file)
    except UnicodeEncodeError as error:
        raise DataError(
            f"{name}: a word or label has half of a surrogate pair ({error.object[error.start]!r}), which is "
            "not a character; nothing can be written"
        ) from None
    except (FileError, BrokenPipeError):  # where a reader stopped reading, the file is not to blame
        raise
    except OSError as error:
        raise FileError(f"{name}: cannot be written: {error.strerror or error}") from None


def file_name(file: AnyFile) -> str:
    """Name a file for messages."""
    if isinstance(file, str | os.PathLike):
        if "\0" in os.fspath(file):
            raise FileError(f"{os.fspath(file)!r} is not a file name: it has a NUL character")
        return os.fspath(file)
    if not hasattr(file, "read") and not hasattr(file, "write"):
        raise DataError(f"a path or an open file is needed, not {file!r}")
    if getattr(file, "closed", False):
        raise FileError(f"{file!r} is closed")
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else "the open file"


def _replace(path: Path, pieces: Iterable[str], *, is_gzip: bool) -> None:
    if path.exists() and not path.is_file():
        if path.is_dir():
            raise FileError(f"{path}: is a folder; a file name is needed")
        with open(path, "wb") as device:
            _pour(pieces, device)
        return
    with replacing(path) as temporary, ExitStack() as stack:
        target: Any = stack.enter_context(open(temporary, "wb"))
        if is_gzip:
            target = stack.enter_context(gzip.GzipFile("", "wb", fileobj=target, mtime=0))
        _pour(pieces, target)


def _pour(pieces: Iterable[str], target: Any) -> None:
    if isinstance(target, io.TextIOBase):
        for piece in pieces:
            target.write(piece)
    else:
        for piece in pieces:
            target.write(piece.encode())


def _guard_bom(pieces: Iterable[str]) -> Iterator[str]:
    """Put a byte-order mark before a text that starts with one: reading takes only the first away."""
    is_first = True
    for piece in pieces:
        if is_first and piece:
            is_first = False
            if piece[0] == "\ufeff":
                yield "\ufeff"
        yield piece
