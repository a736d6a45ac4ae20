"""`TrainingText`: the text that a tagger is fitted on, with its features, and the labels known for it."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import FarRows, Float, Part, Rows
from handful.cluster.labels import Labels, Weights
from handful.errors import DataError
from handful.text import OUTSIDE, SOME_ENTITY, Allowed, EntityType, Sentence, types_in
from handful.text.layers import by_place, overlap

from ._surest import Surest, look
from .evidence import TypeNames, unit
from .model import Model

_NEXT_TO_NOTHING = 1e-9  # the weight of a row that a cluster starts from
SOME_TYPE = "ENTITY"  # the one type where mentions are marked but no type is named

Words = tuple[str, ...]

Ways = Mapping[Words, tuple[Sentence, ...]]
"""Labelled sentences by their words: one sentence for each way in which these words are labelled, mostly one."""


@dataclass(frozen=True)
class LabelledWords:
    """The words of all labelled sentences, among all words of a text."""

    n_words: int  # how many words the text has
    rows: NDArray[np.int64]  # (m,) where each lies in the text
    allowed: NDArray[np.bool_]  # (m, n_tags) which tags it may have
    places: NDArray[np.int64]  # (m, 2) its sentence, by its place among the labelled ones, and its position there
    is_copy: NDArray[np.bool_]  # (m,) whether its sentence was labelled through another one with the same words
    is_open: NDArray[np.bool_]  # (m, n_tags) whether nobody has looked for a type in its sentence

    @cached_property
    def is_sure(self) -> NDArray[np.bool_]:
        """For each word whether one tag alone is left, (m,)."""
        return np.asarray(self.allowed.sum(axis=1) == 1)

    @cached_property
    def examples(self) -> "LabelledWords":
        """The words whose tag is known, each sentence once."""
        chosen = self.is_sure & ~self.is_copy
        return LabelledWords(self.n_words, *(getattr(self, one.name)[chosen] for one in fields(self)[1:]))

    @cached_property
    def tags(self) -> NDArray[np.int64]:
        """The tag of each word, for words whose tag is known, (m,)."""
        return np.asarray(self.allowed.argmax(axis=1), np.int64)

    @property
    def n_tags(self) -> int:
        """How many tags there are, O among them."""
        return int(self.allowed.shape[1])

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """How many words have each tag for certain, (n_tags,)."""
        return np.bincount(self.tags[self.is_sure], minlength=self.n_tags)

    def opened(self) -> "LabelledWords":
        """Return these words for the clustering: an unmarked word may be of any open type, as unlabelled text may."""
        return replace(self, allowed=self.allowed | (self.allowed[:, :1] & self.is_open))

    def by_names(self, names: TypeNames, features: Rows) -> "LabelledWords":
        """Return these words: an unmarked one may be of an open type, unless it is O by the names of open types."""
        if not self.is_open.any():
            return self
        scores = names.scores(features[self.rows])
        is_o = scores[:, 0] >= np.where(self.is_open, scores, -np.inf).max(axis=1)
        return replace(self, allowed=self.allowed | (self.allowed[:, :1] & ~is_o[:, None] & self.is_open))

    def by_labels(self, features: Rows) -> "LabelledWords":
        """Return the same by labels: an unmarked word may be of an open type it is nearer to than to other words."""
        if not self.is_open.any():
            return self
        allowed, words = self.allowed.copy(), unit(np.asarray(features[self.rows]))
        for tag in np.flatnonzero(self.is_open.any(axis=0)):
            is_free = np.flatnonzero(self.is_open[:, tag] & self.allowed[:, 0])
            known = self.is_sure & self.allowed[:, tag], ~self.is_open[:, tag] & ~self.allowed[:, tag]
            if all(some.any() for some in known):
                to_type, to_other = ((words[is_free] @ words[some].T).max(axis=1) for some in known)
                allowed[is_free[to_type > to_other], tag] = True
        return replace(self, allowed=allowed)

    def is_unlabelled(self) -> NDArray[np.bool_]:
        """Return for each word of the text whether nothing is known of its sentence's labels, (n_words,)."""
        answer = np.ones(self.n_words, dtype=bool)
        answer[self.rows] = False
        return answer

    def labels(self) -> Labels:
        """Return what the labels allow, as the clustering takes it."""
        order = np.argsort(self.rows)
        order = order[~self.allowed[order].all(axis=1)]
        return Labels(np.arange(self.n_tags), self.rows[order], self.allowed[order])

    def weights(self, mass: float, n_more: int = 0, n_free: int = 0) -> Weights | None:
        """Return the weight of each word, such that all labelled ones together count `mass` times the others.

        A labelled word counts at least as much as another one; None where all count the same. `n_more` labelled words
        come after those of the text, then `n_free` rows that clusters start from, which count for nothing.
        """
        n_sure = int(self.is_sure.sum())
        weight = mass * (self.n_words - n_sure) / max(n_sure + n_more, 1)
        if weight <= 1 and not n_free:
            return None
        rows = np.concatenate([np.sort(self.rows[self.is_sure]), self.n_words + np.arange(n_more + n_free)])
        return Weights(rows, np.repeat([max(weight, 1.0), _NEXT_TO_NOTHING], [n_sure + n_more, n_free]))

    def count_mentions(self) -> list[int]:
        """Count the runs of each type among the words whose tag is known, each sentence once."""
        sure = self.examples
        follows = np.zeros(len(sure.rows), dtype=bool)
        steps = np.diff(sure.places, axis=0)
        follows[1:] = (steps[:, 0] == 0) & (steps[:, 1] == 1) & (sure.tags[1:] == sure.tags[:-1])
        return [int(n) for n in np.bincount(sure.tags[~follows], minlength=self.n_tags)[1:]]


