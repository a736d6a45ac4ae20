"""How names, labels and clusters are put together: F1 and calibration on development data, for docs/decisions/0004.

    OMP_NUM_THREADS=1 python benchmarks/name_weights.py corpora/mosaic/dev/*.txt DATA/wnut17 DATA/btc ...

A file is cut in two by taking every second sentence. The dev file of a folder (train if there is no dev) is cut in two
by a hash of the words of each sentence. Supports come from one half, and the other half is scored; a support has as
many mentions of each type as asked for, or all where there are fewer. "text" means that a fit also sees all of the file
without labels, or the half that supports come from and 15,000 words of the folder's train file. Figures are strict span
F1, the mean over files / the mean over folders.
"""

import argparse
import hashlib
import os
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import softmax

from handful import encoders
from handful.cluster import SubspaceKMeans, tag_distances
from handful.evaluate import sample_support, score
from handful.tagger import _trust, evidence, logistic
from handful.tagger._learning import ENOUGH_MENTIONS, ENOUGH_WORDS, METHODS, type_names
from handful.tagger._trust import agreement, doubts, trust
from handful.tagger.decoding import decode, viterbi
from handful.tagger.evidence import NearestLabel, Regression
from handful.text import Sentence, read, read_types

SHOTS, SETS, MOST = (0, 1, 5, 20), 2, 9_000
METHOD = METHODS["handful"].with_names
BARE = METHODS["handful"]


@dataclass
class Task:
    """A corpus with its halves, and their features."""

    name: str
    types: tuple[Any, ...]
    pool: list[Sentence]
    scored: list[Sentence]
    text: list[Sentence]
    names: Any = None
    features: Any = None  # of pool, scored and text


@dataclass
class Case:
    """A task with one support: its words and tags, and the logits of each piece of evidence for the scored half."""

    task: Task
    shots: int
    words: Any
    tags: Any
    counts: Any
    places: Any  # the number of the sentence of each word
    n_sentences: int
    names: Any
    nearest: Any
    cosines: Any
    clusters: dict[bool, Any]  # without text, and with

    def regression(self, names: Any = None, **settings: float) -> Any:
        """Return the logits of the regression, beside names or alone, with some of its settings changed."""
        homes = {name: logistic if hasattr(logistic, name) else evidence for name in settings}
        before = {name: getattr(homes[name], name) for name in settings}
        try:
            for name, value in settings.items():
                setattr(homes[name], name, value)
            known = None if names is None else self.task.names.from_o()
            fitted = Regression.fit(self.words, self.tags, 1 + len(self.task.types), by_names=names, known=known)
        finally:
            for name, value in before.items():
                setattr(homes[name], name, value)
        return above_o(fitted.logits(self.task.features[1]))

    def names_of_words(self) -> Any:
        """Return what names say of the labelled words."""
        return self.task.names.logits(self.words)


Rows = dict[str, Callable[[Case], Any]]  # from a case to logits, or None where a row does not apply


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+", help="inline files, or folders with dev.txt, train.txt and types.txt")
    parser.add_argument("--encoder", default="handful-en")
    parser.add_argument("--only", choices=sorted(PARTS), nargs="+")
    parser.add_argument("--processes", type=int, default=1)
    given = parser.parse_args()
    encoder = encoders.load(given.encoder)
    for place in given.corpora:
        TASKS.append(with_features(encoder, task_of(Path(place))))
    SETTINGS["transitions"] = encoder.transitions
    with get_context("fork").Pool(given.processes) as pool:
        jobs = [(i, shots, n) for i in range(len(TASKS)) for shots in SHOTS for n in range(SETS if shots else 1)]
        jobs = [(*job, name) for name in given.only or PARTS for job in jobs]
        found = pool.map(run, jobs, chunksize=1)
    for name in given.only or PARTS:
        print(f"\n{name}: {TITLES[name]}")
        show([each for job, each in zip(jobs, found, strict=True) if job[3] == name], is_error=name == "scores")


TASKS: list[Task] = []
SETTINGS: dict[str, Any] = {}


