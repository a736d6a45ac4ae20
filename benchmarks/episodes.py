"""How names and labels are put together, learned from many small fits and judged on corpora that it was not learned on.

    OMP_NUM_THREADS=1 python benchmarks/episodes.py corpora/mosaic/dev/*.txt DATA/wnut17 DATA/btc DATA/bc5cdr ...

The corpora are those of benchmarks/name_weights.py, none of which the encoder was trained on, with less text of
folders. An episode is a corpus with a support of 1, 2, 5 or 20 mentions of each type, without text; in some, each type
has the description of another. Its pieces of evidence are computed once. Then numbers are tried one after the other,
and the one with the best F1 is kept: files and folders count alike, wrong names a quarter of that, and what a corpus
falls more than half a point below names alone counts once more. "cross-fitted" are numbers that were learned without
the corpora that they are judged on: half of the files, or a folder, is left out at a time.
"""

import argparse
import os
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import name_weights
import numpy as np
from name_weights import Given, above_o, at_most, tags_of, task_of, with_features

from handful import encoders
from handful.evaluate import sample_support, score
from handful.tagger import _trust
from handful.tagger._learning import ENOUGH_MENTIONS, METHODS
from handful.tagger.decoding import decode, viterbi
from handful.tagger.evidence import NearestLabel, Regression
from handful.text import Sentence

SHOTS, SETS, MOST = (1, 2, 5, 20), {"file": 1, "folder": 3}, 6_000
METHOD = METHODS["handful"].with_names

#: What is learned, with the values that are tried. The first three are relative to the weight of names.
TRIED: dict[str, tuple[float, ...]] = {
    "regression": (0.7, 1.0, 1.4),
    "nearest": (9.0, 12.0, 18.0, 27.0),
    "steepness": (3.0, 5.0, 7.0, 10.0),
    "names": (2.4, 3.2, 4.0, 5.6, 8.0),
    "without_prior": (1.0, 1.5, 1.75, 2.0, 4.0),
    "FITS": (30.0, 100.0, 300.0, 1000.0),
    "SAYS_NOTHING": (0.05, 0.1, 0.2),
    "BY_WORD": (0.0, 1.3, 2.6, 4.0),
    "USUALLY_ALIKE": (0.6, 0.68, 0.75),
    "DOUBT_BY_SENTENCE": (0.05, 0.1, 0.2, 0.4),
    "ENOUGH_MENTIONS": (1.0, 3.0, 6.0, 10.0),
}
OF_TRUST = ("FITS", "SAYS_NOTHING", "BY_WORD", "USUALLY_ALIKE", "DOUBT_BY_SENTENCE")
NOW = {name: METHOD.weights[name] / METHOD.weights["names"] for name in ("regression", "nearest")}
NOW |= {"names": METHOD.weights["names"], "without_prior": METHOD.without_prior, "steepness": METHOD.steepness}
NOW |= {name: getattr(_trust, name) for name in OF_TRUST} | {"ENOUGH_MENTIONS": float(ENOUGH_MENTIONS)}


