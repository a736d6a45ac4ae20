"""Settings whose meaning and limits are written once, beside each field of a dataclass.

`option` gives a field its limits, and help where the command line shows it, `check_options` checks an instance against
them, and `read_settings` reads an instance from a TOML file.
"""

import math
import os
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import field, fields, is_dataclass, replace
from difflib import get_close_matches
from types import MappingProxyType, NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from handful.errors import DataError, FormatError

from .files import PathLike, naming

_Settings = TypeVar("_Settings")

_NOUNS = {bool: "True or False", int: "a whole number", float: "a number", str: "a string", list: "a list"}
_NOUNS |= {os.PathLike: "a path"}


def option(
    default: Any, *, help: str = "", choices: Sequence[str] = (), least: float | None = None, below: float | None = None
) -> Any:
    """Return a dataclass field with a default, a help text, and limits; numbers are smaller than `below`."""
    metadata = {"help": help, "choices": choices, "least": least, "below": below}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def check_options(settings: Any) -> None:
    """Check the fields of a dataclass instance against their types and limits."""
    hints = get_type_hints(type(settings))
    for name, limits in _options(settings).items():
        value = getattr(settings, name)
        if not is_possible(value, hints[name], limits):
            raise DataError(f"{name} is {value!r}, expected {expected(hints[name], limits)}")


def read_settings(defaults: _Settings, file: PathLike | None, **given: Any) -> _Settings:
    """Return settings: those that are given and not None, else those of a TOML file, else the defaults."""
    made: Any = defaults
    if file is not None:
        try:
            with naming(file), open(file, "rb") as stream:
                found = tomllib.load(stream)
        except (ValueError, RecursionError) as error:
            raise FormatError(f"{file}: is not a TOML file: {error}") from None
        known = _options(made)
        for name in found.keys() - known:
            meant = get_close_matches(name, known, 1)
            advice = f"did you mean {meant[0]!r}?" if meant else f"the settings are {', '.join(known)}"
            raise DataError(f"{file}: there is no setting {name!r}; {advice}")
        try:
            made = replace(made, **found)
        except DataError as error:
            raise error.at(file) from None
    changed: _Settings = replace(made, **{name: value for name, value in given.items() if value is not None})
    return changed


def _options(of: Any) -> dict[str, Mapping[str, Any]]:
    return {each.name: each.metadata for each in fields(of) if each.metadata}


def _alternatives(hint: Any) -> tuple[Any, ...]:
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


def expected(hint: Any, limits: Mapping[str, Any]) -> str:
    """Say what `is_possible` asks of a value."""
    hint = [each for each in _alternatives(hint) if each is not NoneType][-1]
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (tuple, Sequence):
        return f"a list, each entry {expected(parts[0], limits)}"
    if origin is Mapping:
        return f"{expected(parts[1], limits)} for each name"
    noun = f"one of {', '.join(limits['choices'])}" if limits["choices"] else _NOUNS[origin or hint]
    noun += "" if limits["least"] is None else f" of at least {limits['least']:g}"
    return noun + ("" if limits["below"] is None else f" and below {limits['below']:g}")


def is_possible(value: Any, hint: Any, limits: Mapping[str, Any] = MappingProxyType({})) -> bool:
    """Tell whether a value is of a type, and all that is in it within limits; dataclasses are dicts, as in JSON."""
    alternatives = _alternatives(hint)
    if len(alternatives) > 1:
        return any(is_possible(value, each, limits) for each in alternatives)
    if hint is NoneType:
        return value is None
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (tuple, list, Sequence):
        is_list = isinstance(value, Sequence) and not isinstance(value, str)
        return is_list and all(is_possible(each, parts[0], limits) for each in value)
    if origin in (dict, Mapping) or is_dataclass(hint):
        hints = get_type_hints(hint) if is_dataclass(hint) else None
        return isinstance(value, Mapping) and all(
            isinstance(name, str) and (hints is None or name in hints)
            and is_possible(each, parts[1] if hints is None else hints[name], limits)
            for name, each in value.items()
        )  # fmt: skip
    if not isinstance(value, (int, float) if hint is float else origin or hint):
        return False
    if isinstance(value, bool) and hint is not bool:
        return False
    if isinstance(value, int | float) and not abs(value) < (math.inf if isinstance(value, float) else 1 << 63):
        return False
    is_chosen = not limits.get("choices") or value in limits["choices"]
    is_enough = limits.get("least") is None or value >= limits["least"]
    return is_chosen and is_enough and (limits.get("below") is None or value < limits["below"])
