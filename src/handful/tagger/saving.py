"""A fitted tagger as a folder: config.json, model.safetensors, support.jsonl, README.md and, if asked, encoder/.

Nothing in it is code. Nothing in it depends on when or where it was written, except the path of an encoder that was
given by path and is not inside.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful import __version__
from handful._util.files import PathLike, check_folder, replacing_folder
from handful._util.foreign import check_files, copy_files
from handful.encoders import Encoder
from handful.errors import DataError, FileError, ModelError
from handful.text import EntityType, Transitions, read, types_of, write
from handful.text.types import judged_together

from ._card import OPENING as OPENING
from ._card import model_card
from ._learning import cluster_parameters
from ._summary import FitSummary
from .borders import Borders
from .evidence import EVIDENCE, LARGEST, Evidence, Prototypes, check_arrays
from .known import KnownWords
from .layers import Layer
from .model import CALIBRATIONS, Calibration, Examples, Model
from .seams import Seams

FORMAT, VERSION = "handful tagger", 5
SEAMS = "seams.border"  # among the arrays
# Arrays that layers have in common with the whole model, where they do not have their own.
SHARED = ("nearest.vectors", "names.o_vectors", "names.o_biases")
CONFIG, ARRAYS, SUPPORT, CARD, ENCODER = "config.json", "model.safetensors", "support.jsonl", "README.md", "encoder"

_NOT_SAVED = {"encoder", "threads", "cache"}  # parameters: those of a machine, and the encoder, which is saved apart

#: Files of an encoder that are copied into a model: nothing else in its folder is needed.
ENDINGS = (".json", ".onnx", ".safetensors", ".bin", ".txt", ".model", ".md")


@dataclass(frozen=True)
class Saved:
    """All that a folder holds, except the encoder's files."""

    parameters: dict[str, Any]  # those of `Tagger`; from a folder, without those of `_NOT_SAVED`
    encoder: dict[str, Any]  # see `about_encoder`
    model: Model
    examples: Examples
    summary: FitSummary


def about_encoder(encoder: Encoder, reference: str | None, *, is_inside: bool) -> dict[str, Any]:
    """Return what a folder says of the encoder; the reference is a name, an absolute path, or None for an object."""
    return {
        "reference": ENCODER if is_inside else reference,
        "is_inside": is_inside,
        "fingerprint": encoder.fingerprint,
        "dim": int(encoder.dim),
        "precision": encoder.precision,
    }


def write_folder(path: Path, saved: Saved, encoder: Path | None) -> None:
    """Write a folder, all of it or nothing, with a copy of the folder of an encoder, if one is given.

    A model that is there is replaced; anything else is refused.
    """
    from safetensors.numpy import save

    parameters = {name: value for name, value in saved.parameters.items() if name not in _NOT_SAVED}
    if not parameters["overlap"]:
        del parameters["overlap"]
    parameters["types"] = [one.to_dict() for one in types_of(parameters["types"])]
    parameters["clusters"] = cluster_parameters(parameters["clusters"]) or None
    config = {
        "format": FORMAT,
        "format_version": VERSION,
        "handful_version": __version__,
        "encoder": saved.encoder,
        "parameters": parameters,
        "model": saved.model.settings(),
        "summary": saved.summary.to_dict(),
    }
    examples = saved.examples
    arrays = {f"examples.{name}": getattr(examples, name) for name in ("places", "tags", "vectors")}
    if saved.model.seams is not None:
        arrays[SEAMS] = saved.model.seams.border
    arrays |= _arrays_of(saved.model)
    for number, layer in enumerate(saved.model.layers):
        own = _arrays_of(layer.model)
        kept = [name for name in own if name not in SHARED or own[name] is not arrays.get(name)]
        arrays |= {f"layers.{number}.{name}": own[name] for name in kept}
    arrays = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    try:
        with replacing_folder(path, check=_check_replaceable) as folder:
            (folder / ARRAYS).write_bytes(save(arrays))
            write(saved.examples.sentences, folder / SUPPORT, "gliner" if saved.model.layers else "huggingface")
            text = json.dumps(config, indent=2, ensure_ascii=False, default=_plain)
            config = json.loads(text)
            config["checksums"] = checksums(folder, config)
            text = json.dumps(config, indent=2, ensure_ascii=False) + "\n"
            (folder / CONFIG).write_text(text, encoding="utf-8")
            (folder / CARD).write_text(model_card(saved), encoding="utf-8")
            if encoder is not None:
                copy_files(encoder, folder / ENCODER, ENDINGS)
    except UnicodeEncodeError as error:
        raise DataError(
            f"{path}: a type or word has half of a surrogate pair, which is not a character: {error}"
        ) from None


