"""Which order of asking learns fastest, without a server: the trials behind the queue of the workbench.

    python benchmarks/queue_trials.py DATA/btc/dev.txt DATA/bc5cdr/dev.txt [--decisions 60] [--every 5] [--runs 2]
    python benchmarks/queue_trials.py DATA/bc5cdr/dev.txt --types Disease    with this type alone
    python benchmarks/queue_trials.py DATA/btc/dev.txt --orders "random; queue" --no-text

The types of a file are in types.txt beside it. Some of its sentences are for measuring, others to choose from; each run
draws others. For each order: mean F1 over decisions, the mean of all these, how much there was to correct and to read,
and after how many decisions, for good, F1 is what random order ends with. `--no-text` fits on labels and names alone,
which is much faster. The orders are in `ORDERS`.
"""

import argparse
import random
from pathlib import Path

import numpy as np

from handful import Sentence
from handful.encoders import CachedEncoder, load
from handful.encoders.cache import RememberingEncoder
from handful.evaluate import score
from handful.tagger import Tagger
from handful.tagger.suggesting import place, suggest
from handful.tagger.tagging import tag_sentences
from handful.text import read, read_types
from handful.workbench._queue import most_teaching


def doubts_of(words):
    return 1 - words.scores[np.arange(len(words.tags)), words.tags]


def greatest(n):
    """Return what sums up the n greatest doubts of a sentence."""
    return lambda words: np.sort(doubts_of(words))[-n:].sum()


def by_length(power):
    """Return what divides all doubts of a sentence by a power of its length."""
    return lambda words: doubts_of(words).sum() / len(words.tags) ** power


def doubtful_runs(words):
    """Sum up the runs of words of one tag, each with its greatest doubt: the eight greatest."""
    doubts = doubts_of(words)
    is_first = np.concatenate([[True], (words.tags[1:] != words.tags[:-1])])
    return float(np.sort(np.maximum.reduceat(doubts, np.flatnonzero(is_first)))[-8:].sum())


def entity_words(words):
    """Sum up the doubts of words, each as far as it may be in a mention."""
    return float((doubts_of(words) * (1 - words.scores[:, 0])).sum())


def entropy(words):
    """Return the entropy of the scores of all words."""
    scores = np.clip(words.scores, 1e-9, 1)
    return float(-(scores * np.log(scores)).sum())


class ByValue:
    """Sentences of the highest value times news times density.

    Parameters
    ----------
    value : of a sentence
    density : how much it counts that other sentences are near
    news : how much it counts that no labelled sentence is near
    at_random : at every so many decisions one is taken at random; 0 for none
    shortest, longest : quantiles of the lengths of all sentences; others are not taken
    doubted : whether places are by doubtful words
    """

    def __init__(self, value, density=0.0, news=1.0, at_random=0, shortest=0.0, longest=1.0, doubted=True):
        self.value, self.density, self.news, self.at_random = value, density, news, at_random
        self.lengths, self.doubted = (shortest, longest), doubted

    def place(self, words):
        """Return where a sentence lies, as the queue has it or by all words alike."""
        if self.doubted:
            return place(words)
        mean = words.features.mean(axis=0)
        return mean / np.linalg.norm(mean)

    def __call__(self, found, labelled, counts, rng):
        """Return the sentence to ask for."""
        if self.at_random and len(labelled) % self.at_random == self.at_random - 1:
            return rng.choice(found)
        lengths = np.array([len(words.tags) for words in found])
        low, high = np.quantile(lengths, self.lengths)
        values = np.array([self.value(words) for words in found]) * ((lengths >= low) & (lengths <= high))
        places = np.stack([self.place(words) for words in found])
        near = places @ places.T
        far = float(np.median(1 - near)) / 2 or 1.0
        news = np.ones(len(found))
        if labelled:
            distance = 1 - (places @ np.stack([self.place(words) for words in labelled]).T).max(axis=1)
            news = np.minimum(1, np.maximum(distance, 0) / far)
        density = np.clip(near.mean(axis=1), 1e-3, None)
        return found[int(((values + 1e-6) * (news**self.news + 1e-6) * density**self.density).argmax())]


def in_turn(found, labelled, counts, rng):
    """As `handful suggest` does, one at a time."""
    words = suggest(found, labelled, counts, 1)[0].words
    return next(one for one in found if one.sentence.words == words)


def by_queue(found, labelled, counts, rng):
    """As the workbench does."""
    return found[most_teaching(dict(enumerate(found)), labelled, counts, 1)[0]]


