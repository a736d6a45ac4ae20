"""`TrainingText`: the text that a tagger is fitted on, with its features, and the labels known for it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from handful.cluster._statistics import Float
from handful.errors import DataError
from handful.text import OUTSIDE, SOME_ENTITY, Allowed, Sentence

from ._model import Examples, Model

__all__ = ["SOME_TYPE", "TrainingText", "Words", "by_words", "count_changed", "types_to_learn"]

SOME_TYPE = "ENTITY"  # the one type where mentions are marked but no type is named

Words = tuple[str, ...]


@dataclass(frozen=True)
class TrainingText:
    """All sentences of a fit, one after the other.

    Attributes
    ----------
    sentences : in order, without labels
    starts : (n_sentences + 1,) where the words of each begin among all words
    features : (n_words, dim)
    places : the numbers of the sentences that have the same words
    labels : the labelled sentences, by their words
    """

    sentences: list[Sentence]
    starts: NDArray[np.int64]
    features: Float
    places: dict[Words, list[int]]
    labels: dict[Words, Sentence]

    @classmethod
    def empty(cls, dim: int) -> "TrainingText":
        """Make one with no sentence."""
        return cls([], np.zeros(1, np.int64), np.empty((0, dim), np.float32), {}, {})

    def grown(self, sentences: Sequence[Sentence], features: Float) -> "TrainingText":
        """Return this text and more; this one stays as it is."""
        places = {words: list(numbers) for words, numbers in self.places.items()}
        for number, sentence in enumerate(sentences, len(self.sentences)):
            places.setdefault(sentence.words, []).append(number)
        starts = np.cumsum([len(sentence.words) for sentence in sentences], dtype=np.int64) + self.starts[-1]
        return replace(
            self,
            sentences=self.sentences + [s if s.is_unlabelled else s.without_labels() for s in sentences],
            starts=np.concatenate([self.starts, starts]),
            features=np.concatenate([self.features, features]) if len(self.features) else features,
            places=places,
        )

    def labelled(self, labels: dict[Words, Sentence]) -> "TrainingText":
        """Return this text with other labels."""
        return replace(self, labels=labels)

    def rows(self, number: int) -> slice:
        """Return where the words of a sentence lie among all words."""
        return slice(int(self.starts[number]), int(self.starts[number + 1]))

    def allowed(self, types: Sequence[str]) -> NDArray[np.bool_]:
        """Return which tags (O, then the types) each word may have, (n_words, n_tags)."""
        tags = ("O", *types)
        allowed = np.ones((len(self.features), len(tags)), dtype=bool)
        known: dict[Allowed, tuple[bool, ...]] = {}
        for words, sentence in self.labels.items():
            constraints = sentence.constraints()
            for entry in constraints:
                if entry not in known:
                    known[entry] = entry.among(tags)
            rows = np.array([known[entry] for entry in constraints])
            if not rows.any(axis=1).all():
                i = int(np.flatnonzero(~rows.any(axis=1))[0])
                raise DataError(
                    f"the word {words[i]!r} may be none of the tags there are ({', '.join(tags)}): it is labelled "
                    f"{constraints[i]} in {_show(sentence)}"
                )
            for number in self.places[words]:
                allowed[self.rows(number)] = rows
        _check_sure(allowed, tags, has_unknown=bool((allowed[:, 0] & ~self.is_unlabelled()).any()))
        return allowed

    def is_unlabelled(self) -> NDArray[np.bool_]:
        """Return for each word whether nothing is known of its sentence's labels, (n_words,)."""
        answer = np.ones(len(self.features), dtype=bool)
        for words in self.labels:
            for number in self.places[words]:
                answer[self.rows(number)] = False
        return answer

    def sure_rows(self, allowed: NDArray[np.bool_]) -> tuple[list[tuple[int, int]], list[int]]:
        """Return the labelled words whose tag is known, each sentence once.

        Returns
        -------
        places : the sentence and the word in it of each
        rows : where they lie among all words
        """
        places: list[tuple[int, int]] = []
        rows: list[int] = []
        for i, words in enumerate(self.labels):
            start = int(self.starts[self.places[words][0]])
            sure = np.flatnonzero(allowed[start : start + len(words)].sum(axis=1) == 1)
            places += [(i, int(j)) for j in sure]
            rows += (start + sure).tolist()
        return places, rows

    def examples(self, model: Model, allowed: NDArray[np.bool_]) -> Examples:
        """Return the labelled words whose tag is known, in the projected space; each sentence once."""
        places, rows = self.sure_rows(allowed)
        vectors = np.ascontiguousarray(model.project(self.features[rows]), np.float32)
        tags = allowed[rows].argmax(axis=1).astype(np.int64)
        return Examples(list(self.labels.values()), np.array(places, np.int64), tags, vectors)


def by_words(sentences: Iterable[Sentence]) -> dict[Words, Sentence]:
    """Return labelled sentences by their words; those of the same words must have the same labels."""
    labels: dict[Words, Sentence] = {}
    for sentence in sentences:
        before = labels.setdefault(sentence.words, sentence)
        if not _are_alike(before, sentence):
            raise DataError(
                f"two labelled sentences have the same words but not the same labels: {_show(before)} and "
                f"{_show(sentence)}; keep one of them"
            )
    return labels


def count_changed(before: dict[Words, Sentence], after: dict[Words, Sentence]) -> int:
    """Return how many sentences have other labels than before."""
    return sum(not _are_alike(before[words], sentence) for words, sentence in after.items() if words in before)


def _are_alike(one: Sentence, other: Sentence) -> bool:
    return one.spans == other.spans and one.allowed == other.allowed


def types_to_learn(labels: Iterable[Sentence]) -> list[str]:
    """Return the types that labels name, sorted.

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
    if not types and is_marked:
        return [SOME_TYPE]
    if not types:
        raise DataError("the support marks no mention; label at least one of each type, as in [Baghdad](LOC)")
    return sorted(types)


def _check_sure(allowed: NDArray[np.bool_], tags: Sequence[str], *, has_unknown: bool) -> None:
    """Refuse a tag that no word has for certain: there would be nothing to start from.

    `has_unknown` says whether words of the support may be O, if not for certain.
    """
    is_sure = allowed.sum(axis=1) == 1
    for tag, name in enumerate(tags):
        if not (is_sure & allowed[:, tag]).any():
            if tag == 0 and has_unknown:
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
                f"the type {name} stands only in partial labels, such as {name}|{tags[1 if tag > 1 else -1]}; label at "
                f"least one mention as {name} alone"
            )


def _show(sentence: Sentence) -> str:
    return repr(sentence)[1:-1]
