"""`Corpus` and `Stream`: what was read from a file."""

from collections.abc import Iterable, Iterator
from itertools import chain
from types import TracebackType

from ._document import Document
from ._entity_types import ABOUT_CORPUS, EntityType, type_names, types_in, types_of
from .reading import Item, Reading, ReadReport
from .sentences import Sentence

__all__ = ["Corpus", "Stream"]


class Corpus(list[Sentence]):
    """A list of sentences that were read from a file.

    Parameters
    ----------
    sentences : iterable of Sentence
        They are taken as they are.
    report : ReadReport
        What reading the file found.
    head : sequence of EntityType
        What the head of the file describes: types, and the corpus itself.
    """

    def __init__(self, sentences: Iterable[Sentence], report: ReadReport, head: Iterable[EntityType] = ()) -> None:
        super().__init__(sentences)
        self.report = report
        self.head = tuple(head)

    @property
    def types(self) -> tuple[EntityType, ...]:
        """The types that the file describes, marked or not, and then those that are found in labels only."""
        return _types(self.head, types_in(self))

    @property
    def meta(self) -> dict[str, str]:
        """What the head of the file says about the corpus: its ``domain`` and its ``register``."""
        return _meta(self.head, types_in(self))


class Stream(Iterator[Document]):
    """The documents of a file, one after the other, in little memory.

    It closes the file at its end, when it is used in a ``with`` statement, and when it is thrown away.

    Attributes
    ----------
    report : ReadReport
        Complete when the stream is at its end.
    head : tuple of EntityType
        What the head of the file describes: types, and the corpus itself.
    """

    def __init__(self, reading: Reading, items: Iterator[Item]) -> None:
        self.report = reading.report
        self.head = reading.types.types(reading.described) if reading.types else reading.described
        self._source = reading.source
        self._found: set[str] = set()
        self._items = _counted(reading, items)  # does not know this object, which can therefore be thrown away

    def __next__(self) -> Document:
        document = _whole(next(self._items))
        for sentence in document.sentences:
            if sentence.spans:
                self._found |= type_names(sentence)
        return document

    @property
    def types(self) -> tuple[EntityType, ...]:
        """The types that the file describes, and then those that were found in labels so far."""
        return _types(self.head, sorted(self._found))

    @property
    def meta(self) -> dict[str, str]:
        """What the head of the file says about the corpus: its ``domain`` and its ``register``."""
        return _meta(self.head, self._found)

    def is_ready(self, seconds: float) -> bool:
        """Whether the next document can be had without waiting longer than this; only a pipe makes one wait."""
        with self._source.errors():
            return self._source.is_ready(seconds)

    @property
    def share(self) -> float | None:
        """The share of the file that was read so far; None where its size is not known."""
        return self._source.share

    def corpus(self) -> Corpus:
        """Read all sentences that are left; documents without a word are passed over and counted."""
        return Corpus(_sentences(self._items, self.report), self.report, self.head)

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def _types(head: Iterable[EntityType], found: Iterable[str]) -> tuple[EntityType, ...]:
    found = list(found)
    return types_of([*(one for one in head if one.name not in ABOUT_CORPUS or one.name in found), *found])


def _meta(head: Iterable[EntityType], found: Iterable[str]) -> dict[str, str]:
    found = set(found)
    return {one.name: one.description for one in head if one.name in ABOUT_CORPUS and one.name not in found}


def _whole(item: Sentence | Document) -> Document:
    """Return a document in which every sentence has a text."""
    if isinstance(item, Sentence):
        return Document.of(item)
    if item.sentences and item.sentences[0].text is None:  # words that came without a text are one sentence
        return Document.of(item.sentences[0], id=item.id, meta=item.meta)
    return item


def _counted(reading: Reading, items: Iterator[Item]) -> Iterator[Sentence | Document]:
    """Pass on what is read, and count it; close the file at the end."""
    report = reading.report
    if reading.options.unnamed == "skip":
        items = _named_parts(report, items)
    try:
        with reading.source.errors():
            for item in items:
                if isinstance(item, Sentence):
                    report.n_sentences += 1
                    report.n_words += len(item.words)
                elif item is not None:
                    report.n_sentences += len(item.sentences)
                    report.n_words += item.n_words
                else:
                    continue
                yield item
    finally:
        report.scheme, report.n_broken = reading.tags.scheme, reading.tags.n_broken
        if reading.types and (unused := reading.types.unused()) is not None:
            report.notes[unused[0]] = unused[1]
        reading.source.close()


def _sentences(items: Iterator[Sentence | Document], report: ReadReport) -> Iterator[Sentence]:
    for item in items:
        if isinstance(item, Sentence):
            yield item
        elif item.sentences:
            yield from item.sentences
        else:
            report.notes["records without a word were passed over"] += 1


def _named_parts(report: ReadReport, items: Iterator[Item]) -> Iterator[Item]:
    """Pass on the parts of a file that have a mention; None is where a part begins."""
    part: list[Sentence | Document] = []
    for item in chain(items, [None]):
        if item is not None:
            part.append(item)
            continue
        if any(map(_has_mention, part)):
            yield from part
        elif part:
            report.notes["documents without any mention were left out"] += 1
        part = []


def _has_mention(item: Sentence | Document) -> bool:
    sentences = (item,) if isinstance(item, Sentence) else item.sentences
    return any(sentence.spans for sentence in sentences)
