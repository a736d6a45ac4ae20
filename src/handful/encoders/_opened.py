"""The encoder of a tagger: given by name, path or object, and how it travels with a saved model."""

import os
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from handful.cluster._statistics import Float
from handful.errors import EncoderError, HandfulError, ModelError
from handful.text import Sentence

from . import EMBEDDED, Encoder, load

__all__ = [
    "AnyEncoder",
    "OpenedEncoder",
    "WordEncoder",
    "encode",
    "encoder_folder",
    "is_object",
    "is_path",
    "open_encoder",
    "open_saved",
]


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


def is_path(reference: str) -> bool:
    """Whether a saved reference is the path of a folder, on this kind of system or another; else it is a name."""
    return os.path.isabs(reference) or PureWindowsPath(reference).is_absolute()


class OpenedEncoder:
    """An encoder opened by name or path; a copy of it (`pickle`, `copy`) opens it again when it is needed.

    Parameters
    ----------
    encoder
        Its name or path.
    layers, threads, precision
        As for `handful.encoders.load`.

    Attributes
    ----------
    reference : its name; for a folder its absolute path, which holds wherever the program goes later
    name : what it was asked for, for ``handful cache``
    """

    def __init__(
        self,
        encoder: str | os.PathLike[str],
        layers: int | Sequence[int],
        threads: int | None,
        precision: str | None = None,
    ) -> None:
        self.name = os.fspath(encoder)
        is_folder = self.name not in EMBEDDED and os.path.isdir(self.name)
        self.reference = os.path.abspath(self.name) if is_folder else self.name
        self.layers = layers
        self.threads = threads
        self.precision = precision
        self._fingerprint: str | None = None
        self._opened: Encoder | None = None
        opened = self._open()
        self.dim = opened.dim
        self.precision = opened.precision

    @property
    def fingerprint(self) -> str:
        """What changes when the vectors do."""
        if self._fingerprint is None:
            self._fingerprint = self._open().fingerprint
        return self._fingerprint

    def encode(self, sentences: Sequence[Any], *, out: Any = None, progress: Any = None) -> NDArray[Any]:
        """Return (number of words, dim) vectors of sentences."""
        return self._open().encode(sentences, out=out, progress=progress)

    def _open(self) -> Encoder:
        if self._opened is not None:
            return self._opened
        opened = load(self.reference, layers=self.layers, threads=self.threads, precision=self.precision)
        opened.name = self.name
        if self._fingerprint not in (None, opened.fingerprint):
            raise ModelError(f"the encoder {self.reference} is no longer the one that this tagger was fitted with")
        self._opened = opened
        return opened

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": None, "_fingerprint": self.fingerprint}


def open_encoder(
    encoder: AnyEncoder, layers: int | Sequence[int], threads: int | None, precision: str | None = None
) -> WordEncoder:
    """Load an encoder; one that is an object is only looked at."""
    if isinstance(encoder, str | os.PathLike):
        return OpenedEncoder(encoder, layers, threads, precision)
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
        if isinstance(chosen, str) and is_path(chosen) and not os.path.isdir(chosen):
            raise ModelError(
                f"{folder}: its encoder was in {chosen}, which is no longer there: say where it is now (encoder=)"
            )
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


def encoder_folder(reference: str | None) -> Path:
    """Return the folder of an encoder, given by its reference (None for an object), to be copied."""
    if reference is None:
        raise EncoderError("the encoder is an object, which cannot go into the model; fit with the path of an encoder")
    folder = EMBEDDED.get(reference, Path(reference))
    if folder.is_dir():
        return folder
    raise EncoderError(
        f"the encoder {reference!r} is no folder that could go into the model; export it to one with "
        "`handful export-encoder`, and fit with that"
    )


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
