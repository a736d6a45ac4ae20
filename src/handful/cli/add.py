"""``handful add``: more labelled sentences for a tagger that is there already."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from . import options as opt
from ._common import load, number_of, print_json, progress_of, say
from .reading import TrainingFiles

if TYPE_CHECKING:
    from handful.tagger import FitSummary


def add(
    model: opt.Model,
    files: list[str] = typer.Argument(
        ..., metavar="FILE", help="Files of labelled sentences, in any format; - is standard input."
    ),
    unlabelled: opt.Unlabelled = None,
    types: opt.Types = None,
    out: Path | None = typer.Option(None, "--out", metavar="FOLDER", help="The folder to write; MODEL if not set."),
    encoder: opt.ModelEncoder = None,
    from_format: opt.From = None,
    text_field: opt.TextField = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
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

    target = model if out is None else out
    check_place(target)
    given = TrainingFiles(files, unlabelled or [], types, from_format, text_field, quiet=quiet)
    tagger = load(model, encoder, threads)
    before = tagger.summary_
    labelled = given.labels_for(tagger)
    tagger.add(labelled, given.text() or None, progress=progress_of(quiet))
    tagger.save(target)
    if as_json:
        found = {"model": str(target), **_changes(before, tagger.summary_), **tagger.summary_.to_dict()}
        print_json(found)
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
    from rich.text import Text

    from ._console import Console
    from .show import show_summary

    console = Console(highlight=False)
    changes = _changes(before, after)
    new = f"; new: {', '.join(changes['new_types'])}" if changes["new_types"] else ""
    console.print(
        Text(
            f"added {number_of(changes['n_added'], 'labelled sentence')}, {after.n_support:,} in all, with "
            f"{number_of(sum(after.mentions.values()), 'mention')} of {number_of(len(after.types), 'type')}{new}\n"
        )
    )
    show_summary(console, after, before)
