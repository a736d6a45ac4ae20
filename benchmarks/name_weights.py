"""What names, labels and clusters should weigh: F1 and calibration on development data, for docs/decisions/0004.

    OMP_NUM_THREADS=1 python benchmarks/name_weights.py corpora/mosaic/dev/*.txt DATA/wnut17 DATA/btc ...

A file is cut in two by taking every second sentence. The dev file of a folder (train if there is no dev) is cut in two
by a hash of the words of each sentence. Supports come from one half, and the other half is scored. "text" means that a
fit also sees all of the file without labels, or the half that supports come from and 15,000 words of the folder's train
file. The logits of each piece of evidence are computed once, and all weights are tried on them.
"""

import argparse
import hashlib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

from handful import encoders
from handful.cluster import SubspaceKMeans, tag_distances
from handful.errors import DataError
from handful.evaluate import sample_support, score
from handful.tagger._decode import decode, viterbi
from handful.tagger._evidence import NearestLabel, Regression
from handful.tagger._learning import ENOUGH_WORDS, METHODS, NAME_LEAST, NAME_WORTH, trust, type_names
from handful.tagger._model import Lead
from handful.text import Sentence, read, read_types

SHOTS, SETS, MOST = (0, 1, 5, 20), 2, 9_000
MASS = METHODS["handful"].labelled_mass


@dataclass
class Task:
    """A corpus with its halves."""

    name: str
    types: tuple[Any, ...]
    pool: list[Sentence]
    scored: list[Sentence]
    text: list[Sentence]


@dataclass
class Case:
    """The logits of every piece of evidence for the words of a task's scored half, at one support."""

    task: Task
    shots: int
    has_text: bool
    n_words: int
    names: Any
    labels: Any
    clusters: Any
    words: Any  # the names' scores of the labelled words, their tags, and the mentions of each type


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+", help="inline files, or folders with dev.txt, train.txt and types.txt")
    parser.add_argument("--encoder", default="handful-en")
    parser.add_argument("--only", choices=["weights", "transitions", "swapped", "scores"], nargs="+")
    given = parser.parse_args()
    encoder = encoders.load(given.encoder)
    cases = [case for place in given.corpora for case in cases_of(encoder, task_of(Path(place)))]
    transitions = encoder.transitions
    parts = {"weights": weights, "transitions": decoding, "swapped": swapped, "scores": scores}
    for name in given.only or parts:
        parts[name](cases, transitions)
        print()


def weights(cases: list[Case], transitions: Any) -> None:
    print("weights of names by the number of labels: F1, mean of files / mean of folders")
    for shots in SHOTS:
        for has_text in (False, True):
            some = [case for case in cases if (case.shots, case.has_text) == (shots, has_text)]
            if not some:
                continue
            for weight in (0.5, 1.0, 1.6, 4.0, 8.0, 16.0) if shots else (8.0,):
                row = [
                    f1s(some, transitions, weight, of_clusters) for of_clusters in (0, 1 / 192, 1 / 96, 1 / 64, 1 / 24)
                ]
                shown = "  ".join(f"{files:5.1f} / {folders:5.1f}" for files, folders in row)
                print(f"{shots:3} labels, {'text' if has_text else 'none'}, names x {weight:4}: {shown}")
    print("columns: clusters x 0, 1/192, 1/96, 1/64, 1/24")


def decoding(cases: list[Case], transitions: Any) -> None:
    print("names alone, no labels, no text")
    some = [case for case in cases if (case.shots, case.has_text) == (0, False)]
    for name, of_names, without_prior in (("none", 1.0, None), ("all of them", 1.0, 0.0), ("as chosen", 8.0, 4.0)):
        files, folders = f1s(some, transitions, of_names, 0, without_prior)
        print(f"transitions, {name}: {files:.1f} / {folders:.1f}")


