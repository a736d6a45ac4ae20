"""`Evaluation`: how good predictions are, and which are worst."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.progress import ProgressCallback
from handful.text import Sentence, Span

from ._scores import MODES, Score, Scores, score

__all__ = ["KINDS", "Evaluation", "Mistake", "evaluate", "mistakes"]

KINDS = ("missed", "spurious", "wrong type", "wrong boundary")
CONTEXT = 8  # words shown on each side of a mistake


@dataclass(frozen=True)
class Mistake:
    """A prediction that is wrong, or a mention that was not found.

    Attributes
    ----------
    kind : "missed" (no word of the mention was found), "spurious" (no word is in a mention), "wrong type" (words in
        common, another type), or "wrong boundary" (words in common, same type)
    gold, predicted : the mention as it should be and as it was found; one may be None
    confidence : the mean score of the tags that were given to the words
    sentence : the sentence, with its right labels
    number : which sentence it is, from 0
    """

    kind: str
    gold: Span | None
    predicted: Span | None
    confidence: float
    sentence: Sentence
    number: int

    @property
    def context(self) -> str:
        """The words around, with what was found and should have been between « and »."""
        spans = [span for span in (self.gold, self.predicted) if span is not None]
        start, end = min(span.start for span in spans), max(span.end for span in spans)
        words = self.sentence.words
        before = ["…"] * (start > CONTEXT) + list(words[max(0, start - CONTEXT) : start])
        after = list(words[end : end + CONTEXT]) + ["…"] * (end + CONTEXT < len(words))
        return " ".join([*before, f"«{' '.join(words[start:end])}»", *after])

    def to_dict(self) -> dict[str, Any]:
        """Return it as dicts, strings and numbers."""
        return {
            "kind": self.kind,
            "gold": self._span(self.gold),
            "predicted": self._span(self.predicted),
            "confidence": self.confidence,
            "sentence": self.number,
            "context": self.context,
        }

    def _span(self, span: Span | None) -> dict[str, Any] | None:
        if span is None:
            return None
        return {"label": span.type, "start": span.start, "end": span.end, "word": self.sentence.span_text(span)}


@dataclass(frozen=True)
class Evaluation:
    """How good predictions are.

    Attributes
    ----------
    n_sentences, n_words : what was tagged
    strict, exact, partial, type : the scores in each of the ways to count; see `handful.evaluate.score`
    mistakes : all of them, the most confident first
    unknown_types : types in the labels that the tagger was not fitted to; their mentions count as missed
    """

    n_sentences: int
    n_words: int
    strict: Scores
    exact: Scores
    partial: Scores
    type: Scores
    mistakes: list[Mistake]
    unknown_types: list[str]

    @property
    def confusion(self) -> Counter[tuple[str, str]]:
        """Mentions by gold and predicted type, where both have the same words; see `handful.evaluate.Scores`."""
        return self.strict.confusion

    def to_dict(self, n_mistakes: int | None = None) -> dict[str, Any]:
        """Return it as dicts, lists, strings and numbers, with the first `n_mistakes`, or all."""
        return {
            "n_sentences": self.n_sentences,
            "n_words": self.n_words,
            "scores": {mode: _scores(getattr(self, mode)) for mode in MODES},
            "confusion": [
                {"gold": gold, "predicted": predicted, "count": count}
                for (gold, predicted), count in sorted(self.confusion.items())
            ],
            "n_mistakes": {kind: sum(mistake.kind == kind for mistake in self.mistakes) for kind in KINDS},
            "mistakes": [mistake.to_dict() for mistake in self.mistakes[:n_mistakes]],
            "unknown_types": self.unknown_types,
        }

    def __str__(self) -> str:
        """Say the scores in one line each."""
        lines = [f"{self.n_sentences:,} sentences, {self.n_words:,} words, {self.strict.micro.n_gold:,} mentions"]
        for mode in MODES:
            micro = getattr(self, mode).micro
            lines.append(f"{mode:7}  P {micro.precision:.3f}  R {micro.recall:.3f}  F1 {micro.f1:.3f}")
        return "\n".join(lines)


def evaluate(
    gold: Sequence[Sentence], batches: Iterable[Scored], types: Sequence[str], report: ProgressCallback
) -> Evaluation:
    """Compare labelled sentences with the mentions found in them.

    Parameters
    ----------
    gold : the sentences
    batches : the same sentences, as `scored` gives them
    types : those that could be found
    report : called with the words done and the words in all
    """
    n_words = sum(len(sentence.words) for sentence in gold)
    predicted: list[Sentence] = []
    wrong: list[Mistake] = []
    done = 0
    for sentences, features, scores_of_words, tags in batches:
        lengths = [len(sentence.words) for sentence in sentences]
        of_tags = np.take_along_axis(scores_of_words, tags[:, None], axis=1)[:, 0]
        confidences = np.split(of_tags, np.cumsum(lengths)[:-1])
        found = decode(scores_of_words, lengths, types, tags)
        for sentence, mentions, sure in zip(sentences, found, confidences, strict=True):
            wrong += mistakes(sentence, mentions, sure, len(predicted))
            predicted.append(replace(sentence, spans=tuple(mention.span for mention in mentions)))
        done += len(features)
        report(done, n_words)
    scores = {mode: score(gold, predicted, mode) for mode in MODES}
    unknown = sorted({span.type for sentence in gold for span in sentence.spans or ()} - set(types))
    return Evaluation(
        n_sentences=len(gold),
        n_words=n_words,
        **scores,
        mistakes=sorted(wrong, key=lambda mistake: -mistake.confidence),
        unknown_types=unknown,
    )


def mistakes(sentence: Sentence, found: Sequence[Mention], sure: NDArray[np.float64], number: int) -> list[Mistake]:
    """Return what is wrong in one sentence; a mention is in one mistake at most."""
    left = [mention.span for mention in found]
    missing = []
    for span in sentence.spans or ():
        if span in left:
            left.remove(span)
        else:
            missing.append(span)
    wrong: list[tuple[str, Span | None, Span | None]] = []
    for guess in left:
        touching = [span for span in missing if span.start < guess.end and guess.start < span.end]
        if not touching:
            wrong.append(("spurious", None, guess))
            continue
        best = max(touching, key=lambda span: (span.type == guess.type, _overlap(span, guess)))
        missing.remove(best)
        wrong.append(("wrong boundary" if best.type == guess.type else "wrong type", best, guess))
    wrong += [("missed", span, None) for span in missing]
    return [Mistake(kind, gold, guess, _mean(sure, guess or gold), sentence, number) for kind, gold, guess in wrong]


def _mean(sure: NDArray[np.float64], span: Span | None) -> float:
    return float(sure[span.start : span.end].mean()) if span is not None else 0.0


def _overlap(one: Span, other: Span) -> int:
    return min(one.end, other.end) - max(one.start, other.start)


def _scores(scores: Scores) -> dict[str, Any]:
    return {
        "micro": _figures(scores.micro),
        "macro": {
            "precision": scores.macro_precision,
            "recall": scores.macro_recall,
            "f1": scores.macro_f1,
        },
        "by_type": {name: _figures(of_type) for name, of_type in scores.by_type.items()},
    }


def _figures(score: Score) -> dict[str, float]:
    return {
        "precision": score.precision,
        "recall": score.recall,
        "f1": score.f1,
        "n_gold": score.n_gold,
        "n_predicted": score.n_predicted,
        "n_correct": score.n_correct,
        "n_partial": score.n_partial,
    }
