"""``handful bench speed``: how fast this machine is."""

import sys
from typing import TYPE_CHECKING

import typer

from . import options as opt
from ._common import number_of, print_json, say
from ._watching import watched
from .reading import read_corpus

if TYPE_CHECKING:
    from handful.bench import Speed


def speed(
    file: str | None = typer.Argument(
        None, metavar="[FILE]", show_default=False, help="The text to read; the garden notes if not given."
    ),
    words: int = typer.Option(1000, "--words", metavar="N", min=1, help="The number of words to read."),
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
) -> None:
    """Measure how fast this machine reads text, beside what people write themselves.

    The table has words per second of the encoder in the package, and of prediction with it; seconds of a fit on 17
    labelled sentences and the text, encoding included, and of one more label; on one thread and on all. With the extra
    [bold]transformers[/bold], it also has a plain loop over a network of the same size and one over a network of the
    size of BERT-base, both in float32 with random weights, which are as fast as others.

    [bold]Examples[/bold]

    \b
    handful bench speed
    handful bench speed notes.txt --words 10000
    handful bench speed --json
    """
    from handful import examples
    from handful.bench import speed as measure
    from handful.text import read, read_types

    text = read_corpus(str(file or examples.UNLABELLED), None, quiet=quiet, unlabelled=True)
    with watched(quiet) as watch:
        found = measure(
            text,
            read(examples.SUPPORT),
            read_types(examples.TYPES),
            most_words=words,
            threads=threads,
            on_run=watch.get("on_run"),
        )
    if as_json:
        print_json(found.to_dict())
    else:
        _show(found, quiet=quiet)


def _show(found: "Speed", *, quiet: bool) -> None:
    from ._console import Console
    from .show import table

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 240)
    console.print(f"{found.processor}")
    size = f"{number_of(found.n_sentences, 'sentence')}, {number_of(found.n_words, 'word')}"
    console.print(f"{size}; the best of {found.turns} turns\n")
    shown = table("", *(number_of(n, "thread") for n in found.threads))
    for name, speeds in found.words_per_second.items():
        shown.add_row(f"{name}, words per second", *(f"{one:,.0f}" for one in speeds))
    for name, ratios in found.ratios.items():
        shown.add_row(f"encode / {name}", *(f"{one:.1f} x" for one in ratios))
    for name, seconds in found.seconds.items():
        shown.add_row(f"{name}, seconds", *(f"{one:.2f}" for one in seconds))
    console.print(shown)
    for note in found.notes:
        say(f"note: {note}", quiet=quiet)
