"""`Project`: text, types and decisions in one SQLite file, in which nothing that was confirmed is lost.

The tables are described in `handful.text.projects`, which reads them. The log only grows: undoing is a further
decision. A method that writes returns when all of it is on the disk.
"""

import json
import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import copy
from dataclasses import replace
from typing import Any

from handful.errors import StaleError
from handful.text import Document, EntityType, Sentence
from handful.text.layers import overlap, overlap_error
from handful.text.projects import (
    GONE,
    NEW,
    THERE,
    DamagedProjectError,
    State,
    answers,
    database_errors,
    decided_by,
    documents,
    gone,
    sentence_of,
    states,
    types,
)
from handful.web import hue

from ._adding import Added, insert, prepare
from ._file import ProjectFile
from ._people import settled
from ._type_changes import ChangedTypes, added, change_types
from ._undoing import TYPES, Key, Steps, Undone


class Project(ProjectFile):
    """A project: what `handful label` works on.

    Any number of threads may use one, and several processes may have the same file open.

    Parameters
    ----------
    path : the file. If there is none, it is made.
    author : who decides; it is written with each decision
    """

    def __init__(self, path: str | os.PathLike[str], author: str = "") -> None:
        super().__init__(path)
        self.author = author
        self.is_shared = False
        self._steps = Steps()

    def by(self, person: str) -> "Project":
        """Return the project for one of several people, who undoes nothing but his or her own decisions."""
        one = copy(self)
        one.author, one.is_shared, one._steps = person, True, Steps(person)
        return one

    @property
    def version(self) -> int:
        """The number of the last log entry."""
        return int(self._one("SELECT coalesce(max(seq), 0) FROM log"))

    @property
    def n_decisions(self) -> int:
        """How many decisions on sentences people made; undoing and redoing are none."""
        left_out = "('create', 'import', 'undo', 'redo')"
        return int(self._one(f"SELECT count(DISTINCT step) FROM log WHERE subject > 0 AND action NOT IN {left_out}"))

    @property
    def overlap(self) -> bool:
        """Whether somebody has asked for mentions that share words."""
        return bool(self._one("SELECT EXISTS (SELECT 1 FROM log WHERE action = 'overlap')"))

    def share_words(self) -> None:
        """Let mentions share words from now on."""
        with self._writing():
            if not self.overlap:
                given = self._one("SELECT after FROM log WHERE subject = 0 ORDER BY seq DESC LIMIT 1")
                step, who = self.version + 1, self.author
                entry = (step, step, time.time(), who, "overlap", None, TYPES, None, given, given)
                self._connection.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", entry)

    def types(self) -> list[dict[str, Any]]:
        """Return the types, each with its name, description, colour and key."""
        with self._lock, database_errors(self.path):
            return types(self._connection)

    def states(self) -> dict[int, tuple[int, State]]:
        """Return version and state of each sentence that has one, by its `same`."""
        with self._lock, database_errors(self.path):
            return states(self._connection)

    def changes(self, after: int) -> list[tuple[Key, int, str, State]]:
        """Return what changed after a log entry: of each subject its last entry since, the author, and its state there.

        Types, the subject 0, and texts, which are below, have none.
        """
        with self._lock, database_errors(self.path):
            rows = self._connection.execute(
                "SELECT subject, person, max(seq), author, after FROM log WHERE seq > ? GROUP BY 1, 2 ORDER BY 3",
                (after,),
            ).fetchall()
            if not all(type(subject) is int for subject, *_ in rows):
                raise DamagedProjectError("a decision is on no sentence")
            return [
                ((subject, person), seq, author, State.parse(after) if subject > TYPES else NEW)
                for subject, person, seq, author, after in rows
            ]

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
            for document, who in documents(connection):
                if only_decided:
                    yield from _decided(document, who, names)
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
            is_begun = is_step or bool(self._one("SELECT EXISTS (SELECT 1 FROM log WHERE action != 'overlap')"))
            self._check_shared(document for document, *_ in prepared)
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
            labels: dict[Key, State] = {(subject, None): state for subject, state in result.labels.items()}
            self._append("import" if is_begun else "create", labels, new if new != old else None, came)
        return result

    def _check_shared(self, given: Iterable[Document]) -> None:
        """Refuse labels that share words where there is text already, and a word of it has one tag."""
        every = ((one, overlap(one.spans or ())) for document in given for one in document.sentences)
        found = next(((one, *shared) for one, shared in every if shared is not None), None)
        if found is None or self.overlap or not self._one("SELECT EXISTS (SELECT 1 FROM sentences)"):
            return
        if not any(overlap(state.spans) for _, state in self.states().values()):
            raise overlap_error(*found[1:], found[0].words)

    def remove(self, texts: Iterable[int]) -> int:
        """Take texts out, until that is undone or they are added again; return the number of the log entry."""
        with self._writing():
            return self._append("remove", {}, None, dict.fromkeys(texts, GONE))

    def gone(self) -> set[int]:
        """Return the texts that were taken out."""
        with self._lock, database_errors(self.path):
            return gone(self._connection)

    def decide(
        self,
        action: str,
        changes: Mapping[int, State],
        versions: Mapping[int, int] | None = None,
        own: Collection[int] = (),
    ) -> int:
        """Write a decision on sentences, and return the number of its log entry; the present one if nothing changes.

        Parameters
        ----------
        action : what was done, for the log
        changes : the new state of each sentence, by its `same`
        versions : what the decision was based on: the version of each sentence
        own : those of them that are given to two people. The state is the answer of this person alone; when there are
            two answers, the sentence is decided if they are the same, and disputed if not.

        Raises
        ------
        StaleError : somebody else has changed one of them; nothing was written
        """
        with self._writing() as connection:
            self._check(versions or {})
            after: dict[Key, State] = {}
            for subject, state in changes.items():
                if subject in own:
                    after[subject, self.author] = state
                    theirs = answers(connection, subject).get(subject, {}).items()
                    other = next((one for person, one in theirs if person != self.author and one.is_answer), None)
                    if other is not None and state.is_answer:
                        after[subject, None] = settled(other, state)
                    continue
                if state == NEW:  # everybody is asked anew
                    after |= {(subject, person): NEW for person in answers(connection, subject).get(subject, {})}
                after[subject, None] = state
            return self._append(action, after)

    def _check(self, versions: Mapping[int, int]) -> None:
        """Refuse what is based on an older version of a sentence, or of the types, than the author can know of."""
        query = "SELECT coalesce(max(seq), 0) FROM log WHERE subject = ? AND (person IS NULL OR person = ?)"
        for subject, version in versions.items():
            if self._one(query, subject, self.author if self.is_shared else None) != version:
                what = "the types were" if subject == TYPES else f"sentence {subject} was"
                raise StaleError(f"{what} changed in the meantime, in another window; look again, and decide then")

    def change_types(
        self, action: str, name: str, value: Any = None, *, preview: bool = False, version: int | None = None
    ) -> ChangedTypes:
        """Change a type by one of the actions of `change_types`, in all labels too; or only say what that would do.

        The change may be based on a version of the types: the number of the last log entry about them.
        """
        with self._writing() as connection:
            self._check({} if version is None else {TYPES: version})
            present = {subject: state for subject, (_, state) in states(connection).items()}
            asked = self._words, action, name, value
            change = change_types(types(connection), present, *asked)
            if not preview:
                after: dict[Key, State] = {(subject, None): state for subject, state in change.states.items()}
                given = answers(connection)
                for person in {one for theirs in given.values() for one in theirs}:
                    own = {subject: theirs[person] for subject, theirs in given.items() if person in theirs}
                    changed = change_types(types(connection), own, *asked).states
                    after |= {(subject, person): state for subject, state in changed.items()}
                self._append(f"{action} type", after, change.types)
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
            self._steps.follow(self._connection)
            return len(self._steps.done), len(self._steps.undone)

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
        changes: Mapping[Key, State],
        new_types: list[dict[str, Any]] | None = None,
        texts: Mapping[int, str] | None = None,
    ) -> int:
        """Write changes as one step; return the number of its last entry, or of the last one there is.

        Whoever decides on a sentence has looked for all types that there are.
        """
        now = frozenset(one["name"] for one in (types(self._connection) if new_types is None else new_types))
        after: dict[Key, str | None] = {
            key: (replace(state, judged=now) if state.is_label and state.judged is None else state).written()
            for key, state in changes.items()
        }
        if new_types is not None:
            after[TYPES, None] = json.dumps(new_types, ensure_ascii=False)
        after |= {(-text, None): written for text, written in (texts or {}).items()}
        return self._write_step(action, after)

    def _write_step(self, action: str, after: Mapping[Key, str | None], undoes: int | None = None) -> int:
        last = self.version
        step, now = last + 1, time.time()
        for (subject, person), written in after.items():
            query = "SELECT after FROM log WHERE subject = ? AND person IS ? ORDER BY seq DESC LIMIT 1"
            before = self._one(query, subject, person)
            if subject < TYPES and before is None:  # of a text: it has just come, or was there without an entry
                before = GONE if written == THERE else THERE
            if before == written or (before is None and written == NEW.written()):
                continue
            last += 1
            entry = (last, step, now, self.author, action, undoes, subject, person, before, written)
            self._connection.execute("INSERT INTO log VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", entry)
        return last

    def _reverse(self, action: str, n: int) -> Undone:
        result = Undone()
        for _ in range(n):
            with self._writing() as connection:
                changes = self._steps.reverse(connection, action, result)
                if not changes:
                    break
                self._write_step(action, changes, result.steps[-1])
        return result


def _decided(document: Document, who: Iterable[tuple[str, ...]], names: frozenset[str]) -> Iterator[Document]:
    """Yield the sentences that were decided as a whole for these types; the document itself where all of them were."""
    found = [
        (replace(one, judged=None), by)  # there is no type that it says nothing of
        for one, by in zip(document.sentences, who, strict=True)
        if one.is_labelled and (one.judged is None or names <= one.judged)
    ]
    if len(found) == len(document.sentences):
        yield document.with_sentences([one for one, _ in found])
    else:
        for one, by in found:
            yield Document.of(one, id=document.id, meta={**document.meta, **decided_by(by)})
