"""The options that several commands share, each declared once."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from handful.text import FORMATS, READ_ONLY

#: The formats that hold labels.
LABELLED_FORMATS = tuple(name for name in FORMATS if name != "text")


def one_of(*choices: str) -> Callable[[str | None], str | None]:
    """Return a callback that accepts these values alone."""

    def check(value: str | None) -> str | None:
        if value is not None and value not in choices:
            raise typer.BadParameter(f"{value!r} is not one of {', '.join(choices)}")
        return value

    return check


def _threads(value: int | None) -> int | None:
    if value and "numpy" not in sys.modules:  # libraries for matrices read these once, when they are loaded
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
            os.environ[name] = str(value)
    return value


def option(*names: str, metavar: str | None = None, help: str, **more: Any) -> Any:
    """Return an option that shows no default."""
    return typer.Option(*names, metavar=metavar, help=help, **{"show_default": False, **more})


Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress and no notes.")]
Threads = Annotated[
    int | None,
    option("--threads", metavar="N", min=1, callback=_threads, help="How many threads to use; all cores if not set."),
]
Device = Annotated[str | None, option("--device", metavar="cpu|cuda", help="If not set, a GPU where there is one.")]
Restart = Annotated[bool, typer.Option("--restart", help="Start from the beginning, even if there is a checkpoint.")]
RecipeFile = Annotated[
    Path | None, option("--recipe", metavar="FILE", help="A TOML file of settings, such as seed = 1; see below.")
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]
From = Annotated[
    str | None,
    option(
        "--from",
        metavar="FORMAT",
        callback=one_of(*READ_ONLY, *FORMATS),
        help=f"The format to read: {', '.join((*READ_ONLY, *FORMATS))}; recognised by the content if not set.",
    ),
]
TextField = Annotated[
    str | None,
    option(
        "--text-field", metavar="FIELD", help="The column of a table, or the field of JSON records, that has the text."
    ),
]
SkipMalformed = Annotated[
    bool, typer.Option("--skip-malformed", help="Leave out lines and records that are malformed, and count them.")
]
MinScore = Annotated[
    str,
    typer.Option(
        "--min-score", metavar="SCORE", help="Leave out mentions that score less, such as 0.5, or PER=0.5,LOC=0.3."
    ),
]
Find = Annotated[
    str | None,
    option(
        "--find",
        metavar="sure|usual|more|N",
        help="How much to find: how many times as bad a missed mention is as a wrong one; more is 3, sure is 1/3.",
    ),
]
OutFolder = Annotated[Path, option("--out", metavar="FOLDER", help="The folder to write.")]
OutFile = Annotated[Path | None, option("--out", metavar="FILE", help="The file to write; it appears when complete.")]
ToLabelled = Annotated[
    str,
    typer.Option(
        "--to",
        metavar="FORMAT",
        callback=one_of(*LABELLED_FORMATS),
        help=f"The format to write: {', '.join(LABELLED_FORMATS)}.",
    ),
]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="The folder that handful fit wrote.")]
Texts = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILE", show_default=False, help="Texts in any format; - or none is standard input."),
]
Given = Annotated[list[str] | None, option("--text", "-t", metavar="TEXT", help="A text itself, not a file.")]
Unlabelled = Annotated[
    list[str] | None,
    option(
        "--unlabelled",
        "-u",
        metavar="FILE",
        help="Unlabelled text: files, patterns such as 'news/*.txt', Parquet; may be repeated.",
    ),
]
Types = Annotated[
    list[str] | None,
    option(
        "--types",
        metavar="TYPES",
        help="The types to find: a file with NAME: description on each line, names such as 'person, place', or "
        "'PRICE: a sum of money'; may be repeated.",
    ),
]
KeepFeatures = Annotated[
    bool, typer.Option("--keep-features", help="Keep the features of the text on disk: the next time is quick.")
]
NoCache = Annotated[bool, typer.Option("--no-cache", help="Keep no features on disk; see handful cache.")]
Encoder = Annotated[
    str,
    typer.Option(
        "--encoder",
        metavar="NAME",
        help="The encoder, which makes vectors of words: a name, a folder, or auto (by language).",
    ),
]
ModelEncoder = Annotated[
    str | None,
    option(
        "--encoder",
        metavar="NAME",
        help="The model's encoder, if it is no longer where it was: a name or a folder.",
    ),
]
Host = Annotated[
    str, typer.Option("--host", metavar="ADDRESS", help="The address to listen at; 0.0.0.0 lets other machines in.")
]
Port = Annotated[
    int | None,
    option("--port", metavar="N", min=0, max=65535, help="The port to listen at; a free one if not set."),
]

WORKERS = "On several workers"

Dask = Annotated[
    str | None,
    option(
        "--dask",
        metavar="ADDRESS",
        rich_help_panel=WORKERS,
        help="Run on the workers of the Dask cluster at this address, such as tcp://10.0.0.1:8786.",
    ),
]
Workers = Annotated[
    int | None,
    option(
        "--workers",
        metavar="N",
        min=1,
        rich_help_panel=WORKERS,
        help="Start this number of processes on this machine with Dask, and run on them.",
    ),
]
