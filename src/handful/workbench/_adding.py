"""Adding texts to a project: each once, with labels for sentences that nobody has decided."""

import json
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any

from handful.encoders import Encoder
from handful.encoders.languages import languages_of, not_known
from handful.encoders.opened import AnyEncoder
from handful.text import Document, Sentence, types_in
from handful.text.languages import LanguageNotice
from handful.text.projects import NEW, State, states

N_SAMPLE = 500  # sentences that tell the language


@dataclass
class Added:
    """The texts and labels that came into a project."""

    texts: list[int] = field(default_factory=list, repr=False)  # new ones, and those that are there again
    n_sentences: int = 0  # of these
    n_copies: int = 0  # new sentences with words that are there already: a page counts and asks them once
    n_known: int = 0  # texts that were there already, and were not added again
    n_kept: int = 0  # sentences that had other labels already, or others in the same file; these were kept
    labels: dict[int, State] = field(default_factory=dict, repr=False)  # the states of sentences that got labels
    types: dict[str, None] = field(default_factory=dict, repr=False)  # the names of types in these labels
    alike: list[str] = field(default_factory=list)  # the types that differ from others in capitals alone
    sample: list[Sentence] = field(default_factory=list, repr=False)  # the first sentences

    @property
    def n_texts(self) -> int:
        """How many texts came in."""
        return len(self.texts)

    @property
    def n_labelled(self) -> int:
        """How many sentences got labels."""
        return len(self.labels)

    def notes(self, encoder: AnyEncoder) -> list[str]:
        """Return a line for each thing that was not taken as it came, and one for a language that is not known."""
        lines = []
        name = encoder if isinstance(encoder, str) else getattr(encoder, "name", "")
        known = languages_of(encoder) if isinstance(encoder, str | Encoder) else ()
        language = LanguageNotice(known)(self.sample) if known else None
        if language is not None:
            message, advice = not_known(language, str(name))
            lines.append(f"{message}; {advice.shell}")
        if self.n_copies:
            lines.append(f"sentences with the words of others, which are counted and asked once: {self.n_copies:,}")
        if self.n_known:
            lines.append(f"texts that were in the project already, and were not added again: {self.n_known:,}")
        if self.n_kept:
            lines.append(f"sentences that had other labels already, which were kept: {self.n_kept:,}")
        if self.alike:
            lines.append(
                f"types that differ from others in capitals alone: {', '.join(self.alike)}; merge them if they are one"
            )
        return lines


Prepared = tuple[Document, bytes, list[bytes]]
"""A text to add, with its digest and those of the words of its sentences, which tell them apart from others."""


def prepare(documents: Iterable[Document]) -> list[Prepared]:
    """Read texts, which takes long, before anything is written; those without a word are left out."""
    prepared = []
    for document in documents:
        if document.sentences:
            words = [_digest(sentence.words) for sentence in document.sentences]
            places = [(sentence.offset, sentence.starts) for sentence in document.sentences]
            prepared.append((document, _digest((document.text, places, words)), words))
    return prepared


def insert(connection: sqlite3.Connection, prepared: Iterable[Prepared], left_out: Collection[int]) -> Added:
    """Write texts and sentences that are not there yet, and return what came in, with what is to be logged.

    Texts that are there, but `left_out`, come in again.
    """
    known = dict(connection.execute("SELECT digest, id FROM texts"))
    first = dict(connection.execute("SELECT digest, min(id) FROM sentences GROUP BY digest"))
    before = states(connection)
    (text_id,) = connection.execute("SELECT coalesce(max(id), 0) FROM texts").fetchone()
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM sentences").fetchone()
    texts: list[tuple[Any, ...]] = []
    sentences: list[tuple[Any, ...]] = []
    result, came = Added(), dict[int, None]()
    for document, text_digest, words in prepared:
        is_new = text_digest not in known
        if is_new:
            text_id += 1
            texts.append((text_id, *_text_row(document), text_digest))
        if is_new or (known[text_digest] in left_out and known[text_digest] not in came):
            came[known.get(text_digest, text_id)] = None
            result.n_sentences += len(words)
        else:
            result.n_known += 1
        result.sample += document.sentences[: N_SAMPLE - len(result.sample)]
        for sentence, digest in zip(document.sentences, words, strict=True):
            if is_new:
                last += 1
                same = first.setdefault(digest, last)
                result.n_copies += same != last
                sentences.append((last, text_id, same, *_sentence_row(sentence), digest))
            else:
                same = first[digest]
            if sentence.spans is None:
                continue
            found = result.labels.get(same) or before.get(same, (0, NEW))[1]
            if found == NEW:
                result.labels[same] = State.of(sentence)
                result.types |= dict.fromkeys(types_in([sentence]))
            elif found != State.of(sentence):
                result.n_kept += 1
    _insert(connection, "texts", texts)
    _insert(connection, "sentences", sentences)
    result.texts = list(came)
    return result


def _insert(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    if rows:
        connection.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)


def _text_row(document: Document) -> tuple[str, str | None, str]:
    """Return text, name and meta, as they are stored."""
    name = None if document.id is None else json.dumps(document.id)
    return document.text, name, json.dumps(dict(document.meta), ensure_ascii=False) if document.meta else "{}"


def _sentence_row(sentence: Sentence) -> tuple[int, int, str]:
    """Return where a sentence starts and stops in its text, and the places of its words in it."""
    numbers = [*(sentence.starts or ()), *map(len, sentence.words)]
    return sentence.offset, sentence.offset + len(sentence.text or ""), json.dumps(numbers)


def _digest(value: object) -> bytes:
    """Return a digest that tells words and texts apart."""
    return blake2b(repr(value).encode(), digest_size=16).digest()
