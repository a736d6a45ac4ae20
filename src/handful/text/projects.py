"""Projects of the workbench: text, types and decisions in one SQLite file. Here is how they are read.

A project has the tables

- ``texts``: documents, with what the source calls them and what else came with them;
- ``sentences``: the words of each, by their places in the text; ``same`` is the first sentence with the same words;
- ``log``: what was decided, in order; it only grows. An entry holds the state of one sentence (by its ``same``), of the
  list of types (``subject`` 0), or of a text (minus its id), before and after. The last entry about a subject is what
  holds. Where a sentence is given to two people, each has entries of their own (``person``) beside those that count.

`handful.workbench` writes them.
"""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from handful.errors import DataError, FileError, FormatError

from ._document import Document
from ._labels import Allowed, Span, by_place
from ._reading import FileReader
from ._sentences import Sentence
from .types import EntityType

if TYPE_CHECKING:
    import sqlite3

APPLICATION = 0x48464C31  # in the head of the file, where the schema puts it: this is a project of handful
PROJECT_FORMAT = 2  # raised, here and in the schema, when the tables change
MAGIC = b"SQLite format 3\0"  # the first bytes of the file

SCHEMA = Path(__file__).with_suffix(".sql").read_text(encoding="utf-8")

THERE, GONE = '"there"', '"gone"'  # the state of a text; one without an entry is there

_LABELLED = ("labelled", "none", "partial")
STATUSES = ("new", *_LABELLED, "unsure", "skipped", "disputed")


class DamagedProjectError(Exception):
    """Something in a project is not what was written there; `database_errors` says in which."""


