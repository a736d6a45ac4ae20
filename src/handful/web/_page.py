"""Labelled sentences as a page of HTML that stands alone: no script from elsewhere, no font, no picture.

A page is made piece by piece, so that a text larger than memory passes through: `opening`, any number of `marked`
sentences in any HTML, `CLOSING`.
"""

from collections.abc import Sequence
from html import escape

from handful.text._types import Sentence, Span

__all__ = ["CLOSING", "marked", "opening"]

_HUES = (205, 28, 140, 285, 350, 55, 175, 245, 100, 320)  # neighbours are easy to tell apart

_STYLE = """
:root { color-scheme: light dark; --ink: #1d2330; --soft: #5b6475; --paper: #fbfaf7; --card: #ffffff; --line: #e5e2da;
  --back: 88%; --fore: 22%; --edge: 34%; --wrong: #c22f2f; --bar: #3a7fb5; }
@media (prefers-color-scheme: dark) { :root { --ink: #e8e6e1; --soft: #a3abb9; --paper: #16181d; --card: #1e2128;
  --line: #30343d; --back: 22%; --fore: 88%; --edge: 62%; --wrong: #f07c7c; --bar: #6aa9d8; } }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 2.5rem 1.25rem 5rem; max-width: 56rem; background: var(--paper); color: var(--ink);
  font: 1.0625rem/1.8 Charter, "Iowan Old Style", Georgia, serif; counter-reset: text }
h1, h2, header, nav, table, .note, small, .s::before, mark::after { font-family: system-ui, sans-serif }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .4rem } h2 { font-size: 1.15rem; margin: 2.4rem 0 .6rem }
.note { color: var(--soft); font-size: .92rem; line-height: 1.5; margin: 0 0 1rem }
nav { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; gap: .5rem 1rem; align-items: center;
  margin: 1.2rem -0.75rem; padding: .6rem .75rem; background: var(--paper); border-bottom: 1px solid var(--line);
  font-size: .88rem; line-height: 1.5 }
nav label { cursor: pointer; white-space: nowrap } nav .view { color: var(--soft) } nav .first { margin-left: auto }
nav input { vertical-align: -.12em; accent-color: hsl(var(--h, 215) 55% 45%) } nav input[type=range] { width: 6rem }
nav i, nav output { font-style: normal; font-variant-numeric: tabular-nums; color: var(--soft) }
.s { position: relative; margin: 0; padding: .4rem .75rem .4rem 3.1rem; white-space: pre-wrap;
  overflow-wrap: anywhere; border-left: 3px solid transparent; counter-increment: text }
.s::before { content: counter(text); position: absolute; left: 0; width: 2.4rem; text-align: right; font-size: .7rem;
  line-height: 1.9rem; color: var(--soft); user-select: none }
.s:hover { background: var(--card); border-left-color: var(--line) }
body:has(#found:checked) .s:not(:has(mark:not(.low))) { display: none }
mark, nav b { color: hsl(var(--h) 60% var(--fore)); background: hsl(var(--h) 75% var(--back)); border-radius: .3em;
  padding: .1em .3em; box-decoration-break: clone; -webkit-box-decoration-break: clone; font-weight: inherit }
mark { position: relative }
mark small { font-size: .62em; font-weight: 650; letter-spacing: .03em; margin-left: .45em; user-select: none }
mark[data-score]:hover::after { content: attr(data-tip); position: absolute; left: 0; bottom: calc(100% + .2rem);
  z-index: 1; padding: .1rem .5rem; border-radius: .3rem; background: var(--ink); color: var(--paper);
  font-size: .78rem; line-height: 1.5; white-space: nowrap; pointer-events: none }
mark.wrong { outline: 2px dashed var(--wrong); outline-offset: 1px } mark.missed { background: none; color: inherit;
  border: 2px dotted hsl(var(--h) 60% var(--edge)) } mark.missed small::before { content: "missed: " }
mark.low { background: none; color: inherit; padding: 0; outline: none }
mark.low small, mark.low::after { display: none }
table { border-collapse: collapse; font-size: .92rem; font-variant-numeric: tabular-nums; margin: .6rem 0 1rem }
th, td { padding: .32rem .9rem .32rem 0; text-align: right; border-bottom: 1px solid var(--line) }
th:first-child, td:first-child, td:last-child { text-align: left } th { color: var(--soft); font-weight: 550 }
td .bar { display: inline-block; height: .62em; border-radius: 2px; background: var(--bar) }
@media (max-width: 40rem) { .s { padding-left: .75rem } .s::before { display: none } nav .first { margin-left: 0 } }
@media print { nav { position: static } nav .view { display: none } }
"""