def run(job: tuple[int, int, int, str]) -> tuple[str, int, dict[str, Any]]:
    """Return the name of the task, the number of labels, and F1 by row (for scores: pairs of score and right)."""
    number, shots, support, part = job
    case = case_of(TASKS[number], shots, support)
    found = PARTS[part](case)
    if part != "scores":
        found = {name: f1(case, logits) for name, logits in found.items()}
    return case.task.name, shots, found


def show(found: Sequence[tuple[str, int, dict[str, Any]]], *, is_error: bool) -> None:
    for shots in sorted({each[1] for each in found}):
        rows: dict[str, dict[str, list[Any]]] = {}
        for name, n, values in found:
            if n == shots:
                for row, value in values.items():
                    rows.setdefault(row, {}).setdefault(name, []).append(value)
        for row, by_task in rows.items():
            if is_error:
                shown = f"{calibration_error([pair for values in by_task.values() for v in values for pair in v]):.3f}"
            else:
                means = {name: float(np.mean(values)) for name, values in by_task.items()}
                kinds = [[m for name, m in means.items() if name.endswith("/") == is_folder] for is_folder in (0, 1)]
                shown = " / ".join(f"{np.mean(kind):5.1f}" if kind else "    -" for kind in kinds)
                shown += "   " + "  ".join(f"{name} {m:.1f}" for name, m in means.items() if name.endswith("/"))
            print(f"{shots:3} labels  {row:28} {shown}")


# What is compared: from a case to logits by row.


def worth(case: Case) -> dict[str, Any]:
    rows = {}
    if case.shots:
        rows["labels"] = bare(case)
        rows["labels, names"] = total(case)
        rows["labels, names, text"] = total(case, has_text=True)
    else:
        rows["names"] = total(case)
        rows["names, text"] = total(case, has_text=True)
    return rows


def regression(case: Case) -> dict[str, Any]:
    if not case.shots:
        return {}
    rows = {"as chosen": total(case)}
    for name, values in {"BESIDE_NAMES": (5.0, 80.0), "NAMES_TAKEN": (0.25, 1.0)}.items():
        for value in values:
            rows[f"{name} {value:g}"] = total(case, **{name: value})
    for weight in (0.0, 36.0, 144.0):
        rows[f"nearest {weight:g}"] = total(case, nearest=weight)
    rows["labels times n / (n + 1)"] = total(case, labels=case.n_sentences / (case.n_sentences + 1))
    return rows


def clusters(case: Case) -> dict[str, Any]:
    weights = {"0": 0.0, "1/320": 1 / 320, "1/80": 1 / 80, "1/20": 1 / 20}
    return {name: total(case, has_text=True, clusters=weight) for name, weight in weights.items()}


def transitions(case: Case) -> dict[str, Any]:
    if case.shots:
        return {}
    logits = total(case)
    of_names = METHOD.weights["names"]
    return {"none": (logits, None), "all of them": (logits / of_names, 0.0), "as chosen": logits}


def swapped(case: Case) -> dict[str, Any]:
    if not case.shots or len(case.task.types) < 2:
        return {}
    return {
        "right": total(case, is_doubted=False),
        "right, doubted": total(case),
        "swapped": total(case, is_swapped=True, is_doubted=False),
        "swapped, doubted": total(case, is_swapped=True),
        "no names": bare(case),
    }


def doubted(case: Case) -> dict[str, Any]:
    if not case.shots:
        return {}
    before, rows = DOUBT_LIMITS, {}
    limits = {"no shift": (0.0, 0.0), "deviation 1": (1e9, 1.0), "deviation 4": (1e9, 4.0)}
    limits |= {f"1/{n} of the sentences": (1 / n, 4.0) for n in (10, 5, 3)}
    for name, limit in limits.items():
        set_doubts(*limit)
        rows[name] = total(case)
    set_doubts(*before)
    return rows


def set_doubts(by_sentence: float, most: float) -> None:
    _trust.DOUBT_BY_SENTENCE, _trust.MOST_DOUBT = max(by_sentence, 1e-6), max(most, 1e-6)


DOUBT_LIMITS = _trust.DOUBT_BY_SENTENCE, _trust.MOST_DOUBT


def scores(case: Case) -> dict[str, Any]:
    return {row: right_and_wrong(case, total(case, has_text=has)) for row, has in (("none", False), ("text", True))}


