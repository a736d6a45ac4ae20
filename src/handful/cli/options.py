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


def option(names: str, metavar: str | None, help: str, **more: Any) -> Any:
    """Return an option, for an annotation."""
    return typer.Option(*names.split(), metavar=metavar, help=help, **more)


def own(default: Any, names: str, metavar: str | None, help: str, **more: Any) -> Any:
    """Return an option that one command alone has, with its default."""
    return typer.Option(default, *names.split(), metavar=metavar, help=help, **more)


def argument(default: Any, metavar: str, help: str) -> Any:
    """Return an argument of a command, with its default."""
    return typer.Argument(default, metavar=metavar, help=help)


Quiet = Annotated[bool, option("--quiet -q", None, "Show no progress and no notes.")]
Threads = Annotated[
    int | None, option("--threads", "N", "How many threads to use; all cores if not set.", min=1, callback=_threads)
]
Device = Annotated[str | None, option("--device", "cpu|cuda", "If not set, a GPU where there is one.")]
RecipeFile = Annotated[Path | None, option("--recipe", "FILE", "A TOML file of settings, such as seed = 1; see below.")]
Json = Annotated[bool, option("--json", None, "Write JSON, for programs.")]
_READABLE = (*READ_ONLY, *FORMATS)
_FROM = f"The format to read: {', '.join(_READABLE)}; recognised by the content if not set."
From = Annotated[str | None, option("--from", "FORMAT", _FROM, callback=one_of(*_READABLE))]
TextField = Annotated[
    str | None,
    option("--text-field", "FIELD", "The column of a table, or the field of JSON records, that has the text."),
]
SkipMalformed = Annotated[
    bool, option("--skip-malformed", None, "Leave out lines and records that are malformed, and count them.")
]
MinScore = Annotated[
    str, option("--min-score", "SCORE", "Leave out mentions that score less, such as 0.5, or PER=0.5,LOC=0.3.")
]
_FIND = "How much to find: how many times as bad a missed mention is as a wrong one; more is 3, sure is 1/3."
Find = Annotated[str | None, option("--find", "sure|usual|more|N", _FIND)]
_OVERLAP = "Mentions may share words: one may lie inside another, and a word be of several types."
Overlap = Annotated[bool, option("--overlap", None, _OVERLAP)]
OutFolder = Annotated[Path, option("--out", "FOLDER", "The folder to write.")]
OutFile = Annotated[Path | None, option("--out", "FILE", "The file to write; it appears when complete.")]
OutModel = Annotated[Path | None, option("--out", "FOLDER", "The folder to write; MODEL if not set.")]
_TO = f"The format to write: {', '.join(LABELLED_FORMATS)}."
ToLabelled = Annotated[str, option("--to", "FORMAT", _TO, callback=one_of(*LABELLED_FORMATS))]
Model = Annotated[Path, typer.Argument(metavar="MODEL", help="The folder that handful fit wrote.")]
Texts = Annotated[
    list[str] | None, typer.Argument(metavar="FILE", help="Texts in any format; - or none is standard input.")
]
Given = Annotated[list[str] | None, option("--text -t", "TEXT", "A text itself, not a file.")]
_UNLABELLED = "Unlabelled text: files, patterns such as 'news/*.txt', Parquet; may be repeated."
Unlabelled = Annotated[list[str] | None, option("--unlabelled -u", "FILE", _UNLABELLED)]
_TYPES = (
    "The types to find: a file with NAME: description on each line, names such as 'person, place', or "
    "'PRICE: a sum of money'; may be repeated."
)
Types = Annotated[list[str] | None, option("--types", "TYPES", _TYPES)]
KeepFeatures = Annotated[
    bool, option("--keep-features", None, "Keep the features of the text on disk: the next time is quick.")
]
NoCache = Annotated[bool, option("--no-cache", None, "Keep no features on disk; see handful cache.")]
Encoder = Annotated[
    str,
    option("--encoder", "NAME", "The encoder, which makes vectors of words: a name, a folder, or auto (by language)."),
]
ModelEncoder = Annotated[
    str | None,
    option("--encoder", "NAME", "The model's encoder, if it is no longer where it was: a name or a folder."),
]
Host = Annotated[str, option("--host", "ADDRESS", "The address to listen at; 0.0.0.0 lets other machines in.")]
Port = Annotated[int | None, option("--port", "N", "The port to listen at; a free one if not set.", min=0, max=65535)]

WORKERS = "On several workers"
_DASK = "Run on the workers of the Dask cluster at this address, such as tcp://10.0.0.1:8786."
Dask = Annotated[str | None, option("--dask", "ADDRESS", _DASK, rich_help_panel=WORKERS)]
_WORKERS = "Start this number of processes on this machine with Dask, and run on them."
Workers = Annotated[int | None, option("--workers", "N", _WORKERS, min=1, rich_help_panel=WORKERS)]
