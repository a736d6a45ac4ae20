"""``handful tune``: the encoder itself learns from the labels of a tagger."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from handful.training import TuneRecipe

from ._dataclass_options import with_options
from ._texts import check_files
from .fit import Unlabelled, read_labelled
from .options import Device, Encoding, From, Json, Model, ModelEncoder, Quiet, Restart, Threads, Types, load, say
from .reading import READING, Reading, read_corpus

if TYPE_CHECKING:
    from handful.training import Tuning


@with_options(Reading(), title=READING)
@with_options(TuneRecipe(), title="How to tune")
def tune(
    model: Model,
    *,
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Files of more labelled sentences, in any format; - is standard input."),
    ] = None,
    unlabelled: Unlabelled = None,
    types: Types = None,
    out: Annotated[Path, typer.Option("--out", help="The folder to write.")],
    encoder: ModelEncoder = None,
    from_format: From = None,
    encoding: Encoding = "utf-8",
    device: Device = None,
    restart: Restart = False,
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
    recipe: TuneRecipe,
    reading: Reading,
) -> None:
    """Let the encoder of a model learn from its labels, in minutes on a laptop, where that helps.

    It pays from some 50 labels of each type on. Part of the labels is held out in turn, to see whether the tuned
    encoder finds more than the one before; if not, that is said, and the encoder stays as it was. The result is a model
    like any other, with its encoder inside: as fast as before, and it needs no torch. Give the unlabelled text of the
    fit again with [bold]--unlabelled[/bold]. Stopped with Ctrl-C, the same command goes on from its checkpoint.

    [bold]Examples[/bold]

    \b
    handful tune model --out tuned
    handful tune model more.conll --unlabelled corpus.txt --out tuned
    """
    from handful.tagger.saving import check_place
    from handful.text import types_of
    from handful.training import tune as tune_encoder

    check_place(out)
    of_text = reading.text_options(encoding) | {"unlabelled": True}
    check_files(files or (), from_format, reading.options(encoding))
    check_files(unlabelled or (), None, of_text)
    tagger = load(model, encoder, threads)
    labelled = None
    if files:
        labelled, described = read_labelled(files, types, from_format, reading, encoding, quiet=quiet)
        new = {one.name for one in described if one.description}
        tagger.types = types_of([*described, *(one for one in types_of(tagger.types) if one.name not in new)])
    text = [sentence for path in unlabelled or () for sentence in read_corpus(path, None, of_text, quiet=quiet)]
    try:
        tuning = tune_encoder(
            tagger,
            labelled,
            text or None,
            out=out,
            recipe=recipe,
            device=device,
            restart=restart,
            progress=False if quiet else None,
        )
    except KeyboardInterrupt as stop:
        typer.echo(str(stop) or "stopped before tuning began", err=True)
        raise typer.Exit(130) from None
    if as_json:
        typer.echo(json.dumps({"model": str(out), **tuning.to_dict()}, indent=2))
    elif not quiet:
        _show(tuning)
        say(f"\nwrote {out}; try: handful predict {out} FILE")


def _show(tuning: "Tuning") -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("encoder")
    table.add_column("F1 on held-out labels", justify="right")
    for name, f1, is_taken in (
        ("as it was", tuning.before, not tuning.is_tuned),
        ("tuned", tuning.after, tuning.is_tuned),
    ):
        table.add_row(name, f"{100 * f1:.1f}", style="bold" if is_taken else None)
    console.print(table)
    console.print(f"\n{tuning} ({tuning.n_sentences:,} sentences, {tuning.seconds / 60:.1f} minutes)")
