"""Mentions inside others: strict F1 of all mentions, with `Tagger(overlap=True)` and with one tag a word.

    python benchmarks/nested.py NESTED/litbank NESTED/gum [--on dev] [--labels 0,5] [--sets 3] [--sentences 500]

NESTED/NAME is a folder with dev and test files in a format that holds mentions that share words (dev.json), and with
types.txt; or it is a folder of such folders, and the mean of them counts. Supports come from every other sentence; the
others are scored, with all their mentions, at all levels. The tagger with one tag a word learns the outermost of the
same labels. Seconds are those of fit and prediction, without the encoder's: its features are in a cache that is thrown
away.
"""

import argparse
import os
import tempfile
import time
from pathlib import Path

import numpy as np

from handful import Tagger
from handful.encoders import load
from handful.evaluate import evaluate, sample_support
from handful.text import flattened, read, read_types


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path)
    parser.add_argument("--encoder", default="handful-en")
    parser.add_argument("--on", default="test")
    parser.add_argument("--labels", default="0,5", help="of each type")
    parser.add_argument("--sets", type=int, default=3, help="how many supports")
    parser.add_argument("--sentences", type=int, help="at most so many of a corpus are scored")
    options = parser.parse_args()
    print("| | labels | mentions | inside others | one tag a word | overlap | those inside | seconds | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    encoder = load(options.encoder)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HANDFUL_CACHE"] = folder
        for path in options.paths:
            for n in map(int, options.labels.split(",")):
                folders = (
                    [path] if (path / "types.txt").is_file() else sorted(one for one in path.iterdir() if one.is_dir())
                )
                seeds = range(options.sets if n else 1)
                rows = [measured(encoder, one, n, seed, options) for one in folders for seed in seeds]
                flat, nested, inside = (f"{100 * np.mean([row[i] for row in rows]):.1f}" for i in (0, 1, 2))
                seconds = (f"{np.mean([row[i] for row in rows]):.1f}" for i in (3, 4))
                counts = " | ".join(f"{sum(row[i] for row in rows[:: len(seeds)]):,}" for i in (5, 6))
                print(
                    f"| {path.name} | {n} | {counts} | {flat} | {nested} | {inside} | {' | '.join(seconds)} |",
                    flush=True,
                )


def measured(encoder, path, n_labels, seed, options):
    """Return F1 with one tag a word, with overlaps, and of mentions inside others; the seconds of both, and counts."""
    (file,) = path.glob(f"{options.on}.*")
    sentences, types, support = list(read(file)), read_types(path / "types.txt"), []
    if n_labels:
        support, sentences = sample_support(sentences[::2], n_labels, seed, fewer=True)[0], sentences[1::2]
    sentences = sentences[: options.sentences]
    blank, found, seconds = [one.without_labels() for one in sentences], [], []
    tagger = Tagger(types, encoder=encoder, overlap=True, cache="all")
    tagger.fit(support).predict_sentences(blank)  # features are in the cache from now on
    for overlap in (False, True):
        start = time.perf_counter()
        tagger = Tagger(types, encoder=encoder, overlap=overlap)
        tagger.fit(support if overlap else [flattened(one) for one in support])
        found.append(evaluate(sentences, tagger.predict_sentences(blank), types=tagger.types_))
        seconds.append(time.perf_counter() - start)
    flat, nested = found
    inside = nested.levels[1:]
    right, n_gold, n_found = (
        sum(getattr(one, f"n_{name}") for one in inside) for name in ("correct", "gold", "predicted")
    )
    f1 = 2 * right / (n_gold + n_found) if inside else 0.0
    return flat.f1, nested.f1, f1, *seconds, nested.strict.micro.n_gold, n_gold


if __name__ == "__main__":
    main()
