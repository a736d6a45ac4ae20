"""Naming and writing files: paths, ``-``, open files, gzip; files that appear when they are complete."""

import gzip
import io
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from handful._util.files import failed, replacing
from handful.errors import DataError, FileError

__all__ = ["AnyFile", "check_encoding", "file_name", "write_text"]

AnyFile = str | os.PathLike[str] | IO[str] | IO[bytes]
"""A path, ``-`` for standard input or output, or an open file, of text or bytes."""


def check_encoding(encoding: str) -> None:
    """Refuse an encoding that does not exist."""
    if not isinstance(encoding, str):
        raise DataError(f"encoding is {encoding!r}, expected a name such as 'utf-8'")
    try:
        b" ".decode(encoding)
    except (LookupError, ValueError) as error:
        if not isinstance(error, UnicodeError):  # that is half a character of it
            raise DataError(f"there is no text encoding {encoding!r}") from None


def write_text(file: AnyFile, pieces: Iterable[str] | Iterable[bytes]) -> None:
    """Write pieces of text in UTF-8, or bytes; a file appears, or is replaced, when it is complete.

    A path that ends in ``.gz`` is compressed. Text for anything but a plain file (standard output, a pipe, an open
    file) goes there directly.
    """
    name = "standard output" if file == "-" else file_name(file)
    guarded = _guard_bom(pieces)
    try:
        if file == "-":
            target: Any = getattr(sys.stdout, "buffer", sys.stdout)
            _pour(guarded, target)
            target.flush()
        elif isinstance(file, str | os.PathLike):
            _replace(Path(os.path.realpath(file)), guarded, is_gzip=os.fspath(file).endswith(".gz"))
        else:
            _pour(guarded, file)
    except UnicodeEncodeError as error:
        raise DataError(
            f"{name}: a word or label has half of a surrogate pair ({error.object[error.start]!r}), which is "
            "not a character; nothing can be written"
        ) from None
    except (FileError, BrokenPipeError):  # where a reader stopped reading, the file is not to blame
        raise
    except OSError as error:
        raise failed(name, error) from None


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


def _replace(path: Path, pieces: Iterable[str | bytes], *, is_gzip: bool) -> None:
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


def _pour(pieces: Iterable[str | bytes], target: Any) -> None:
    if isinstance(target, io.TextIOBase):
        for piece in pieces:
            if isinstance(piece, bytes):
                raise DataError("the format is one of bytes; open the file for bytes, not for text")
            target.write(piece)
    else:
        for piece in pieces:
            target.write(piece if isinstance(piece, bytes) else piece.encode())


def _guard_bom(pieces: Iterable[str | bytes]) -> Iterator[str | bytes]:
    """Put a byte-order mark before a text that starts with one: reading takes only the first away."""
    is_first = True
    for piece in pieces:
        if is_first and piece:
            is_first = False
            if piece[0] == "\ufeff":
                yield "\ufeff"
        yield piece
