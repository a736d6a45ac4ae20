"""``handful bench``: compare few-shot methods by the protocols of the field."""

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handful.bench import Settings
from handful.bench.settings import ABLATION_RATIOS, DEFAULT_ABLATIONS

from ._dataclass_options import command_line, with_options
from .options import Encoding, From, Json, Quiet, Threads, progress_of, say
from .reading import read_corpus

if TYPE_CHECKING:
    from handful.bench import Report, Speed

bench = typer.Typer(
    name="bench",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

ReportFolder = Annotated[
    Path,
    typer.Option("--report", metavar="DIR", help="The folder to write. Runs that are finished there are not repeated."),
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
Targets = Annotated[
    list[str],
    typer.Argument(metavar="TARGET", help="Folders with train, dev and test files, or labelled files; or NAME=FOLDER."),
]
Encoder = Annotated[str, typer.Option("--encoder", metavar="NAME", help="Name or folder of an encoder.")]


@bench.callback()
def _about() -> None:
    """Compare few-shot methods by the protocols of the field; measure how fast this machine is.

    Finished runs are kept in the report's folder. After an interruption, the same command goes on where it stopped.

    [bold]Examples[/bold]

    \b
    handful bench methods
    handful bench speed
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
    from handful.bench import method_names

    names = method_names()
    typer.echo(json.dumps(names, indent=2) if as_json else "\n".join(names))


@bench.command()
def speed(
    file: Annotated[
        str | None,
        typer.Argument(metavar="[FILE]", show_default=False, help="The text to read; the garden notes if not given."),
    ] = None,
    words: Annotated[int, typer.Option("--words", metavar="N", min=1, help="Read so many words of it.")] = 1000,
    turns: Annotated[int, typer.Option("--turns", metavar="N", min=1, help="Measure so often; the best counts.")] = 3,
    from_format: From = None,
    encoding: Encoding = "utf-8",
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> None:
    """Measure how fast this machine reads text, beside what people write themselves.

    The table has words per second of the encoder in the package, and of prediction with it; seconds of a fit on 17
    labelled sentences and the text, encoding included, and of one more label; on one thread and on all. With the extra
    [bold]transformers[/bold], it also has a plain loop over a network of the same size and one over a network of the
    size of BERT-base, both in float32 with random weights, which are as fast as others.

    [bold]Examples[/bold]

    \b
    handful bench speed
    handful bench speed notes.txt --words 10000
    handful bench speed --json
    """
    from handful import examples
    from handful.bench import speed as measure
    from handful.text import read, read_types

    options = {"encoding": encoding, "unlabelled": True}
    text = read_corpus(str(file or examples.UNLABELLED), from_format, options, quiet=quiet)
    with _watched(quiet) as watch:
        found = measure(
            text,
            read(examples.SUPPORT),
            read_types(examples.TYPES),
            most_words=words,
            turns=turns,
            threads=threads,
            on_run=watch.get("on_run"),
        )
    if as_json:
        typer.echo(json.dumps(found.to_dict(), indent=2, ensure_ascii=False))
    else:
        _show_speed(found, quiet=quiet)


@bench.command()
@with_options(Settings())
def transfer(
    targets: Targets,
    report: ReportFolder,
    *,
    encoder: Encoder = "handful-en",
    source: SourceCorpora = None,
    settings: Settings,
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> None:
    """Domain transfer: corpora that the encoder never saw, a few labels of each type or none.

    A target is a folder with train, dev (which may be missing) and test, in any format, and perhaps
    supports/1shot/0.txt and so on. Without those, supports are drawn from dev (train where there is none). Unlabelled
    text is train and dev; the score is strict span F1 on test. With [bold]--on dev[/bold], a target may also be one
    labelled file. What its types mean is in types.txt.

    [bold]Examples[/bold]

    \b
    handful bench transfer data/wnut17 --report report --published
    handful bench transfer wnut17 btc --ratios none,0.95 --report report
    handful bench transfer data/wnut17 --on dev --sets 5 --report choosing
    handful bench transfer wnut17 --methods hard,mine:Method --report report
    handful bench transfer wnut17 --shots 0,1,5 --texts all,none --report report
    handful bench transfer mosaic/dev/*.txt --on dev --shots 0,1,5 --report r
    """
    from handful.bench import transfer as run

    settings = _complete(settings, threads)
    with _watched(quiet) as watch:
        result = run(targets, report=report, encoder=encoder, source=source or (), settings=settings, **watch)
    _show(result, as_json=as_json, quiet=quiet)


@bench.command()
@with_options(Settings())
def extension(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="A folder with train, dev and test files.")],
    groups: Annotated[
        str,
        typer.Option(
            "--groups", metavar="GROUPS", help="ontonotes, a JSON file, or A=TYPE1,TYPE2;B=TYPE3: types by group."
        ),
    ],
    report: ReportFolder,
    encoder: Annotated[
        list[str],
        typer.Option(
            "--encoder",
            metavar="[GROUP=]FOLDER",
            help="For each group an encoder trained with the group's types hidden; or one for all.",
        ),
    ],
    settings: Settings,
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> None:
    """Tag-set extension: types that the encoder has not seen, in text that it has.

    For each group, mentions of all other types become O; supports are drawn from dev (train where there is none).
    Train each encoder with [bold]handful pretrain --hide[/bold] and the group's types. The paper's groups on OntoNotes
    5 are built in as [bold]ontonotes[/bold].

    [bold]Examples[/bold]

    \b
    handful bench extension onto5 --groups ontonotes --encoder enc --report r
    handful bench extension gum --groups "X=person;Y=event" --encoder e --report r
    """
    from handful.bench import extension as run
    from handful.bench import parse_groups

    settings = _complete(settings, threads)
    chosen = parse_groups(groups)
    encoders = _by_group(encoder, list(chosen))
    with _watched(quiet) as watch:
        result = run(corpus, chosen, report=report, encoders=encoders, settings=settings, **watch)
    _show(result, as_json=as_json, quiet=quiet)


@bench.command()
@with_options(Settings(ratios=ABLATION_RATIOS), leave_out=["methods", "texts"])
def ablation(
    targets: Targets,
    report: ReportFolder,
    *,
    which: Annotated[
        str, typer.Option("--which", metavar="NAME,...", help="Some of unlabelled, subspace, ratio, amount, names.")
    ] = ",".join(DEFAULT_ABLATIONS),
    encoder: Encoder = "handful-en",
    settings: Settings,
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> None:
    """Run the paper's ablations: our own methods with parts of them changed or left out.

    [bold]unlabelled[/bold]: train and dev, dev only, none (one round); [bold]subspace[/bold]: with and without;
    [bold]ratio[/bold]: a range of ratios; [bold]amount[/bold]: words of unlabelled text, from 1,000 to all;
    [bold]names[/bold]: our default with and without the names of types, with and without text, and names alone.

    [bold]Examples[/bold]

    \b
    handful bench ablation data/wnut17 --report report --published
    handful bench ablation wnut17 btc --which ratio --on dev --report choosing
    handful bench ablation btc --which names --shots 0,1,5,20 --on dev --report r
    """
    from handful.bench import ablation as run

    settings = _complete(settings, threads)
    names = [name.strip() for name in which.split(",") if name.strip()]
    with _watched(quiet) as watch:
        result = run(targets, names, report=report, encoder=encoder, settings=settings, **watch)
    _show(result, as_json=as_json, quiet=quiet)


def _by_group(given: list[str], groups: list[str]) -> str | dict[str, str]:
    """Return the encoders by group, or the one for all."""
    named = {name: folder for name, equals, folder in (entry.partition("=") for entry in given) if equals}
    if len(given) == 1 and not (named and given[0].partition("=")[0] in groups):
        return given[0]
    if len(named) < len(given):
        raise typer.BadParameter("--encoder is GROUP=FOLDER, once for each group, or one folder for all")
    return named


def _complete(settings: Settings, threads: int | None) -> Settings:
    """Return the settings with what is not an option of theirs."""
    if any(":" in name for name in settings.methods or ()) and "" not in sys.path:
        sys.path.insert(0, "")  # the user's own method may be in the folder where the command is run
    return replace(settings, threads=threads, command=command_line())


@contextmanager
def _watched(quiet: bool) -> "Iterator[dict[str, Any]]":
    """Yield the two ways to report progress: on a terminal, a bar of runs and a bar of encoded words."""
    if quiet or not sys.stderr.isatty():
        yield {"progress": progress_of(quiet)}
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(),
        console=Console(stderr=True), transient=True,
    )  # fmt: skip
    runs = bar.add_task("", total=None)
    words = bar.add_task("encoding", total=None, visible=False)

    def run(done: int, total: int, what: str) -> None:
        bar.update(runs, completed=done, total=total, description=what)
        bar.update(words, visible=False)

    def encode(done: int, total: int) -> None:
        bar.update(words, completed=done, total=total, visible=done < total)

    with bar:
        yield {"on_run": run, "progress": encode}


def _show(report: "Report", *, as_json: bool, quiet: bool) -> None:
    if as_json:
        typer.echo(json.dumps(report.to_dict(), indent=2, ensure_ascii=False))
        return
    from rich.console import Console

    from handful.bench.tables import difference_table, table

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


def _show_speed(found: "Speed", *, quiet: bool) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 240)
    console.print(f"{found.processor}")
    console.print(f"{found.n_sentences:,} sentences, {found.n_words:,} words; the best of {found.turns} turns\n")
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for n in found.threads:
        table.add_column(f"{n} thread{'s' * (n > 1)}", justify="right")
    for name, speeds in found.words_per_second.items():
        table.add_row(f"{name}, words per second", *(f"{one:,.0f}" for one in speeds))
    for name, ratios in found.ratios.items():
        table.add_row(f"encode / {name}", *(f"{one:.1f} x" for one in ratios))
    for name, seconds in found.seconds.items():
        table.add_row(f"{name}, seconds", *(f"{one:.2f}" for one in seconds))
    console.print(table)
    for note in found.notes:
        say(f"note: {note}", quiet=quiet)


def _width(console: Any, shown: Any) -> int:
    from rich.measure import Measurement

    return Measurement.get(console, console.options.update(max_width=10_000), shown).maximum