@dataclass(frozen=True)
class LabelledText(ABC):
    """Text with the features of its words, of which the labelled sentences are known. The text may be elsewhere."""

    starts: NDArray[np.int64]  # where the words of each known sentence begin among all words; then how many words are
    places: dict[Words, list[int]]  # the numbers of the sentences that have the same words
    own: frozenset[int]  # the numbers of the sentences that came with labels; the others are unlabelled text
    labels: Ways  # the labelled sentences, by their words

    @property
    @abstractmethod
    def features(self) -> Rows:
        """The features of all words, (n_words, dim)."""

    @abstractmethod
    def unreadable_words(self, words: Words) -> NDArray[np.bool_]:
        """Return for each word of a labelled sentence whether it cannot be read."""

    @abstractmethod
    def look(self, model: Model, tags: Any, labelled: LabelledWords) -> tuple[NDArray[np.int64], Surest]:
        """Count the unlabelled words of each tag, and find the surest mentions among them; words have these tags."""

    def own_places(self, words: Words) -> list[int]:
        """Return the numbers of the sentences of these words that came with labels."""
        return [number for number in self.places.get(words, ()) if number in self.own]

    def count_judged(self, types: Iterable[EntityType]) -> list[int]:
        """Return for each type how many labelled sentences were judged for it."""
        used = frozenset(types_in(sentences_of(self.labels)))
        judged = [frozenset().union(*(_judged(one, used) for one in ways)) for ways in self.labels.values()]
        return [sum(one.name in names for names in judged) for one in types]

    def labelled_words(self, types: Sequence[str]) -> LabelledWords:
        """Return the words of the labelled sentences, with the tags (O, then the types) that each may have.

        Labels count for every sentence with the same words. Where these are labelled in several ways, each way counts
        for its own sentence, and unlabelled copies get what the ways have in common. No features are needed.
        """
        tags = ("O", *types)
        used = frozenset(types_in(sentences_of(self.labels)))
        of_tags = np.empty((0, len(tags)), bool)
        parts = [(np.empty(0, np.int64), of_tags, np.empty((0, 2), np.int64), np.empty(0, bool), of_tags)]
        known: dict[Allowed, tuple[bool, ...]] = {}
        first = 0  # the place of the first way among the labelled sentences
        for words, ways in self.labels.items():
            matrices = [_matrix(sentence, tags, known) for sentence in ways]
            missed = [_missed(one, tags, _judged(one, used)) for one in ways]
            of_copies = _in_common(matrices)
            labelled = self.own_places(words) if len(ways) > 1 else self.places[words]
            way_of = dict(zip(labelled, range(len(ways)), strict=False))
            positions = np.arange(len(words))
            for number in self.places[words]:
                way = way_of.get(number)
                rows, allowed = self.starts[number] + positions, of_copies if way is None else matrices[way]
                places = np.stack([np.full(len(words), first + (way or 0)), positions], axis=1)
                is_open = np.logical_and.reduce(missed) if way is None else missed[way]
                parts.append((rows, allowed, places, np.full(len(words), way is None), is_open))
            first += len(ways)
        return LabelledWords(int(self.starts[-1]), *map(np.concatenate, zip(*parts, strict=True)))


