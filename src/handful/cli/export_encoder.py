"""``handful export-encoder``: a Hugging Face encoder to the ONNX layout."""

import typer

from . import options as opt


def export_encoder(
    out: opt.OutFolder,
    folder: str = opt.argument(..., "ENCODER", "A Hugging Face encoder: a folder, or a name on the hub."),
    int8: bool = opt.own(False, "--int8", None, "8-bit weights: a quarter of the size, and faster."),
    licence: str | None = opt.own(None, "--licence", None, "Noted on the card; else as the source says."),
    origin: str | None = opt.own(None, "--origin", None, "Noted on the card; else the source's name."),
) -> None:
    """Write a Hugging Face encoder as ONNX, checked against the original.

    [bold]Examples[/bold]

    \b
    handful export-encoder bert-base-cased --out encoder --int8
    handful export-encoder my-encoder --out my-encoder-onnx
    """
    from handful.encoders import export_encoder as export

    card = export(folder, out, int8=int8, licence=licence, origin=origin)
    size = sum(file.stat().st_size for file in out.iterdir()) / 2**20
    typer.echo(
        f"{out}: {card.precision}, {card.n_layers} layers, {card.dim} dimensions, "
        f"{'reads names of types, ' if card.names else ''}{size:.1f} MiB "
        f"(from {card.origin}, licence {card.licence})"
    )
