"""Projects of the workbench: text, types and decisions in one SQLite file. Here is how they are read.

A project has the tables

- ``texts``: documents, with what the source calls them and what else came with them;
- ``sentences``: the words of each, by their places in the text; ``same`` is the first sentence with the same words;
- ``log``: what was decided, in order; it only grows. An entry holds the state of one sentence (by its ``same``), or of
  the list of types (``subject`` 0), before and after. The last entry about a subject is what holds.

`handful.workbench` writes them.
"""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeGuard
from urllib.parse import quote

from handful.errors import FileError, FormatError

from ._document import Document
from ._entity_types import EntityType
from ._files import AnyFile
from ._reading import Item, Reading
from ._types import Allowed, Sentence, Span

if TYPE_CHECKING:
    import sqlite3

__all__ = [
    "APPLICATION",
    "NEW",
    "PROJECT_FORMAT",
    "ProjectSource",
    "State",
    "database_errors",
    "documents",
    "is_project",
    "open_project",
    "read_project",
    "sentence_of",
    "states",
    "types",
]

APPLICATION = 0x48464C31  # in the head of the file: this is a project of handful
PROJECT_FORMAT = 1  # raised when the tables change

_MAGIC = b"SQLite format 3\0"
_LABELLED = ("labelled", "none", "partial")


@dataclass(frozen=True)
class State:
    """What was decided about a sentence.

    Parameters
    ----------
    status : str
        ``new``, ``labelled`` (all mentions are marked), ``none`` (there are none), ``partial`` (some words are
        known), ``unsure`` or ``skipped``.
    spans : tuple of Span
        The mentions. Those of a sentence that is unsure are kept, but do not count as labels.
    allowed : tuple of (Allowed or None), or None
        Partial labels, as in `Sentence`.
    """

    status: str = "new"
    spans: tuple[Span, ...] = ()
    allowed: tuple[Allowed | None, ...] | None = None

    @classmethod
    def of(cls, sentence: Sentence) -> "State":
        """Return what the labels of a sentence say."""
        if sentence.spans is None:
            return NEW
        status = "partial" if sentence.allowed is not None else "labelled" if sentence.spans else "none"
        return cls(status, sentence.spans, sentence.allowed)

    @classmethod
    def parse(cls, written: str | None) -> "State":
        """Read what `written` wrote."""
        if written is None:
            return NEW
        record = json.loads(written)
        allowed = record.get("allowed")
        return cls(
            record["status"],
            tuple(Span(start, end, name) for start, end, name in record.get("spans", ())),
            None if allowed is None else tuple(None if one is None else Allowed.parse(one) for one in allowed),
        )

    def written(self) -> str:
        """Return it as JSON."""
        record: dict[str, Any] = {"status": self.status}
        if self.spans:
            record["spans"] = [[span.start, span.end, span.type] for span in self.spans]
        if self.allowed is not None:
            record["allowed"] = [None if one is None else str(one) for one in self.allowed]
        return json.dumps(record, ensure_ascii=False, separators=(",", ":"))

    @property
    def is_label(self) -> bool:
        """Whether a fit learns from it."""
        return self.status in _LABELLED

    def on(self, sentence: Sentence) -> Sentence:
        """Return a sentence with these labels, or without any."""
        if not self.is_label:
            return sentence
        parts = sentence.words, self.spans, self.allowed, sentence.text, sentence.starts, sentence.offset
        return Sentence(*parts)


NEW = State()
"""Nothing was decided."""


def is_project(file: AnyFile) -> TypeGuard[str | os.PathLike[str]]:
    """Whether this is the path of an SQLite file."""
    if not isinstance(file, str | os.PathLike) or file == "-":
        return False
    try:
        with open(file, "rb") as opened:
            return opened.read(len(_MAGIC)) == _MAGIC
    except (OSError, ValueError):
        return False  # the reader of texts says what is wrong


@contextmanager
def database_errors(name: object) -> Iterator[None]:
    """Turn errors of the database into those of handful."""
    import sqlite3  # here, because few commands need it

    try:
        yield
    except sqlite3.OperationalError as error:
        raise FileError(f"{name}: the project cannot be used: {error}") from None
    except sqlite3.DatabaseError as error:
        raise FormatError(f"{name}: the project is damaged: {error}") from None


