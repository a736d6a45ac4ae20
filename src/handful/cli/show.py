"""Sentences and figures on a terminal."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

    from handful.evaluate import Score, Scores
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


def score_table(scores: "Scores") -> "Table":
    """Return a table of precision, recall and F1 by type, micro and macro."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("type", overflow="fold")
    for name in ("precision", "recall", "F1", "gold", "found", "right"):
        table.add_column(name, justify="right", no_wrap=True)

    def row(name: str, score: "Score", style: str = "") -> None:
        counts = (f"{n:,}" for n in (score.n_gold, score.n_predicted, score.n_correct))
        table.add_row(name, percent(score.precision), percent(score.recall), percent(score.f1), *counts, style=style)

    for label, score in scores.by_type.items():
        row(label, score)
    row("all (micro)", scores.micro, "bold")
    means = scores.macro.values()
    table.add_row("mean of types (macro)", *map(percent, means))
    return table


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.1f}"
