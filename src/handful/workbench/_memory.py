"""An encoder that keeps in memory what it has read, so that fitting and predicting again cost no encoding."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful.encoders import WordEncoder
from handful.text import EntityType, Sentence

__all__ = ["RememberingEncoder"]


class RememberingEncoder:
    """An encoder with the features of sentences in memory, by their words.

    It is used by one thread at a time; `known` may be called by any.

    Parameters
    ----------
    encoder
        What encodes sentences that were not seen before; it may keep features on disk.
    """

    def __init__(self, encoder: WordEncoder) -> None:
        self._encoder = encoder
        self._features: dict[tuple[str, ...], Float] = {}
        self._types: dict[tuple[EntityType, ...], Any] = {}
        self.dim = encoder.dim
        self.fingerprint = encoder.fingerprint
        self.transitions = getattr(encoder, "transitions", None)
        self.has_names = bool(getattr(encoder, "has_names", False))

    def known(self, sentence: Sentence) -> Float | None:
        """Return the features of a sentence, (n_words, dim), if they are there."""
        return self._features.get(sentence.words)

    def encode(self, sentences: Sequence[Any], *, out: Any = None, progress: Any = None) -> NDArray[Any]:
        """Return the features of all words, (n_words, dim)."""
        new = list({s.words: s for s in sentences if s.words not in self._features}.values())
        if new:
            features = np.asarray(self._encoder.encode(new, progress=False))
            parts = np.split(features, np.cumsum([len(sentence.words) for sentence in new])[:-1])
            self._features |= {sentence.words: part for sentence, part in zip(new, parts, strict=True)}
        return np.concatenate([self._features[sentence.words] for sentence in sentences])

    def encode_types(self, types: Any) -> Any:
        """Return what the encoder reads in the names of types."""
        key = tuple(types)
        if key not in self._types:
            encoder: Any = self._encoder
            self._types[key] = encoder.encode_types(types)
        return self._types[key]
