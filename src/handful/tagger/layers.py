"""Layers: mentions that share words with others, found type by type beside the tags of words.

The tags of a model are decided as they are without layers. A layer is a model of one type and O. Its mentions count
where they lie inside or around those of the tags, or where they are surer: if every type were decided by itself, an
encoder that learned to choose one type for each word would find far too many.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful.text import UNKNOWN, Sentence, Span, flattened
from handful.text.layers import by_place, levels

from .decoding import decode
from .evidence import Evidence, NearestLabel, TypeNames, highest_cosines
from .inner import is_asked_for, with_inner
from .model import Model, in_blocks
from .training_text import Ways

# In points of a word, as the lead of a type over O is: what O gains where types are decided by themselves, and where
# mentions inside others of their own type are; by how much more a mention inside another has to be of its type than
# the rest of that is, without labels of its type and with them; the lead of any other one.
MORE_O, OWN_O, MORE_OWN, SURE = 2.0, -4.0, (10.0, 15.0), 25.0


@dataclass(frozen=True)
class Layer:
    """The mentions of one type, whatever else their words are."""

    model: Model  # of this type alone: tag 1
    is_own: bool = False  # whether it knows those inside others of the same type, and nothing else

    @property
    def type(self) -> str:
        """The name of the type."""
        return self.model.types[0].name

    def settings(self) -> dict[str, Any]:
        """Return what decides predictions besides arrays, in JSON's types."""
        return {"type": self.type, "is_own": self.is_own, **self.model.settings()}


def flat(labels: Ways) -> Ways:
    """Return labelled sentences in which no mentions share words: the outermost stay."""
    return {words: tuple(flattened(one) for one in ways) for words, ways in labels.items()}


def of_type(labels: Ways, name: str, *, is_own: bool) -> Ways:
    """Return what labels say of one type; those inside others of the type if `is_own`, else the outermost of it."""
    return {words: tuple(_of_type(one, name, is_own=is_own) for one in ways) for words, ways in labels.items()}


def _of_type(sentence: Sentence, name: str, *, is_own: bool) -> Sentence:
    spans = [span for span in sentence.spans or () if span.type == name]
    entries = [UNKNOWN if entry is not None and name in entry else None for entry in sentence.allowed or ()]
    if any(entries):  # mentions were marked one by one: that of another type says nothing of this one
        for one in sentence.spans or ():
            entries[one.start : one.end] = [UNKNOWN] * (one.end - one.start)
        for one in spans:
            entries[one.start : one.end] = [None] * (one.end - one.start)
    if is_own:
        spans = [span for span, level in zip(spans, levels(spans), strict=True) if level]
    return flattened(sentence.with_labels(tuple(spans), tuple(entries) or None))


def names_of(names: TypeNames, tag: int) -> TypeNames:
    """Return what the name of one type says, without doubts, which depend on labels."""
    one = slice(tag - 1, tag)
    excluded = {}
    if names.excluded_owners is not None and names.excluded_vectors is not None and names.excluded_biases is not None:
        own = names.excluded_owners == tag - 1
        found = names.excluded_vectors[own], names.excluded_biases[own], names.excluded_owners[own] * 0
        excluded = dict(zip(("vectors", "biases", "owners"), found if own.any() else [None] * 3, strict=True))
    return replace(
        names,
        vectors=names.vectors[one],
        biases=names.biases[one],
        weights=names.weights[one],
        doubts=names.doubts[one] * 0,
        **{f"excluded_{key}": array for key, array in excluded.items()},
    )


def layer_of(model: Model, tags: NDArray[np.intp], sentence: Sentence, span: Span) -> int | None:
    """Return which layer found a mention of a sentence whose words have these tags; None, the tags say it."""
    is_own = any(_is_inside(span, one) and one.type == span.type for one in sentence.spans or ())
    if not is_own and (tags[span.start : span.end] == model.tags.index(span.type)).all():
        return None
    known = [(one.type, one.is_own) for one in model.layers]
    return known.index((span.type, is_own and (span.type, True) in known))


