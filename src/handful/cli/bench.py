"""``handful bench``: compare few-shot methods by the protocols of the field."""

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import Json, Quiet, Threads, one_of, progress_of, say

if TYPE_CHECKING:
    from handful.evaluate import Report

bench = typer.Typer(
    name="bench",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

ReportFolder = Annotated[
    Path, typer.Option("--report", metavar="DIR", help="The folder to write; what is finished there is not run again.")
]
Shots = Annotated[str, typer.Option("--shots", metavar="N,...", help="Mentions of each type in a support.")]
Sets = Annotated[int, typer.Option("--sets", min=1, help="How many supports.")]
Seed = Annotated[int, typer.Option("--seed", min=0, help="For drawing supports, and for the statistics.")]
Methods = Annotated[
    str | None,
    typer.Option(
        "--methods",
        metavar="NAME,...",
        show_default=False,
        help="What to compare; `handful bench methods` lists names.",
    ),
]
Ratios = Annotated[
    str | None,
    typer.Option(
        "--ratios",
        metavar="RATIO,...",
        show_default=False,
        help="For our own: none, auto, share (of O words where supports come from, rounded down to a multiple of "
        "0.05), over (0.05 more), or numbers.",
    ),
]
Supports = Annotated[
    Path | None,
    typer.Option(
        "--supports",
        metavar="DIR",
        show_default=False,
        help="Supports in DIR/1shot, DIR/5shot; with several targets in DIR/TARGET/1shot. If not set, those in the "
        "target's own folder, or drawn.",
    ),
]
SourceCorpora = Annotated[
    list[str] | None,
    typer.Option(
        "--source",
        metavar="CORPUS",
        show_default=False,
        help="A labelled corpus that baselines learn from, as `handful pretrain` takes it; may be repeated.",
    ),
]
On = Annotated[
    str,
    typer.Option("--on", callback=one_of("test", "dev"), help="test; or dev, for choosing: one half for the other."),
]
MostWords = Annotated[
    int, typer.Option("--most-words", min=0, help="With --on dev, unlabelled words of train to take.")
]
Layers = Annotated[
    str, typer.Option("--layers", metavar="N,...", help="Which layer of the encoder, or which to average.")
]


@bench.callback()
def _about() -> None:
    """Compare few-shot methods by the protocols of the field.

    Finished runs are kept in the report's folder: after an interruption the same command goes on where it stopped.

    [bold]Examples[/bold]

    \b
    handful bench methods
    handful bench transfer data/wnut17 --report report
    """


@bench.command()
def methods(as_json: Json = False) -> None:
    """List the methods that can be compared.

    [bold]Examples[/bold]

    \b
    handful bench methods
    handful bench methods --json
    """
    from handful.evaluate import method_names

    names = method_names()
    typer.echo(json.dumps(names, indent=2) if as_json else "\n".join(names))


@bench.command()
def transfer(
    targets: Annotated[
        list[str],
        typer.Argument(metavar="TARGET...", help="Folders with train, dev and test files; or NAME=FOLDER."),
    ],
    report: ReportFolder,
    methods: Methods = None,
    ratios: Ratios = None,
    shots: Shots = "1,5",
    sets: Sets = 10,
    seed: Seed = 0,
    supports: Supports = None,
    source: SourceCorpora = None,
    encoder: Annotated[str, typer.Option("--encoder", help="Name or folder of an encoder.")] = "handful-en",
    layers: Layers = "-1",
    on: On = "test",
    most_words: MostWords = 30_000,
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> None:
    """Domain transfer: corpora that the encoder never saw, a few labels of each type.

    A target is a folder with train, dev (which may be missing) and test, in any format, and perhaps
    supports/1shot/0.txt and so on; else supports are drawn from dev (train where there is none). Unlabelled text is
    train and dev; the score is strict span F1 on test.

    [bold]Examples[/bold]

    \b
    handful bench transfer data/wnut17 --report report
    handful bench transfer data/wnut17 data/btc --methods hard,handful --ratios none,0.95 --report report
    handful bench transfer data/wnut17 --on dev --sets 5 --report choosing
    handful bench transfer data/wnut17 --methods hard,mymodule:MyMethod --encoder my-encoder --report report
    """
    from handful.evaluate import transfer as run
    from handful.evaluate.protocols import METHODS, RATIOS

    with _watched(quiet) as progress:
        result = run(
            targets,
            report=report,
            encoder=encoder,
            layers=_numbers("--layers", layers),
            methods=_names(methods, METHODS),
            ratios=_names(ratios, RATIOS),
            shots=_numbers("--shots", shots),
            sets=sets,
            seed=seed,
            supports=supports,
            source=source or (),
            on=on,
            most_words=most_words,
            threads=threads,
            command=_command(),
            progress=progress,
            encoding=progress_of(quiet),
        )
    _show(result, as_json=as_json, quiet=quiet)


def _names(given: str | None, default: "tuple[str, ...]") -> list[str]:
    return [name.strip() for name in given.split(",") if name.strip()] if given is not None else list(default)


def _numbers(option: str, given: str) -> list[int]:
    try:
        return [int(number) for number in given.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{option} is a list of whole numbers, such as 1,5; found {given!r}") from None


def _command() -> str:
    return shlex.join(["handful", *sys.argv[1:]])


@contextmanager
def _watched(quiet: bool) -> Iterator[Callable[[int, int, str], None] | None]:
    """Give a function that shows the runs done, when a person watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
    task = bar.add_task("", total=None)

    def show(done: int, total: int, what: str) -> None:
        bar.update(task, completed=done, total=total, description=what)
        if not bar.live.is_started:
            bar.start()

    try:
        yield show
    finally:
        bar.stop()


def _show(report: "Report", *, as_json: bool, quiet: bool) -> None:
    if as_json:
        typer.echo(json.dumps(report.to_dict(), indent=2, ensure_ascii=False))
        return
    from rich.console import Console

    from handful.evaluate.tables import difference_table, table

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 240)
    whole = table(report.board)
    console.print(report.title, style="bold")
    if _width(console, whole) <= console.width:
        console.print(whole)
    else:
        for shots in report.board.shots:
            console.print(table(report.board, [shots]))
    if report.differences:
        console.print(f"Points of F1 above each other line: {report.differences[0].method}", style="bold")
        console.print(difference_table(report.differences, report.board.targets))
    for note in report.notes:
        say(f"note: {note}", quiet=quiet)
    say(f"wrote {report.folder}", quiet=quiet)


def _width(console: Any, shown: Any) -> int:
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(max_width=10_000), shown).maximum
