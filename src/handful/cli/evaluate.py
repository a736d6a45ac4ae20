"""``handful evaluate``: how good a tagger is on labelled text."""

from collections import Counter
from functools import cache
from typing import TYPE_CHECKING

import typer

from handful._util.files import expand
from handful.errors import number_of
from handful.text import Sentence
from handful.text.types import judged_together

from . import options as opt
from ._common import load, print_json, progress_of, say
from .reading import read_corpus

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from handful.tagger import Evaluation, Mistake


def evaluate(
    model: str = opt.argument(..., "[MODEL]", "The folder that handful fit wrote; none with --types."),
    file: str | None = opt.argument(None, "FILE", "Labelled sentences, in any format; - is standard input."),
    types: opt.Types = None,
    find: opt.Find = None,
    overlap: opt.Overlap = False,
    errors: int = opt.own(10, "--errors", "N", "How many of the worst errors to show.", min=0),
    encoder: opt.ModelEncoder = None,
    from_format: opt.From = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
) -> None:
    """Score a tagger on labelled text: precision, recall and F1 of mentions.

    A mention is right if it has the same words and the same type, as conlleval and seqeval ask. A table shows precision
    and recall at several settings of [bold]--find[/bold]. The worst errors are those it was most sure of. A note says
    if the tagger was fitted on some of the sentences, or its encoder was trained on them. With [bold]--types[/bold]
    there is no model: mentions are found by what the types mean.

    [bold]Examples[/bold]

    \b
    handful evaluate model test.conll
    handful evaluate --types types.txt test.conll
    handful evaluate model test.conll --errors 30
    handful evaluate model test.conll --find more
    handful evaluate model test.conll --json | jq .scores.strict.micro.f1
    """
    if (file is None) == (types is None):
        raise typer.BadParameter("name a model and a file, or the types to find (--types) and a file")

    @cache
    def gold() -> list[Sentence]:
        corpora = [read_corpus(path, from_format, quiet=quiet) for path in expand([file or model])]
        return corpora[0] if len(corpora) == 1 else [one for corpus in corpora for one in judged_together(corpus)]

    tagger = load(
        model, encoder, threads, types=types, find=find, overlap=overlap, text=gold
    )  # a model that is missing is said first
    result = tagger.evaluate(gold(), progress=progress_of(quiet))
    for note in result.notes:
        say(f"note: {note}", quiet=quiet)
    if as_json:
        print_json(result.to_dict(errors))
    else:
        _show(result, errors)


def _show(result: "Evaluation", n_errors: int) -> None:
    from handful.tagger.finding import FIND

    from .show import Console, Text, percent, score_table, table

    console = Console()
    console.print(f"{number_of(result.n_sentences, 'sentence')}, {number_of(result.n_words, 'word')}\n")
    console.print(score_table(result.strict))
    if result.levels:
        nested = table("inside others", "precision", "recall", "F1", "gold")
        for n, score in enumerate(result.levels):
            nested.add_row(str(n), *map(percent, (score.precision, score.recall, score.f1)), f"{score.n_gold:,}")
        console.print("", nested, sep="\n")
    curve = table("find", "precision", "recall", "F1", "")
    words = {odds: word for word, odds in FIND.items()}
    for one in result.curve:
        name, now = words.get(one.find, f"{one.find:g}"), "now" * (one.find == result.find)
        curve.add_row(name, *map(percent, (one.score.precision, one.score.recall, one.score.f1)), now)
    console.print("", curve, sep="\n")
    if result.unknown_types:
        console.print(Text(f"\nnot among the tagger's types, so never found: {', '.join(result.unknown_types)}"))
    console.print(
        "\n[bold]gold[/bold] (rows) and [bold]found[/bold], where both have the same words; O is none", markup=True
    )
    console.print(_confusion(result))
    if n_errors and result.mistakes:
        kinds = Counter(mistake.kind for mistake in result.mistakes)
        counts = ", ".join(f"{n:,} {kind}" for kind, n in sorted(kinds.items()))
        console.print(f"\n[bold]worst errors[/bold], of {len(result.mistakes):,} ({counts})", markup=True)
        for mistake in result.mistakes[:n_errors]:
            console.print(_line(mistake), soft_wrap=True)


def _confusion(result: "Evaluation") -> "Table":
    from .show import Text, table

    names = sorted({name for pair in result.strict.confusion for name in pair} - {"O"})
    shown = table("", *names, "O")
    for gold in [*names, "O"]:
        row = []
        for found in [*names, "O"]:
            count = result.strict.confusion[gold, found]
            style = "green" if gold == found else "" if count else "dim"
            row.append(Text("" if gold == found == "O" else f"{count:,}", style))
        shown.add_row(Text(gold, "bold"), *row)
    return shown


def _line(mistake: "Mistake") -> "Text":
    from .show import Text

    gold, found = mistake.gold, mistake.predicted
    if gold is None or found is None:
        what = f"missed {gold.type}" if gold else f"found {found.type}" if found else ""
    elif gold.type != found.type:
        what = f"found {found.type}, is {gold.type}"
    else:
        is_, was = mistake.sentence.span_text(gold), mistake.sentence.span_text(found)
        what = f"found “{was}”, is “{is_}” ({gold.type})"
    context = Text(mistake.context, "dim")
    context.highlight_regex("«.*»", "not dim bold")
    return Text.assemble(f"{mistake.confidence:.2f}  ", (what, "red"), "  ", context)
