"""What each part of our method is worth, on development data only: the figures in docs/decisions/0002 and 0003.

    OMP_NUM_THREADS=1 python benchmarks/choices.py FOLDER... [--supports 10] [--only parts,ratio,scores]

The method is the one without names of types: labels and clusters alone. The encoder must have transitions.

A FOLDER holds train.txt, dev.txt and test.txt (dev may be missing); nothing is scored on test. Dev (train if there is
no dev) is cut into two halves by a hash of the words of each sentence. Supports come from one half, and the other half
is scored. The first half and 30,000 words of train are the unlabelled text. Figures are strict span F1, as a mean over
targets.
"""

import argparse
from pathlib import Path

import numpy as np
from differences import compare
from rich.console import Console
from rich.table import Table
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression

from handful._util.passes import ByBlock
from handful.bench._targets import read_target
from handful.bench._tasks import make_task
from handful.bench.settings import Settings
from handful.cluster import SubspaceKMeans, tag_distances
from handful.encoders import CachedEncoder, load
from handful.encoders.cache import RememberingEncoder
from handful.tagger._learning import FEWEST_MENTIONS, METHODS, estimate_o_ratio
from handful.tagger.decoding import runs, viterbi
from handful.tagger.evidence import NearestLabel, Regression, o_chances
from handful.tagger.inputs import gather_for_fit
from handful.tagger.training_text import TrainingText, sentences_of, types_to_learn

METHOD = METHODS["handful"]  # without names
CLUSTERS = METHOD.weights["prototypes"]
SHOTS = (1, 5)
FIXED = (0.85, 0.90, 0.95)
PARTS = (
    "paper, no ratio", "and weight for the labels", "and transitions", "and a regression", "and the nearest word",
    "and the ratio", "all but the weight", "all but transitions", "labels and transitions alone", "regression alone",
)  # fmt: skip


class Cell:
    """One support of one target: features, labels, and what all choices below share."""

    def __init__(self, task, support, encoder, unlabelled, scored):
        self.shots, self.transitions = support.shots, encoder.transitions
        given, labels = gather_for_fit(support.sentences, unlabelled)
        features = encoder.encode(given.sentences)
        text = TrainingText.empty(encoder.dim).with_more(given.sentences)
        self.types = types_to_learn(sentences_of(labels))
        self.X, self.labelled = features, text.with_labels(labels).labelled_words(self.types)
        known, n_tags = self.labelled.examples, self.labelled.n_tags
        words = self.X[known.rows]
        self.regression = Regression.fit(words, known.tags, n_tags)
        self.X_scored = scored
        self.n_words = [len(s.words) for s in task.scored]
        self.gold = {(i, *_key(span)) for i, s in enumerate(task.scored) for span in s.spans}
        self.by_regression = METHOD.weights["regression"] * self.regression.logits(scored)
        nearest = NearestLabel.of(words, known.tags, n_tags)
        self.by_labels = self.by_regression + METHOD.weights["nearest"] * nearest.logits(scored)
        self._distances = {}

    def distances(self, ratio, *, weighted):
        """Return the squared distance of each scored word to each tag, (n, n_tags)."""
        key = (ratio, weighted)
        if key not in self._distances:
            weights = self.labelled.weights(METHOD.labelled_mass) if weighted else None
            fitted = SubspaceKMeans(ratio).fit(self.X, self.labelled.labels(), sample_weight=weights)
            self._distances[key] = tag_distances(
                self.X_scored, fitted.prototypes_, fitted.prototype_tags_, fitted.projection_, self.labelled.n_tags
            )
        return self._distances[key]

    def estimates(self):
        """Return ratios by name, each within what the labels allow."""
        n, may_be_o, is_sure = len(self.X), self.labelled.allowed[:, 0], self.labelled.is_sure
        only_o, only_entity = (is_sure & may_be_o).sum() / n, (~may_be_o).sum() / n
        is_free = self.labelled.is_unlabelled()
        is_o = self.regression.logits(self.X[is_free]).argmax(axis=1) == 0
        named = {
            "none": None,
            **{f"{ratio:.2f}": ratio for ratio in FIXED},
            "the support's own share": may_be_o[is_sure].mean(),
            "regression, mean chance": estimate_o_ratio(
                [ByBlock.of(o_chances(self.regression.logits(self.X)), n)], self.labelled
            ),
            "regression, share of O": only_o + is_free.mean() * is_o.mean(),
        }
        least, most = only_o + 1 / n, 1 - only_entity - 1 / n
        return {name: None if r is None else float(np.clip(r, least, most)) for name, r in named.items()}

    def auto(self):
        """Return the ratio that `o_ratio="auto"` takes."""
        return self.estimates()["regression, mean chance"] if self.shots >= FEWEST_MENTIONS else None

    def tags(self, logits, *, path):
        """Return the tag of each scored word: on the best path, or each by itself."""
        return viterbi(logits, self.n_words, self.transitions) if path else logits.argmax(axis=1)

    def mentions(self, tags):
        """Yield each mention that tags make, with its words."""
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
            (-plain, False), (-D, False), (-CLUSTERS * D, True), (self.by_regression - CLUSTERS * D, True),
            (self.by_labels - CLUSTERS * D, True), (self.by_labels - CLUSTERS * ratio, True),
            (self.by_labels - CLUSTERS * plain, True), (self.by_labels - CLUSTERS * D, False),
            (self.by_labels, True), (self.by_regression, False),
        ]  # fmt: skip
        return dict(zip(PARTS, (self.f1(z, path=path) for z, path in logits), strict=True))

    def ratios(self):
        """Return F1 by (method, ratio)."""
        found = {}
        for name, ratio in self.estimates().items():
            found["paper", name] = self.f1(-self.distances(ratio, weighted=False), path=False)
            z = self.by_labels - CLUSTERS * self.distances(ratio, weighted=True)
            found["handful", name] = self.f1(z, path=True)
        chosen = "regression, mean chance" if self.shots >= FEWEST_MENTIONS else "none"
        return found | {(method, "auto"): found[method, chosen] for method in ("paper", "handful")}

    def sureness(self):
        """Yield for each mention: the method, whether it is right, its score as a softmax, and the leads of its words.

        The lead of a word is how far its tag is ahead of the best other tag; it is None for the paper's method.
        """
        D = self.distances(None, weighted=False)
        paper = softmax(-D, axis=1)
        for mention, rows in self.mentions(D.argmin(axis=1)):
            tag = self.types.index(mention[3]) + 1
            yield "paper", mention in self.gold, paper[rows, tag].mean(), None
        z = self.by_labels - CLUSTERS * self.distances(self.auto(), weighted=True)
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
    """Return {name: {cell: F1}} of {cell: {name: F1}}."""
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
    parser.add_argument("--supports", type=int, default=10, help="how many supports for each number of shots")
    parser.add_argument("--only", default="parts,ratio,scores", help="which tables to print")
    parser.add_argument("--encoder", default="handful-en")
    options = parser.parse_args()
    only = options.only.split(",")
    encoder = CachedEncoder(load(options.encoder))
    if encoder.transitions is None:
        parser.error(f"the encoder {options.encoder} has no transitions; take one that was trained with handful")
    console = Console(width=170)
    parts, ratios, scores = {}, {}, []
    for folder in options.folders:
        task = make_task(read_target(folder), Settings(shots=SHOTS, sets=options.supports, on="dev"))
        for note in task.notes:
            console.print(f"note: {note}")
        unlabelled = task.text("all")
        memory = RememberingEncoder(encoder)
        for part in (unlabelled, task.scored):
            memory.remember(part, progress=False)
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
