"""An encoder given by name, path or object, and how it is found again for a saved model."""

import os
from collections.abc import Callable, Sequence
from pathlib import Path, PureWindowsPath
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful._util.files import PathLike
from handful.errors import Advice, EncoderError, HandfulError, ModelError

from .encoder import words_of
from .loading import EMBEDDED, load

if TYPE_CHECKING:
    from handful.text import Sentence

__all__ = [
    "AnyEncoder",
    "WordEncoder",
    "encode",
    "encoder_folder",
    "is_object",
    "is_path",
    "open_encoder",
    "open_saved",
    "unreadable",
]


class WordEncoder(Protocol):
    """Anything that gives one vector per word.

    It may also have a ``name`` (for ``handful cache``), a ``reference`` and a ``precision`` (so that a saved model
    finds it again), ``transitions`` (`handful.text.Transitions`, for decoding), and ``has_names`` with
    ``encode_types(types)`` (it returns `handful.encoders.TypeVectors`, to find types by their names), and
    ``unreadable(sentences)`` (it returns for each word whether it cannot be read: such a word is O).
    """

    @property
    def dim(self) -> int:
        """The length of a vector."""

    @property
    def fingerprint(self) -> str:
        """What changes when the vectors do."""

    def encode(self, sentences: Sequence[Any], *, out: Any = None, progress: Any = None) -> NDArray[Any]:
        """Return vectors of shape (number of words, dim) for sentences, which are objects with ``words``."""


AnyEncoder = PathLike | WordEncoder


def is_object(encoder: AnyEncoder) -> bool:
    """Tell whether this is an encoder itself, not its name or path."""
    return not isinstance(encoder, str | os.PathLike)


def is_path(reference: str) -> bool:
    """Tell whether a saved reference is the path of a folder, on any kind of system; otherwise it is a name."""
    return os.path.isabs(reference) or PureWindowsPath(reference).is_absolute()


def open_encoder(
    encoder: AnyEncoder,
    layers: int | Sequence[int] = -1,
    threads: int | None = None,
    precision: str | None = None,
) -> WordEncoder:
    """Load an encoder by name or path; one that is an object is only checked.

    Parameters
    ----------
    encoder
        A name or path, as for `handful.encoders.load`; or an object with ``dim``, ``fingerprint`` and ``encode``.
    layers, threads, precision
        As for `handful.encoders.load`. An object must have been made with the layers that are wanted.
    """
    if isinstance(encoder, str | os.PathLike):
        return load(encoder, layers=layers, threads=threads, precision=precision)
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
    """Load the encoder of a saved model, or the one given instead; it must be the one of the fit.

    Parameters
    ----------
    folder
        The folder of the model.
    saved
        What it says of its encoder: ``reference``, ``is_inside``, ``fingerprint``, ``dim``, ``precision``.
    given
        The encoder to use instead of the saved reference, or None.
    layers, threads
        As for `handful.encoders.load`.

    Returns
    -------
    encoder, opened
        Its name, path or object, and itself.
    """
    reference = saved.get("reference")
    chosen = given
    if chosen is None:
        if not isinstance(reference, str):
            raise ModelError(
                f"{folder}: its encoder was given as an object",
                Advice("give it again: load(..., encoder=)", "load the model in Python, with load(..., encoder=)"),
            )
        chosen = folder / "encoder" if saved.get("is_inside") else reference
        if isinstance(chosen, str) and is_path(chosen) and not os.path.isdir(chosen):
            raise ModelError(
                f"{folder}: its encoder was in {chosen}, which is no longer there",
                Advice("say where it is now (encoder=)", "say where it is now (--encoder)"),
            )
    try:
        # A GPU and a CPU have different default precisions: a model moves between them with that of its fit.
        opened = open_encoder(chosen, -1 if is_object(chosen) else layers, threads, saved.get("precision"))
    except HandfulError as error:
        raise ModelError(f"{folder}: its encoder cannot be loaded: {error.message}", error.advice) from None
    if opened.fingerprint != saved["fingerprint"] or opened.dim != saved["dim"]:
        raise ModelError(
            f"{folder}: was fitted with another encoder: {reference or 'an object'} with fingerprint "
            f"{saved['fingerprint'][:16]} and {saved['dim']} numbers per word; found is {chosen} with fingerprint "
            f"{opened.fingerprint[:16]} and {opened.dim}",
            Advice(
                "give the one it was fitted with (encoder=), or fit again",
                "give the one it was fitted with (--encoder), or fit again",
            ),
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
        f"there is no folder of the encoder {reference!r} that could go into the model; export it to one with "
        "`handful export-encoder`, and fit with that"
    )


def encode(encoder: WordEncoder, sentences: "Sequence[Sentence]", progress: Any = None) -> Float:
    """Return the features of sentences, checked for their shape."""
    n_words = sum(len(sentence.words) for sentence in sentences)
    if not sentences:
        return np.empty((0, encoder.dim), np.float32)
    features = encoder.encode(sentences, progress=progress)
    if not isinstance(features, np.ndarray) or features.shape != (n_words, encoder.dim) or features.dtype.kind != "f":
        found = f"{features.dtype} {features.shape}" if isinstance(features, np.ndarray) else type(features).__name__
        raise EncoderError(f"the encoder must give floats of shape {(n_words, encoder.dim)}, found {found}")
    return features


def unreadable(encoder: WordEncoder, sentences: Sequence[Any]) -> NDArray[np.bool_]:
    """Return for each word whether the encoder cannot read it, (n_words,); one that does not say reads all."""
    find: Callable[[Any], NDArray[np.bool_]] | None = getattr(encoder, "unreadable", None)
    if find is None:
        return np.zeros(sum(len(words_of(sentence, i)) for i, sentence in enumerate(sentences)), bool)
    return find(sentences)
