"""How long one more label takes: `Tagger.add` beside the fit itself.

    python benchmarks/refit.py [--words 20000] [--dim 768] [--types 6]

Text and features are made up, as if by an encoder with `dim` numbers per word. "besides" is the time of `add` minus the
time of the clustering on the same data: it covers reading the label, laying out constraints, the regression on the
labels, and the summary.
"""

import argparse
import statistics
import time
import zlib

import numpy as np

from handful import Sentence, Span, Tagger
from handful.cluster import SubspaceKMeans


class MadeEncoder:
    """Features that depend on the word alone."""

    fingerprint = "made"

    def __init__(self, dim):
        self.dim = dim

    def encode(self, sentences, *, out=None, progress=None):
        """Return one vector per word; words of different types, which are in their names, lie apart."""
        words = [word for sentence in sentences for word in sentence.words]
        kinds = np.array([int(word.split("_")[0]) for word in words])
        seeds = np.array([zlib.crc32(word.encode()) for word in words])
        rng = np.random.default_rng(seeds)
        vectors = rng.standard_normal((len(words), self.dim), np.float32)
        vectors[np.arange(len(words)), kinds] += 6
        return vectors


def made_sentences(n_words, n_types, rng, length=20):
    for i in range(n_words // length):
        kinds = np.where(rng.random(length) < 0.05, rng.integers(1, n_types + 1, length), 0)
        words = tuple(f"{kind}_{i}_{j}" for j, kind in enumerate(kinds))
        spans = tuple(Span(j, j + 1, f"TYPE{kind}") for j, kind in enumerate(kinds) if kind)
        yield Sentence(words, spans)


def seconds(run):
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--dim", type=int, default=768)
    parser.add_argument("--types", type=int, default=6)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    sentences = list(made_sentences(options.words, options.types, np.random.default_rng(0)))
    tagger = Tagger(MadeEncoder(options.dim), o_ratio=0.95, cache=False).fit(sentences[:30], sentences)
    clusters = SubspaceKMeans(0.95)
    adds, fits = [], []
    for label in sentences[30 : 30 + options.repeats]:
        adds.append(seconds(lambda label=label: tagger.add([label])))
        labels = tagger._text.labelled_words([one.name for one in tagger.types_]).labels()
        fits.append(seconds(lambda labels=labels: clusters.fit(tagger._text.features, labels)))
    add, fit = statistics.median(adds), statistics.median(fits)
    besides = statistics.median([a - f for a, f in zip(adds, fits, strict=True)])
    print(f"{options.words:,} words of {options.dim} numbers, {len(tagger.types_)} types; median of {options.repeats}")
    print(f"add one label   {add:.3f} s\nthe fit alone   {fit:.3f} s\nbesides         {besides:.3f} s")


if __name__ == "__main__":
    main()
