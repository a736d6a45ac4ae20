"""Evidence: what speaks for a word's tag.

A model's logit of tag t for a word x is a weighted sum over its pieces of evidence::

    logit_t(x) = sum_e weight_e * logits_e(x)[t]

Each piece gives one logit per tag, O first, and saves and loads itself as arrays. Products are in double precision, in
which BLAS sums the rows of a block alike (see `Model.logits`).
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float, Part, Rows, thin_product
from handful._util.passes import ByBlock, map_rows
from handful.cluster import project, squared_distances, tag_distances
from handful.encoders.names import TypeVectors, exclude
from handful.errors import DataError

from .logistic import fit_logistic

Arrays = Mapping[str, NDArray[Any]]

NAMES_TAKEN = 0.5  # of the logits of names, by the regression; docs/decisions/0004 has the figures
LARGEST = 1e15  # of the numbers of a model: their squares can still be summed in float32


def array_of(dtype: type[Any], *shape: str, **options: Any) -> Any:
    """Declare a field of a dataclass that is an array, by the kind of its numbers and the names of its sizes."""
    return field(metadata={"dtype": np.dtype(dtype), "shape": shape}, **options)


@dataclass(frozen=True)
class Evidence(ABC):
    """Something that speaks for a word's tag. Its arrays are all that it knows."""

    weight: float  # how much its logits count in the sum

    @abstractmethod
    def logits(self, features: Float) -> Float:
        """Return one logit per tag for each word, (n, n_tags)."""

    def save(self) -> dict[str, NDArray[Any]]:
        """Return its arrays, by name; one that it does not have is left out."""
        values = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in values.items() if isinstance(value, np.ndarray)}

    @classmethod
    def load(cls, arrays: Arrays, weight: float, dim: int, n_tags: int) -> Self:
        """Make it from what `save` returned; a DataError says what does not fit."""
        check_arrays(arrays, cls, {"d": dim, "n_tags": n_tags, "n_types": n_tags - 1, "one": 1})
        return cls(weight, **arrays)


@dataclass(frozen=True)
class Prototypes(Evidence):
    """The clusters: a logit is minus the squared distance to the tag's nearest prototype, in the projected space."""

    prototypes: NDArray[np.float64] = array_of(np.float64, "k", "d")
    tags: NDArray[np.int64] = array_of(np.int64, "k")  # of the prototypes; each of 0 to n_tags - 1 at least once
    projection: NDArray[np.float64] | None = array_of(np.float64, "d", "p", default=None)  # None where none was learned

    def logits(self, features: Float) -> NDArray[np.float64]:
        """Return one logit per tag for each word, (n, n_tags)."""
        n_tags = int(self.tags.max()) + 1
        if len(features) == 0:
            return np.empty((0, n_tags))
        return -tag_distances(np.asarray(features, np.float64), self.prototypes, self.tags, self.projection, n_tags)

    def squared_distances(self, features: Float) -> NDArray[np.float64]:
        """Return the squared distance of each word to each prototype in the projected space, (n, k)."""
        return squared_distances(features, self.prototypes, self.projection, origin=self.prototypes.mean(axis=0))

    def project(self, features: Float) -> Float:
        """Return words in the projected space, (n, p), relative to the middle of the prototypes."""
        return project(features, self.projection, self.prototypes.mean(axis=0))

    @classmethod
    def load(cls, arrays: Arrays, weight: float, dim: int, n_tags: int) -> "Prototypes":
        """Make it from what `save` returned; each tag must have a prototype."""
        loaded = super().load(arrays, weight, dim, n_tags)
        if set(loaded.tags.tolist()) != set(range(n_tags)):
            raise DataError(f"tags of prototypes are {sorted(set(loaded.tags.tolist()))}, expected 0 to {n_tags - 1}")
        return loaded