PARTS = {each.__name__: each for each in (worth, regression, clusters, transitions, swapped, doubted, scores)}
TITLES = {
    "worth": "what names, labels and text are worth",
    "regression": "the regression beside names, and the nearest labelled word",
    "clusters": "the weight of clusters, with text",
    "transitions": "names alone: no transitions, all of them, and as chosen",
    "swapped": "each type with the description of another, no text",
    "doubted": "shifts below 0 of names that claim words labelled O, no text",
    "scores": "expected calibration error, ten bins",
}


def total(
    case: Case,
    *,
    has_text: bool = False,
    is_swapped: bool = False,
    is_doubted: bool = True,
    nearest: float = METHOD.weights["nearest"],
    clusters: float = METHOD.weights["prototypes"],
    labels: float = 1.0,
    **settings: float,
) -> Any:
    """Return the logits of the default method, with something changed."""
    turn = [0, *np.roll(np.arange(1, 1 + len(case.task.types)), 1)] if is_swapped else slice(None)
    names, of_words = case.names[:, turn], case.names_of_words()[:, turn]
    if is_doubted and case.shots:
        given = Given(of_words)
        trusted = np.concatenate([[1.0], trust(given, case.words, case.tags, case.counts)])
        held_back = np.concatenate(
            [[0.0], doubts(given, case.words, case.tags, [case.n_sentences] * len(case.task.types))]
        )
        names, of_words = trusted * (names + held_back), trusted * (of_words + held_back)
    logits = METHOD.weights["names"] * names
    if case.shots:
        enough = min(1.0, case.counts.sum() / ENOUGH_MENTIONS)
        by_regression = METHOD.weights["regression"] * enough * case.regression(of_words, **settings)
        by_labels = by_regression + nearest * (2 - enough) * case.nearest
        logits = logits + labels * agreement(case.words, case.tags, case.places) * by_labels
    if not is_swapped and has_text in case.clusters:  # clusters have seen the right names
        logits = logits + clusters * case.clusters[has_text]
    return logits


@dataclass
class Given:
    """Names whose scores are known already."""

    known: Any

    @property
    def vectors(self) -> Any:
        """One row for each type."""
        return self.known[0, 1:, None]

    def scores(self, words: Any) -> Any:
        """Return them."""
        return self.known


def bare(case: Case) -> tuple[Any, float]:
    """Return the logits of labels alone, without clusters, and how transitions count."""
    logits = BARE.weights["regression"] * case.regression() + BARE.weights["nearest"] * case.cosines
    return logits, BARE.without_prior


def f1(case: Case, logits: Any) -> float:
    logits, without_prior = logits if isinstance(logits, tuple) else (logits, METHOD.without_prior)
    return 100 * score(case.task.scored, found_in(case, logits, logits, without_prior)).micro.f1


def found_in(case: Case, logits: Any, by_tag: Any, without_prior: float | None) -> list[Sentence]:
    n_words = [len(sentence.words) for sentence in case.task.scored]
    tags = logits.argmax(axis=1)
    if without_prior is not None:
        tags = viterbi(logits, n_words, SETTINGS["transitions"], without_prior)
    spans = decode(by_tag, n_words, [one.name for one in case.task.types], tags)
    return [Sentence(s.words, found) for s, found in zip(case.task.scored, spans, strict=True)]


def right_and_wrong(case: Case, logits: Any) -> list[tuple[float, bool]]:
    """Return the score of each mention that was found, and whether it is right."""
    pairs = []
    found = found_in(case, logits, METHOD.calibration.scores(logits), METHOD.without_prior)
    for gold, sentence in zip(case.task.scored, found, strict=True):
        right = Counter(gold.spans)
        pairs += [(span.score, right[span] > 0) for span in sentence.spans]
    return pairs


def calibration_error(pairs: list[tuple[float, bool]]) -> float:
    by_score, is_right = np.array(pairs).T
    bins = np.minimum((10 * by_score).astype(int), 9)
    return float(sum(abs((by_score - is_right)[bins == i].sum()) for i in range(10)) / len(pairs))


# From files to cases.


