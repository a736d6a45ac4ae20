"""Options of a command from the fields of a dataclass, so that no list of them is written a second time."""

import inspect
import shlex
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import Annotated, Any

import typer

from handful._util.options import Kind, Option, expected, is_possible, kinds_of, options_of

__all__ = ["command_line", "with_options"]

_Command = Callable[..., None]


def with_options(
    defaults: Any, *, leave_out: Sequence[str] = (), title: str | None = None
) -> Callable[[_Command], _Command]:
    """Give a command an option for each field of a dataclass.

    The command has a parameter whose annotation is the dataclass. In the command's help the options take the place of
    this parameter; when it is called, it gets an instance with the values of the options.

    Parameters
    ----------
    defaults
        An instance: what fields have where their option is not given. A field is an option if it was made with
        `handful._util.options.option`.
    leave_out
        Fields that are not options of this command.
    title
        What the help writes above these options; None to have them among the others.
    """
    made = type(defaults)
    kinds = kinds_of(made)
    fields = {name: one for name, one in options_of(made).items() if one.is_on_shell and name not in leave_out}

    def decorate(command: _Command) -> _Command:
        parameters: list[inspect.Parameter] = []
        place = ""
        for parameter in inspect.signature(command).parameters.values():
            if parameter.annotation is made:
                place = parameter.name
                parameters += [_parameter(name, kinds[name], one, defaults, title) for name, one in fields.items()]
            else:
                parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

        @wraps(command)
        def run(**given: Any) -> None:
            values = {name: _parsed(given.pop(name), kinds[name]) for name in fields}
            command(**given, **{place: replace(defaults, **values)})

        run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        return run

    return decorate


def command_line() -> str:
    """Return the command that is running, as a person would type it."""
    return shlex.join(["handful", *sys.argv[1:]])


def _parameter(name: str, kind: Kind, one: Option, defaults: Any, title: str | None) -> inspect.Parameter:
    """Return the parameter that typer reads to make one option."""
    default = getattr(defaults, name)
    flag = one.flag or "--" + name.replace("_", "-")
    if default is True:
        flag = f"{flag}/--no-{name.replace('_', '-')}"
    given: Any = kind.item
    if kind.shape == "list":
        given, default = list[str], [",".join(map(str, default))] if default else None
    elif kind.shape == "by name":
        given, default = list[str], [f"{each}={_shown(value)}" for each, value in default.items()] or None
    shown = typer.Option(
        flag,
        metavar=one.metavar or "|".join(one.choices) or ("N" if given is int else None),
        min=one.least if given is int else None,
        callback=_checking(kind, one),
        show_default=default is not None,
        help=one.help,
        rich_help_panel=title,
    )
    if default is None:
        given = given | None
    annotation: Any = Annotated[given, shown]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _checking(kind: Kind, one: Option) -> Callable[[Any], Any]:
    """Return a callback that refuses values which are not possible."""

    def check(value: Any) -> Any:
        try:
            is_right = value is None or is_possible(_parsed(value, kind), kind, one)
        except ValueError:
            is_right = False
        if not is_right:
            found = " ".join(value) if isinstance(value, list) else value
            form = f", as in {one.example}" if one.example else ""
            raise typer.BadParameter(f"found {found!r}, expected {expected(kind, one)}{form}")
        return value

    return check


def _parsed(value: Any, kind: Kind) -> Any:
    """Return what an option's text means: ``1,5`` is a list, ``A=0.5,B=1`` a number by name."""
    if kind.shape == "one" or (value is None and kind.is_optional):
        return value
    if kind.shape == "list":
        entries = (entry.strip() for given in value or () for entry in given.split(","))
        return tuple(kind.item(entry) for entry in entries if entry)
    pairs = [entry.strip().rpartition("=") for given in value or () for entry in given.split(",")]
    if any(not name for name, _, _ in pairs):
        raise ValueError("a name is missing")
    return {name: kind.item(number) for name, _, number in pairs}


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:g}"
