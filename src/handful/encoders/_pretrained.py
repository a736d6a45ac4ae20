"""Read a Hugging Face model and its tokenizer, and say which file is wrong if that fails."""

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from handful.errors import EncoderError, first_line

from .names import NAMES_FILE
from .opened import CHOICES
from .shapes import SHAPES_FILE, load_word_shapes

_MOST_LAYERS, _MOST_TOKENS = 1000, 1 << 24  # no encoder has as many


def read_pretrained(name_or_path: str) -> tuple[Any, Any]:
    """Return a model in float32, in evaluation mode on the CPU, and its tokenizer; a folder is read without the hub."""
    import torch
    import transformers

    path = Path(name_or_path)
    is_local = path.is_dir()
    if is_local:
        _check_sizes(path)
    try:
        with quiet():
            # Without `trust_remote_code` it would ask, on a terminal, whether to run code that came with the model.
            given: dict[str, Any] = {"local_files_only": is_local, "trust_remote_code": False}
            if is_local:
                _check_room(path, given)
            model, report = transformers.AutoModel.from_pretrained(
                name_or_path, dtype=torch.float32, output_loading_info=True, **given
            )
            tokenizer = transformers.AutoTokenizer.from_pretrained(name_or_path, **given)
    except EncoderError:
        raise
    except Exception as error:  # a missing file, damaged weights, no network: each library has its own errors
        if not is_local:
            raise EncoderError(
                f"unknown encoder {name_or_path!r}: {CHOICES}. Hugging Face said: {first_line(error)}"
            ) from None
        raise EncoderError(f"broken encoder {path}: {_broken_file(path) or first_line(error)}") from None
    if is_local:
        _check_tokenizer_files(path, tokenizer)
    # The pooler makes one vector of a whole text: it is not used here, and files of weights often lack it.
    if lacking := [key for key in sorted(report["missing_keys"]) if "pooler" not in key]:
        raise EncoderError(f"broken encoder {name_or_path}: its file of weights lacks {', '.join(lacking[:5])}")
    if getattr(model, "pooler", None) is not None:
        model.pooler = torch.nn.Identity()
    if getattr(model.config, "is_encoder_decoder", False):
        model = model.get_encoder()
    load_word_shapes(model, path)
    return model.eval(), tokenizer


def _check_sizes(folder: Path) -> None:
    """Refuse damaged numbers of layers and tokens: the libraries would make as many before they look at the weights."""
    for name, value in _read_dict(folder / "config.json").items():
        if "layer" in name and isinstance(value, int) and value > _MOST_LAYERS:
            raise EncoderError(f"broken encoder {folder}: config.json says {name}: {value!r:.50}")
    model = _read_dict(folder / "tokenizer.json").get("model")
    vocabulary = model.get("vocab") if isinstance(model, dict) else None
    for token, number in vocabulary.items() if isinstance(vocabulary, dict) else ():
        if isinstance(number, int) and number >= _MOST_TOKENS:
            raise EncoderError(f"broken encoder {folder}: tokenizer.json gives {token!r:.50} the id {number!r:.50}")


def _check_room(folder: Path, given: dict[str, Any]) -> None:
    """Refuse settings of a model that is larger than all files of weights, before memory is taken for it."""
    import torch
    import transformers

    make: Any = transformers.AutoModel
    with torch.device("meta"):
        model = make.from_config(transformers.AutoConfig.from_pretrained(folder, **given))
    n = sum(one.numel() for one in model.parameters())
    room = sum(file.stat().st_size for kind in ("*.safetensors", "*.bin") for file in folder.glob(kind))
    if 0 < room < n and n > 1 << 20:  # bytes, of which a number takes one at least; without any, it is said elsewhere
        raise EncoderError(
            f"broken encoder {folder}: config.json describes a model of {n:,} numbers, but its files of weights have "
            f"{room:,} bytes; get the encoder again from where it came"
        )


def _read_dict(path: Path) -> dict[str, Any]:
    """Read a JSON object; an empty one where there is none: what is wrong with the file is said later."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the progress bars and load reports of transformers off the screen: what matters in them is checked here.

    The one warning that is silenced comes from importing its DeBERTa.
    """
    import huggingface_hub
    import transformers

    logging: Any = transformers.utils.logging
    hub: Any = huggingface_hub.utils.logging
    verbosity, has_bar, of_hub = logging.get_verbosity(), logging.is_progress_bar_enabled(), hub.get_verbosity()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    hub.set_verbosity_error()
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "`torch.jit.script` is deprecated", DeprecationWarning)
            yield
    finally:
        logging.set_verbosity(verbosity)
        hub.set_verbosity(of_hub)
        if has_bar:
            logging.enable_progress_bar()


def _broken_file(folder: Path) -> str | None:
    """Return which file of a folder is missing or damaged, and how; None if each file by itself is sound."""
    from safetensors import SafetensorError, safe_open

    weights = sorted(folder.glob("*.safetensors"))
    missing = [name for name in ("config.json", "tokenizer.json") if not (folder / name).is_file()]
    if not {file.name for file in weights} - {SHAPES_FILE, NAMES_FILE} and not any(folder.glob("pytorch_model*.bin")):
        missing.append("model.safetensors")
    if missing:
        return f"{', '.join(missing)} missing"
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        try:
            content = json.loads((folder / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError, RecursionError) as error:
            return f"{name} is not JSON: {error}"
        if not isinstance(content, dict) or (name == "tokenizer.json" and not isinstance(content.get("model"), dict)):
            return f"{name} does not hold what it should"
    for file in weights:
        try:
            with safe_open(file, "numpy"):
                pass
        except (OSError, SafetensorError) as error:
            return f"{file.name} cannot be read: {error}"
    return None


def _check_tokenizer_files(folder: Path, tokenizer: Any) -> None:
    """Refuse a folder with too few tokenizer files, which transformers accepts.

    Without any file it makes an empty tokenizer. Without a tokenizer_config.json it replaces the settings of
    tokenizer.json by the defaults of the model's family.
    """
    names = sorted(set(tokenizer.vocab_files_names.values()))
    if names and not any((folder / name).is_file() for name in names):
        raise EncoderError(f"broken encoder {folder}: it has no tokenizer, which is one of {', '.join(names)}")
    if (folder / "tokenizer.json").is_file() and not (folder / "tokenizer_config.json").is_file():
        raise EncoderError(f"broken encoder {folder}: tokenizer_config.json missing")
