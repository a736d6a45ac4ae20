"""How long it takes to look up a whole corpus in the cache, compared with reading the same bytes from one file.

    python benchmarks/cache.py --sentences 20000 --words 250000 --dim 768

Times are medians of several runs, each from a warm page cache into fresh memory: ``np.load`` of one .npy file with
the same features; the cache when it is opened anew (it reads the index and verifies checksums); the same cache again,
as in a refit; and again with the sentences in another order. Then come one sentence by itself, and the first encoding.
"""

import argparse
import statistics
import tempfile
import time
from pathlib import Path

import numpy as np

from handful.encoders import Encoder
from handful.encoders.cache import CachedEncoder, FeatureCache


class MadeEncoder(Encoder):
    """Draws random rows as fast as it can, so that most of the time is that of the cache."""

    fingerprint = "made"

    def __init__(self, dim):
        self.dim = dim

    def encode(self, sentences, *, progress=None):
        """Return one row per word."""
        n_words = sum(len(sentence) for sentence in sentences)
        return np.random.default_rng(n_words).random((n_words, self.dim), np.float32)


def timed(function, repeats):
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        function()
        times.append(time.perf_counter() - begin)
    return statistics.median(times)


def corpus(n_sentences, n_words):
    """Return sentences of varied length, all different, `n_words` words in all."""
    cuts = np.sort(np.random.default_rng(0).choice(np.arange(1, n_words), n_sentences - 1, replace=False))
    words = [f"word{i * 7919 % 30011}" for i in range(n_words)]
    return [(*words[a:b], f"s{a}") for a, b in zip([0, *cuts], [*cuts, n_words], strict=True)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sentences", type=int, default=20_000)
    parser.add_argument("--words", type=int, default=250_000)
    parser.add_argument("--dim", type=int, default=768)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--folder", help="where to make the cache (default: a temporary folder)")
    options = parser.parse_args()

    sentences = corpus(options.sentences, options.words - options.sentences)
    encoder = MadeEncoder(options.dim)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        cache = FeatureCache(Path(folder) / "features", limit="1 TB")
        plain = timed(lambda: encoder.encode(sentences), 1)
        first = timed(lambda: CachedEncoder(encoder, cache).encode(sentences), 1)

        warm = CachedEncoder(encoder, cache)
        features = warm.encode(sentences)
        size = features.nbytes
        np.save(Path(folder) / "bare.npy", features)
        del features
        bare = timed(lambda: np.load(Path(folder) / "bare.npy"), options.repeats)
        cold = timed(lambda: CachedEncoder(encoder, cache).encode(sentences), options.repeats)
        again = timed(lambda: warm.encode(sentences), options.repeats)
        shuffled = [sentences[i] for i in np.random.default_rng(1).permutation(len(sentences))]
        mixed = timed(lambda: warm.encode(shuffled), options.repeats)
        one = timed(lambda: warm.encode(sentences[777:778]), 200)

    print(f"{options.sentences:,} sentences, {options.words:,} words, dim {options.dim}: {size / 1e6:,.0f} MB")
    print(f"{'what':<42}{'seconds':>9}{'GB/s':>7}{'ratio':>7}")
    rows = [
        ("np.load of one .npy file", bare),
        ("cache, opened anew, checksums verified", cold),
        ("cache, again", again),
        ("cache, again, sentences in another order", mixed),
    ]
    for name, seconds in rows:
        print(f"{name:<42}{seconds:>9.3f}{size / seconds / 1e9:>7.2f}{seconds / bare:>7.2f}")
    print(f"one sentence: {one * 1e6:.0f} microseconds")
    print(f"first encoding: {first:.2f} s with the cache, {plain:.2f} s without")


if __name__ == "__main__":
    main()
