"""Any Hugging Face encoder, through the extra ``transformers``."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from handful.errors import EncoderError, HandfulError, first_line
from handful.text import Transitions

from ._network_encoder import NetworkEncoder
from ._pretrained import quiet as quiet
from ._pretrained import read_pretrained as read_pretrained
from .card import trained_transitions
from .names import NAMES_FILE, NameHead
from .pooling import Float32, Inputs
from .shapes import N_SHAPES, has_word_shapes
from .tokenizer import SPACE, WordTokenizer

_PRECISIONS = ("float32", "bfloat16", "float16")

# Longer windows help a word little, and the memory of attention grows with their square.
_LONGEST_WINDOW = 512


class TorchNetwork:
    """A Hugging Face model, moved to a GPU if torch finds one; the parameters are those of `handful.encoders.load`."""

    def __init__(self, model: Any, *, threads: int | None = None, precision: str | None = None) -> None:
        import torch

        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        # GPUs before Ampere have no bfloat16 of their own.
        has_bfloat16 = self.device.type == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
        self.precision = precision or ("bfloat16" if has_bfloat16 else "float32")
        with _explained_when_full():
            self.model = model.to(self.device, getattr(torch, self.precision))
        self._n_ids = _n_ids(model)
        self._threads = threads

    def run(self, inputs: Inputs) -> Float32:
        """Return hidden vectors of shape (n_rows, n_tokens, dim)."""
        import torch

        if self._n_ids is not None and inputs["input_ids"].max() >= self._n_ids:
            raise EncoderError(
                f"the tokenizer gives the id {inputs['input_ids'].max()}, but the network knows ids up to "
                f"{self._n_ids - 1}: tokenizer and weights do not belong to one encoder"
            )
        tensors = {name: torch.from_numpy(array).to(self.device) for name, array in inputs.items()}
        # Convolutions on a GPU must not round float32 to 10 bits, nor choose an algorithm by chance.
        exact: AbstractContextManager[None] = nullcontext()
        if self.device.type != "cpu":
            exact = torch.backends.cudnn.flags(enabled=True, benchmark=False, deterministic=True, allow_tf32=False)
        before = torch.get_num_threads()
        torch.set_num_threads(self._threads or before)
        try:
            with torch.inference_mode(), exact, _explained_when_full():
                hidden = self.model(**tensors, return_dict=True).last_hidden_state
                return hidden.float().cpu().numpy()  # type: ignore[no-any-return]
        except HandfulError:
            raise
        except Exception as error:  # each network has its own errors for settings that do not fit its weights
            raise EncoderError(f"broken encoder: the network cannot be run: {first_line(error)}") from None
        finally:
            torch.set_num_threads(before)

    def identity(self) -> bytes:
        """Return bytes that change with the weights, the configuration and the precision."""
        settings = json.loads(self.model.config.to_json_string())
        settings.pop("transformers_version", None)  # another release reads the same encoder
        what = f"{json.dumps(settings, sort_keys=True)} {(self.model.config.num_hidden_layers,)} {self.precision}"
        return bytes.fromhex(weights_digest(self.model, what))

    def reads_padding(self, words: WordTokenizer, window: int) -> bool:
        """Try whether padding behind a row changes the vectors of its tokens, as it does with convolutions."""
        middle = [token for ids in words(["a", "few", "plain", "words"]) for token in ids]
        row = [*words.prefix, *middle, *words.suffix][: window // 2]
        ids = np.full((1, len(row) + min(8, window - len(row))), words.pad_id, np.int64)
        ids[0, : len(row)] = row
        mask = (np.arange(ids.shape[1]) < len(row)).astype(np.int64)[None]
        padded = self.run({"input_ids": ids, "attention_mask": mask})[:, : len(row)]
        alone = self.run({"input_ids": ids[:, : len(row)], "attention_mask": mask[:, : len(row)]})
        if padded.shape != alone.shape:
            return True
        tolerance = 1e-3 if self.precision == "float32" else 0.05
        return bool(np.linalg.norm(padded - alone) > tolerance * np.linalg.norm(alone))


def load_transformers(name_or_path: str, *, threads: int | None, precision: str | None) -> NetworkEncoder:
    """Load a Hugging Face encoder; see `handful.encoders.load` for the parameters."""
    if precision not in (None, *_PRECISIONS):
        raise EncoderError(
            f"precision of a Hugging Face encoder is one of {', '.join(_PRECISIONS)}; found {precision!r}"
        )
    model, tokenizer = read_pretrained(name_or_path)
    folder = Path(name_or_path)
    try:
        network = TorchNetwork(model, threads=threads, precision=precision)
        names = None
        if (folder / NAMES_FILE).is_file():
            names = NameHead.load(folder / NAMES_FILE, model.config.hidden_size)
        return as_encoder(network, tokenizer, transitions=trained_transitions(folder), names=names)
    except HandfulError:
        raise
    except Exception as error:  # settings of all kinds that the library takes as they are
        raise EncoderError(
            f"broken encoder {name_or_path}: its settings do not fit each other or its weights: {first_line(error)}"
        ) from None


def as_encoder(
    network: TorchNetwork,
    tokenizer: Any,
    *,
    transitions: Transitions | None = None,
    names: NameHead | None = None,
) -> NetworkEncoder:
    """Make an encoder of a network and its Hugging Face tokenizer; its weights must not change later."""
    model = network.model
    words, window = word_tokenizer(tokenizer, shape_stride(model)), window_of(model, tokenizer)
    return NetworkEncoder(
        network,
        words,
        dim=model.config.hidden_size,
        window=window,
        batch_tokens=1024 if network.device.type == "cpu" else 8192,
        precision=network.precision,
        reads_padding=network.reads_padding(words, window),
        transitions=transitions,
        names=names,
    )


def shape_stride(model: Any) -> int:
    """Return the distance between the ids of one sub-word in two shapes; 0 if the model has no word shapes."""
    return int(model.get_input_embeddings().words.weight.shape[0]) if has_word_shapes(model) else 0


def _n_ids(model: Any) -> int | None:
    """Return how many token ids the model knows; None if it does not say."""
    stride = shape_stride(model)
    if stride:
        return stride * N_SHAPES
    try:
        return int(model.get_input_embeddings().weight.shape[0])
    except (AttributeError, NotImplementedError):
        return None


def word_tokenizer(tokenizer: Any, shape_stride: int = 0) -> WordTokenizer:
    """Return what splits words with a Hugging Face tokenizer, through the tokenizers library if it can."""
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
        space_id=tokenizer.get_vocab().get(SPACE),
    )


def window_of(model: Any, tokenizer: Any) -> int:
    """Return the most tokens that a row may hold, special tokens included."""
    limits = [_LONGEST_WINDOW, int(min(tokenizer.model_max_length, _LONGEST_WINDOW))]
    positions = getattr(model.config, "max_position_embeddings", None)
    if positions and positions > 0:
        limits.append(positions - first_position(model))
    return min(limits)


def first_position(model: Any) -> int:
    """Return 0, or for RoBERTa and models like it the position behind the one of padding."""
    table = next((m for n, m in model.named_modules() if n.endswith("position_embeddings")), None)
    padding = getattr(table, "padding_idx", None)
    return 0 if padding is None else padding + 1


def weights_digest(model: Any, about: str = "") -> str:
    """Return a digest of the weights of a model, and of what is to be known besides."""
    digest = hashlib.sha256(about.encode())
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().float().cpu().contiguous().numpy().data)
    return digest.hexdigest()


@contextmanager
def _explained_when_full() -> Iterator[None]:
    """Turn torch's error of a GPU without room into one that says what to do."""
    import torch

    try:
        yield
    except torch.OutOfMemoryError as error:
        raise EncoderError(
            "the GPU has too little free memory for this encoder: end other programs on it, or hide it with "
            f"CUDA_VISIBLE_DEVICES= to encode on the CPU; torch said: {first_line(error)}"
        ) from None
