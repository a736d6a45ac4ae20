"""A fitted tagger as a folder: config.json, model.safetensors, support.jsonl, README.md and, if asked, encoder/.

Nothing in it is code, and nothing in it depends on when or where it was written, but for the path in config.json of
an encoder that was given by path and does not lie inside.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful import __version__
from handful.errors import DataError, FileError, FormatError, HandfulError, ModelError
from handful.text import read, write

from ._card import model_card
from ._labels import LabelModel
from ._model import Examples, Model
from ._summary import FitSummary

__all__ = ["ENCODER", "Saved", "read_folder", "write_folder"]

FORMAT, VERSION = "handful tagger", 2  # 1 had no method, estimated no ratio
CONFIG, ARRAYS, SUPPORT, CARD, ENCODER = "config.json", "model.safetensors", "support.jsonl", "README.md", "encoder"


@dataclass(frozen=True)
class Saved:
    """All that a folder holds, less the encoder's files.

    Attributes
    ----------
    parameters : those of `Tagger`, less the encoder
    encoder : its ``reference`` (a name or absolute path, None for one that is an object, "encoder" for one inside the
        folder), whether it ``is_inside``, its ``fingerprint`` and ``dim``, and the ``precision`` to ask for (None:
        its own)
    """

    parameters: dict[str, Any]
    encoder: dict[str, Any]
    model: Model
    examples: Examples
    summary: FitSummary


def write_folder(path: Path, saved: Saved, encoder: Path | None) -> None:
    """Write a folder, all of it or nothing; a model that is there is replaced, anything else refused.

    Parameters
    ----------
    path
        Where.
    saved
        What.
    encoder
        A folder to copy into it, or None.
    """
    from safetensors.numpy import save

    path = Path(os.path.realpath(path))
    _check_replaceable(path)
    config = {
        "format": FORMAT,
        "format_version": VERSION,
        "handful_version": __version__,
        "types": list(saved.model.types),
        "encoder": saved.encoder,
        "parameters": saved.parameters,
        "summary": saved.summary.to_dict(),
    }
    arrays: dict[str, NDArray[Any]] = {
        "prototypes": saved.model.prototypes,
        "prototype_tags": saved.model.prototype_tags,
        "example_places": saved.examples.places,
        "example_tags": saved.examples.tags,
        "example_vectors": saved.examples.vectors,
    }
    if saved.model.projection is not None:
        arrays["projection"] = saved.model.projection
    if saved.model.labels is not None:  # its tags are those of the examples
        labels = saved.model.labels
        arrays |= {"label_weights": labels.weights, "label_bias": labels.bias, "label_vectors": labels.vectors}
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    with _replacing(path) as folder:
        (folder / CONFIG).write_text(
            json.dumps(config, indent=2, ensure_ascii=False, default=_plain) + "\n", encoding="utf-8"
        )
        (folder / ARRAYS).write_bytes(save(arrays))
        write(saved.examples.sentences, folder / SUPPORT, "huggingface")
        (folder / CARD).write_text(model_card(saved), encoding="utf-8")
        if encoder is not None:
            shutil.copytree(encoder, folder / ENCODER, copy_function=shutil.copyfile)


def _plain(value: Any) -> Any:
    """Return a number of numpy's, or a sequence, as JSON can hold it."""
    return value.item() if isinstance(value, np.generic) else list(value)


@contextmanager
def _replacing(path: Path) -> Iterator[Path]:
    """Give a new folder to write into, which takes the place of `path` when all went well."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    old = path.with_name(f".{path.name}.{os.getpid()}.old")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        yield temporary
        for file in [*temporary.rglob("*"), temporary]:
            _sync(file)
        if path.exists():
            os.rename(path, old)
        try:
            os.rename(temporary, path)
        except BaseException:
            if old.exists():
                os.rename(old, path)
            raise
        _sync(path.parent)
    except UnicodeEncodeError as error:
        raise DataError(
            f"{path}: a type or word has half of a surrogate pair, which is no character: {error}"
        ) from None
    except HandfulError:
        raise
    except (OSError, shutil.Error) as error:
        raise FileError(f"{path}: the model cannot be written: {getattr(error, 'strerror', None) or error}") from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def _sync(path: Path) -> None:
    """See that a file or folder is on the disk, where the system can."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_replaceable(path: Path) -> None:
    if not path.exists():
        return
    if not path.is_dir():
        raise FileError(f"{path}: is a file; a model is a folder, give another name")
    found = {entry.name for entry in path.iterdir()}
    if not found:
        return
    try:
        is_ours = json.loads((path / CONFIG).read_text(encoding="utf-8")).get("format") == FORMAT
    except (OSError, ValueError, AttributeError):
        is_ours = False
    if not is_ours:
        raise FileError(f"{path}: is a folder with other things in it, which are not overwritten; give another name")
    if foreign := sorted(found - {CONFIG, ARRAYS, SUPPORT, CARD, ENCODER}):
        raise FileError(
            f"{path}: the model there cannot be replaced, for its folder holds other things too ({foreign[0]}); move "
            "them, or give another name"
        )


