"""Options, and labels as marks of characters: the writers of all formats share them."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from handful.errors import Advice, DataError, shorten

from ._document import Document
from ._labels import Mark, Span
from ._sentences import Sentence, runs
from ._words import is_blank, word_offsets
from .types import EntityType


@dataclass(frozen=True, slots=True)
class Writing:
    """One file that is being written: the options, and the notes of its report.

    `head` describes types, and the corpus itself, at the head of the file. `is_predicted` says whether labels were
    predicted; None where their scores tell. `known` are the types that sentences were judged for if they do not say
    otherwise.
    """

    scheme: str = "BIO"
    head: tuple[EntityType, ...] = ()
    is_predicted: bool | None = None
    known: frozenset[str] = frozenset()
    notes: Counter[str | Advice] = field(default_factory=Counter)


def label_marks(sentence: Sentence) -> list[Mark] | None:
    """Return the labels of a sentence with a text, partial ones too, in order; None if it is unlabelled."""
    if sentence.spans is None or sentence.starts is None:
        return None
    spans = (*sentence.spans, *partial_spans(sentence))
    marks = [Mark(*sentence.characters(span), span.type, span.score) for span in spans]
    return sorted(marks, key=lambda mark: mark.start)


def text_marks(sentence: Sentence, writing: Writing) -> list[Mark] | None:
    """Return the same for a format that holds the text alone, whose words are found again when it is read."""
    note_changed_words(sentence, writing)
    marks = label_marks(sentence)
    for mark in marks or ():
        words = (sentence.text or "")[mark.start : mark.end]
        if is_blank(words):
            raise DataError(
                f"a format of texts cannot hold the {mark.label} {words!r} in {shorten(sentence.text or '')!r}: "
                "nothing is visible in it; take this label away, or write a format of words, such as gliner"
            )
    return marks


def partial_spans(sentence: Sentence) -> list[Span]:
    """Return each run of words with the same partial label as a span; the label takes the place of a type."""
    return [Span(start, end, str(entry)) for start, end, entry in runs(sentence.allowed or ())]


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
    if n_breaks := text.count("\r") + text.count("\n"):
        writing.notes["line breaks were written as spaces"] += n_breaks
    return text.replace("\r", " ").replace("\n", " ")
