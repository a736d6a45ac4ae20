"""An encoder given by name, path or object, and how it is found again for a saved model."""

import os
import re
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.files import PathLike
from handful.errors import Advice, EncoderError, HandfulError, ModelError

from .encoder import Encoder, words_of
from .loading import EMBEDDED, load

__all__ = [
    "AnyEncoder",
    "encoder_folder",
    "is_object",
    "is_path",
    "open_encoder",
    "open_saved",
]


_NAME = re.compile(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)?")  # of an encoder in the package, or on the Hub

AnyEncoder = PathLike | Encoder


class _GivenEncoder(Encoder):
    """An object of a user's own class, with ``dim``, ``fingerprint`` and ``encode``; the rest is there if it has it."""

    def __init__(self, given: Any) -> None:
        self._given = given
        self.dim, self.fingerprint = given.dim, given.fingerprint
        self.name = type(given).__name__
        optional = ("name", "reference", "precision", "transitions", "has_names", "encode_types", "unreadable")
        self.__dict__ |= {name: getattr(given, name) for name in optional if hasattr(given, name)}

    def encode(self, sentences: Sequence[Any], *, out: Any = None, progress: Any = None) -> NDArray[Any]:
        """Return what the object gives, checked for its shape; `out` must be None."""
        n_words = sum(len(words_of(sentence, i)) for i, sentence in enumerate(sentences))
        if not sentences:
            return np.empty((0, self.dim), np.float32)
        features = self._given.encode(sentences, progress=progress)
        is_array = isinstance(features, np.ndarray)
        if not is_array or features.shape != (n_words, self.dim) or features.dtype.kind != "f":
            found = f"{features.dtype} {features.shape}" if is_array else type(features).__name__
            raise EncoderError(f"the encoder must give floats of shape {(n_words, self.dim)}, found {found}")
        return features  # type: ignore[no-any-return]


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
) -> Encoder:
    """Load an encoder by name or path; one that is an object is only checked, and made an `Encoder` if it is none.

    Parameters
    ----------
    encoder
        A name or path, as for `handful.encoders.load`; an `Encoder`; or an object with ``dim``, ``fingerprint`` and
        ``encode``, and anything else of an `Encoder`.
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
    return encoder if isinstance(encoder, Encoder) else _GivenEncoder(encoder)


def open_saved(
    folder: Path, saved: dict[str, Any], given: AnyEncoder | None, layers: Any, threads: int | None
) -> tuple[AnyEncoder, Encoder]:
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
        if not is_path(reference) and not _NAME.fullmatch(reference):
            raise ModelError(f"{folder}: its encoder is {reference!r:.100}, which is neither a name nor a whole path")
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
