"""Teach an encoder where a mention begins right behind another of its type: ``border`` of its names.safetensors.

    python benchmarks/names/borders.py src/handful/encoders/en corpora/mosaic_neighbours corpora/mosaic [--write]

`handful pretrain` learns the same with the encoder itself; this is for one that is trained. A logistic regression on
its vectors tells pairs of words of one type that are in two mentions from those that are in one. It learns from the
train files of the first folder, and from sentences with long mentions of those of the second, at most ten of each
file. The table has, for some penalties, how many borders of the dev files are kept, and how often a mention is cut that
should not be. The penalty in bold is written; it was chosen by this table.
"""

import argparse
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from handful.encoders import load
from handful.encoders.names import NAMES_FILE, NameHead
from handful.text import read

CHOSEN, TRIED, MOST = 0.01, (0.001, 0.003, 0.01, 0.03, 0.1), 10


def sentences(folder, only_long):
    for path in sorted(folder.glob("*.txt")):
        found = [one for one in read(path) if not only_long or any(span.end - span.start > 1 for span in one.spans)]
        yield from found[:MOST] if only_long else found


def pairs(encoder, some):
    """Return the vectors of neighbours of one type, (n, 2 dim), and whether a mention begins at the second."""
    some = list(some)
    vectors = np.split(encoder.encode(some), np.cumsum([len(one.words) for one in some])[:-1])
    rows, begins = [], []
    for sentence, x in zip(some, vectors, strict=True):
        inside = {i: span for span in sentence.spans for i in range(span.start, span.end)}
        for i in sorted(inside):
            if i - 1 in inside and inside[i - 1].type == inside[i].type:
                rows.append(np.concatenate(x[i - 1 : i + 1]))
                begins.append(inside[i].start == i)
    return np.array(rows, np.float32), np.array(begins)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder", type=Path)
    parser.add_argument("neighbours", type=Path)
    parser.add_argument("others", type=Path)
    parser.add_argument("--write", action="store_true", help="write it into the folder of the encoder")
    given = parser.parse_args()
    encoder = load(given.encoder)
    near, plain = (
        pairs(encoder, sentences(one / "train", one == given.others)) for one in (given.neighbours, given.others)
    )
    x, y = np.concatenate([near[0], plain[0]]), np.concatenate([near[1], plain[1]])
    dev = [pairs(encoder, sentences(one / "dev", one == given.others)) for one in (given.neighbours, given.others)]
    scale = x.std(axis=0) + 1e-6
    print(f"{len(y)} pairs to learn from, {y.sum()} of them borders")
    print("| penalty | borders kept | false among neighbours | false elsewhere |\n|---|---|---|---|")
    for strength in TRIED:
        fitted = LogisticRegression(C=strength, max_iter=1000).fit(x / scale, y)
        border = np.concatenate([fitted.coef_[0] / scale, fitted.intercept_]).astype(np.float32)
        found = [(some @ border[:-1] + border[-1] > 0, begins) for some, begins in dev]
        (near_found, near_is), (other_found, other_is) = found
        kept, wrong = (100 * near_found[near_is == one].mean() for one in (True, False))
        row = f"| {kept:.1f} | {wrong:.1f} | {100 * other_found[~other_is].mean():.2f} |"
        print(f"| **1 / {strength:g}** {row}" if strength == CHOSEN else f"| 1 / {strength:g} {row}")
        if strength == CHOSEN and given.write:
            path = given.encoder / NAMES_FILE
            head = NameHead.load(path)
            parts = {name: getattr(head, name) for name in ("weight", "bias", "o_prototypes", "beta", "exclusion")}
            NameHead(**parts, border=border).save(path, "float16")


if __name__ == "__main__":
    main()