@dataclass(frozen=True)
class Regression(Evidence):
    """A logistic regression on the labelled words, at length 1: what the words of a tag have in common."""

    weights: NDArray[np.float64] = array_of(np.float64, "n_tags", "d")
    bias: NDArray[np.float64] = array_of(np.float64, "n_tags")

    @classmethod
    def fit(
        cls,
        features: Float,
        tags: NDArray[np.int64],
        n_tags: int,
        by_names: NDArray[np.float64] | None = None,
        is_open: NDArray[np.bool_] | None = None,
        known: NDArray[np.float64] | None = None,
    ) -> "Regression":
        """Learn from words (m, d) whose tags are known, O among them; a tag without words is as likely as O.

        With the logits of names, (m, n_tags), it learns what these words say beyond them. It takes names at half of
        what they count for: the more a name is wrong about a labelled word, the more would the others have to change.
        Of a direction that is `known`, (d,), it learns nothing. Words may be open for types, (m, n_tags): a difference
        between the logits of a type and of O is that of a regression without the words that are open for it.
        """
        rows = unit(features)
        if known is not None:
            along = unit(known[None])
            rows = rows - thin_product(rows, np.ascontiguousarray(along.T)) * along

        def without(left_out: NDArray[np.bool_]) -> NDArray[np.float64]:
            there, codes = np.unique(tags[~left_out], return_inverse=True)
            taken = None if by_names is None else NAMES_TAKEN * by_names[~left_out][:, there]
            found = fit_logistic(rows[~left_out], codes, len(there), taken)
            return np.column_stack(found)[_rows_or_o(there, n_tags)]

        found = without(np.zeros(len(tags), bool))
        is_other = tags[:, None] != np.arange(n_tags)
        for types, left_out in () if is_open is None else _open_words(is_open & is_other):
            own = without(left_out) if (tags[~left_out] == 0).any() else np.zeros_like(found)
            found[types] = found[0] + own[types] - own[0]
        return cls(1.0, np.ascontiguousarray(found[:, :-1]), found[:, -1].copy())

    def strengthened(self, strengths: NDArray[np.float64]) -> "Regression":
        """Return one in which the differences from O count so much more or less, (n_tags,)."""
        weights, bias = self.weights[0] + strengths[:, None] * (self.weights - self.weights[0]), self.bias
        return replace(self, weights=weights, bias=bias[0] + strengths * (bias - bias[0]))

    def logits(self, features: Float) -> NDArray[np.float64]:
        """Return one logit per tag for each word, (n, n_tags)."""
        weights, bias = self.weights.T, self.bias
        return _of_rows(lambda words: np.asarray(unit(words), np.float64) @ weights + bias, features, len(bias))


