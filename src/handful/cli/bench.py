"""``handful bench``: compare few-shot methods by the protocols of the field."""

import json
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import Json, Quiet, Threads, one_of, progress_of, say

if TYPE_CHECKING:
    from handful.bench import Report

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
Sets = Annotated[int, typer.Option("--sets", metavar="N", min=1, help="How many supports.")]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="For drawing supports, and for the statistics.")]
Methods = Annotated[
    str | None,
    typer.Option(
        "--methods",
        metavar="NAME,...",
        show_default=False,
        help="What to compare; `handful bench methods` lists names.",
    ),
]
_RATIOS = "none,share,over,auto"
Ratios = Annotated[
    str,
    typer.Option(
        "--ratios",
        metavar="RATIO,...",
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
    int, typer.Option("--most-words", metavar="N", min=0, help="With --on dev, unlabelled words of train to take.")
]
Layers = Annotated[
    str, typer.Option("--layers", metavar="N,...", help="Which layer of the encoder, or which to average.")
]


Targets = Annotated[
    list[str],
    typer.Argument(metavar="TARGET", help="Folders with train, dev and test files; or NAME=FOLDER."),
]
Encoder = Annotated[str, typer.Option("--encoder", help="Name or folder of an encoder.")]
Published = Annotated[bool, typer.Option("--published", help="Print published figures beside, with their sources.")]
Plots = Annotated[bool, typer.Option("--plots/--no-plots", help="Whether to draw pictures (extra plots).")]
SkipUnnamed = Annotated[
    bool, typer.Option("--skip-unnamed", help="Leave out documents in which no name is annotated at all.")
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
    from handful.bench import method_names

    names = method_names()
    typer.echo(json.dumps(names, indent=2) if as_json else "\n".join(names))


@bench.command()
def transfer(
    targets: Targets,
    report: ReportFolder,
    methods: Methods = None,
    ratios: Ratios = _RATIOS,
    shots: Shots = "1,5",
    sets: Sets = 10,
    seed: Seed = 0,
    supports: Supports = None,
    source: SourceCorpora = None,
    encoder: Encoder = "handful-en",
    layers: Layers = "-1",
    on: On = "test",
    most_words: MostWords = 30_000,
    published: Published = False,
    plots: Plots = True,
    skip_unnamed: SkipUnnamed = False,
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
    handful bench transfer data/wnut17 --report report --published
    handful bench transfer wnut17 btc --ratios none,0.95 --report report
    handful bench transfer data/wnut17 --on dev --sets 5 --report choosing
    handful bench transfer wnut17 --methods hard,mine:Method --report report
    """
    from handful.bench import Settings
    from handful.bench import transfer as run

    settings = Settings(
        methods=methods and _names(methods), ratios=_names(ratios), shots=_numbers("--shots", shots), sets=sets,
        seed=seed, supports=supports, on=on, most_words=most_words, layers=_numbers("--layers", layers),
        threads=threads, published=published, plots=plots, skip_unnamed=skip_unnamed, command=_command(),
    )  # fmt: skip
    with _watched(quiet) as watch:
        result = run(targets, report=report, encoder=encoder, source=source or (), settings=settings, **watch)
    _show(result, as_json=as_json, quiet=quiet)


@bench.command()
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
    methods: Methods = None,
    ratios: Ratios = _RATIOS,
    shots: Shots = "1,5",
    sets: Sets = 10,
    seed: Seed = 0,
    supports: Supports = None,
    layers: Layers = "-1",
    on: On = "test",
    most_words: MostWords = 30_000,
    published: Published = False,
    plots: Plots = True,
    skip_unnamed: SkipUnnamed = False,
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
    from handful.bench import Settings, parse_groups
    from handful.bench import extension as run

    settings = Settings(
        methods=methods and _names(methods), ratios=_names(ratios), shots=_numbers("--shots", shots), sets=sets,
        seed=seed, supports=supports, on=on, most_words=most_words, layers=_numbers("--layers", layers),
        threads=threads, published=published, plots=plots, skip_unnamed=skip_unnamed, command=_command(),
    )  # fmt: skip
    chosen = parse_groups(groups)
    with _watched(quiet) as watch:
        result = run(
            corpus, chosen, report=report, encoders=_by_group(encoder, list(chosen)), settings=settings, **watch
        )
    _show(result, as_json=as_json, quiet=quiet)


@bench.command()
def ablation(
    targets: Targets,
    report: ReportFolder,
    which: Annotated[
        str,
        typer.Option("--which", metavar="NAME,...", help="Some of unlabelled, subspace, ratio, amount."),
    ] = "unlabelled,subspace,ratio",
    ratios: Ratios = "none,share,over",
    shots: Shots = "1,5",
    sets: Sets = 10,
    seed: Seed = 0,
    supports: Supports = None,
    encoder: Encoder = "handful-en",
    layers: Layers = "-1",
    on: On = "test",
    most_words: MostWords = 30_000,
    published: Published = False,
    plots: Plots = True,
    skip_unnamed: SkipUnnamed = False,
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> None:
    """Run the paper's ablations: our own methods with parts of them changed or left out.

    [bold]unlabelled[/bold]: train and dev, dev only, none (one round); [bold]subspace[/bold]: with and without;
    [bold]ratio[/bold]: a range of ratios; [bold]amount[/bold]: words of unlabelled text, from 1,000 to all.

    [bold]Examples[/bold]

    \b
    handful bench ablation data/wnut17 --report report --published
    handful bench ablation wnut17 btc --which ratio --on dev --report choosing
    """
    from handful.bench import Settings
    from handful.bench import ablation as run

    settings = Settings(
        ratios=_names(ratios), shots=_numbers("--shots", shots), sets=sets, seed=seed, supports=supports, on=on,
        most_words=most_words, layers=_numbers("--layers", layers), threads=threads, published=published, plots=plots,
        skip_unnamed=skip_unnamed, command=_command(),
    )  # fmt: skip
    with _watched(quiet) as watch:
        result = run(targets, _names(which), report=report, encoder=encoder, settings=settings, **watch)
    _show(result, as_json=as_json, quiet=quiet)


def _by_group(given: list[str], groups: list[str]) -> str | dict[str, str]:
    """Give the encoders by group, or the one for all."""
    named = {name: folder for name, equals, folder in (entry.partition("=") for entry in given) if equals}
    if len(given) == 1 and not (named and given[0].partition("=")[0] in groups):
        return given[0]
    if len(named) < len(given):
        raise typer.BadParameter("--encoder is GROUP=FOLDER, once for each group, or one folder for all")
    return named


def _names(given: str) -> list[str]:
    names = [name.strip() for name in given.split(",") if name.strip()]
    if any(":" in name for name in names) and "" not in sys.path:
        sys.path.insert(0, "")  # a method of the user's own may lie where the command is run
    return names


def _numbers(option: str, given: str) -> list[int]:
    try:
        return [int(number) for number in given.split(",")]
    except ValueError:
        raise typer.BadParameter(f"{option} is a list of whole numbers, such as 1,5; found {given!r}") from None


def _command() -> str:
    return shlex.join(["handful", *sys.argv[1:]])


@contextmanager
def _watched(quiet: bool) -> "Iterator[dict[str, Any]]":
    """Give the two ways to report progress: a bar of runs when a person watches, and one of words encoded."""
    if quiet or not sys.stderr.isatty():
        yield {"encoding": progress_of(quiet)}
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
        yield {"progress": run, "encoding": encode}


def _show(report: "Report", *, as_json: bool, quiet: bool) -> None:
    if as_json:
        typer.echo(json.dumps(report.to_dict(), indent=2, ensure_ascii=False))
        return
    from rich.console import Console

    from handful.bench._tables import difference_table, table

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
