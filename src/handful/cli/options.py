"""What several commands share: options, lines on standard error."""

import inspect
import os
import re
import sys
from collections.abc import Callable, Iterable
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handful.text import FORMATS, READ_ONLY, SCHEMES

if TYPE_CHECKING:
    from handful.errors import DataError
    from handful.tagger import Tagger
    from handful.text import EntityType, ReadReport, WriteReport


def _inherited(ctx: typer.Context, param: typer.CallbackParam, value: Any) -> Any:
    """Return the option given after the command, or else the one given before it."""
    return value or ctx.find_root().params.get(str(param.name))


def one_of(*choices: str) -> Callable[[str | None], str | None]:
    """Return a callback that accepts these values alone."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in choices:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}")
        return value

    return check


def _positive(value: int | None) -> int | None:
    if value is not None and value < 1:
        raise typer.BadParameter(f"{value} is not at least 1")
    return value


def _threads(ctx: typer.Context, param: typer.CallbackParam, value: int | None) -> Any:
    value = _inherited(ctx, param, _positive(value))
    if value and "numpy" not in sys.modules:  # libraries for matrices read these once, when they are loaded
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
            os.environ[name] = str(value)
    return value


Quiet = Annotated[bool, typer.Option("--quiet", "-q", callback=_inherited, help="No progress, no notes.")]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads", metavar="N", callback=_threads, show_default=False, help="Threads to use; all cores if not set."
    ),
]
Device = Annotated[
    str | None, typer.Option("--device", metavar="cpu|cuda", help="If not set, a GPU where there is one.")
]
Restart = Annotated[bool, typer.Option("--restart", help="Start from the beginning, even if there is a checkpoint.")]
Json = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        callback=one_of(*READ_ONLY, *FORMATS),
        show_default=False,
        help=f"What is read: {', '.join((*READ_ONLY, *FORMATS))}; recognised by the content if not set.",
    ),
]
TextField = Annotated[
    str | None,
    typer.Option(
        "--text-field",
        metavar="FIELD",
        show_default=False,
        help="The column of a table, or the field of JSON records, that holds the text.",
    ),
]
Encoding = Annotated[str, typer.Option("--encoding", help="The text's encoding.")]
Scheme = Annotated[
    str, typer.Option("--scheme", metavar="SCHEME", callback=one_of(*SCHEMES), help=f"Tags: {', '.join(SCHEMES)}.")
]
MinScore = Annotated[
    str,
    typer.Option(
        "--min-score",
        metavar="SCORE",
        help="Leave out mentions that score less: 0.5 for all types, PER=0.5,LOC=0.3 for some.",
    ),
]

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="The folder that handful fit wrote.")]
Texts = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="FILE",
        show_default=False,
        help="Texts in any format; - or none is standard input.",
    ),
]
Given = Annotated[
    list[str] | None,
    typer.Option("--text", "-t", metavar="TEXT", show_default=False, help="A text itself, not a file."),
]

Types = Annotated[
    str | None,
    typer.Option(
        "--types",
        metavar="TYPES",
        show_default=False,
        help="The types to find: a file with NAME: description on each line, or names such as 'person, place'.",
    ),
]

KeepFeatures = Annotated[
    bool,
    typer.Option("--keep-features", help="Keep the features of the text on disk: the next time is quick."),
]

ModelEncoder = Annotated[
    str | None,
    typer.Option(
        "--encoder",
        metavar="NAME",
        show_default=False,
        help="The model's encoder, if it is no longer where it was: a name or a folder.",
    ),
]


def paragraphs(docstring: str) -> str:
    """Join the lines of each paragraph, so that help is as wide as the terminal; what starts with \\b stays."""
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(docstring))
    return "\n\n".join(block if block.startswith("\b") else " ".join(block.split()) for block in blocks)


def number_of(n: int, noun: str) -> str:
    """Return a number and what is counted, in the plural if need be."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def say(message: str, *, quiet: bool = False) -> None:
    """Write a line on standard error."""
    if not quiet:
        typer.echo(message, err=True)


def say_report(report: "ReadReport | WriteReport", name: str, *, quiet: bool) -> None:
    """Say what reading or writing handled, if anything, on a line each."""
    for line in report.handled(shell=True):
        say(f"{name}: {line}", quiet=quiet)


def types_given(types: str | None, encoding: str) -> "tuple[EntityType, ...]":
    """Return the types of ``--types``: a file, or names with commas between them."""
    from handful.text import read_types, types_of

    if types is None:
        return ()
    is_file = os.path.exists(types) or types.endswith(".txt") or os.sep in types
    return read_types(types, encoding=encoding) if is_file else types_of(types)


def check_types_fit(types: "Iterable[EntityType]", format: str) -> None:
    """Refuse a format that cannot hold the types of a model, before any work."""
    from handful.errors import DataError

    if (problem := unfit_type(types, format)) is not None:
        raise DataError(
            f"--to {format} cannot be written with the types of this model: {problem.message}; "
            "--to jsonl holds any type"
        )


def unfit_type(types: "Iterable[EntityType]", format: str) -> "DataError | None":
    """Return what is wrong with the first type that a format cannot hold."""
    from handful.errors import DataError
    from handful.text import Sentence, Span, write

    for one in types:
        try:
            write([Sentence(("word",), (Span(0, 1, one.name),))], BytesIO(), format)
        except DataError as error:
            return error
    return None


def least_score(given: str) -> "float | dict[str, float]":
    """Return the score of ``--min-score``, or the scores by type."""
    try:
        if "=" not in given:
            return float(given)
        return {name.strip(): float(score) for name, _, score in (one.partition("=") for one in given.split(","))}
    except ValueError:
        raise typer.BadParameter(
            f"{given!r} is neither a number nor TYPE=NUMBER,...", param_hint="--min-score"
        ) from None


def progress_of(quiet: bool) -> bool | None:
    """Return the `progress` of an encoding: a bar if a person watches, or none."""
    return False if quiet else None


def is_terminal() -> bool:
    """Whether a person reads standard output."""
    return sys.stdout.isatty()


def load(model: Path, encoder: str | None, threads: int | None, *, cache: bool | str = True) -> "Tagger":
    """Load a tagger, with its own encoder if none is named, to run with this number of threads."""
    from handful.tagger import Tagger

    return Tagger.load(model, encoder=encoder, threads=threads, cache=cache)
