"""A run of tuning: trainings with part of the labels held out, then one with all of them (imports torch)."""

import time
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from handful.encoders import load
from handful.encoders.thaw import write_tuned
from handful.errors import Advice, EncoderError
from handful.tagger import Tagger
from handful.tagger.evidence import TypeNames
from handful.tagger.training_text import TrainingText, sentences_of
from handful.text import types_in

from ._recipe import TuneRecipe
from .prepare import device_of
from .state import OnState, TuneState, showing
from .student import Loop, Student, Thawed

_MEAN_COSINE = 0.97  # of the vectors of labelled words, before and after 8-bit weights

_Counts = list[list[int]]
"""For each held-out sentence that is wholly labelled: the mentions that are right, found, and there."""


class TuneRun:
    """Trainings, one after the other: one for each part that is held out, and one with all labels.

    The tagger is fitted to all labels, with its text; `source` is its encoder.
    """

    def __init__(self, tagger: Tagger, source: Thawed, recipe: TuneRecipe, device: str | None) -> None:
        self._tagger, self._source, self._recipe = tagger, source, recipe
        self._device = device_of(device)
        assert tagger.text_ is not None
        self._sentences = sentences_of(tagger.text_.labels)
        self._allowed = _allowed(tagger, tagger.text_)
        order = np.random.default_rng(recipe.seed).permutation(len(self._sentences))
        self._folds = [np.sort(order[fold :: recipe.folds]) for fold in range(recipe.folds)]
        self._student: Student | None = None
        self._counts: list[dict[str, _Counts]] = []  # of each part, before and after

    def train(self, progress: bool | OnState | None) -> tuple[float, float, float, bool]:
        """Train; with all labels only where that helped on labels that were held out.

        The result is the F1 there of the encoder as it was and of the tuned one, the standard error of the difference,
        and whether the tuned one is to be taken.
        """
        learned = [np.setdiff1d(np.arange(len(self._sentences)), fold) for fold in self._folds]
        steps = [self._recipe.n_steps(len(one)) for one in learned] + [self._recipe.n_steps(len(self._sentences))]
        n_threads = torch.get_num_threads()
        devices = [self._device] if self._device.type == "cuda" else []
        try:
            torch.set_num_threads(self._tagger.threads or n_threads)
            with torch.random.fork_rng(devices), showing(progress) as report:
                self._report, self._n_steps, self._n_done, self._started = report, sum(steps), 0, time.monotonic()
                for fold, some in enumerate(learned):
                    self._learn(some, fold)
                    self._counts.append(self._measure(fold, some))
                before, after, error = self._compare()
                is_better = after - before > self._recipe.caution * error
                if is_better:
                    self._learn(np.arange(len(self._sentences)), len(self._folds))
        finally:
            torch.set_num_threads(n_threads)
        return before, after, error, is_better

    def write(self, folder: Path) -> None:
        """Write the encoder that was trained last, as 8-bit weights, and check it against the floats."""
        student, share = self._student, self._recipe.share
        assert student is not None
        expected = student.encoder(share).encode(self._sentences)
        write_tuned(self._source.folder, folder, self._source.graph, student.weights(share), student.names(share))
        found = load(folder, threads=self._tagger.threads).encode(self._sentences)
        norms = np.linalg.norm(expected, axis=1) * np.linalg.norm(found, axis=1)
        cosine = float(((expected * found).sum(1) / np.maximum(norms, 1e-30)).mean())
        if not cosine >= _MEAN_COSINE:
            raise EncoderError(
                f"8-bit weights are not faithful to the tuned encoder: the mean cosine of its words is {cosine:.3f}, "
                f"under {_MEAN_COSINE}; nothing was written",
                Advice("lower lr in the recipe", "give a lower lr in --recipe"),
            )

    def _learn(self, chosen: NDArray[np.int64], number: int) -> None:
        is_named = self._tagger.names
        self._student = Student(self._source, self._tagger.types_, self._recipe, self._device, is_named=is_named)
        loss = self._student.loss_of([self._allowed[i] for i in chosen])
        loop = Loop(self._student, [self._sentences[i] for i in chosen], loss, number)
        n_folds = len(self._folds)
        what = f"checking {number + 1}/{n_folds}" if number < n_folds else "tuning"
        while loop.step < loop.n_steps:
            loop.take()
            self._n_done += 1
            left = (time.monotonic() - self._started) / self._n_done * (self._n_steps - self._n_done)
            self._report(TuneState(what, self._n_done, self._n_steps, loop.loss, left))

    def _measure(self, fold: int, learned: NDArray[np.int64]) -> dict[str, _Counts]:
        """Fit a tagger without text on what was learned from, and count its mentions in what was held out."""
        assert self._student is not None
        support = [self._sentences[i] for i in learned]
        held_out = [self._sentences[i] for i in self._folds[fold] if self._sentences[i].is_labelled]
        known = set(types_in(self._sentences))
        counts = {}
        for when, share in (("before", 0.0), ("after", self._recipe.share)):
            own = self._tagger.get_params(deep=False)
            changed = {"encoder": self._student.encoder(share), "types": self._tagger.types_, "cache": False}
            tagger = Tagger(**own | changed).fit(support, progress=False)
            tagged = tagger.predict_sentences([sentence.without_labels() for sentence in held_out])
            pairs = [
                ({one for one in found.spans or () if one.type in known}, set(sentence.spans or ()))
                for sentence, found in zip(held_out, tagged, strict=True)
            ]
            counts[when] = [[len(found & gold), len(found), len(gold)] for found, gold in pairs]
        return counts

    def _compare(self) -> tuple[float, float, float]:
        """Compare both encoders on all that was held out; the error is that of the jackknife over sentences."""
        both = [[counts for part in self._counts for counts in part[when]] for when in ("before", "after")]
        each = np.array(both, dtype=np.float64).reshape(2, -1, 3)
        before, after = (float(one) for one in _f1(each.sum(axis=1)))
        n = each.shape[1]
        gains = np.diff(_f1(each.sum(axis=1, keepdims=True) - each), axis=0)[0]
        error = float(np.sqrt((n - 1) / n * ((gains - gains.mean()) ** 2).sum())) if n else 0.0
        return before, after, error


def _allowed(tagger: Tagger, text: TrainingText) -> list[NDArray[np.bool_]]:
    """Return for each labelled sentence which tags its words may have, (n_words, n_tags)."""
    labelled = text.labelled_words([one.name for one in tagger.types_])
    opened = labelled.opened()
    if tagger.model_.piece(TypeNames) is not None or opened.counts[0]:  # else nothing would keep all words from a type
        labelled = opened
    own = ~labelled.is_copy
    allowed, places = labelled.allowed[own], labelled.places[own]
    order = np.lexsort((places[:, 1], places[:, 0]))
    starts = np.flatnonzero(np.diff(places[order, 0], prepend=-1))
    return np.split(allowed[order], starts[1:])


def _f1(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the F1 of counts of mentions that are right, found, and there, (..., 3)."""
    total = counts[..., 1] + counts[..., 2]
    return np.asarray(2 * counts[..., 0] / np.maximum(total, 1))