def swapped(cases: list[Case], transitions: Any) -> None:
    """Give each type the description of the one before it; clusters are left out, for they have seen the right ones."""
    print("descriptions swapped in a circle, no text, no clusters, corpora of two types or more")
    for shots in SHOTS[1:]:
        some = [c for c in cases if (c.shots, c.has_text) == (shots, False) and len(c.task.types) > 1]
        weight = max(NAME_LEAST, NAME_WORTH / shots)
        turned = [replace(case, names=turn(case.names)) for case in some]
        doubted = [replace(case, names=scale(case.names, doubt(case))) for case in turned]
        rows = {
            "right": f1s(some, transitions, weight, 0),
            "right, doubted": f1s(
                [replace(c, names=scale(c.names, doubt(c, 0))) for c in some], transitions, weight, 0
            ),
            "swapped": f1s(turned, transitions, weight, 0),
            "swapped, doubted": f1s(doubted, transitions, weight, 0),
            "no names": f1s(some, transitions, 0.0, 0),
        }
        print(f"{shots:3} labels:", "; ".join(f"{name} {a:.1f} / {b:.1f}" for name, (a, b) in rows.items()))


def turn(scores: Any) -> Any:
    return np.concatenate([scores[:, :1], np.roll(scores[:, 1:], 1, axis=1)], axis=1)


def doubt(case: Case, by: int = 1) -> Any:
    """Return how far each name is trusted, with names swapped or not."""
    of_words, tags, counts = case.words

    class Given:
        def scores(self, _: Any) -> Any:
            return turn(of_words) if by else of_words

    return trust(Given(), of_words, tags, counts)  # type: ignore[arg-type]


def scale(scores: Any, trusted: Any) -> Any:
    difference = scores - scores[:, :1]
    difference[:, 1:] *= trusted
    return difference


def scores(cases: list[Case], transitions: Any) -> None:
    print("expected calibration error, ten bins")
    for shots in SHOTS:
        for has_text in (False, True):
            some = [case for case in cases if (case.shots, case.has_text) == (shots, has_text)]
            if some:
                print(f"{shots:3} labels, {'text' if has_text else 'none'}: {calibration_error(some, transitions):.3f}")


def task_of(place: Path) -> Task:
    if place.is_file():
        corpus = read(place)
        return Task(place.stem, corpus.types, corpus[::2], corpus[1::2], list(corpus))
    has_dev = (place / "dev.txt").is_file()
    corpus = read(place / ("dev.txt" if has_dev else "train.txt"))
    halves: tuple[list[Sentence], list[Sentence]] = ([], [])
    for sentence in corpus:
        halves[hashlib.sha256("\x1f".join(sentence.words).encode()).digest()[0] % 2].append(sentence)
    pool, scored = (at_most(half, MOST) for half in halves)
    text = at_most(read(place / "train.txt"), 15_000) if has_dev else []
    return Task(place.name + "/", read_types(place / "types.txt"), pool, scored, pool + text)


def at_most(sentences: list[Sentence], n_words: int) -> list[Sentence]:
    n = np.cumsum([len(sentence.words) for sentence in sentences])
    return sentences[: int(np.searchsorted(n, n_words))]


def cases_of(encoder: Any, task: Task) -> list[Case]:
    names = type_names(encoder, task.types)
    scored, n_tags = encoder.encode(task.scored), 1 + len(task.types)
    rows_of = dict(zip([s.words for s in task.text], split(encoder.encode(task.text), task.text), strict=True))
    nothing = np.empty((0, encoder.dim), np.float32)
    tag_of = {one.name: tag for tag, one in enumerate(task.types, 1)}
    found = []
    for shots in SHOTS:
        try:
            supports = sample_support(task.pool, shots, 0, sets=SETS) if shots else [[]]
        except DataError:  # too few mentions
            continue
        for support in supports:
            words = np.concatenate([nothing, *(rows_of[sentence.words] for sentence in support)])
            tags = np.concatenate([np.zeros(0, np.int64), *(tags_of(sentence, tag_of) for sentence in support)])
            labels = None
            if shots:
                near = NearestLabel.of(words, tags, n_tags).logits(scored)
                labels = Regression.fit(words, tags, n_tags).logits(scored) + 27 * near
            for has_text in (False, True):
                known = {sentence.words for sentence in support}
                others = [rows_of[s.words] for s in task.text if s.words not in known] if has_text else []
                text = np.concatenate([nothing, *others])
                clusters = cluster(names, words, tags, text, scored, n_tags) if len(words) + len(text) else None
                n_words = len(words) + len(text)
                counts = np.array(
                    [sum(span.type == one.name for s in support for span in s.spans) for one in task.types]
                )
                of_words = (names.scores(words), tags, counts)
                found.append(Case(task, shots, has_text, n_words, names.scores(scored), labels, clusters, of_words))
    return found