def read_folder(path: Path) -> Saved:
    """Read what `write_folder` wrote; whatever is wrong with it is said."""
    config = _read_config(path)
    summary = _section(path, config, "summary")
    parameters, encoder = _section(path, config, "parameters"), _section(path, config, "encoder")
    types = config.get("types")
    if not isinstance(types, list) or not types or not all(isinstance(name, str) for name in types):
        raise ModelError(f"{path / CONFIG}: 'types' is {types!r}, expected a list of names")
    if not isinstance(encoder.get("dim"), int) or not isinstance(encoder.get("fingerprint"), str):
        raise ModelError(f"{path / CONFIG}: 'encoder' lacks its dim or its fingerprint: {encoder}")
    if config["format_version"] == 1:
        parameters = {"method": "paper"} | parameters
        summary = {"method": "paper", "ratio_is_estimated": False} | summary
    temperature = parameters.get("temperature")
    if not isinstance(temperature, int | float) or not temperature > 0:
        raise ModelError(f"{path / CONFIG}: 'temperature' is {temperature!r}, expected a number above 0")
    if set(summary) != {entry.name for entry in fields(FitSummary)}:
        raise ModelError(f"{path / CONFIG}: 'summary' has other entries than a summary: {', '.join(summary)}")
    arrays = _read_arrays(path / ARRAYS)
    has_labels = parameters.get("method") != "paper"
    model, examples = _checked(path, arrays, tuple(types), encoder["dim"], float(temperature), has_labels)
    return Saved(parameters, encoder, model, examples, FitSummary(**summary))


def _read_config(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise FileError(f"{path}: there is no such folder; a model is written with `Tagger.save` or `handful fit`")
    if not path.is_dir():
        raise FileError(f"{path}: is a file, a model is a folder")
    if not (path / CONFIG).is_file():
        raise ModelError(f"{path}: is no model of handful, it has no {CONFIG}")
    try:
        config = json.loads((path / CONFIG).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path / CONFIG}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path / CONFIG}: is damaged or cut off: {error}") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise ModelError(f"{path}: is no model of handful, its {CONFIG} is that of something else")
    version = config.get("format_version")
    if not isinstance(version, int) or version < 1:
        raise ModelError(f"{path / CONFIG}: 'format_version' is {version!r}, expected a number from 1")
    if version > VERSION:
        raise ModelError(
            f"{path}: was written by handful {config.get('handful_version')} in format {version}; this is handful "
            f"{__version__}, which reads formats up to {VERSION}: install a newer one"
        )
    return config


def _section(path: Path, config: dict[str, Any], name: str) -> dict[str, Any]:
    section = config.get(name)
    if not isinstance(section, dict):
        raise ModelError(f"{path / CONFIG}: {name!r} is {section!r}, expected an object")
    return section


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        arrays = load(path.read_bytes())
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: is damaged or cut off: {error}") from None
    return dict(arrays)


def _checked(
    path: Path,
    arrays: dict[str, NDArray[Any]],
    types: tuple[str, ...],
    dim: int,
    temperature: float,
    has_labels: bool,
) -> tuple[Model, Examples]:
    """Check arrays for their shapes, kinds and values, and put them to use."""
    file = path / ARRAYS
    k = len(arrays.get("prototype_tags", ()))
    m = len(arrays.get("example_tags", ()))
    p = arrays["projection"].shape[-1] if arrays.get("projection") is not None else dim
    expected: dict[str, tuple[tuple[int, ...], type[Any]]] = {
        "prototypes": ((k, dim), np.float64),
        "prototype_tags": ((k,), np.int64),
        "example_places": ((m, 2), np.int64),
        "example_tags": ((m,), np.int64),
        "example_vectors": ((m, p), np.float32),
    }
    if "projection" in arrays:
        expected["projection"] = ((dim, p), np.float64)
    if has_labels:
        expected |= {
            "label_weights": ((len(types) + 1, dim), np.float64),
            "label_bias": ((len(types) + 1,), np.float64),
            "label_vectors": ((m, dim), np.float32),
        }
    if set(arrays) != set(expected):
        raise ModelError(f"{file}: holds {', '.join(sorted(arrays))}; expected {', '.join(sorted(expected))}")
    for name, (shape, dtype) in expected.items():
        if arrays[name].shape != shape or arrays[name].dtype != dtype:
            found = f"{arrays[name].dtype} of shape {arrays[name].shape}"
            raise ModelError(f"{file}: {name} is {found}, expected {np.dtype(dtype)} of shape {shape}")
        if not np.isfinite(arrays[name]).all():
            raise ModelError(f"{file}: {name} has values that are not finite")
    if set(arrays["prototype_tags"].tolist()) != set(range(len(types) + 1)):
        raise ModelError(f"{file}: prototype_tags are not those of O and the {len(types)} types in {CONFIG}")
    try:
        sentences = list(read(path / SUPPORT, "huggingface", scheme="BIO"))
    except (FileError, FormatError, DataError) as error:
        raise ModelError(f"the model's labelled sentences: {error}") from None
    places, tags = arrays["example_places"], arrays["example_tags"]
    n_words = np.array([len(sentence.words) for sentence in sentences], np.int64)
    inside = (places[:, 0] >= 0) & (places[:, 0] < len(sentences)) & (places[:, 1] >= 0)
    if (
        not inside.all()
        or (places[:, 1] >= n_words[places[:, 0]]).any()
        or (tags < 0).any()
        or (tags > len(types)).any()
    ):
        raise ModelError(f"{file}: the labelled words do not fit the sentences in {SUPPORT}")
    labels = None
    if has_labels:
        if set(tags.tolist()) != set(range(len(types) + 1)):
            raise ModelError(f"{file}: example_tags are not those of O and the {len(types)} types in {CONFIG}")
        labels = LabelModel(arrays["label_weights"], arrays["label_bias"], arrays["label_vectors"], tags)
    model = Model(types, arrays["prototypes"], arrays["prototype_tags"], arrays.get("projection"), temperature, labels)
    return model, Examples(sentences, places, tags, arrays["example_vectors"])
