"""Features in memory: everything is encoded once; each method gets an encoder that only looks features up."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.progress import Progress
from handful.encoders import TypeVectors, WordEncoder
from handful.encoders.opened import unreadable
from handful.errors import EncoderError
from handful.text import EntityType, Sentence, Transitions, types_of

__all__ = ["MemoryEncoder"]


class MemoryEncoder:
    """An encoder for sentences that are known in advance.

    Sentences in the same order as when they were encoded come back as a view, without a copy.

    Parameters
    ----------
    encoder
        What gives the features.
    parts
        Lists of sentences; each becomes one array.
    progress
        As for `handful.encoders.Encoder.encode`.
    """

    def __init__(self, encoder: WordEncoder, parts: Sequence[Sequence[Sentence]], progress: Progress = None) -> None:
        self.dim = encoder.dim
        self.fingerprint = encoder.fingerprint
        self.name = str(getattr(encoder, "name", ""))
        self.transitions: Transitions | None = getattr(encoder, "transitions", None)
        self.has_names = bool(getattr(encoder, "has_names", False))
        self._encoder = encoder
        self._types: dict[tuple[EntityType, ...], TypeVectors] = {}
        self._arrays: list[NDArray[Any]] = []
        self._starts: list[NDArray[np.int64]] = []  # of each sentence's words, and their end
        self._words: list[list[tuple[str, ...]]] = []
        self._places: dict[tuple[str, ...], tuple[int, int]] = {}  # part and number of the first with these words
        self._next = (0, 0)
        for part in parts:
            if not part:
                continue
            words = [sentence.words for sentence in part]
            for number, sentence in enumerate(words):
                self._places.setdefault(sentence, (len(self._words), number))
            array = encoder.encode(part, progress=progress)
            array.flags.writeable = False
            self._arrays.append(array)
            self._starts.append(np.cumsum([0, *map(len, words)], dtype=np.int64))
            self._words.append(words)

    def encode(self, sentences: Sequence[Any], *, out: Any = None, progress: Any = None) -> NDArray[Any]:
        """Return the features of sentences that are known, (number of words, dim); `out` must be None."""
        if out is not None:
            raise EncoderError("features in memory are not copied: out must be None")
        wanted = [tuple(getattr(sentence, "words", sentence)) for sentence in sentences]
        if not wanted:
            return np.empty((0, self.dim), np.float32)
        try:
            places = [self._places[words] for words in wanted]
        except KeyError as missing:
            raise EncoderError(f"the sentence {' '.join(missing.args[0])!r} was not encoded in advance") from None
        for part, first in (self._next, places[0]):
            stop = first + len(wanted)
            if self._words[part][first:stop] == wanted:
                self._next = (part, stop)
                starts = self._starts[part]
                return self._arrays[part][starts[first] : starts[stop]]
        rows = [self._arrays[part][self._starts[part][i] : self._starts[part][i + 1]] for part, i in places]
        return np.concatenate(rows)

    def unreadable(self, sentences: Sequence[Any]) -> NDArray[np.bool_]:
        """Return for each word whether the encoder cannot read it, as far as it says."""
        return unreadable(self._encoder, sentences)

    def encode_types(self, types: Any) -> TypeVectors:
        """Return the vectors of types from the encoder, which reads the same types only once."""
        wanted = types_of(types)
        if wanted not in self._types:
            if not self.has_names:
                raise EncoderError(f"the encoder {self.name} does not read the names of types")
            self._types[wanted] = self._encoder.encode_types(wanted)  # type: ignore[attr-defined]
        return self._types[wanted]