def split(features: Any, sentences: list[Sentence]) -> list[Any]:
    return np.split(features, np.cumsum([len(sentence.words) for sentence in sentences])[:-1])


def tags_of(sentence: Sentence, tag_of: dict[str, int]) -> Any:
    tags = np.zeros(len(sentence.words), np.int64)
    for span in sentence.spans or ():
        tags[span.start : span.end] = tag_of.get(span.type, 0)
    return tags


def cluster(names: Any, words: Any, tags: Any, text: Any, scored: Any, n_tags: int) -> Any:
    rows, row_tags = names.as_words()
    y = np.concatenate([tags, row_tags, np.full(len(text), -1)])
    weights = np.ones(len(y))
    weights[y >= 0] = max(1.0, MASS * len(text) / (y >= 0).sum())
    ratio = None
    if len(text):
        chances = softmax(names.scores(text), axis=1)[:, 0]
        ratio = float((chances.sum() + (y == 0).sum()) / len(y))
    fitted = SubspaceKMeans(ratio).fit(np.concatenate([words, rows, text]), y, sample_weight=weights)
    return -tag_distances(scored, fitted.prototypes_, fitted.prototype_tags_, fitted.projection_, n_tags)


def total(case: Case, of_names: float, of_clusters: float) -> Any:
    logits = of_names * (case.names - case.names[:, :1])
    if case.labels is not None:
        logits = logits + case.labels
    if case.clusters is not None:
        logits = logits + of_clusters * min(1.0, case.n_words / ENOUGH_WORDS) * case.clusters
    return logits


def found_in(case: Case, logits: Any, scores: Any, transitions: Any, without_prior: float | None) -> list[Sentence]:
    n_words = [len(sentence.words) for sentence in case.task.scored]
    tags = logits.argmax(axis=1) if without_prior is None else viterbi(logits, n_words, transitions, without_prior)
    spans = decode(scores, n_words, [one.name for one in case.task.types], tags)
    return [Sentence(s.words, found) for s, found in zip(case.task.scored, spans, strict=True)]


def f1s(
    cases: list[Case], transitions: Any, of_names: float, of_clusters: float, without_prior: float | None = -1.0
) -> tuple[float, float]:
    by_task: dict[str, list[float]] = {}
    without_prior = of_names / 2 if without_prior == -1 else without_prior
    for case in cases:
        logits = total(case, of_names, of_clusters)
        found = found_in(case, logits, logits, transitions, without_prior)
        by_task.setdefault(case.task.name, []).append(100 * score(case.task.scored, found).micro.f1)
    means = {name: float(np.mean(values)) for name, values in by_task.items()}
    files, folders = (
        [m for name, m in means.items() if name.endswith("/") == is_folder] for is_folder in (False, True)
    )
    return float(np.mean(files or [np.nan])), float(np.mean(folders or [np.nan]))


def calibration_error(cases: list[Case], transitions: Any) -> float:
    """Return how far the scores of the default method are from the share of mentions that are right."""
    method = METHODS["handful"].with_names
    pairs: list[tuple[float, bool]] = []
    for case in cases:
        weight = max(NAME_LEAST, NAME_WORTH / max(case.shots, 1))
        logits = total(case, weight, method.weights["prototypes"])
        lead = Lead(method.calibration.at_zero, method.calibration.by_logit / (1 + weight))
        found = found_in(case, logits, lead.scores(logits), transitions, weight / 2)
        for gold, sentence in zip(case.task.scored, found, strict=True):
            right = Counter(gold.spans)
            pairs += [(span.score, right[span] > 0) for span in sentence.spans]
    scores, is_right = np.array(pairs).T
    bins = np.minimum((10 * scores).astype(int), 9)
    return float(sum(abs((scores - is_right)[bins == i].sum()) for i in range(10)) / len(scores))


if __name__ == "__main__":
    main()
