"""Which order of asking learns fastest, without a server: the trials behind the queue of the workbench.

    python benchmarks/queue_trials.py DATA/btc/dev.txt DATA/bc5cdr/dev.txt [--decisions 60] [--every 5] [--runs 2]

The types of a file are in types.txt beside it. 400 of its sentences are for measuring, 400 others to choose from; each
run draws others. Orders: at random, by `handful suggest` one at a time (types take turns), and by the queue of the
workbench. For each, mean F1 over decisions, the mean of all these, and how much there was to correct and to read.
"""

import argparse
import random
from pathlib import Path

import numpy as np

from handful.encoders import CachedEncoder, load
from handful.evaluate import score
from handful.tagger import Tagger
from handful.tagger._suggest import suggest
from handful.tagger._tagging import tag_sentences
from handful.text import read, read_types
from handful.workbench._memory import RememberingEncoder
from handful.workbench._queue import most_teaching


def in_turn(found, labelled, counts):
    words = suggest(found, labelled, counts, 1)[0].words
    return next(one for one in found if one.sentence.words == words)


def by_queue(found, labelled, counts):
    return found[most_teaching(dict(enumerate(found)), labelled, counts, 1)[0]]


def run(encoder, types, choice, test, choose, options):
    """Yield decisions, corrections, words read and F1."""
    gold = {one.words: one for one in choice}
    text = [one.without_labels() for one in choice]
    tagger = Tagger(encoder, types=types, cache=False).fit(None, text, progress=False)
    done, n_corrections = {}, 0
    for n in range(options.decisions + 1):
        if n % options.every == 0:
            found = tagger.predict_sentences([one.without_labels() for one in test])
            n_words = sum(map(len, done))
            yield n, n_corrections, n_words, 100 * score(test, found).micro.f1
        tagged = {one.sentence.words: one for one in tag_sentences(*tagger._ready(), text)}
        left = [one for words, one in tagged.items() if words not in done]
        spans = [span.type for one in done.values() for span in one.spans]
        counts = [spans.count(one.name) for one in tagger.types_]
        one = choose(left, [tagged[words] for words in done], counts).sentence
        right = gold[one.words]
        shown, known = ({(s.start, s.end, s.type) for s in spans} for spans in (one.spans, right.spans))
        n_corrections += len(shown ^ known)
        done[one.words] = right
        tagger.relabel(list(done.values()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--decisions", type=int, default=60)
    parser.add_argument("--every", type=int, default=5)
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    encoder = RememberingEncoder(CachedEncoder(load("handful-en")))
    for path in options.files:
        sentences = list({one.words: one for one in read(path)}.values())
        random.Random(0).shuffle(sentences)
        test, rest = sentences[:400], sentences[400:]
        types = read_types(path.parent / "types.txt")
        for name, choose in (("random", None), ("in turn", in_turn), ("queue", by_queue)):
            runs = []
            for seed in range(options.runs):
                rng = random.Random(seed)
                choice = rng.sample(rest, min(400, len(rest)))
                at_random = lambda found, labelled, counts, rng=rng: rng.choice(found)  # noqa: E731
                runs.append(list(run(encoder, types, choice, test, choose or at_random, options)))
            mean = np.mean(runs, axis=0)
            f1 = " ".join(f"{value:.1f}" for value in mean[:, 3])
            print(f"{path}, {name}: {f1}; mean {mean[:, 3].mean():.2f}, ", end="")
            print(f"{mean[-1, 1]:.0f} corrections, {mean[-1, 2]:.0f} words read", flush=True)


if __name__ == "__main__":
    main()
