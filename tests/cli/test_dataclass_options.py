"""Options made from the fields of a dataclass."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from handful._util.files import PathLike
from handful._util.options import check_options, documented, option
from handful.cli._dataclass_options import command_line, with_options
from handful.errors import DataError


@documented
@dataclass(frozen=True, kw_only=True)
class Tea:
    """How to make tea."""

    minutes: float = option(3.0, least=0, below=10, help="How long it stands.")
    kind: str = option("black", choices=("black", "green"), help="Which leaves.")
    milk: bool = option(False, help="Whether there is milk in it.")
    sieve: bool = option(True, help="Whether leaves are taken out.")
    spoons: Mapping[str, float] = option({"sugar": 0.5}, flag="--spoon", least=0, help="Spoons of other things.")
    guests: Sequence[str] = option((), help="Who comes.")
    book: PathLike | None = option(None, help="Where the recipe is.")  # noqa: RUF009
    cups: int = option(2, least=1, help="How many cups.", is_on_shell=False)
    note: str = field(default="")

    def __post_init__(self):
        check_options(self)


def make(*arguments, defaults=None, leave_out=()):
    made = []

    @with_options(defaults or Tea(), leave_out=leave_out)
    def tea(place: Annotated[str, typer.Argument()], *, tea: Tea, hurry: Annotated[bool, typer.Option()] = False):
        """Make tea."""
        made.append((place, tea, hurry))

    app = typer.Typer()
    app.command()(tea)
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "200", "TERMINAL_WIDTH": "200"}), made


def test_what_is_not_given_is_as_in_the_defaults():
    assert make("garden")[1] == [("garden", Tea(), False)]
    defaults = Tea(minutes=5, cups=4, note="mine", guests=("Ann", "Bob"), sieve=False)
    assert make("garden", defaults=defaults)[1] == [("garden", defaults, False)]


def test_what_is_given_arrives_parsed():
    options = "--minutes 4 --kind green --milk --no-sieve --spoon sugar=1 --spoon honey=0.5 --guests Ann,Bob --book b"
    ((_, tea, hurry),) = make("garden", *options.split(), "--guests", "Cleo", "--hurry")[1]
    wanted = {"sugar": 1.0, "honey": 0.5}
    guests = ("Ann", "Bob", "Cleo")
    assert tea == Tea(minutes=4.0, kind="green", milk=True, sieve=False, spoons=wanted, guests=guests, book=Path("b"))
    assert hurry


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--minutes", "10", "found 10.0, expected a number of at least 0 and below 10"),
        ("--minutes", "inf", "found inf, expected a number"),
        ("--kind", "red", "found 'red', expected black or green"),
        ("--spoon", "sugar", "found 'sugar', expected a number of at least 0 for each name"),
        ("--spoon", "sugar=-1", "found 'sugar=-1', expected a number of at least 0 for each name"),
    ],
)
def test_what_is_not_possible_is_wrong_usage(option, value, message):
    result, made = make("garden", f"{option}={value}")
    assert (result.exit_code, made) == (2, [])
    assert f"Invalid value for '{option}': {message}" in result.stderr


def test_fields_that_are_no_options():
    for flag in ("--cups", "--note"):
        assert make("garden", flag, "3")[0].exit_code == 2
    assert make("garden", "--kind", "green", leave_out=["kind"])[0].exit_code == 2


def test_help_shows_meaning_and_default():
    shown = make("--help")[0].stdout
    assert "How long it stands. [default: 3.0]" in shown
    assert "black|green" in shown
    assert "--no-sieve" in shown
    assert "--no-milk" not in shown
    assert "[default: sugar=0.5]" in shown


def test_the_class_documents_its_fields():
    assert "minutes : default 3.0\n        How long it stands.\n" in Tea.__doc__
    assert "cups : default 2\n" in Tea.__doc__


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"milk": 1}, "milk is 1, expected True or False"),
        ({"minutes": True}, "minutes is True, expected a number"),
        ({"minutes": "3"}, "minutes is '3', expected a number"),
        ({"cups": 1.0}, "cups is 1.0, expected a whole number of at least 1"),
        ({"guests": "Ann"}, "guests is 'Ann', expected a list, each entry a string"),
        ({"spoons": {"sugar": -1}}, "expected a number of at least 0 for each name"),
        ({"book": 3}, "book is 3, expected a path"),
        ({"kind": None}, "kind is None, expected black or green"),
    ],
)
def test_instances_are_checked(wrong, message):
    with pytest.raises(DataError, match=message):
        Tea(**wrong)


def test_a_whole_number_is_a_number():
    assert Tea(minutes=4).minutes == 4


def test_the_command_line_can_be_typed_again(monkeypatch):
    monkeypatch.setattr("sys.argv", ["/somewhere/handful", "pretrain", "a file.txt", "--origin", "don't know"])
    assert command_line() == """handful pretrain 'a file.txt' --origin 'don'"'"'t know'"""
