"""Turns an exported encoder back into floats, so that it can be trained, and writes it again as int8.

`thaw` undoes what `handful.encoders._graph.quantise` did: 8-bit weights times their scales are the floats to start
from. `freeze` puts trained weights into the graph and makes it int8 again, so the result has the same operators and the
same speed.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import numpy_helper

from handful._util.foreign import copy_file
from handful.errors import EncoderError

from ._graph import GraphEdit, quantise, unpacked_table
from .card import SEEN, Card
from .names import NAMES_FILE, NameHead

_TUNED = "; tuned by its user"

Weights = Mapping[str, npt.NDArray[np.float32]]


def read_graph(path: Path) -> onnx.ModelProto:
    """Read the graph of an exported encoder."""
    try:
        return onnx.load(path)
    except Exception as error:  # protobuf raises many kinds
        raise EncoderError(f"broken encoder: {path} cannot be read: {error}") from None


def thaw(model: onnx.ModelProto) -> None:
    """Turn 8-bit products and tables into float32 ones, in place; a graph without any stays as it is."""
    graph = GraphEdit(model)
    for node in list(graph.nodes):
        if node.op_type == "MatMulIntegerToFloat":
            _thaw_product(graph, node)
        elif node.op_type == "Gather":
            _thaw_table(graph, node)
        elif node.op_type == "Slice":
            _ask_inputs(graph, node)
    graph.save()


def freeze(model: onnx.ModelProto, weights: Weights) -> None:
    """Put weights, by the names of constants, into the float graph that `thaw` left, and make it int8, in place."""
    for tensor in model.graph.initializer:
        if tensor.name in weights:
            tensor.CopyFrom(numpy_helper.from_array(np.ascontiguousarray(weights[tensor.name]), tensor.name))
    quantise(model)


def write_tuned(source: Path, out: Path, model: onnx.ModelProto, weights: Weights, names: NameHead | None) -> None:
    """Write a tuned encoder into an empty folder, with all that its source has besides weights.

    `model` and `weights` are as for `freeze`; `names` is the head that reads the names of types, if there is one.
    """
    card = Card.read(source / "encoder.json")
    freeze(model, weights)
    onnx.save(model, out / "model.onnx")
    origin = card.origin if card.origin.endswith(_TUNED) else card.origin + _TUNED
    card = replace(card, precision="int8", origin=origin, names=names is not None)
    (out / "encoder.json").write_text(card.to_json(), encoding="utf-8")
    if names is not None:
        names.save(out / NAMES_FILE, "float16")
    for name in ("tokenizer.json", "training.json", SEEN):
        if (source / name).is_file():
            copy_file(source / name, out / name)


def _thaw_product(graph: GraphEdit, node: Any) -> None:
    """Replace ``a_i * (Xq Wq b_j)`` by ``X W``."""
    quantised, columns = (graph.constant(name) for name in (node.input[1], node.input[3]))
    scaled = graph.producer[graph.producer[node.input[0]].input[0]]  # X / a, which was rounded
    rows = scaled.input[0]
    assert quantised is not None  # `quantise` made both
    assert columns is not None
    weights = quantised.astype(np.float32) * columns
    divided = graph.producer.get(rows)
    sizes = None if divided is None or divided.op_type != "Mul" else graph.constant(divided.input[1])
    if divided is not None and sizes is not None and divided.input[1].startswith("sizes"):
        rows, weights = divided.input[0], weights * sizes[:, None]
    (result,) = [each for each in graph.nodes if each.op_type == "Mul" and node.output[0] in each.input]
    graph.make("MatMul", [rows, graph.add_constant("thawed", weights)], result.output[0])


def _thaw_table(graph: GraphEdit, node: Any) -> None:
    """Replace a table of integers and one of scales by their product."""
    table = graph.constant(node.input[0])
    if table is not None and table.dtype == np.uint8 and table.ndim == 2:
        _thaw_packed(graph, node, table)
    if table is None or table.dtype != np.int8:
        return
    (cast,) = [each for each in graph.nodes if each.op_type == "Cast" and each.input[0] == node.output[0]]
    (result,) = [each for each in graph.nodes if each.op_type == "Mul" and each.input[0] == cast.output[0]]
    scale = graph.constant(graph.producer[result.input[1]].input[0])
    assert scale is not None
    floats = graph.add_constant("thawed", table.astype(np.float32) * scale)
    graph.make("Gather", [floats, node.input[1]], result.output[0])


def _thaw_packed(graph: GraphEdit, node: Any, table: npt.NDArray[np.uint8]) -> None:
    """Replace a table in 4 bits, and what makes floats of its rows, by a table of floats."""

    def user(of: Any) -> Any:
        return next(each for each in graph.nodes if of.output[0] in each.input)

    blocks = user(user(user(user(user(node)))))  # BitwiseAnd or BitShift, Concat, Cast, Sub, Reshape
    product = user(blocks)
    cast = graph.producer[graph.producer[product.input[1]].input[0]]
    scales = graph.constant(graph.producer[cast.input[0]].input[0])
    assert scales is not None  # `quantise` made it
    floats = graph.add_constant("thawed", unpacked_table(table, scales.astype(np.float16)))
    graph.make("Gather", [floats, node.input[1]], user(product).output[0])


def _ask_inputs(graph: GraphEdit, node: Any) -> None:
    """Take the number of tokens from the inputs, not from a tensor of the first layer: it is the same, and is there."""
    shape = graph.producer.get(node.input[0])
    bounds = [graph.constant(name) for name in node.input[1:3]]
    if shape is None or shape.op_type != "Shape" or not all(b is not None and b.size == 1 for b in bounds):
        return
    source = graph.producer.get(shape.input[0])
    if source is not None and source.op_type == "Add" and [int(b[0]) for b in bounds if b is not None] == [1, 2]:
        graph.make("Shape", [graph.model.graph.input[0].name], shape.output[0])
