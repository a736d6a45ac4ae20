"""Teach an encoder where a mention begins right behind another of its type: ``border`` of its names.safetensors.

    python benchmarks/names/borders.py src/handful/encoders/en corpora/mosaic_neighbours corpora/mosaic [FILE ...]

`handful pretrain` learns the same with the encoder itself; this is for one that is trained. A logistic regression on
its vectors tells pairs of words of one type that are in two mentions from those that are in one. It learns from

- the train files of the first folder;
- rows of mentions that are made from those of the second folder: of each file at most seven sentences, in which a
  mention of a type is followed by one to three others of that type, or in which two to five stand alone or between
  pieces of a sentence without mentions;
- sentences of that folder with mentions of several words, at most seven of a file, as they are;
- such sentences of each FILE, at most 400, as they are, and they count twice.

The table has, for some penalties, how many borders of the dev files are kept, and how often a mention is cut that
should not be. The penalty in bold is written; it was chosen by this table.
"""

import argparse
import random
from itertools import chain
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from handful.encoders import load
from handful.encoders.names import NAMES_FILE, NameHead
from handful.text import Sentence, Span, read

CHOSEN, TRIED = 0.001, (0.0003, 0.001, 0.003, 0.01)
MADE, MOST_OF_DEV, MOST_OF_FILE = 7, 10, 400


def long_ones(path, most, rng):
    """Return sentences that have a mention of several words, at most so many."""
    found = [one for one in read(path) if any(span.end - span.start > 1 for span in one.spans or ())]
    return rng.sample(found, min(most, len(found)))


def sentence_of(pieces):
    """Return a sentence of pieces, each with its words and its type, or None."""
    words, spans = [], []
    for some, type in pieces:
        spans += [] if type is None else [Span(len(words), len(words) + len(some), type)]
        words += some
    return Sentence(tuple(words), tuple(spans))


def rows_of(path, rng):
    """Return sentences in which mentions of a small corpus stand side by side."""
    sentences, by_type = list(read(path)), {}
    for one in sentences:
        for span in one.spans:
            by_type.setdefault(span.type, {})[one.words[span.start : span.end]] = None
    by_type = {type: sorted(some) for type, some in by_type.items() if len(some) >= 4}
    plain = [one.words for one in sentences if not one.spans and len(one.words) < 12]

    def some(type, n):
        return [(words, type) for words in rng.sample(by_type[type], min(n, len(by_type[type])))]

    def part(is_first):
        words = rng.choice(plain) if plain and rng.random() < 0.6 else ()
        n = rng.randint(1, min(5, len(words))) if words else 0
        return [(words[:n] if is_first else words[len(words) - n :], None)]

    made = [sentence_of([*part(True), *some(type, rng.choice((2, 3, 3, 4, 5))), *part(False)]) for type in by_type]
    longer = [one for one in sentences if any(span.type in by_type for span in one.spans)]
    for one in rng.sample(longer, min(4, len(longer))):
        chosen = rng.choice([span for span in one.spans if span.type in by_type])
        pieces, at = [], 0
        for span in one.spans:
            pieces += [(one.words[at : span.start], None), (one.words[span.start : span.end], span.type)]
            pieces += some(span.type, rng.choice((1, 2, 3))) if span is chosen else []
            at = span.end
        made.append(sentence_of([*pieces, (one.words[at:], None)]))
    rng.shuffle(made)
    return made[:MADE]


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
    parser.add_argument("files", metavar="FILE", nargs="*", type=Path)
    parser.add_argument("--write", action="store_true", help="write it into the folder of the encoder")
    given = parser.parse_args()
    encoder, rng = load(given.encoder), random.Random(0)

    def files(folder):
        return sorted(folder.glob("*.txt"))

    sources = (
        (1, chain.from_iterable(map(read, files(given.neighbours / "train")))),
        (1, chain.from_iterable(rows_of(path, rng) for path in files(given.others / "train"))),
        (1, chain.from_iterable(long_ones(path, MADE, rng) for path in files(given.others / "train"))),
        (2, chain.from_iterable(long_ones(path, MOST_OF_FILE, rng) for path in given.files)),
    )
    parts = [(weight, *pairs(encoder, found)) for weight, some in sources if (found := list(some))]
    x, y = (np.concatenate([one[i] for one in parts]) for i in (1, 2))
    weights = np.concatenate([np.full(len(one[2]), one[0]) for one in parts])
    dev = [
        pairs(encoder, chain.from_iterable(map(read, files(given.neighbours / "dev")))),
        pairs(encoder, chain.from_iterable(long_ones(path, MOST_OF_DEV, rng) for path in files(given.others / "dev"))),
    ]
    scale = x.std(axis=0) + 1e-6
    print(f"{len(y)} pairs to learn from, {y.sum()} of them borders; {np.average(y, weights=weights):.3f} by weight")
    print("| penalty | borders kept | false among neighbours | false elsewhere |\n|---|---|---|---|")
    for strength in TRIED:
        fitted = LogisticRegression(C=strength, max_iter=1000).fit(x / scale, y, sample_weight=weights)
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
