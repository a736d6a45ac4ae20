"""``handful encoders``: list the encoders that are installed."""

import typer


def encoders() -> None:
    """List the installed encoders: the languages they know, their size and licence.

    handful-en is in the package. Others come with distributions of their own, such as handful-xx for many languages,
    and are then found by name, here and in Python. --encoder auto takes the one that knows the language of the text.

    [bold]Examples[/bold]

    \b
    handful encoders
    pip install handful-xx
    handful fit --types types.txt --encoder handful-xx --out model
    """
    from handful.encoders.shipped import about, names
    from handful.errors import EncoderError
    from handful.text.languages import NAMES

    from .show import Console, Table, Text

    console = Console()
    for name in names():
        try:
            one = about(name)
        except EncoderError as error:
            typer.echo(error.for_shell, err=True)
            continue
        shown = Table.grid("", "", padding=(0, 2), pad_edge=True)
        languages = ", ".join(NAMES.get(code, code) for code in one.languages)
        shown.add_row("languages", languages or "not said")
        shown.add_row("size", f"{one.n_bytes / 2**20:.0f} MiB, {one.dim} numbers per word")
        shown.add_row("licence", one.licence)
        shown.add_row("from", one.distribution)
        console.print(Text(name, "bold"), shown)
