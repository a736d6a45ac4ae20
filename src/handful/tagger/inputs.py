"""Files, sentences, texts, words and records that people give a tagger, as sentences."""

import io
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field
from functools import wraps
from itertools import chain, groupby
from pathlib import Path
from typing import Any, TypeVar, cast

from handful.errors import DataError, FileError, number_of
from handful.text import Corpus, Document, EntityType, Sentence, read, stream
from handful.text.types import judged_together

from .frames import is_frame, record_lines, refuse_splits, rows_of, texts_of
from .training_text import TrainingText, Ways, added, by_words, count_changed

Opened = TypeVar("Opened")
Method = TypeVar("Method", bound=Callable[..., Any])


@dataclass
class Given:
    """Sentences that people gave, and what came with them."""

    sentences: list[Sentence] = field(default_factory=list)
    n_text: int = 0  # how many of them, from the first on, are text, of sentences to fit on
    types: list[EntityType] = field(default_factory=list)  # the types that a file describes or labels
    notes: list[str] = field(default_factory=list)  # on what reading met with

    @property
    def labels(self) -> Ways:
        """The labelled sentences, by their words."""
        return by_words(sentence for sentence in self.sentences if not sentence.is_unlabelled)

    def add(self, corpus: Corpus) -> None:
        """Take over what was read."""
        self.sentences += corpus
        self.types += corpus.types
        self.notes += [f"{corpus.report.name}: {line}" for line in corpus.report.handled()]


def gather_for_fit(support: Any, unlabelled: Any) -> tuple[Given, Ways]:
    """Read support and unlabelled text; return all sentences, and the labelled ones by their words.

    They are in the order of the fit: unlabelled text, then sentences of the support without labels, then labelled ones
    whose words the unlabelled text does not have, or that are labelled in several ways.
    """
    given = Given() if support is None else gather(support, "the support", is_inline=True)
    labels = given.labels
    blank = [sentence for sentence in given.sentences if sentence.is_unlabelled]
    given.sentences = _unlabelled(unlabelled, given) + blank
    if blank:
        n_blank = number_of(len(blank), "sentence")
        given.notes.append(f"the unlabelled text includes {n_blank} without labels from the support")
    given.n_text = len(given.sentences)
    known = {sentence.words for sentence in given.sentences}
    for words, ways in labels.items():
        if len(ways) > 1 or words not in known:
            given.sentences += ways
    return given, labels


def gather_to_add(
    support: Any, unlabelled: Any, text: TrainingText, known_types: Iterable[str] = ()
) -> tuple[Given, Ways]:
    """Read what is added to the text of a fit: more labelled sentences, and more unlabelled text, if any.

    It returns the sentences without features, in the order of `gather_for_fit`, and all labelled ones by their words.
    """
    given = gather(support, "the sentences to add", is_inline=True, known=known_types)
    more, blank = given.labels, [sentence for sentence in given.sentences if sentence.is_unlabelled]
    if n_changed := count_changed(text.labels, more):
        given.notes.append(f"{number_of(n_changed, 'sentence')} got new labels")
    labels = {**text.labels, **{words: added(text.labels.get(words, ()), ways) for words, ways in more.items()}}
    given.sentences = [sentence for sentence in _unlabelled(unlabelled, given) if sentence.words not in text.places]
    given.n_text = len(given.sentences)
    known = text.places.keys() | {sentence.words for sentence in given.sentences}
    for words, ways in labels.items():
        if len(ways) > 1:
            given.sentences += ways[len(text.own_places(words)) :]
        elif words not in known:
            given.sentences += ways
    known |= labels.keys()
    given.sentences += {s.words: s for s in blank if s.words not in known}.values()
    return given, labels


def _unlabelled(unlabelled: Any, given: Given) -> list[Sentence]:
    """Return the sentences of unlabelled text, without labels; the notes of `given` get what is to be said of it."""
    if unlabelled is None:
        return []
    found = gather(unlabelled, "the unlabelled text", is_inline=False)
    given.notes += found.notes
    if n_labelled := sum(not sentence.is_unlabelled for sentence in found.sentences):
        given.notes.append(f"labels of {number_of(n_labelled, 'sentence')} in the unlabelled text are not used")
    return [sentence if sentence.is_unlabelled else sentence.without_labels() for sentence in found.sentences]


def gather(source: Any, name: str, *, is_inline: bool, known: Iterable[str] = ()) -> Given:
    """Read sentences from a path, or from a list of sentences, texts, lists of words and records.

    `source` is a path or an open file, in any format that `handful.read` knows; or an iterable of `Sentence`,
    `Document`, str, lists of words, dicts in any of its JSON dialects, and spaCy's pairs of a text and a dict; or a
    data set or data frame, whose rows are such dicts. Messages call it `name`. If `is_inline`, a text marks its
    mentions, as in ``[Ekeus](PER) heads for [Baghdad](LOC)``, one sentence on each line; else it is a document, to be
    cut into sentences. Sentences were judged for the types that they mark, and for `known` ones, see `judged_together`.
    """
    given = _gather(source, name, is_inline=is_inline)
    given.sentences = judged_together(given.sentences, known=known)
    return given


