"""A small encoder that knows what a word is by its first letter, and what is made with it."""

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful import Tagger
from handful.encoders import Encoder, TypeVectors
from handful.text import Transitions, types_of

__all__ = ["SUPPORT", "TEXTS", "TYPES", "Toy", "fitted"]

TYPES = {"PER": "P people", "LOC": "L places"}
SUPPORT = ["[Paul](PER) went to [London](LOC) with me", "the [Peter](PER) of [Lima](LOC) sleeps all day"]
TEXTS = [
    "Then Pia saw Leeds again .",
    "a dog and a cat sat there .",
    "We met Pablo near Lyon . Nothing else is known .",
]
KINDS = {"P": 1, "L": 2}


class Toy(Encoder):
    """Words in P and L stand apart from each other and from all others; the rest is noise, the same each time."""

    dim = 4
    fingerprint = "toy"
    has_names = True
    transitions = Transitions(start_type=0.15, o_type=0.1, type_o=0.5, type_other=0.02)

    def encode(self, sentences: Any, *, progress: Any = None) -> NDArray[np.float32]:
        """Return one row per word."""
        words = [word for sentence in sentences for word in getattr(sentence, "words", sentence)]
        rows = np.zeros((len(words), self.dim), np.float32)
        for row, word in zip(rows, words, strict=True):
            number = zlib.crc32(word.encode("utf-8", "surrogatepass"))
            row[:] = [(number >> 8 * i & 255) / 512 for i in range(4)]
            row[KINDS.get(word[0], 0)] += 4
        return rows

    def encode_types(self, types: Any) -> TypeVectors:
        """Return one row per type: what its description starts with, or else its name."""
        types = types_of(types)
        vectors = np.zeros((len(types), self.dim), np.float32)
        for vector, one in zip(vectors, types, strict=True):
            vector[KINDS.get((one.description or one.name)[0], 0)] = 4
        outside = np.zeros((2, self.dim), np.float32)
        outside[:, 0] = 4, 3
        half = [-0.5 * (rows**2).sum(axis=1) for rows in (vectors, outside)]
        return TypeVectors(types, vectors, half[0] + np.float32(0.1), outside, half[1])


def fitted(support: list[str] | None = None, text: list[str] | None = None) -> Tagger:
    """Fit a tagger on the toy encoder."""
    return Tagger(TYPES, encoder=Toy(), cache=False).fit(support, text)
