"""What each part of our method is worth, on development data only: the figures in docs/decisions/0002 and 0003.

    OMP_NUM_THREADS=1 python benchmarks/choices.py FOLDER... [--supports 10] [--only parts,ratio,scores]

A FOLDER holds train.txt, dev.txt and test.txt (dev may be missing); nothing is scored on test. Dev (train where there
is none) is cut into two halves by a hash of each sentence's words: supports come from one half and are scored on the
other; the first half and 30,000 words of train are the unlabelled text. Strict span F1, the mean over targets.
"""

import argparse
from pathlib import Path

import numpy as np
from handful.tagger._labels import LabelModel
from handful.tagger._ratio import FEWEST_MENTIONS
from handful.tagger._training import TrainingText, types_to_learn
from rich.console import Console
from rich.table import Table
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression

from handful.bench._differences import compare
from handful.bench._features import MemoryEncoder
from handful.bench._settings import Settings
from handful.bench._targets import read_target
from handful.bench._tasks import make_task
from handful.cluster import SubspaceKMeans
from handful.encoders import CachedEncoder, load
from handful.tagger._decode import ENGLISH, runs, viterbi
from handful.tagger._inputs import gather_for_fit
from handful.tagger._learning import LABELLED_MASS
from handful.tagger._model import CLUSTERS

SHOTS = (1, 5)
FIXED = (0.85, 0.90, 0.95)
PARTS = (
    "paper, no ratio", "and weight for the labels", "and transitions", "and a regression", "and the nearest word",
    "and the ratio", "all but the weight", "all but transitions", "labels and transitions alone", "regression alone",
)  # fmt: skip


class Cell:
    """One support of one target: features, labels, and what every choice below shares."""

    def __init__(self, task, support, encoder, unlabelled, scored):
        self.shots = support.shots
        sentences, labels, _ = gather_for_fit(support.sentences, unlabelled)
        text = TrainingText.empty(encoder.dim).grown(sentences, encoder.encode(sentences)).labelled(labels)
        self.types = types_to_learn(labels.values())
        self.X, self.allowed = text.features, text.allowed(self.types)
        rows = text.sure_rows(self.allowed)[1]
        self.labels = LabelModel.fit(self.X[rows], self.allowed[rows].argmax(axis=1), len(self.types) + 1)
        self.sure = self.allowed.sum(axis=1) == 1
        self.scored, self.X_scored = task.scored, scored
        self.n_words = [len(s.words) for s in task.scored]
        self.gold = {(i, *_key(span)) for i, s in enumerate(task.scored) for span in s.spans}
        self.regression = self.labels.regression(scored)
        self.all_labels = self.labels.logits(scored)
        self._distances = {}

    def distances(self, ratio, *, weighted):
        """Return the squared distance of each scored word to each tag, and the share of O words found in the text."""
        key = (ratio, weighted)
        if key not in self._distances:
            weights = None
            if weighted:
                weights = np.where(self.sure, max(1, LABELLED_MASS * (~self.sure).sum() / self.sure.sum()), 1.0)
            fitted = SubspaceKMeans(ratio).fit(self.X, self.allowed, sample_weight=weights)
            self._distances[key] = fitted._tag_distances(self.X_scored)
        return self._distances[key]

    def estimates(self):
        """Return ratios by name, each within what the labels allow."""
        only_o = (self.sure & self.allowed[:, 0]).mean()
        only_entity = (~self.allowed[:, 0]).mean()
        chances = softmax(self.labels.regression(self.X), axis=1)[~self.sure]
        free = (~self.sure).mean()
        named = {
            "none": None,
            **{f"{ratio:.2f}": ratio for ratio in FIXED},
            "the support's own share": self.allowed[self.sure, 0].mean(),
            "regression, mean chance": only_o + free * chances[:, 0].mean(),
            "regression, share of O": only_o + free * (chances.argmax(axis=1) == 0).mean(),
        }
        small = 1 / len(self.X)
        return {
            name: None if r is None else float(np.clip(r, only_o + small, 1 - only_entity - small))
            for name, r in named.items()
        }

    def auto(self):
        """Return the ratio that `o_ratio="auto"` takes."""
        return self.estimates()["regression, mean chance"] if self.shots >= FEWEST_MENTIONS else None

    def tags(self, logits, *, path):
        """Return the tag of each scored word, as the best path or each by itself."""
        return viterbi(logits, self.n_words, ENGLISH) if path else logits.argmax(axis=1)

    def mentions(self, tags):
        """Yield (mention, its words) of tags."""
        for i, start, stop, first in runs(tags, self.n_words):
            yield (i, start - first, stop - first, self.types[tags[start] - 1]), slice(start, stop)

    def f1(self, logits, *, path):
        """Return strict F1 in percent."""
        found = {mention for mention, _ in self.mentions(self.tags(logits, path=path))}
        return 200 * len(found & self.gold) / (len(found) + len(self.gold))

    def parts(self):
        """Return F1 by part."""
        plain = self.distances(None, weighted=False)
        D = self.distances(None, weighted=True)
        ratio = self.distances(self.auto(), weighted=True)
        logits = [
            (-plain, False), (-D, False), (-CLUSTERS * D, True), (self.regression - CLUSTERS * D, True),
            (self.all_labels - CLUSTERS * D, True), (self.all_labels - CLUSTERS * ratio, True),
            (self.all_labels - CLUSTERS * plain, True), (self.all_labels - CLUSTERS * D, False),
            (self.all_labels, True), (self.regression, False),
        ]  # fmt: skip
        return dict(zip(PARTS, (self.f1(z, path=path) for z, path in logits), strict=True))

    def ratios(self):
        """Return F1 by (method, ratio)."""
        found = {}
        for name, ratio in self.estimates().items():
            found["paper", name] = self.f1(-self.distances(ratio, weighted=False), path=False)
            z = self.all_labels - CLUSTERS * self.distances(ratio, weighted=True)
            found["handful", name] = self.f1(z, path=True)
        chosen = "regression, mean chance" if self.shots >= FEWEST_MENTIONS else "none"
        return found | {(method, "auto"): found[method, chosen] for method in ("paper", "handful")}

    def sureness(self):
        """Yield for each mention: is it right, the paper's score, ours as a softmax, and its words' leads."""
        D = self.distances(None, weighted=False)
        paper = softmax(-D, axis=1)
        for mention, rows in self.mentions(D.argmin(axis=1)):
            tag = self.types.index(mention[3]) + 1
            yield "paper", mention in self.gold, paper[rows, tag].mean(), None
        z = self.all_labels - CLUSTERS * self.distances(self.auto(), weighted=True)
        ours, ordered = softmax(z, axis=1), np.sort(z, axis=1)
        leads = z - np.where(z == ordered[:, -1:], ordered[:, -2:-1], ordered[:, -1:])
        for mention, rows in self.mentions(self.tags(z, path=True)):
            tag = self.types.index(mention[3]) + 1
            yield "handful", mention in self.gold, ours[rows, tag].mean(), leads[rows, tag]


