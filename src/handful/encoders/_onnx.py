"""Exported encoders on onnxruntime: no torch, no transformers.

A folder holds ``model.onnx`` (inputs ``input_ids`` and ``attention_mask``; outputs ``layer_6``, ``layer_5``,
...), ``tokenizer.json``, and ``encoder.json``, the card, which `Card` describes.
"""

import hashlib
import json
import os
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from handful.errors import EncoderError

from ._base import Encoder, absolute_layers, usable_threads
from ._pooling import Float32, WordTokenizer

__all__ = ["Card", "load_onnx", "open_session"]

FORMAT = 1

_CPU_INFO = Path("/proc/cpuinfo")


@dataclass(frozen=True, kw_only=True)
class Card:
    """What ``encoder.json`` says of an exported encoder.

    Attributes
    ----------
    format
        The version of this layout.
    dim, window
        Length of a vector; most tokens in a row, special tokens included.
    n_layers, layers
        Layers of the network; those that the graph can give, the last one first.
    pooling
        The pooling that the encoder was made for.
    precision
        "float32" or "int8".
    pad_id, unknown_id
        Token ids.
    shape_stride
        Where not 0, token ids carry the shape of their word, see `handful.encoders._shapes`.
    origin, licence
        Where the weights come from; their licence as far as the source states it.
    """

    format: int = FORMAT
    dim: int
    window: int
    n_layers: int
    layers: list[int]
    pooling: str
    precision: str
    pad_id: int
    unknown_id: int
    shape_stride: int = 0
    origin: str
    licence: str

    @classmethod
    def read(cls, path: Path) -> "Card":
        """Read and check a card."""
        text = _read(path)
        try:
            content = json.loads(text)
        except ValueError as error:
            raise EncoderError(f"{path} is not JSON: {error}") from None
        kinds = {field.name: field.type for field in fields(cls)}
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            found = content.get("format") if isinstance(content, dict) else content
            raise EncoderError(f"{path}: format {FORMAT} expected, found {found!r}; export the encoder again")
        missing = [name for name in kinds if name not in content]
        if missing:
            raise EncoderError(f"{path}: no {', '.join(missing)}; export the encoder again")
        card = cls(**{name: content[name] for name in kinds})
        numbers = [card.dim, card.window, card.n_layers, card.pad_id, card.unknown_id, card.shape_stride]
        layers = card.layers if isinstance(card.layers, list) else [None]
        if not all(type(number) is int for number in [*numbers, *layers]):
            raise EncoderError(
                f"{path}: dim, window, n_layers, layers, pad_id, unknown_id and shape_stride must be whole numbers"
            )
        if card.dim < 1 or card.shape_stride < 0 or not layers or min(layers) < 0 or max(layers) != card.n_layers:
            raise EncoderError(
                f"{path}: dim must be at least 1, shape_stride at least 0, and layers must hold n_layers and none above"
            )
        return card

    def to_json(self) -> str:
        """Write the card as JSON."""
        return json.dumps(asdict(self), indent=2, ensure_ascii=False) + "\n"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise EncoderError(f"broken encoder: {path} is missing") from None
    except (OSError, UnicodeDecodeError) as error:
        raise EncoderError(f"broken encoder: {path} cannot be read: {error}") from None


def load_onnx(
    folder: Path, *, layers: tuple[int, ...], pooling: str, threads: int | None, precision: str | None
) -> Encoder:
    """Load an exported encoder; see `handful.encoders.load` for the parameters."""
    card = Card.read(folder / "encoder.json")
    if precision not in (None, card.precision):
        raise EncoderError(
            f"{folder} holds {card.precision} weights, not {precision}; export again with or without --int8"
        )
    wanted = absolute_layers(layers, card.n_layers)
    if absent := [layer for layer in wanted if layer not in card.layers]:
        raise EncoderError(
            f"{folder} gives layers {', '.join(map(str, card.layers))} of {card.n_layers}, not "
            f"{', '.join(map(str, absent))}; export again with more --layers"
        )
    text = _read(folder / "tokenizer.json")
    try:
        tokenizer = WordTokenizer.from_json(
            text, pad_id=card.pad_id, unknown_id=card.unknown_id, shape_stride=card.shape_stride
        )
    except EncoderError as error:
        raise EncoderError(f"broken encoder: {folder / 'tokenizer.json'}: {error}") from None
    model = folder / "model.onnx"
    session = open_session(model, threads)
    names = [f"layer_{layer}" for layer in wanted]
    if lacking := set(names) - {output.name for output in session.get_outputs()}:
        raise EncoderError(f"broken encoder: {model} has no output {', '.join(sorted(lacking))}")

    def network(inputs: dict[str, npt.NDArray[np.int64]]) -> Float32:
        try:
            found: list[Float32] = session.run(names, inputs)
        except Exception as error:  # onnxruntime raises classes of its own
            reason = str(error).strip().splitlines()[0]
            raise EncoderError(f"broken encoder: {model} does not fit tokenizer.json: {reason}") from None
        return found[0] if len(found) == 1 else np.mean(found, axis=0, dtype=np.float32)

    def identity() -> bytes:
        with model.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest() + " ".join(names).encode()

    return Encoder(network, tokenizer, dim=card.dim, window=card.window, pooling=pooling, identity=identity)


def open_session(model: Path, threads: int | None) -> Any:
    """Open a graph; onnxruntime chooses the threads unless this process may use fewer processors."""
    import onnxruntime

    if not model.is_file():
        raise EncoderError(f"broken encoder: {model} is missing")
    options = onnxruntime.SessionOptions()
    if threads is None and usable_threads() < (os.cpu_count() or 1):
        threads = usable_threads()
    options.intra_op_num_threads = threads or 0
    options.log_severity_level = 3
    options.enable_mem_pattern = False  # shapes differ from batch to batch
    if not _has_vnni():
        # Without these instructions the fast product of 8-bit numbers saturates; this asks for the exact one.
        options.add_session_config_entry("session.x64quantprecision", "1")
    try:
        return onnxruntime.InferenceSession(
            os.fspath(model),
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=["SkipLayerNormFusion"],  # the fused operator is the slower one on a CPU
        )
    except Exception as error:  # onnxruntime raises classes of its own for each kind of fault
        raise EncoderError(f"broken encoder: {model} cannot be opened: {error}") from None


def _has_vnni() -> bool:
    """Tell whether the processor is known to multiply 8-bit numbers exactly and fast; only Linux tells."""
    try:
        return "vnni" in _CPU_INFO.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