CLOSING = """
<script>
const marks = [...document.querySelectorAll("mark[data-score]")], least = document.querySelector("#least");
const boxes = [...document.querySelectorAll("nav input[data-type]")];
const show = () => { const off = new Set(boxes.filter(box => !box.checked).map(box => box.dataset.type)), shown = {};
  least.nextElementSibling.textContent = (+least.value).toFixed(2);
  for (const m of marks) { const kind = m.classList[0], low = +m.dataset.score < +least.value;
    m.classList.toggle("low", low || off.has(kind)); shown[kind] = (shown[kind] || 0) + !low; }
  for (const box of boxes) box.parentElement.querySelector("i").textContent = shown[box.dataset.type] || 0; };
document.querySelector("nav").addEventListener("input", show); show();
</script>
</body>
</html>
"""


def opening(title: str, types: Sequence[str], note: str = "") -> str:
    """Return a page's beginning: its style, its title, and a legend that hides types and low scores.

    Parameters
    ----------
    title, note : str
        Plain text.
    types : sequence of str
        In an order that `marked` is given again.
    """
    hues = "\n".join(f".t{i} {{ --h: {_hue(i)} }}" for i in range(len(types)))
    boxes = "\n".join(
        f'<label class="t{i}"><input type="checkbox" checked data-type="t{i}"> <b>{escape(label)}</b> <i></i></label>'
        for i, label in enumerate(types)
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}{hues}\n</style>\n</head>\n<body>\n"
        f"<header><h1>{escape(title)}</h1>"
        + (f'<p class="note">{escape(note)}</p>' if note else "")
        + f"</header>\n<nav>{boxes}\n"
        '<label class="view first"><input id="found" type="checkbox"> only with mentions</label>\n'
        '<label class="view">score at least <input id="least" type="range" min="0" max="1" step="0.01" value="0"> '
        "<output>0.00</output></label></nav>\n"
    )


def marked(
    sentence: Sentence,
    types: Sequence[str],
    scores: Sequence[float] | None = None,
    gold: Sentence | None = None,
) -> str:
    """Return a sentence as a paragraph with its mentions marked.

    Parameters
    ----------
    sentence : Sentence
    types : sequence of str
        Those that `opening` was given.
    scores : sequence of float, or None
        The score of each span.
    gold : Sentence or None
        The same words with the right mentions: wrong ones are then outlined, and missed ones dotted where no
        predicted one stands.
    """
    sentence = sentence.with_text()
    text, offsets = sentence.text or "", sentence.offsets or ()
    spans = sentence.spans or ()
    right = set(spans if gold is None else gold.spans or ())
    found = dict(zip(spans, scores or [1.0] * len(spans), strict=True))
    pieces, position = [], 0
    for span in sorted([*spans, *_missed(spans, right)], key=lambda span: span.start):
        start, end = offsets[span.start][0], offsets[span.end - 1][1]
        pieces.append(escape(text[position:start], quote=False))
        kind = f"t{types.index(span.type)}" if span.type in types else "t"
        if span not in found:
            kind, figure = f"{kind} missed", ""
        else:
            kind += "" if span in right else " wrong"
            figure = f' data-score="{found[span]:.4f}" data-tip="{escape(span.type)} {found[span]:.2f}"'
        shown = escape(text[start:end], quote=False)
        pieces.append(f'<mark class="{kind}"{figure}>{shown}<small>{escape(span.type)}</small></mark>')
        position = end
    pieces.append(escape(text[position:], quote=False))
    return f'<p class="s">{"".join(pieces)}</p>\n'


def _missed(spans: Sequence[Span], right: set[Span]) -> list[Span]:
    return [gold for gold in right if all(gold.end <= span.start or span.end <= gold.start for span in spans)]


def _hue(i: int) -> int:
    return _HUES[i] if i < len(_HUES) else int(i * 137.508) % 360  # the golden angle never comes back
