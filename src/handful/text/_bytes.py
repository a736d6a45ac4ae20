"""Files of bytes that are not text: their beginning, and all of them."""

import io
import os
import sys
from typing import Any

from handful.errors import FormatError

from ._source import Source
from .files import AnyFile, file_name

__all__ = ["ByteSource", "first_bytes"]


def first_bytes(file: AnyFile, n: int) -> bytes:
    """Return the beginning of a file and leave it there; nothing where that cannot be done."""
    opened: Any = getattr(sys.stdin, "buffer", sys.stdin) if file == "-" else file
    try:
        if isinstance(opened, str | os.PathLike):
            if not os.path.isfile(opened):
                return b""
            with open(opened, "rb") as opened:
                return bytes(opened.read(n))
        if hasattr(opened, "peek") and opened.seekable():  # a pipe is left alone: to look would be to wait
            return bytes(opened.peek(n)[:n])
        if isinstance(opened, io.BytesIO):
            return bytes(opened.getbuffer()[opened.tell() :][:n])
    except (OSError, ValueError):  # reading it will say what is wrong
        pass
    return b""


class ByteSource(Source):
    """The bytes of a file, which has no text.

    Attributes
    ----------
    data : bytes
    """

    def __init__(self, file: AnyFile) -> None:
        super().__init__(io.StringIO())
        self.name = "standard input" if file == "-" else file_name(file)
        with self.errors():
            if isinstance(file, str | os.PathLike) and file != "-":
                with open(file, "rb") as opened:
                    data: Any = opened.read()
            else:
                source: Any = getattr(sys.stdin, "buffer", sys.stdin) if file == "-" else file
                data = source.read()
        if not isinstance(data, bytes):
            raise FormatError(f"{self.name}: the format is one of bytes; open the file for bytes, not for text")
        self.data = data
