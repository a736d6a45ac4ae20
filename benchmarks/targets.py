"""Few-shot F1 on target corpora: Proto, NNShot and our method on the same features.

    python benchmarks/targets.py FOLDER... [--on test] [--encoder handful-en]

A FOLDER holds train.txt, dev.txt and test.txt (dev may be missing) and, where they are given, supports/1shot and
supports/5shot. On test: ten supports a target, those given, else sampled from dev (train where there is none) with
seed 0; unlabelled text is train and dev; the score is strict span F1 on test. On dev, for choosing: the dev file
(train where there is none) is cut into two halves by a hash of each sentence's words; supports come from one half and
are scored on the other; the first half and train are the unlabelled text, at most --most-words of train. The ratio is
the O share of the split that supports come from, rounded down to a multiple of 0.05, unless --ratio says otherwise.
"""

import argparse
import hashlib
import math
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

from handful.cluster import SubspaceKMeans
from handful.encoders import load
from handful.text import Sentence, Span, describe, read, sample_support, score, types_of

SHOTS = (1, 5)
METHODS = ("Proto", "NNShot", "ours")


def half(sentence):
    """Return 0 or 1 by a hash of the words alone."""
    return hashlib.sha256("\x1f".join(sentence.words).encode()).digest()[0] % 2


def at_most(sentences, n_words):
    """Return the first sentences that together have at most so many words."""
    kept = []
    for sentence in sentences:
        n_words -= len(sentence.words)
        if n_words < 0:
            break
        kept.append(sentence)
    return kept


def task(folder, on, most_words, n_supports):
    """Return the sentences to sample from, other unlabelled ones, those to score on, and supports by shots."""
    train, dev = read(folder / "train.txt"), read(folder / "dev.txt") if (folder / "dev.txt").exists() else None
    pool, other = (train, []) if dev is None else (dev, list(train))
    if on == "test":
        scored = read(folder / "test.txt")
    else:
        pool, scored = [s for s in pool if half(s) == 0], [s for s in pool if half(s) == 1]
        other = at_most(other, most_words)
    supports = {}
    for shots in SHOTS:
        given = sorted((folder / "supports" / f"{shots}shot").glob("*.txt")) if on == "test" else []
        if given:
            supports[shots] = [read(path) for path in given][:n_supports]
        elif on == "test" or min(describe(pool).mentions.values()) >= shots:
            supports[shots] = sample_support(pool, shots, seed=0, sets=n_supports)
        else:
            supports[shots] = []  # half of a dev file may hold too few mentions of a rare type: shown as -
    return list(pool), other, list(scored), supports


def tag_ids(sentence, types):
    """Return the IO tag of each word: 0 is O."""
    ids = [0] * len(sentence.words)
    for span in sentence.spans:
        ids[span.start : span.end] = [types.index(span.label) + 1] * (span.end - span.start)
    return ids


def as_spans(sentence, tags, types):
    """Return the sentence with each run of one type as a mention."""
    spans, start = [], 0
    for end in range(1, len(tags) + 1):
        if end == len(tags) or tags[end] != tags[start]:
            if tags[start]:
                spans.append(Span(start, end, types[tags[start] - 1]))
            start = end
    return Sentence(sentence.words, tuple(spans))


def predictions(X, y, X_scored, ratio):
    """Yield (method, tags) from features X with labels y, -1 where unlabelled."""
    known = y >= 0
    S, labels = X[known], y[known]
    means = np.stack([S[labels == t].mean(axis=0) for t in range(labels.max() + 1)])
    yield "Proto", _nearest(X_scored, means)
    yield "NNShot", labels[_nearest(X_scored, S)]
    yield "ours", SubspaceKMeans(ratio).fit(X, y).predict(X_scored)


def _nearest(X, C):
    squares = (C**2).sum(axis=1)
    return np.concatenate([(squares - 2 * X[i : i + 8192] @ C.T).argmin(axis=1) for i in range(0, len(X), 8192)])


def run(folder, encoder, *, on, most_words, n_supports, ratio):
    """Return F1 by (shots, method), one value a support, and the ratio used."""
    pool, other, scored, supports = task(folder, on, most_words, n_supports)
    types = types_of(pool)
    if ratio is None:
        n_words = sum(len(s.words) for s in pool)
        n_entity = sum(span.end - span.start for s in pool for span in s.spans)
        ratio = math.floor(20 * (1 - n_entity / n_words) + 1e-9) / 20
    unlabelled = pool + other
    X, X_scored = encoder.encode(unlabelled), encoder.encode(scored)
    starts = np.cumsum([0] + [len(s.words) for s in unlabelled])
    places = {}
    for place, sentence in enumerate(unlabelled):
        places.setdefault(sentence.words, []).append(place)
    results = {}
    for shots, sets in supports.items():
        for support in sets:
            labels_of = {}
            for sentence in support:
                if labels_of.setdefault(sentence.words, sentence.spans) != sentence.spans:
                    words = " ".join(sentence.words)
                    print(f"{folder.name}: a {shots}-shot support labels {words!r} in two ways; the last counts")
            y = np.full(len(X), -1)
            added = [s for s in support if s.words not in places]  # not found in the unlabelled text
            for sentence in support:
                for place in places.get(sentence.words, ()):
                    y[starts[place] : starts[place + 1]] = tag_ids(sentence, types)
            features, labels = X, y
            if added:
                features = np.concatenate([X, encoder.encode(added)])
                labels = np.concatenate([y, *[tag_ids(s, types) for s in added]])
            for method, tags in predictions(features, labels, X_scored, ratio):
                ends = np.cumsum([len(s.words) for s in scored])[:-1]
                found = [as_spans(s, t.tolist(), types) for s, t in zip(scored, np.split(tags, ends), strict=True)]
                results.setdefault((shots, method), []).append(100 * score(scored, found).micro.f1)
    return results, ratio


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--encoder", default="handful-en")
    parser.add_argument("--layers", type=int, nargs="+", default=[-1])
    parser.add_argument("--on", choices=("dev", "test"), default="dev")
    parser.add_argument("--supports", type=int, default=10)
    parser.add_argument("--most-words", type=int, default=30_000)
    parser.add_argument("--ratio", nargs="*", default=[], metavar="NAME=RATIO", help="for example wnut17=0.95")
    options = parser.parse_args()
    ratios = {name: float(value) for name, value in (entry.split("=") for entry in options.ratio)}
    encoder = load(options.encoder, layers=options.layers)
    console = Console(width=120)
    table = Table(
        "target", "ratio", *[f"{method} {shots}" for shots in SHOTS for method in METHODS], "seconds",
        title=f"{options.encoder}, layers {options.layers}: strict F1 on {options.on}, {options.supports} supports",
    )  # fmt: skip
    totals = {}
    for folder in options.folders:
        start = time.perf_counter()
        results, ratio = run(
            folder, encoder, on=options.on, most_words=options.most_words, n_supports=options.supports,
            ratio=ratios.get(folder.name),
        )  # fmt: skip
        cells = [results.get((s, m)) for s in SHOTS for m in METHODS]
        row = [f"{np.mean(cell):.1f} ±{np.std(cell):.1f}" if cell else "-" for cell in cells]
        table.add_row(folder.name, f"{ratio:.2f}", *row, f"{time.perf_counter() - start:.0f}")
        console.print(table.title, folder.name, *row)
        for key, values in results.items():
            totals.setdefault(key, []).append(np.mean(values))
    table.add_row("mean", "", *[f"{np.mean(totals[s, m]):.1f}" for s in SHOTS for m in METHODS], "")
    console.print(table)


if __name__ == "__main__":
    main()
