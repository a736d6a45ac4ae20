"""An encoder given by name, path or object, and how it is found again for a saved model."""

import os
import re
from collections.abc import Sequence
from pathlib import Path, PureWindowsPath
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.files import PathLike
from handful._util.foreign import check_files
from handful._util.lazy import check_libraries
from handful._util.progress import Progress
from handful.errors import Advice, EncoderError, HandfulError, ModelError

from ._network_encoder import NetworkEncoder as NetworkEncoder
from .encoder import Encoder, words_of
from .languages import AUTO
from .shipped import EMBEDDED, check_installed, folder_of

_NAME = re.compile(r"[\w-][\w.-]*(?:/[\w-][\w.-]*)?")  # of an encoder in the package, or on the Hub

AnyEncoder = PathLike | Encoder

#: The kinds of encoders that can be given, for messages.
CHOICES = (
    f"give an embedded name ({', '.join(EMBEDDED)}) or an installed one (`handful encoders` lists them), a folder "
    "written by `handful export-encoder` "
    "(encoder.json, model.onnx, tokenizer.json), or, after `pip install 'handful[transformers]'`, "
    "a Hugging Face folder (config.json, model.safetensors, tokenizer.json, tokenizer_config.json) or hub name"
)


def load(
    name_or_path: PathLike,
    *,
    threads: int | None = None,
    precision: str | None = None,
) -> NetworkEncoder:
    """Load an encoder. A copy of it (`pickle`, `copy`) opens the same files again when it is first used.

    Parameters
    ----------
    name_or_path : the name of an embedded encoder (see `EMBEDDED`), or of one that another distribution brings, such as
        "handful-xx" after ``pip install handful-xx``; a folder that ``handful export-encoder`` wrote; or, with the
        extra ``transformers``, a folder in the Hugging Face layout or a name on its hub
    threads : how many threads to use; None, as many as this process may use
    precision : "float32" or "int8" for exported folders: a check of what the folder holds. "float32", "bfloat16" or
        "float16" for Hugging Face encoders; None, bfloat16 on a GPU and float32 elsewhere
    """
    if threads is not None and not (isinstance(threads, int | np.integer) and threads >= 1):
        raise EncoderError(f"threads is a whole number of at least 1, found {threads!r}")
    name, path = os.fspath(name_or_path), check_encoder(name_or_path)
    if is_exported(path):
        from ._onnx import load_onnx

        encoder = load_onnx(path, threads=threads, precision=precision)
    else:
        from .hugging_face import load_transformers

        encoder = load_transformers(name, threads=threads, precision=precision)
    encoder.name = name
    encoder.reference = name if folder_of(name) is not None or not path.is_dir() else os.path.abspath(path)
    encoder.threads = threads
    return encoder


def check_encoder(name_or_path: PathLike) -> Path:
    """Refuse what cannot be an encoder, as far as that is plain before it is opened; return where it would be."""
    name = os.fspath(name_or_path)
    if name == AUTO:
        raise EncoderError(
            f"{AUTO!r} chooses an encoder by the language of a text, and there is no text here; name one (`handful "
            "encoders` lists them)"
        )
    path = folder_of(name) or Path(name)
    if name in EMBEDDED and not path.is_dir():
        raise EncoderError(f"the encoder {name!r} is not in this build of handful: {path} is missing; {CHOICES}")
    if is_exported(path):
        check_files(path)
        return path
    if not path.exists():
        check_installed(name)
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise EncoderError(f"the folder {path} holds neither encoder.json nor config.json; {CHOICES}")
        check_files(path)
    elif path.exists() or path.is_absolute() or name.startswith(".") or name.count("/") > 1:
        found = "is a file" if path.exists() else "does not exist"
        raise EncoderError(f"no encoder at {path}: it {found}; {CHOICES}")
    check_libraries(f"{name!r} is not embedded: {CHOICES}; that", "torch", "transformers")
    return path


def is_exported(folder: Path) -> bool:
    """Tell whether a folder is one that ``handful export-encoder`` wrote."""
    return (folder / "encoder.json").is_file() or (folder / "model.onnx").is_file()


class _GivenEncoder(Encoder):
    """An object of a user's own class, with ``dim``, ``fingerprint`` and ``encode``; the rest is there if it has it."""

    def __init__(self, given: Any) -> None:
        self._given = given
        self.dim, self.fingerprint = given.dim, given.fingerprint
        self.name = type(given).__name__
        values = ("name", "reference", "precision", "transitions", "has_names", "border", "languages")
        optional = (*values, "encode_types", "unreadable")
        self.__dict__ |= {name: getattr(given, name) for name in optional if hasattr(given, name)}

    def encode(self, sentences: Sequence[Any], *, progress: Progress = None) -> NDArray[Any]:
        """Return what the object gives, checked for its shape."""
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


def open_encoder(encoder: AnyEncoder, threads: int | None = None, precision: str | None = None) -> Encoder:
    """Load an encoder by name or path; one that is an object is only checked, and made an `Encoder` if it is none.

    Parameters
    ----------
    encoder : a name or path, as for `handful.encoders.load`; an `Encoder`; or an object with ``dim``, ``fingerprint``
        and ``encode``, and anything else of an `Encoder`
    threads, precision : as for `handful.encoders.load`
    """
    if isinstance(encoder, str | os.PathLike):
        return load(encoder, threads=threads, precision=precision)
    lacking = [name for name in ("dim", "fingerprint", "encode") if not hasattr(encoder, name)]
    if lacking:
        raise EncoderError(
            f"encoder is {encoder!r}, which has no {' and no '.join(lacking)}; give the name of an embedded encoder "
            f"({', '.join(EMBEDDED)}), a path, or an object with dim, fingerprint and encode"
        )
    return encoder if isinstance(encoder, Encoder) else _GivenEncoder(encoder)


def open_saved(
    folder: Path, saved: dict[str, Any], given: AnyEncoder | None, threads: int | None
) -> tuple[AnyEncoder, Encoder]:
    """Load the encoder of a saved model, or the one given instead; it must be the one of the fit.

    `saved` has the model's ``reference``, ``is_inside``, ``fingerprint``, ``dim`` and ``precision`` of its encoder. The
    result is the name, path or object of the encoder, and the encoder itself.
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
        opened = open_encoder(chosen, threads=threads, precision=saved.get("precision"))
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
    folder = folder_of(reference) or Path(reference)
    if folder.is_dir():
        return folder
    raise EncoderError(
        f"there is no folder of the encoder {reference!r} that could go into the model; export it to one with "
        "`handful export-encoder`, and fit with that"
    )