def _key(span):
    return span.start, span.end, span.type


def mean(values, shots):
    """Return the mean over targets of the mean over supports, of {(target, shots, support): F1}."""
    targets = {target for target, n, _ in values if n == shots}
    return np.mean([np.mean([v for (t, n, _), v in values.items() if (t, n) == (target, shots)]) for target in targets])


def by_name(results):
    """Turn {cell: {name: F1}} around."""
    return {name: {cell: found[name] for cell, found in results.items()} for name in next(iter(results.values()))}


def show_parts(console, results):
    table = Table("part", *[f"{n} shots" for n in SHOTS], *[f"to the row above, {n}" for n in SHOTS], title="parts")
    named, before = by_name(results), None
    for name, values in named.items():
        row = [f"{mean(values, n):.1f}" for n in SHOTS]
        reference = "and the nearest word" if name.startswith("all but") else before
        for n in SHOTS:
            if reference is None or name.endswith("alone"):
                row.append("")
                continue
            d = np.array([values[cell] - named[reference][cell] for cell in values if cell[1] == n])
            row.append(f"{d.mean():+.1f} (p {compare([d])[3]:.4f})")
        table.add_row(name, *row)
        before = name
    console.print(table)
    console.print("“all but” rows are compared with “and the nearest word”; differences over supports, sign-flip test")