@dataclass(frozen=True)
class NearestLabel(Evidence):
    """The labelled words themselves: how like a word is to the nearest one that is labelled with the tag.

    A logit is the cosine c to it, or ``exp(steepness (c - 1))`` where there is a steepness: then only words that are
    much alike count. The regression knows what words of a tag have in common, the nearest word what only one has.
    Where O words are open for a type, it is compared with the others: it gains what O loses without them.
    """

    vectors: NDArray[np.float32] = array_of(np.float32, "m", "d")  # the labelled words at length 1
    tags: NDArray[np.int64] = array_of(np.int64, "m")  # O is among them
    n_tags: int = 0  # how many tags there are; a tag without words is as near as O
    # the tags whose types nobody has looked for in the sentence of a word; None where there are none
    is_open: NDArray[np.bool_] | None = array_of(np.bool_, "m", "n_tags", default=None)
    steepness: NDArray[np.float64] | None = array_of(np.float64, "one", default=None)
    # how much the labels of each tag count; None where they count alike
    strengths: NDArray[np.float64] | None = array_of(np.float64, "n_tags", default=None)

    @classmethod
    def of(
        cls,
        features: Float,
        tags: NDArray[np.int64],
        n_tags: int,
        is_open: NDArray[np.bool_] | None = None,
        steepness: float = 0.0,
    ) -> "NearestLabel":
        """Remember words (m, d) whose tags are known, and the types that they are open for, (m, n_tags)."""
        is_open = is_open if is_open is not None and is_open.any() else None
        steep = np.array([steepness]) if steepness else None
        return cls(1.0, np.ascontiguousarray(unit(features), np.float32), tags, n_tags, is_open, steep)

    def likeness(self, features: Float) -> NDArray[np.float64]:
        """Return how like each word is to the nearest word of each tag, at most 1, (n, n_tags)."""
        return self._by_tag(self._like(self.by_kind(features)))

    @cached_property
    def kinds(self) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
        """The kinds of labelled words, and the kind of each word, (m,).

        A kind is a row, (1 + n_tags): a tag, and for O the types for which these words are open.
        """
        is_open = np.zeros((len(self.tags), self.n_tags), bool) if self.is_open is None else self.is_open
        rows = np.column_stack([self.tags, is_open & (self.tags == 0)[:, None]])
        kinds, of_word = np.unique(rows, axis=0, return_inverse=True)
        return kinds, of_word.ravel()

    def by_kind(self, features: Float) -> NDArray[np.float64]:
        """Return the cosine of each word to the nearest labelled word of each kind, (n, n_kinds)."""
        kinds, of_word = self.kinds
        return highest_cosines(features, [self.vectors[of_word == kind] for kind in range(len(kinds))])

    def logits(self, features: Float) -> NDArray[np.float64]:
        """Return one logit per tag for each word, (n, n_tags)."""
        return self.logits_by(self.by_kind(features))

    def logits_by(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return one logit per tag, (n, n_tags), for the cosines to the nearest labelled words of each kind."""
        like = self._like(cosines)
        likeness = self._by_tag(like)
        logits = likeness.copy()
        tags = self.kinds[0][:, 0]
        for types, left_out in _open_words(self.kinds[0][:, 1:] > 0):
            seen = ~left_out & (tags == 0)
            of_all = np.minimum(likeness[:, types], likeness[:, :1])
            of_o = like[:, seen].max(axis=1, keepdims=True) if seen.any() else of_all
            logits[:, types] += likeness[:, :1] - of_o
            logits[:, np.setdiff1d(types, tags)] = likeness[:, :1]
        return logits if self.strengths is None else logits[:, :1] + self.strengths * (logits - logits[:, :1])

    def _like(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        return cosines if self.steepness is None else np.exp(self.steepness[0] * np.minimum(cosines - 1, 0))

    def _by_tag(self, like: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the highest of each tag's kinds, (n, n_tags); a tag without words is as near as O."""
        tags = self.kinds[0][:, 0]
        known = np.unique(tags)
        found = [like[:, tags == tag].max(axis=1) for tag in known]
        return np.stack(found, axis=1)[:, _rows_or_o(known, self.n_tags)]

    @classmethod
    def load(cls, arrays: Arrays, weight: float, dim: int, n_tags: int) -> "NearestLabel":
        """Make it from what `save` returned; some words must be O."""
        loaded = super().load(arrays, weight, dim, n_tags)
        if not {0} <= (found := set(loaded.tags.tolist())) <= set(range(n_tags)):
            raise DataError(f"tags of words are {sorted(found)}, expected 0 and others up to {n_tags - 1}")
        if loaded.steepness is not None and loaded.steepness[0] < 0:
            raise DataError(f"steepness is {loaded.steepness[0]:g}, expected at least 0")
        return replace(loaded, n_tags=n_tags)


@dataclass(frozen=True)
class TypeNames(Evidence):
    """The meaning of types: the description of each type, read by the encoder.

    The logit of type t is ``weights[t] * (s_t(x) - s_O(x))``, that of O is 0, with ::

        s_t(x) = <x, vectors[t]> + biases[t] + doubts[t]
        s_O(x) = log sum_j exp(<x, o_vectors[j]> + o_biases[j])

    s_t is less for words that fit what the description excludes (`handful.encoders.names`). It depends on the type's
    own text and labels alone: other types, or another order of them, do not change it.
    """

    vectors: NDArray[np.float32] = array_of(np.float32, "n_types", "d")
    biases: NDArray[np.float32] = array_of(np.float32, "n_types")
    o_vectors: NDArray[np.float32] = array_of(np.float32, "m", "d")  # the prototypes of O that come with the encoder
    o_biases: NDArray[np.float32] = array_of(np.float32, "m")
    weights: NDArray[np.float64] = array_of(np.float64, "n_types")  # how much the name of each type counts
    doubts: NDArray[np.float64] = array_of(np.float64, "n_types")  # below 0 where a name claims too many words
    # The vectors of excluded things, and the types that exclude them by number; None where nothing is excluded
    excluded_vectors: NDArray[np.float32] | None = array_of(np.float32, "n_excluded", "d", default=None)
    excluded_biases: NDArray[np.float32] | None = array_of(np.float32, "n_excluded", default=None)
    excluded_owners: NDArray[np.int64] | None = array_of(np.int64, "n_excluded", default=None)

    @classmethod
    def of(cls, read: TypeVectors) -> "TypeNames":
        """Return what an encoder read in the names and descriptions of types, trusted wholly."""
        n, out = len(read.types), read.excluded
        excluded = () if out is None else (out.vectors, out.biases, out.owners)
        return cls(1.0, read.vectors, read.biases, read.o_vectors, read.o_biases, np.ones(n), np.zeros(n), *excluded)

    @classmethod
    def load(cls, arrays: Arrays, weight: float, dim: int, n_tags: int) -> "TypeNames":
        """Make it from what `save` returned; what is excluded comes whole, and is excluded by types."""
        loaded = super().load(arrays, weight, dim, n_tags)
        if 0 < len([name for name in arrays if name.startswith("excluded_")]) < 3:
            raise DataError("some of excluded_vectors, excluded_biases and excluded_owners are missing")
        if loaded.excluded_owners is not None and not set(loaded.excluded_owners.tolist()) <= set(range(n_tags - 1)):
            raise DataError(f"excluded_owners are not all from 0 to {n_tags - 2}")
        return loaded

    def scores(self, features: Float) -> NDArray[np.float64]:
        """Return s_O and s_t, whose softmax is the chance of each tag by names alone, (n, n_tags)."""
        vectors, o_vectors = np.asarray(self.vectors, np.float64), np.asarray(self.o_vectors, np.float64)
        excluded = None if self.excluded_vectors is None else np.asarray(self.excluded_vectors, np.float64)

        def of_block(block: Float) -> NDArray[np.float64]:
            words = np.asarray(block, np.float64)
            of_o = words @ o_vectors.T + self.o_biases
            highest = of_o.max(axis=1, keepdims=True)
            scores = np.empty((len(block), 1 + len(self.biases)))
            scores[:, 0] = np.log(np.exp(of_o - highest).sum(axis=1)) + highest[:, 0]
            scores[:, 1:] = words @ vectors.T + self.biases
            if excluded is not None and self.excluded_biases is not None and self.excluded_owners is not None:
                exclude(scores[:, 1:], words @ excluded.T + self.excluded_biases, self.excluded_owners)
            scores[:, 1:] += self.doubts
            return scores

        return _of_rows(of_block, features, 1 + len(self.biases))

    def o_chances(self, features: Rows) -> list[ByBlock[NDArray[np.float64]]]:
        """Return the chance of O of each word by names alone, for each part of the text.

        A part keeps the scores without doubts, which other labels change.
        """
        read = tuple((name, one.tobytes()) for name, one in self.save().items() if name not in ("weights", "doubts"))
        plain = replace(self, doubts=np.zeros_like(self.doubts))
        doubts = np.concatenate([[0.0], self.doubts])
        return [
            map_rows(lambda _, scores: o_chances(scores + doubts), scores)
            for scores in (
                part.once("scores of names", read, partial(by_block, plain.scores, part))
                for part in features.parts
                if len(part.array)
            )
        ]

    def from_o(self) -> NDArray[np.float64]:
        """Return the direction from O words to those of mentions, (d,)."""
        means = [some.mean(axis=0, dtype=np.float64) for some in (self.vectors, self.o_vectors)]
        return np.asarray(means[0] - means[1])

    def as_words(self) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Return trusted names, which count as labelled words, and prototypes of O, words of O: vectors and tags."""
        counts = np.flatnonzero(self.weights >= 0.5)
        tags = np.concatenate([1 + counts, np.zeros(len(self.o_biases), np.int64)])
        return np.concatenate([self.vectors[counts], self.o_vectors]), tags

    def logits(self, features: Float) -> NDArray[np.float64]:
        """Return one logit per tag for each word, (n, n_tags)."""
        scores = self.scores(features)
        logits = scores - scores[:, :1]
        logits[:, 1:] *= self.weights
        return logits


#: The kinds of evidence, by the name that a saved model calls them.
EVIDENCE: dict[str, type[Evidence]] = {
    "prototypes": Prototypes,
    "regression": Regression,
    "nearest": NearestLabel,
    "names": TypeNames,
}


def highest_cosines(features: Float, groups: Sequence[NDArray[np.float32]]) -> NDArray[np.float64]:
    """Return the cosine of each word, (n, d), to the nearest of each group of vectors at length 1, (n, n_groups)."""
    vectors = [np.asarray(some, np.float64).T for some in groups]

    def of_block(block: Float) -> NDArray[np.float64]:
        words = np.asarray(unit(block), np.float64)
        return np.stack([(words @ some).max(axis=1) for some in vectors], axis=1)

    return _of_rows(of_block, features, len(groups))


def _of_rows(function: Callable[[Float], NDArray[np.float64]], features: Float, width: int) -> NDArray[np.float64]:
    """Return what a function gives for words, block by block, (n, width)."""
    return np.concatenate([np.empty((0, width)), *map_rows(lambda _, block: function(block), features).values])


def _open_words(is_open: NDArray[np.bool_]) -> Iterator[tuple[Any, NDArray[np.bool_]]]:
    """Yield types for which words are open, (m, n_tags), with these words, (m,); those of the same words together."""
    ways, of_tag = np.unique(is_open, axis=1, return_inverse=True)
    yield from ((np.flatnonzero(of_tag.ravel() == i), words) for i, words in enumerate(ways.T) if words.any())


def by_block(function: Callable[[Float], NDArray[np.float64]], part: Part) -> ByBlock[NDArray[np.float64]]:
    """Return what a function gives for the words of a part of the text."""
    return map_rows(lambda _, block: function(block), Rows([part]))


def o_chances(logits: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the chance of O, the first tag, of words with these logits (n, n_tags): (n,)."""
    with np.errstate(over="ignore"):  # a chance of 0
        return np.asarray(1 / np.exp(logits - logits[:, :1]).sum(axis=1))


def _rows_or_o(known: NDArray[np.int64], n_tags: int) -> NDArray[np.intp]:
    """Return for each tag its place among the known ones, which are sorted; for others that of O, which is first."""
    places = np.zeros(n_tags, np.intp)
    places[known] = np.arange(len(known))
    return places


def unit(features: Float) -> NDArray[np.float32]:
    """Return rows at length 1; a row of zeros stays one."""
    rows = np.asarray(features, np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows / np.where(lengths > 0, lengths, 1)[:, None])


def check_arrays(arrays: Arrays, kind: type[Any], sizes: Mapping[str, int]) -> None:
    """Refuse arrays that are not those of a dataclass (see `array_of`), or have values that cannot be summed.

    Sizes that are not known are those of the first array that has them.
    """
    declared = {one.name: one for one in fields(kind) if one.metadata}
    needed = {name for name, one in declared.items() if one.default is not None}
    if not needed <= set(arrays) <= set(declared):
        raise DataError(f"found {', '.join(sorted(arrays)) or 'nothing'}, expected {', '.join(sorted(needed))}")
    known = dict(sizes)
    for name, found in sorted(arrays.items()):
        dtype, wanted = declared[name].metadata["dtype"], declared[name].metadata["shape"]
        for size, n in zip(wanted, found.shape, strict=False):
            known.setdefault(size, n)
        shape = tuple(known.get(size, size) for size in wanted)
        if found.shape != shape or found.dtype != dtype:
            raise DataError(f"{name} is {found.dtype} of shape {found.shape}, expected {dtype} of shape {shape}")
        if not np.isfinite(found).all():
            raise DataError(f"{name} has values that are not finite")
        if dtype.kind == "f" and np.abs(found).max(initial=0) > LARGEST:
            raise DataError(f"{name} has values above {LARGEST:g}")