ORDERS = {
    "random": lambda found, labelled, counts, rng: rng.choice(found),
    "in turn": in_turn,
    "queue": by_queue,
    "greatest 8": ByValue(greatest(8)),
    "greatest 3": ByValue(greatest(3)),
    "all / sqrt(n)": ByValue(by_length(0.5)),
    "mean doubt": ByValue(by_length(1.0)),
    "runs": ByValue(doubtful_runs),
    "entity words": ByValue(entity_words),
    "entropy": ByValue(entropy),
    "8, density": ByValue(greatest(8), density=1.0),
    "8, density 2": ByValue(greatest(8), density=2.0),
    "8, no news": ByValue(greatest(8), news=0.0),
    "8, every 2nd at random": ByValue(greatest(8), at_random=2),
    "8, every 3rd at random": ByValue(greatest(8), at_random=3),
    "8, to 3rd quarter": ByValue(greatest(8), longest=0.75),
    "8, two middle quarters": ByValue(greatest(8), shortest=0.25, longest=0.75),
    "density alone": ByValue(lambda words: 1.0, density=1.0, doubted=False),
    "longest": ByValue(lambda words: len(words.tags), news=0.0),
}


def run(encoder, types, choice, test, choose, rng, options):
    """Yield decisions, corrections, words read and F1."""
    gold = {one.words: one for one in choice}
    text = [one.without_labels() for one in choice]
    tagger = Tagger(types, encoder=encoder, cache=False).fit(None, None if options.no_text else text, progress=False)
    done, n_corrections = {}, 0
    for n in range(options.decisions + 1):
        if n % options.every == 0:
            found = tagger.predict_sentences([one.without_labels() for one in test])
            n_words = sum(map(len, done))
            yield n, n_corrections, n_words, 100 * score(test, found).micro.f1
        if n == options.decisions:
            return
        tagged = {one.sentence.words: one for one in tag_sentences(tagger.encoder_, tagger.model_, text)}
        left = [one for words, one in tagged.items() if words not in done]
        spans = [span.type for one in done.values() for span in one.spans]
        counts = [spans.count(one.name) for one in tagger.types_]
        one = choose(left, [tagged[words] for words in done], counts, rng).sentence
        right = gold[one.words]
        shown, known = ({(s.start, s.end, s.type) for s in spans} for spans in (one.spans, right.spans))
        n_corrections += len(shown ^ known)
        done[one.words] = right
        tagger.relabel(list(done.values()))


def of_types(sentences, types):
    """Return sentences with the labels of some types alone."""
    return [Sentence(one.words, tuple(span for span in one.spans if span.type in types)) for one in sentences]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--decisions", type=int, default=60)
    parser.add_argument("--every", type=int, default=5)
    parser.add_argument("--runs", type=int, default=2)
    parser.add_argument("--first-run", type=int, default=0)
    parser.add_argument("--sentences", type=int, default=400, help="to choose from")
    parser.add_argument("--test", type=int, default=400, help="sentences to measure on")
    parser.add_argument("--types", help="names with commas between them; the others are left out")
    parser.add_argument("--orders", default="random; in turn; queue", help="those of ORDERS, or all")
    parser.add_argument("--no-text", action="store_true")
    options = parser.parse_args()
    names = list(ORDERS) if options.orders == "all" else options.orders.split("; ")
    encoder = RememberingEncoder(CachedEncoder(load("handful-en")))
    for path in options.files:
        sentences = list({one.words: one for one in read(path)}.values())
        types = read_types(path.parent / "types.txt")
        if options.types:
            types = [one for one in types if one.name in options.types.split(",")]
            sentences = of_types(sentences, {one.name for one in types})
        random.Random(0).shuffle(sentences)
        test, rest = sentences[: options.test], sentences[options.test :]
        goal = None
        for name in names:
            runs = []
            for seed in range(options.first_run, options.first_run + options.runs):
                choice = random.Random(seed).sample(rest, min(options.sentences, len(rest)))
                runs.append(list(run(encoder, types, choice, test, ORDERS[name], random.Random(seed), options)))
            mean = np.mean(runs, axis=0)
            goal = mean[-1, 3] if goal is None else goal
            below = np.flatnonzero(mean[:, 3] < goal)
            needed = 0 if not len(below) else int(mean[below[-1], 0]) + options.every
            f1 = " ".join(f"{value:.1f}" for value in mean[:, 3])
            print(f"{path.parent.name} {options.types or ''} {name}: {f1}; mean {mean[:, 3].mean():.2f}, ", end="")
            print(f"{mean[-1, 1]:.0f} corrections, {mean[-1, 2]:.0f} words read, {goal:.1f} after ", end="")
            print(f"{needed} decisions" if needed <= options.decisions else "none", flush=True)


if __name__ == "__main__":
    main()
