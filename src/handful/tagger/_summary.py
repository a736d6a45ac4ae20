"""`FitSummary`: what a fit learned, in words, and what to try next."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._decode import runs
from ._learning import Learned
from ._model import Model
from ._ratio import FEWEST_MENTIONS
from ._training import TrainingText

__all__ = ["FitSummary", "summarise"]

N_EXAMPLES = 3
FEW_MENTIONS = 5
LITTLE_TEXT = 5_000  # words


@dataclass(frozen=True)
class FitSummary:
    """What a fit learned.

    Attributes
    ----------
    method : "handful" or "paper"
    types : the types, sorted
    mentions : labelled mentions by type
    n_support, n_support_words : labelled sentences, and their words
    n_unlabelled_words : words of sentences with no label
    ratio_asked : the share of O words asked for, or None
    ratio_is_estimated : whether it was estimated, not given
    ratio_met : the share of O words in the last assignment, of all words
    rounds : how many were done
    objective : after the last round; see `handful.cluster.SubspaceKMeans`
    unlabelled_words : unlabelled words by the type that the last round gave them
    examples : for each type three mentions found in the unlabelled text, the surest first
    advice : what to try next
    notes : what was handled on the way, such as what reading the files met with
    """

    method: str
    types: list[str]
    mentions: dict[str, int]
    n_support: int
    n_support_words: int
    n_unlabelled_words: int
    ratio_asked: float | None
    ratio_is_estimated: bool
    ratio_met: float
    rounds: int
    objective: float
    unlabelled_words: dict[str, int]
    examples: dict[str, list[str]]
    advice: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return it as dicts, lists, strings and numbers."""
        return asdict(self)

    def __str__(self) -> str:
        """Say it in a few lines."""
        verb = "estimated" if self.ratio_is_estimated else "asked"
        asked = "no ratio" if self.ratio_asked is None else f"ratio {verb} {self.ratio_asked:.4g}"
        lines = [
            f"{self.n_support} labelled sentences, {sum(self.mentions.values())} mentions; "
            f"{self.n_unlabelled_words:,} unlabelled words",
            f"{asked}, {self.ratio_met:.4g} of all words are O; {self.rounds} rounds, objective {self.objective:.4f}",
        ]
        for name in self.types:
            shown = f", such as {'; '.join(self.examples[name])}" if self.examples[name] else ""
            lines.append(
                f"{name}: {self.mentions[name]} mentions, {self.unlabelled_words[name]:,} unlabelled words{shown}"
            )
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes), *(f"try: {a}" for a in self.advice)])


def summarise(text: TrainingText, learned: Learned, method: str, is_auto: bool, notes: list[str]) -> FitSummary:
    """Say what a fit learned; `is_auto` is whether the ratio was to be estimated."""
    model, fitted, allowed = learned.model, learned.clusters, learned.allowed
    is_free = text.is_unlabelled()
    counts = np.bincount(fitted.tags_[is_free], minlength=len(model.tags))
    mentions = Counter(span.type for sentence in text.labels.values() for span in sentence.spans or ())
    sure_o = (allowed.sum(axis=1) == 1) & allowed[:, 0]
    summary = FitSummary(
        method=method,
        types=list(model.types),
        mentions={name: mentions[name] for name in model.types},
        n_support=len(text.labels),
        n_support_words=sum(map(len, text.labels)),
        n_unlabelled_words=int(is_free.sum()),
        ratio_asked=None if fitted.o_ratio is None else float(fitted.o_ratio),
        ratio_is_estimated=is_auto and fitted.o_ratio is not None,
        ratio_met=float(fitted.o_share_),
        rounds=int(fitted.n_iter_),
        objective=float(fitted.objective_[-1]),
        unlabelled_words={name: int(n) for name, n in zip(model.types, counts[1:], strict=True)},
        examples=_examples(text, model, fitted.tags_, is_free),
        notes=notes,
    )
    summary.advice.extend(_advice(summary, is_auto, float(sure_o[~is_free].mean())))
    return summary


def _examples(
    text: TrainingText, model: Model, tags: NDArray[np.int64], is_free: NDArray[np.bool_]
) -> dict[str, list[str]]:
    """Find for each type the surest mentions in the unlabelled text, of different words."""
    tags = np.where(is_free, tags, 0)
    rows = np.flatnonzero(tags)
    scores = np.zeros(len(tags))
    scores[rows] = model.scores(np.asarray(text.features[rows]))[np.arange(len(rows)), tags[rows]]
    surest: dict[str, dict[str, tuple[float, str]]] = {name: {} for name in model.types}
    for number, start, stop, first in runs(tags, np.diff(text.starts).tolist()):
        words = " ".join(text.sentences[number].words[start - first : stop - first])
        known = surest[model.tags[tags[start]]]
        score = float(scores[start:stop].mean())
        if score > known.get(words.casefold(), (-1.0, ""))[0]:
            known[words.casefold()] = (score, words)
    return {
        name: [words for _, words in sorted(known.values(), key=lambda pair: -pair[0])[:N_EXAMPLES]]
        for name, known in surest.items()
    }


def _advice(summary: FitSummary, is_auto: bool, o_share: float) -> list[str]:
    advice = []
    if summary.n_unlabelled_words == 0:
        advice.append(
            "give unlabelled text of the kind you want to tag (unlabelled=): prototypes then come from all of it, "
            "not from the labelled words alone"
        )
    elif summary.n_unlabelled_words < LITTLE_TEXT:
        advice.append(
            f"give more unlabelled text: {summary.n_unlabelled_words:,} words are few, tens of thousands help"
        )
    if summary.n_unlabelled_words and summary.ratio_asked is None:
        estimate = (
            f"label {FEWEST_MENTIONS} mentions of each type, for the share of words in no mention to be estimated,"
            if is_auto
            else "let the share of words in no mention be estimated (o_ratio='auto')"
        )
        advice.append(
            f"{estimate} or say it (o_ratio=, often 0.85 to 0.97): in the support it is {o_share:.2f}, which is lower "
            "than in other text, for its sentences were picked for their mentions"
        )
    few = {name: n for name, n in summary.mentions.items() if n < FEW_MENTIONS}
    if few:
        shown = ", ".join(f"{name} ({n})" for name, n in few.items())
        advice.append(f"label more mentions, {FEW_MENTIONS} of each type are a good number: {shown}")
    if summary.n_unlabelled_words:
        absent = [name for name, n in summary.unlabelled_words.items() if n == 0]
        if absent:
            advice.append(
                f"no unlabelled word was taken for {', '.join(absent)}: see that the text has such mentions, or lower "
                "the ratio"
            )
    return advice
