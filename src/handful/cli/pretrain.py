"""``handful pretrain``: source-domain training."""

from pathlib import Path

import typer

from handful._util.options import read_settings

from . import options as opt
from ._common import command_line


def pretrain(
    out: opt.OutFolder,
    corpora: list[str] = opt.argument(
        ...,
        "CORPUS",
        "A labelled file, a folder with train.txt (and dev.txt), a folder of small corpora that begin with "
        "# TYPE: description (each file is a corpus NAME/file), or NAME= and one of these. The same NAME again "
        "adds files to that corpus.",
    ),
    encoder: str = opt.own(..., "--encoder", "NAME", "The encoder to start from: a Hugging Face folder or hub name."),
    recipe: opt.RecipeFile = None,
    dev: list[str] | None = opt.own(
        None,
        "--dev",
        "[NAME=]PATH",
        "A file to measure on after each epoch, also a corpus or a folder of corpora that is not trained on; may "
        "be repeated.",
    ),
    types: Path | None = opt.own(
        None,
        "--types",
        "FILE",
        "A file that says what types mean: a line [CORPUS], then TYPE: description on each line.",
    ),
    licence: str = opt.own("", "--licence", "TEXT", "A note for the card: the terms of use of the result."),
    origin: str = opt.own("", "--origin", "TEXT", "A note for the card: where the corpora and the base came from."),
    device: opt.Device = None,
) -> None:
    """Train an encoder on labelled corpora, so that it can tell entities apart and reads the names of types.

    A type's vector is made of its name and its description by the encoder itself. So the result also finds types that
    no corpus had.

    A recipe is a file with lines such as [bold]epochs = 5[/bold] and [bold]weights = {news = 0.5}[/bold]; the
    settings are those of handful.training.Recipe.

    [bold]Examples[/bold]

    \b
    handful pretrain news.conll --encoder bert-base-cased --out encoder
    handful pretrain a.conll b.txt --encoder my-bert --types types.txt --out enc
    handful pretrain mosaic=corpora/mosaic/train --encoder my-bert --out encoder
    handful pretrain news.conll --recipe r.toml --encoder my-bert --out enc
    """
    from handful.training import Recipe
    from handful.training import pretrain as train
    from handful.training.state import mean_f1

    card = train(
        corpora,
        encoder=encoder,
        out=out,
        dev=dev or (),
        types=types,
        recipe=read_settings(Recipe(), recipe),
        licence=licence,
        origin=origin,
        command=command_line(),
        device=device,
    )
    figures = card["training"]["epochs"][-1]
    for name, f1 in mean_f1(figures["dev"]).items():
        typer.echo(f"{name}: dev F1 {100 * f1:.1f}")
    typer.echo(f"wrote {out} (loss {figures['loss']:.4f})")
