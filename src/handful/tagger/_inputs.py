"""What people give a tagger, as sentences: files, sentences, texts, words and records."""

import io
import json
import os
from collections.abc import Container, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from handful.errors import DataError, FileError
from handful.text import Corpus, Sentence, read, to_sentences

from ._training import Words, by_words, count_changed

__all__ = [
    "document",
    "gather",
    "gather_for_fit",
    "gather_to_add",
    "sentences_to_tag",
    "text_to_explain",
    "text_to_tag",
]


def gather_for_fit(support: Any, unlabelled: Any) -> tuple[list[Sentence], dict[Words, Sentence], list[str]]:
    """Read support and unlabelled text.

    Returns
    -------
    sentences, labels, notes
        All sentences (those of the support that the unlabelled text has not got stand last), the labelled ones by their
        words, and what is to be said.
    """
    given, notes = gather(support, "the support", is_inline=True)
    labels = by_words(sentence for sentence in given if not sentence.is_unlabelled)
    if not labels:
        raise DataError(
            f"the support has no labels: none of its {len(given)} sentences is labelled; mark mentions, as in "
            "[Baghdad](LOC), or give a file with tags"
        )
    sentences: list[Sentence] = []
    if unlabelled is not None:
        sentences, more = gather(unlabelled, "the unlabelled text", is_inline=False)
        notes += more
        if n_labelled := sum(not sentence.is_unlabelled for sentence in sentences):
            notes.append(f"labels in the unlabelled text are not used: {n_labelled} sentences have them")
    blank = [sentence for sentence in given if sentence.is_unlabelled]
    if blank:
        notes.append(f"{len(blank)} sentences of the support have no labels and count as unlabelled text")
    sentences += blank
    known = {sentence.words for sentence in sentences}
    sentences += [sentence for words, sentence in labels.items() if words not in known]
    return sentences, labels, notes


def gather_to_add(
    support: Any, unlabelled: Any, labels: dict[Words, Sentence], known: Container[Words]
) -> tuple[list[Sentence], dict[Words, Sentence], list[str]]:
    """Read what is added to a fit: more labelled sentences, and more unlabelled text, if any.

    Parameters
    ----------
    support, unlabelled
        As people give them.
    labels
        The labelled sentences so far, by their words.
    known
        The words of the sentences that have features.

    Returns
    -------
    sentences, labels, notes
        The sentences without features, in the order of `gather_for_fit`; all labelled ones; and what is to be said.
    """
    given, notes = gather(support, "the sentences to add", is_inline=True)
    more = by_words(sentence for sentence in given if not sentence.is_unlabelled)
    if n_changed := count_changed(labels, more):
        notes.append(f"{n_changed} sentences got new labels")
    labels = {**labels, **more}
    sentences: list[Sentence] = []
    if unlabelled is not None:
        sentences, said = gather(unlabelled, "the unlabelled text", is_inline=False)
        sentences = [sentence for sentence in sentences if sentence.words not in known]
        notes += said
    new = {sentence.words for sentence in sentences}
    once = {s.words: s for s in [*labels.values(), *given] if s.words not in known and s.words not in new}
    return [*sentences, *once.values()], labels, notes


def gather(source: Any, name: str, *, is_inline: bool) -> tuple[list[Sentence], list[str]]:
    """Read sentences from a path, or from a list of sentences, texts, lists of words and records.

    Parameters
    ----------
    source
        A path (str or PathLike) or an open file, in any format that `handful.text.read` knows; or an iterable of
        `Sentence`, str, lists of words, dicts in any of its JSON dialects, and spaCy's pairs of a text and a dict.
    name
        What to call it in messages.
    is_inline
        Whether a text marks its mentions, as in ``[Ekeus](PER) heads for [Baghdad](LOC)``, one sentence a line; else
        it is a document, to be cut into sentences.

    Returns
    -------
    sentences, notes
        The notes say what reading a file met with.
    """
    if isinstance(source, Sentence | Mapping | bytes) or (
        not isinstance(source, str | os.PathLike) and not hasattr(source, "read") and not isinstance(source, Iterable)
    ):
        raise DataError(
            f"{name} must be a path or a list of sentences, texts or records, found {_show(source)}; put it in a list"
        )
    if isinstance(source, str | os.PathLike) or hasattr(source, "read"):
        return _from_file(source, name, is_unlabelled=not is_inline)
    sentences: list[Sentence] = []
    notes: list[str] = []
    records: list[Any] = []  # consecutive ones are read together
    number = 0

    def read_records() -> None:
        if records:
            first = number - len(records)
            where = f"{name}, records from item {first}"
            corpus = _read_text(_dump(records, name, first), where, "json", is_unlabelled=not is_inline)
            sentences.extend(corpus)
            notes.extend(_notes(corpus))
            records.clear()

    for item in source:
        if isinstance(item, Mapping):
            records.append(item)
        elif _is_pair(item):
            records.append({**item[1], "text": item[0]})
        else:
            read_records()
            where = f"{name}, item {number}"
            if isinstance(item, str) and is_inline:
                corpus = _read_text(item, where, "inline")
                sentences.extend(corpus)
                notes.extend(_notes(corpus))
            else:
                sentences.extend(document(item, where))
        number += 1
    read_records()
    return sentences, notes


