"""``handful sample``: draw few-shot supports from a labelled corpus."""

import json
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from handful.text import FORMATS

from ._dataclass_options import with_options
from .options import Encoding, From, Json, Quiet, Scheme, one_of
from .reading import READING, Reading, read_corpus

_TO = tuple(name for name in FORMATS if name != "text")


@with_options(Reading(), title=READING)
def sample(
    corpus: Annotated[str, typer.Argument(metavar="CORPUS", help="A labelled file, or - for standard input.")],
    out: Annotated[Path, typer.Option("--out", help="The folder to write; new, or empty.")],
    shots: Annotated[
        int, typer.Option("--shots", metavar="N", min=1, help="The least number of mentions of each type.")
    ] = 5,
    sets: Annotated[int, typer.Option("--sets", metavar="N", min=1, help="How many supports to draw.")] = 1,
    seed: Annotated[int, typer.Option("--seed", metavar="N", min=0, help="The same seed draws the same supports.")] = 0,
    fewer: Annotated[bool, typer.Option("--fewer", help="Take what there is of a type with fewer mentions.")] = False,
    from_format: From = None,
    to: Annotated[
        str, typer.Option("--to", metavar="FORMAT", callback=one_of(*_TO), help=f"What to write: {', '.join(_TO)}.")
    ] = "conll",
    scheme: Scheme = "BIO",
    encoding: Encoding = "utf-8",
    *,
    reading: Reading,
    as_json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Draw supports: sentences that hold a few mentions of every type.

    Types are taken from the rarest to the most frequent, and sentences drawn until the support holds enough
    mentions of each (greedy sampling, Yang and Katiyar 2020). The folder gets 0.txt, 1.txt and so on.

    [bold]Examples[/bold]

    \b
    handful sample train.conll --shots 5 --sets 10 --seed 0 --out supports
    handful sample train.conll --shots 1 --out one-shot --to inline
    """
    from handful._util.files import check_folder, replacing_folder
    from handful.evaluate import sample_support
    from handful.text import write

    check_folder(out)
    sentences = read_corpus(corpus, from_format, reading.options(encoding), quiet=quiet)
    supports = sample_support(sentences, shots, seed, sets=sets, fewer=fewer)
    with replacing_folder(out) as folder:
        for i, support in enumerate(supports):
            write(support, folder / f"{i}.txt", to, scheme=scheme)
    records = [
        {
            "file": str(out / f"{i}.txt"),
            "n_sentences": len(support),
            "n_words": sum(map(len, support)),
            "mentions": dict(sorted(Counter(s.type for one in support for s in one.spans or ()).items())),
        }
        for i, support in enumerate(supports)
    ]
    if as_json:
        typer.echo(json.dumps({"shots": shots, "seed": seed, "supports": records}, indent=2, ensure_ascii=False))
        return
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("file", overflow="fold")
    table.add_column("sentences", justify="right")
    table.add_column("words", justify="right")
    table.add_column("mentions", overflow="fold")
    for record, support in zip(records, supports, strict=True):
        counts = Counter(s.type for one in support for s in one.spans or ())
        mentions = Text(", ".join(f"{label} {n}" for label, n in sorted(counts.items())))
        table.add_row(Text(str(record["file"])), f"{record['n_sentences']:,}", f"{record['n_words']:,}", mentions)
    Console(highlight=False).print(table)
