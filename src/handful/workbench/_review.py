"""From a decision of a person to the state of a sentence: decisions on all of it, and on one mention."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from handful.errors import DataError
from handful.text import OUTSIDE, UNKNOWN, Allowed, Sentence, Span
from handful.text.layers import by_place, overlap, overlap_error
from handful.text.projects import State

ACTIONS = {"label": "labelled", "nothing": "none", "unsure": "unsure", "skip": "skipped", "reset": "new"}


def decided(
    sentence: Sentence, action: str, labels: Sequence[Any], types: Sequence[str], *, shares: bool = False
) -> State:
    """Return the state that a decision on a whole sentence gives it; only label and unsure take labels.

    `shares` says, here and below, whether mentions may share words.
    """
    if action not in ACTIONS:
        raise DataError(f"the action is {action!r}, expected one of {', '.join(ACTIONS)}")
    if labels and action not in ("label", "unsure"):
        raise DataError(f"{action} takes no labels, found {len(labels)}")
    spans = tuple(sorted((_span(one, types) for one in labels), key=by_place))
    spans = Sentence(sentence.words, spans).spans or ()  # checks their places
    if not shares and (found := overlap(spans)):
        raise overlap_error(*found, sentence.words)
    status = ACTIONS[action]
    return State("none" if status == "labelled" and not spans else status, spans)


def accepted(
    state: State, sentence: Sentence, span: Span, instead: Span | None = None, *, shares: bool = False
) -> State:
    """Return the state in which a mention is right; of a sentence that nobody decided, the rest stays open.

    Others with its words go. If mentions may share words, that which it stands instead of goes, and no other one.
    """
    kept = [one for one in state.spans if one.end <= span.start or span.end <= one.start]
    if shares:
        kept = [one for one in state.spans if one not in (span, instead)]
        refused = [one for one in (*state.refused, instead) if one is not None]
        state = replace(state, refused=tuple(one for one in dict.fromkeys(refused) if one != span))
    known = _known(state, sentence)
    for replaced in set(state.spans).difference(kept):  # its words outside the new mention are open again
        known[replaced.start : replaced.end] = [UNKNOWN] * (replaced.end - replaced.start)
    return _with(state, sentence, sorted([*kept, span], key=by_place), known, shares)


def rejected(state: State, sentence: Sentence, span: Span, *, shares: bool = False) -> State:
    """Return the state in which none of these words is of the type of the mention; or if they are shared, all of it."""
    known = _known(state, sentence)
    if shares:
        state = replace(state, refused=tuple(dict.fromkeys([*state.refused, span])))
    for i in range(span.start, span.end):
        known[i] = UNKNOWN if span in state.spans else known[i]
        known[i] = known[i] if shares else _excluding(known[i], span.type)
    return _with(state, sentence, [one for one in state.spans if one != span], known, shares)


def fitting(
    spans: Sequence[Span], state: State, sentence: Sentence, missing: Sequence[str] = (), *, shares: bool = False
) -> list[Span]:
    """Return the mentions that labels allow where a sentence is partly labelled, or decided without `missing` types."""
    if shares:
        return _beside(spans, state, sentence, missing)
    if missing:
        covered = _covered(state.spans)
        return [one for one in spans if one.type in missing and covered.isdisjoint(range(one.start, one.end))]
    if state.status != "partial":
        return [] if state.status == "disputed" else list(spans)
    known, covered = state.on(sentence).constraints(), _covered(state.spans)

    def is_possible(span: Span) -> bool:
        return all(span.type in known[i] and i not in covered for i in range(span.start, span.end))

    return list(filter(is_possible, spans))


def _beside(spans: Sequence[Span], state: State, sentence: Sentence, missing: Sequence[str]) -> list[Span]:
    """Return mentions that labels allow where these may share words: not those that are known, right or wrong."""
    known, covered = _known(state, sentence), _covered(state.spans)

    def is_possible(span: Span) -> bool:
        if span in state.spans or span in state.refused or state.status == "disputed":
            return False
        if missing:
            return span.type in missing
        return all(i in covered or span.type in known[i] for i in range(span.start, span.end))

    return list(filter(is_possible, spans))


class Row(NamedTuple):
    """A place in the list of a review, and what it is taken for."""

    id: int
    sentence: Sentence
    span: Span
    score: float | None  # None where nobody took it for the type
    is_confirmed: bool
    taken: str | None  # the type that is found or confirmed there

    @property
    def text(self) -> str:
        """The words, as they are written."""
        return self.sentence.span_text(self.span)

    @property
    def kind(self) -> int:
        """Found, not found, confirmed: in this order they are listed."""
        return 2 if self.is_confirmed else self.score is None


ORDERS: dict[str, Callable[[Row], Any]] = {
    "sure": lambda row: (row.kind, -(row.score or 0.0), row.id, row.span.start),
    "doubt": lambda row: (row.kind, row.score or 0.0, row.id, row.span.start),
    "word": lambda row: (row.text.casefold(), row.kind, -(row.score or 0.0), row.id, row.span.start),
}


def listed(
    id: int,
    sentence: Sentence,
    state: State,
    found: Sequence[Span],
    name: str,
    words: Sequence[str],
    *,
    shares: bool = False,
) -> Iterator[Row]:
    """Yield the mentions of a type in a sentence, with some words if there are any, and other places with these words.

    `found` are the mentions that were found and are not decided yet.
    """
    labels = state.spans if state.is_label else ()
    hits = _places(sentence, words)
    for spans, is_confirmed in ((labels, True), (found, False)):
        for span in spans:
            if span.type == name and (not words or any(span.start <= hit and hit < span.end for hit in hits)):
                score = 1.0 if is_confirmed else span.score or 0.0
                yield Row(id, sentence, span, score, is_confirmed, name)
    for hit in hits:
        there = [span for span in (*labels, *found) if span.start < hit + len(words) and hit < span.end]
        if all(span.type != name for span in there):
            place = there[0] if there and not shares else Span(hit, hit + len(words), name)
            yield Row(id, sentence, replace(place, type=name), None, False, there[0].type if there else None)


def _places(sentence: Sentence, words: Sequence[str]) -> list[int]:
    """Return where these words begin, whatever their case."""
    n = len(words)
    if not n or words[0] not in (sentence.text or " ".join(sentence.words)).casefold():
        return []
    there = [word.casefold() for word in sentence.words]
    return [i for i in range(len(there) - n + 1) if there[i : i + n] == list(words)]


def _span(given: Any, types: Sequence[str]) -> Span:
    try:
        start, end, name = given["start"], given["end"], given["type"]
    except (TypeError, KeyError):
        raise DataError(f"a label has start, end and type, found {given!r:.100}") from None
    if type(start) is not int or type(end) is not int:
        raise DataError(f"start and end of a label are numbers of words, found {start!r:.50} and {end!r:.50}")
    if name not in types:
        raise DataError(f"there is no type {name!r:.100}; add it first")
    return Span(start, end, name)


def _covered(spans: Sequence[Span]) -> set[int]:
    return {i for span in spans for i in range(span.start, span.end)}


def _known(state: State, sentence: Sentence) -> list[Allowed]:
    """Return the possible tags of each word of a sentence that is not decided as a whole."""
    if state.status != "partial":
        return [UNKNOWN] * len(sentence.words)
    return [entry or OUTSIDE for entry in state.allowed or [None] * len(sentence.words)]


def _with(
    state: State, sentence: Sentence, spans: Sequence[Span], known: Sequence[Allowed], shares: bool = False
) -> State:
    """Return the state with other mentions; `known` are the possible tags of words if not all of it is decided."""
    if state.status == "disputed":
        return State("disputed", tuple(spans))
    if state.status in ("labelled", "none"):
        return State("labelled" if spans else "none", tuple(spans), None, state.judged)
    covered = _covered(spans)
    allowed = tuple(None if i in covered else entry for i, entry in enumerate(known))
    found = State.of(Sentence(sentence.words, tuple(spans), allowed))
    if shares:  # there may be more even where each word is in a mention
        return State("partial", found.spans, allowed, state.judged, state.refused)
    return replace(found, judged=state.judged)


def _excluding(known: Allowed, name: str) -> Allowed:
    """Return the tags that are possible without a type."""
    if known.is_excluded:
        return Allowed(known.names | {name}, True)
    return Allowed(known.names - {name} or OUTSIDE.names)
