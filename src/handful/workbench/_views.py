"""`Views`: what a page asks for and says, and the answers, in the types of JSON."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from handful.errors import DataError, StaleError
from handful.text import FORMATS, Document, Sentence, Span
from handful.text.guidelines import understood
from handful.text.projects import NEW, State
from handful.web.http import refusal

from ._mirror import OPEN, PARTS, Entry
from ._quality import Quality
from ._records import Asked, Record, around, change_of, changed, label, mentions_of, number
from ._review import ORDERS, Row, accepted, decided, fitting, listed, rejected
from ._session import Session
from ._type_changes import LONGEST_DESCRIPTION

CONTEXT = 300  # characters before and after a sentence
MOST_SENTENCES, MOST_MENTIONS, MOST_STEPS, MOST_SHOWN = 200, 1_000, 1_000, 50


class Views:
    """Questions to a session, and decisions for it: those of one of several people, if one is named. For any thread."""

    def __init__(self, session: Session, person: str = "") -> None:
        self.session = session
        self.person = person or None
        self.mirror = session.mirror
        self.project = session.project.by(person) if person else session.project

    def state(self) -> Record:
        """Return where everything stands."""
        session, mirror = self.session, self.mirror
        session.follow()
        statuses = mirror.count_statuses(self.person)
        curve = self.project.quality()
        quality = None
        if curve:
            _, f1, low, high = curve[-1]
            known = Quality(f1, low, high) if session.quality is None else session.quality
            quality = {**known._asdict(), "f1": f1, "low": low, "high": high, "curve": [list(one) for one in curve]}
        return {
            "version": mirror.version,
            "types_version": mirror.types_version,
            "event": session.events.last,
            "project": {
                "name": self.project.path.stem,
                "sentences": mirror.n_sentences,
                "formats": list(FORMATS),
                "overlap": mirror.overlap,
                "person": self.person,
                "people": [] if session.people is None else session.people.present(),
                **self._steps(),
            },
            "types": self._types(),
            "counts": {
                "sentences": len(mirror.entries),
                "all": len(mirror.entries),
                **{key: statuses[key] for key in ("none", "new", "waiting", *PARTS[1:])},
                "labelled": statuses["labelled"] + statuses["none"],
                "predicted": len(session.found),
                "decisions": self.project.n_decisions,
            },
            "fit": {
                "status": session.status,
                "progress": session.progress,
                "number": session.number,
                "seconds": session.seconds,
                "queue": session.ranked,
                "version": session.version,
                "error": None if session.error is None else refusal(session.error),
            },
            "quality": quality,
            "agreement": mirror.agreement(),
            "o_share": session.o_share,
            "find": session.find,
        }

    def sentence(self, id: Any) -> Record:
        """Return a sentence, and see to it that it is predicted."""
        entry = self.mirror.entry(id)
        self.session.look_at([entry.id])
        return self._sentence(entry)

    def take(self, id: Any, given: Asked) -> Record:
        """Return a sentence that comes on the page, kept from others if it is open; that which was there is free."""
        entry, before = self.mirror.entry(id), number(given.get("leave"), "leave")
        if self.session.people is not None and before != entry.id:
            self.session.people.free(self.person or "", before)
        self._other(entry.id, is_taken=True)
        return self.sentence(entry.id)

    def why(self, id: Any, given: Asked) -> Record:
        """Say why words are found as a mention, or why they are not: of a type that is named, or of the nearest."""
        start, end = number(given.get("start"), "start"), number(given.get("end"), "end")
        return self.session.why(self.mirror.entry(id).id, start, end, self._type(given) if given.get("type") else None)

    def queue(self, given: Asked) -> Record:
        """Return the sentences to ask about next: those that teach most, all in order, or those with some text.

        In order, they are those from a place on (`start`), or those after a sentence, and `before` of those up to it.
        """
        mode = given.get("mode", "teach")
        n = number(given.get("n"), "n", 20, 1, MOST_SENTENCES)
        before = number(given.get("before"), "before", 0, 0, MOST_SENTENCES)
        after = number(given.get("after"), "after")
        skip = {number(one, "skip") for one in given.get("skip", "").split(",") if one}
        total: Record = {}
        shown: list[int] = []
        entries = self.mirror.entries
        if mode == "teach":
            begun = [id for id in self.mirror.answers if self.mirror.others(id, self.person)] if self.person else []
            is_open = (id for id in self.session.teach(begun) if self.mirror.is_open(id, self.person))
            ids = list(islice((id for id in is_open if id not in skip and self._other(id) is None), n))
        elif mode == "order" or (mode == "search" and given.get("q")):
            ids = self._chosen(given if mode == "search" else {**given, "q": ""})
            first = number(given["start"], "start") if "start" in given else bisect_right(ids, after)
            start = max(0, first - before)
            total = {"total": len(ids), "start": start}
            shown, ids = ids[start:first], ids[first : first + n]
        elif mode == "search":
            raise DataError("there is nothing to search for; give q")
        else:
            raise DataError(f"the mode is {mode!r:.50}, expected teach, order or search")
        # the first of those to come is predicted first, after the one that they come after, which is on the page
        self.session.look_at([*shown[:-1], *ids[::-1], *shown[-1:]])
        return {"sentences": [self._sentence(entries[id]) for id in [*shown, *ids]], **total}

    def _chosen(self, given: Asked) -> list[int]:
        """Return the sentences of a part of the project, in order: with some text (`q`), or lacking a `type`."""
        wanted, part = str(given.get("q", "")).casefold(), given.get("part") or "all"
        if part not in PARTS:
            raise DataError(f"the part is {part!r:.50}, expected one of {', '.join(PARTS)}")
        entries = self.mirror.entries
        found = (id for id in entries if not wanted or wanted in (entries[id].sentence.text or "").casefold())
        inside = [id for id in found if self.mirror.is_in(id, part, self.person)]
        kind = self._type(given) if given.get("type") else None
        return [id for id in inside if kind is None or kind in self.mirror.missing(id, self.person)]

    def remove(self, given: Asked) -> Record:
        """Take out the text of a sentence, or all texts with some words in a sentence; or say what that would do."""
        if "sentence" in given:
            texts = {self.mirror.entry(given["sentence"]).text_id}
        elif given.get("q"):
            texts = self.mirror.texts_of(self._chosen(given))
        else:
            raise DataError("name a sentence whose text is to be taken out, or give q")
        inside = self.mirror.only_in(texts)
        n_decided = sum(self.mirror.state(id)[1] != NEW for id in inside)
        if given.get("preview") is not True:
            self.project.remove(texts)
            self.session.follow()
        return {"texts": len(texts), "sentences": len(inside), "decided": n_decided}

    def decide(self, id: Any, given: Asked) -> Record:
        """Store a decision on a sentence."""
        entry = self.mirror.entry(id)
        version, labels = given.get("version"), given.get("labels") or []
        if type(version) is not int:
            raise DataError("a decision says on which version of the sentence it is based; give version")
        if not isinstance(labels, list):
            raise DataError(f"labels are a list, found {type(labels).__name__}")
        names = [one["name"] for one in self.mirror.types]
        if not names and given.get("action") in ("label", "nothing"):
            raise DataError("there is no type yet, so there is nothing to decide; add a type first")
        state = decided(entry.sentence, str(given.get("action")), labels, names, shares=self.mirror.overlap)
        if (other := self._other(entry.id, is_taken=True)) is not None:
            raise StaleError(f"{other} has sentence {entry.id} on the page now; take another one")
        own = {entry.id} if self._is_own(entry.id) else ()
        try:
            seq = self.project.decide(str(given.get("action")), {entry.id: state}, {entry.id: version}, own)
        finally:
            self.session.follow()
        if self.session.people is not None and not self.mirror.is_open(entry.id, self.person):
            self.session.people.free(self.person or "", entry.id)
        return {"sentence": self._sentence(entry), "decision": seq}

    def reverse(self, action: str, given: Asked) -> Record:
        """Undo or redo steps."""
        n = number(given.get("n"), "n", 1, 1, MOST_STEPS)
        done = self.project.undo(n) if action == "undo" else self.project.redo(n)
        self.session.follow()
        shown = [self.mirror.entries[id] for id in done.sentences[:MOST_SHOWN] if id in self.mirror.entries]
        return {
            "undone" if action == "undo" else "redone": done.n_steps,
            "is_left": bool(done.left),
            "left": [self._sentence(self.mirror.entries[id]) for id in done.left if id in self.mirror.entries],
            "sentences": [self._sentence(entry) for entry in shown],
            "types_changed": done.has_types,
            "texts": done.n_texts,
            "action": done.action,
            **self._steps(),
        }

    def change_types(self, given: Asked) -> Record:
        """Change a type, or say what that would do."""
        several = given.get("changes")  # they are one step
        asked = ("several", "", [*map(change_of, several)]) if isinstance(several, list) else change_of(given)
        version = number(given["version"], "version") if "version" in given else None
        change = self.project.change_types(*asked, preview=given.get("preview") is True, version=version)
        self.session.follow()
        return {
            "types": self._types(),
            "types_version": self.mirror.types_version,
            "labels_changed": change.n_labels,
            "sentences_changed": len(change.states),
        }

    def check_type(self, given: Asked) -> Record:
        """Say how well a description would fit the labels of a type."""
        return self.session.check(self._type(given), str(given.get("description", ""))[:LONGEST_DESCRIPTION])

    def set_find(self, given: Asked) -> Record:
        """Choose how much to find."""
        self.session.set_find(given.get("find"))  # type: ignore[arg-type]  # it is checked there
        return {"find": self.session.find}

    def mentions(self, given: Asked) -> Record:
        """Return all mentions of a type for a review, of all text or of those with some words (`q`).

        Those that were found come first, in an order (`by`): sure, doubt or word; then places with these words that are
        taken for no mention of the type, and the confirmed ones.
        """
        name, by = self._type(given), given.get("by") or "sure"
        n, after = number(given.get("n"), "n", 200, 1, MOST_MENTIONS), number(given.get("after"), "after")
        try:
            least, most = float(given.get("least") or 0), float(given.get("most") or 1)
        except ValueError:
            raise DataError("least and most are numbers from 0 to 1") from None
        if by not in ORDERS:
            raise DataError(f"by is {by!r:.50}, expected one of {', '.join(ORDERS)}")
        words = [word.casefold() for one in Document.of(given.get("q") or "").sentences for word in one.words]
        self.session.look_further()
        found, rows = self.session.found, list[Row]()
        with self.mirror.lock:
            for id, entry in self.mirror.entries.items():
                _, state = self.mirror.state(id, self.person)
                missing = self.mirror.missing(id, self.person)
                is_open = self.mirror.is_open(id, self.person) or name in missing
                spans = self._fitting(found[id].spans, state, entry, missing) if id in found and is_open else ()
                rows += listed(id, entry.sentence, state, spans, name, words, shares=self.mirror.overlap)
        rows = [row for row in rows if row.score is None or least <= row.score <= most]
        rows.sort(key=ORDERS[by])
        return {
            "mentions": [self._mention(row) for row in rows[after : after + n]],
            "total": len(rows),
            "looked": len(found),
            "sentences": len(self.mirror.entries),
        }

    def review(self, given: Asked) -> Record:
        """Take mentions of a type as right or as wrong, many at once; a sentence that changed meanwhile is left.

        What is right may be of another type, which it names. Where mentions may share words, it may say which other
        one it stands `instead` of; one of another type stands instead of that which was reviewed.
        """
        name, shares = self._type(given), self.mirror.overlap
        changes: dict[int, State] = {}
        versions: dict[int, int] = {}
        counts = {"accept": 0, "reject": 0}
        stale = []
        with self.mirror.lock:
            for kind in counts:
                for one in mentions_of(given.get(kind) or []):
                    entry = self.mirror.entry(one["sentence"])
                    version, state = self.mirror.state(entry.id, self.person)
                    if one["version"] != version or self._other(entry.id) is not None:
                        stale.append({key: one[key] for key in ("sentence", "start", "end")})
                        continue
                    asked = Span(one["start"], one["end"], name)
                    span = replace(asked, type=self._type(one) if "type" in one else name)
                    Sentence(entry.sentence.words, (span,))  # checks its place
                    state = changes.get(entry.id, state)
                    if kind == "reject":
                        changes[entry.id] = rejected(state, entry.sentence, span, shares=shares)
                    else:
                        instead = asked if span != asked else self._instead(one, entry.sentence)
                        changes[entry.id] = accepted(state, entry.sentence, span, instead, shares=shares)
                    versions[entry.id] = version
                    counts[kind] += 1
        seq = None
        try:
            if changes:
                own = {id for id in changes if self._is_own(id)}
                seq = self.project.decide("review", changes, versions, own)
        finally:
            self.session.follow()
        return {"accepted": counts["accept"], "rejected": counts["reject"], "stale": stale, "decision": seq}

    def _instead(self, given: Asked, sentence: Sentence) -> Span | None:
        """Return the mention that another one takes the place of, if it names one."""
        if (one := given.get("instead")) is None:
            return None
        mentions_of([{**one, "sentence": 0, "version": 0} if isinstance(one, Mapping) else one])
        span = Span(one["start"], one["end"], self._type(one))
        Sentence(sentence.words, (span,))  # checks its place
        return span

    def _fitting(self, spans: Sequence[Span], state: State, entry: Entry, missing: Sequence[str]) -> list[Span]:
        """Return the mentions that labels of a sentence allow."""
        return fitting(spans, state, entry.sentence, missing, shares=self.mirror.overlap)

    def _is_own(self, id: int) -> bool:
        """Whether a decision on a sentence is the answer of this person alone, which a second one does not see."""
        people, is_new = self.session.people, self.mirror.state(id)[1].status == "new"
        return people is not None and is_new and (people.is_for_two(id) or bool(self.mirror.others(id)))

    def _other(self, id: int, *, is_taken: bool = False) -> str | None:
        """Return who else has a sentence that is to be decided, if that is too many; else keep it, if it is wanted."""
        if self.session.people is None or self.mirror.state(id, self.person)[1].status not in (*OPEN, "disputed"):
            return None
        places = max(1, 2 - len(self.mirror.others(id, self.person))) if self._is_own(id) else 1
        return self.session.people.other(self.person or "", id, places, is_taken=is_taken)

    def _types(self) -> list[Record]:
        """Return the types, each with the numbers of its labels and of decided sentences that need a look for it."""
        labels, looks = self.mirror.count_labels(), self.mirror.count_looks()
        counts = ("n_labels", labels), ("n_looks", looks)
        return [
            one | {key: of[one["name"]] for key, of in counts} | {"understood": understood(one["description"])}
            for one in self.mirror.types
        ]

    def _steps(self) -> Record:
        """Return how many steps can be undone, and redone."""
        return dict(zip(("can_undo", "can_redo"), self.project.count_undo(), strict=True))

    def _type(self, given: Asked) -> str:
        name = given.get("type")
        if name not in [one["name"] for one in self.mirror.types]:
            raise DataError(f"there is no type {name!r:.100}")
        return str(name)

    def _sentence(self, entry: Entry) -> Record:
        sentence = entry.sentence
        version, state = self.mirror.state(entry.id, self.person)
        found = self.session.found.get(entry.id)
        missing = self.mirror.missing(entry.id, self.person)
        now = None if found is None else self._fitting(found.spans, state, entry, missing)
        before = None if found is None or found.before is None else self._fitting(found.before, state, entry, missing)
        text = self.project.text(entry.text_id)
        start, stop = sentence.offset, sentence.offset + len(sentence.text or "")
        offsets = sentence.offsets or ()
        return {
            "id": entry.id,
            "version": version,
            "words": list(sentence.words),
            "spaces": [i + 1 < len(offsets) and offsets[i + 1][0] > end for i, (_, end) in enumerate(offsets)],
            "before": text[max(0, start - CONTEXT) : start],
            "after": text[stop : stop + CONTEXT],
            "status": state.status,
            "look": list(missing),
            "labels": None if state.status in ("new", "skipped") else [label(span) for span in state.spans],
            "predictions": None if now is None and state.status != "disputed" else [label(span) for span in now or ()],
            "changed": [] if before is None else changed(before, now or []),
            "fit": 0 if found is None else found.fit,
            "answers": self._answers(entry.id),
            "by": self.mirror.authors.get(entry.id) if self.person and version else None,
            "held": self._other(entry.id),
        }

    def answers(self) -> Record:
        """Return all that each person said of sentences that were given to two, and how far they agree."""
        rows = []
        for id, theirs in sorted(self.mirror.answers.items()):
            status, given = self.mirror.state(id)[1].status, self._given(theirs)
            if given and id in self.mirror.entries and (status != "new" or self.person is None):
                words = list(self.mirror.sentence(id).words)
                rows.append({"id": id, "words": words, "status": status, "answers": given})
        return {"agreement": self.mirror.agreement(), "sentences": rows}

    def _answers(self, id: int) -> list[Record]:
        """Return what each of two people said of a sentence, where somebody is to settle it."""
        is_shown = self.mirror.state(id)[1].status == "disputed" or (self.person is None and self.mirror.others(id))
        return self._given(self.mirror.answers.get(id, {})) if is_shown else []

    def _given(self, theirs: Mapping[str, tuple[int, State]]) -> list[Record]:
        return [
            {"person": person, "status": state.status, "labels": [label(span) for span in state.spans]}
            for person, (_, state) in sorted(theirs.items())
            if state.is_answer
        ]

    def _mention(self, row: Row) -> Record:
        start, end = row.sentence.characters(row.span)
        text = row.sentence.text or ""
        left, right = around(text, start, end)
        return {
            "sentence": row.id,
            "version": self.mirror.state(row.id, self.person)[0],
            "start": row.span.start,
            "end": row.span.end,
            "score": None if row.score is None else round(row.score, 4),
            "text": row.text,
            "left": left,
            "right": right,
            "confirmed": row.is_confirmed,
            "taken": row.taken,
        }
