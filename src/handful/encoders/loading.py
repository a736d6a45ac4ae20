"""`load` opens an encoder: an embedded one, an exported folder, or a Hugging Face one."""

import operator
import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from handful._util.files import PathLike
from handful._util.foreign import check_files
from handful.errors import EncoderError, MissingExtraError

from .network_encoder import NetworkEncoder
from .pooling import check_pooling

__all__ = ["CHOICES", "EMBEDDED", "absolute_layers", "check_encoder", "is_exported", "load"]

#: The encoders inside the package: their names, and the folders with their files.
EMBEDDED = {"handful-en": Path(__file__).parent / "en"}

#: What an encoder can be, for messages.
CHOICES = (
    f"give an embedded name ({', '.join(EMBEDDED)}), a folder written by `handful export-encoder` "
    "(encoder.json, model.onnx, tokenizer.json), or, after `pip install 'handful[transformers]'`, "
    "a Hugging Face folder (config.json, model.safetensors, tokenizer.json, tokenizer_config.json) or hub name"
)


def load(
    name_or_path: PathLike,
    *,
    layers: int | Sequence[int] = -1,
    pooling: str = "first-last",
    threads: int | None = None,
    precision: str | None = None,
) -> NetworkEncoder:
    """Load an encoder.

    Parameters
    ----------
    name_or_path
        The name of an embedded encoder (see `EMBEDDED`); a folder that ``handful export-encoder`` wrote; or,
        with the extra ``transformers``, a folder in the Hugging Face layout or a name on its hub.
    layers
        Which hidden layer, or which layers to take the mean of: 0 is the embeddings, -1 the last layer.
    pooling
        How a word's sub-words become one vector: "first-last" (the mean of the two), "first", "last" or
        "mean".
    threads
        How many threads to use; None, as many as this process may use.
    precision
        "float32" or "int8" for exported folders: a check of what the folder holds. "float32", "bfloat16" or
        "float16" for Hugging Face encoders; None, bfloat16 on a GPU and float32 elsewhere.

    Returns
    -------
    Encoder
        With ``dim``, ``fingerprint`` and ``encode``, and with ``encode_types`` if it ``has_names``. A copy of it
        (`pickle`, `copy`) opens the same files again when it is first used.
    """
    wanted = _checked_layers(layers)
    check_pooling(pooling)
    if threads is not None and not (isinstance(threads, int | np.integer) and threads >= 1):
        raise EncoderError(f"threads is a whole number of at least 1, found {threads!r}")
    name, path = os.fspath(name_or_path), check_encoder(name_or_path)
    if is_exported(path):
        from ._onnx import load_onnx

        encoder = load_onnx(path, layers=wanted, pooling=pooling, threads=threads, precision=precision)
    else:
        from .hugging_face import load_transformers

        encoder = load_transformers(name, layers=wanted, pooling=pooling, threads=threads, precision=precision)
    encoder.name = name
    encoder.reference = name if name in EMBEDDED or not path.is_dir() else os.path.abspath(path)
    encoder.layers, encoder.threads = wanted, threads
    return encoder


def check_encoder(name_or_path: PathLike) -> Path:
    """Refuse what cannot be an encoder, as far as that is plain before it is opened; return where it would be."""
    name = os.fspath(name_or_path)
    path = EMBEDDED.get(name, Path(name))
    if name in EMBEDDED and not path.is_dir():
        raise EncoderError(f"the encoder {name!r} is not in this build of handful: {path} is missing; {CHOICES}")
    if not is_exported(path):
        _check_hugging_face(name, path)
    if path.is_dir():
        check_files(path)
    return path


def is_exported(folder: Path) -> bool:
    """Tell whether a folder is one that ``handful export-encoder`` wrote."""
    return (folder / "encoder.json").is_file() or (folder / "model.onnx").is_file()


def _check_hugging_face(name: str, path: Path) -> None:
    """Refuse a place that cannot hold a Hugging Face encoder, before torch is imported."""
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise EncoderError(f"the folder {path} holds neither encoder.json nor config.json; {CHOICES}")
    elif path.exists() or path.is_absolute() or name.startswith(".") or name.count("/") > 1:
        found = "is a file" if path.exists() else "does not exist"
        raise EncoderError(f"no encoder at {path}: it {found}; {CHOICES}")
    for library in ("torch", "transformers"):
        if find_spec(library) is None:
            raise MissingExtraError(f"{name!r} is not embedded, and other encoders need {library}: {CHOICES}")


def _checked_layers(layers: Any) -> tuple[int, ...]:
    try:
        wanted = tuple(map(_whole, layers if isinstance(layers, Sequence | np.ndarray) else [layers]))
    except TypeError:
        wanted = ()
    if not wanted:
        raise EncoderError(f"layers is a whole number or a list of them, found {layers!r}")
    return wanted


def _whole(number: Any) -> int:
    """Return a whole number as an int; raise a TypeError for anything else."""
    if isinstance(number, bool):
        raise TypeError
    return operator.index(number)


def absolute_layers(layers: Sequence[int], n_layers: int) -> tuple[int, ...]:
    """Return layers as numbers from 0 (the embeddings) to `n_layers` (the last), in order, each once."""
    for layer in layers:
        if not -n_layers - 1 <= layer <= n_layers:
            raise EncoderError(f"layer {layer} does not exist: layers go from 0 (the embeddings) to {n_layers}")
    return tuple(sorted({layer % (n_layers + 1) for layer in layers}))
