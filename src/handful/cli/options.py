"""What several commands share: options, reading with notes, words on standard error."""

import inspect
import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from handful.text import FORMATS, READ_ONLY, SCHEMES

if TYPE_CHECKING:
    from handful.tagger import Tagger
    from handful.text import Corpus, ReadReport, Sentence, WriteReport


_Item = TypeVar("_Item")


def _inherited(ctx: typer.Context, param: typer.CallbackParam, value: Any) -> Any:
    """Give what stands after the command, or else what stands before it."""
    return value or ctx.find_root().params.get(str(param.name))


def one_of(*choices: str) -> Callable[[str | None], str | None]:
    """Give a callback that takes these values alone."""

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
    if value and "numpy" not in sys.modules:  # libraries for matrices look at these once, when they are loaded
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
Json = Annotated[bool, typer.Option("--json", help="Write JSON, for programs.")]
From = Annotated[
    str | None,
    typer.Option(
        "--from",
        metavar="FORMAT",
        callback=one_of(*READ_ONLY, *FORMATS),
        show_default=False,
        help=f"What is read: {', '.join((*READ_ONLY, *FORMATS))}; seen by the content if not set.",
    ),
]
Encoding = Annotated[str, typer.Option("--encoding", help="The text's encoding.")]
Scheme = Annotated[
    str, typer.Option("--scheme", metavar="SCHEME", callback=one_of(*SCHEMES), help=f"Tags: {', '.join(SCHEMES)}.")
]
MinScore = Annotated[
    float, typer.Option("--min-score", metavar="SCORE", min=0.0, max=1.0, help="Leave out mentions that score less.")
]