def task_of(place: Path) -> Task:
    if place.is_file():
        corpus = read(place)
        return Task(place.stem, corpus.types, corpus[::2], corpus[1::2], list(corpus[1::2]))
    has_dev = (place / "dev.txt").is_file()
    corpus = read(place / ("dev.txt" if has_dev else "train.txt"))
    halves: tuple[list[Sentence], list[Sentence]] = ([], [])
    for sentence in corpus:
        halves[hashlib.sha256("\x1f".join(sentence.words).encode()).digest()[0] % 2].append(sentence)
    pool, scored = (at_most(half, MOST) for half in halves)
    return Task(
        place.name + "/",
        read_types(place / "types.txt"),
        pool,
        scored,
        at_most(read(place / "train.txt"), 15_000) if has_dev else [],
    )


def at_most(sentences: list[Sentence], n_words: int) -> list[Sentence]:
    n = np.cumsum([len(sentence.words) for sentence in sentences])
    return sentences[: int(np.searchsorted(n, n_words))]


def with_features(encoder: Any, task: Task) -> Task:
    nothing = np.empty((0, encoder.dim), np.float32)
    features = [encoder.encode(part) if part else nothing for part in (task.pool, task.scored, task.text)]
    return replace(task, names=type_names(encoder, task.types), features=features)


def case_of(task: Task, shots: int, number: int) -> Case:
    pool, scored, text = task.features
    chosen = sample_support(task.pool, shots, 0, sets=SETS, fewer=True)[number] if shots else []
    places = {id(sentence): i for i, sentence in enumerate(task.pool)}
    picked = [places[id(sentence)] for sentence in chosen]
    ends = np.cumsum([0, *(len(sentence.words) for sentence in task.pool)])
    rows = [np.arange(ends[i], ends[i + 1]) for i in picked]
    at = np.concatenate([np.empty(0, np.int64), *rows])
    tag_of = {one.name: tag for tag, one in enumerate(task.types, 1)}
    tags = np.concatenate([np.zeros(0, np.int64), *(tags_of(sentence, tag_of) for sentence in chosen)])
    counts = np.array([sum(span.type == one.name for s in chosen for span in s.spans or ()) for one in task.types])
    places = np.repeat(np.arange(len(rows)), [len(some) for some in rows])
    words, others = pool[at], np.delete(pool, at, axis=0)
    found: dict[bool, Any] = {}
    for has_text in (False, True):
        unlabelled = np.concatenate([others, text]) if has_text else pool[:0]
        if len(words) + len(unlabelled):
            found[has_text] = cluster(task, words, tags, unlabelled, scored)
    nearest, cosines = (
        above_o(NearestLabel.of(words, tags, 1 + len(task.types), steepness=steepness).logits(scored))
        if shots
        else None
        for steepness in (METHOD.steepness, 0.0)
    )
    return Case(
        task, shots, words, tags, counts, places, len(chosen), task.names.logits(scored), nearest, cosines, found
    )


def tags_of(sentence: Sentence, tag_of: dict[str, int]) -> Any:
    tags = np.zeros(len(sentence.words), np.int64)
    for span in sentence.spans or ():
        tags[span.start : span.end] = tag_of.get(span.type, 0)
    return tags


def cluster(task: Task, words: Any, tags: Any, text: Any, scored: Any) -> Any:
    rows, row_tags = task.names.as_words()
    y = np.concatenate([tags, row_tags, np.full(len(text), -1)])
    weights = np.ones(len(y))
    weights[y >= 0] = max(1.0, METHOD.labelled_mass * len(text) / (y >= 0).sum())
    ratio = None
    if len(text):
        chances = softmax(task.names.scores(text), axis=1)[:, 0]
        ratio = float((chances.sum() + (y == 0).sum()) / len(y))
    fitted = SubspaceKMeans(ratio).fit(np.concatenate([words, rows, text]), y, sample_weight=weights)
    n_tags = 1 + len(task.types)
    logits = -tag_distances(scored, fitted.prototypes_, fitted.prototype_tags_, fitted.projection_, n_tags)
    return above_o(logits) * min(1.0, (len(words) + len(text)) / ENOUGH_WORDS)


def above_o(logits: Any) -> Any:
    return np.asarray(logits - logits[:, :1], np.float64)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
