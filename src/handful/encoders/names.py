"""Types by their names: the text that the encoder reads for a type, and the head that makes a vector of it.

With r the mean of the last layer's vectors over the sub-words of the text, the vector of type t is ::

    n_t = W r + b

and it scores a word vector x against O, which has several prototypes o_j, with ::

    s_t(x) = <x, n_t> - 1/2 ||n_t||^2 + beta
    s_O(x) = log sum_j exp(<x, o_j> - 1/2 ||o_j||^2)

Training writes the head to ``names.safetensors`` in the encoder's folder: ``linear.weight`` (W), ``linear.bias`` (b),
``o_prototypes`` and ``beta``.

Whatever a description excludes is read by itself (`handful.text.guidelines`). With the scores s_e of these texts, ::

    s'_t(x) = s_t(x) - log( 1 + sum_e exp(s_e(x) + c - s_t(x)) )

so a word goes to the type only as far as it fits the type better than what is excluded. c is ``exclusion``; a head
without it reads descriptions as they are.

Two words x and y of one type, side by side, may be in one mention or in two. The log odds of two are ::

    b(x, y) = <u, x> + <v, y> + b_0

``border`` is u, v and b_0, one behind the other; a head without it knows nothing of such borders.
"""

import hashlib
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from handful._util.files import PathLike, replacing
from handful.errors import Advice, EncoderError
from handful.text import EntityType
from handful.text.guidelines import guideline_of

from .pooling import Float32

#: The file of the head, in a Hugging Face folder and in an exported one.
NAMES_FILE = "names.safetensors"

#: Part of the fingerprint of every encoder with a head. It must be raised when the same files begin to give other
#: vectors of types, as after a change of `readable`.
_SCHEME = b"handful names 1"

_LARGEST = 1e15  # squares can still be summed in float32

_NAMES = ("linear.weight", "linear.bias", "o_prototypes", "beta")
_EXCLUSION, _BORDER = "exclusion", "border"


