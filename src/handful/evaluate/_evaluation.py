"""`Evaluation`: how good predictions are, and which are worst."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from handful.errors import number_of
from handful.text import Sentence, Span, types_in, types_of

from ._scores import Score, Scores, by_level, score

KINDS = ("missed", "spurious", "wrong type", "wrong boundary")
CONTEXT = 8  # words shown on each side of a mistake
SEEN_SHARE = 0.05  # of the sentences, from which a note says so: "Thank you ." is in every corpus


@dataclass(frozen=True)
class Mistake:
    """A prediction that is wrong, or a mention that was not found."""

    # "missed" (no word of the mention was found), "spurious" (no word is in a mention), "wrong type" (words in
    # common, another type), or "wrong boundary" (words in common, same type)
    kind: str
    # the mention as it should be and as it was found; one may be None
    gold: Span | None
    predicted: Span | None
    confidence: float  # the mean score of the tags that were given to the words
    sentence: Sentence  # the sentence, with its right labels
    number: int  # which sentence it is, from 0

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
        return {"type": span.type, "start": span.start, "end": span.end, "word": self.sentence.span_text(span)}


@dataclass(frozen=True)
class Setting:
    """How good predictions are with another setting of how much to find."""

    find: float  # how many times as bad a missed mention is as a wrong one
    score: Score  # of all mentions, counted strictly


@dataclass(frozen=True)
class Evaluation:
    """How good predictions are; `precision`, `recall` and `f1` are those of ``strict.micro``."""

    # what was tagged
    n_sentences: int
    n_words: int
    strict: Scores  # a mention is right if its words and its type are; see `handful.evaluate.score`
    mistakes: list[Mistake]  # all of them, the most confident first
    unknown_types: list[str]  # types in the labels that the tagger was not fitted to; their mentions count as missed
    n_fitted: int = 0  # how many of the sentences are labelled sentences of the fit, by their words
    n_trained: int | None = None  # how many of them the encoder was trained on; None where that is not known
    n_unjudged: int = 0  # how many mentions that were found do not count: nobody looked for their type in that sentence
    find: float = 1.0  # how much there was to find: how many times as bad a missed mention is as a wrong one
    # how good predictions are at several settings of it, the surest first; none where there is no such setting
    curve: list[Setting] = field(default_factory=list)
    # the strict scores of mentions inside no other one, inside one, and so on; none where no mentions share words
    levels: list[Score] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.strict.micro.precision

    @property
    def recall(self) -> float:
        return self.strict.micro.recall

    @property
    def f1(self) -> float:
        return self.strict.micro.f1

    @property
    def notes(self) -> list[str]:
        """Reasons why scores on other text may differ, a line each."""
        seen = {"labelled in the fit": self.n_fitted}
        if self.n_trained and self.n_trained >= SEEN_SHARE * self.n_sentences:
            seen["in the training of the encoder"] = self.n_trained
        unjudged = (
            f"{number_of(self.n_unjudged, 'mention')} of types that nobody looked for in the sentence: not counted"
        )
        return [unjudged] * (self.n_unjudged > 0) + [
            f"{n:,} of {number_of(self.n_sentences, 'sentence')} {'was' if n == 1 else 'were'} {where}: scores on "
            "other text will be lower"
            for where, n in seen.items()
            if n
        ]

    def to_dict(self, n_mistakes: int | None = None) -> dict[str, Any]:
        """Return it as dicts, lists, strings and numbers, with the first `n_mistakes`, or all."""
        return {
            "n_sentences": self.n_sentences,
            "n_words": self.n_words,
            "scores": {"strict": self.strict.to_dict()},
            "confusion": [
                {"gold": gold, "predicted": predicted, "count": count}
                for (gold, predicted), count in sorted(self.strict.confusion.items())
            ],
            "n_mistakes": {kind: sum(mistake.kind == kind for mistake in self.mistakes) for kind in KINDS},
            "mistakes": [mistake.to_dict() for mistake in self.mistakes[:n_mistakes]],
            "unknown_types": self.unknown_types,
            "n_fitted": self.n_fitted,
            "n_trained": self.n_trained,
            "n_unjudged": self.n_unjudged,
            "notes": self.notes,
            "find": self.find,
            "curve": [{"find": one.find} | one.score.to_dict() for one in self.curve],
            **({"levels": [one.to_dict() for one in self.levels]} if self.levels else {}),
        }

    def __str__(self) -> str:
        """Say the scores in one line each, and then the notes."""
        micro = self.strict.micro
        counts = (self.n_sentences, "sentence"), (self.n_words, "word"), (micro.n_gold, "mention")
        lines = [", ".join(number_of(n, noun) for n, noun in counts)]
        lines.append(f"strict   P {micro.precision:.3f}  R {micro.recall:.3f}  F1 {micro.f1:.3f}")
        for n, one in enumerate(self.levels):
            lines.append(f"level {n}  P {one.precision:.3f}  R {one.recall:.3f}  F1 {one.f1:.3f}")
        for setting in self.curve:
            figures = f"P {setting.score.precision:.3f}  R {setting.score.recall:.3f}  F1 {setting.score.f1:.3f}"
            lines.append(f"find {setting.find:<6.2g} {figures}{'  (now)' * (setting.find == self.find)}")
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes)])


def evaluate(
    gold: Sequence[Sentence],
    predicted: Sequence[Sentence],
    *,
    types: Any = None,
    confidences: Sequence[Sequence[float]] | None = None,
    curve: Mapping[float, Sequence[Sentence]] = MappingProxyType({}),
) -> Evaluation:
    """Compare labelled sentences with the mentions found in them.

    Parameters
    ----------
    gold : wholly labelled sentences
    predicted : the same sentences with the mentions found in them
    types : the types that could be found, as `handful.text.types_of` takes them; None, those that were
    confidences : for each sentence the score of the tag that was given to each word; None, the scores of the mentions
        found
    curve : the same sentences with the mentions found at several settings of how much to find
    """
    n_found = sum(len(one.spans or ()) for one in predicted)
    predicted = _judged(gold, predicted)
    n_unjudged = n_found - sum(len(one.spans or ()) for one in predicted)
    names = [one.name for one in types_of(types)] if types is not None else types_in(predicted)
    wrong: list[Mistake] = []
    for number, (sentence, found) in enumerate(zip(gold, predicted, strict=True)):
        sure = _scores_of_words(found) if confidences is None else confidences[number]
        wrong += mistakes(sentence, found.spans or (), sure, number)
    return Evaluation(
        n_sentences=len(gold),
        n_words=sum(len(sentence.words) for sentence in gold),
        strict=score(gold, predicted),
        mistakes=sorted(wrong, key=lambda mistake: -mistake.confidence),
        unknown_types=sorted(set(types_in(gold)) - set(names)),
        n_unjudged=n_unjudged,
        curve=[Setting(find, score(gold, _judged(gold, some)).micro) for find, some in curve.items()],
        levels=by_level(gold, predicted),
    )


def _judged(gold: Sequence[Sentence], predicted: Sequence[Sentence]) -> list[Sentence]:
    """Return what was found, without mentions of types that nobody looked for in the labelled sentence."""
    return [
        replace(found, spans=tuple(span for span in found.spans or () if span.type in sentence.judged))
        if sentence.judged is not None
        else found
        for sentence, found in zip(gold, predicted, strict=True)
    ]


def mistakes(sentence: Sentence, found: Sequence[Span], sure: Sequence[float], number: int) -> list[Mistake]:
    """Return what is wrong in one sentence; a mention is in one mistake at most."""
    left = list(found)
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
        by_overlap = {one: min(one.end, guess.end) - max(one.start, guess.start) for one in touching}
        best = max(touching, key=lambda span: (span.type == guess.type, by_overlap[span]))
        missing.remove(best)
        wrong.append(("wrong boundary" if best.type == guess.type else "wrong type", best, guess))
    wrong += [("missed", span, None) for span in missing]
    return [Mistake(kind, gold, guess, _mean(sure, guess or gold), sentence, number) for kind, gold, guess in wrong]


def _scores_of_words(sentence: Sentence) -> list[float]:
    """Return for each word the score of its mention; 0 outside mentions, where nothing is known."""
    sure = [0.0] * len(sentence.words)
    for span in sentence.spans or ():
        sure[span.start : span.end] = [span.score or 0.0] * (span.end - span.start)
    return sure


def _mean(sure: Sequence[float], span: Span | None) -> float:
    return sum(sure[span.start : span.end]) / (span.end - span.start) if span is not None else 0.0
