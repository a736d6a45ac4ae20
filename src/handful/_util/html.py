"""Pieces of HTML for notebooks: texts with their mentions marked, and tables, with nothing but inline styles.

A notebook puts them among its own page, so there are no rules here that hold for the rest of it. The colours are those
of the pages in ``web``; they can be read on light and on dark ground.
"""

from collections.abc import Iterable, Sequence
from html import escape

_HUES = (205, 28, 140, 285, 350, 55, 175, 245, 100, 320)  # neighbours are easy to tell apart

_TEXT = "white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.8;margin:.2em 0;text-align:start"
_MARK = (
    "unicode-bidi:isolate;border-radius:.3em;padding:.1em .3em;box-decoration-break:clone;"
    "-webkit-box-decoration-break:clone"
)
_TYPE = "font:650 .62em system-ui,sans-serif;letter-spacing:.03em;margin-inline-start:.45em;unicode-bidi:isolate"
_CELL = "text-align:left;vertical-align:top;padding:.3em .9em .3em 0"


def hue(i: int) -> int:
    """Return the colour of type i as a hue, 0 to 359."""
    return _HUES[i] if i < len(_HUES) else int(i * 137.508) % 360  # the golden angle never comes back


def marked(
    text: str, mentions: Iterable[tuple[int, int, str, float | None]], types: Sequence[str] | None = None
) -> str:
    """Return a text, which is escaped, with its mentions marked.

    Each mention has its start and end in the text, its type, and its score or None. One that is not in the text is not
    shown; one inside another has a line below it. The place of a type among `types`, all those of the mentions if they
    are not given, is its colour.
    """
    mentions = sorted(mentions, key=lambda mention: (mention[0], -mention[1]))
    types = sorted({kind for _, _, kind, _ in mentions}) if types is None else types
    places = []
    last = 0  # the end of the mentions so far
    for start, end, kind, score in mentions:
        h = hue(types.index(kind))
        style = f"{_MARK};background:hsl({h} 75% 88%);color:hsl({h} 60% 22%)"
        style += f";border-bottom:2px solid hsl({h} 60% 45%)" * (start < last)
        last = max(last, end)
        tip = "" if score is None else f' title="{escape(kind)} {score:.2f}"'
        after = f'<small style="{_TYPE}">{escape(kind)}</small></mark>'
        places.append((start, end, f'<mark style="{style}"{tip}>', after))
    return f'<div dir="auto" style="{_TEXT}">{with_tags(text, places)}</div>'


def with_tags(text: str, places: Iterable[tuple[int, int, str, str]]) -> str:
    """Return a text, which is escaped, with HTML before and after some places, in the order of their starts.

    Where one ends within another that began later, the later one is cut in two there.
    """
    pieces, position = list[str](), 0
    around: list[tuple[int, str, str]] = []  # the places that are open here: their end, and the HTML before and after

    def go_to(place: int) -> None:
        nonlocal position
        while around and (end := min(one[0] for one in around)) <= place:
            pieces.append(escape(text[position:end], quote=False))
            position, cut = end, []
            while end in {one[0] for one in around}:
                one = around.pop()
                pieces.append(one[2] if one[0] == end else "</mark>")
                cut += [one] * (one[0] != end)
            pieces.extend(one[1] for one in reversed(cut))
            around.extend(reversed(cut))
        pieces.append(escape(text[position:place], quote=False))
        position = place

    for start, end, before, after in places:
        if position <= start <= end <= len(text):
            go_to(start)
            pieces.append(before)
            around.append((end, before, after))
    go_to(len(text))
    return "".join(pieces)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table of texts, which are escaped."""

    def row(cells: Sequence[str], tag: str) -> str:
        return "<tr>" + "".join(f'<{tag} style="{_CELL}">{escape(str(one))}</{tag}>' for one in cells) + "</tr>"

    return f"<table><thead>{row(head, 'th')}</thead><tbody>{''.join(row(one, 'td') for one in rows)}</tbody></table>"
