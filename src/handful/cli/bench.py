"""``handful bench``: compare few-shot methods."""

import sys
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handful._util.options import read_settings
from handful.bench import Settings

from . import options as opt
from ._common import command_line, listed, say

if TYPE_CHECKING:
    from handful.bench import Report

bench = typer.Typer(
    name="bench",
    no_args_is_help=True,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _setting(name: str, metavar: str | None = None, **more: Any) -> Any:
    """Return the option for a field of `Settings`, with its help."""
    (field,) = (one for one in fields(Settings) if one.name == name)
    return opt.option("--" + name.replace("_", "-"), metavar, field.metadata["help"], **more)


ReportFolder = Annotated[
    Path, opt.option("--report", "FOLDER", "The folder to write. Runs that are finished there are not repeated.")
]
Targets = Annotated[
    list[str],
    typer.Argument(metavar="TARGET", help="Folders with train, dev and test files, or labelled files; or NAME=FOLDER."),
]
Methods = Annotated[str | None, _setting("methods", "NAME,...", callback=lambda given: listed(given))]
ORatios = Annotated[str | None, _setting("o_ratios", "RATIO,...", callback=lambda given: listed(given))]
Shots = Annotated[str | None, _setting("shots", "N,...", callback=lambda given: listed(given, int), show_default="1,5")]
Sets = Annotated[int | None, _setting("sets", "N", min=1, show_default="10")]
On = Annotated[str | None, _setting("on", "test|dev", callback=opt.one_of("test", "dev"), show_default="test")]


@bench.callback()
def _about() -> None:
    """Research: compare few-shot methods.

    Finished runs are kept in the report's folder. After an interruption, the same command goes on where it stopped.

    [bold]Methods[/bold] are proto, nnshot, structshot, regression, hard, soft, hard-nosubspace, soft-nosubspace,
    handful, handful-nonames, names and tuned; or MODULE:CLASS, a method of your own.

    [bold]A recipe[/bold] is a TOML file for rarer settings, such as [bold]texts = \\["all", "none"][/bold] or
    [bold]fewer = true[/bold]; the settings are those of handful.bench.Settings.

    [bold]Examples[/bold]

    \b
    handful bench transfer data/wnut17 --report report
    """


@bench.command()
def transfer(
    targets: Targets,
    report: ReportFolder,
    encoder: opt.Encoder = "handful-en",
    recipe: opt.RecipeFile = None,
    methods: Methods = None,
    o_ratios: ORatios = None,
    shots: Shots = None,
    sets: Sets = None,
    on: On = None,
    threads: opt.Threads = None,
) -> None:
    """Domain transfer: corpora that the encoder never saw, a few labels of each type or none.

    A target is a folder with train, dev (which may be missing) and test, in any format, and perhaps
    supports/1shot/0.txt and so on. Without those, supports are drawn from dev (train where there is none). Unlabelled
    text is train and dev; the score is strict span F1 on test. With [bold]--on dev[/bold], a target may also be one
    labelled file. Its types.txt says what its types mean.

    [bold]Examples[/bold]

    \b
    handful bench transfer data/wnut17 --report report
    handful bench transfer wnut17 btc --o-ratios none,0.95 --report report
    handful bench transfer data/wnut17 --on dev --sets 5 --report choosing
    handful bench transfer wnut17 --methods hard,mine:Method --report report
    handful bench transfer wnut17 --shots 0,1,5 --recipe r.toml --report report
    handful bench transfer mosaic/dev/*.txt --on dev --shots 0,1,5 --report r
    """
    from tqdm.std import tqdm

    from handful.bench import transfer as run

    given = {"shots": shots, "sets": sets, "on": on, "threads": threads}
    given |= {"methods": methods, "o_ratios": o_ratios, "command": command_line()}
    settings = read_settings(Settings(), recipe, **given)
    if any(":" in name for name in settings.methods) and "" not in sys.path:
        sys.path.insert(0, "")  # the user's own method may be in the folder where the command is run
    with tqdm(leave=False, disable=None) as bar:  # None: a bar on a terminal alone

        def on_run(done: int, total: int, what: str) -> None:
            bar.total = total
            bar.set_description(what, refresh=False)
            bar.update(done - bar.n)

        result = run(targets, report=report, encoder=encoder, settings=settings, on_run=on_run)
    _show(result)


def _show(report: "Report") -> None:
    from rich.markdown import Markdown

    from handful.bench.report import markdown

    from .show import Console

    console = Console(width=None if sys.stdout.isatty() else 240)
    console.print(report.title, style="bold")
    for shots in report.board.shots:
        console.print(Markdown(markdown(report.board, shots)))
    for note in report.notes:
        say(f"note: {note}")
    say(f"wrote {report.folder}")