def sharing(model: Model, layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """Return layers that hold the labelled words of a model in place of their own, where they are the same."""
    whole = model.piece(NearestLabel)

    def shared(piece: Evidence) -> Evidence:
        is_same = isinstance(piece, NearestLabel) and whole and np.array_equal(piece.vectors, whole.vectors)
        return replace(piece, vectors=whole.vectors) if is_same and whole else piece  # type: ignore[call-arg]

    return tuple(
        replace(one, model=replace(one.model, evidence=tuple(map(shared, one.model.evidence)))) for one in layers
    )


@dataclass(frozen=True)
class _Candidate:
    span: Span
    lead: float  # over O, the mean of its words
    more: float  # by how much more it has to be of its own type than the rest of a mention around it
    is_own: bool  # whether its layer knows mentions inside others of the same type


class Layered:
    """The logits of layers for the words of sentences, whatever the setting of how much to find."""

    def __init__(
        self,
        model: Model,
        features: Float,
        sentences: Sequence[Sentence],
        lost: NDArray[np.bool_],
        cosines: NDArray[np.float64] | None = None,
    ) -> None:
        """Read words; `cosines` are what the model says of them by `Model.cosines`, where that is known."""
        layers = model.layers
        self._layers, self._features, self._sentences, self._lost = layers, features, sentences, lost
        near = _near(model, features, cosines)
        self._logits = [layer.model.logits(features, sentences, near.get(i)) for i, layer in enumerate(layers)]
        self._leads = {
            layer.type: logits[:, 1] - logits[:, 0]
            for layer, logits in zip(layers, self._logits, strict=True)
            if not layer.is_own
        }

    def spans(self, found: Sequence[tuple[Span, ...]], find: float = 1.0) -> list[tuple[Span, ...]]:
        """Return mentions of each sentence: those found by tags, and more."""
        n_words = [len(one.words) for one in self._sentences]
        firsts = [0, *accumulate(n_words)]
        candidates: list[list[_Candidate]] = [[] for _ in n_words]
        for layer, logits in zip(self._layers, self._logits, strict=True):
            model = replace(layer.model, find=find)
            tags = model.path(logits + np.array([OWN_O if layer.is_own else MORE_O, 0]), n_words)
            scores = model.calibration.scores(logits)
            tags = model.bordered(tags, scores, self._sentences)
            tags[self._lost] = 0
            begins = None if model.seams is None else model.seams.begins(self._features, tags, n_words)
            more = MORE_OWN[model.piece(NearestLabel) is not None]
            leads = logits[:, 1] - logits[:, 0] + model.calibration.points(find)
            spans_found = decode(scores, n_words, [layer.type], tags, begins)
            for first, spans, kept in zip(firsts, spans_found, candidates, strict=False):
                for span in spans:
                    lead = float(leads[first + span.start : first + span.end].mean())
                    kept.append(_Candidate(span, lead, more, layer.is_own))
        chosen = [self._chosen(*one) for one in zip(firsts, found, candidates, strict=False)]
        shown = {layer.type for layer in self._layers if layer.is_own}  # labels have mentions inside others of these
        for layer, logits in zip(self._layers, self._logits, strict=True):
            if layer.type not in shown and is_asked_for(layer.model):
                chosen = with_inner(layer.model, logits, self._lost, self._sentences, chosen, self._is_other)
        return chosen

    def _chosen(self, first: int, found: tuple[Span, ...], candidates: Sequence[_Candidate]) -> tuple[Span, ...]:
        """Return the mentions of a sentence, given those found by tags; the surest candidates are taken first."""
        kept = list(found)
        for one in sorted(candidates, key=lambda one: (-one.lead, by_place(one.span))):
            span, is_sure = one.span, one.lead >= SURE
            around = [other for other in kept if _is_inside(span, other)]
            beside = [other for other in kept if other.start < span.end and span.start < other.end]
            if span in kept:
                continue
            if one.is_own:
                is_right = one.lead >= 0 and any(other.type == span.type for other in around)
            elif any(other.type == span.type for other in beside):
                is_right = False
            else:
                is_new = len(around) == len(beside) > 0
                is_right = is_sure or (is_new and all(self._more(first, span, other) >= one.more for other in around))
            if is_right:
                kept.append(span)
        return tuple(sorted(kept, key=by_place)) if len(kept) > len(found) else found

    def _is_other(self, first: int, span: Span, around: Span) -> bool:
        """Whether words inside a mention are much more of another type, beside the rest of it."""
        others = (replace(span, type=name) for name in self._leads if name != around.type)
        return any(self._more(first, one, around) >= MORE_OWN[0] for one in others)

    def _more(self, first: int, span: Span, around: Span) -> float:
        """Return how much more a mention is of its own type than of another's around it, beside the rest of that."""
        leads = [self._leads.get(one.type) for one in (span, around)]
        if leads[0] is None or leads[1] is None:
            return 0.0
        more = (leads[0] - leads[1])[first + around.start : first + around.end]
        is_inner = np.zeros(len(more), bool)
        is_inner[span.start - around.start : span.end - around.start] = True
        return float(more[is_inner].mean() - more[~is_inner].mean())


def _near(model: Model, features: Float, known: NDArray[np.float64] | None) -> dict[int, NDArray[np.float64]]:
    """Return the logits of the nearest labels, (n, 2), for layers that hold the same labelled words, by their numbers.

    A word is compared once with each labelled word: with groups of those that are of one kind in each of the layers.
    Where such a group is a kind of the whole model, the cosines are known.
    """
    pieces = {i: piece for i, one in enumerate(model.layers) if (piece := one.model.piece(NearestLabel)) is not None}
    first = next(iter(pieces.values()), None)
    pieces = {i: piece for i, piece in pieces.items() if first is not None and piece.vectors is first.vectors}
    if first is None:
        return {}
    whole = model.piece(NearestLabel)
    is_whole = whole is not None and whole.vectors is first.vectors
    in_whole = whole.kinds[1] if whole is not None and is_whole else first.kinds[1]
    groups, of_word = np.unique(
        np.column_stack([*(piece.kinds[1] for piece in pieces.values()), in_whole]), axis=0, return_inverse=True
    )
    cosines, is_new = np.empty((len(features), len(groups))), np.ones(len(groups), bool)
    if is_whole and known is not None:
        is_new = np.bincount(groups[:, -1])[groups[:, -1]] > 1
        cosines[:, ~is_new] = known[:, groups[~is_new, -1]]
    vectors = [first.vectors[of_word.ravel() == group] for group in np.flatnonzero(is_new)]
    if vectors:
        cosines[:, is_new] = in_blocks(lambda block: highest_cosines(block, vectors), features, len(vectors))
    found = {}
    for column, (i, piece) in enumerate(pieces.items()):
        by_kind = [cosines[:, groups[:, column] == kind].max(axis=1) for kind in range(len(piece.kinds[0]))]
        found[i] = piece.logits_by(np.stack(by_kind, axis=1))
    return found


def _is_inside(one: Span, other: Span) -> bool:
    """Whether a mention lies properly inside another one."""
    return other.start <= one.start and one.end <= other.end and (one.start, one.end) != (other.start, other.end)
