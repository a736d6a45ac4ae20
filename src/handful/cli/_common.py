"""Functions that several commands share: parsing, loading, and lines on standard error."""

import inspect
import json
import os
import re
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from handful._util.foreign import visible
from handful.text import EntityType, ReadReport, Sentence, WriteReport, read_types, types_of
from handful.text.types import looks_like_file

if TYPE_CHECKING:
    from distributed import Client

    from handful.tagger import Tagger


def paragraphs(docstring: str) -> str:
    """Join the lines of each paragraph, so that help is as wide as the terminal; a block after \\b stays as it is."""
    blocks = re.split(r"\n\s*\n", inspect.cleandoc(docstring))
    return "\n\n".join(block if block.startswith("\b") else " ".join(block.split()) for block in blocks)


def command_line() -> str:
    """Return the command that is running, as a person would type it."""
    return shlex.join(["handful", *sys.argv[1:]])


def listed(given: str | None, item: Callable[[str], Any] = str) -> "tuple[Any, ...] | None":
    """Return the entries of a text such as ``1,5``; None for None."""
    if given is None:
        return None
    try:
        return tuple(item(entry.strip()) for entry in given.split(",") if entry.strip())
    except ValueError:
        raise typer.BadParameter(f"{given!r} is not a list of numbers, such as 1,5") from None


def say(message: str, *, quiet: bool = False, err: bool = True) -> None:
    """Write a line on standard error, or on standard output."""
    if not quiet:
        typer.echo(visible(message), err=err)


def print_json(record: Any, *, err: bool = False) -> None:
    """Write a record as JSON, for programs."""
    say(json.dumps(record, indent=2, ensure_ascii=False), err=err)


def say_report(report: "ReadReport | WriteReport", name: str, *, quiet: bool) -> None:
    """Say what reading or writing handled, if anything, on a line each."""
    for line in report.handled(shell=True):
        say(f"{name}: {line}", quiet=quiet)


def types_given(types: Sequence[str] | None) -> "tuple[EntityType, ...]":
    """Return the types of each ``--types``: a file, names with commas between them, or ``NAME: description``."""
    files = [one for one in types or () if os.path.isfile(one) or looks_like_file(one)]
    return types_of(
        [*(one for file in files for one in read_types(file)), *(one for one in types or () if one not in files)]
    )


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


def find_of(given: str | None) -> float | str:
    """Return the setting of ``--find``, a word or a number; the usual one if none is given."""
    from handful.tagger.finding import odds_of

    try:
        find: float | str = "usual" if given is None else float(given)
    except ValueError:
        find = str(given)
    odds_of(find)
    return find


def progress_of(quiet: bool) -> bool | None:
    """Return the `progress` of an encoding: a bar if a person watches, or none."""
    return False if quiet else None


def load(
    model: Path | str,
    encoder: str | None,
    threads: int | None,
    *,
    types: list[str] | None = None,
    find: str | None = None,
    overlap: bool = False,
    cache: bool | str = True,
    text: Callable[[], Sequence[Sentence]] | None = None,
) -> "Tagger":
    """Load a tagger, with its own encoder and setting if none is named; if there are types, make one of their names.

    `text` gives sentences of the text by whose language `auto` chooses the encoder.
    """
    from handful.encoders.languages import AUTO, DEFAULT, choose
    from handful.tagger import Tagger

    setting = find_of(find)
    if overlap and types is None:
        raise typer.BadParameter("--overlap goes with --types; a model has it from its fit (handful fit --overlap)")
    if types is None:
        tagger = Tagger.load(model, encoder=encoder, threads=threads, cache=cache)
    else:
        if encoder == AUTO and text is not None:
            encoder = choose(text())
        how: dict[str, Any] = {"overlap": overlap, "threads": threads, "cache": cache}
        tagger = Tagger(types_given(types), encoder=encoder or DEFAULT, **how).fit()
        for note in tagger.summary_.notes:
            say(f"note: {note}")
    return tagger if find is None else tagger.set_params(find=setting)


@contextmanager
def cluster(address: str | None, n: int | None, *, quiet: bool) -> "Iterator[Client | None]":
    """Yield a client of the workers, None if none are asked for, and say where to watch them."""
    if address is None and n is None:
        yield None
        return
    if address is not None and n is not None:
        raise typer.BadParameter("give --dask or --workers, not both")
    from handful.scale import workers

    with workers(address, n) as client:
        n_workers = len(client.scheduler_info(n_workers=-1)["workers"])
        say(f"workers: {n_workers}; dashboard: {client.dashboard_link}", quiet=quiet)
        yield client
