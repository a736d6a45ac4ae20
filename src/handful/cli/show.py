"""Sentences and figures on a terminal; commands import this where they print, for rich takes long to load."""

from collections.abc import Iterable, Mapping
from itertools import pairwise
from typing import Any

from rich.console import Console as RichConsole
from rich.segment import Segment
from rich.table import Table as Table
from rich.text import Text as Text

from handful._util.foreign import visible
from handful.evaluate import Score, Scores
from handful.text import EntityType, Sentence

_COLOURS = ("cyan", "magenta", "green", "yellow", "blue", "red", "bright_cyan", "bright_magenta", "bright_green")


class Console(RichConsole):
    """A console on which control characters in texts are shown by their numbers, and brackets are no markup."""

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render(self, renderable: Any, options: Any = None) -> Iterable[Segment]:
        """Return the parts of an output; those that control the terminal are rich's own."""
        for part in super().render(renderable, options):
            yield part if part.control else part._replace(text=visible(part.text))


def colours_of(types: Iterable[EntityType | str]) -> dict[str, str]:
    """Return a colour of the terminal for each type, by its name."""
    return {str(one): _COLOURS[i % len(_COLOURS)] for i, one in enumerate(types)}


def coloured(sentence: Sentence, colours: Mapping[str, str]) -> Text:
    """Return a sentence with its mentions in colour, each followed by its type; those inside others are underlined."""
    sentence = sentence.with_text()
    text, spans = sentence.text or "", sentence.spans or ()
    places = [(*sentence.characters(span), span.type) for span in spans]
    borders = sorted({0, len(text), *(place for one in places for place in one[:2])})
    shown = Text()
    for start, end in pairwise(borders):
        here = [one for one in places if one[0] <= start and end <= one[1]]
        style = f"bold {colours.get(here[-1][2], 'white')}" if here else ""
        shown.append(text[start:end], style + " underline" * (len(here) == 2) + " underline2" * (len(here) > 2))
        for one in reversed(places):  # the innermost ends first
            if one[1] == end:
                shown.append(f" {one[2]}", f"dim {colours.get(one[2], 'white')}")
    return shown


def table(first: str, *numbers: str, last: str | None = None) -> Table:
    """Return an empty table: a column of names, columns of numbers, and perhaps a column of text."""
    made = Table(box=None, pad_edge=False, header_style="bold")
    made.add_column(first, overflow="fold")
    for name in numbers:
        made.add_column(Text(name), justify="right", no_wrap=True)
    if last is not None:
        made.add_column(last, overflow="fold")
    return made


def score_table(scores: Scores) -> Table:
    """Return a table of precision, recall and F1 by type, micro and macro."""
    made = table("type", "precision", "recall", "F1", "gold", "found", "right")

    def row(name: str, score: Score, style: str = "") -> None:
        counts = (f"{n:,}" for n in (score.n_gold, score.n_predicted, score.n_correct))
        made.add_row(
            Text(name), percent(score.precision), percent(score.recall), percent(score.f1), *counts, style=style
        )

    for label, score in scores.by_type.items():
        row(label, score)
    row("all (micro)", scores.micro, "bold")
    made.add_row("mean of types (macro)", *map(percent, scores.macro.values()))
    return made


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.1f}"
