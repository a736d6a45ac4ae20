"""The guide's figures: what more labels, more text and a ratio are worth, on the garden notes inside the package.

    python benchmarks/guide.py

The held-out notes are halved: every second one is scored on, in all rows alike; the others, with the notes of the
support, are what labels are drawn from. Each figure is the strict span F1, the mean and the standard deviation over the
supports drawn. The unlabelled text is the package's own, the same for all.
"""

import argparse
import statistics

from measure import describe_machine

from handful import Tagger, examples
from handful.encoders import CachedEncoder, load
from handful.evaluate import sample_support, score
from handful.text import read

SHOTS = (1, 2, 3, 5, 10)
AMOUNTS = (0, 50, 100, 200, 434)
RATIOS = (None, "auto", 0.8, 0.85, 0.9, 0.925, 0.95, 0.975)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", type=int, default=10, help="how many supports of each size")
    parser.add_argument("--encoder", default="handful-en")
    options = parser.parse_args()
    encoder = CachedEncoder(load(options.encoder))
    heldout, text = read(examples.HELDOUT), read(examples.UNLABELLED)
    gold, pool = heldout[::2], [*read(examples.SUPPORT), *heldout[1::2]]

    def measured(supports, unlabelled, **parameters):
        found = []
        for support in supports:
            tagger = Tagger(encoder, cache=False, **parameters).fit(support, unlabelled or None, progress=False)
            found.append(100 * score(gold, tagger.predict_sentences(gold)).micro.f1)
        return f"{statistics.mean(found):.1f} ±{statistics.stdev(found):.1f}"

    supports = {shots: sample_support(pool, shots, 0, sets=options.sets) for shots in SHOTS}
    print(describe_machine())
    print(f"scored on {len(gold)} sentences; {options.sets} supports of each size, drawn from {len(pool)}\n")
    print("| mentions of each type | sentences | labels alone | and 434 sentences of text |\n|---|---|---|---|")
    for shots, drawn in supports.items():
        size = f"{statistics.mean(map(len, drawn)):.1f}"
        print(f"| {shots} | {size} | {measured(drawn, None)} | {measured(drawn, text)} |", flush=True)
    print("\n| sentences of text | words | F1, 5 mentions of each type |\n|---|---|---|")
    for amount in AMOUNTS:
        part = text[:amount]
        print(f"| {amount} | {sum(map(len, part)):,} | {measured(supports[5], part)} |", flush=True)
    print("\n| ratio | handful, 5 mentions | paper, 5 mentions | handful, 1 | paper, 1 |\n|---|---|---|---|---|")
    for ratio in RATIOS:
        row = [
            measured(supports[shots], text, method=method, o_ratio=ratio)
            for shots in (5, 1)
            for method in ("handful", "paper")
        ]
        print(f"| {ratio} | {' | '.join(row)} |", flush=True)
    words = [word for sentence in gold for word in sentence.words]
    inside = sum(span.end - span.start for sentence in gold for span in sentence.spans)
    print(f"\nthe true share, in the sentences scored on: {1 - inside / len(words):.3f}")


if __name__ == "__main__":
    main()
