"""``handful add``: more labelled sentences for a tagger that is there already."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ._dataclass_options import with_options
from ._texts import check_files
from .fit import Unlabelled, read_labelled, show_notes
from .options import (
    Encoding,
    From,
    Json,
    Model,
    ModelEncoder,
    Quiet,
    Threads,
    Types,
    load,
    number_of,
    progress_of,
    say,
)
from .reading import READING, Reading, read_corpus

if TYPE_CHECKING:
    from handful.tagger import FitSummary


@with_options(Reading(), title=READING)
def add(
    model: Model,
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Files of labelled sentences, in any format; - is standard input."),
    ],
    unlabelled: Unlabelled = None,
    types: Types = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", show_default=False, help="The folder to write; the model's own if not set."),
    ] = None,
    encoder: ModelEncoder = None,
    from_format: From = None,
    encoding: Encoding = "utf-8",
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
    *,
    reading: Reading,
) -> None:
    """Add labelled sentences to a model, and fit again.

    A model keeps its labelled sentences and all its settings, but not the unlabelled text of its fit: give that again
    with [bold]--unlabelled[/bold]. It is not encoded again, as long as its features are in the cache. New types are
    welcome; say with [bold]--types[/bold], or at the head of a file, what they mean. A sentence with the words of a
    labelled one gives it new labels. The folder is replaced when all went well.

    [bold]Examples[/bold]

    \b
    handful suggest model corpus.txt -n 20 > next.txt
    handful add model next.txt --unlabelled corpus.txt
    handful add model more.conll --types "PEST, TOOL" --out another-model
    """
    from handful.tagger.saving import check_place
    from handful.text import types_of

    target = model if out is None else out
    check_place(target)
    of_text = reading.text_options(encoding) | {"unlabelled": True}
    check_files(files, from_format, reading.options(encoding))
    check_files(unlabelled or (), None, of_text)
    tagger = load(model, encoder, threads)
    before = tagger.summary_
    labelled, described = read_labelled(files, types, from_format, reading, encoding, quiet=quiet)
    text = [sentence for path in unlabelled or () for sentence in read_corpus(path, None, of_text, quiet=quiet)]
    new = {one.name for one in described if one.description}
    tagger.types = types_of([*described, *(one for one in types_of(tagger.types) if one.name not in new)])
    tagger.add(labelled, text or None, progress=progress_of(quiet))
    tagger.save(target)
    if as_json:
        found = {"model": str(target), **_changes(before, tagger.summary_), **tagger.summary_.to_dict()}
        typer.echo(json.dumps(found, indent=2, ensure_ascii=False))
    elif not quiet:
        _show(before, tagger.summary_)
        say(f"\nwrote {target}; try: handful predict {target} FILE")


def _changes(before: "FitSummary", after: "FitSummary") -> dict[str, Any]:
    """Return what changed, as JSON has it."""
    known = {one.name for one in before.types}
    return {
        "n_added": after.n_support - before.n_support,
        "new_types": [one.name for one in after.types if one.name not in known],
        "mentions_before": before.mentions,
        "unlabelled_words_before": before.unlabelled_words,
    }


def _show(before: "FitSummary", after: "FitSummary") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from .show import colours_of

    console = Console(highlight=False)
    changes = _changes(before, after)
    new = f"; new: {', '.join(changes['new_types'])}" if changes["new_types"] else ""
    console.print(
        Text(
            f"added {number_of(changes['n_added'], 'labelled sentence')}, {after.n_support:,} in all, with "
            f"{number_of(sum(after.mentions.values()), 'mention')} of {number_of(len(after.types), 'type')}{new}\n"
        )
    )
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("type", overflow="fold")
    for name in ("labelled", "before", "unlabelled words", "before"):
        table.add_column(name, justify="right")
    table.add_column("such as", overflow="fold")
    for name, colour in colours_of(after.types).items():
        counts = (
            after.mentions[name],
            before.mentions.get(name, 0),
            after.unlabelled_words[name],
            before.unlabelled_words.get(name, 0),
        )
        table.add_row(Text(name, colour), *(f"{n:,}" for n in counts), Text("; ".join(after.examples[name])))
    console.print(table)
    show_notes(console, after)