def show_ratios(console, results):
    named = by_name(results)
    targets = sorted({target for target, _, _ in results})
    cells = [(n, t) for n in SHOTS for t in targets if any(c[:2] == (t, n) for c in results)]
    for method in ("paper", "handful"):
        table = Table("ratio", *[f"{t}, {n}" for n, t in cells], *[f"mean, {n}" for n in SHOTS], title=method)
        rows = {name: [np.mean([v for c, v in values.items() if c[:2] == (t, n)]) for n, t in cells]
                for (m, name), values in named.items() if m == method}  # fmt: skip
        fixed = [rows[name] for name in ("none", *[f"{r:.2f}" for r in FIXED])]
        rows["best of none and fixed, in hindsight"] = np.max(fixed, axis=0)
        for name, figures in rows.items():
            means = [np.mean([f for f, (shots, _) in zip(figures, cells, strict=True) if shots == n]) for n in SHOTS]
            table.add_row(name, *[f"{f:.1f}" for f in figures], *[f"{f:.1f}" for f in means])
        console.print(table)


def calibration_error(scores, right):
    """Return the expected calibration error in ten bins."""
    bins = np.minimum((scores * 10).astype(int), 9)
    return sum(
        (bins == b).mean() * abs(scores[bins == b].mean() - right[bins == b].mean())
        for b in range(10)
        if (bins == b).any()
    )


def show_scores(console, rows):
    """Fit the two numbers that turn a lead into a chance, on all targets but one, and measure on that one."""
    targets = sorted({target for target, *_ in rows})
    table = Table(
        "target", "paper", "ours, softmax", "ours, calibrated on the others", title="expected calibration error"
    )
    errors, shown, right_of_shown = [], [], []

    def fit(chosen):
        x = np.array([[leads.mean()] for *_, leads in chosen])
        counts = {t: sum(row[0] == t for row in chosen) for t in targets}
        weights = [1000 / counts[row[0]] for row in chosen]
        model = LogisticRegression(C=1e6).fit(x, [row[2] for row in chosen], sample_weight=weights)
        return float(model.intercept_[0]), float(model.coef_[0, 0])

    ours = [row for row in rows if row[1] == "handful"]
    for target in targets:
        a, b = fit([row for row in ours if row[0] != target])
        own = [row for row in ours if row[0] == target]
        right = np.array([row[2] for row in own])
        calibrated = np.array([expit(a + b * row[4]).mean() for row in own])
        paper = [row for row in rows if row[:2] == (target, "paper")]
        figures = [
            calibration_error(np.array([row[3] for row in paper]), np.array([row[2] for row in paper])),
            calibration_error(np.array([row[3] for row in own]), right),
            calibration_error(calibrated, right),
        ]
        errors.append(figures)
        shown.append(calibrated)
        right_of_shown.append(right)
        table.add_row(target, *[f"{f:.3f}" for f in figures])
    table.add_row("mean", *[f"{f:.3f}" for f in np.mean(errors, axis=0)])
    console.print(table)
    a, b = fit(ours)
    console.print(f"on all targets: chance = 1 / (1 + exp(-({a:.2f} + {b:.3f} lead)))")
    scores, right = np.concatenate(shown), np.concatenate(right_of_shown)
    for least in (0.3, 0.5, 0.6, 0.7, 0.8):
        kept = scores >= least
        console.print(
            f"score >= {least}: {100 * right[kept].mean():.0f}% of mentions are right; "
            f"{100 * (kept & right).sum() / right.sum():.0f}% of the right ones are kept"
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--supports", type=int, default=10)
    parser.add_argument("--only", default="parts,ratio,scores")
    options = parser.parse_args()
    only = options.only.split(",")
    encoder = CachedEncoder(load("handful-en"))
    console = Console(width=170)
    parts, ratios, scores = {}, {}, []
    for folder in options.folders:
        task = make_task(read_target(folder), Settings(shots=SHOTS, sets=options.supports, on="dev"))
        for note in task.notes:
            console.print(f"note: {note}")
        unlabelled = [s.without_labels() for s in task.text("all")]
        memory = MemoryEncoder(encoder, [unlabelled, task.scored], progress=False)
        scored = memory.encode(task.scored)
        for support in (one for some in task.supports.values() for one in some):
            cell = Cell(task, support, memory, unlabelled, scored)
            key = (task.name, support.shots, support.name)
            if "parts" in only:
                parts[key] = cell.parts()
            if "ratio" in only:
                ratios[key] = cell.ratios()
            if "scores" in only:
                scores += [(task.name, *row) for row in cell.sureness()]
    if parts:
        show_parts(console, parts)
    if ratios:
        show_ratios(console, ratios)
    if scores:
        show_scores(console, scores)


if __name__ == "__main__":
    main()
