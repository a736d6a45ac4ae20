"""A type as the encoder reads it, and what the encoder returns for types."""

import re
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from handful.text import EntityType

from .names import NameHead
from .pooling import Float32

__all__ = ["TypeVectors", "readable", "text_of"]

# Training replaced these as well (but for norp, which no corpus of it had): a name must be read as it was then.
_ABBREVIATIONS = {
    "comp": "company",
    "corp": "corporation",
    "exec": "executive",
    "fac": "facility",
    "geo": "geographical place",
    "gpe": "geopolitical entity",
    "grp": "group",
    "lang": "language",
    "loc": "location",
    "misc": "miscellaneous",
    "norp": "nationality, religious or political group",
    "org": "organization",
    "per": "person",
    "prod": "product",
    "qty": "quantity",
    "veh": "vehicle",
}

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BETWEEN = re.compile(r"[_/-]")


def readable(name: str) -> str:
    """Return the name of a type as words in lower case, without common abbreviations.

    >>> [readable(name) for name in ("TOOL", "creative-work", "ORG", "PoliticalParty", "PER_title")]
    ['tool', 'creative work', 'organization', 'political party', 'person title']
    """
    words = _BETWEEN.sub(" ", _CAMEL.sub(" ", name)).lower().split()
    return " ".join(_ABBREVIATIONS.get(word, word) for word in words) or name


def text_of(one: EntityType) -> str:
    """Return what the encoder reads for a type: its name and its description, or the name alone.

    >>> text_of(EntityType("PEST", "insects and slugs that harm plants"))
    'pest: insects and slugs that harm plants'
    """
    name = readable(one.name)
    return f"{name}: {one.description}" if one.description else name


@dataclass(frozen=True, eq=False)
class TypeVectors:
    """Types and O as vectors in the space of words.

    The score of a word vector x for type t is ``vectors[t] @ x + biases[t]``, and for O the logarithm of the summed
    exponentials of ``o_vectors @ x + o_biases``.

    Attributes
    ----------
    types : tuple of EntityType
        In the order given.
    vectors, biases
        Shapes (n_types, dim) and (n_types,), float32.
    o_vectors, o_biases
        Shapes (n_prototypes, dim) and (n_prototypes,), float32: the prototypes of O.
    """

    types: tuple[EntityType, ...]
    vectors: Float32
    biases: Float32
    o_vectors: Float32
    o_biases: Float32

    @classmethod
    def of(cls, head: NameHead, types: tuple[EntityType, ...], means: npt.NDArray[np.float64]) -> "TypeVectors":
        """Make vectors of what the encoder gave for the texts of types, see `NameHead.vectors`."""
        vectors = head.vectors(means)
        return cls(
            types=types,
            vectors=vectors,
            biases=np.float32(head.beta) - _half_squares(vectors),
            o_vectors=head.o_prototypes,
            o_biases=-_half_squares(head.o_prototypes),
        )

    def scores(self, features: npt.ArrayLike) -> Float32:
        """Return the scores of words: shape (n_words, 1 + n_types), O in the first column."""
        features = np.asarray(features, np.float32)
        found = np.empty((len(features), 1 + len(self.types)), np.float32)
        found[:, 0] = np.logaddexp.reduce(features @ self.o_vectors.T + self.o_biases, axis=1)
        found[:, 1:] = features @ self.vectors.T + self.biases
        return found


def _half_squares(vectors: Float32) -> Float32:
    """Return half the squared length of each row, which does not depend on the other rows."""
    squares = [np.square(vector, dtype=np.float64).sum() / 2 for vector in vectors]
    return np.array(squares, np.float32)
