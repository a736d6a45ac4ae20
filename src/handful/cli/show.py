"""Sentences and figures on a terminal."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from handful.evaluate import Score, Scores
    from handful.tagger import FitSummary
    from handful.text import EntityType, Sentence

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red", "bright_cyan", "bright_magenta", "bright_green")


def colours_of(types: "Iterable[EntityType | str]") -> dict[str, str]:
    """Return a colour of the terminal for each type, by its name."""
    return {str(one): _COLOURS[i % len(_COLOURS)] for i, one in enumerate(types)}


def has_colours() -> bool:
    """Whether standard output shows colours: not if it is a pipe, or if NO_COLOR is set."""
    from rich.console import Console

    return Console().color_system is not None


def coloured(sentence: "Sentence", colours: Mapping[str, str]) -> "Text":
    """Return a sentence with its mentions in colour, each followed by its type."""
    from rich.text import Text

    sentence = sentence.with_text()
    text = sentence.text or ""
    shown, position = Text(), 0
    for span in sentence.spans or ():
        start, end = sentence.characters(span)
        colour = colours.get(span.type, "white")
        shown.append(text[position:start])
        shown.append(text[start:end], f"bold {colour}")
        shown.append(f" {span.type}", f"dim {colour}")
        position = end
    shown.append(text[position:])
    return shown


def legend(colours: Mapping[str, str]) -> "Text":
    """Return the types, each in its colour."""
    from rich.text import Text

    return Text("  ").join(Text(f"■ {label}", colour) for label, colour in colours.items())


def table(first: str, *numbers: str, last: str | None = None) -> "Table":
    """Return an empty table: a column of names, columns of numbers, and perhaps a column of text."""
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, header_style="bold")
    made.add_column(first, overflow="fold")
    for name in numbers:
        made.add_column(Text(name), justify="right", no_wrap=True)
    if last is not None:
        made.add_column(last, overflow="fold")
    return made


def score_table(scores: "Scores") -> "Table":
    """Return a table of precision, recall and F1 by type, micro and macro."""
    made = table("type", "precision", "recall", "F1", "gold", "found", "right")

    def row(name: str, score: "Score", style: str = "") -> None:
        counts = (f"{n:,}" for n in (score.n_gold, score.n_predicted, score.n_correct))
        made.add_row(name, percent(score.precision), percent(score.recall), percent(score.f1), *counts, style=style)

    for label, score in scores.by_type.items():
        row(label, score)
    row("all (micro)", scores.micro, "bold")
    made.add_row("mean of types (macro)", *map(percent, scores.macro.values()))
    return made


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.1f}"


def show_summary(console: "Console", summary: "FitSummary", before: "FitSummary | None" = None) -> None:
    """Print the types that a fit learned, beside those of the fit before it, notes, and advice."""
    from rich.text import Text

    heads = ["labelled", "unlabelled words"] if before is None else ["labelled", "before", "unlabelled words", "before"]
    types = table("type", *heads, last="such as")
    for name, colour in colours_of(summary.types).items():
        counts = [
            f"{fit.get(name, 0):,}"
            for counted in ("mentions", "unlabelled_words")
            for fit in (getattr(one, counted) for one in (summary, before) if one is not None)
        ]
        types.add_row(Text(name, colour), *counts, Text("; ".join(summary.examples[name])))
    console.print(types)
    for title, lines in (("notes", summary.notes), ("to try next", [one.shell for one in summary.advice])):
        if lines:
            console.print(f"\n[bold]{title}[/bold]")
        for line in lines:
            console.print(Text(f"- {line}"))
