"""Exported encoders on onnxruntime: no torch, no transformers.

A folder holds ``model.onnx`` (inputs ``input_ids`` and ``attention_mask``; an output such as ``layer_6``, the last
layer), ``tokenizer.json``, ``encoder.json``, the card, which `handful.encoders.card.Card` describes, and perhaps
``names.safetensors``, see `handful.encoders.names`.
"""

import hashlib
import os
from pathlib import Path
from typing import Any

from handful._util.processor import has_vnni, usable_threads
from handful.errors import Advice, EncoderError

from ._network_encoder import NetworkEncoder
from .card import Card, read_text
from .names import NAMES_FILE, NameHead
from .pooling import Float32, Inputs
from .tokenizer import WordTokenizer


class OnnxNetwork:
    """A graph that runs on onnxruntime, and its `output`."""

    def __init__(self, path: Path, output: str, threads: int | None = None) -> None:
        self.path = path.absolute()  # the fingerprint may be asked for after a change of directory
        self._output = output
        self._session = open_session(path, threads)
        if output not in (one.name for one in self._session.get_outputs()):
            raise EncoderError(f"broken encoder: {path} has no output {output}")

    def run(self, inputs: Inputs) -> Float32:
        """Return hidden vectors of shape (n_rows, n_tokens, dim)."""
        try:
            (found,) = self._session.run([self._output], inputs)
        except Exception as error:  # onnxruntime raises classes of its own
            reason = str(error).strip().splitlines()[0]
            raise EncoderError(f"broken encoder: {self.path} does not fit tokenizer.json: {reason}") from None
        return found  # type: ignore[no-any-return]

    def identity(self) -> bytes:
        """Return bytes that change with the file."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").digest() + self._output.encode()


def load_onnx(folder: Path, *, threads: int | None, precision: str | None) -> NetworkEncoder:
    """Load an exported encoder; see `handful.encoders.load` for the parameters."""
    card = Card.read(folder / "encoder.json")
    if precision not in (None, card.precision):
        advice = Advice("export it again with int8=True", "export it again with --int8")
        if precision != "int8":
            advice = Advice("export it again without int8", "export it again without --int8")
        raise EncoderError(f"{folder} holds {card.precision} weights, not {precision}", advice)
    text = read_text(folder / "tokenizer.json")
    try:
        tokenizer = WordTokenizer.from_json(
            text, pad_id=card.pad_id, unknown_id=card.unknown_id, shape_stride=card.shape_stride
        )
    except EncoderError as error:
        raise error.at(f"broken encoder: {folder / 'tokenizer.json'}") from None
    network = OnnxNetwork(folder / "model.onnx", card.output, threads)
    has_names = (folder / NAMES_FILE).is_file() if card.names is None else card.names
    return NetworkEncoder(
        network,
        tokenizer,
        dim=card.dim,
        window=card.window,
        transitions=card.transitions,
        names=NameHead.load(folder / NAMES_FILE, card.dim) if has_names else None,
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
    if not has_vnni():
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
