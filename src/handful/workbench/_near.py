"""`NearWords`: how near words are to those that were labelled, remembered from fit to fit.

To find that out is most of the work of a prediction, and it grows with every label. But a new label changes the highest
cosine of a word only where it is nearer than all before. So words are compared with new labels alone.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, fields

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful.tagger.evidence import Evidence, NearestLabel, highest_cosines
from handful.tagger.model import Model, in_blocks
from handful.text import Sentence

MOST_COLUMNS = 4  # for each kind of labelled words, those included that were given up


class NearWords:
    """The highest cosines of the words of sentences to each kind of labelled words. One thread uses it."""

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._labels: set[tuple[bytes, bytes]] = set()  # kind and vector of each labelled word
        self._columns: dict[bytes, int] = {}  # by kind; a kind that lost a word gets another column
        self._n_columns = 0
        self._came: list[tuple[NDArray[np.float32], NDArray[np.intp]]] = []  # vectors that came, and their columns
        self._best: dict[tuple[str, ...], tuple[int, NDArray[np.float64]]] = {}  # by words: with how many of `_came`

    def follow(self, labels: NearestLabel) -> None:
        """Take over the labelled words of a fit."""
        kinds, of_word = labels.kinds
        names = [kind.tobytes() for kind in kinds]
        rows = [(names[kind], row.tobytes()) for kind, row in zip(of_word.tolist(), labels.vectors, strict=True)]
        if self._n_columns > MOST_COLUMNS * len(names):
            self._forget()
        for kind in {kind for kind, _ in self._labels.difference(rows)}:
            self._columns.pop(kind, None)
            self._labels = {one for one in self._labels if one[0] != kind}
        for kind in names:
            if kind not in self._columns:
                self._columns[kind], self._n_columns = self._n_columns, self._n_columns + 1
        new = [i for i, one in enumerate(rows) if one not in self._labels]
        columns = np.array([self._columns[rows[i][0]] for i in new], np.intp)
        self._came += [(labels.vectors[new], columns)] if new else []
        self._labels = set(rows)

    def cosines(self, labels: NearestLabel, features: Float, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """Return the cosine of each word to the nearest labelled word of each kind, (n, n_kinds)."""
        best = np.full((len(features), self._n_columns), -np.inf)
        behind: dict[int, list[slice]] = defaultdict(list)  # words of sentences, by how many of `_came` they know
        places, start = [], 0
        for one in sentences:
            place = slice(start, start := start + len(one.words))
            n, known = self._best.get(one.words, (0, best[:0]))
            best[place, : known.shape[1]] = known if n else -np.inf
            behind[n].append(place)
            places.append(place)
        for n, some in behind.items():
            if n < len(self._came):
                rows = np.concatenate([np.arange(one.start, one.stop) for one in some])
                best[rows] = np.maximum(best[rows], self._to_new(n, features[rows]))
        for one, place in zip(sentences, places, strict=True):
            self._best[one.words] = len(self._came), best[place]
        return best[:, [self._columns[kind.tobytes()] for kind in labels.kinds[0]]]

    def _to_new(self, n: int, features: Float) -> NDArray[np.float64]:
        """Return the highest cosines to the labelled words that came after the first n times."""
        vectors, columns = (np.concatenate(some) for some in zip(*self._came[n:], strict=True))
        wanted = np.intersect1d(columns, list(self._columns.values()))
        groups = [vectors[columns == column] for column in wanted]
        found = np.full((len(features), self._n_columns), -np.inf)
        found[:, wanted] = in_blocks(lambda block: highest_cosines(block, groups), features, len(groups))
        return found


@dataclass(frozen=True)
class Recalling(Model):
    """A model that asks `NearWords`; it finds the same."""

    near: NearWords = field(default_factory=NearWords)

    @classmethod
    def of(cls, model: Model, near: NearWords) -> "Recalling":
        """Return a model that asks what remembers; this takes over its labels."""
        if (labels := model.piece(NearestLabel)) is not None:
            near.follow(labels)
        return cls(**{one.name: getattr(model, one.name) for one in fields(Model)}, near=near)

    def cosines(self, features: Float, sentences: Sequence[Sentence]) -> NDArray[np.float64] | None:
        """Return the cosine of each word to the nearest labelled word of each kind, as far as known from before."""
        piece = self.piece(NearestLabel)
        return None if piece is None else self.near.cosines(piece, features, sentences)

    def _logits_of(self, piece: Evidence, features: Float, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        if not isinstance(piece, NearestLabel) or not sentences:
            return super()._logits_of(piece, features, sentences)
        return piece.logits_by(self.near.cosines(piece, features, sentences))
