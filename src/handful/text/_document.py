"""`Document`: a text and its sentences, from reading to writing."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from handful._util.html import marked
from handful.errors import DataError

from ._prediction import Predictions
from ._words import to_sentences
from .sentences import Allowed, Sentence, Span, shorten

__all__ = ["Document"]


@dataclass(frozen=True, slots=True)
class Document:
    """A text, its sentences, and what else is known about it.

    Words are found once, when the document is made. Until they are written, mentions are spans of words in its
    sentences.

    Parameters
    ----------
    text : str
        The whole text. The text of a sentence starts in it at ``sentence.offset``.
    sentences : tuple of Sentence
        In order; none if the text has no words.
    id : str, int or None
        What the source calls it.
    meta : dict
        What else came with it, such as the other keys of a JSON record; it is written with it.
    text_field : str
        What the source calls the field that holds the text. It may also be in `meta`, in its place among the others.

    Examples
    --------
    >>> document = Document.of("Dr. Ekeus left. He went to Baghdad.")
    >>> [sentence.text for sentence in document.sentences]
    ['Dr. Ekeus left.', 'He went to Baghdad.']
    """

    text: str
    sentences: tuple[Sentence, ...]
    id: str | int | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)
    text_field: str = "text"

    @classmethod
    def of(cls, item: Any, *, id: str | int | None = None, meta: Mapping[str, Any] | None = None) -> "Document":
        """Make a document of a text (str), which is cut into sentences; of a `Sentence`; or of a list of words.

        A document of words has them joined by single spaces as its text.
        """
        if isinstance(item, Document):
            return item
        if isinstance(item, str):
            return cls(item, tuple(to_sentences(item)), id, meta or {})
        if isinstance(item, Sentence):
            whole = item.with_text() if item.offset == 0 else replace(item.with_text(), offset=0)
            return cls(whole.text or "", (whole,), id, meta or {})
        if isinstance(item, list | tuple):
            return cls.of(Sentence(tuple(item)), id=id, meta=meta) if item else cls("", (), id, meta or {})
        raise DataError(
            f"found {type(item).__name__} {shorten(repr(item), 60)}, expected a text (str), a Sentence, a Document or "
            "a list of words"
        )

    @property
    def n_words(self) -> int:
        """How many words there are."""
        return sum(len(sentence.words) for sentence in self.sentences)

    @property
    def is_unlabelled(self) -> bool:
        """Whether nothing is known of the labels of any sentence."""
        return all(sentence.is_unlabelled for sentence in self.sentences)

    def with_sentences(self, sentences: Iterable[Sentence]) -> "Document":
        """Return the same document with other labels on its sentences."""
        return replace(self, sentences=tuple(sentences))

    def mentions(self) -> Iterator[tuple[int, int, Span]]:
        """Yield the mentions of all sentences: where each starts and ends in `text`, and its span."""
        for sentence in self.sentences:
            for span in sentence.spans or ():
                start, end = sentence.characters(span)
                yield sentence.offset + start, sentence.offset + end, span

    def predictions(self) -> Predictions:
        """Return the mentions as Hugging Face's pipelines do.

        Returns
        -------
        Predictions
            A list of dicts: ``entity_group`` (the type), ``score`` (1 for a label), ``word``, ``start`` and ``end``,
            with ``text[start:end] == word``.
        """
        return Predictions(
            (
                {
                    "entity_group": span.type,
                    "score": 1.0 if span.score is None else span.score,
                    "word": self.text[start:end],
                    "start": start,
                    "end": end,
                }
                for start, end, span in self.mentions()
            ),
            self.text,
        )

    def _repr_html_(self) -> str:
        """Return the text with its mentions marked, for notebooks."""
        found = [(start, end, span.type, span.score) for start, end, span in self.mentions()]
        return marked(self.text, found, sorted({kind for _, _, kind, _ in found}))

    def as_sentence(self) -> Sentence | None:
        """Return all words as one `Sentence` over the whole text; None where there are no words."""
        if not self.sentences:
            return None
        if len(self.sentences) == 1 and self.sentences[0].text == self.text:
            return self.sentences[0]
        words: list[str] = []
        starts: list[int] = []
        spans: list[Span] = []
        allowed: list[Allowed | None] = []
        for sentence in self.sentences:
            first = len(words)
            words += sentence.words
            starts += [sentence.offset + start for start in sentence.starts or ()]
            spans += [replace(span, start=span.start + first, end=span.end + first) for span in sentence.spans or ()]
            allowed += _open_words(sentence, is_any_labelled=not self.is_unlabelled)
        return Sentence(
            tuple(words),
            None if self.is_unlabelled else tuple(spans),
            tuple(allowed) if any(allowed) else None,
            self.text,
            tuple(starts),
        )


def _open_words(sentence: Sentence, *, is_any_labelled: bool) -> Sequence[Allowed | None]:
    """Return the partial labels of a sentence that becomes part of a longer one."""
    if sentence.is_unlabelled and is_any_labelled:
        return sentence.constraints()
    return sentence.allowed or [None] * len(sentence.words)
