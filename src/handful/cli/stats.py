"""``handful stats``: figures about corpora."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from handful._util.files import expand
from handful.errors import number_of
from handful.text import EntityType, ReadReport, Statistics, describe, stream
from handful.text.guidelines import understood

from . import options as opt
from ._common import print_json, say_report


def stats(
    corpora: list[str] = opt.argument(..., "CORPUS", "Files, or - for standard input."),
    from_format: opt.From = None,
    text_field: opt.TextField = None,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
) -> None:
    """Count what corpora hold: sentences, words, mentions by type, the share of O.

    The share of O words in a fully labelled corpus is what [bold]handful fit --o-ratio[/bold] takes. In a support,
    whose sentences were picked for their mentions, it is too low. Of a project of [bold]handful label[/bold] in which
    sentences were given to two people, it says how far they agree.

    [bold]Examples[/bold]

    \b
    handful stats few.conll corpus.txt
    handful stats train.conll --json | jq '.[0].o_share'
    zcat corpus.jsonl.gz | handful stats -
    handful stats reviews.csv --text-field body
    """
    found = []
    for path in expand(corpora):
        with stream(path, from_format, text_field=text_field) as documents:
            figures = describe(documents)
        say_report(documents.report, documents.report.name, quiet=quiet)
        found.append((documents.report, figures, documents.types, _agreement(path, documents.report)))
    if as_json:
        print_json([_record(*one) for one in found])
        return
    for i, one in enumerate(found):
        _show(*one, is_first=i == 0)


def _agreement(path: str, report: "ReadReport") -> list[dict[str, Any]]:
    if report.format != "project":
        return []
    from handful.workbench import agreement

    return [asdict(one) for one in agreement(path)]


def _record(
    report: "ReadReport",
    figures: "Statistics",
    types: "Sequence[EntityType]",
    agreement: list[dict[str, Any]],
) -> dict[str, Any]:
    record = {"file": report.name, "format": report.format, "scheme": report.scheme} | asdict(figures)
    return record | {
        "n_mentions": figures.n_mentions,
        "o_share": figures.o_share,
        "descriptions": {one.name: one.description for one in types if one.description},
        **({"agreement": agreement} if agreement else {}),
    }


def _show(
    report: "ReadReport",
    figures: "Statistics",
    types: "Sequence[EntityType]",
    agreement: list[dict[str, Any]],
    *,
    is_first: bool,
) -> None:
    from .show import Console, Table, Text

    names = ("labelled", "partly labelled", "unlabelled")
    counts = (figures.n_labelled, figures.n_partly_labelled, figures.n_unlabelled)
    kinds = [f"{n:,} {name}" for name, n in zip(names, counts, strict=True) if n]
    scheme = f", scheme {report.scheme}" if report.scheme else ""
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(style="bright_black", no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("format", f"{report.format}{scheme}")
    table.add_row("sentences", f"{figures.n_sentences:,}" + (f" ({', '.join(kinds)})" if kinds else ""))
    table.add_row("words", f"{figures.n_words:,}")
    if figures.o_share is not None:
        table.add_row("share of O", f"{figures.o_share:.3f} of {number_of(figures.n_known, 'word')} with a known label")
    if figures.mentions:
        table.add_row("mentions", f"{figures.n_mentions:,} of {number_of(len(figures.mentions), 'type')}")
        by_count = sorted(figures.mentions.items(), key=lambda item: (-item[1], item[0]))
        table.add_row("", Text(", ".join(f"{label} {n:,}" for label, n in by_count)))
    for one in types:
        if one.description:
            table.add_row("", Text.assemble((one.name, "bold"), f": {one.description}"))
            for line in understood(one.description):
                table.add_row("", Text(f"  {line}", style="bright_black"))
    if figures.n_adjacent:
        table.add_row("adjacent", f"{number_of(figures.n_adjacent, 'mention')} directly after one of the same type")
    for pair in agreement:
        f1, kappa = ("-" if pair[name] is None else f"{pair[name]:.3f}" for name in ("f1", "kappa"))
        same = f"{pair['n_same']:,} of {number_of(pair['n_sentences'], 'sentence')} the same"
        aside = f", {pair['n_aside']:,} more put aside" if pair["n_aside"] else ""
        table.add_row("agreement", f"{' and '.join(pair['people'])}: F1 {f1}, kappa {kappa} by words, {same}{aside}")
    console = Console()
    if not is_first:
        console.print()
    console.print(Text(report.name, style="bold"))
    console.print(table)
