"""Write a Hugging Face encoder as a folder that `handful.encoders._onnx` reads (extra ``transformers``)."""

import io
import json
import logging
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, redirect_stderr
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from handful._util.files import PathLike, check_folder, replacing_folder
from handful._util.foreign import copy_file
from handful._util.lazy import check_libraries
from handful.errors import Advice, EncoderError, first_line

from ._onnx import open_session
from ._pretrained import read_pretrained
from .card import SEEN, TRAINED, Card, check_languages, trained_transitions
from .hugging_face import shape_stride, window_of, word_tokenizer
from .names import NAMES_FILE, NameHead
from .shapes import N_SHAPES
from .tokenizer import with_leading_space

_OPSET = 20

# The most bytes of weights in a graph: its format ends at 2 GiB, and the rest of it needs room too.
_LARGEST = 2_000_000_000

# How far an export may be from the original: float32 as |difference| <= 1e-4 + 1e-4 |value|; then int8 by the mean
# cosine over tokens drawn at random, which are harder than text (docs/performance.md has the figures on text).
_TOLERANCE = 1e-4
_MEAN_COSINE = 0.97


def export_encoder(
    source: PathLike,
    out: PathLike,
    *,
    int8: bool = False,
    licence: str | None = None,
    origin: str | None = None,
    languages: Sequence[str] | None = None,
) -> Card:
    """Write an encoder as ONNX, after checking it against the original on rows of unequal length; return its card.

    Parameters
    ----------
    source : a folder in the Hugging Face layout, or a name on its hub
    out : the folder to write. It must not exist, or must be empty.
    int8 : whether to store weights as 8-bit integers: a quarter of the size, two to three times the speed. Tables of
        over 65,536 embeddings are then stored in 4 bits, and the head that reads the names of types, if any, in 16
        bits.
    licence, origin : noted on the card; None, as far as the source states them
    languages : the codes of the languages that it knows, noted on the card; None, as the header of the source's
        README.md has them (``language``), as on the Hugging Face Hub
    """
    out = Path(out)
    check_folder(out)  # before the work, not after it
    check_libraries("exporting", "torch", "transformers", "onnx", "onnxscript")  # torch's exporter needs the last
    model, tokenizer = read_pretrained(os.fspath(source))
    if not tokenizer.is_fast:
        raise EncoderError(f"{source}: its tokenizer has no tokenizer.json form, so it cannot be exported")
    if sum(tensor.numel() for tensor in model.parameters()) * 4 > _LARGEST:
        raise EncoderError(f"{source}: its weights take over 2 GB, too much for an ONNX file; use it as it is")
    stated = re.search(r"^license:\s*(\S.*)$", _header(Path(source)), re.MULTILINE)
    names = None
    if (file := Path(source) / NAMES_FILE).is_file():
        names = NameHead.load(file, model.config.hidden_size)
    words = word_tokenizer(tokenizer, shape_stride(model))
    card = Card(
        dim=model.config.hidden_size,
        window=window_of(model, tokenizer),
        n_layers=model.config.num_hidden_layers,
        precision="int8" if int8 else "float32",
        pad_id=words.pad_id,
        unknown_id=words.unknown_id,
        shape_stride=words.shape_stride,
        origin=origin or _origin(source),
        licence=licence or (stated.group(1).strip() if stated else "unknown"),
        transitions=trained_transitions(Path(source)),
        names=names is not None,
        languages=_languages(Path(source)) if languages is None else languages,
    )
    check_languages(card.languages, "export_encoder")
    model.set_attn_implementation("eager")  # plain operators, which the fusion knows
    _check_padding(model, card)
    with replacing_folder(out) as folder:
        _write_graph(folder / "model.onnx", model, card)
        text = with_leading_space(tokenizer.backend_tokenizer.to_str())
        (folder / "tokenizer.json").write_text(text, encoding="utf-8")
        (folder / "encoder.json").write_text(card.to_json(), encoding="utf-8")
        if names is not None:
            names.save(folder / NAMES_FILE, "float16" if int8 else "float32")
        # The notes on its training go along.
        for name, copy in ((TRAINED, "training.json"), (SEEN, SEEN)):
            if (trained := Path(source) / name).is_file():
                copy_file(trained, folder / copy)
    return card


def _write_graph(path: Path, model: Any, card: Card) -> None:
    """Write the graph, and compare it with the original in float32 and, if the card says int8, once more."""
    import onnx

    from ._graph import fuse_attention, quantise

    with _quiet_exporter():
        graph = _graph(model, card)
    if n_heads := getattr(model.config, "num_attention_heads", None):
        fuse_attention(graph, n_heads)
    onnx.save(graph, path)
    _check(model, path, replace(card, precision="float32"))
    if card.precision == "int8":
        quantise(graph)
        onnx.save(graph, path)
        _check(model, path, card)


def _graph(model: Any, card: Card) -> Any:
    """Trace the model into an ONNX graph whose output is the last layer."""
    import torch

    class LastLayer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Any, attention_mask: Any) -> Any:
            return _hidden(self.model, input_ids, attention_mask)

    ids, mask = _rows(model, card, [11, 5, 8])
    sizes = {0: torch.export.Dim("rows"), 1: torch.export.Dim("tokens", max=card.window)}
    try:
        program = torch.onnx.export(
            LastLayer().eval(),
            (torch.from_numpy(ids), torch.from_numpy(mask)),
            input_names=["input_ids", "attention_mask"],
            output_names=[card.output],
            dynamic_shapes={"input_ids": sizes, "attention_mask": sizes},
            opset_version=_OPSET,
            dynamo=True,
            verbose=False,
        )
    except Exception as error:  # the exporter raises many kinds
        root: BaseException = error  # what the exporter says itself is about its steps
        while root.__cause__ is not None:
            root = root.__cause__
        reason = re.sub(r"\x1b\[[0-9;]*m", "", first_line(root))
        raise EncoderError(f"torch cannot export this {model.config.model_type} encoder: {reason}") from error
    assert program is not None  # with dynamo=True
    return program.model_proto


