"""``handful pretrain``: source-domain training."""

from pathlib import Path

import typer

from handful.errors import DataError


def pretrain(
    corpora: list[str] = typer.Argument(
        ...,
        metavar="CORPUS",
        help="A labelled file, a folder with train.txt (and dev.txt), or NAME= and one of these. The same "
        "NAME again adds files to that corpus.",
        show_default=False,
    ),
    encoder: str = typer.Option(..., help="The encoder to start from: a Hugging Face folder or hub name."),
    out: Path = typer.Option(..., help="The folder to write."),
    dev: list[str] = typer.Option([], metavar="[NAME=]PATH", help="A file to measure on after each epoch."),
    layers: int | None = typer.Option(None, help="Keep only the first so many layers of the encoder."),
    shapes: bool = typer.Option(
        False, "--shapes", help="Learn how words are written too, for an encoder that forgets case."
    ),
    hide: list[str] = typer.Option([], metavar="TYPE,...", help="Types whose mentions become O."),
    epochs: int = typer.Option(3, help="Passes over the corpora."),
    batch: int = typer.Option(32, help="Sentences in a batch."),
    batch_words: int | None = typer.Option(None, help="Words in a batch instead, at most."),
    lr: float = typer.Option(5e-5, help="Learning rate of the encoder."),
    head_lr: float = typer.Option(1e-3, help="Learning rate of the prototypes."),
    warmup: float = typer.Option(0.05, help="Share of the steps in which the learning rate rises."),
    head: str = typer.Option("prototypes", help="prototypes (distances are the logits) or linear."),
    dropout: float | None = typer.Option(None, help="Dropout in the encoder; else as its configuration says."),
    weight: list[str] = typer.Option(
        [], metavar="NAME=NUMBER", help="How much of a corpus an epoch takes: 0.5 is half of it, 2 all twice."
    ),
    o_weight: list[str] = typer.Option(
        [],
        metavar="NAME=NUMBER",
        help="How much an O word of a corpus counts; below 1 if it leaves types out.",
    ),
    hold_out: float = typer.Option(0.0, help="Share of each corpus that is measured on, not trained on."),
    average: float = typer.Option(0.0, help="Give the mean of the weights over this last share of the steps."),
    keep: str = typer.Option("last", help="last, or best: the epoch with the highest F1 on the dev sentences."),
    seed: int = typer.Option(0, help="Where all chance comes from."),
    licence: str = typer.Option("", help="A note for the card: the terms of use of the result."),
    origin: str = typer.Option("", help="A note for the card: where corpora and base came from."),
    device: str | None = typer.Option(None, help="cpu or cuda; a GPU where there is one."),
    restart: bool = typer.Option(False, "--restart", help="Start anew, whatever checkpoint there is."),
) -> None:
    """Train an encoder on labelled corpora, so that it can tell entities apart.

    It can be stopped and started again: the same command goes on from its checkpoint.

    [bold]Examples[/bold]

    \b
    handful pretrain news.conll --encoder bert-base-cased --out encoder
    handful pretrain news=a.conll tweets=b.txt --encoder my-bert --out encoder
    """
    from handful.training import Recipe
    from handful.training import pretrain as train

    recipe = Recipe(
        layers=layers,
        shapes=shapes,
        hide=tuple(name.strip() for names in hide for name in names.split(",") if name.strip()),
        epochs=epochs,
        batch=batch,
        batch_words=batch_words,
        lr=lr,
        head_lr=head_lr,
        warmup=warmup,
        head=head,
        dropout=dropout,
        weights=_by_name("--weight", weight),
        o_weights=_by_name("--o-weight", o_weight),
        hold_out=hold_out,
        average=average,
        keep=keep,
        seed=seed,
    )
    try:
        card = train(
            corpora,
            encoder=encoder,
            out=out,
            dev=dev,
            recipe=recipe,
            licence=licence,
            origin=origin,
            device=device,
            restart=restart,
        )
    except KeyboardInterrupt as stop:
        typer.echo(str(stop) or "stopped before training began", err=True)
        raise typer.Exit(130) from None
    kept = card["training"]["kept_epoch"]
    figures = card["training"]["epochs"][kept - 1]
    for name, scores in figures["dev"].items():
        typer.echo(f"{name}: dev F1 {100 * scores['f1']:.1f}")
    typer.echo(f"wrote {out} (epoch {kept}, loss {figures['loss']:.4f})")


def _by_name(option: str, given: list[str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for entry in given:
        name, _, number = entry.rpartition("=")
        try:
            found[name] = float(number)
        except ValueError:
            name = ""
        if not name:
            raise DataError(f"{option} is NAME=NUMBER, for example {option} news=0.5; found {entry!r}")
    return found
