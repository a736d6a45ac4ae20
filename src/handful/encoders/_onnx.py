"""Exported encoders on onnxruntime: no torch, no transformers.

A folder holds ``model.onnx`` (inputs ``input_ids`` and ``attention_mask``; outputs ``layer_6``, ``layer_5``,
...), ``tokenizer.json``, ``encoder.json``, the card, which `handful.encoders.card.Card` describes, and perhaps
``names.safetensors``, see `handful.encoders.names`.
"""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from handful._util.processor import Processor, usable_threads
from handful.errors import Advice, EncoderError

from ._network_encoder import NetworkEncoder
from .card import Card, read_text
from .names import NAMES_FILE, NameHead
from .opened import absolute_layers
from .pooling import Float32, Inputs
from .tokenizer import WordTokenizer


class OnnxNetwork:
    """A graph that runs on onnxruntime; it has an output for each of `layers`, of which the mean is taken."""

    def __init__(self, path: Path, layers: Sequence[int], threads: int | None = None) -> None:
        self.path = path.absolute()  # the fingerprint may be asked for after a change of directory
        self._outputs = [f"layer_{layer}" for layer in layers]
        self._session = open_session(path, threads)
        if lacking := set(self._outputs) - {output.name for output in self._session.get_outputs()}:
            raise EncoderError(f"broken encoder: {path} has no output {', '.join(sorted(lacking))}")

    def run(self, inputs: Inputs) -> Float32:
        """Return hidden vectors of shape (n_rows, n_tokens, dim)."""
        try:
            found: list[Float32] = self._session.run(self._outputs, inputs)
        except Exception as error:  # onnxruntime raises classes of its own
            reason = str(error).strip().splitlines()[0]
            raise EncoderError(f"broken encoder: {self.path} does not fit tokenizer.json: {reason}") from None
        return found[0] if len(found) == 1 else np.mean(found, axis=0, dtype=np.float32)

    def identity(self) -> bytes:
        """Return bytes that change with the file and the layers."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest() + " ".join(self._outputs).encode()


def load_onnx(folder: Path, *, layers: tuple[int, ...], threads: int | None, precision: str | None) -> NetworkEncoder:
    """Load an exported encoder; see `handful.encoders.load` for the parameters."""
    card = Card.read(folder / "encoder.json")
    if precision not in (None, card.precision):
        advice = Advice("export it again with int8=True", "export it again with --int8")
        if precision != "int8":
            advice = Advice("export it again without int8", "export it again without --int8")
        raise EncoderError(f"{folder} holds {card.precision} weights, not {precision}", advice)
    wanted = absolute_layers(layers, card.n_layers)
    if absent := [layer for layer in wanted if layer not in card.layers]:
        raise EncoderError(
            f"{folder} gives layers {', '.join(map(str, card.layers))} of {card.n_layers}, not "
            f"{', '.join(map(str, absent))}",
            Advice("export it again with more layers (layers=)", "export it again with more --layers"),
        )
    text = read_text(folder / "tokenizer.json")
    try:
        tokenizer = WordTokenizer.from_json(
            text, pad_id=card.pad_id, unknown_id=card.unknown_id, shape_stride=card.shape_stride
        )
    except EncoderError as error:
        raise error.at(f"broken encoder: {folder / 'tokenizer.json'}") from None
    network = OnnxNetwork(folder / "model.onnx", wanted, threads)
    has_names = (folder / NAMES_FILE).is_file() if card.names is None else card.names
    return NetworkEncoder(
        network,
        tokenizer,
        dim=card.dim,
        window=card.window,
        transitions=card.transitions,
        # The head reads the last layer, and its vectors are compared with those of the last layer.
        names=NameHead.load(folder / NAMES_FILE, card.dim) if has_names and wanted == (card.n_layers,) else None,
        languages=card.languages,
    )


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
    if not (Processor.here().instructions or {}).get("VNNI"):
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
