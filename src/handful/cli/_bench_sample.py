"""``handful bench sample``: draw few-shot supports from a labelled corpus."""

from collections import Counter
from pathlib import Path

import typer

from . import options as opt
from .reading import read_corpus


def sample(
    corpus: str = typer.Argument(..., metavar="CORPUS", help="A labelled file, or - for standard input."),
    out: Path = typer.Option(..., "--out", metavar="FOLDER", help="The folder to write; new, or empty."),
    shots: int = typer.Option(5, "--shots", metavar="N", min=1, help="The least number of mentions of each type."),
    sets: int = typer.Option(1, "--sets", metavar="N", min=1, help="How many supports to draw."),
    seed: int = typer.Option(0, "--seed", metavar="N", min=0, help="The same seed draws the same supports."),
    fewer: bool = typer.Option(False, "--fewer", help="Accept types with fewer mentions."),
    to: opt.ToLabelled = "conll",
    quiet: opt.Quiet = False,
) -> None:
    """Draw supports: sentences that hold a few mentions of every type.

    Types are taken from the rarest to the most frequent, and sentences drawn until the support holds enough
    mentions of each (greedy sampling, Yang and Katiyar 2020). The folder gets 0.txt, 1.txt and so on.

    [bold]Examples[/bold]

    \b
    handful bench sample train.conll --shots 5 --sets 10 --seed 0 --out supports
    handful bench sample train.conll --shots 1 --out one-shot --to inline
    """
    from rich.text import Text

    from handful._util.files import check_folder, replacing_folder
    from handful.evaluate import sample_support
    from handful.text import write

    from ._console import Console
    from .show import table

    check_folder(out)
    sentences = read_corpus(corpus, None, quiet=quiet)
    supports = sample_support(sentences, shots, seed, sets=sets, fewer=fewer)
    with replacing_folder(out) as folder:
        for i, support in enumerate(supports):
            write(support, folder / f"{i}.txt", to)
    shown = table("file", "sentences", "words", last="mentions")
    for i, support in enumerate(supports):
        counts = Counter(span.type for one in support for span in one.spans or ())
        mentions = Text(", ".join(f"{label} {n}" for label, n in sorted(counts.items())))
        shown.add_row(Text(str(out / f"{i}.txt")), f"{len(support):,}", f"{sum(map(len, support)):,}", mentions)
    Console(highlight=False).print(shown)
