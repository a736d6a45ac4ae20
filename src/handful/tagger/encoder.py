"""The encoder of a tagger: given by name, path or object, and how it travels with a saved model."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from handful.cluster.statistics import Float
from handful.encoders import EMBEDDED, load
from handful.errors import EncoderError, HandfulError, ModelError
from handful.text import Sentence

__all__ = ["AnyEncoder", "WordEncoder", "encode", "encoder_folder", "is_object", "open_encoder", "open_saved"]


class WordEncoder(Protocol):
    """Anything that gives one vector a word."""

    @property
    def dim(self) -> int:
        """The length of a vector."""

    @property
    def fingerprint(self) -> str:
        """What changes when the vectors do."""

    def encode(self, sentences: Sequence[Any], *, out: Any = None, progress: Any = None) -> NDArray[Any]:
        """Return (number of words, dim) vectors of sentences, which are objects with ``words``."""


AnyEncoder = str | os.PathLike[str] | WordEncoder


def is_object(encoder: AnyEncoder) -> bool:
    """Whether this is an encoder itself, not its name or path."""
    return not isinstance(encoder, str | os.PathLike)


def open_encoder(
    encoder: AnyEncoder, layers: int | Sequence[int], threads: int | None, precision: str | None = None
) -> WordEncoder:
    """Load an encoder; one that is an object is only looked at."""
    if isinstance(encoder, str | os.PathLike):
        loaded = load(encoder, layers=layers, threads=threads, precision=precision)
        loaded.name = os.fspath(encoder)
        return loaded
    lacking = [name for name in ("dim", "fingerprint", "encode") if not hasattr(encoder, name)]
    if lacking:
        raise EncoderError(
            f"encoder is {encoder!r}, which has no {' and no '.join(lacking)}; give the name of an embedded encoder "
            f"({', '.join(EMBEDDED)}), a path, or an object with dim, fingerprint and encode"
        )
    if layers != -1:
        raise EncoderError(
            f"layers={layers} has no meaning for an encoder that is an object; load it with these layers"
        )
    return encoder


def open_saved(
    folder: Path, saved: dict[str, Any], given: AnyEncoder | None, layers: Any, threads: int | None
) -> tuple[AnyEncoder, WordEncoder]:
    """Load the encoder of a saved model, or the one given in its stead; it must be the one of the fit.

    Returns
    -------
    encoder, opened
        Its name, path or object, and itself.
    """
    reference = saved.get("reference")
    chosen = given
    if chosen is None:
        if not isinstance(reference, str):
            raise ModelError(f"{folder}: its encoder was given as an object; give it again: load(..., encoder=)")
        chosen = folder / "encoder" if saved.get("is_inside") else reference
    try:
        # A GPU and a CPU have different precisions of their own: a model moves between them with that of its fit.
        opened = open_encoder(chosen, -1 if is_object(chosen) else layers, threads, saved.get("precision"))
    except HandfulError as error:
        raise ModelError(f"{folder}: its encoder cannot be loaded: {error}") from None
    if opened.fingerprint != saved["fingerprint"] or opened.dim != saved["dim"]:
        raise ModelError(
            f"{folder}: was fitted with another encoder: {reference or 'an object'} with fingerprint "
            f"{saved['fingerprint'][:16]} and {saved['dim']} numbers a word; found is {chosen} with fingerprint "
            f"{opened.fingerprint[:16]} and {opened.dim}. Give the one it was fitted with (encoder=), or fit again"
        )
    return chosen, opened


def encoder_folder(encoder: AnyEncoder) -> Path:
    """Return the folder of an encoder given by name or path, to be copied."""
    if isinstance(encoder, str | os.PathLike):
        folder = EMBEDDED.get(os.fspath(encoder), Path(encoder))
        if folder.is_dir():
            return folder
        raise EncoderError(
            f"the encoder {os.fspath(encoder)!r} is no folder that could go into the model; export it to one with "
            "`handful export-encoder`, and fit with that"
        )
    raise EncoderError("the encoder is an object, which cannot go into the model; fit with the path of an encoder")


def encode(encoder: WordEncoder, sentences: Sequence[Sentence], progress: Any = None) -> Float:
    """Return the features of sentences, checked for their shape."""
    n_words = sum(len(sentence.words) for sentence in sentences)
    if not sentences:
        return np.empty((0, encoder.dim), np.float32)
    features = encoder.encode(sentences, progress=progress)
    if not isinstance(features, np.ndarray) or features.shape != (n_words, encoder.dim) or features.dtype.kind != "f":
        found = f"{features.dtype} {features.shape}" if isinstance(features, np.ndarray) else type(features).__name__
        raise EncoderError(f"the encoder must give floats of shape {(n_words, encoder.dim)}, found {found}")
    return features
