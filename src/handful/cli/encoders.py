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

    from .show import Console, table

    shown = table("encoder", "languages", "numbers per word", "size", "licence", "from")
    broken = []
    for name in names():
        try:
            one = about(name)
        except EncoderError as error:
            broken.append(error.for_shell)
            continue
        languages = " ".join(one.languages) or "not said"
        shown.add_row(name, languages, str(one.dim), f"{one.n_bytes / 2**20:.0f} MiB", one.licence, one.distribution)
    Console().print(shown)
    for message in broken:
        typer.echo(message, err=True)