@dataclass
class Episode:
    """A corpus with a support: its labelled words, and what evidence says of the words that are scored."""

    corpus: str
    kind: str  # file, folder, wrong
    shots: int
    scored: list[Sentence]
    types: list[str]
    vectors: Any  # of the labelled words
    tags: Any
    places: Any
    counts: Any
    of_words: Any  # s_O and s_t of the labelled words
    names: Any  # of the scored words
    regression: Any
    cosines: Any  # to the nearest labelled word of each tag

    def logits(self, numbers: dict[str, float]) -> Any:
        """Return the sum of all evidence."""
        for name in OF_TRUST:
            setattr(_trust, name, numbers[name])
        trusted, held_back = self.doubted()
        names = trusted * above_o(self.names + held_back)
        steep = above_o(np.exp(numbers["steepness"] * np.minimum(self.cosines - 1, 0)))
        enough = min(1.0, self.counts.sum() / numbers["ENOUGH_MENTIONS"])
        labels = numbers["regression"] * enough * self.regression + numbers["nearest"] * (2 - enough) * steep
        return numbers["names"] * (names + _trust.agreement(self.vectors, self.tags, self.places) * labels)

    def doubted(self) -> tuple[Any, Any]:
        """Return how far each tag's name is trusted, and what is taken off it."""
        given, n = Given(self.of_words), len(np.unique(self.places))
        trusted = _trust.trust(given, self.vectors, self.tags, self.counts)
        shifts = _trust.doubts(given, self.vectors, self.tags, [n] * len(self.types))
        return np.concatenate([[1.0], trusted]), np.concatenate([[0.0], shifts])

    def f1(self, logits: Any, without_prior: float) -> float:
        """Return the strict F1 of these logits."""
        n_words = [len(one.words) for one in self.scored]
        tags = viterbi(logits, n_words, TRANSITIONS[0], without_prior)
        found = decode(logits, n_words, self.types, tags)
        return (
            100 * score(self.scored, [Sentence(s.words, f) for s, f in zip(self.scored, found, strict=True)]).micro.f1
        )


EPISODES: list[Episode] = []
TRANSITIONS: list[Any] = []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+", help="inline files, or folders with dev.txt, train.txt and types.txt")
    parser.add_argument("--encoder", default="handful-en")
    parser.add_argument(
        "--rounds", type=int, default=1, help="how often each number is tried; 0, only the numbers of today"
    )
    given = parser.parse_args()
    encoder = encoders.load(given.encoder)
    TRANSITIONS.append(encoder.transitions)
    name_weights.MOST = MOST
    for place in map(Path, given.corpora):
        EPISODES.extend(episodes_of(encoder, place))
    corpora = {one.corpus: one.kind for one in EPISODES if one.kind != "wrong"}
    show("numbers of today", results(key_of(NOW)))
    if not given.rounds:
        return
    learned = learn(set(corpora), given.rounds)
    show("learned on all", results(key_of(learned)))
    print({name: value for name, value in learned.items() if value != NOW[name]} or "as they are today")
    files = [name for name, kind in corpora.items() if kind == "file"]
    folds = [set(files[::2]), set(files[1::2]), *({name} for name, kind in corpora.items() if kind == "folder")]
    judged = results(key_of(NOW)).copy()
    for fold in filter(None, folds):
        numbers = learn(set(corpora) - fold, given.rounds)
        here = np.array([one.corpus in fold for one in EPISODES])
        judged[here] = results(key_of(numbers))[here]
    show("cross-fitted", judged)


def learn(corpora: set[str], rounds: int) -> dict[str, float]:
    """Return the numbers that are best for some of the corpora, each tried in its turn."""
    numbers = dict(NOW)
    for name, values in rounds * list(TRIED.items()):
        tried = [numbers | {name: value} for value in dict.fromkeys((numbers[name], *values))]
        numbers = max(tried, key=lambda one: worth(results(key_of(one)), corpora))
    return numbers


def worth(f1: Any, corpora: set[str]) -> float:
    """Return the mean F1 of files and of folders, and a quarter of that with wrong names; falls count twice."""
    means = means_of(f1, corpora)
    total = sum({"wrong": 0.25}.get(kind, 1.0) * float(np.mean(list(of.values()))) for kind, of in means.items())
    falls = [max(0.0, BY_NAMES[name] - 0.5 - mean) for of in means.values() for (name, kind, _), mean in of.items()
             if kind != "wrong"]  # fmt: skip
    return total - float(np.mean(falls))


def means_of(f1: Any, corpora: set[str]) -> dict[str, dict[tuple[str, str, int], float]]:
    """Return the mean F1 of each corpus and number of labels, by kind."""
    rows: dict[tuple[str, str, int], list[float]] = {}
    for one, value in zip(EPISODES, f1, strict=True):
        if one.corpus in corpora:
            rows.setdefault((one.corpus, one.kind, one.shots), []).append(value)
    found: dict[str, dict[tuple[str, str, int], float]] = {}
    for key, values in rows.items():
        found.setdefault(key[1], {})[key] = float(np.mean(values))
    return found


