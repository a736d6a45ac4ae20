"""Steering: whether a tagger without labels follows a guideline, on the same sentences under two guidelines.

    python benchmarks/steering.py corpora/mosaic/train corpora/mosaic_guidelines/dev

For a file and its twin (NAME.txt and NAME__g1.txt), a decision is a mention that only one of the two has, of a type
whose guideline changed. It is right if the tagger finds it under its own guideline and not under the other. The sharp
figure counts only types that kept their name, where nothing but the guideline differs. An encoder that was trained on
neither file is measured.
"""

import argparse
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from handful import Tagger
from handful.encoders import load
from handful.evaluate import score
from handful.text import read


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path, help="the folder of the files")
    parser.add_argument("twins", type=Path, help="the folder of their twins")
    parser.add_argument("--encoder", default="handful-en")
    parser.add_argument("--bare", action="store_true", help="by the names of types alone")
    parser.add_argument("--pairs", action="store_true", help="a line for each pair")
    options = parser.parse_args()
    encoder = load(options.encoder)
    total, f1 = Counter(), []
    for twin in sorted(options.twins.glob("*__g1.txt")):
        sides = [read(path) for path in (options.files / twin.name.replace("__g1", ""), twin)]
        found = [tagged(encoder, side, options.bare) for side in sides]
        counts = decisions(sides, found)
        f1.append([100 * score(list(side), some).micro.f1 for side, some in zip(sides, found, strict=True)])
        total += counts
        if options.pairs:
            print(f"{twin.stem:40}{line(counts)}   F1 {f1[-1][0]:.1f} {f1[-1][1]:.1f}", flush=True)
    print(f"{'all pairs':40}{line(total)}   F1 {np.mean(f1, axis=0)[0]:.1f} {np.mean(f1, axis=0)[1]:.1f}")


def tagged(encoder, side, is_bare):
    """Return the sentences with what a tagger without labels finds, by the guidelines of the file."""
    types = [replace(one, description="") if is_bare else one for one in side.types]
    tagger = Tagger(types, encoder=encoder).fit()
    return tagger.predict_sentences([one.without_labels() for one in side])


def decisions(sides, found):
    """Count the decisions of a pair, and those that are right: in all, and under the same name."""
    guidelines = [{one.name: one.description for one in side.types} for side in sides]
    counts = Counter()
    for pair, answers in zip(zip(*sides, strict=True), zip(*found, strict=True), strict=True):
        own, other = ({(one.start, one.end, one.type) for one in sentence.spans} for sentence in pair)
        said = [{(one.start, one.end, one.type) for one in answer.spans} for answer in answers]
        for side, mention in [(0, one) for one in own - other] + [(1, one) for one in other - own]:
            here, there = (guidelines[each].get(mention[2]) for each in (side, 1 - side))
            if here == there:
                continue
            is_right = mention in said[side] and mention not in said[1 - side]
            for kind in ("all", *(["same"] if there is not None else [])):
                counts[kind] += 1
                counts[kind, "right"] += is_right
    return counts


def line(counts):
    """Return the shares of decisions that are right."""
    return "   ".join(
        f"{kind} {100 * counts[kind, 'right'] / max(1, counts[kind]):5.1f} of {counts[kind]:5}"
        for kind in ("all", "same")
    )


if __name__ == "__main__":
    main()
