"""Parts of requests and of answers, in the types of JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from handful.errors import DataError
from handful.text import Span

AROUND = 60  # characters before and after a mention
MOST_REVIEWED = 10_000

Record = dict[str, Any]
Asked = Mapping[str, Any]
"""A request: its query, whose values are texts, or its body."""


def label(span: Span) -> Record:
    score = {} if span.score is None else {"score": round(span.score, 4)}
    return {"start": span.start, "end": span.end, "type": span.type, **score}


def around(text: str, start: int, end: int) -> tuple[str, str]:
    """Return what is before and after a place in a text, cut between words."""
    left, right = text[max(0, start - AROUND) : start], text[end : end + AROUND]
    if start > AROUND:
        left = "… " + left.partition(" ")[2]
    if end + AROUND < len(text):
        right = right.rpartition(" ")[0] + " …"
    return left, right


def changed(before: Sequence[Span], after: Sequence[Span]) -> list[Record]:
    """Return the mentions that are new since the fit before, those that are gone, and those of another type."""
    was, now = (_types_by_place(spans) for spans in (before, after))
    places = sorted(place for place in now.keys() | was.keys() if now.get(place) != was.get(place))
    return [{"start": a, "end": b, "type": now.get((a, b)), "was": was.get((a, b))} for a, b in places]


def _types_by_place(spans: Sequence[Span]) -> dict[tuple[int, int], str]:
    """Return the type of mentions by their words; mentions of the same words have their types together."""
    types: dict[tuple[int, int], str] = {}
    for span in spans:
        place = span.start, span.end
        types[place] = f"{types[place]} and {span.type}" if place in types else span.type
    return types


def change_of(given: Any) -> tuple[str, str, Any]:
    """Return an action, the name of a type and a value."""
    action, name = (given.get("action"), given.get("name")) if isinstance(given, Mapping) else (None, None)
    if not isinstance(action, str) or not isinstance(name, str) or action == "several":
        raise DataError("a change of types has an action and the name of a type")
    value = given.get({"rename": "to", "merge": "to", "split": "to", "colour": "colour"}.get(action, "description"))
    return action, name, (value or "", given.get("colour")) if action == "add" else value


def mentions_of(given: Any) -> list[Record]:
    keys = ("sentence", "start", "end", "version")
    if not isinstance(given, list) or len(given) > MOST_REVIEWED:
        raise DataError(f"mentions are a list of at most {MOST_REVIEWED:,}")
    for one in given:
        if not isinstance(one, Mapping) or any(type(one.get(key)) is not int for key in keys):
            raise DataError(f"a mention has {', '.join(keys)}, all of them numbers; found {one!r:.100}")
    return given


def number(value: Any, name: str, default: int = 0, least: int = 0, most: int = 10**18) -> int:
    """Return a number of a request, which is a text in a query."""
    if value is None or value == "":
        return default
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        value = int(value)
    if type(value) is not int or not least <= value <= most:
        raise DataError(f"{name} is {value!r:.50}, expected a number from {least} to {most:,}")
    return value
