"""Changes to the types of a project, and what they do to labels: from old types and states to new ones."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from handful.errors import DataError
from handful.tagger.retyping import TypeChange
from handful.text import EntityType, Sentence
from handful.text.projects import State
from handful.web import Limits, hue

KEYS = [*"1234567890", *(f"⇧{digit}" for digit in "1234567890")]  # ⇧: with Shift
LONGEST_NAME, LONGEST_DESCRIPTION = 100, 2_000
MOST = Limits.max_types  # types, and changes at once

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
    if len(types) >= MOST:
        raise DataError(f"a project has at most {MOST:,} types")
    used = {one["colour"] for one in types}
    if colour is None:
        colour = next(hue(i) for i in range(360) if hue(i) not in used or i > 300)
    key = next((key for key in KEYS if key not in {one["key"] for one in types}), None)
    return [*types, new.to_dict() | {"colour": colour, "key": key}]


def change_types(
    types: Types,
    states: Mapping[int, State],
    sentence: Callable[[int], Sentence],
    action: str,
    name: str,
    value: Any = None,
) -> ChangedTypes:
    """Return the types and states after an action on a type.

    The value is its description (describe), its new name (rename), its hue (colour), description and hue or None
    (add), the type that it becomes a part of (merge), the names of its parts (split), none (remove), or a list of
    actions with their names and values (several). `sentence` gives the words that a state is about.
    """
    known = [one["name"] for one in types]
    if action == "several":
        if len(value) > MOST:
            raise DataError(f"there are {len(value):,} changes, but at most {MOST:,} can be made at once")
        changed = ChangedTypes(types, {})
        for one in value:
            step = change_types(changed.types, {**states, **changed.states}, sentence, *one)
            changed = ChangedTypes(step.types, changed.states | step.states, changed.n_labels + step.n_labels)
        return changed
    if action == "add":
        _check_new(name, known)
        description, colour = value
        colour = None if colour is None else _hue(colour)
        return ChangedTypes(added(types, _checked(name, description), colour), {})
    if name not in known:
        raise DataError(f"there is no type {name!r}; the types are {', '.join(known) or 'not named yet'}")
    place = known.index(name)
    others = [*types[:place], *types[place + 1 :]]
    if action == "remove":
        return _relabelled(types, others, states, sentence, name)
    if action == "rename":
        _checked(value, "")
        _check_new(value, [one for one in known if one != name])
        return _relabelled(types, _with(types, place, name=value), states, sentence, name, [value])
    if action == "merge":
        if value == name or value not in known:
            raise DataError(f"{name} cannot become a part of {value!r:.100}; name another type that there is")
        return _relabelled(types, others, states, sentence, name, [value])
    if action == "split":
        parts = value if isinstance(value, list) and all(isinstance(one, str) for one in value) else []
        if len(set(parts)) < 2:
            raise DataError(f"{name} is split into {value!r:.100}, expected the names of two types or more")
        new = types if name in parts else others
        for one in parts:
            if one != name:
                _check_new(one, [other["name"] for other in new])
                new = added(new, _checked(one, ""))
        return _relabelled(types, new, states, sentence, name, parts)
    if action == "describe":
        return ChangedTypes(_with(types, place, description=_checked(name, value).description), {})
    if action == "colour":
        return ChangedTypes(_with(types, place, colour=_hue(value)), {})
    raise DataError(
        f"types cannot be changed by {action!r}, but by add, rename, describe, colour, merge, split, remove and several"
    )


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


def _relabelled(
    types: Types,
    new: Types,
    states: Mapping[int, State],
    sentence: Callable[[int], Sentence],
    name: str,
    becomes: Sequence[str] = (),
) -> ChangedTypes:
    """Let labels follow a type that becomes another one, one of several, or nothing."""
    before, after = ([EntityType(one["name"]) for one in some] for some in (types, new))
    rename, split = ({name: becomes[0]} if len(becomes) == 1 else {}), ({name: becomes} if len(becomes) > 1 else {})
    change = TypeChange(before, after, rename, split)
    changed, n_labels = {}, 0
    for subject, state in states.items():
        is_kept = not state.is_label and bool(state.spans)  # the mentions of a sentence that is put aside
        if not (state.is_label or is_kept):
            continue
        label = replace(state, status="labelled") if is_kept else state
        found = State.of(change.sentences([label.on(sentence(subject))])[0])
        if is_kept:
            found = State(state.status, found.spans, None, found.judged)
        if found.written() != state.written():
            changed[subject] = found
            n_labels += sum(span.type == name for span in state.spans)
    return ChangedTypes(new, changed, n_labels)
