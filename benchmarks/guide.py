"""The figures of docs/guide.md: F1 by ratio, by labels and by unlabelled text, on one target.

    python benchmarks/guide.py FOLDER [--supports 5]

FOLDER holds train.txt, dev.txt, test.txt and supports/1shot, supports/5shot. Text is dev, unless said otherwise; labels are those
of 5 shots, the score is strict span F1 on test, mean over the supports. Features are kept in the store.
"""

import argparse
import warnings
from pathlib import Path

import numpy as np

from handful import Tagger
from handful.errors import HandfulWarning
from handful.text import read


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--supports", type=int, default=5)
    parser.add_argument("--encoder", default="handful-en")
    options = parser.parse_args()
    folder = options.folder
    train, dev, test = (read(folder / f"{name}.txt") for name in ("train", "dev", "test"))
    supports = {
        n: [read(path) for path in sorted((folder / "supports" / f"{n}shot").glob("*.txt"))[: options.supports]]
        for n in (1, 5)
    }
    warnings.simplefilter("ignore", HandfulWarning)  # a ratio without text

    def measure(what, shots=5, text=dev, temperature=1.0, **parameters):
        tagger = Tagger(options.encoder, temperature=temperature, **parameters)
        scores = [tagger.fit(support, text).evaluate(test).strict.micro for support in supports[shots]]
        f1, p, r = (100 * np.mean([getattr(s, name) for s in scores]) for name in ("f1", "precision", "recall"))
        print(f"{what:40} F1 {f1:5.1f}  P {p:5.1f}  R {r:5.1f}", flush=True)
        return tagger

    for ratio in (None, 0.85, 0.9, 0.93, 0.95, 0.97):
        measure(f"ratio {ratio}", o_ratio=ratio)
    measure("no text", text=None)
    for n_sentences in (30, 100, 300):
        text = dev[:n_sentences]
        measure(f"text {sum(len(s.words) for s in text):,} words", text=text, o_ratio=0.95)
    measure(f"text {sum(len(s.words) for s in dev + train):,} words", text=list(dev) + list(train), o_ratio=0.95)
    measure("1 shot, no text", shots=1, text=None)
    measure("1 shot", shots=1, o_ratio=0.95)
    for temperature in (1.0, 10.0, 30.0, 100.0):
        tagger = Tagger(options.encoder, o_ratio=0.95, temperature=temperature).fit(supports[5][0], dev)
        found = [tagger.predict_sentences(test, min_score=least) for least in (0.0, 0.5, 0.7, 0.9)]
        gold = {(i, span) for i, sentence in enumerate(test) for span in sentence.spans}
        shown = []
        for sentences in found:
            guesses = {(i, span) for i, sentence in enumerate(sentences) for span in sentence.spans}
            shown.append(f"{len(guesses)} at {100 * len(guesses & gold) / max(1, len(guesses)):.0f} %")
        print(f"temperature {temperature:g}: mentions and precision at min_score 0, .5, .7, .9: {', '.join(shown)}")


if __name__ == "__main__":
    main()
