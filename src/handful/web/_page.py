"""Labelled sentences as a page of HTML that needs nothing else: no script, font or picture from elsewhere.

A page is made piece by piece, so that a text larger than memory can pass through: `opening`, then any number of
`marked` sentences between any HTML, then `CLOSING`. The style and the script are in ``static`` and are put into the
page.
"""

from collections.abc import Sequence
from html import escape
from importlib.resources import files

from handful._util.html import hue, with_tags
from handful.text import EntityType, Sentence

_STATIC = files(__package__) / "static"
_STYLE = (_STATIC / "page.css").read_text(encoding="utf-8")

#: The end of a page.
CLOSING = f"""
<script>
{(_STATIC / "page.js").read_text(encoding="utf-8")}</script>
</body>
</html>
"""


def opening(title: str, types: Sequence[EntityType | str], note: str = "") -> str:
    """Return the start of a page: its style, its title, and a legend that can hide types and low scores.

    Parameters
    ----------
    title, note : plain text
    types : in the order in which `marked` gets them. Descriptions are shown below the title.
    """
    hues = "\n".join(f".t{i} {{ --h: {hue(i)} }}" for i in range(len(types)))
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>\n{_STYLE}{hues}\n</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1>"
        + (f'<p class="note">{escape(note)}</p>' if note else "")
        + _descriptions(types)
        + f"</header>\n<nav>{_boxes(types)}\n"
        '<label class="view first"><input id="found" type="checkbox"> only with mentions</label>\n'
        '<label class="view">score at least <input id="least" type="range" min="0" max="1" step="0.01" value="0"> '
        "<output>0.00</output></label></nav>\n"
    )


def marked(sentence: Sentence, types: Sequence[EntityType | str], gold: Sentence | None = None) -> str:
    """Return a sentence as a paragraph with its mentions marked.

    Parameters
    ----------
    sentence : its spans are the mentions; those that have a score show it
    types : those that `opening` was given
    gold : the same words with the right mentions. Wrong mentions are then outlined, and missed ones dotted if no
        predicted one overlaps them.
    """
    sentence = sentence.with_text()
    text, offsets = sentence.text or "", sentence.offsets or ()
    spans = sentence.spans or ()
    names = [str(one) for one in types]
    right = set(spans if gold is None else gold.spans or ())
    missed = {one for one in right if all(one.end <= span.start or span.end <= one.start for span in spans)}
    places = []
    for span in sorted([*spans, *missed], key=lambda span: (span.start, -span.end)):
        start, end = offsets[span.start][0], offsets[span.end - 1][1]
        kind = f"t{names.index(span.type)}" if span.type in names else "t"
        if span in missed:
            kind += " missed"
        elif span not in right:
            kind += " wrong"
        after = f"<small>{escape(span.type)}</small></mark>"
        score = ""
        if span.score is not None:
            score = f' data-score="{span.score:.4f}" data-tip="{escape(span.type)} {span.score:.2f}"'
        places.append((start, end, f'<mark class="{kind}"{score}>', after))
    return f'<p class="s" dir="auto">{with_tags(text, places)}</p>\n'


def _boxes(types: Sequence[EntityType | str]) -> str:
    """Return the legend: a box to tick for each type, with its description as a tooltip."""
    boxes = []
    for i, one in enumerate(types):
        title = f' title="{escape(_description(one))}"' if _description(one) else ""
        boxes.append(
            f'<label class="t{i}"{title}><input type="checkbox" checked data-type="t{i}"> '
            f"<b>{escape(str(one))}</b> <i></i></label>"
        )
    return "\n".join(boxes)


def _descriptions(types: Sequence[EntityType | str]) -> str:
    """Return a list of the types that have a description."""
    rows = [
        f'<dt class="t{i}"><b>{escape(str(one))}</b></dt><dd dir="auto">{escape(_description(one))}</dd>\n'
        for i, one in enumerate(types)
        if _description(one)
    ]
    return f"\n<dl>\n{''.join(rows)}</dl>" if rows else ""


def _description(one: EntityType | str) -> str:
    return one.description if isinstance(one, EntityType) else ""