def document(item: Any, where: str) -> list[Sentence]:
    """Make sentences of a text (cut into them), of a `Sentence` or of a list of words (one, or none if empty)."""
    if isinstance(item, Sentence):
        return [item]
    try:
        if isinstance(item, str):
            return to_sentences(item)
        if isinstance(item, list | tuple):
            return [Sentence(tuple(item))] if item else []
    except DataError as error:
        raise DataError(f"{where}: {error}") from None
    raise DataError(f"{where}: found {_show(item)}, expected a text (str), a Sentence or a list of words")


def text_to_tag(item: Any, where: str) -> list[Sentence]:
    """Make sentences of a text to tag; positions in a `Sentence` are to be those in its own text."""
    if isinstance(item, Sentence) and item.offset:
        return [replace(item, offset=0)]
    return document(item, where)


def sentences_to_tag(sentences: Any) -> list[Sentence]:
    """Make a list of sentences, one for each `Sentence` or list of words."""
    if isinstance(sentences, str | bytes | Sentence | Mapping) or not isinstance(sentences, Iterable):
        raise DataError(f"sentences must be a list of Sentences or of lists of words, found {type(sentences).__name__}")
    given = []
    for number, item in enumerate(sentences):
        if isinstance(item, str) or not item:
            raise DataError(f"sentence {number} is {item!r}, expected a Sentence or a list of words")
        given += document(item, f"sentence {number}")
    return given


def text_to_explain(item: Any, where: str) -> list[Sentence]:
    """Make sentences of one text to explain; a list is one of words, and several texts are refused."""
    if isinstance(item, list | tuple):
        for word in item:
            if isinstance(word, str) and any(space in word for space in " \t\n"):
                raise DataError(
                    f"{where} is a list, so its members are words, but {_show(word)} has white space in it; give one "
                    "text (str) at a time, or words that hold spaces as a Sentence"
                )
    return text_to_tag(item, where)


def _is_pair(item: Any) -> bool:
    """Whether this is spaCy's ``("text", {"entities": ...})``."""
    return (
        isinstance(item, list | tuple) and len(item) == 2 and isinstance(item[0], str) and isinstance(item[1], Mapping)
    )


def _from_file(source: Any, name: str, *, is_unlabelled: bool) -> tuple[list[Sentence], list[str]]:
    try:
        corpus = read(source, unlabelled=is_unlabelled)
    except FileError as error:
        if isinstance(source, str) and source != "-" and not Path(source).exists():
            raise FileError(f"{name}: {error} (a str names a file; give texts in a list)") from None
        raise
    return list(corpus), _notes(corpus)


def _notes(corpus: Corpus) -> list[str]:
    """Return what a reading has to say besides its counts."""
    return [f"{corpus.report.name}: {line}" for line in str(corpus.report).split("\n")[1:]]


def _read_text(text: str, name: str, format: str, *, is_unlabelled: bool = False) -> Corpus:
    class Named(io.StringIO):
        pass

    file = Named(text)
    file.name = name
    return read(file, format, unlabelled=is_unlabelled)


def _dump(records: list[Any], name: str, first: int) -> str:
    lines = []
    for number, record in enumerate(records, first):
        try:
            lines.append(json.dumps(dict(record), default=_plain))
        except (TypeError, ValueError, RecursionError) as error:
            raise DataError(f"{name}, item {number}: not a JSON record: {error}") from None
    return "\n".join(lines)


def _plain(value: Any) -> Any:
    """Turn numpy's numbers and arrays into Python's."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"found {_show(value)}, expected text, numbers, lists and dicts")


def _show(value: object) -> str:
    text = repr(value)
    return f"{type(value).__name__} {text if len(text) <= 60 else text[:59] + '…'}"
