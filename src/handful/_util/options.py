"""Settings whose meaning and limits are written once, beside each field of a dataclass.

`option` gives a field its help and its limits, `check_options` checks an instance against them, and `documented` puts
them into the docstring of the class. The command line makes its options from the same fields.
"""

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from textwrap import indent
from types import NoneType
from typing import Any, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from handful.errors import DataError

__all__ = [
    "Kind",
    "Option",
    "check_options",
    "documented",
    "expected",
    "is_possible",
    "kinds_of",
    "option",
    "options_of",
]

_Class = TypeVar("_Class", bound=type)

_NOUNS = {bool: "True or False", int: "a whole number", float: "a number", str: "a string", Path: "a path"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """What a setting means, and which values it can have.

    Attributes
    ----------
    help : one or two sentences
    metavar : what stands for the value in the help of the command line
    example : values as they are written on the command line
    flag : the option's name on the command line, where it is not the field's name
    choices : the possible values; empty for any
    least : the smallest possible number
    below : all numbers must be smaller than this one
    is_on_shell : whether the command line has an option for it
    """

    help: str
    metavar: str | None = None
    example: str = ""
    flag: str | None = None
    choices: tuple[str, ...] = ()
    least: float | None = None
    below: float | None = None
    is_on_shell: bool = True


class Kind(NamedTuple):
    """The type of a setting.

    Attributes
    ----------
    shape : "one", "list", or "by name" (a value for each name)
    item : bool, int, float, str or Path
    is_optional : whether it can be None
    """

    shape: str
    item: type
    is_optional: bool


def option(default: Any, *, help: str, **limits: Any) -> Any:
    """Return a dataclass field with a default, and the `Option` made from all other arguments."""
    metadata = {"option": Option(help=help, **limits)}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=metadata)
    return field(default=default, metadata=metadata)


def options_of(of: Any) -> dict[str, Option]:
    """Return the options of a dataclass or an instance, by the names of their fields."""
    return {each.name: each.metadata["option"] for each in fields(of) if "option" in each.metadata}


def kinds_of(cls: type) -> dict[str, Kind]:
    """Return the kinds of all options of a dataclass, by the names of their fields."""
    hints = get_type_hints(cls)
    return {name: _kind_of(hints[name]) for name in options_of(cls)}


def _kind_of(hint: Any) -> Kind:
    parts = get_args(hint) if NoneType in get_args(hint) or os.PathLike[str] in get_args(hint) else (hint,)
    is_optional = NoneType in parts
    for part in parts:
        origin, arguments = get_origin(part), get_args(part)
        if origin in (Sequence, tuple):
            return Kind("list", arguments[0], is_optional)
        if origin is Mapping:
            return Kind("by name", arguments[1], is_optional)
        if origin is os.PathLike:
            return Kind("one", Path, is_optional)
    return Kind("one", parts[0], is_optional)


def expected(kind: Kind, option: Option) -> str:
    """Return a description of the possible values."""
    noun = " or ".join(option.choices) or _NOUNS[kind.item]
    noun += "" if option.least is None else f" of at least {option.least:g}"
    noun += "" if option.below is None else f" and below {option.below:g}"
    return {"one": noun, "list": f"a list, each entry {noun}", "by name": f"{noun} for each name"}[kind.shape]


def is_possible(value: object, kind: Kind, option: Option) -> bool:
    """Return whether a setting can have this value."""
    if value is None:
        return kind.is_optional
    if kind.shape == "one":
        return _is_item(value, kind.item, option)
    if kind.shape == "list":
        return (
            isinstance(value, Sequence)
            and not isinstance(value, str)
            and all(_is_item(item, kind.item, option) for item in value)
        )
    return (
        isinstance(value, Mapping)
        and all(isinstance(name, str) for name in value)
        and all(_is_item(item, kind.item, option) for item in value.values())
    )


def _is_item(value: Any, item: type, option: Option) -> bool:
    if item is Path:
        return isinstance(value, str | os.PathLike)
    allowed: Any = (int, float) if item is float else item
    if not isinstance(value, allowed) or (item is not bool and isinstance(value, bool)):
        return False
    if isinstance(value, float) and not math.isfinite(value):
        return False
    is_chosen = not option.choices or value in option.choices
    is_enough = option.least is None or value >= option.least
    return is_chosen and is_enough and (option.below is None or value < option.below)


def check_options(settings: Any) -> None:
    """Check the fields of a dataclass instance against their types and limits."""
    for name, kind in kinds_of(type(settings)).items():
        value, limits = getattr(settings, name), options_of(settings)[name]
        if not is_possible(value, kind, limits):
            raise DataError(f"{name} is {value!r}, expected {expected(kind, limits)}")


def documented(cls: _Class) -> _Class:
    """Add the section "Parameters" to the docstring of a dataclass."""
    entries = []
    for each in fields(cls):
        if "option" in each.metadata:
            default = each.default_factory() if callable(each.default_factory) else each.default
            entries.append(f"{each.name} : default {default!r}\n{indent(each.metadata['option'].help, '    ')}")
    cls.__doc__ = f"{(cls.__doc__ or '').rstrip()}\n\n" + indent("\n".join(["Parameters", "-" * 10, *entries]), " " * 4)
    return cls
