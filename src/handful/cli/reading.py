"""The files that a command is given: labelled sentences, unlabelled text, and texts to tag."""

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any

from handful._util.files import expand
from handful.errors import DataError
from handful.text import Corpus, Document, EntityType, Sentence, Stream, read, stream
from handful.text.types import judged_together

from ._common import say, say_report, types_given


def read_corpus(path: str, format: str | None, *, quiet: bool, **options: Any) -> "Corpus":
    """Read a file, or standard input, and say what was handled."""
    corpus = read(path, format, **options)
    if not corpus:
        raise DataError(f"{corpus.report.name}: there is no sentence in it")
    say_report(corpus.report, corpus.report.name, quiet=quiet)
    return corpus


def read_training(
    labelled: Sequence[str],
    unlabelled: Sequence[str],
    types: Sequence[str] | None,
    format: str | None = None,
    *,
    quiet: bool,
    known: Sequence[EntityType] = (),
    text_field: str | None = None,
    malformed: str = "error",
) -> tuple[list[Sentence], list[Sentence], list[EntityType]]:
    """Read the files that `fit`, `add` and `tune` learn from.

    Return the labelled sentences, those of the unlabelled text, and the types that ``--types`` or heads of files name.
    `format` is that of the labelled files; the names of files may be patterns. Standard input, which may never end, is
    read when all other files are known to be right. Sentences were judged for the types of their file, see
    `judged_together`; `known` are the types of a tagger.
    """
    described = list(types_given(types))
    options = {"text_field": text_field, "malformed": malformed}
    labelled = expand(labelled)
    files = [(path, format, False) for path in labelled] + [(path, None, True) for path in expand(unlabelled)]
    corpora = {
        i: read_corpus(path, form, quiet=quiet, **options, unlabelled=is_text)
        for i, (path, form, is_text) in sorted(enumerate(files), key=lambda one: one[1][0] == "-")
    }
    found: list[Sentence] = []
    for corpus in (corpora[i] for i in range(len(labelled))):
        if all(sentence.is_unlabelled for sentence in corpus) and corpus.report.format != "project":
            raise DataError(
                f"{corpus.report.name}: no sentence is labelled (it was read as {corpus.report.format}); label "
                "mentions as in [Baghdad](LOC), or name the format; unlabelled text goes with --unlabelled"
            )
        found += judged_together(corpus, known=map(str, known))
        has_description = {one.name for one in described if one.description}
        described += [one for one in corpus.types if one.name not in has_description and one in corpus.head]
    return found, [one for i in range(len(labelled), len(files)) for one in corpora[i]], described


def check_texts(files: Sequence[str], format: str | None, options: Mapping[str, Any]) -> None:
    """Look at the beginning of each file: one that cannot be read, or is of no known format, is known before any work.

    Standard input and pipes are left alone, for they can be read only once.
    """
    for path in files:
        if path != "-" and (os.path.isfile(path) or os.path.isdir(path) or not os.path.exists(path)):
            stream(path, format, **options).close()


class Documents:
    """The documents of texts, and then of files or patterns for them, read when they are asked for.

    ``-`` is standard input, and so are no files and no texts. A line says what reading had to handle.
    """

    def __init__(
        self,
        files: Sequence[str] | None,
        texts: Sequence[str] | None,
        format: str | None = None,
        *,
        quiet: bool,
        **options: Any,
    ) -> None:
        self._texts = list(texts or ())
        self._files = expand(files or ([] if texts else ["-"]))
        self._format = format
        self._options = options | {"unlabelled": True}
        self._quiet = quiet
        check_texts(self._files, format, self._options)
        self._n_bytes = sum(map(_size, self._files)) if all(map(_size, self._files)) else 0
        self._n_read = 0  # bytes of the files before the present one
        self._stream: Stream | None = None
        self._documents: Iterator[Document] = self._read()

    def _read(self) -> "Iterator[Document]":
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

    def beginning(self) -> "list[Sentence]":
        """Return the sentences of the first documents, of those that are there; they are not used up by that."""
        first = [*islice(self._documents, 1)]
        while len(first) < 200 and self.is_ready(0) and (more := [*islice(self._documents, 1)]):
            first += more
        self._documents = chain(first, self._documents)
        return [sentence for document in first for sentence in document.sentences]

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
