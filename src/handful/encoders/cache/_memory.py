"""An encoder that keeps in memory what it has read: fitting and predicting again cost no encoding."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.progress import Progress
from handful.encoders.encoder import Encoder, WrappedEncoder, words_of
from handful.encoders.names import TypeVectors
from handful.text import EntityType, types_of

Words = tuple[str, ...]


class RememberingEncoder(WrappedEncoder):
    """An encoder with the features of sentences in memory, by their words.

    Sentences in the same order as when they were encoded come back as a view, without a copy. It is used by one thread
    at a time; `known` may be called by any.

    Parameters
    ----------
    encoder : what encodes sentences that were not seen before; it may keep features on disk
    """

    def __init__(self, encoder: Encoder) -> None:
        super().__init__(encoder)
        self._parts: list[tuple[list[Words], NDArray[np.int64], NDArray[Any]]] = []  # sentences, their rows, features
        self._places: dict[Words, tuple[int, int]] = {}  # part, and number of the first sentence with these words
        self._next = (0, 0)
        self._types: dict[tuple[EntityType, ...], TypeVectors] = {}

    def remember(self, sentences: Sequence[Any], progress: Progress = None) -> None:
        """Encode sentences, seen before or not, and keep their features together in this order."""
        words = [tuple(words_of(sentence, i)) for i, sentence in enumerate(sentences)]
        if not words:
            return
        features = self.encoder.encode(sentences, progress=progress)
        features.flags.writeable = False
        self._parts.append((words, np.cumsum([0, *map(len, words)], dtype=np.int64), features))
        for number, sentence in enumerate(words):
            self._places.setdefault(sentence, (len(self._parts) - 1, number))

    def known(self, sentence: Any) -> NDArray[Any] | None:
        """Return the features of a sentence, (n_words, dim), if they are there."""
        place = self._places.get(tuple(words_of(sentence, 0)))
        return None if place is None else self._rows(*place, 1)

    def encode(self, sentences: Sequence[Any], *, progress: Progress = None) -> NDArray[Any]:
        """Return the features of all words, (number of words, dim), which are read-only."""
        wanted = [tuple(words_of(sentence, i)) for i, sentence in enumerate(sentences)]
        if not wanted:
            return np.empty((0, self.dim), np.float32)
        new = {words: one for words, one in zip(wanted, sentences, strict=True) if words not in self._places}
        self.remember(list(new.values()), progress)
        places = [self._places[words] for words in wanted]
        for part, first in (self._next, places[0]):
            if self._parts[part][0][first : first + len(wanted)] == wanted:
                self._next = (part, first + len(wanted))
                return self._rows(part, first, len(wanted))
        return np.concatenate([self._rows(*place, 1) for place in places])

    def encode_types(self, types: Any) -> TypeVectors:
        """Return the vectors of types from the encoder, which reads the same types only once."""
        wanted = types_of(types)
        if wanted not in self._types:
            self._types[wanted] = self.encoder.encode_types(wanted)
        return self._types[wanted]

    def _rows(self, part: int, first: int, n: int) -> NDArray[Any]:
        _, starts, features = self._parts[part]
        return features[starts[first] : starts[first + n]]
