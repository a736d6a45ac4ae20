"""Whether more labels hurt: F1 as supports are added one after the other, over ten orders of them.

    python benchmarks/more_labels.py DATA/wnut17 DATA/btc DATA/ncbi_disease corpora/mosaic/dev/ship_log.txt

A target is a folder with dev.txt (train.txt if there is none) and perhaps types.txt, or one labelled file that
describes its types. Types that are not described are read by their names. Every second sentence is scored on. From the
others some supports of one mention of each type are drawn, and are added in ten orders. The table has the mean F1 over
orders after each support, and in how many orders the last is above the first, and above no label at all.
"""

import argparse
import random
from pathlib import Path

import numpy as np

from handful import Tagger
from handful.encoders import CachedEncoder, load
from handful.evaluate import sample_support, score
from handful.text import read, read_types, types_in, types_of

ORDERS, MOST_WORDS = 10, 6_000


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="+", type=Path)
    parser.add_argument("--supports", type=int, default=5)
    parser.add_argument("--shots", type=int, default=1)
    options = parser.parse_args()
    encoder = CachedEncoder(load("handful-en"))
    print(f"{'supports':22}" + "".join(f"{n:8}" for n in range(options.supports + 1)) + "   above first, above none")
    for target in options.targets:
        pool, scored, types = read_target(target)
        supports = sample_support(pool, options.shots, 0, sets=options.supports, fewer=True)

        def f1(chosen, types=types, scored=scored):
            labelled = [sentence for support in chosen for sentence in support] or None
            tagger = Tagger(types, encoder=encoder, cache=False).fit(labelled, progress=False)
            return 100 * score(scored, tagger.predict_sentences(scored, progress=False)).micro.f1

        none = f1([])
        rows = []
        for order in range(ORDERS):
            shuffled = random.Random(order).sample(supports, len(supports))
            rows.append([none, *(f1(shuffled[: n + 1]) for n in range(len(shuffled)))])
        means = np.mean(rows, axis=0)
        above_first = sum(row[-1] >= row[1] for row in rows)
        above_none = sum(row[-1] >= row[0] for row in rows)
        figures = "".join(f"{mean:8.1f}" for mean in means)
        print(f"{target.stem:22}{figures}   {above_first:2} of {ORDERS}, {above_none:2} of {ORDERS}", flush=True)


def read_target(target):
    if target.is_file():
        corpus = read(target)
        return corpus[::2], corpus[1::2], corpus.types
    corpus = read(target / ("dev.txt" if (target / "dev.txt").is_file() else "train.txt"))
    n = np.searchsorted(np.cumsum([len(sentence.words) for sentence in corpus]), 2 * MOST_WORDS)
    described = read_types(target / "types.txt") if (target / "types.txt").is_file() else types_of(types_in(corpus))
    return corpus[:n:2], corpus[1:n:2], described


if __name__ == "__main__":
    main()