@contextmanager
def _reading_json(what: str) -> Iterator[None]:
    """Say what cannot be read where somebody has changed JSON in a project."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise DamagedProjectError(f"{what} cannot be read ({type(error).__name__}: {error})") from None


@dataclass(frozen=True)
class State:
    """A decision about a sentence.

    Its status is ``new``, ``labelled`` (all mentions are marked), ``none`` (there are none), ``partial`` (some words
    are known), ``unsure``, ``skipped`` or ``disputed`` (the answers of two people differ). The mentions of a sentence
    that is unsure or disputed are kept, but do not count as labels. `judged` are the types that there were when it was
    decided. `refused` are mentions of a partial sentence that are wrong, where mentions may share words.
    """

    status: str = "new"
    spans: tuple[Span, ...] = ()
    allowed: tuple[Allowed | None, ...] | None = None
    judged: frozenset[str] | None = field(default=None, compare=False)
    refused: tuple[Span, ...] = ()

    @classmethod
    def of(cls, sentence: Sentence) -> "State":
        """Return what the labels of a sentence say."""
        if sentence.spans is None:
            return NEW
        status = "partial" if sentence.allowed is not None else "labelled" if sentence.spans else "none"
        return cls(status, sentence.spans, sentence.allowed, sentence.judged)

    @classmethod
    def parse(cls, written: str | None) -> "State":
        """Read what `written` wrote; a `DamagedProjectError` where it is something else."""
        if written is None:
            return NEW
        with _reading_json("a decision"):
            record = json.loads(written)
            allowed, judged = record.get("allowed"), record.get("judged")
            state = cls(
                record["status"],
                _spans(record.get("spans", ())),
                None if allowed is None else tuple(None if one is None else Allowed.parse(one) for one in allowed),
                None if judged is None else Allowed(frozenset(judged), is_excluded=True).names,  # checks them
                _spans(record.get("refused", ())),
            )
        for one in (*state.spans, *state.refused):
            if type(one.start) is not int or type(one.end) is not int or type(one.type) is not str:
                raise DamagedProjectError(f"a decision has the mention {one!r:.50}, expected two numbers and a type")
        if state.status not in STATUSES:
            raise DamagedProjectError(
                f"a decision has the status {state.status!r:.50}, expected one of {', '.join(STATUSES)}"
            )
        return state

    def written(self) -> str:
        """Return it as JSON."""
        record: dict[str, Any] = {"status": self.status}
        if self.spans:
            record["spans"] = [[span.start, span.end, span.type] for span in self.spans]
        if self.allowed is not None:
            record["allowed"] = [None if one is None else str(one) for one in self.allowed]
        if self.judged is not None:
            record["judged"] = sorted(self.judged)
        if self.refused:
            record["refused"] = [[span.start, span.end, span.type] for span in self.refused]
        return json.dumps(record, ensure_ascii=False, separators=(",", ":"))

    @property
    def is_label(self) -> bool:
        """Whether a fit learns from it."""
        return self.status in _LABELLED

    @property
    def is_answer(self) -> bool:
        """Whether somebody is done with the sentence, for the time being."""
        return self.status not in ("new", "partial")

    def on(self, sentence: Sentence) -> Sentence:
        """Return a sentence with these labels, or without any; a `DamagedProjectError` where they do not fit."""
        if not self.is_label:
            return sentence
        try:
            labelled = sentence.with_labels(self.spans, self._allowed(sentence))
            return labelled if self.judged is None else labelled.judged_for(self.judged)
        except DataError as error:
            raise DamagedProjectError(f"a decision does not fit its sentence ({error})") from None

    def _allowed(self, sentence: Sentence) -> tuple[Allowed | None, ...] | None:
        """Return the partial labels, with what is refused: its words in no mention are not of its type."""
        if not self.refused or self.allowed is None:
            return self.allowed
        Sentence(sentence.words, tuple(sorted(self.refused, key=by_place)))  # checks their places
        known = list(self.allowed)
        for span in self.refused:
            for i in range(span.start, span.end):
                if (entry := known[i]) is not None and entry.is_excluded:
                    known[i] = Allowed(entry.names | {span.type}, True)
        return tuple(known)


def _spans(given: Any) -> tuple[Span, ...]:
    return tuple(Span(start, end, name) for start, end, name in given)


NEW = State()
"""Nothing was decided."""


def is_project(path: str | os.PathLike[str]) -> bool:
    """Whether this is an SQLite file. A pipe is none: it would be waited for."""
    if not os.path.isfile(path) or not os.access(path, os.R_OK):
        return False
    with open(path, "rb") as opened:
        return opened.read(len(MAGIC)) == MAGIC


_ADVICE = {
    "is full": "; make room on the disk, and try again; what was confirmed before is stored",
    "readonly": "; copy it to a folder that can be written to",
    "unable to open": "; see that its folder is there and can be written to",
}


@contextmanager
def database_errors(name: object) -> Iterator[None]:
    """Turn errors of the database into those of handful."""
    import sqlite3  # here, because few commands need it

    try:
        yield
    except sqlite3.OperationalError as error:
        advice = next((advice for said, advice in _ADVICE.items() if said in str(error)), "")
        raise FileError(f"{name}: the project cannot be used: {error}{advice}") from None
    except UnicodeEncodeError as error:
        raise DataError(
            f"half of a surrogate pair ({error.object[error.start]!r}) is not a character; take it away"
        ) from None
    except (sqlite3.DatabaseError, DamagedProjectError, UnicodeDecodeError) as error:
        raise FormatError(f"{name}: the project is damaged: {error}; go back to an earlier copy") from None


def open_project(path: str | os.PathLike[str], *, mode: str = "ro") -> "sqlite3.Connection":
    """Open a project that is there: to read it (``ro``), or to write to it (``rw``)."""
    import sqlite3

    from ._database import Connection

    name = os.fspath(path)
    with database_errors(name):
        uri = f"file:{quote(str(Path(name).absolute()))}?mode={mode}"
        connection = sqlite3.connect(
            uri, uri=True, timeout=30, isolation_level=None, check_same_thread=False, factory=Connection
        )
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
            check_schema(connection, SCHEMA)
            (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()  # 0.06 s for 100,000 sentences
            if found != "ok":
                raise DamagedProjectError(found.partition("\n")[0])
        except BaseException:
            connection.close()
            raise
        return connection


def check_schema(connection: "sqlite3.Connection", schema: str) -> None:
    """Refuse a database with other tables, views and triggers than those of a schema: they could compute anything."""
    import sqlite3

    connection.execute("PRAGMA trusted_schema = OFF")

    query = "SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name LIMIT 99"
    ours = sqlite3.connect(":memory:")
    try:
        ours.executescript(schema)
        expected, found = (one.execute(query).fetchall() for one in (ours, connection))
    finally:
        ours.close()
    for one in found:
        if one not in expected:
            raise DamagedProjectError(f"it has a {one[0]:.20} {one[1]!r:.50}, which handful did not make")
    if len(found) < len(expected):
        raise DamagedProjectError("a table is missing")


def states(connection: "sqlite3.Connection") -> dict[int, tuple[int, State]]:
    """Return the number of the last log entry about each sentence that has one, and its state."""
    query = "SELECT subject, max(seq), after FROM log WHERE subject > 0 AND person IS NULL GROUP BY subject"
    found = {subject: (seq, State.parse(after)) for subject, seq, after in connection.execute(query)}
    if not all(type(subject) is int for subject in found):
        raise DamagedProjectError("a decision is on no sentence")
    return found


def gone(connection: "sqlite3.Connection") -> set[int]:
    """Return the texts that were taken out of the project."""
    rows = connection.execute("SELECT -subject, max(seq), after FROM log WHERE subject < 0 GROUP BY subject").fetchall()
    for number, _, after in rows:
        if after not in (THERE, GONE):
            raise DamagedProjectError(f"the text {number} is {after!r:.50}")
    return {number for number, _, after in rows if after == GONE}


def answers(connection: "sqlite3.Connection", of: int | None = None) -> dict[int, dict[str, State]]:
    """Return what each person said of sentences that are given to two people, or of one of them."""
    query = "SELECT subject, person, max(seq), after FROM log WHERE person IS NOT NULL"
    query += " GROUP BY 1, 2" if of is None else f" AND subject = {of:d} GROUP BY 1, 2"
    found: dict[int, dict[str, State]] = {}
    for subject, person, _, after in connection.execute(query):
        if not isinstance(person, str):
            raise DamagedProjectError(f"an answer is that of {person!r:.50}, expected a name")
        if (state := State.parse(after)) != NEW:
            found.setdefault(subject, {})[person] = state
    return found


def deciders(connection: "sqlite3.Connection") -> dict[int, tuple[str, ...]]:
    """Return who decided each sentence; nothing where one person decided all there is.

    Two people have decided where their answers were the same. Changes of types are no decisions on sentences.
    """
    beginning = "('create', 'import')"
    query = f"SELECT count(DISTINCT author) FROM log WHERE subject > 0 AND action NOT IN {beginning}"
    if connection.execute(query).fetchone()[0] < 2:
        return {}
    known: dict[tuple[int, int], tuple[str, ...]] = {}  # by sentence and step
    steps: dict[int, list[int]] = {}  # that are in effect, by sentence
    answered: dict[int, dict[str, int]] = {}
    query = (
        "SELECT subject, step, author, action, undoes, person, after FROM log "
        "WHERE subject > 0 AND action NOT LIKE '% type' ORDER BY seq"
    )
    for subject, step, author, action, undoes, person, after in connection.execute(query):
        theirs, in_effect = answered.setdefault(subject, {}), steps.setdefault(subject, [])
        if person is not None:
            theirs.pop(person, None)
            if State.parse(after).is_answer:
                theirs[person] = step
        elif action == "undo":
            in_effect[:] = [one for one in in_effect if one != undoes]
        elif action == "redo":
            in_effect.append(undoes)
        else:
            in_effect.append(step)
            both = tuple(sorted(theirs)) if step in theirs.values() else (author,)
            known[subject, step] = () if action in ("create", "import") else both
    return {subject: known.get((subject, done[-1]), ()) for subject, done in steps.items() if done}


def types(connection: "sqlite3.Connection") -> list[dict[str, Any]]:
    """Return the types, each with its name, description, colour and key."""
    row = connection.execute("SELECT after FROM log WHERE subject = 0 ORDER BY seq DESC LIMIT 1").fetchone()
    if row is None or row[0] is None:
        return []
    with _reading_json("the list of types"):
        found = json.loads(row[0])
        for one in found:
            entity_type(one)
            if not isinstance(one["colour"], int) or not isinstance(one["key"], str | None):
                raise TypeError(f"found {one!r:.100}")
        if len({one["name"] for one in found}) < len(found):
            raise ValueError("a type is there twice")
    return list(found)


def entity_type(one: dict[str, Any]) -> EntityType:
    """Return a type of the list as a tagger takes it, with its known words."""
    return EntityType(one["name"], one["description"], one.get("words", ()), one.get("weight", 1.0))


def sentence_of(text: str, start: int, end: int, words: str) -> Sentence:
    """Return a sentence of a text; `words` says where its words start in it, and then how long they are."""
    with _reading_json("a list of words"):
        numbers = json.loads(words)
        n = len(numbers) // 2
        part, starts = text[start:end], numbers[:n]
        at, found = 0, []
        for first, length in zip(starts, numbers[n:], strict=True):
            if first < at or length < 1:
                raise ValueError(f"a word is at {first}, after one that ends at {at}")
            at = first + length
            found.append(part[first:at])
        if not found or at > len(part) or start < 0 or end - start != len(part):
            raise ValueError(f"{n} words that end at {at} do not fit its {len(part)} characters")
    return Sentence.trusted(tuple(found), None, part, tuple(starts), start)


def documents(connection: "sqlite3.Connection") -> Iterator[tuple[Document, list[tuple[str, ...]]]]:
    """Yield the texts with the labels that were decided; and who decided each of their sentences."""
    decided, left_out, who = states(connection), gone(connection), deciders(connection)
    rows = connection.execute("SELECT text_id, same, start, stop, words FROM sentences ORDER BY text_id, id")
    row = rows.fetchone()
    for number, text, name, meta in connection.execute("SELECT id, text, name, meta FROM texts ORDER BY id"):
        sentences, names = [], []
        while row is not None and row[0] == number:
            _, same, *place = row
            state = decided.get(same, (0, NEW))[1]
            sentences.append(state.on(sentence_of(text, *place)))
            names.append(who.get(same, ()) if state.is_label else ())
            row = rows.fetchone()
        if number not in left_out:
            identifier, fields = _fields(text, name, meta)
            yield Document(text, tuple(sentences), identifier, fields | decided_by(*names)), names


def decided_by(*names: tuple[str, ...]) -> dict[str, list[str]]:
    """Return the field of a document with the names of those who decided on its sentences, if there are several."""
    found = sorted({one for some in names for one in some})
    return {"decided_by": found} if found else {}


def _fields(text: object, name: str | None, meta: str) -> tuple[str | int | None, dict[str, Any]]:
    with _reading_json("a field of a text"):
        identifier, fields = (None if name is None else json.loads(name)), json.loads(meta)
    if not isinstance(text, str) or not isinstance(identifier, str | int | None) or not isinstance(fields, dict):
        raise DamagedProjectError(
            f"a text is {type(text).__name__}, its id {identifier!r:.50}, its fields {fields!r:.50}"
        )
    return identifier, fields


def read_project(reading: FileReader) -> Iterator[Document]:
    """Read the types of a project; return an iterator of its texts, with their labels."""
    source = reading.source
    if source.path is None or source.first != MAGIC:
        raise FormatError(f"{source.name}: this is not a project of handful label, given by its path")
    source.close()  # SQLite opens the file itself
    connection = open_project(source.path)
    source.on_close(connection.close)
    with database_errors(source.name):
        reading.described = tuple(map(entity_type, types(connection)))
    return _labelled(reading, connection)


def _labelled(reading: FileReader, connection: "sqlite3.Connection") -> Iterator[Document]:
    with database_errors(reading.source.name):
        for document, _ in documents(connection):
            yield document.with_sentences(map(reading.finish, document.sentences))
