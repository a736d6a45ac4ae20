"""`Encoder`: the base class of everything that gives one vector per word, and of what wraps an encoder."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.progress import Progress
from handful.errors import EncoderError
from handful.text import Transitions

from .names import TypeVectors, no_names


class Encoder(ABC):
    """Something that gives one vector per word.

    A subclass sets `dim` and `fingerprint`, and defines `encode`; the rest has defaults. The vector of a word may
    depend on its sentence, but on no other sentence.
    """

    dim: int  # the length of a vector
    fingerprint: str  # changes when the vectors do
    name: str = ""  # for people: what `load` was asked for
    # where `load` finds the encoder again: an embedded name, a name on the hub, or the absolute path of a folder.
    # None if it was not made by `load`.
    reference: str | None = None
    # the precision to ask `load` for, to get the same vectors on another machine; None where the folder decides
    precision: str | None = None
    # how tags follow each other in the text that the encoder was trained on, if that is known
    transitions: Transitions | None = None
    has_names: bool = False  # whether it reads the names of types (`encode_types`)
    # what tells two mentions of one type, side by side, from one (`handful.encoders.names`); None if it does not know
    border: NDArray[np.float32] | None = None
    languages: tuple[str, ...] = ()  # the codes of the languages that it knows; empty if it does not say

    @abstractmethod
    def encode(self, sentences: Sequence[Any], *, progress: Progress = None) -> NDArray[Any]:
        """Return one row per word of sentences, in order, (number of words, dim), of float32 as a rule.

        The array may be read-only.

        Parameters
        ----------
        sentences : objects with a ``words`` attribute (`handful.Sentence`), or sequences of words (str)
        progress : True, a bar on standard error; False, none; None, a bar if standard error is a terminal and it takes
            long; a function, called with the words done and the words in all
        """

    def encode_types(self, types: Any) -> TypeVectors:
        """Encode types by their names and descriptions; an error if the encoder has no names (``has_names``).

        Parameters
        ----------
        types : as for `handful.text.types_of`: names, a dict of descriptions, or a list of `EntityType`
        """
        raise no_names(self.name)

    def unreadable(self, sentences: Sequence[Any]) -> NDArray[np.bool_]:
        """Return for each word whether the encoder cannot read it, (number of words,): such a word is O."""
        return np.zeros(sum(len(words_of(sentence, i)) for i, sentence in enumerate(sentences)), bool)


def _inner(name: str) -> Any:
    """Return a property that asks the encoder inside."""
    return property(attrgetter(f"encoder.{name}"))


class WrappedEncoder(Encoder):
    """An encoder that answers as the one inside it; a subclass changes some of the answers."""

    def __init__(self, encoder: Encoder) -> None:
        self.encoder = encoder

    dim = _inner("dim")
    fingerprint = _inner("fingerprint")
    name = _inner("name")
    reference = _inner("reference")
    precision = _inner("precision")
    transitions = _inner("transitions")
    has_names = _inner("has_names")
    border = _inner("border")
    languages = _inner("languages")

    def encode(self, sentences: Sequence[Any], *, progress: Progress = None) -> NDArray[Any]:
        """Encode sentences, as `Encoder.encode` describes."""
        return self.encoder.encode(sentences, progress=progress)

    def encode_types(self, types: Any) -> TypeVectors:
        """Encode types by their names and descriptions."""
        return self.encoder.encode_types(types)

    def unreadable(self, sentences: Sequence[Any]) -> NDArray[np.bool_]:
        """Return for each word whether the encoder inside cannot read it, (number of words,)."""
        return self.encoder.unreadable(sentences)


def words_of(sentence: Any, number: int) -> Sequence[str]:
    """Return the words of a sentence, which is an object with ``words`` or a sequence of words."""
    words = getattr(sentence, "words", sentence)
    if isinstance(words, str) or not isinstance(words, Sequence):
        found = f"a str ({words[:40]!r})" if isinstance(words, str) else f"{type(words).__name__}"
        raise EncoderError(f"sentence {number} must be a list of words, found {found}; split texts into words first")
    return words
