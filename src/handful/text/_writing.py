"""What all writers share: the report, and labels as marks of characters."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from handful.errors import Advice, DataError

from ._document import Document
from ._entity_types import EntityType
from ._words import is_blank, word_offsets
from .reading import Mark, note_lines
from .sentences import Sentence, Span, shorten

__all__ = [
    "WriteReport",
    "Writing",
    "label_marks",
    "note_changed_words",
    "one_line",
    "partial_spans",
    "text_marks",
    "with_words",
]

_LINE_BREAKS = str.maketrans("\r\n", "  ")


@dataclass
class WriteReport:
    """What was written, with a count of everything that the format could not hold.

    Parameters
    ----------
    n_documents, n_sentences : int
        How many were written.
    n_merged : int
        Mentions that the scheme (IO, types) could not keep apart from the one before them.
    notes : Counter of str or Advice
        What else was changed or left out, and how often.
    """

    n_documents: int = 0
    n_sentences: int = 0
    n_merged: int = 0
    notes: Counter[str | Advice] = field(default_factory=Counter)

    def handled(self, *, shell: bool = False) -> list[str]:
        """Return one line for each thing that was not written as it is.

        Parameters
        ----------
        shell : bool
            Whether to name options of the command line instead of parameters in Python.
        """
        lines = []
        if self.n_merged:
            lines.append(f"{self.n_merged} mentions were merged with the one before them: the scheme has no borders")
        return lines + note_lines(self.notes, shell=shell)


@dataclass(frozen=True, slots=True)
class Writing:
    """One file that is being written: the options, and the notes of its report.

    `head` describes types, and the corpus itself, at the head of the file. `is_predicted` says whether labels were
    predicted; None where their scores tell.
    """

    scheme: str = "BIO"
    names: Sequence[str] | None = None
    head: tuple[EntityType, ...] = ()
    is_predicted: bool | None = None
    notes: Counter[str | Advice] = field(default_factory=Counter)


def label_marks(sentence: Sentence) -> list[Mark] | None:
    """Return the labels of a sentence with a text, partial ones too, in order; None if it is unlabelled."""
    if sentence.spans is None or sentence.starts is None:
        return None
    spans = (*sentence.spans, *partial_spans(sentence))
    marks = [Mark(*sentence.characters(span), span.type, span.score) for span in spans]
    return sorted(marks, key=lambda mark: mark.start)


def text_marks(sentence: Sentence) -> list[Mark] | None:
    """Return the same for a format that holds the text alone, whose words are found again when it is read."""
    marks = label_marks(sentence)
    for mark in marks or ():
        words = (sentence.text or "")[mark.start : mark.end]
        if is_blank(words):
            raise DataError(
                f"a format of texts cannot hold the {mark.label} {words!r} in {shorten(sentence.text or '')!r}: "
                "nothing is visible in it; take this label away, or write a format of words, such as gliner"
            )
    return marks


def partial_spans(sentence: Sentence) -> Iterator[Span]:
    """Yield each run of words with the same partial label, which takes the place of a type."""
    start = 0
    for entry, run in groupby(sentence.allowed or ()):
        end = start + len(list(run))
        if entry is not None:
            yield Span(start, end, str(entry))
        start = end


def with_words(documents: Iterable[Document], writing: Writing) -> Iterator[tuple[Document, Sentence]]:
    """Yield documents that have a word, each also as one sentence."""
    for document in documents:
        sentence = document.as_sentence()
        if sentence is None:
            writing.notes["documents without a word were not written"] += 1
        else:
            yield document, sentence


def note_changed_words(sentence: Sentence, writing: Writing) -> None:
    """Count a text whose words are not those that reading would find in it."""
    if word_offsets(sentence.text or "") != list(sentence.offsets or ()):
        writing.notes["texts will be read with other words: the format holds the text, not the words"] += 1


def one_line(sentence: Sentence, writing: Writing) -> str:
    """Return the text of a sentence with spaces for line breaks, which are counted."""
    text = sentence.text or ""
    line = text.translate(_LINE_BREAKS)
    if line != text:
        writing.notes["line breaks were written as spaces"] += sum(text.count(c) for c in "\r\n")
    return line
