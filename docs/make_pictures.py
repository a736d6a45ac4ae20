"""Draw the pictures of docs/concepts.md, from real fits: made rows for the loop, the garden notes for the projection.

    python docs/make_pictures.py

The pictures are SVG files in docs/images. The loop moves once, for five seconds; a reader who asked for less motion
sees its last round. The shape of a point says what it is, its colour what the round took it for.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from handful import SubspaceKMeans, encoders, examples
from handful.text import Sentence, read

IMAGES = Path(__file__).with_name("images")
COLOURS = ("#8a8f98", "#d55e00", "#0072b2", "#009e73", "#b8559a")  # O, then the types
SHAPES = (
    '<circle id="s0" r="2.6"/>',
    '<path id="s1" d="M0 -5L4.5 3.5H-4.5Z"/>',
    '<rect id="s2" x="-3.5" y="-3.5" width="7" height="7"/>',
    '<path id="s3" d="M0 -5L5 0L0 5L-5 0Z"/>',
    '<path id="s4" d="M-1.5 -5h3v3.5h3.5v3h-3.5v3.5h-3v-3.5h-3.5v-3h3.5z"/>',
)
STYLE = 'font-family="system-ui, sans-serif" font-size="15" fill="#22262b"'

Floats = NDArray[np.float64]
Tags = NDArray[np.intp]


@dataclass(frozen=True)
class Frame:
    """One state of the loop: where each row is, what it was taken for, and what to write above it."""

    title: str
    places: Floats  # (n, 2)
    tags: Tags  # (n,), -1 for none yet


def made_rows() -> tuple[Floats, Tags, Tags]:
    """Return 200 made rows, their labels (-1 for unlabelled) and the truth: three groups in two of eight dimensions."""
    rng = np.random.default_rng(2)
    truth = np.repeat([0, 1, 2], [120, 40, 40])
    centres = np.array([[0, 0], [4.5, 0], [2.2, 4]])
    rows = np.hstack([centres[truth] + 0.7 * rng.normal(size=(200, 2)), 2 * rng.normal(size=(200, 6))])
    rows = rows @ np.linalg.qr(rng.normal(size=(8, 8)))[0]  # so that no column shows them
    labels = np.full(200, -1)
    labels[:6], labels[120:122], labels[160:162] = 0, 1, 2
    return rows, labels, truth


def loop() -> tuple[list[Frame], Tags]:
    """Return the state before the loop and after each of its rounds, and the truth."""
    rows, labels, truth = made_rows()
    frames = [Frame("start: the two widest directions", _along(rows, rows), labels)]
    for most in range(1, 20):
        model = SubspaceKMeans(o_ratio=0.6, o_prototypes=1, max_iter=most).fit(rows, labels)
        right = int((model.tags_ == truth).sum())
        frames.append(Frame(f"round {most}: {right} of 200 right", model.transform(rows), model.tags_))
        if right == len(truth):
            break
    for i, frame in enumerate(frames):  # turned to look like the one before it, which changes no distance
        places = _unit(frame.places)
        if i:
            left, _, right_side = np.linalg.svd(places.T @ frames[i - 1].places)
            places = places @ left @ right_side
        frames[i] = Frame(frame.title, places, frame.tags)
    return frames, truth


def projection() -> tuple[list[Frame], Tags]:
    """Return words that the fits never saw, in the space of the features and in the subspace, and their true tags.

    Both spaces are shown along the directions in which the prototypes of the types found there differ most.
    """
    encoder = encoders.load("handful-en")
    few, text, unseen = (read(path) for path in (examples.SUPPORT, examples.UNLABELLED, examples.HELDOUT))
    types = sorted({span.type for sentence in few for span in sentence.spans})
    labels = np.concatenate([_tags(few, types), np.full(sum(map(len, text)), -1)])
    rows, seen, truth = encoder.encode(unseen), encoder.encode([*few, *text]), _tags(unseen, types)
    frames = []
    for name, subspace in (("features", False), ("subspace", True)):
        model = SubspaceKMeans(o_ratio=0.9, subspace=subspace).fit(seen, labels)
        places, prototypes = model.transform(rows), model.transform(model.prototypes_[model.prototype_tags_ > 0])
        right = int(((model.predict(rows) == truth) & (truth > 0)).sum())
        f1 = 2 * right / (np.count_nonzero(model.predict(rows)) + np.count_nonzero(truth))
        title = f"{name}: {places.shape[1]} dimensions, F1 of words {100 * f1:.1f}"
        frames.append(Frame(title, _unit(_along(places, prototypes)), truth))
    return frames, truth


def _tags(sentences: list[Sentence], types: list[str]) -> Tags:
    tags = []
    for sentence in sentences:
        of_words = np.zeros(len(sentence), np.intp)
        for span in sentence.spans:
            of_words[span.start : span.end] = 1 + types.index(span.type)
        tags.append(of_words)
    return np.concatenate(tags)


def _along(rows: Floats, guides: Floats) -> Floats:
    """Return rows along the two directions in which the guides differ most."""
    centre = guides.mean(axis=0)
    directions = np.linalg.svd(guides - centre, full_matrices=False)[2][:2]
    return np.asarray((rows - centre) @ directions.T, dtype=np.float64)


def _unit(places: Floats) -> Floats:
    """Return places around the origin, within 1."""
    places = places - (places.max(axis=0) + places.min(axis=0)) / 2
    return np.asarray(places / np.abs(places).max())


def draw_loop(frames: list[Frame], truth: Tags, seconds: float = 5) -> str:
    """Return the loop as one picture that moves from frame to frame, once."""
    size, last = 440, len(frames) - 1
    moments = [f"{100 * i / last:.1f}%" for i in range(last + 1)]
    keys = "".join(
        f"{moment}{{transform:translate(var(--x{i}),var(--y{i}));fill:var(--c{i})}}" for i, moment in enumerate(moments)
    )
    titles, shows = [], []
    for i, frame in enumerate(frames):
        begin, end = 100 * (i - 0.5) / last, 100 * (i + 0.5) / last
        here = "" if i == 0 else f"0%,{begin - 0.01:.2f}%{{opacity:0}}"
        gone = "" if i == last else f"{end:.2f}%,100%{{opacity:0}}"
        shows.append(f"@keyframes t{i}{{{here}{max(begin, 0):.2f}%,{min(end - 0.01, 100):.2f}%{{opacity:1}}{gone}}}")
        opacity = 1 if i == last else 0
        titles.append(
            f'<text x="{size / 2}" y="24" text-anchor="middle" opacity="{opacity}"'
            f' style="--show:t{i}" class="title">{frame.title}</text>'
        )
    points = []
    for row, kind in enumerate(truth):
        where = []
        for i, frame in enumerate(frames):
            x, y = size / 2 + 195 * frame.places[row, 0], size / 2 + 18 + 195 * frame.places[row, 1]
            colour = COLOURS[frame.tags[row]] if frame.tags[row] >= 0 else "#fff"
            where.append(f"--x{i}:{x:.0f}px;--y{i}:{y:.0f}px;--c{i}:{colour}")
        points.append(f'<use href="#s{kind}" style="{";".join(where)}"/>')
    style = (
        f"use{{transform:translate(var(--x{last}),var(--y{last}));fill:var(--c{last});"
        "stroke:#555b63;stroke-width:.6}"
        f"@keyframes move{{{keys}}}{''.join(shows)}"
        "@media (prefers-reduced-motion:no-preference){"
        f"use{{animation:move {seconds}s ease-in-out .5s 1 both}}"
        f".title{{animation:var(--show) {seconds}s linear .5s 1 both}}}}"
    )
    words = "The loop, round by round: groups of points that were mixed move apart, and colours settle."
    return _svg(size, size + 30, words, f"<style>{style}</style>{''.join(titles)}{''.join(points)}")


def draw_panels(frames: list[Frame], truth: Tags, words: str, columns: int, size: int = 300) -> str:
    """Return frames beside each other, in rows of so many columns."""
    panels = []
    for i, frame in enumerate(frames):
        left, top = (i % columns) * size, (i // columns) * (size + 30)
        order = np.argsort(truth, kind="stable")  # types over O
        points = []
        for row in order:
            x, y = size / 2 + 0.44 * size * frame.places[row]
            colour = COLOURS[frame.tags[row]] if frame.tags[row] >= 0 else "#fff"
            points.append(f'<use href="#s{truth[row]}" x="{x:.0f}" y="{y:.0f}" fill="{colour}"/>')
        panels.append(
            f'<g transform="translate({left} {top})"><text x="{size / 2}" y="20" text-anchor="middle">{frame.title}'
            f'</text><g transform="translate(0 26)" stroke="#555b63" stroke-width=".5">{"".join(points)}</g></g>'
        )
    n_rows = -(-len(frames) // columns)
    return _svg(columns * size, n_rows * (size + 30) + 4, words, "".join(panels))


def _svg(width: int, height: int, words: str, content: str) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
        f' role="img" {STYLE}><title>{words}</title><defs>{"".join(SHAPES)}</defs>'
        f'<rect width="{width}" height="{height}" rx="6" fill="#fff"/>{content}</svg>\n'
    )


def pictures() -> dict[str, str]:
    """Return each picture by its file name."""
    frames, truth = loop()
    words, kinds = projection()
    rounds = "The same rounds beside each other: the start, and each round until all 200 points are right."
    spaces = "Words of unseen notes in the space of the features and in the subspace, with a shape for each type."
    return {
        "loop.svg": draw_loop(frames, truth),
        "rounds.svg": draw_panels(frames, truth, rounds, columns=3),
        "projection.svg": draw_panels(words, kinds, spaces, columns=2, size=380),
    }


if __name__ == "__main__":
    for name, picture in pictures().items():
        (IMAGES / name).write_text(picture, encoding="utf-8")
