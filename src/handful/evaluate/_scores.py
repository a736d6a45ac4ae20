"""Precision, recall and F1 of spans.

A predicted mention is right if it has the words and the type of a gold one, as conlleval and seqeval ask. Each mention
is matched at most once. For the scores of a type, gold and predictions of other types are left out.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from itertools import zip_longest
from typing import Any

from handful.errors import DataError, shorten
from handful.text import Sentence, Span
from handful.text.layers import levels, overlap

_FIGURES = ("precision", "recall", "f1")


@dataclass
class Score:
    """Counts of mentions and what follows from them."""

    # all mentions
    n_gold: int = 0
    n_predicted: int = 0
    n_correct: int = 0  # predictions that are right

    @property
    def precision(self) -> float:
        """The right share of predictions; 0 when there are none."""
        return self.n_correct / self.n_predicted if self.n_predicted else 0.0

    @property
    def recall(self) -> float:
        """The share of gold mentions that were found; 0 when there are none."""
        return self.n_correct / self.n_gold if self.n_gold else 0.0

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall; 0 when both are."""
        both = self.n_gold + self.n_predicted
        return 2 * self.n_correct / both if both else 0.0

    def to_dict(self) -> dict[str, float]:
        """Return the figures and the counts by name."""
        return {name: getattr(self, name) for name in _FIGURES} | asdict(self)


@dataclass
class Scores:
    """The scores of predictions."""

    micro: Score = field(default_factory=Score)  # over all mentions
    by_type: dict[str, Score] = field(default_factory=dict)  # for each type in gold or predictions, sorted by name
    # mentions by gold type and predicted type, where both have the same words; ("PER", "O") counts gold mentions with
    # no prediction of the same words, ("O", "PER") the other way round
    confusion: Counter[tuple[str, str]] = field(default_factory=Counter)

    @property
    def macro(self) -> dict[str, float]:
        """The means of the types' ``precision``, ``recall`` and ``f1``; 0 where there is no type."""
        n = max(1, len(self.by_type))
        return {name: sum(getattr(one, name) for one in self.by_type.values()) / n for name in _FIGURES}

    def to_dict(self) -> dict[str, Any]:
        """Return them as dicts of numbers: ``micro``, ``macro`` and ``by_type``."""
        by_type = {name: one.to_dict() for name, one in self.by_type.items()}
        return {"micro": self.micro.to_dict(), "macro": self.macro, "by_type": by_type}


def score(gold: Iterable[Sentence | Sequence[Span]], predicted: Iterable[Sentence | Sequence[Span]]) -> Scores:
    """Compare predicted mentions with the gold ones, sentence by sentence.

    Parameters
    ----------
    gold, predicted : the same sentences in the same order, wholly labelled; anything else is a `DataError`
    """
    scores = Scores()
    for i, (one, other) in enumerate(zip_longest(gold, predicted)):
        if one is None or other is None:
            raise DataError(f"there are {i} {'gold' if one is None else 'predicted'} sentences, but more of the others")
        if isinstance(one, Sentence) and isinstance(other, Sentence) and one.words != other.words:
            raise DataError(f"sentence {i} has other words in gold and predictions: {one} and {other}")
        _add(scores, _spans(one, i), _spans(other, i))
    scores.by_type = dict(sorted(scores.by_type.items()))
    return scores


def _spans(item: Sentence | Sequence[Span], i: int) -> list[Span]:
    if isinstance(item, Sentence):
        if not item.is_labelled:
            raise DataError(f"sentence {i} is not wholly labelled: {item}")
        return list(item.spans or ())
    spans = list(item) if isinstance(item, Iterable) else [item]
    if not all(isinstance(span, Span) for span in spans):
        raise DataError(f"sentence {i} is {shorten(repr(item))}, expected a Sentence or Span objects")
    return sorted(spans, key=lambda span: span.start)


def _add(scores: Scores, gold: list[Span], predicted: list[Span]) -> None:
    right = Counter(gold) & Counter(predicted)
    for name in ("", *sorted({span.type for span in (*gold, *predicted)})):
        total = scores.by_type.setdefault(name, Score()) if name else scores.micro
        total.n_gold += sum(name in ("", span.type) for span in gold)
        total.n_predicted += sum(name in ("", span.type) for span in predicted)
        total.n_correct += sum(n for span, n in right.items() if name in ("", span.type))
    places = dict.fromkeys((span.start, span.end) for span in (*gold, *predicted))
    for place in places:  # where several types share a place, those that agree are taken first
        of_gold, found = ([span.type for span in some if (span.start, span.end) == place] for some in (gold, predicted))
        agree = [name for name in of_gold if name in found]
        others = [[name for name in names if name not in agree] for names in (of_gold, found)]
        for is_, was in (*zip(agree, agree, strict=True), *zip_longest(*others, fillvalue="O")):
            scores.confusion[is_, was] += 1


def by_level(gold: Iterable[Sentence], predicted: Iterable[Sentence]) -> list[Score]:
    """Return strict scores by level, the outermost mentions first; none where no mentions share words.

    A mention that lies inside n others is on level n. One that was found, and is right, counts on its gold level.
    """
    found: list[Score] = []
    overlaps = False
    for one, other in zip(gold, predicted, strict=True):
        right, guesses = one.spans or (), other.spans or ()
        overlaps = overlaps or overlap(right) is not None or overlap(guesses) is not None
        of_gold = dict(zip(right, levels(right), strict=True))
        of_guesses = {span: of_gold.get(span, level) for span, level in zip(guesses, levels(guesses), strict=True)}
        found += [Score() for _ in range(len(found), 1 + max([*of_gold.values(), *of_guesses.values()], default=-1))]
        for level in of_gold.values():
            found[level].n_gold += 1
        for span, level in of_guesses.items():
            found[level].n_predicted += 1
            found[level].n_correct += span in of_gold
    return found if overlaps else []