@dataclass(frozen=True, eq=False)
class NameHead:
    """The head of an encoder that reads the names of types; see the module's docstring for the formulas."""

    weight: Float32  # W, (dim, dim)
    bias: Float32  # b, (dim,)
    o_prototypes: Float32  # (n, dim), at least one row
    beta: float = 0.0
    exclusion: float | None = None  # c; None, descriptions are read as they are
    border: Float32 | None = None  # u, v and b_0, (2 dim + 1,)

    def __post_init__(self) -> None:
        given = {**dict(zip(_NAMES, (self.weight, self.bias, self.o_prototypes, self.beta), strict=True))}
        given |= {} if self.exclusion is None else {_EXCLUSION: self.exclusion}
        given |= {} if self.border is None else {_BORDER: self.border}
        arrays = {}
        for name, array in given.items():
            try:
                arrays[name] = np.asarray(array, np.float32, order="C")
            except (TypeError, ValueError):
                raise EncoderError(f"{name} must hold numbers") from None
        n, m = (len(np.atleast_1d(arrays[name])) for name in ("linear.bias", "o_prototypes"))
        known = [(n, n), (n,), (max(1, m), n), (), (), (2 * n + 1,)]
        shapes = dict(zip((*_NAMES, _EXCLUSION, _BORDER), known, strict=True))
        for name, array in arrays.items():
            if array.shape != shapes[name]:
                raise EncoderError(f"{name} has the shape {array.shape}, expected {shapes[name]}")
            if not (np.abs(array) <= _LARGEST).all():  # nor those that are not finite
                raise EncoderError(f"{name} has values that are not finite, or above {_LARGEST:g}")
        for name, array in zip(("weight", "bias", "o_prototypes"), arrays.values(), strict=False):
            object.__setattr__(self, name, array)
        object.__setattr__(self, "beta", float(arrays["beta"]))
        if _BORDER in arrays:
            object.__setattr__(self, _BORDER, arrays[_BORDER])
        if _EXCLUSION in arrays:
            object.__setattr__(self, "exclusion", float(arrays[_EXCLUSION]))

    @property
    def dim(self) -> int:
        """The length of a vector."""
        return len(self.bias)

    @classmethod
    def load(cls, path: PathLike, dim: int | None = None) -> "NameHead":
        """Read a head; it must be for vectors of the length `dim`, if that is given."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        try:
            arrays = load_file(path)
        except (SafetensorError, OSError, KeyError, TypeError, ValueError) as error:
            # TypeError, KeyError: a kind of number that numpy does not have.
            found = f"{path} is missing" if not Path(path).is_file() else f"{path} cannot be read: {error}"
            raise EncoderError(f"broken encoder: {found}") from None
        try:
            if lacking := [name for name in _NAMES if name not in arrays]:
                raise EncoderError(f"it lacks {', '.join(lacking)}")
            if unknown := sorted(set(arrays) - {*_NAMES, _EXCLUSION, _BORDER}):
                raise EncoderError(f"{', '.join(unknown)} is unknown to this version of handful")
            head = cls(*(arrays.get(name) for name in (*_NAMES, _EXCLUSION, _BORDER)))  # type: ignore[arg-type]
            if dim not in (None, head.dim):
                raise EncoderError(f"it is for vectors of {head.dim} numbers, but the encoder gives {dim}")
        except EncoderError as error:
            raise error.at(f"broken encoder: {path}") from None
        return head

    def save(self, path: PathLike, precision: str = "float32") -> None:
        """Write the head; with "float16", the matrix takes half the size, and the rest stays in float32."""
        from safetensors.numpy import save

        if precision not in ("float32", "float16"):
            raise EncoderError(f"precision is float32 or float16, found {precision!r}")
        arrays = self._arrays()
        if precision == "float16":
            if np.abs(self.weight).max() > np.finfo(np.float16).max:
                raise EncoderError("linear.weight has values that are too large for float16: use float32")
            arrays["linear.weight"] = self.weight.astype(np.float16)
        with replacing(path) as temporary:
            temporary.write_bytes(save(arrays))

    def vectors(self, means: npt.ArrayLike) -> Float32:
        """Return the vectors (n_types, dim) of types from the means (n_types, dim) over the sub-words of their texts.

        A row depends on its row of `means` alone, to the last bit.
        """
        means = np.asarray(means, np.float64)
        if means.ndim != 2 or means.shape[1] != self.dim:
            raise EncoderError(f"means must have the shape (n_types, {self.dim}), found {means.shape}")
        weight, bias = self.weight.astype(np.float64), self.bias.astype(np.float64)
        found = np.empty(means.shape, np.float32)
        for row, mean in zip(found, means, strict=True):
            # Product by product: those of a whole matrix are rounded differently for each number of rows.
            row[:] = weight @ mean.copy() + bias
        return found

    def identity(self) -> bytes:
        """Return bytes that change with the vectors of types; the precision of the file and `border` do not count."""
        digest = hashlib.sha256(_SCHEME)
        for name, array in sorted(replace(self, border=None)._arrays().items()):
            digest.update(f"{name} {array.shape}".encode())
            digest.update(array.tobytes())
        return digest.digest()

    def _arrays(self) -> dict[str, Any]:
        beta = np.asarray(self.beta, np.float32)
        arrays = dict(zip(_NAMES, [self.weight, self.bias, self.o_prototypes, beta], strict=True))
        more = {_EXCLUSION: self.exclusion, _BORDER: self.border}
        return arrays | {name: np.asarray(one, np.float32) for name, one in more.items() if one is not None}


def no_names(name: str) -> EncoderError:
    """Return the error for an encoder that is asked for the vectors of types but has no head."""
    return EncoderError(
        f"the encoder {name or 'given'} does not read the names of types: it was not trained to ({NAMES_FILE} is not "
        "in its folder)",
        Advice("take encoder='handful-en', or give labels", "say --encoder handful-en, or give labels"),
    )


# Training replaced these as well (but for norp, which no corpus of it had): a name must be read as it was then.
_ABBREVIATIONS: dict[str, str] = json.loads(Path(__file__).with_name("abbreviations.json").read_text(encoding="utf-8"))

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_BETWEEN = re.compile(r"[_/-]")
_NO_WORD = re.compile(r"(?:(?:type|class|label|tag|category|group|entity) ?)?(?:[^\Waeiouy]{1,4}\d*|\w|\w?\d+)")


def readable(name: str) -> str:
    """Return the name of a type as words in lower case, without common abbreviations.

    >>> [readable(name) for name in ("TOOL", "creative-work", "ORG", "PoliticalParty", "PER_title")]
    ['tool', 'creative work', 'organization', 'political party', 'person title']
    """
    words = _BETWEEN.sub(" ", _CAMEL.sub(" ", name)).lower().split()
    return " ".join(_ABBREVIATIONS.get(word, word) for word in words) or name


def is_word(name: str) -> bool:
    """Tell whether the name of a type, as it is read, says anything: GS and TYPE_A do not."""
    return _NO_WORD.fullmatch(name) is None


def text_of(one: EntityType, called: str = "", *, has_parts: bool = False) -> str:
    """Return what the encoder reads for a type: its name, or how it is `called`, and its description.

    A name that is no word is not read where there is a description. An encoder that reads parts does not read here what
    the description excludes (`handful.text.guidelines`).

    >>> text_of(EntityType("PEST", "insects and slugs that harm plants"))
    'pest: insects and slugs that harm plants'
    >>> text_of(EntityType("FEE", "a sum of money, not postage"), has_parts=True)
    'fee: a sum of money'
    >>> text_of(EntityType("T1", "insects and slugs"))
    'insects and slugs'
    """
    name = called or readable(one.name)
    description = guideline_of(one.description).meaning if has_parts else one.description
    if not description:
        return name
    return f"{name}: {description}" if is_word(name) else description


@dataclass(frozen=True, eq=False)
class ExcludedVectors:
    """The exclusions of descriptions, as vectors, see `TypeVectors`."""

    # of shapes (n_excluded, dim) and (n_excluded,), float32
    vectors: Float32
    biases: Float32
    owners: npt.NDArray[np.int64]  # the number of the type that excludes each, shape (n_excluded,), int64


def exclude(scores: npt.NDArray[Any], of_excluded: npt.NDArray[Any], owners: npt.NDArray[np.int64]) -> None:
    """Change the scores of types (n_words, n_types), given those of what they exclude (n_words, n_excluded).

    >>> scores = np.array([[2.0, 2.0]])
    >>> exclude(scores, np.array([[2.0]]), np.array([1]))
    >>> scores.round(2).tolist()  # what is excluded fits as well as the type itself: half of it goes
    [[2.0, 1.31]]
    """
    for owner in np.unique(owners):
        others = np.logaddexp.reduce(of_excluded[:, owners == owner], axis=1)
        scores[:, owner] -= np.logaddexp(0, others - scores[:, owner])


@dataclass(frozen=True, eq=False)
class TypeVectors:
    """Types and O as vectors in the space of words.

    The score of a word vector x for type t is ``vectors[t] @ x + biases[t]``, less where it excludes something, and
    for O the logarithm of the summed exponentials of ``o_vectors @ x + o_biases``.
    """

    types: tuple[EntityType, ...]  # in the order given
    # of shapes (n_types, dim) and (n_types,), float32
    vectors: Float32
    biases: Float32
    # of shapes (n_prototypes, dim) and (n_prototypes,), float32: the prototypes of O
    o_vectors: Float32
    o_biases: Float32
    # what the descriptions exclude; None if they exclude nothing, or the encoder reads them as they are
    excluded: ExcludedVectors | None = None

    @classmethod
    def of(
        cls,
        head: NameHead,
        types: tuple[EntityType, ...],
        means: npt.NDArray[np.float64],
        owners: Sequence[int] = (),
    ) -> "TypeVectors":
        """Make vectors of what the encoder gave for the texts of types and, after them, of what these exclude.

        `owners` has the number of the type of each of the latter. See `NameHead.vectors`.
        """
        vectors, n = head.vectors(means), len(types)
        biases = np.float32(head.beta) - _half_squares(vectors)
        excluded = None
        if len(owners) and head.exclusion is not None:
            of_excluded = biases[n:] + np.float32(head.exclusion)
            excluded = ExcludedVectors(vectors[n:], of_excluded, np.array(owners, np.int64))
        return cls(
            types=types,
            vectors=vectors[:n],
            biases=biases[:n],
            o_vectors=head.o_prototypes,
            o_biases=-_half_squares(head.o_prototypes),
            excluded=excluded,
        )

    def scores(self, features: npt.ArrayLike) -> Float32:
        """Return the scores of words: shape (n_words, 1 + n_types), O in the first column."""
        features = np.asarray(features, np.float32)
        found = np.empty((len(features), 1 + len(self.types)), np.float32)
        found[:, 0] = np.logaddexp.reduce(features @ self.o_vectors.T + self.o_biases, axis=1)
        found[:, 1:] = features @ self.vectors.T + self.biases
        if self.excluded is not None:
            of_excluded = features @ self.excluded.vectors.T + self.excluded.biases
            exclude(found[:, 1:], of_excluded, self.excluded.owners)
        return found


def _half_squares(vectors: Float32) -> Float32:
    """Return half the squared length of each row, which does not depend on the other rows."""
    squares = [np.square(vector, dtype=np.float64).sum() / 2 for vector in vectors]
    return np.array(squares, np.float32)
