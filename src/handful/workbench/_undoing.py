"""The steps that can be undone and redone, also where several people decide: everybody has steps of their own."""

import json
import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field

from handful.text.projects import NEW, DamagedProjectError, State, answers

TYPES = 0  # the subject of log entries about types; above are sentences, below texts

Key = tuple[int, str | None]
"""The subject of an entry: a sentence, the types or a text, and whose own answer it is; None, the answer counts."""


@dataclass
class Undone:
    """The result of undoing or redoing: the steps, what they were about, and what the last of them had done.

    `left` are sentences that stay as they are, because others have decided on them since.
    """

    steps: list[int] = field(default_factory=list)
    subjects: dict[int, None] = field(default_factory=dict)
    left: set[int] = field(default_factory=set)
    action: str = ""

    @property
    def n_steps(self) -> int:
        return len(self.steps)

    @property
    def sentences(self) -> list[int]:
        return [subject for subject in self.subjects if subject > TYPES]

    @property
    def has_types(self) -> bool:
        return TYPES in self.subjects

    @property
    def n_texts(self) -> int:
        """How many texts went out or came in."""
        return sum(subject < TYPES for subject in self.subjects)


class Steps:
    """The steps of a log that can be undone and redone: those of one author, or of all."""

    def __init__(self, author: str | None = None) -> None:
        self.author = author
        self.done: list[int] = []
        self.undone: list[int] = []
        self._passed: set[int] = set()  # those that were undone before a further decision
        self._seen = 0

    def follow(self, connection: sqlite3.Connection) -> None:
        """Bring them up to date with the log, which others may write to."""
        query = "SELECT step, action, undoes, max(seq) FROM log WHERE seq > ?1 AND author = coalesce(?2, author) "
        rows = connection.execute(query + "GROUP BY step ORDER BY step", (self._seen, self.author)).fetchall()
        for step, action, undoes, last in rows:
            if type(step) is not int:
                raise DamagedProjectError(f"its log has the step {step!r:.50}, expected a number")
            self._seen = last
            if action in ("undo", "redo"):
                before, after = (self.done, self.undone) if action == "undo" else (self.undone, self.done)
                if undoes in before:
                    before.remove(undoes)
                elif self.author is not None:  # it is not a step of this person
                    continue
                elif undoes not in self._passed:
                    raise DamagedProjectError(f"step {step} of its log takes back {undoes}, which is no step")
                after.append(undoes)
            elif action not in ("create", "overlap"):
                self.done.append(step)
                self._passed.update(self.undone)
                self.undone.clear()

    def reverse(self, connection: sqlite3.Connection, action: str, result: Undone) -> dict[Key, str | None]:
        """Return what the next step to be undone or redone changes, if there is one, and add it to the result."""
        self.follow(connection)
        stack = self.done if action == "undo" else self.undone
        if not stack:
            return {}
        rows = connection.execute("SELECT subject, person, before, after, action FROM log WHERE step = ?", (stack[-1],))
        changes: dict[Key, tuple[str | None, str | None]] = {}  # from one state to another
        for subject, person, before, after, result.action in rows:
            changes[subject, person] = (after, before) if action == "undo" else (before, after)
        left = overtaken(connection, stack[-1], self.author, changes)
        result.left |= left
        written = {key: new for key, (_, new) in changes.items() if key[0] not in left}
        if written:
            result.steps.append(stack[-1])
            result.subjects |= dict.fromkeys(subject for subject, _ in written)
        else:  # nothing of it is left
            stack.pop()
        return written


def overtaken(
    connection: sqlite3.Connection, step: int, author: str | None, changes: Mapping[Key, tuple[str | None, str | None]]
) -> set[int]:
    """Return the subjects of a step that cannot be undone, or redone, because of what others did since.

    `changes` are the states that it finds and leaves. Others may have decided on a sentence, answered it, or taken away
    a type. A change of types, or of texts, is reversed as a whole, or not at all. One author alone reverses steps in
    their order, so this is empty.
    """
    in_effect: dict[int, set[int]] = {}  # what others did since, and did not take back
    query = "SELECT step, action, undoes, subject FROM log WHERE step > ? AND author != ? ORDER BY seq"
    for at, did, undoes, subject in connection.execute(query, (step, author)):
        if did == "undo":
            in_effect.pop(undoes, None)
        else:
            in_effect.setdefault(undoes if did == "redo" else at, set()).add(subject)
    later = set().union(*in_effect.values())
    subjects = {subject for subject, _ in changes}
    if later and (TYPES in subjects or not _names(connection, step) <= _names(connection)):
        return subjects
    left = set()
    for (subject, person), (expected, written) in changes.items():
        if subject < TYPES:
            query = "SELECT same FROM sentences WHERE text_id = ?"
            is_overtaken = not later.isdisjoint(same for (same,) in connection.execute(query, (-subject,)))
        else:
            now, by, did = _last(connection, subject, person)
            is_decided = author not in (None, by) and did not in ("undo", "redo")
            is_overtaken = is_decided or (now or NEW.written()) != (expected or NEW.written())
        if person is not None and (subject, None) not in changes:
            theirs = [one for who, one in answers(connection, subject).get(subject, {}).items() if who != person]
            is_closed = State.parse(_last(connection, subject, None)[0]) != NEW
            is_second = State.parse(written).is_answer and any(one.is_answer for one in theirs)
            is_overtaken |= is_closed or is_second
        left |= {subject} if is_overtaken else set()
    return subjects if left and min(subjects) <= TYPES else left


def _last(
    connection: sqlite3.Connection, subject: int, person: str | None
) -> tuple[str | None, str | None, str | None]:
    """Return the state that the last entry about a sentence wrote, who wrote it, and what was done."""
    query = "SELECT after, author, action FROM log WHERE subject = ? AND person IS ? ORDER BY seq DESC LIMIT 1"
    return connection.execute(query, (subject, person)).fetchone() or (None, None, None)


def _names(connection: sqlite3.Connection, before: int | None = None) -> set[str]:
    """Return the names of the types there are, or were before a step."""
    query = "SELECT after FROM log WHERE subject = 0 AND (? IS NULL OR step < ?) ORDER BY seq DESC LIMIT 1"
    row = connection.execute(query, (before, before)).fetchone()
    return set() if row is None or row[0] is None else {one["name"] for one in json.loads(row[0])}
