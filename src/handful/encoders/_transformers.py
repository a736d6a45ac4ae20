"""Any Hugging Face encoder, through the extra ``transformers``."""

import hashlib
import json
import os
import warnings
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from handful.errors import EncoderError, MissingExtraError

from ._base import _CHOICES, Encoder, Network, absolute_layers
from ._pooling import Float32, WordTokenizer
from ._shapes import N_SHAPES, has_word_shapes, load_word_shapes

__all__ = [
    "as_encoder",
    "layer_of",
    "load_transformers",
    "read_pretrained",
    "shape_stride",
    "window_of",
    "word_tokenizer",
]

_PRECISIONS = ("float32", "bfloat16", "float16")

# Longer windows help a word little, and attention's memory grows with their square.
_LONGEST_WINDOW = 512


def read_pretrained(name_or_path: str) -> tuple[Any, Any]:
    """Read a Hugging Face encoder in float32; a folder that exists is read without asking the hub.

    Returns
    -------
    tuple
        The model, in evaluation mode on the CPU, and its tokenizer.
    """
    try:
        import torch
        import transformers
    except ImportError as error:
        raise MissingExtraError(
            f"{name_or_path!r} is not embedded, and others need torch and transformers ({error}): {_CHOICES}"
        ) from None
    path = Path(name_or_path)
    is_local = path.is_dir()
    try:
        with _quiet():
            model, report = transformers.AutoModel.from_pretrained(
                name_or_path, local_files_only=is_local, dtype=torch.float32, output_loading_info=True
            )
            tokenizer = transformers.AutoTokenizer.from_pretrained(name_or_path, local_files_only=is_local)
    except Exception as error:  # a missing file, damaged weights, no network: each library has its own
        if not is_local:
            raise EncoderError(
                f"unknown encoder {name_or_path!r}: {_CHOICES}. Hugging Face said: {_first_line(error)}"
            ) from None
        raise EncoderError(f"broken encoder {path}: {_broken_file(path) or _first_line(error)}") from None
    if is_local:
        _check_tokenizer_files(path, tokenizer)
    # The pooler makes a vector of a whole text: it is not used here, and files of weights often leave it out.
    if lacking := [key for key in sorted(report["missing_keys"]) if "pooler" not in key]:
        raise EncoderError(f"broken encoder {name_or_path}: its file of weights lacks {', '.join(lacking[:5])}")
    if getattr(model, "pooler", None) is not None:
        model.pooler = torch.nn.Identity()
    if getattr(model.config, "is_encoder_decoder", False):
        model = model.get_encoder()
    load_word_shapes(model, path)
    return model.eval(), tokenizer


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep transformers' own bars and load reports off the screen: what matters in them is checked here.

    The one warning silenced comes from importing its DeBERTa.
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
    """Say which file of a folder is missing or is not what its name says; None where each by itself is sound."""
    from safetensors import SafetensorError, safe_open

    weights = sorted(folder.glob("*.safetensors"))
    missing = [name for name in ("config.json", "tokenizer.json") if not (folder / name).is_file()]
    if not weights and not any(folder.glob("pytorch_model*.bin")):
        missing.append("model.safetensors")
    if missing:
        return f"{', '.join(missing)} missing"
    for name in ("config.json", "tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"):
        try:
            content = json.loads((folder / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
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
    """Refuse what transformers lets pass: it makes an empty tokenizer where there is no file of one.

    Without a tokenizer_config.json it changes what tokenizer.json says to the custom of the model's family.
    """
    names = sorted(set(tokenizer.vocab_files_names.values()))
    if names and not any((folder / name).is_file() for name in names):
        raise EncoderError(f"broken encoder {folder}: it has no tokenizer, which is one of {', '.join(names)}")
    if (folder / "tokenizer.json").is_file() and not (folder / "tokenizer_config.json").is_file():
        raise EncoderError(f"broken encoder {folder}: tokenizer_config.json missing")


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def shape_stride(model: Any) -> int:
    """Give the distance between the ids of one sub-word in two shapes; 0 where the model knows no shapes."""
    return int(model.get_input_embeddings().words.weight.shape[0]) if has_word_shapes(model) else 0


def _n_ids(model: Any) -> int | None:
    """Give how many token ids the model knows; None where it does not say."""
    stride = shape_stride(model)
    if stride:
        return stride * N_SHAPES
    try:
        return int(model.get_input_embeddings().weight.shape[0])
    except (AttributeError, NotImplementedError):
        return None


def word_tokenizer(tokenizer: Any, shape_stride: int = 0) -> WordTokenizer:
    """Split words with a Hugging Face tokenizer, through the tokenizers library where it has one inside."""
    pad_id = tokenizer.pad_token_id
    pad_id = 0 if pad_id is None else pad_id
    unknown_id = tokenizer.unk_token_id
    unknown_id = pad_id if unknown_id is None else unknown_id
    if tokenizer.is_fast:
        return WordTokenizer.from_json(
            tokenizer.backend_tokenizer.to_str(),
            pad_id=pad_id,
            unknown_id=unknown_id,
            shape_stride=shape_stride,
        )

    def split(words: list[str]) -> list[list[int]]:
        return [tokenizer.encode(word, add_special_tokens=False) for word in words]

    bare = split(["a"])[0]
    whole = tokenizer.build_inputs_with_special_tokens(bare)
    start = next(i for i in range(len(whole)) if whole[i : i + len(bare)] == bare)
    content = repr((type(tokenizer).__name__, sorted(tokenizer.get_vocab().items()), tokenizer.init_kwargs))
    return WordTokenizer(
        split,
        prefix=whole[:start],
        suffix=whole[start + len(bare) :],
        pad_id=pad_id,
        unknown_id=unknown_id,
        content=content.encode(),
        shape_stride=shape_stride,
    )


def window_of(model: Any, tokenizer: Any) -> int:
    """Give the most tokens that a row may hold, special tokens included."""
    limits = [_LONGEST_WINDOW, int(min(tokenizer.model_max_length, _LONGEST_WINDOW))]
    positions = getattr(model.config, "max_position_embeddings", None)
    if positions and positions > 0:
        # RoBERTa and its kin number positions from padding_idx + 1.
        table = next((m for n, m in model.named_modules() if n.endswith("position_embeddings")), None)
        padding = getattr(table, "padding_idx", None)
        limits.append(positions if padding is None else positions - padding - 1)
    return min(limits)


def load_transformers(
    name_or_path: str, *, layers: tuple[int, ...], pooling: str, threads: int | None, precision: str | None
) -> Encoder:
    """Load a Hugging Face encoder; see `handful.encoders.load` for the parameters."""
    if precision not in (None, *_PRECISIONS):
        raise EncoderError(
            f"precision of a Hugging Face encoder is one of {', '.join(_PRECISIONS)}; found {precision!r}"
        )
    return as_encoder(
        *read_pretrained(os.fspath(name_or_path)), layers=layers, pooling=pooling, threads=threads, precision=precision
    )


def as_encoder(
    model: Any,
    tokenizer: Any,
    *,
    layers: tuple[int, ...] = (-1,),
    pooling: str = "first-last",
    threads: int | None = None,
    precision: str | None = None,
) -> Encoder:
    """Make an encoder of a Hugging Face model and its tokenizer; the model is moved, and must not change later."""
    import torch

    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    # GPUs before Ampere have no bfloat16 of their own.
    is_bfloat16 = device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    precision = precision or ("bfloat16" if is_bfloat16 else "float32")
    with _told_when_full():
        model = model.to(device, getattr(torch, precision))
    n_layers = model.config.num_hidden_layers
    wanted = absolute_layers(layers, n_layers)
    only_last = wanted == (n_layers,)
    n_ids = _n_ids(model)

    def exact() -> AbstractContextManager[None]:
        """Keep a GPU's convolutions from rounding float32 to 10 bits, and from choosing among ways by chance."""
        if device.type == "cpu":
            return nullcontext()
        return torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False)

    def network(inputs: dict[str, npt.NDArray[np.int64]]) -> Float32:
        if n_ids is not None and inputs["input_ids"].max() >= n_ids:
            raise EncoderError(
                f"the tokenizer gives the id {inputs['input_ids'].max()}, but the network knows ids up to {n_ids - 1}: "
                "tokenizer and weights are not of one encoder"
            )
        tensors = {name: torch.from_numpy(array).to(device) for name, array in inputs.items()}
        before = torch.get_num_threads()
        torch.set_num_threads(threads or before)
        try:
            with torch.inference_mode(), exact(), _told_when_full():
                output = model(**tensors, output_hidden_states=not only_last, return_dict=True)
                if only_last:
                    hidden = output.last_hidden_state.float()
                else:
                    hidden = torch.stack([layer_of(output, layer, n_layers).float() for layer in wanted]).mean(0)
        finally:
            torch.set_num_threads(before)
        return hidden.cpu().numpy()  # type: ignore[no-any-return]

    def identity() -> bytes:
        settings = json.loads(model.config.to_json_string())
        settings.pop("transformers_version", None)  # another release reads the same encoder
        digest = hashlib.sha256(f"{json.dumps(settings, sort_keys=True)} {wanted} {precision}".encode())
        for name, tensor in sorted(model.state_dict().items()):
            digest.update(f"{name} {tuple(tensor.shape)}".encode())
            digest.update(tensor.detach().float().cpu().contiguous().numpy().data)
        return digest.digest()

    words, window = word_tokenizer(tokenizer, shape_stride(model)), window_of(model, tokenizer)
    return Encoder(
        network,
        words,
        dim=model.config.hidden_size,
        window=window,
        pooling=pooling,
        identity=identity,
        batch_tokens=1024 if device.type == "cpu" else 8192,
        precision=precision,
        reads_padding=_reads_padding(network, words, window, 1e-3 if precision == "float32" else 0.05),
    )


def layer_of(output: Any, layer: int, n_layers: int) -> Any:
    """Give a hidden layer; the last one as the model gives it out, which some normalise once more."""
    return output.last_hidden_state if layer == n_layers else output.hidden_states[layer]


def _reads_padding(network: Network, words: WordTokenizer, window: int, tolerance: float) -> bool:
    """Try whether padding behind a row changes the vectors of its tokens, as convolutions and the like let it."""
    middle = [token for ids in words(["a", "few", "plain", "words"]) for token in ids]
    row = [*words.prefix, *middle, *words.suffix][: window // 2]
    ids = np.full((1, len(row) + min(8, window - len(row))), words.pad_id, np.int64)
    ids[0, : len(row)] = row
    mask = (np.arange(ids.shape[1]) < len(row)).astype(np.int64)[None]
    padded = network({"input_ids": ids, "attention_mask": mask})[:, : len(row)]
    alone = network({"input_ids": ids[:, : len(row)], "attention_mask": mask[:, : len(row)]})
    if padded.shape != alone.shape:
        return True
    return bool(np.linalg.norm(padded - alone) > tolerance * np.linalg.norm(alone))


@contextmanager
def _told_when_full() -> Iterator[None]:
    """Turn torch's error of a GPU without room into one that says what to do."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        raise EncoderError(
            "the GPU has too little free memory for this encoder: end what else uses it, or hide it with "
            f"CUDA_VISIBLE_DEVICES= to encode on the CPU; torch said: {_first_line(error)}"
        ) from None
