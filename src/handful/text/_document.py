"""`Document`: a text and its sentences, from reading to writing; its mentions as Hugging Face's pipelines give them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

from handful._util.html import marked
from handful.errors import DataError, shorten

from ._labels import Allowed, Mark, Span
from ._markup import marked_up
from ._sentences import Sentence
from ._words import cut, to_sentences

N_SHOWN = 25  # texts in a notebook


class Prediction(TypedDict):
    """A mention that was found."""

    entity_group: str  # the name of its type
    score: float  # how sure the tagger is of it, from 0 to 1
    word: str  # the words as the text has them
    # where they are in the text, in code points: ``text[start:end] == word``
    start: int
    end: int


class Predictions(list[Prediction]):
    """The mentions of a `text`: a list, which a notebook shows as the text with its mentions marked."""

    __slots__ = ("text",)

    def __init__(self, found: Iterable[Prediction] = (), text: str = "") -> None:
        super().__init__(found)
        self.text = text

    def _repr_html_(self) -> str:
        return _shown([self])


class PredictionsOfTexts(list[list[Prediction]]):
    """The mentions of several texts: a list of lists, which a notebook shows as the first texts, with marks."""

    __slots__ = ()

    def _repr_html_(self) -> str | None:
        """Return nothing, so that the list is shown as it is, where something else was put into it."""
        first = [one for one in self[:N_SHOWN] if isinstance(one, Predictions)]
        if len(first) < min(len(self), N_SHOWN):
            return None
        n_more = len(self) - len(first)
        return _shown(first) + (f"<p>… and {n_more:,} more</p>" if n_more else "")


def _shown(found: list[Predictions]) -> str:
    """Return texts with their mentions marked, in the same colours."""
    types = sorted({one["entity_group"] for mentions in found for one in mentions})
    pieces = []
    for mentions in found:
        places = ((one["start"], one["end"], one["entity_group"], one["score"]) for one in mentions)
        pieces.append(marked(mentions.text, places, types))
    return "".join(pieces)


@dataclass(frozen=True, slots=True)
class Document:
    """A text, its sentences, and what else is known about it.

    Words are found once, when the document is made. Until they are written, mentions are spans of words in its
    sentences.

    Examples
    --------
    >>> document = Document.of("Dr. Ekeus left. He went to Baghdad.")
    >>> [sentence.text for sentence in document.sentences]
    ['Dr. Ekeus left.', 'He went to Baghdad.']
    """

    text: str  # the whole text. The text of a sentence starts in it at ``sentence.offset``.
    sentences: tuple[Sentence, ...]  # in order; none if the text has no words
    id: str | int | None = None  # what the source calls it
    # what else came with it, such as the other keys of a JSON record; it is written with it
    meta: Mapping[str, Any] = field(default_factory=dict)
    # what the source calls the field that holds the text. It may also be in `meta`, in its place among the others.
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

    @classmethod
    def parts(cls, item: Any) -> "Iterator[Document]":
        """Yield each sentence of what `of` takes as a document, in the same text; those of a str as they are cut."""
        if isinstance(item, str):
            yield from (cls(item, (sentence,)) for sentence in cut(item))
        else:
            whole = cls.of(item)
            yield from (whole.with_sentences([sentence]) for sentence in whole.sentences)

    @property
    def n_words(self) -> int:
        """How many words there are."""
        return sum(len(sentence.words) for sentence in self.sentences)

    @property
    def is_unlabelled(self) -> bool:
        """Whether nothing is known of the labels of any sentence."""
        return all(sentence.is_unlabelled for sentence in self.sentences)

    @property
    def judged(self) -> frozenset[str] | None:
        """The types that somebody looked for in each of its sentences; None where that is not said of any."""
        said = [sentence.judged for sentence in self.sentences if sentence.judged is not None]
        return frozenset.intersection(*said) if said else None

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

        Each is a dict: ``entity_group`` (the type), ``score`` (1 for a label), ``word``, ``start`` and ``end``, with
        ``text[start:end] == word``.
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

    def inline(self) -> str:
        """Return the text on one line, with its mentions marked: ``The [slugs](PEST) came back.``."""
        marks = [Mark(start, end, span.type) for start, end, span in self.mentions()]
        return marked_up(self.text.replace("\r", " ").replace("\n", " "), marks)

    def _repr_html_(self) -> str:
        """Return the text with its mentions marked, for notebooks."""
        return marked(self.text, ((start, end, span.type, span.score) for start, end, span in self.mentions()))

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
        is_unlabelled = self.is_unlabelled
        for sentence in self.sentences:
            first = len(words)
            words += sentence.words
            starts += [sentence.offset + start for start in sentence.starts or ()]
            spans += [replace(span, start=span.start + first, end=span.end + first) for span in sentence.spans or ()]
            if sentence.is_unlabelled and not is_unlabelled:
                allowed += sentence.constraints()
            else:
                allowed += sentence.allowed or [None] * len(sentence.words)
        return Sentence(
            tuple(words),
            None if is_unlabelled else tuple(spans),
            tuple(allowed) if any(allowed) else None,
            self.text,
            tuple(starts),
            judged=self.judged,
        )


def sentences_of(item: Sentence | Document) -> tuple[Sentence, ...]:
    """Return the sentences of a document; a sentence is a document of its own."""
    return (item,) if isinstance(item, Sentence) else item.sentences
