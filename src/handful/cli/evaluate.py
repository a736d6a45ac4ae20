"""``handful evaluate``: how good a tagger is on labelled text."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from ._dataclass_options import with_options
from ._texts import check_files
from .options import Encoding, From, Json, Model, ModelEncoder, Quiet, Threads, load, progress_of, say
from .reading import READING, Reading, read_corpus

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from handful.tagger import Evaluation, Mistake
    from handful.text import EntityType


@with_options(Reading(), title=READING)
def evaluate(
    model: Model,
    file: Annotated[
        str, typer.Argument(metavar="FILE", help="Labelled sentences, in any format; - is standard input.")
    ],
    errors: Annotated[
        int, typer.Option("--errors", metavar="N", min=0, help="How many of the worst errors to show.")
    ] = 10,
    encoder: ModelEncoder = None,
    from_format: From = None,
    encoding: Encoding = "utf-8",
    *,
    reading: Reading,
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> None:
    """Score a tagger on labelled text: precision, recall and F1 of mentions.

    [bold]strict[/bold] asks for the same words and the same type, as conlleval and seqeval do; [bold]exact[/bold] for
    the same words; [bold]partial[/bold] counts half for words in common; [bold]type[/bold] asks for words in common and
    the same type. The worst errors are those it was most sure of. A note says if the tagger was fitted on some of the
    sentences, or its encoder was trained on them.

    [bold]Examples[/bold]

    \b
    handful evaluate model test.conll
    handful evaluate model test.conll --errors 30
    handful evaluate model test.conll --json | jq .scores.strict.micro.f1
    """
    check_files([file], from_format, reading.options(encoding))
    tagger = load(model, encoder, threads)
    gold = read_corpus(file, from_format, reading.options(encoding), quiet=quiet)
    result = tagger.evaluate(gold, progress=progress_of(quiet))
    for note in result.notes:
        say(f"note: {note}", quiet=quiet)
    if as_json:
        typer.echo(json.dumps(result.to_dict(errors), indent=2, ensure_ascii=False))
    else:
        _show(result, errors, tagger.types_)


def _show(result: "Evaluation", n_errors: int, types: "list[EntityType]") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from handful.evaluate import MODES

    from .show import percent, score_table

    console = Console(highlight=False)
    console.print(f"{result.n_sentences:,} sentences, {result.n_words:,} words\n")
    console.print(score_table(result.strict))
    modes = Table(box=None, pad_edge=False, header_style="bold")
    modes.add_column("counted")
    for name in ("precision", "recall", "F1", "macro F1"):
        modes.add_column(name, justify="right")
    for mode in MODES:
        scores = getattr(result, mode)
        micro = scores.micro
        modes.add_row(mode, *map(percent, (micro.precision, micro.recall, micro.f1, scores.macro["f1"])))
    console.print()
    console.print(modes)
    for one in types:
        if one.description:
            console.print(Text.assemble("\n" if one is types[0] else "", (one.name, "bold"), f": {one.description}"))
    if result.unknown_types:
        console.print(Text(f"\nnot among the tagger's types, so never found: {', '.join(result.unknown_types)}"))
    console.print("\n[bold]gold[/bold] (rows) and [bold]found[/bold], where both have the same words; O is none")
    console.print(_confusion(result))
    if n_errors and result.mistakes:
        kinds = {mistake.kind: 0 for mistake in result.mistakes}
        for mistake in result.mistakes:
            kinds[mistake.kind] += 1
        counts = ", ".join(f"{n:,} {kind}" for kind, n in sorted(kinds.items()))
        console.print(f"\n[bold]worst errors[/bold], of {len(result.mistakes):,} ({counts})")
        for mistake in result.mistakes[:n_errors]:
            console.print(_line(mistake), soft_wrap=True)


def _confusion(result: "Evaluation") -> "Table":
    from rich.table import Table
    from rich.text import Text

    names = sorted({name for pair in result.strict.confusion for name in pair} - {"O"})
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    for name in [*names, "O"]:
        table.add_column(Text(name), justify="right")
    for gold in [*names, "O"]:
        row = []
        for found in [*names, "O"]:
            count = result.strict.confusion[gold, found]
            style = "green" if gold == found else "" if count else "dim"
            row.append(Text("" if gold == found == "O" else f"{count:,}", style))
        table.add_row(Text(gold, "bold"), *row)
    return table


def _line(mistake: "Mistake") -> "Text":
    from rich.text import Text

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