@dataclass(frozen=True)
class TrainingText(LabelledText):
    """All sentences of a fit, one after the other: first the text, then labelled sentences that it does not have.

    The text stays as it is from fit to fit, and what depends on it alone is kept with it (`Part`).
    """

    sentences: list[Sentence]  # in order, without labels
    n_text: int  # how many of them are the text
    text: Part  # the features of its words, (n_words, dim)
    others: Float  # the features of the words of the other sentences
    unreadable: NDArray[np.bool_]  # (n_words,) whether the encoder cannot read the word

    @classmethod
    def empty(cls, dim: int) -> "TrainingText":
        """Make one with no sentence."""
        nothing = np.empty((0, dim), np.float32)
        return cls(np.zeros(1, np.int64), {}, frozenset(), {}, [], 0, Part(nothing), nothing, np.empty(0, bool))

    @cached_property
    def features(self) -> Rows:
        """The features of all words, (n_words, dim)."""
        return Rows([self.text, Part(self.others)])

    def with_more(self, sentences: Sequence[Sentence], n_text: int = 0) -> "TrainingText":
        """Return this text and more sentences, of which the first `n_text` are text; this one stays as it is.

        The new sentences have no features yet: see `with_features`.
        """
        new = [s if s.is_unlabelled else s.without_labels() for s in sentences]
        before, others = self.sentences[: self.n_text], self.sentences[self.n_text :]
        everything = [*before, *new[:n_text], *others, *new[n_text:]]
        n_known = 0 if n_text else len(self.sentences)  # more text moves the sentences that come after it
        places = dict(self.places) if n_known else {}
        for number, sentence in enumerate(everything[n_known:], n_known):
            places[sentence.words] = [*places.get(sentence.words, ()), number]
        own = {number if number < self.n_text else number + n_text for number in self.own}
        own |= {number for number, s in enumerate(sentences, len(self.sentences)) if not s.is_unlabelled}
        return replace(
            self,
            sentences=everything,
            n_text=self.n_text + n_text,
            starts=np.cumsum([0, *(len(sentence.words) for sentence in everything)], dtype=np.int64),
            places=places,
            own=frozenset(own),
        )

    def with_features(self, features: Float, unreadable: NDArray[np.bool_]) -> "TrainingText":
        """Return this text with the features of the sentences that `with_more` added, in the order they were given."""
        n_before = len(self.text.array)
        n_new = int(self.starts[self.n_text]) - n_before  # words of the text; the rest are those of other sentences
        lost = [self.unreadable[:n_before], unreadable[:n_new], self.unreadable[n_before:], unreadable[n_new:]]
        return replace(
            self,
            text=Part(_joined(self.text.array, features[:n_new])) if n_new else self.text,
            others=_joined(self.others, features[n_new:]),
            unreadable=np.concatenate(lost),
        )

    def with_labels(self, labels: Ways) -> "TrainingText":
        """Return this text with other labels."""
        return replace(self, labels=labels)

    def unreadable_words(self, words: Words) -> NDArray[np.bool_]:
        """Return for each word of a labelled sentence whether it cannot be read."""
        first = self.starts[self.places[words][0]]
        return self.unreadable[first : first + len(words)]

    def look(self, model: Model, tags: Any, labelled: LabelledWords) -> tuple[NDArray[np.int64], Surest]:
        """Count the unlabelled words of each tag, and find the surest mentions among them; words have these tags."""
        words = [sentence.words for sentence in self.sentences]
        is_free = labelled.is_unlabelled()
        return look(words, self.features.__getitem__, self.unreadable, model, tags, is_free)


def by_words(sentences: Iterable[Sentence]) -> Ways:
    """Return labelled sentences by their words, each way in which the same words are labelled once."""
    ways: dict[Words, tuple[Sentence, ...]] = {}
    for sentence in sentences:
        before = ways.get(sentence.words, ())
        if any(_are_alike(one, sentence) for one in before):
            continue
        joined = _joined_labels(before[-1], sentence) if before else None
        ways[sentence.words] = (*before, sentence) if joined is None else (*before[:-1], joined)
    return ways


def added(before: Sequence[Sentence], after: tuple[Sentence, ...]) -> tuple[Sentence, ...]:
    """Return new labels of a sentence, with labels that it had of types that nobody has looked for now."""
    if len(before) != 1 or len(after) != 1:
        return after
    old, new = before[0], after[0]
    judged = new.judged or frozenset()
    kept = tuple(span for span in old.spans or () if span.type not in judged)
    old = old.with_labels(kept, old.allowed).judged_for((old.judged or frozenset()) - judged)
    return (_joined_labels(old, new) or new,)


def _joined_labels(one: Sentence, other: Sentence) -> Sentence | None:
    """Return the labels of both, where one was judged for types that the other was not, and they do not contradict."""
    if one.judged is None or other.judged is None or one.judged == other.judged or one.allowed or other.allowed:
        return None
    both = one.judged & other.judged
    spans = {*(one.spans or ()), *(other.spans or ())}
    if {span for span in one.spans or () if span.type in both} != {s for s in other.spans or () if s.type in both}:
        return None
    found = one.with_labels(tuple(sorted(spans, key=by_place)))
    shares = [overlap(some.spans or ()) is not None for some in (one, other, found)]
    if shares[2] and not any(shares[:2]):  # a word has one tag, as far as is known
        return None
    return found.judged_for(one.judged | other.judged)