def open_project(path: str | os.PathLike[str], *, mode: str = "ro") -> "sqlite3.Connection":
    """Open a project that is there: to read it (``ro``), or to write to it (``rw``)."""
    import sqlite3

    name = os.fspath(path)
    with database_errors(name):
        uri = f"file:{quote(str(Path(name).absolute()))}?mode={mode}"
        connection = sqlite3.connect(uri, uri=True, timeout=30, isolation_level=None, check_same_thread=False)
        try:
            (application,) = connection.execute("PRAGMA application_id").fetchone()
            (version,) = connection.execute("PRAGMA user_version").fetchone()
            if application != APPLICATION:
                raise FormatError(f"{name}: this is a database, but not a project of handful label")
            if version != PROJECT_FORMAT:
                raise FormatError(
                    f"{name}: the project has format {version}, this release reads {PROJECT_FORMAT}; use the release "
                    "of handful that wrote it"
                )
        except BaseException:
            connection.close()
            raise
        return connection


def states(connection: "sqlite3.Connection") -> dict[int, tuple[int, State]]:
    """Return the number of the last log entry about each sentence that has one, and its state."""
    rows = connection.execute("SELECT subject, max(seq), after FROM log WHERE subject > 0 GROUP BY subject")
    return {subject: (seq, State.parse(after)) for subject, seq, after in rows}


def types(connection: "sqlite3.Connection") -> list[dict[str, Any]]:
    """Return the types, each with its name, description, colour and key."""
    row = connection.execute("SELECT after FROM log WHERE subject = 0 ORDER BY seq DESC LIMIT 1").fetchone()
    return [] if row is None or row[0] is None else list(json.loads(row[0]))


def sentence_of(text: str, start: int, end: int, words: str) -> Sentence:
    """Return a sentence of a text; `words` says where its words start in it, and then how long they are."""
    numbers = json.loads(words)
    n = len(numbers) // 2
    part, starts = text[start:end], numbers[:n]
    found = tuple([part[first : first + length] for first, length in zip(starts, numbers[n:], strict=True)])
    return Sentence.trusted(found, None, part, tuple(starts), start)


def documents(
    connection: "sqlite3.Connection", decided: Mapping[int, tuple[int, State]], *, after: int = 0
) -> Iterator[tuple[Document, list[int]]]:
    """Yield the texts after one of them, with the labels that were decided; and the ids of their sentences."""
    texts = connection.execute("SELECT id, text, name, meta FROM texts WHERE id > ? ORDER BY id", (after,))
    rows = connection.execute(
        "SELECT text_id, id, same, start, stop, words FROM sentences WHERE text_id > ? ORDER BY text_id, id", (after,)
    )
    row = rows.fetchone()
    for number, text, name, meta in texts:
        sentences, ids = [], []
        while row is not None and row[0] == number:
            _, sentence, same, start, stop, words = row
            state = decided[same][1] if same in decided else NEW
            sentences.append(state.on(sentence_of(text, start, stop, words)))
            ids.append(sentence)
            row = rows.fetchone()
        known = (None if name is None else json.loads(name)), json.loads(meta)
        yield Document(text, tuple(sentences), known[0], known[1]), ids


class ProjectSource:
    """A project as something to read, in the place of a `Source` of text."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.name = os.fspath(path)
        self.connection = open_project(path)

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn errors of the database into those of handful."""
        with database_errors(self.name):
            yield

    def close(self) -> None:
        """Close the file."""
        self.connection.close()


def read_project(reading: Reading) -> Iterator[Item]:
    """Yield the texts of a project, with their labels."""
    source: Any = reading.source
    if not isinstance(source, ProjectSource):
        raise FormatError(f"{source.name}: this is not a project of handful label")
    reading.described = tuple(EntityType(one["name"], one.get("description", "")) for one in types(source.connection))
    return _items(reading, source)


def _items(reading: Reading, source: ProjectSource) -> Iterator[Item]:
    for document, _ in documents(source.connection, states(source.connection)):
        yield document.with_sentences(map(reading.finish, document.sentences))
