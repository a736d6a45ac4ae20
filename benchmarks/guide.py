"""The guide's figures: what names, labels, text and a ratio are worth, on the garden notes inside the package.

    python benchmarks/guide.py

Every second one of the held-out notes is scored, the same ones in all rows. Supports are drawn from the others and from
the notes of the support file. Each figure is strict span F1: the mean and the standard deviation over the supports. The
unlabelled text and the descriptions of the types are those of the package, the same in all rows.
"""

import argparse
import statistics

from measure import describe_machine

from handful import Tagger, examples
from handful.encoders import CachedEncoder, load
from handful.evaluate import sample_support, score
from handful.text import read, read_types

SHOTS = (0, 1, 2, 3, 5, 10)
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

    types = read_types(examples.TYPES)

    def measured(supports, unlabelled, **parameters):
        found = []
        for support in supports:
            tagger = Tagger(types, encoder=encoder, cache=False, **parameters)
            tagger.fit(support or None, unlabelled or None, progress=False)
            found.append(100 * score(gold, tagger.predict_sentences(gold)).micro.f1)
        return f"{statistics.mean(found):.1f}" + (f" ±{statistics.stdev(found):.1f}" if len(found) > 1 else "")

    supports = {shots: sample_support(pool, shots, 0, sets=options.sets) if shots else [[]] for shots in SHOTS}
    print(describe_machine())
    print(f"scored on {len(gold)} sentences; {options.sets} supports of each size, drawn from {len(pool)}\n")
    print("| mentions of each type | sentences | names | and 434 sentences of text | no names | no names, text |")
    print("|---|---|---|---|---|---|")
    for shots, drawn in supports.items():
        row = [f"{statistics.mean(map(len, drawn)):.1f}", measured(drawn, None), measured(drawn, text)]
        row += [measured(drawn, part, names=False) if shots else "-" for part in (None, text)]
        print(f"| {shots} | {' | '.join(row)} |", flush=True)
    print("\n| sentences of text | words | no labels | 5 mentions of each type |\n|---|---|---|---|")
    for amount in AMOUNTS:
        part = text[:amount]
        row = [measured(supports[shots], part) for shots in (0, 5)]
        print(f"| {amount} | {sum(map(len, part)):,} | {' | '.join(row)} |", flush=True)
    print("\n| ratio | no labels | 5 mentions of each type |\n|---|---|---|")
    for ratio in RATIOS:
        row = [measured(supports[shots], text, o_ratio=ratio) for shots in (0, 5)]
        print(f"| {ratio} | {' | '.join(row)} |", flush=True)
    words = [word for sentence in gold for word in sentence.words]
    inside = sum(span.end - span.start for sentence in gold for span in sentence.spans)
    print(f"\nthe true share, in the sentences scored on: {1 - inside / len(words):.3f}")


if __name__ == "__main__":
    main()