def _arrays_of(model: Model) -> dict[str, NDArray[Any]]:
    """Return the arrays of the evidence of a model, by their names in a file."""
    pieces = zip(model.settings()["evidence"], model.evidence, strict=True)
    return {f"{one['kind']}.{name}": array for one, piece in pieces for name, array in piece.save().items()}


def checksums(path: Path, config: dict[str, Any]) -> dict[str, str]:
    """Return a hash of each file that a model is made of; of config.json, one of all else that it says."""
    rest = {name: value for name, value in config.items() if name != "checksums"}
    contents = {CONFIG: json.dumps(rest, sort_keys=True).encode()}
    contents |= {name: (path / name).read_bytes() for name in (ARRAYS, SUPPORT)}
    return {name: blake2b(content, digest_size=16).hexdigest() for name, content in contents.items()}


def _check_whole(path: Path, config: dict[str, Any]) -> None:
    """Refuse a model in which a bit is not as it was written."""
    try:
        found = checksums(path, config)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    written = config.get("checksums")
    for name, checksum in found.items():
        if not isinstance(written, dict) or written.get(name) != checksum:
            raise ModelError(
                f"{path / name}: does not match its checksum, it was damaged or changed since it was written; get the "
                "model again from where it came, or fit again"
            )


def _plain(value: Any) -> Any:
    """Return a number of numpy's, or a sequence, as JSON can hold it."""
    return value.item() if isinstance(value, np.generic) else list(value)


def check_place(path: PathLike) -> None:
    """Refuse a place where no model can be written, before the work that leads up to it."""
    check_folder(path, _check_replaceable)


def _check_replaceable(path: Path) -> None:
    """Refuse to replace anything but a model, or an empty folder."""
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
            f"{path}: the model there cannot be replaced, because its folder holds other things too ({foreign[0]}); "
            "move them, or give another name"
        )


def read_folder(path: Path) -> Saved:
    """Read what `write_folder` wrote; an error says what is wrong with it."""
    config = read_config(path)
    check_files(path)
    with refusing(f"{path / CONFIG}: 'summary' is not that of a fit"):
        summary = FitSummary.from_dict(config["summary"])
    with refusing(f"{path / CONFIG}: 'encoder' lacks its dim or its fingerprint"):
        encoder = dict(config["encoder"])
        if not isinstance(encoder["dim"], int) or not isinstance(encoder["fingerprint"], str):
            raise DataError(str(encoder))
    with refusing(f"{path}: its parameters are not those of a tagger"):
        parameters = dict(config["parameters"])
        parameters["types"] = types_of(parameters["types"])
        parameters["clusters"] = cluster_parameters(parameters["clusters"]) or None
    arrays = _read_arrays(path / ARRAYS)
    with refusing(f"{path / CONFIG}: 'model' is not that of a tagger"):
        model = _read_model(path / ARRAYS, config["model"], tuple(summary.types), arrays, encoder["dim"])
    with refusing(f"{path / ARRAYS}: the labelled words are not those of a fit"):
        examples = _read_examples(path / SUPPORT, arrays, model, encoder["dim"])
    _check_whole(path, config)  # last: what can be named more exactly is
    return Saved(parameters, encoder, model, examples, summary)


@contextmanager
def refusing(what: str) -> Iterator[None]:
    """Make a ModelError of anything that content of the wrong kind can raise."""
    try:
        yield
    except ModelError:
        raise
    except (TypeError, KeyError, ValueError, AttributeError, OSError) as error:
        raise ModelError(f"{what}: {error if str(error) else type(error).__name__}") from None


def read_config(path: Path) -> dict[str, Any]:
    """Read the config.json of a folder; an error says why it is not a tagger that this version can read."""
    if not path.exists():
        raise FileError(f"{path}: there is no such folder; a model is written with `Tagger.save` or `handful fit`")
    if not path.is_dir():
        raise FileError(f"{path}: is a file, a model is a folder")
    if not (path / CONFIG).is_file():
        raise ModelError(f"{path}: is not a model of handful, it has no {CONFIG}")
    try:
        config = json.loads((path / CONFIG).read_text(encoding="utf-8"))
    except OSError as error:
        raise FileError(f"{path / CONFIG}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{path / CONFIG}: is damaged or cut off: {error}") from None
    if not isinstance(config, dict) or config.get("format") != FORMAT:
        raise ModelError(f"{path}: is not a model of handful, its {CONFIG} is that of something else")
    version = config.get("format_version")
    if not isinstance(version, int) or version < 1:
        raise ModelError(f"{path / CONFIG}: 'format_version' is {version!r}, expected a number from 1")
    if version != VERSION:
        what = "install a newer one" if version > VERSION else "fit again"
        raise ModelError(
            f"{path}: was written by handful {config.get('handful_version')} in format {version}; this is handful "
            f"{__version__}, which reads format {VERSION}: {what}"
        )
    return config