def sentences_of(labels: Ways) -> list[Sentence]:
    """Return all labelled sentences."""
    return [sentence for ways in labels.values() for sentence in ways]


def count_changed(before: Ways, after: Ways) -> int:
    """Return how many sentences have other labels than before."""
    pairs = ((before[words], ways) for words, ways in after.items() if words in before)
    return sum(len(old) != len(new) or not all(map(_are_alike, old, new)) for old, new in pairs)


def types_to_learn(labels: Iterable[Sentence]) -> list[str]:
    """Return the names of the types that labels use, sorted.

    A type that is only ruled out (``!LOC``) is not one to learn. Where mentions are marked but none has a type, they
    all get the type ENTITY.
    """
    types: set[str] = set()
    is_marked = False
    for sentence in labels:
        types.update(span.type for span in sentence.spans or ())
        for entry in sentence.allowed or ():
            if entry is not None:
                is_marked = is_marked or entry == SOME_ENTITY
                types |= set() if entry.is_excluded else entry.names
    types -= OUTSIDE.names
    return [SOME_TYPE] if not types and is_marked else sorted(types)


def check_sure(labelled: LabelledWords, tags: Sequence[str], *, has_names: bool = False) -> None:
    """Refuse a tag that no word has for certain, unless its name is read: there would be nothing to start from."""
    for tag, name in enumerate(tags):
        if labelled.counts[tag] or has_names:
            continue
        if tag == 0 and labelled.allowed[:, 0].any():
            raise DataError(
                "the support has no word that is O for certain: the words around its mentions are labelled as "
                "unknown (_); add a sentence or two in which every mention is marked, so that the other words are O"
            )
        if tag == 0:
            raise DataError(
                "the support has no word that is O for certain: give whole sentences, with the words around the "
                "mentions, and leave those unmarked"
            )
        raise DataError(
            f"no mention is labelled as {name} alone (a partial label such as {name}|{tags[1 if tag > 1 else -1]} is "
            "not enough); label at least one"
        )


def _judged(sentence: Sentence, used: frozenset[str]) -> frozenset[str]:
    """Return the types that a labelled sentence was judged for: those that any label uses, if nothing else is said."""
    return used if sentence.judged is None else sentence.judged


def _missed(sentence: Sentence, tags: Sequence[str], judged: frozenset[str]) -> NDArray[np.bool_]:
    """Return which types nobody has looked for, nor ruled out (``!LOC``), of each word, (n_words, n_tags)."""
    missed = np.tile([tag not in ("O", *judged) for tag in tags], (len(sentence.words), 1))
    for i, entry in enumerate(sentence.allowed or ()):
        if entry is not None and entry.is_excluded:
            missed[i] &= [tag not in entry.names for tag in tags]
    return missed


def _matrix(sentence: Sentence, tags: Sequence[str], known: dict[Allowed, tuple[bool, ...]]) -> NDArray[np.bool_]:
    """Return which tags each word of a labelled sentence may have, (n_words, n_tags); `known` remembers labels."""
    constraints = sentence.constraints()
    for entry in constraints:
        if entry not in known:
            known[entry] = entry.among(tags)
    matrix = np.array([known[entry] for entry in constraints])
    for i in np.flatnonzero(~matrix.any(axis=1)).tolist():
        raise DataError(
            f"the word {sentence.words[i]!r} may be none of the tags there are ({', '.join(tags)}): it is labelled "
            f"{constraints[i]} in {repr(sentence)[1:-1]}"
        )
    return matrix


def _in_common(ways: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Return which tags words may have that are labelled in several ways, each (n_words, n_tags).

    A word may have the tags that all ways allow; where they contradict each other, the tags that any of them allows,
    but for a way that says nothing of the word.
    """
    by_all: NDArray[np.bool_] = np.logical_and.reduce(ways)
    by_any: NDArray[np.bool_] = np.logical_or.reduce([way & ~way.all(axis=1, keepdims=True) for way in ways])
    return np.where(by_all.any(axis=1, keepdims=True), by_all, by_any)


def _joined(before: Float | FarRows, after: Float) -> Float:
    assert not isinstance(before, FarRows), "text that is far is not added to"
    return np.concatenate([before, after]) if len(before) and len(after) else after if len(after) else before


def _are_alike(one: Sentence, other: Sentence) -> bool:
    return one.spans == other.spans and one.allowed == other.allowed and one.judged == other.judged