def _gather(source: Any, name: str, *, is_inline: bool) -> Given:
    given = Given()
    if isinstance(source, Corpus):
        given.sentences, given.types = list(source), list(source.types)
        return given
    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        given.add(_of_file(read, source, name, is_unlabelled=not is_inline))
        return given
    refuse_splits(source, name)
    if is_frame(source) and is_inline:
        given.add(_of_records(rows_of(source), name, name))
        return given
    if is_frame(source):
        source = texts_of(source, name)
    if isinstance(source, Sentence | Document | Mapping | bytes) or not isinstance(source, Iterable):
        raise DataError(
            f"{name} must be a path or a list of sentences, texts or records, found {_show(source)}; put it in a list"
        )
    items = ((number, _record_of(item) or item) for number, item in enumerate(source))
    for is_record, some in groupby(items, lambda one: isinstance(one[1], Mapping)):
        if is_record:  # consecutive ones are read together
            number, first = next(some)
            rows = (row for _, row in chain([(number, first)], some))
            where = f"{name}, records from item {number}"
            given.add(_of_records(rows, name, where, number, is_unlabelled=not is_inline))
            continue
        for number, item in some:
            where = f"{name}, item {number}"
            if isinstance(item, str) and is_inline:
                given.add(_of_lines([item], where, "inline"))
            else:
                item = item if is_inline else _filled(item)
                given.sentences += [item] if isinstance(item, Sentence) else _words_or_text(item, where)
    return given


def documents_of(source: Any, name: str) -> Iterable[Document]:
    """Return the documents of a path or an open file, which is read as it goes; or of an iterable of texts."""
    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        return _of_file(stream, source, name, is_unlabelled=True)
    return Texts(source, name)


class Texts(Iterator[Document]):
    """The documents of texts, one after the other, and the share of them that was taken, if their number is known."""

    def __init__(self, texts: Iterable[Any], name: str = "the texts") -> None:
        refuse_splits(texts, name)
        if is_frame(texts):
            texts = texts_of(texts, name)
        if isinstance(texts, str | bytes | Sentence | Document | Mapping) or not isinstance(texts, Iterable):
            raise DataError(f"{name} must be a list of texts, of Sentences or of lists of words, found {_show(texts)}")
        self._texts = enumerate(texts)
        self._n_texts = len(texts) if isinstance(texts, Sized) else 0
        self._n_taken = 0

    @property
    def share(self) -> float | None:
        """The share of the texts that was taken; None where their number is not known."""
        return self._n_taken / self._n_texts if self._n_texts else None

    def __next__(self) -> Document:
        number, text = next(self._texts)
        self._n_taken += 1
        return document_of(text, f"text {number} (from 0)")


def document_of(item: Any, where: str) -> Document:
    """Make a document of a text, a `Sentence` or a list of words; an error says where it is."""
    try:
        return Document.of(_filled(item))
    except DataError as error:
        raise error.at(where) from None


def one_text(item: Any, where: str) -> Document:
    """Make a document of one text; a list is one of words, and a list of texts is refused."""
    if isinstance(item, list | tuple):
        for word in item:
            if isinstance(word, str) and any(space in word for space in " \t\n"):
                raise DataError(
                    f"{where} is a list, so its members are words, but {_show(word)} has white space in it; give one "
                    "text (str) at a time, or words that hold spaces as a Sentence"
                )
    try:
        return Document.of(item)
    except DataError as error:
        raise error.at(where) from None


def _words_or_text(item: Any, where: str) -> list[Sentence]:
    """Return the sentences of a document, of a text, or of a list of words, which has no text."""
    item = _list(item)
    try:
        if isinstance(item, list | tuple):
            return [Sentence(tuple(item))] if item else []
        return list(Document.of(item).sentences)
    except DataError as error:
        raise error.at(where) from None


def spelt_either_way(method: Method) -> Method:
    """Let a method with the parameter `unlabelled` take `unlabeled`, too."""

    @wraps(method)
    def call(*arguments: Any, **named: Any) -> Any:
        if "unlabeled" in named and "unlabelled" not in named:
            named["unlabelled"] = named.pop("unlabeled")
        return method(*arguments, **named)

    return cast(Method, call)


def _list(item: Any) -> Any:
    """Return an array of words, as data frames have them, as a list."""
    return item.tolist() if getattr(item, "ndim", None) == 1 else item


def _filled(item: Any) -> Any:
    """Return an empty text for a value that is missing, as data frames have them."""
    is_missing = item is None or type(item).__name__ == "NAType" or (isinstance(item, float) and item != item)
    return "" if is_missing else _list(item)


def _record_of(item: Any) -> Mapping[str, Any] | None:
    """Return spaCy's ``("text", {"entities": ...})`` as a record; None for anything else."""
    is_pair = isinstance(item, list | tuple) and len(item) == 2
    if is_pair and isinstance(item[0], str) and isinstance(item[1], Mapping):
        return {**item[1], "text": item[0]}
    return None


def _of_file(reader: "Callable[..., Opened]", source: Any, name: str, *, is_unlabelled: bool) -> "Opened":
    try:
        return reader(source, unlabelled=is_unlabelled)
    except FileError as error:
        if isinstance(source, str) and source != "-" and not Path(source).exists():
            raise FileError(f"{name}: {error} (a str names a file; give texts in a list)") from None
        raise


def _of_records(
    rows: Iterable[Mapping[str, Any]], name: str, where: str, first: int = 0, *, is_unlabelled: bool = False
) -> Corpus:
    return _of_lines(record_lines(rows, name, first), where, "json", is_unlabelled=is_unlabelled)


def _of_lines(lines: Iterable[str], where: str, format: str, *, is_unlabelled: bool = False) -> Corpus:
    file = io.StringIO("".join(lines))
    file.name = where
    return read(file, format, unlabelled=is_unlabelled)


def _show(value: object) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:59] + '…'}"
