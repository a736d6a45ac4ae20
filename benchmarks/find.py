"""Precision and recall by how much there is to find (`find`), and the borders of what is found.

    python benchmarks/find.py corpora/mosaic/dev DATA/wnut17/dev.txt DATA/ncbi_disease/dev.txt

A target is a labelled file that describes its types or has a types.txt beside it, or a folder of such files, whose
counts are summed. Every second sentence is scored on; the others are there to be labelled. Only files to develop on are
meant, no test files. For each setting there are precision, recall and F1 of mentions (strict), recall where words in
common are enough, and the share of the mentions found that begin or end with a word such as "the", "in" or "of".

Beside it, `O` is the plain way: the logit of O is shifted by as many points, and the best tags are taken as they are.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np

from handful import Tagger
from handful.encoders import CachedEncoder, load
from handful.evaluate import score
from handful.tagger.decoding import decode
from handful.text import read, read_types

SETTINGS = (0.1, 0.2, 1 / 3, 0.5, 1.0, 2.0, 3.0, 5.0, 10.0)
MOST_WORDS = 16_000
SMALL = {"a", "an", "and", "at", "by", "for", "from", "in", "is", "of", "on", "or", "the", "to", "with", ",", "."}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="+", type=Path)
    parser.add_argument("--sentences", type=int, nargs="+", default=[0, 8], help="labelled ones, each with a mention")
    options = parser.parse_args()
    encoder = CachedEncoder(load("handful-en"))
    for target in options.targets:
        files = sorted(target.glob("*.txt")) if target.is_dir() else [target]
        parts = [read_target(file) for file in files]
        for n in options.sentences:
            fitted = [fit(encoder, *part, n) for part in parts]
            print(f"\n{target}, {n} labelled sentences")
            print(f"{'find':>6}" + 2 * f"{'P':>8}{'R':>7}{'F1':>7}{'R touch':>9}{'small':>7}" + "  (O shifted)")
            for find in SETTINGS:
                ways = (sums([way(*one, find) for one in fitted]) for way in (by_mention, by_o))
                print(f"{find:6.2g}" + "".join(ways), flush=True)


def fit(encoder, pool, scored, types, n):
    """Return a model, and the scored sentences with the logits of their words."""
    some = [sentence for sentence in pool if sentence.spans]
    Random(0).shuffle(some)
    tagger = Tagger(types, encoder=encoder, cache=False).fit(some[:n] or None, progress=False)
    features = encoder.encode(scored, progress=False)
    logits = tagger.model_.logits(features, scored)
    return tagger.model_, scored, features, logits, encoder.unreadable(scored)


def by_mention(model, gold, features, logits, lost, find):
    model = replace(model, find=find)
    tags = model.path(logits, [len(one.words) for one in gold])
    return found(model, gold, features, logits, lost, model.bordered(tags, np.zeros_like(logits), gold))


def by_o(model, gold, features, logits, lost, find):
    shifted = logits.copy()
    shifted[:, 0] -= model.calibration.points(find)
    return found(model, gold, features, logits, lost, model.path(shifted, [len(one.words) for one in gold]))


def found(model, gold, features, logits, lost, tags):
    """Return the gold sentences and those with what is found."""
    n_words = [len(one.words) for one in gold]
    tags[lost] = 0
    begins = None if model.seams is None else model.seams.begins(features, tags, n_words)
    spans = decode(np.zeros_like(logits), n_words, model.tags[1:], tags, begins)
    return gold, [replace(one, spans=some) for one, some in zip(gold, spans, strict=True)]


def sums(pairs):
    """Return the figures over all files as a piece of a line."""
    counts = np.zeros(5)
    for gold, predicted in pairs:
        strict, touching = (score(gold, predicted, mode).micro for mode in ("strict", "type"))
        ends = [
            {sentence.words[span.start].lower(), sentence.words[span.end - 1].lower()}
            for sentence in predicted
            for span in sentence.spans
        ]
        small = sum(bool(words & SMALL) for words in ends)
        counts += strict.n_correct, strict.n_predicted, strict.n_gold, touching.n_correct, small
    right, n_found, n_gold, touching, small = counts
    shares = (right / n_found, right / n_gold, 2 * right / (n_found + n_gold), touching / n_gold, small / n_found)
    return "".join(f"{100 * share:{width}.1f}" for share, width in zip(shares, (8, 7, 7, 9, 7), strict=True))


def read_target(file):
    corpus = read(file)
    beside = file.parent / "types.txt"
    types = read_types(beside) if beside.is_file() else corpus.types
    n = np.searchsorted(np.cumsum([len(sentence.words) for sentence in corpus]), MOST_WORDS)
    sentences = [replace(one, judged=None) for one in corpus[:n]]
    return sentences[::2], sentences[1::2], types


if __name__ == "__main__":
    main()
