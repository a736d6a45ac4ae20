"""`Mirror`: the sentences of a project and the decisions about them, in memory."""

from collections import Counter
from dataclasses import dataclass
from threading import RLock
from typing import Any

from handful.errors import DataError
from handful.text import EntityType, Sentence
from handful.text.projects import NEW, State, database_errors, entity_type

from ._store import Project

OPEN = ("new", "partial")  # statuses of sentences to ask about
DECIDED = ("labelled", "none")
PARTS = ("all", "open", "partial", "decided", "look", "unsure", "skipped")  # look: for types that came later


@dataclass(frozen=True, slots=True)
class Entry:
    """A sentence of the project, the first one with its words."""

    id: int
    text_id: int
    sentence: Sentence


class Mirror:
    """A project in memory, for many readers. Decisions are written to the project first; `follow` brings them here."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.lock = RLock()
        self.entries: dict[int, Entry] = {}  # by id, in order, each sequence of words once
        self.version = 0  # the number of the last log entry
        self.n_sentences = self.n_words = self.n_texts = 0
        self._states: dict[int, tuple[int, State]] = {}
        self.types: list[dict[str, Any]] = []  # each with its name, description, colour and key
        self.load()

    def load(self) -> None:
        """Read sentences that are not there yet."""
        with self.lock:
            new: dict[int, Entry] = {}
            for id, same, text_id, sentence in self.project.sentences(after=self.n_sentences):
                self.n_sentences = id
                self.n_texts = text_id
                self.n_words += len(sentence.words)
                if id == same:
                    new[id] = Entry(id, text_id, sentence)
            self.entries = {**self.entries, **new}  # others may be reading the old one
            self.follow()

    def follow(self) -> tuple[list[int], bool]:
        """Take over new log entries, whoever wrote them; return the sentences that changed, and whether types did."""
        with self.lock:
            subjects, has_types = [], False
            for subject, seq, state in self.project.changes(self.version):
                self.version = max(self.version, seq)
                if subject == 0:
                    self.types, has_types = self.project.types(), True
                    continue
                if subject in self.entries:
                    with database_errors(self.project.path):
                        state.on(self.entries[subject].sentence)  # an error where it does not fit
                self._states[subject] = (seq, state)
                subjects.append(subject)
            return subjects, has_types

    def entry(self, id: Any) -> Entry:
        """Return a sentence, or say that there is none."""
        found = self.entries.get(id) if isinstance(id, int) else None
        if found is None:
            raise DataError(f"there is no sentence {id!r:.50}")
        return found

    def state(self, id: int) -> tuple[int, State]:
        """Return the version and the state of a sentence."""
        return self._states.get(id, (0, NEW))

    def is_open(self, id: int) -> bool:
        return self.state(id)[1].status in OPEN

    def missing(self, id: int) -> tuple[str, ...]:
        """Return the types that nobody has looked for in a sentence that was decided: they came later."""
        _, state = self.state(id)
        if state.status not in DECIDED or state.judged is None:
            return ()
        return tuple(one["name"] for one in self.types if one["name"] not in state.judged)

    def entity_types(self) -> tuple[EntityType, ...]:
        return tuple(map(entity_type, self.types))

    def labelled(self) -> list[Sentence]:
        """Return the sentences with labels, partial ones too, in the order of their ids."""
        with self.lock:
            found = [(id, state) for id, (_, state) in self._states.items() if state.is_label and id in self.entries]
            return [state.on(self.entries[id].sentence) for id, state in sorted(found, key=lambda one: one[0])]

    def count_labels(self) -> dict[str, int]:
        """Return how many mentions of each type are labelled."""
        with self.lock:
            counts = Counter(span.type for _, state in self._states.values() if state.is_label for span in state.spans)
            return {one["name"]: counts[one["name"]] for one in self.types}

    def count_looks(self) -> dict[str, int]:
        """Return how many decided sentences nobody has looked at for each type, because it came later."""
        with self.lock:
            counts = Counter(name for id in self._states if id in self.entries for name in self.missing(id))
            return {one["name"]: counts[one["name"]] for one in self.types}

    def is_in(self, id: int, part: str) -> bool:
        """Whether a sentence is in a part of the project, one of `PARTS`."""
        status = self.state(id)[1].status
        if part == "look":
            return bool(self.missing(id))
        return part == "all" or status == part or status in {"open": OPEN, "decided": DECIDED}.get(part, ())

    def count_statuses(self) -> Counter[str]:
        """Return how many sentences have each status, and how many are in each part."""
        with self.lock:
            counts = Counter(state.status for id, (_, state) in self._states.items() if id in self.entries)
            counts["new"] = len(self.entries) - sum(n for status, n in counts.items() if status != "new")
            counts["look"] = sum(bool(self.missing(id)) for id in self._states if id in self.entries)
            counts["open"] = sum(counts[status] for status in OPEN)
            counts["decided"] = sum(counts[status] for status in DECIDED)
            return counts