Model = Annotated[Path, typer.Argument(metavar="MODEL", help="The folder that handful fit wrote.")]
Texts = Annotated[
    list[str] | None,
    typer.Argument(metavar="FILE", show_default=False, help="Texts in any format; - is standard input, also if none."),
]
Given = Annotated[
    list[str] | None,
    typer.Option("--text", "-t", metavar="TEXT", show_default=False, help="A text itself, not a file."),
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


# How the library's advice is written on the command line.
_OPTIONS = {
    r"\bencoding='([\w-]+)'": r"--encoding \1",
    r"\bformat='([\w-]+)'": r"--from \1",
    r"\bmisaligned='widen'": "--widen (in handful convert)",
    r"\b(names=\[[^\]]*\])": r"handful.text.read(FILE, \1) in Python (the command line has no option for it)",
    r"\buse scheme='(\w+)'": r"use --scheme \1",
    r"\b(scheme='\w+')": r"handful.text.read(FILE, \1) in Python (the command line has no option for it)",
    r"\bo_ratio='(\w+)'": r"--ratio \1",
    r"\bo_ratio=(?=[\w.])": "--ratio ",
    r"\bo_ratio=": "--ratio",
    r"\bunlabelled=": "--unlabelled",
    r"\bencoder=": "--encoder",
}


def in_options(advice: str) -> str:
    """Give what the library says with options in the place of parameters."""
    for python, option in _OPTIONS.items():
        advice = re.sub(python, option, advice)
    return advice


def number_of(n: int, noun: str) -> str:
    """Give a number and what is counted, in the plural if need be."""
    return f"{n:,} {noun}{'s' * (n != 1)}"


def say(message: str, *, quiet: bool = False) -> None:
    """Write a line on standard error."""
    if not quiet:
        typer.echo(message, err=True)


def say_report(report: "ReadReport | WriteReport", name: str, *, quiet: bool) -> None:
    """Say what a reading or writing handled, if anything: a line each."""
    for line in handled(report):
        say(f"{name}: {in_options(line)}", quiet=quiet)


def handled(report: "ReadReport | WriteReport") -> list[str]:
    """Give a line for each thing that reading or writing did not simply take as it stood."""
    if hasattr(report, "n_broken"):
        return str(report).split("\n")[1:]
    lines = [f"{count} {what}" for what, count in report.notes.items()]
    if report.n_merged:
        lines.insert(0, f"{report.n_merged} mentions were merged with the one before them: the scheme has no borders")
    return lines


def read_corpus(path: str, format: str | None, encoding: str, *, quiet: bool, unlabelled: bool = False) -> "Corpus":
    """Read a file, or standard input, and say what was handled."""
    from handful.errors import DataError
    from handful.text import read

    corpus = read(path, format, encoding=encoding, unlabelled=unlabelled)
    if not corpus:
        raise DataError(f"{corpus.report.name}: there is no sentence in it")
    say_report(corpus.report, corpus.report.name, quiet=quiet)
    return corpus


def progress_of(quiet: bool) -> bool | None:
    """Give the `progress` of an encoding: a bar when a person watches, or none."""
    return False if quiet else None


def is_terminal() -> bool:
    """Whether a person reads standard output."""
    return sys.stdout.isatty()


def load(model: Path, encoder: str | None, threads: int | None) -> "Tagger":
    """Load a tagger, with its own encoder if none is named, to run with so many threads."""
    from handful.tagger import Tagger

    return Tagger.load(model, encoder=encoder, threads=threads)


def sentences_of(
    files: list[str] | None, texts: list[str] | None, format: str | None, encoding: str, *, quiet: bool
) -> "Iterator[Sentence]":
    """Yield the sentences of texts and files, one after the other, and say what was handled."""
    from handful.text import stream, to_sentences

    for given in texts or ():
        yield from to_sentences(given)
    for path in _paths(files, texts, quiet=quiet):
        with stream(path, format, encoding=encoding, unlabelled=True) as sentences:
            yield from sentences
        say_report(sentences.report, sentences.report.name, quiet=quiet)


def documents_of(
    files: list[str] | None, texts: list[str] | None, format: str | None, encoding: str, *, quiet: bool
) -> "Iterator[tuple[str | Sentence, dict[str, Any]]]":
    """Yield texts and the documents of files: a str for plain text, a `Sentence` where the words are given.

    With each comes what else stood in its record, where there are records.
    """
    from handful.text import stream

    yield from ((text, {}) for text in texts or ())
    for path in _paths(files, texts, quiet=quiet):
        with stream(path, format, encoding=encoding, unlabelled=True, whole=True) as documents:
            for document in documents:
                yield (document.text or "" if documents.is_text else document), documents.rest
        say_report(documents.report, documents.report.name, quiet=quiet)


def _paths(files: list[str] | None, texts: list[str] | None, *, quiet: bool) -> Iterator[str]:
    for path in files or ([] if texts else ["-"]):
        if path == "-" and sys.stdin.isatty():
            say("reading from the terminal; Ctrl-D ends the text", quiet=quiet)
        yield path


def counting(texts: "Iterable[_Item]", *, quiet: bool) -> "Iterator[_Item]":
    """Pass texts on; when a person watches and it takes more than a second, show how many there were."""
    if quiet or not sys.stderr.isatty():
        yield from texts
        return
    from rich.console import Console
    from rich.status import Status

    console = Console(stderr=True)
    started = shown = time.monotonic()
    status = Status("", console=console)
    try:
        for n, text in enumerate(texts, 1):
            yield text
            now = time.monotonic()
            if now - started > 1 and now - shown > 0.2:
                shown = now
                status.update(f"{n:,} texts · {n / (now - started):,.0f} a second")
                status.start()
    finally:
        status.stop()


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Give a folder to fill, which takes its name when all went well."""
    from handful.errors import FileError

    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise FileError(f"{path}: exists; name a new or empty folder, so that nothing is mixed")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        temporary.mkdir(parents=True)
        yield temporary
        temporary.replace(path)
    except FileError as error:
        raise FileError(str(error).replace(str(temporary), str(path))) from None
    except OSError as error:
        raise FileError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