def key_of(numbers: dict[str, float]) -> tuple[float, ...]:
    return tuple(numbers[name] for name in TRIED)


@cache
def results(key: tuple[float, ...]) -> Any:
    """Return the F1 of every episode with these numbers."""
    numbers = dict(zip(TRIED, key, strict=True))
    return np.array([one.f1(one.logits(numbers), numbers["without_prior"]) for one in EPISODES])


def show(title: str, f1: Any) -> None:
    """Print the mean F1 by number of labels: of files, folders, each folder, and with wrong names."""
    print(f"\n{title}\n{'labels of each type':24}" + "".join(f"{n:7}" for n in (0, *SHOTS)))
    means = means_of(f1, {one.corpus for one in EPISODES})
    folders = sorted({one.corpus for one in EPISODES if one.kind == "folder"})
    for row, kind, chosen in [(k, k, None) for k in ("file", "folder", "wrong")] + [(n, "folder", n) for n in folders]:
        of = {key: mean for key, mean in means.get(kind, {}).items() if chosen in (None, key[0])}
        if of:
            cells = [np.mean([BY_NAMES[name] for name in {key[0] for key in of}])] if kind != "wrong" else [np.nan]
            cells += [np.mean([v for key, v in of.items() if key[2] == n] or [np.nan]) for n in SHOTS]
            print(f"{row:24}" + "".join(f"{cell:7.1f}" for cell in cells))


BY_NAMES: dict[str, float] = {}  # the F1 of names alone, by corpus


def episodes_of(encoder: Any, place: Path) -> list[Episode]:
    """Return the episodes of a corpus; of a file, also some with wrong names."""
    task = task_of(place)
    kind = "file" if place.is_file() else "folder"
    task = with_features(
        encoder, replace(task, text=[], pool=at_most(task.pool, MOST), scored=at_most(task.scored, MOST))
    )
    found = []
    for shots in SHOTS:
        supports = sample_support(task.pool, shots, 0, sets=SETS[kind], fewer=True)
        found += [episode(task, support, shots, kind, is_wrong=False) for support in supports]
        if kind == "file" and shots >= 5 and len(task.types) > 1:
            found.append(episode(task, supports[0], shots, "wrong", is_wrong=True))
    BY_NAMES[task.name] = found[0].f1(NOW["names"] * above_o(found[0].names), NOW["without_prior"])
    return found


def episode(task: Any, support: list[Sentence], shots: int, kind: str, *, is_wrong: bool) -> Episode:
    types = [one.name for one in task.types]
    ends = np.cumsum([0, *(len(sentence.words) for sentence in task.pool)])
    numbers = {id(sentence): i for i, sentence in enumerate(task.pool)}
    picked = [numbers[id(sentence)] for sentence in support]
    words = task.features[0][np.concatenate([np.arange(ends[i], ends[i + 1]) for i in picked])]
    tag_of = {name: tag for tag, name in enumerate(types, 1)}
    tags = np.concatenate([tags_of(sentence, tag_of) for sentence in support])
    places = np.repeat(np.arange(len(support)), [len(sentence.words) for sentence in support])
    counts = np.array([sum(span.type == name for s in support for span in s.spans or ()) for name in types])
    turn = [0, *np.roll(np.arange(1, 1 + len(types)), 1)] if is_wrong else slice(None)
    of_words, names = (task.names.scores(rows)[:, turn] for rows in (words, task.features[1]))
    nearest = NearestLabel.of(words, tags, 1 + len(types))
    found = Episode(task.name, kind, shots, task.scored, types, words, tags, places, counts, of_words, names, None,
                    nearest.logits(task.features[1]))  # fmt: skip
    trusted, held_back = found.doubted()
    by_names = trusted * above_o(of_words + held_back)
    fitted = Regression.fit(words, tags, 1 + len(types), by_names=by_names, known=task.names.from_o())
    return replace(found, regression=above_o(fitted.logits(task.features[1])))


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
