"""How fast handful is on this machine.

    python benchmarks/speed.py [TEXT] [--words 1000] [--threads 2]

It prints words per second of the encoder in the package, and of prediction with it; and seconds of a fit on 17 labelled
sentences and the text, encoding included, and of one more label, on one thread and on all. Everything takes turns, so
that a busy moment of the machine affects all of it, and the best turn counts.
"""

import argparse
import time
from itertools import accumulate

from measure import describe_machine
from threadpoolctl import threadpool_limits

from handful import Tagger, examples, read
from handful._util.processor import has_vnni, usable_threads
from handful.encoders import load
from handful.text import read_types

TURNS = 3


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("text", nargs="?", default=examples.UNLABELLED, help="the garden notes if not given")
    parser.add_argument("--words", type=int, default=1000, help="of the text")
    parser.add_argument("--threads", type=int, default=usable_threads(), help="besides one")
    given = parser.parse_args()
    text = read(given.text, unlabelled=True)
    before = accumulate((len(sentence.words) for sentence in text), initial=0)
    taken = [sentence for sentence, n in zip(text, before, strict=False) if n < given.words]
    support, types = read(examples.SUPPORT), read_types(examples.TYPES)
    counts = sorted({1, given.threads})
    encoder = {n: load("handful-en", threads=n) for n in counts}
    tagger = {n: Tagger(types, encoder=encoder[n], cache=False) for n in counts}
    ways = {
        "fit, seconds": lambda n: tagger[n].fit(support[:-1], taken, progress=False),
        "add, seconds": lambda n: tagger[n].add(support[-1:], progress=False),
        "encode, words per second": lambda n: encoder[n].encode(taken, progress=False),
        "predict, words per second": lambda n: tagger[n].predict_sentences(taken),
    }
    best = {(name, n): float("inf") for name in ways for n in counts}
    for n in counts * TURNS:
        with threadpool_limits(n):
            for name, way in ways.items():
                start = time.perf_counter()
                way(n)
                best[name, n] = min(best[name, n], time.perf_counter() - start)
    n_words = sum(len(sentence.words) for sentence in taken)
    print(f"{describe_machine()}; {'with' if has_vnni() else 'without'} VNNI")
    print(f"{len(taken)} sentences, {n_words:,} words; the best of {TURNS} turns\n")
    print(f"{'threads':25}", *(f"{n:>10}" for n in counts))
    for name in ways:
        each = [best[name, n] for n in counts]
        shown = [f"{one:.2f}" if "seconds" in name else f"{n_words / one:,.0f}" for one in each]
        print(f"{name:25}", *(f"{one:>10}" for one in shown))


if __name__ == "__main__":
    main()
