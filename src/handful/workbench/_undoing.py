"""What can be undone and redone, also where several people decide: everybody has steps of their own."""

import json
import sqlite3
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from handful.text.projects import NEW, DamagedProjectError, State

TYPES = 0  # the subject of log entries about types; above are sentences, below texts

Key = tuple[int, str | None]
"""What an entry is about: a sentence, the types or a text, and whose own answer it is; None, it is what counts."""


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
            elif action != "create":
                self.done.append(step)
                self._passed.update(self.undone)
                self.undone.clear()

    def reverse(self, connection: sqlite3.Connection, action: str, result: Undone) -> dict[Key, str | None]:
        """Return what the next step to be undone or redone changes, if there is one, and add it to the result."""
        self.follow(connection)
        stack = self.done if action == "undo" else self.undone
        if not stack:
            return {}
        column = "before" if action == "undo" else "after"
        rows = connection.execute(f"SELECT subject, person, {column}, action FROM log WHERE step = ?", (stack[-1],))
        changes: dict[Key, str | None] = {}
        for subject, person, written, result.action in rows:
            changes[subject, person] = written
        left = overtaken(connection, action, stack[-1], changes)
        result.left |= left
        changes = {key: written for key, written in changes.items() if key[0] not in left}
        if changes:
            result.steps.append(stack[-1])
            result.subjects |= dict.fromkeys(subject for subject, _ in changes)
        else:  # nothing of it is left
            stack.pop()
        return changes


def overtaken(connection: sqlite3.Connection, action: str, step: int, changes: Mapping[Key, str | None]) -> set[int]:
    """Return the subjects of a step that cannot be undone, or redone, because of what came in between.

    That is a later step on the same sentence, an answer of somebody else to it, or types that are gone. A change of
    types, or of texts, is reversed as a whole, or not at all. Where steps are reversed in their order, this is empty.
    """
    subjects = {subject for subject, _ in changes}
    in_effect: dict[Key, list[int]] = {}
    expected: dict[Key, list[int]] = {}  # the step that was in effect before this one
    last: dict[Key, str | None] = {}
    query = (
        "SELECT subject, person, step, action, undoes, after FROM log "
        "WHERE subject IN (SELECT subject FROM log WHERE step = ?) ORDER BY seq"
    )
    for subject, person, at, did, undoes, after in connection.execute(query, (step,)):
        key = subject, person
        stack = in_effect.setdefault(key, [])
        if at == step:
            expected[key] = stack[-1:]
        _take(stack, at, did, undoes)
        last[key] = after
    later: list[int] = []
    query = "SELECT DISTINCT step, action, undoes FROM log WHERE step > ? ORDER BY step"
    for at, did, undoes in connection.execute(query, (step,)):
        _take(later, at, did, undoes)
    later = [one for one in later if one > step]
    if later and (TYPES in subjects or not _names(connection, step) <= _names(connection)):
        return subjects
    left = {subject for subject in subjects if subject < TYPES and _is_decided_in(connection, -subject, later)}
    for key, written in changes.items():
        subject, person = key
        if in_effect[key][-1:] != ([step] if action == "undo" else expected[key]):
            left.add(subject)
        elif person is not None and (subject, None) not in changes:
            theirs = [State.parse(one) for (about, who), one in last.items() if about == subject and who != person]
            is_closed = State.parse(last.get((subject, None))) != NEW
            if is_closed or (State.parse(written).is_answer and any(one.is_answer for one in theirs)):
                left.add(subject)
    return subjects if left and min(subjects) <= TYPES else left


def _is_decided_in(connection: sqlite3.Connection, text: int, steps: Collection[int]) -> bool:
    """Whether one of some steps is about a sentence of a text."""
    query = "SELECT DISTINCT step FROM log WHERE subject IN (SELECT same FROM sentences WHERE text_id = ?)"
    return bool(steps) and any(step in steps for (step,) in connection.execute(query, (text,)))


def _take(stack: list[int], step: int, action: str, undoes: int | None) -> None:
    """Bring the steps that are in effect up to date with a further one."""
    if action == "undo":
        stack[:] = [one for one in stack if one != undoes]
    else:
        stack.append(undoes if action == "redo" and undoes is not None else step)


def _names(connection: sqlite3.Connection, before: int | None = None) -> set[str]:
    """Return the names of the types there are, or were before a step."""
    query = "SELECT after FROM log WHERE subject = 0 AND (? IS NULL OR step < ?) ORDER BY seq DESC LIMIT 1"
    row = connection.execute(query, (before, before)).fetchone()
    return set() if row is None or row[0] is None else {one["name"] for one in json.loads(row[0])}