def _hidden(model: Any, ids: Any, mask: Any) -> Any:
    return model(input_ids=ids, attention_mask=mask, return_dict=True).last_hidden_state


def _check_padding(model: Any, card: Card) -> None:
    """Refuse a model whose vectors depend on the padding, or are not of the length that it says."""
    import torch

    ids, mask = (torch.from_numpy(array) for array in _rows(model, card, [7, 19]))
    with torch.inference_mode():
        padded, alone = (_hidden(model, i, m)[0, :7] for i, m in ((ids, mask), (ids[:1, :7], mask[:1, :7])))
    if alone.shape[-1] != card.dim:
        raise EncoderError(f"this {model.config.model_type} gives {alone.shape[-1]} numbers per token, not {card.dim}")
    if float((padded - alone).norm()) > 1e-3 * float(alone.norm()):
        raise EncoderError(
            f"this {model.config.model_type} encoder reads the padding behind a row, so it cannot be exported; use it "
            "as it is, through transformers, where rows of one length share a batch"
        )


def _rows(model: Any, card: Card, lengths: list[int]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Make rows of tokens drawn from all of the vocabulary, padded to the longest."""
    longest = min(max(lengths), card.window)
    mask = (np.arange(longest) < np.array(lengths)[:, None]).astype(np.int64)
    rng = np.random.default_rng(0)
    ids = rng.integers(5, model.config.vocab_size, mask.shape)
    if card.shape_stride:
        ids += card.shape_stride * rng.integers(0, N_SHAPES, mask.shape)
    return np.where(mask == 1, ids, card.pad_id), mask


def _check(model: Any, path: Path, card: Card) -> None:
    """Compare the graph with the original on every real token of padded batches."""
    import torch

    try:
        session = open_session(path, threads=None)
    except EncoderError as error:
        raise EncoderError(f"the exported graph cannot be run, and nothing was written: {error}") from None
    for lengths in ([3, 40, 17, 9, 1, 28], [6], [card.window, card.window // 3]):
        ids, mask = _rows(model, card, lengths)
        with torch.inference_mode():
            a = _hidden(model, torch.from_numpy(ids), torch.from_numpy(mask)).numpy()[mask == 1]
        b = session.run([card.output], {"input_ids": ids, "attention_mask": mask})[0][mask == 1]
        if card.precision == "float32":
            is_close = np.allclose(b, a, rtol=_TOLERANCE, atol=_TOLERANCE)
            what = f"differs by up to {np.abs(a - b).max():.2g}"
        else:
            norms = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
            cosine = float(((a * b).sum(1) / np.maximum(norms, 1e-30)).mean())
            is_close = cosine >= _MEAN_COSINE
            what = f"has a mean cosine of {cosine:.3f}, under {_MEAN_COSINE}"
        if not is_close:
            raise EncoderError(
                f"the export is not faithful: it {what}, on rows of {lengths} tokens; nothing was written",
                Advice("try it without int8", "try it without --int8") if card.precision == "int8" else None,
            )


def _origin(source: PathLike) -> str:
    """Return the name that the source has for itself; the path on this machine is private."""
    path = Path(source)
    if not path.is_dir():
        return os.fspath(source)
    try:
        name = str(json.loads((path / "config.json").read_text(encoding="utf-8")).get("_name_or_path", ""))
    except (OSError, ValueError):
        name = ""
    is_hub_name = re.fullmatch(r"[\w.-]+(/[\w.-]+)?", name) and not name.startswith(".")
    return name if is_hub_name else path.resolve().name


def _languages(folder: Path) -> list[str]:
    """Return the codes of languages in the header of the model's README: ``language: en``, or a list."""
    found = re.search(r"^language:[ \t]*(\S.*|(?:\n[ \t]*-[ \t]*\S+)+)$", _header(folder), re.MULTILINE)
    codes = re.findall(r"[A-Za-z-]{2,}", found.group(1)) if found else []
    return [code for code in codes if re.fullmatch("[a-z]{2,3}", code)]


def _header(folder: Path) -> str:
    """Return the header of the model's README, which says what it is; empty if there is none."""
    try:
        readme = (folder / "README.md").read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return ""
    header = re.match(r"---\n(.*?)\n---", readme, re.DOTALL)
    return header.group(1) if header else ""


@contextmanager
def _quiet_exporter() -> Iterator[None]:
    """Silence what the exporter says on every run, and nothing else."""
    log = logging.getLogger("torch.onnx._internal.exporter._registration")
    level = log.level
    log.setLevel(logging.ERROR)  # torchvision is not installed
    try:
        with warnings.catch_warnings(), redirect_stderr(io.StringIO()):  # pages of graphs if it fails
            warnings.filterwarnings("ignore", r"`isinstance\(treespec, LeafSpec\)`", FutureWarning)
            warnings.filterwarnings("ignore", r"# The axis name: ", UserWarning)
            yield
    finally:
        log.setLevel(level)
