"""`Mirror`: the sentences of a project and the decisions about them, in memory."""

from collections import Counter
from collections.abc import Collection
from dataclasses import asdict, dataclass
from threading import RLock
from typing import Any

from handful.errors import DataError
from handful.text import EntityType, Sentence
from handful.text.layers import overlap
from handful.text.projects import NEW, State, database_errors, entity_type

from ._agreement import compare
from ._store import Project
from ._undoing import TYPES

OPEN = ("new", "partial")  # statuses of sentences to ask about
DECIDED = ("labelled", "none")
# Of the sentences of a project; look: those that were decided before there was some type
PARTS = ("all", "open", "partial", "disputed", "decided", "look", "unsure", "skipped")


@dataclass(frozen=True, slots=True)
class Entry:
    """A sentence of the project: the first one with its words that is there. Its id is that of the very first."""

    id: int
    text_id: int
    sentence: Sentence


class Mirror:
    """A project in memory, for many readers. Decisions are written to the project first; `follow` brings them here."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.lock = RLock()
        self.entries: dict[int, Entry] = {}  # by id, in order, each sequence of words once; it is replaced as a whole
        self.version = 0  # the number of the last log entry
        self.n_sentences = 0  # also those with the same words
        self._all: dict[int, Entry] = {}  # each sentence, also those of texts that were taken out
        self._states: dict[int, tuple[int, State]] = {}
        self.answers: dict[int, dict[str, tuple[int, State]]] = {}  # to sentences that are given to two people
        self.answered = 0  # the number of the last entry with one
        self._agreed: tuple[int, list[dict[str, Any]]] = 0, []
        self.authors: dict[int, str] = {}  # who has written the state of each sentence
        self.types: list[dict[str, Any]] = []  # each with its name, description, colour and key
        self.types_version = 0  # the number of the last log entry about them
        self.overlap = False  # whether mentions may share words
        self.load()
        self.follow()

    def load(self) -> None:
        """Read sentences that are not there yet, and leave out those of texts that were taken out."""
        with self.lock:
            for id, same, text_id, sentence in self.project.sentences(after=next(reversed(self._all), 0)):
                self._all[id] = Entry(same, text_id, sentence)
            left_out = self.project.gone()
            self._there = there = [one for one in self._all.values() if one.text_id not in left_out]
            first = {one.id: one for one in reversed(there)}
            self.entries = {id: first[id] for id in self._all if id in first}
            self.n_sentences = len(there)

    def follow(self) -> tuple[list[int], bool, bool]:
        """Take over new log entries, whoever wrote them.

        Return the sentences that changed, and whether types did, and whether texts came or went.
        """
        with self.lock:
            changes = self.project.changes(self.version)
            has_types = any(subject == TYPES for (subject, _), *_ in changes)
            has_texts = any(subject < TYPES for (subject, _), *_ in changes)
            if has_types:
                self.types, self.overlap = self.project.types(), self.overlap or self.project.overlap
            if has_texts:
                self.load()
            subjects: dict[int, None] = {}
            for (subject, person), seq, author, state in changes:
                self.version = max(self.version, seq)
                if subject == TYPES:
                    self.types_version = seq
                if subject <= TYPES:
                    continue
                self.overlap |= overlap(state.spans) is not None
                if subject in self.entries:
                    with database_errors(self.project.path):
                        state.on(self.entries[subject].sentence)  # an error where it does not fit
                if person is None:
                    self._states[subject], self.authors[subject] = (seq, state), author
                else:
                    self.answers.setdefault(subject, {})[person] = (seq, state)
                    self.answered = self.version
                subjects[subject] = None
            return list(subjects), has_types, has_texts

    def entry(self, id: Any) -> Entry:
        """Return a sentence, or say that there is none."""
        found = self.entries.get(id) if isinstance(id, int) else None
        if found is None:
            raise DataError(f"there is no sentence {id!r:.50}")
        return found

    def sentence(self, id: int) -> Sentence:
        """Return a sentence, also one whose text was taken out a moment ago."""
        return self._all[id].sentence

    def texts_of(self, ids: Collection[int]) -> set[int]:
        """Return the texts in which the words of some sentences are."""
        wanted = set(ids)
        return {one.text_id for one in self._there if one.id in wanted}

    def only_in(self, texts: Collection[int]) -> list[int]:
        """Return the sentences whose words are in no other text that is there."""
        elsewhere = {one.id for one in self._there if one.text_id not in texts}
        return [id for id in self.entries if id not in elsewhere]

    def state(self, id: int, person: str | None = None) -> tuple[int, State]:
        """Return the version and the state of a sentence: as a person sees it who answers alone, or what counts."""
        version, state = self._states.get(id, (0, NEW))
        if person is None or id not in self.answers:
            return version, state
        own_version, own = self.answers[id].get(person, (0, NEW))
        return max(version, own_version), own if state.status == "new" else state

    def is_open(self, id: int, person: str | None = None) -> bool:
        return id in self.entries and self.state(id, person)[1].status in OPEN

    def others(self, id: int, person: str | None = None) -> list[str]:
        """Return who else has answered a sentence that waits for a second answer."""
        if id not in self.answers or self.state(id)[1].status != "new":
            return []
        return [one for one, (_, state) in self.answers[id].items() if state.is_answer and one != person]

    def missing(self, id: int, person: str | None = None) -> tuple[str, ...]:
        """Return the types that nobody has looked for in a sentence that was decided: they came later."""
        _, state = self.state(id, person)
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
            labels = [state for id, (_, state) in self._states.items() if state.is_label and id in self.entries]
            counts = Counter(span.type for state in labels for span in state.spans)
            return {one["name"]: counts[one["name"]] for one in self.types}

    def count_looks(self) -> dict[str, int]:
        """Return how many decided sentences nobody has looked at for each type, because it came later."""
        with self.lock:
            counts = Counter(name for id in self._states if id in self.entries for name in self.missing(id))
            return {one["name"]: counts[one["name"]] for one in self.types}

    def is_in(self, id: int, part: str, person: str | None = None) -> bool:
        """Whether a sentence is in a part of the project, one of `PARTS`."""
        status = self.state(id, person)[1].status
        if part == "look":
            return bool(self.missing(id, person))
        return part == "all" or status == part or status in {"open": OPEN, "decided": DECIDED}.get(part, ())

    def count_statuses(self, person: str | None = None) -> Counter[str]:
        """Return how many sentences have each status, and how many are in each part."""
        with self.lock:
            known = [id for id in {**self._states, **self.answers} if id in self.entries]
            counts = Counter(self.state(id, person)[1].status for id in known)
            counts["new"] = len(self.entries) - sum(n for status, n in counts.items() if status != "new")
            counts["look"] = sum(bool(self.missing(id, person)) for id in known)
            counts["open"] = sum(counts[status] for status in OPEN)
            counts["decided"] = sum(counts[status] for status in DECIDED)
            counts["waiting"] = sum(bool(self.others(id)) for id in self.answers if id in self.entries)
            return counts

    def agreement(self) -> list[dict[str, Any]]:
        """Return how far each two people agree who answered the same sentences."""
        with self.lock:
            if self._agreed[0] != self.answered:
                given = {id: {who: state for who, (_, state) in one.items()} for id, one in self.answers.items()}
                found = compare(given, lambda id: len(self.sentence(id).words))
                self._agreed = self.answered, [asdict(one) for one in found]
            return self._agreed[1]
