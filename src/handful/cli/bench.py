"""``handful bench``: compare few-shot methods by the protocols of the field."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from . import options as opt
from ._bench_sample import sample
from ._bench_speed import speed
from ._common import command_line, listed, say
from ._watching import watched

if TYPE_CHECKING:
    from handful.bench import Report, Settings

bench = typer.Typer(
    name="bench",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
bench.command()(speed)
bench.command()(sample)

ReportFolder = Annotated[
    Path,
    typer.Option(
        "--report", metavar="FOLDER", help="The folder to write. Runs that are finished there are not repeated."
    ),
]
Targets = Annotated[
    list[str],
    typer.Argument(metavar="TARGET", help="Folders with train, dev and test files, or labelled files; or NAME=FOLDER."),
]
Encoder = Annotated[str, typer.Option("--encoder", metavar="NAME", help="Name or folder of an encoder.")]
Methods = Annotated[
    str | None,
    typer.Option("--methods", metavar="NAME,...", help="The methods to compare; handful bench --help lists them."),
]
Ratios = Annotated[
    str | None,
    typer.Option(
        "--ratios",
        metavar="RATIO,...",
        help="The shares of O for our own methods: none, auto, share (the share where supports come from, rounded down "
        "to a multiple of 0.05), over (0.05 more than share), or numbers.",
    ),
]
Shots = Annotated[
    str | None,
    typer.Option("--shots", metavar="N,...", help="Mentions of each type in a support; 1,5 if not set; 0: no labels."),
]
Sets = Annotated[
    int | None, typer.Option("--sets", metavar="N", min=1, help="Supports for each number of shots; 10 if not set.")
]
On = Annotated[
    str | None,
    typer.Option(
        "--on",
        metavar="test|dev",
        callback=opt.one_of("test", "dev"),
        help="The split to score on: test if not set; or dev, for making choices: supports come from one half of it, "
        "and the other half is scored on.",
    ),
]
Published = Annotated[
    bool | None, typer.Option("--published", help="Print published figures beside ours, with their sources.")
]


@bench.callback()
def _about() -> None:
    """Research: compare few-shot methods by the protocols of the field, and measure how fast this machine is.

    Finished runs are kept in the report's folder. After an interruption, the same command goes on where it stopped.

    [bold]Methods[/bold] are proto, nnshot, structshot, regression, container, container-viterbi, container-frozen,
    container-frozen-viterbi, finetuned, setfit, hard, soft, hard-nosubspace, soft-nosubspace, handful, handful-nonames,
    names and tuned; or MODULE:CLASS, a method of your own.

    [bold]A recipe[/bold] is a TOML file for rarer settings, such as [bold]texts = \\["all", "none"][/bold] or
    [bold]fewer = true[/bold]; the settings are those of handful.bench.Settings.

    [bold]Examples[/bold]

    \b
    handful bench speed
    handful bench transfer data/wnut17 --report report
    handful bench sample train.conll --shots 5 --sets 10 --out supports
    """


@bench.command()
def transfer(
    targets: Targets,
    report: ReportFolder,
    encoder: Encoder = "handful-en",
    source: list[str] | None = typer.Option(
        None,
        "--source",
        metavar="CORPUS",
        help="A labelled corpus that baselines learn from, as handful pretrain takes it; may be repeated.",
    ),
    recipe: opt.RecipeFile = None,
    methods: Methods = None,
    ratios: Ratios = None,
    shots: Shots = None,
    sets: Sets = None,
    on: On = None,
    published: Published = None,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
) -> None:
    """Domain transfer: corpora that the encoder never saw, a few labels of each type or none.

    A target is a folder with train, dev (which may be missing) and test, in any format, and perhaps
    supports/1shot/0.txt and so on. Without those, supports are drawn from dev (train where there is none). Unlabelled
    text is train and dev; the score is strict span F1 on test. With [bold]--on dev[/bold], a target may also be one
    labelled file. Its types.txt says what its types mean.

    [bold]Examples[/bold]

    \b
    handful bench transfer data/wnut17 --report report --published
    handful bench transfer wnut17 btc --ratios none,0.95 --report report
    handful bench transfer data/wnut17 --on dev --sets 5 --report choosing
    handful bench transfer wnut17 --methods hard,mine:Method --report report
    handful bench transfer wnut17 --shots 0,1,5 --recipe r.toml --report report
    handful bench transfer mosaic/dev/*.txt --on dev --shots 0,1,5 --report r
    """
    from handful.bench import Settings
    from handful.bench import transfer as run

    settings = _settings(Settings(), recipe, methods, ratios, shots, sets, on, published, threads)
    with watched(quiet) as watch:
        result = run(targets, report=report, encoder=encoder, source=source or (), settings=settings, **watch)
    _show(result, quiet=quiet)


@bench.command()
def extension(
    report: ReportFolder,
    corpus: str = typer.Argument(..., metavar="CORPUS", help="A folder with train, dev and test files."),
    groups: str = typer.Option(
        ..., "--groups", metavar="GROUPS", help="ontonotes, a JSON file, or A=TYPE1,TYPE2;B=TYPE3: types by group."
    ),
    encoder: list[str] = typer.Option(
        ...,
        "--encoder",
        metavar="[GROUP=]FOLDER",
        help="For each group an encoder trained with the group's types hidden; or one for all.",
    ),
    recipe: opt.RecipeFile = None,
    methods: Methods = None,
    ratios: Ratios = None,
    shots: Shots = None,
    sets: Sets = None,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
) -> None:
    """Tag-set extension: types that the encoder has not seen, in text that it has.

    For each group, mentions of all other types become O; supports are drawn from dev (train where there is none).
    Train each encoder with [bold]handful pretrain[/bold] and the group's types in [bold]hide[/bold] of its recipe. The
    paper's groups on OntoNotes 5 are built in as [bold]ontonotes[/bold].

    [bold]Examples[/bold]

    \b
    handful bench extension onto5 --groups ontonotes --encoder enc --report r
    handful bench extension gum --groups "X=person;Y=event" --encoder e --report r
    """
    from handful.bench import Settings, parse_groups
    from handful.bench import extension as run

    settings = _settings(Settings(), recipe, methods, ratios, shots, sets, None, None, threads)
    chosen = parse_groups(groups)
    encoders = _by_group(encoder, list(chosen))
    with watched(quiet) as watch:
        result = run(corpus, chosen, report=report, encoders=encoders, settings=settings, **watch)
    _show(result, quiet=quiet)


@bench.command()
def ablation(
    targets: Targets,
    report: ReportFolder,
    which: str | None = typer.Option(
        None,
        "--which",
        metavar="NAME,...",
        help="Some of unlabelled, subspace, ratio, amount and names; the first three if not set.",
    ),
    encoder: Encoder = "handful-en",
    recipe: opt.RecipeFile = None,
    ratios: Ratios = None,
    shots: Shots = None,
    sets: Sets = None,
    on: On = None,
    published: Published = None,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
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
    from handful.bench import Settings
    from handful.bench import ablation as run
    from handful.bench.settings import ABLATION_RATIOS, DEFAULT_ABLATIONS

    defaults = Settings(ratios=ABLATION_RATIOS)
    settings = _settings(defaults, recipe, None, ratios, shots, sets, on, published, threads)
    names = listed(which) or DEFAULT_ABLATIONS
    with watched(quiet) as watch:
        result = run(targets, names, report=report, encoder=encoder, settings=settings, **watch)
    _show(result, quiet=quiet)


def _settings(
    defaults: "Settings",
    recipe: Path | None,
    methods: str | None,
    ratios: str | None,
    shots: str | None,
    sets: int | None,
    on: str | None,
    published: bool | None,
    threads: int | None,
) -> "Settings":
    """Return the settings of a recipe and of options."""
    from handful._util.options import read_settings

    settings = read_settings(
        defaults,
        recipe,
        methods=listed(methods),
        ratios=listed(ratios),
        shots=listed(shots, int),
        sets=sets,
        on=on,
        published=published,
        threads=threads,
        command=command_line(),
    )
    if any(":" in name for name in settings.methods or ()) and "" not in sys.path:
        sys.path.insert(0, "")  # the user's own method may be in the folder where the command is run
    return settings


def _by_group(given: list[str], groups: list[str]) -> str | dict[str, str]:
    """Return the encoders by group, or the one for all."""
    named = {name: folder for name, equals, folder in (entry.partition("=") for entry in given) if equals}
    if len(given) == 1 and not (named and given[0].partition("=")[0] in groups):
        return given[0]
    if len(named) < len(given):
        raise typer.BadParameter("--encoder is GROUP=FOLDER, once for each group, or one folder for all")
    return named


def _show(report: "Report", *, quiet: bool) -> None:
    from handful.bench.tables import difference_table, table

    from ._console import Console

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
