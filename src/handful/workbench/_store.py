"""`Project`: text, types and decisions in one SQLite file, in which nothing that was confirmed is lost.

The tables are described in `handful.text.projects`, which reads them. The log only grows: undoing is a further
decision. A method that writes returns when all of it is on the disk.
"""

import json
import os
import sqlite3
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import RLock
from typing import Any

from handful._util.files import beside, failed
from handful.errors import FileError, StaleError
from handful.text import Document, EntityType, Sentence
from handful.text.projects import (
    GONE,
    NEW,
    SCHEMA,
    THERE,
    DamagedProjectError,
    State,
    database_errors,
    documents,
    gone,
    is_project,
    open_project,
    sentence_of,
    states,
    types,
)
from handful.web import hue

from ._adding import Added, insert, prepare
from ._type_changes import ChangedTypes, added, change_types

TYPES = 0  # the subject of log entries about types; above are sentences, below texts


@dataclass
class Undone:
    """The result of undoing or redoing: how many steps, which sentences changed, and what the last step had done."""

    n_steps: int = 0
    sentences: list[int] = field(default_factory=list)
    has_types: bool = False
    n_texts: int = 0  # that went out or came in
    action: str = ""


class Project:
    """A project: what `handful label` works on.

    Any number of threads may use one, and several processes may have the same file open.

    Parameters
    ----------
    path : the file. If there is none, it is made.
    author : who decides; it is written with each decision
    """

    def __init__(self, path: str | os.PathLike[str], author: str = "") -> None:
        self.path = Path(path)
        self.author = author
        self._lock = RLock()
        self._done: list[int] = []
        self._undone: list[int] = []
        self._seen = 0
        if not self.path.exists():
            _make(self.path)
        elif not is_project(self.path):
            raise FileError(f"{self.path}: is not a project of handful label; give the name of a new file")
        self._connection = open_project(self.path, mode="rw")
        with database_errors(self.path):
            self._connection.execute("PRAGMA journal_mode = WAL")
            self._connection.execute("PRAGMA synchronous = FULL")

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def __enter__(self) -> "Project":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    @property
    def version(self) -> int:
        """The number of the last log entry."""
        return int(self._one("SELECT coalesce(max(seq), 0) FROM log"))

    @property
    def n_decisions(self) -> int:
        """How many decisions on sentences people made; undoing and redoing are none."""
        left_out = "('create', 'import', 'undo', 'redo')"
        return int(self._one(f"SELECT count(DISTINCT step) FROM log WHERE subject > 0 AND action NOT IN {left_out}"))

    def types(self) -> list[dict[str, Any]]:
        """Return the types, each with its name, description, colour and key."""
        with self._lock, database_errors(self.path):
            return types(self._connection)

    def states(self) -> dict[int, tuple[int, State]]:
        """Return version and state of each sentence that has one, by its `same`."""
        with self._lock, database_errors(self.path):
            return states(self._connection)

    def changes(self, after: int) -> list[tuple[int, int, State]]:
        """Return what changed after a log entry: for each subject its last entry since, and its state there.

        Types, the subject 0, and texts, which are below, have none.
        """
        with self._lock, database_errors(self.path):
            rows = self._connection.execute(
                "SELECT subject, max(seq), after FROM log WHERE seq > ? GROUP BY subject ORDER BY 2", (after,)
            ).fetchall()
            if not all(type(subject) is int for subject, _, _ in rows):
                raise DamagedProjectError("a decision is on no sentence")
            return [(subject, seq, State.parse(written) if subject > TYPES else NEW) for subject, seq, written in rows]

    def sentences(self, after: int = 0) -> Iterator[tuple[int, int, int, Sentence]]:
        """Yield the id, the `same` and the text of each sentence after one, and its words without labels."""
        with self._reading() as connection:
            rows = connection.execute(
                "SELECT s.id, s.same, s.text_id, t.text, s.start, s.stop, s.words FROM sentences s "
                "JOIN texts t ON t.id = s.text_id WHERE s.id > ? ORDER BY s.id",
                (after,),
            )
            for id, same, text_id, *parts in rows:
                yield id, same, text_id, sentence_of(*parts)

    def text(self, text_id: int) -> str:
        """Return a text."""
        return str(self._one("SELECT text FROM texts WHERE id = ?", text_id))

    def documents(self, *, only_decided: bool = False) -> Iterator[Document]:
        """Yield the texts with the labels that were decided.

        Parameters
        ----------
        only_decided : yield nothing but sentences that were decided as a whole, for all types that there are, so that
            every word without a label is in no mention. Of a text with other sentences too, each such sentence is a
            document.
        """
        with self._reading() as connection:
            names = frozenset(one["name"] for one in types(connection))
            for document in documents(connection):
                if only_decided:
                    yield from _decided(document, names)
                else:
                    yield document

    def add(
        self,
        given: Iterable[Document],
        described: Callable[[], Iterable[EntityType]] = tuple,
        *,
        is_step: bool = False,
    ) -> Added:
        """Add texts with their labels: all of them, or where one of them is malformed, none.

        A text that is there already is not added again, but its labels are taken for sentences that have none.

        Parameters
        ----------
        given : a stream, for example
        described : returns types, besides those in labels; called at the end of the stream, which knows them then
        is_step : whether undoing takes the texts out again. Then texts that were taken out come in again.
        """
        prepared = prepare(given)
        with self._writing() as connection:
            is_begun = is_step or self.version > 0
            result = insert(connection, prepared, gone(connection) if is_step else ())
            old = new = types(connection)
            known = {one["name"] for one in old}
            said = list(described())
            for one in [*said, *map(EntityType, result.types)]:
                new = added(new, one)
            if not old:  # the colours that they have on the pages of a tagger, which sorts them
                by_name = sorted(one["name"] for one in new)
                new = [one | {"colour": hue(by_name.index(one["name"]))} for one in new]
            cases = Counter(one["name"].casefold() for one in new)
            result.alike = [name for name in result.types if name not in known and cases[name.casefold()] > 1]
            names = frozenset([*map(str, said), *result.types])
            if said or names.isdisjoint(known):  # else they were judged for all types there are
                for subject, state in result.labels.items():
                    if state.judged is None and names:
                        result.labels[subject] = replace(state, judged=names)
            came = dict.fromkeys(result.texts if is_step else (), THERE)
            self._append("import" if is_begun else "create", result.labels, new if new != old else None, came)
        return result

    def remove(self, texts: Iterable[int]) -> int:
        """Take texts out, until that is undone or they are added again; return the number of the log entry."""
        with self._writing():
            return self._append("remove", {}, None, dict.fromkeys(texts, GONE))

    def gone(self) -> set[int]:
        """Return the texts that were taken out."""
        with self._lock, database_errors(self.path):
            return gone(self._connection)

    def decide(self, action: str, changes: Mapping[int, State], versions: Mapping[int, int] | None = None) -> int:
        """Write a decision on sentences, and return the number of its log entry; the present one if nothing changes.

        Parameters
        ----------
        action : what was done, for the log
        changes : the new state of each sentence, by its `same`
        versions : what the decision was based on: the version of each sentence

        Raises
        ------
        StaleError : somebody else has changed one of them; nothing was written
        """
        with self._writing():
            for subject, version in (versions or {}).items():
                if self._one("SELECT coalesce(max(seq), 0) FROM log WHERE subject = ?", subject) != version:
                    raise StaleError(
                        f"sentence {subject} was changed in the meantime, in another window; look at it again, and "
                        "decide then"
                    )
            return self._append(action, changes)

    def change_types(self, action: str, name: str, value: Any = None, *, preview: bool = False) -> ChangedTypes:
        """Change a type by one of the actions of `change_types`, in all labels too; or only say what that would do."""
        with self._writing() as connection:
            present = {subject: state for subject, (_, state) in states(connection).items()}
            change = change_types(types(connection), present, self._words, action, name, value)
            if not preview:
                self._append(f"{action} type", change.states, change.types)
            return change

    def _words(self, id: int) -> Sentence:
        """Return a sentence without labels."""
        query = (
            "SELECT t.text, s.start, s.stop, s.words FROM sentences s JOIN texts t ON t.id = s.text_id WHERE s.id = ?"
        )
        row = self._connection.execute(query, (id,)).fetchone()
        if row is None:
            raise DamagedProjectError(f"a decision is on the sentence {id}, which is not there")
        return sentence_of(*row)

    def undo(self, n: int = 1) -> Undone:
        """Take the last n steps back, each by a further entry in the log."""
        return self._reverse("undo", n)

    def redo(self, n: int = 1) -> Undone:
        """Do again what was undone last, n steps of it."""
        return self._reverse("redo", n)

    def count_undo(self) -> tuple[int, int]:
        """Return how many steps can be undone, and how many redone."""
        with self._lock, database_errors(self.path):
            self._follow()
            return len(self._done), len(self._undone)

    def add_quality(self, decisions: int, f1: float, low: float, high: float) -> None:
        """Keep an estimate of the quality, for the curve."""
        with self._writing() as connection:
            connection.execute("INSERT OR REPLACE INTO quality VALUES (?, ?, ?, ?)", (decisions, f1, low, high))

    def quality(self) -> list[tuple[int, float, float, float]]:
        """Return the estimates so far: the number of decisions, F1 and its interval."""
        with self._lock, database_errors(self.path):
            return list(self._connection.execute("SELECT decisions, f1, low, high FROM quality ORDER BY decisions"))

    def _append(
        self,
        action: str,
        changes: Mapping[int, State],
        new_types: list[dict[str, Any]] | None = None,
        texts: Mapping[int, str] | None = None,
    ) -> int:
        """Write changes as one step; return the number of its last entry, or of the last one there is.

        Whoever decides on a sentence has looked for all types that there are.
        """
        now = frozenset(one["name"] for one in (types(self._connection) if new_types is None else new_types))
        after: dict[int, str | None] = {
            subject: (replace(state, judged=now) if state.is_label and state.judged is None else state).written()
            for subject, state in changes.items()
        }
        if new_types is not None:
            after[TYPES] = json.dumps(new_types, ensure_ascii=False)
        after |= {-text: written for text, written in (texts or {}).items()}
        return self._write_step(action, after)

    def _write_step(self, action: str, after: Mapping[int, str | None], undoes: int | None = None) -> int:
        last = self.version
        step, now = last + 1, time.time()
        for subject, written in after.items():
            before = self._one("SELECT after FROM log WHERE subject = ? ORDER BY seq DESC LIMIT 1", subject)
            if subject < TYPES and before is None:  # of a text: it has just come, or was there without an entry
                before = GONE if written == THERE else THERE
            if before == written or (before is None and written == NEW.written()):
                continue
            last += 1
            entry = (last, step, now, self.author, action, undoes, subject, before, written)
            self._connection.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", entry)
        return last

    def _reverse(self, action: str, n: int) -> Undone:
        result = Undone()
        touched: dict[int, None] = {}
        for _ in range(n):
            with self._writing() as connection:
                self._follow()
                stack = self._done if action == "undo" else self._undone
                if not stack:
                    break
                column = "before" if action == "undo" else "after"
                query = "SELECT action FROM log WHERE step = ? LIMIT 1"
                (result.action,) = connection.execute(query, (stack[-1],)).fetchone()
                rows = connection.execute(f"SELECT subject, {column} FROM log WHERE step = ?", (stack[-1],))
                changes = dict(rows.fetchall())
                self._write_step(action, changes, stack[-1])
            touched |= dict.fromkeys(changes)
            result.n_steps += 1
        result.has_types = TYPES in touched
        result.sentences = [subject for subject in touched if subject > TYPES]
        result.n_texts = sum(subject < TYPES for subject in touched)
        return result

    def _follow(self) -> None:
        """Bring the steps that can be undone and redone up to date with the log, which others may write to."""
        rows = self._connection.execute(
            "SELECT step, action, undoes, max(seq) FROM log WHERE seq > ? GROUP BY step ORDER BY step", (self._seen,)
        ).fetchall()
        for step, action, undoes, last in rows:
            if type(step) is not int:
                raise DamagedProjectError(f"its log has the step {step!r:.50}, expected a number")
            self._seen = last
            if action in ("undo", "redo"):
                before, after = (self._done, self._undone) if action == "undo" else (self._undone, self._done)
                if undoes not in before:
                    raise DamagedProjectError(f"step {step} of its log takes back {undoes}, which is no step")
                before.remove(undoes)
                after.append(undoes)
            elif action != "create":
                self._done.append(step)
                self._undone.clear()

    def _one(self, query: str, *values: object) -> Any:
        with self._lock, database_errors(self.path):
            row = self._connection.execute(query, values).fetchone()
        return None if row is None else row[0]

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        """Give a connection of its own, which sees the file as it is now, however long it reads."""
        connection = open_project(self.path)
        try:
            with database_errors(self.path):
                connection.execute("BEGIN")
                yield connection
        finally:
            connection.close()

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """Write all of it, or nothing; when it is left, all of it is on the disk."""
        with self._lock, database_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    self._connection.execute("ROLLBACK")
                raise


def _decided(document: Document, names: frozenset[str]) -> Iterator[Document]:
    """Yield the sentences that were decided as a whole for these types; the document itself where all of them were."""
    sentences = [
        replace(one, judged=None)  # there is no type that it says nothing of
        for one in document.sentences
        if one.is_labelled and (one.judged is None or names <= one.judged)
    ]
    if len(sentences) == len(document.sentences):
        yield document.with_sentences(sentences)
    else:
        yield from (Document.of(one, id=document.id, meta=document.meta) for one in sentences)


def _make(path: Path) -> None:
    """Make an empty project, which appears when it is complete."""
    temporary = beside(path)
    try:
        temporary.unlink(missing_ok=True)
        with database_errors(path):
            connection = sqlite3.connect(temporary)
            connection.execute("PRAGMA journal_mode = OFF")  # a killed process would leave a journal beside it
            connection.executescript(SCHEMA)
            connection.close()
        try:
            os.link(temporary, path)  # not over a project that somebody else made at the same time
        except FileExistsError:
            pass
        except OSError:
            os.replace(temporary, path)
    except OSError as error:
        raise failed(path, error) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
