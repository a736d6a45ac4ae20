"""Changes to the types of a project, and what they do to labels: from old types and states to new ones."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from handful.errors import DataError
from handful.text import OUTSIDE, UNKNOWN, Allowed, EntityType, Span
from handful.text.projects import NEW, State
from handful.web import hue

KEYS = [*"1234567890", *(f"⇧{digit}" for digit in "1234567890")]  # ⇧: with Shift
LONGEST_NAME, LONGEST_DESCRIPTION = 100, 2_000

Types = list[dict[str, Any]]


@dataclass(frozen=True)
class ChangedTypes:
    """New types, the states that change with them, and how many mentions are touched."""

    types: Types
    states: dict[int, State]
    n_labels: int = 0


def added(types: Types, new: EntityType, colour: int | None = None) -> Types:
    """Return types with one more, which gets a colour and a key that no other has; a known one may be described."""
    for i, one in enumerate(types):
        if one["name"] == new.name:
            return _with(types, i, **new.to_dict() | {"description": one["description"] or new.description})
    used = {one["colour"] for one in types}
    if colour is None:
        colour = next(hue(i) for i in range(360) if hue(i) not in used or i > 300)
    key = next((key for key in KEYS if key not in {one["key"] for one in types}), None)
    return [*types, new.to_dict() | {"colour": colour, "key": key}]


def change_types(types: Types, states: Mapping[int, State], action: str, name: str, value: Any = None) -> ChangedTypes:
    """Return the types and states after an action on a type: add, rename, describe, colour or remove.

    The value is its description (describe), its new name (rename), its hue (colour), or description and hue or None
    (add).
    """
    known = [one["name"] for one in types]
    if action == "add":
        _check_new(name, known)
        description, colour = value
        colour = None if colour is None else _hue(colour)
        return ChangedTypes(added(types, _checked(name, description), colour), {})
    if name not in known:
        raise DataError(f"there is no type {name!r}; the types are {', '.join(known) or 'not named yet'}")
    place = known.index(name)
    if action == "remove":
        return _relabelled([*types[:place], *types[place + 1 :]], states, name, None)
    if action == "rename":
        _checked(value, "")
        _check_new(value, [one for one in known if one != name])
        return _relabelled(_with(types, place, name=value), states, name, value)
    if action == "describe":
        return ChangedTypes(_with(types, place, description=_checked(name, value).description), {})
    if action == "colour":
        return ChangedTypes(_with(types, place, colour=_hue(value)), {})
    raise DataError(f"types cannot be changed by {action!r}, but by add, rename, describe, colour and remove")


def _check_new(name: str, known: Sequence[str]) -> None:
    """Refuse a name that is there, also where only capitals tell them apart: labels would be split between the two."""
    for one in known:
        if one.casefold() == name.casefold():
            raise DataError(f"there is a type {one} already; choose another name")


def _hue(value: Any) -> int:
    if type(value) is not int or not 0 <= value < 360:
        raise DataError(f"a colour is a hue from 0 to 359, found {value!r:.50}")
    return value


def _checked(name: Any, description: Any) -> EntityType:
    one = EntityType(name.strip() if isinstance(name, str) else name, description)
    if len(one.name) > LONGEST_NAME or not one.name.isprintable():
        raise DataError(f"the name of a type is one line of at most {LONGEST_NAME} characters")
    if name != one.name:
        raise DataError(f"the name {name!r} starts or ends with white space")
    if len(one.description) > LONGEST_DESCRIPTION:
        raise DataError(f"the description of a type has at most {LONGEST_DESCRIPTION:,} characters")
    return one


def _with(types: Types, place: int, **values: Any) -> Types:
    return [*types[:place], types[place] | values, *types[place + 1 :]]


def _relabelled(types: Types, states: Mapping[int, State], name: str, to: str | None) -> ChangedTypes:
    """Rename a type in all labels; without a new name, its mentions are no longer mentions."""
    changed, n_labels = {}, 0
    for subject, state in states.items():
        new = _without_type(state, name) if to is None else _renamed(state, name, to)
        if new.written() != state.written():
            changed[subject] = new
            n_labels += sum(span.type == name for span in state.spans)
    return ChangedTypes(types, changed, n_labels)


def _renamed(state: State, name: str, to: str) -> State:
    def renamed(one: Allowed | None) -> Allowed | None:
        return one if one is None or name not in one.names else Allowed(one.names - {name} | {to}, one.is_excluded)

    spans = tuple(Span(span.start, span.end, to) if span.type == name else span for span in state.spans)
    judged = state.judged and frozenset(to if one == name else one for one in state.judged)
    return State(state.status, spans, None if state.allowed is None else tuple(map(renamed, state.allowed)), judged)


def _without_type(state: State, name: str) -> State:
    spans = [span for span in state.spans if span.type != name]
    allowed = list(state.allowed or ())
    for i, one in enumerate(allowed):
        if one is None or name not in one.names:
            continue
        names = one.names - {name}
        if one.is_excluded or not names:
            allowed[i] = Allowed(names, True)
        elif len(names) == 1:  # one type is left, or O
            allowed[i] = None
            if names != OUTSIDE.names:
                spans.append(Span(i, i + 1, next(iter(names))))
        else:
            allowed[i] = Allowed(names)
    spans.sort(key=lambda span: span.start)
    new = State(
        state.status, tuple(spans), tuple(allowed) if any(allowed) else None, state.judged and state.judged - {name}
    )
    if not state.is_label:
        return new
    if new.allowed is None:
        return replace(new, status="labelled" if spans else "none")
    if not spans and all(one == UNKNOWN for one in allowed):
        return NEW
    return replace(new, status="partial")