def _read_arrays(path: Path) -> dict[str, NDArray[Any]]:
    from safetensors import SafetensorError
    from safetensors.numpy import load

    try:
        return dict(load(path.read_bytes()))
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: is damaged or cut off: {error}") from None


def _read_model(
    path: Path, settings: dict[str, Any], types: tuple[EntityType, ...], arrays: dict[str, NDArray[Any]], dim: int
) -> Model:
    """Put arrays and settings together; each piece of evidence takes its arrays, and checks them."""
    pieces: list[Evidence] = []
    for entry in settings["evidence"]:
        kind, weight = entry["kind"], _number(entry["weight"], "weight")
        own = {name: arrays.pop(name) for name in list(arrays) if name.startswith(f"{kind}.")}
        own = {name.removeprefix(f"{kind}."): array for name, array in own.items()}
        with refusing(f"{path}: {kind}"):
            pieces.append(EVIDENCE[kind].load(own, weight, dim, 1 + len(types)))
    if not pieces:
        raise DataError("it has no evidence")
    found = settings["transitions"]
    transitions = None if found is None else Transitions.from_dict(found)
    without_prior = _number(settings["without_prior"], "without_prior")
    known = None
    if said := settings.get("known"):
        weight = _number(said["weight"], "the weight of known words")
        known = KnownWords(weight, types, frozenset((name, entry) for name, entry in said["overruled"]))
    if borders := Borders.of(types, ()):
        overruled = frozenset((name, said) for name, said in settings["overruled_borders"])
        borders = replace(borders, overruled=overruled)
    calibration = _read_calibration(settings["calibration"])
    seams = None
    if said := settings.get("seams"):
        check_arrays({"border": arrays[SEAMS]}, Seams, {"border": 2 * dim + 1})
        seams = Seams(arrays.pop(SEAMS), _number(said["shift"], "the shift of seams"))
    model = Model(types, tuple(pieces), calibration, transitions, without_prior, known, borders, seams=seams)
    by_name = {one.name: one for one in types}
    layers = []
    for number, said in enumerate(settings.get("layers", ())):
        head = f"layers.{number}."
        own = {} if seams is None else {SEAMS: seams.border}
        own |= {name: array for name, array in _arrays_of(model).items() if name in SHARED}
        own |= {name.removeprefix(head): arrays.pop(name) for name in list(arrays) if name.startswith(head)}
        one = (by_name[said["type"]],)
        layers.append(Layer(_read_model(path, said, one, own, dim), bool(said["is_own"])))
    return replace(model, layers=tuple(layers))


def _read_calibration(settings: dict[str, Any]) -> Calibration:
    numbers = {name: _number(value, f"calibration: {name}") for name, value in settings.items() if name != "kind"}
    for name in numbers.keys() & {"temperature", "by_logit"}:
        if not numbers[name] > 1 / LARGEST:
            raise DataError(f"calibration: {name} is {numbers[name]}, expected a number above 0")
    calibration: Calibration = CALIBRATIONS[settings["kind"]](**numbers)
    return calibration


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not -LARGEST <= value <= LARGEST:
        raise DataError(f"{name} is {value!r:.50}, expected a number")
    return float(value)


def _read_examples(path: Path, arrays: dict[str, NDArray[Any]], model: Model, dim: int) -> Examples:
    """Check what is left of the arrays for its shape and values, and put it together with the sentences."""
    prototypes = model.piece(Prototypes)
    p = dim if prototypes is None or prototypes.projection is None else prototypes.projection.shape[1]
    own = {name.removeprefix("examples."): array for name, array in arrays.items()}
    check_arrays(own, Examples, {"p": p, "pair": 2})
    how = {} if model.layers else {"scheme": "BIO"}
    found = read(path, "gliner" if model.layers else "huggingface", **how) if len(own["tags"]) else []
    sentences = judged_together(found)
    places, tags, vectors = own["places"], own["tags"], own["vectors"]
    n_words = np.array([len(sentence.words) for sentence in sentences], np.int64)
    is_inside = (places >= 0).all() and (places[:, 0] < len(sentences)).all()
    is_known = (tags >= 0).all() and (tags < len(model.tags)).all()
    if not is_inside or not is_known or (places[:, 1] >= n_words[places[:, 0]]).any():
        raise DataError(f"they do not fit the sentences in {SUPPORT}")
    return Examples(sentences, places, tags, vectors)
