"""Labels of two corpora with other types in one tagger, beside a tagger for each.

    python benchmarks/merge.py DATA/wnut17 DATA/bc5cdr

Some sentences of each corpus are labelled for its own types. A tagger learns from all of them: a sentence of one corpus
was not judged for the types of the other, so it says nothing of them. The table has the F1 on the test part of each
corpus on its own types, mean over draws: `alone` for a tagger of this corpus, `together` for the one of both, and
`O for all` for one of both to which a word that is not marked is O for every type.
"""

import argparse
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np
from stages import measure, only, read_target

from handful import Tagger
from handful.encoders import CachedEncoder, load


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs=2, type=Path)
    parser.add_argument("--only", default="", help="types of the first corpus, such as 'person, location'")
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--sentences", type=int, nargs="+", default=[0, 8, 24], help="labelled of each corpus")
    options = parser.parse_args()
    encoder = CachedEncoder(load("handful-en"))
    targets = [read_target(target) for target in options.targets]
    if names := [name.strip() for name in options.only.split(",") if name.strip()]:
        pool, scored, types = targets[0]
        targets[0] = ([only(one, names) for one in pool], scored, [one for one in types if one.name in names])
    print(f"{'target':16}{'sentences':>10}{'alone':>10}{'together':>10}{'O for all':>10}{'together - alone':>18}")
    below = []
    for n in options.sentences:
        draws = [run(encoder, targets, n, draw) for draw in range(options.draws if n else 1)]
        for target, row in zip(options.targets, np.mean(draws, axis=0), strict=True):
            figures = "".join(f"{value:10.1f}" for value in row)
            below.append(row[1] - row[0])
            print(f"{target.stem:16}{n:10}{figures}{below[-1]:18.1f}", flush=True)
    print(f"the lowest of together - alone: {min(below):.1f}")


def run(encoder, targets, n, draw):
    """Return a row for each corpus: F1 alone, together, and with O for all."""
    every = [one for _, _, types in targets for one in types]
    names = frozenset(one.name for one in every)
    drawn, golds = [], []
    for pool, scored, types in targets:
        own = [one.name for one in types]
        some = [sentence for sentence in pool if sentence.spans]
        Random(draw).shuffle(some)
        drawn.append([only(sentence, own) for sentence in some[:n]])
        golds.append([only(sentence, own) for sentence in scored])
    both = [sentence for part in drawn for sentence in part]

    def fit(types, support):
        return Tagger(types, encoder=encoder, cache=False).fit(support or None, progress=False)

    alone = [fit(types, part) for (_, _, types), part in zip(targets, drawn, strict=True)]
    together = fit(every, both)
    as_o = fit(every, [replace(sentence, judged=names) for sentence in both])
    return [
        [measure(own, gold), measure(together, gold), measure(as_o, gold)]
        for own, gold in zip(alone, golds, strict=True)
    ]


if __name__ == "__main__":
    main()
