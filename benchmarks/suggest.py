"""What suggested sentences are worth: `Tagger.suggest` beside sentences drawn at random.

    python benchmarks/suggest.py DATA/btc/dev.txt --types DATA/btc/types.txt

A labelled corpus is cut in two by chance. A tagger knows the names of the types, and perhaps a few labelled sentences
of the first half. Then it gets some more from that half: those that it suggests, as many drawn at random, and random
ones until there are as many words. Each figure is strict span F1 on the other half, the mean and the standard deviation
over seeds; the random ones of a seed are the mean of several draws.
"""

import argparse
import statistics

import numpy as np
from measure import describe_machine

from handful import Tagger
from handful.encoders import CachedEncoder, load
from handful.evaluate import score
from handful.text import read, read_types


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("corpus")
    parser.add_argument("--types", help="what the types mean; else as the corpus says")
    parser.add_argument("-n", type=int, default=20, help="how many sentences to add")
    parser.add_argument("--start", type=int, default=0, help="how many labelled sentences there are before")
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--draws", type=int, default=5, help="how many draws at random for each seed")
    parser.add_argument("--text", action="store_true", help="fit with the first half as unlabelled text, too")
    parser.add_argument("--encoder", default="handful-en")
    options = parser.parse_args()
    encoder = CachedEncoder(load(options.encoder))
    corpus = read(options.corpus)
    types = read_types(options.types) if options.types else corpus.types

    def fitted(support, half):
        text = [sentence.without_labels() for sentence in half] if options.text else None
        return Tagger(types, encoder=encoder, cache=False).fit(support or None, text, progress=False)

    rows = {name: [] for name in ("before", "random", "random, as many words", "suggested")}
    sizes = {name: [] for name in rows}
    for seed in range(options.seeds):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(corpus))
        half, gold = ([corpus[i] for i in part] for part in np.array_split(order, 2))
        known, pool = half[: options.start], half[options.start :]
        labels = {sentence.words: sentence for sentence in pool}
        before = fitted(known, half)
        found = before.suggest([s.without_labels() for s in pool], options.n, progress=False)
        suggested = [labels[sentence.words] for sentence in found]
        n_words = sum(map(len, suggested))
        drawn = {"before": [[]], "suggested": [suggested], "random": [], "random, as many words": []}
        for _ in range(options.draws):
            mixed = [pool[i] for i in rng.permutation(len(pool))]
            drawn["random"].append(mixed[: options.n])
            n_enough = int(np.searchsorted(np.cumsum([len(one) for one in mixed]), n_words)) + 1
            drawn["random, as many words"].append(mixed[:n_enough])
        for name, supports in drawn.items():
            f1 = [
                100 * score(gold, fitted([*known, *more], half).predict_sentences(gold, progress=False)).micro.f1
                for more in supports
            ]
            rows[name].append(statistics.mean(f1))
            sizes[name] += [(len(more), sum(map(len, more)), sum(len(one.spans) for one in more)) for more in supports]
    print(describe_machine())
    print(f"{options.corpus}: {len(corpus):,} sentences, {options.start} labelled before, {options.seeds} seeds")
    print(f"{'':<24}{'sentences':>10}{'words':>7}{'mentions':>10}{'F1':>12}{'over random':>14}")
    for name, figures in rows.items():
        n, words, mentions = (statistics.mean(column) for column in zip(*sizes[name], strict=True))
        lead = [a - b for a, b in zip(figures, rows["random"], strict=True)]
        print(
            f"{name:<24}{n:>10.0f}{words:>7.0f}{mentions:>10.0f}"
            f"{statistics.mean(figures):>7.1f} ±{statistics.stdev(figures):<4.1f}"
            f"{statistics.mean(lead):>+7.1f} ±{statistics.stdev(lead):<4.1f}"
        )


if __name__ == "__main__":
    main()
