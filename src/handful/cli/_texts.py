"""The texts that a command is given: files, standard input, or texts themselves, one document after the other."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from handful._util.files import expand

from .options import say, say_report

if TYPE_CHECKING:
    from handful.text import Document, Stream

__all__ = ["Documents", "check_files"]


def check_files(files: Sequence[str], format: str | None, options: Mapping[str, Any]) -> None:
    """Look at the beginning of each file: one that cannot be read, or is of no known format, is known before any work.

    Standard input and pipes are left alone, for they can be read only once.
    """
    from handful.text import stream

    for path in files:
        if path != "-" and (os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path)):
            stream(path, format, **options).close()


class Documents:
    """The documents of texts and files, read when they are asked for; what reading handled is said.

    Parameters
    ----------
    files
        Their names, or patterns for them; ``-`` is standard input, and so are no files and no texts.
    texts
        Texts themselves; they come first.
    format, encoding, text_field, malformed
        Of the files, as for `handful.text.read`.
    quiet
        Whether to say nothing.
    """

    def __init__(
        self,
        files: Sequence[str] | None,
        texts: Sequence[str] | None,
        format: str | None,
        encoding: str,
        text_field: str | None = None,
        malformed: str = "error",
        *,
        quiet: bool,
    ) -> None:
        self._texts = list(texts or ())
        self._files = expand(files or ([] if texts else ["-"]))
        self._format = format
        self._options = {"encoding": encoding, "text_field": text_field, "malformed": malformed, "unlabelled": True}
        self._quiet = quiet
        check_files(self._files, format, self._options)
        self._n_bytes = sum(map(_size, self._files)) if all(map(_size, self._files)) else 0
        self._n_read = 0  # bytes of the files before the present one
        self._stream: Stream | None = None
        self._documents = self._read()

    def _read(self) -> "Iterator[Document]":
        from handful.text import Document, stream

        for text in self._texts:
            yield Document.of(text)
        for path in self._files:
            if path == "-" and sys.stdin is not None and sys.stdin.isatty():
                say("reading from the terminal; Ctrl-D ends the text", quiet=self._quiet)
            with stream(path, self._format, **self._options) as self._stream:
                yield from self._stream
            say_report(self._stream.report, self._stream.report.name, quiet=self._quiet)
            self._n_read += _size(path)
            self._stream = None

    def __iter__(self) -> "Iterator[Document]":
        return self

    def __next__(self) -> "Document":
        return next(self._documents)

    def is_ready(self, seconds: float) -> bool:
        """Whether the next document can be had without waiting longer than this."""
        return self._stream is None or self._stream.is_ready(seconds)

    @property
    def share(self) -> float | None:
        """The share of all files that was read; None where it is not known."""
        if not self._n_bytes or self._texts:
            return None
        share = 0.0 if self._stream is None else self._stream.share
        if share is None:
            return None
        present = 0 if self._stream is None else _size(self._stream.report.name)
        return (self._n_read + share * present) / self._n_bytes


def _size(path: str) -> int:
    """Return the bytes of a file; 0 where that says nothing of how much there is to read."""
    return os.path.getsize(path) if os.path.isfile(path) else 0
