"""Rewrites an exported ONNX graph: fused attention, and int8 weights.

int8 (`quantise`). A product ``X W`` with constant weights becomes a product of 8-bit integers. W has one scale per
column, X one scale per *row*, computed from that row alone::

    a_i      = max_k |X[i, k]| / 127
    b_j      = max_k |W[k, j]| / 127
    Xq[i, k] = round(X[i, k] / a_i) + 128                          (uint8)
    Wq[k, j] = round(W[k, j] / b_j)                                (int8)
    (X W)[i, j] is about a_i b_j sum_k (Xq[i, k] - 128) Wq[k, j]   (the sum is exact, in int32)

so a word's vector cannot depend on its neighbours in the batch. Tables of embeddings keep one scale per row.

4 bits. Most of an encoder for many languages is a table of over 65,536 embeddings. There a row has one scale for each
block of 32 numbers, in 16 bits, and two numbers of 4 bits share a byte: q[k] + 8 below, q[k + d/2] + 8 above. The scale
is the one of a few, between 0.8 and 1 times the largest |T[i, k]| / 7 of the block, that leaves the least error.

Some networks have a channel or two in which a few tokens are twenty times larger than elsewhere; there a row's scale
would leave nothing for the other channels. The gain of the normalisation before the product tells which channels::

    s_k     = max(1, |gain_k| / median |gain|)
    X[:, k] is divided by s_k
    W[k, :] is multiplied by s_k

which leaves the product as it is.
"""

from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

_CONTRIB = "com.microsoft"

# A normalisation whose largest gain is under this many times the median needs no balancing of channels.
_EVEN_GAIN = 2.0

# Tables of more rows are stored in 4 bits, with a scale for each block of so many numbers.
_MANY_ROWS = 1 << 16
_BLOCK = 32


class GraphEdit:
    """A graph with its nodes by output and its constants by name."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.nodes: list[Any] = list(model.graph.node)
        self.constants = {tensor.name: tensor for tensor in model.graph.initializer}
        self.producer = {output: node for node in self.nodes for output in node.output}
        self.taken = {*self.producer, *self.constants}

    def new_name(self, hint: str) -> str:
        name = f"{hint}.{len(self.taken)}"
        self.taken.add(name)
        return name

    def constant(self, name: str) -> npt.NDArray[Any] | None:
        tensor = self.constants.get(name)
        return None if tensor is None else numpy_helper.to_array(tensor)

    def add_constant(self, hint: str, value: npt.NDArray[Any]) -> str:
        name = self.new_name(hint)
        self.constants[name] = numpy_helper.from_array(value, name)
        return name

    def shared(self, hint: str, value: npt.NDArray[Any]) -> str:
        """Add a small constant once."""
        if hint not in self.constants:
            self.constants[hint] = numpy_helper.from_array(value, hint)
        return hint

    def make(self, op: str, inputs: list[str], output: str | None = None, domain: str = "", **attributes: Any) -> Any:
        """Make a node; its one output is named after it unless `output` is given."""
        output = output or self.new_name(op)
        node = helper.make_node(op, inputs, [output], name=output, domain=domain, **attributes)
        self.producer[output] = node
        return node

    def save(self) -> onnx.ModelProto:
        """Write nodes back in order of use, without those (and the constants) that lead to no output."""
        graph = self.model.graph
        ordered: list[Any] = []
        done: set[str] = set()
        stack = [output.name for output in reversed(graph.output)]
        while stack:
            name = stack[-1]
            node = self.producer.get(name)
            if node is None or node.output[0] in done:
                stack.pop()
                continue
            waiting = [i for i in node.input if i in self.producer and self.producer[i].output[0] not in done]
            if waiting:
                stack.extend(reversed(waiting))
                continue
            stack.pop()
            ordered.append(node)
            done.add(node.output[0])
        used = {name for node in ordered for name in node.input}
        kept = [tensor for name, tensor in self.constants.items() if name in used]
        for part in (*ordered, *kept, *graph.input, *graph.output, graph, self.model):
            # The exporter notes where on this machine each node came from: that is private, and differs each time.
            del part.metadata_props[:]
            part.doc_string = ""
        del graph.node[:], graph.initializer[:], graph.value_info[:]
        graph.node.extend(ordered)
        graph.initializer.extend(kept)
        if not any(opset.domain == _CONTRIB for opset in self.model.opset_import):
            self.model.opset_import.append(helper.make_opsetid(_CONTRIB, 1))
        return self.model


def fuse_attention(model: onnx.ModelProto, n_heads: int) -> int:
    """Replace each self-attention of the usual form by one operator; others stay as they are.

    The form is ``softmax(scale * Q K^T + biases) V`` with heads made by reshape and transpose. The result is the number
    of attentions that were replaced.
    """
    graph = GraphEdit(model)
    biases: dict[tuple[str, ...], str] = {}
    n_fused = 0
    for out in list(graph.nodes):
        # The last steps are, backwards: reshape, transpose, the product with V, softmax.
        merged = _from(graph, out, "Reshape")
        if merged is not None:
            shape, source = graph.constant(out.input[1]), graph.producer.get(out.input[1])
            parts = source.input if source is not None and source.op_type == "Concat" else [""] * 3
            if (len(parts) if shape is None else shape.size) != 3:
                continue  # merged with a step after it
        product = _from(graph, merged, "Transpose", perm=[0, 2, 1, 3])
        if product is None or product.op_type != "MatMul":
            continue
        softmax = graph.producer.get(product.input[0])
        value = _heads(graph, product.input[1])
        if softmax is None or softmax.op_type != "Softmax" or value is None:
            continue
        scores = _scores(graph, softmax.input[0])
        if scores is None:
            continue
        matmul, scale, added = scores
        query, key = _heads(graph, matmul.input[0]), _heads(graph, matmul.input[1], is_key=True)
        if query is None or key is None or value is None:
            continue
        if added and tuple(added) not in biases:
            biases[tuple(added)] = _joint_bias(graph, added, query)
        inputs = [query, key, value, *(["", "", biases[tuple(added)]] if added else [])]
        graph.make("MultiHeadAttention", inputs, out.output[0], _CONTRIB, num_heads=n_heads, scale=scale)
        n_fused += 1
    graph.save()
    return n_fused


def _from(graph: GraphEdit, node: Any, op: str, **attributes: Any) -> Any:
    """Return the node that feeds `node`, if `node` is an `op` with these attributes."""
    if node is None or node.op_type != op:
        return None
    found = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
    if any(list(found.get(name, [])) != value for name, value in attributes.items()):
        return None
    return graph.producer.get(node.input[0])


def _heads(graph: GraphEdit, name: str, *, is_key: bool = False) -> str | None:
    """Return the tensor (rows, tokens, dim) whose heads `name` holds as (rows, heads, tokens, size)."""
    node = graph.producer.get(name)
    reshape = _from(graph, node, "Transpose", perm=[0, 2, 3, 1] if is_key else [0, 2, 1, 3])
    if reshape is None and is_key:
        reshape = _from(graph, _from(graph, node, "Transpose", perm=[0, 1, 3, 2]), "Transpose", perm=[0, 2, 1, 3])
    return reshape.input[0] if reshape is not None and reshape.op_type == "Reshape" else None


def _scores(graph: GraphEdit, name: str) -> tuple[Any, float, list[str]] | None:
    """Split ``scale * Q K^T + biases`` into the product's node, the scale, and the names of the biases."""
    node = graph.producer.get(name)
    if node is None:
        return None
    if node.op_type == "MatMul":
        return node, 1.0, []
    if node.op_type == "Add":
        for i in (0, 1):
            found = _scores(graph, node.input[i])
            if found is not None:
                return found[0], found[1], [*found[2], node.input[1 - i]]
    if node.op_type in ("Mul", "Div"):
        by = graph.constant(node.input[1])
        found = _scores(graph, node.input[0])
        if by is not None and by.size == 1 and found is not None and not found[2]:
            factor = float(by.reshape(()))
            return found[0], found[1] * factor if node.op_type == "Mul" else found[1] / factor, []
    return None


def _joint_bias(graph: GraphEdit, names: list[str], query: str) -> str:
    """Sum biases into shape (rows or 1, heads or 1, tokens, tokens), as the fused operator asks."""
    zero, one = graph.shared("index.0", np.array([0])), graph.shared("index.1", np.array([1]))
    two = graph.shared("index.2", np.array([2]))
    shape = graph.make("Shape", [query]).output[0]
    n_tokens = graph.make("Slice", [shape, one, two, zero]).output[0]
    square = graph.make("Concat", [one, one, n_tokens, one], axis=0).output[0]
    total = ""
    for name in names:
        source = graph.producer.get(name)
        if source is not None and source.op_type == "Expand":
            name = source.input[0]  # the sum below repeats it over the rows if need be
        name = graph.make("Expand", [name, square]).output[0]
        total = graph.make("Add", [total, name]).output[0] if total else name
    return total


def quantise(model: onnx.ModelProto, *, smallest: int = 1024) -> None:
    """Turn products with constant weights, and tables of embeddings, into int8, in place.

    Weights of fewer numbers than `smallest` stay in float32.
    """
    graph = GraphEdit(model)
    rows: dict[str, tuple[str, str]] = {}
    for node in list(graph.nodes):
        if node.op_type == "MatMul":
            weights = graph.constant(node.input[1])
            if weights is None or weights.ndim != 2 or weights.dtype != np.float32 or weights.size < smallest:
                continue
            sizes = _channel_sizes(graph, node.input[0])
            if node.input[0] not in rows:
                rows[node.input[0]] = _quantised_rows(graph, node.input[0], sizes)
            if sizes is not None:
                weights = weights * sizes[:, None]
            (of_rows, row_scale), scale = rows[node.input[0]], _scale(weights, axis=0)
            quantised = graph.add_constant("weights", _rounded(weights, scale))
            columns, one, middle = graph.add_constant("scale", scale[0]), "one", "middle"
            product = graph.make("MatMulIntegerToFloat", [of_rows, quantised, one, columns, middle], domain=_CONTRIB)
            graph.make("Mul", [product.output[0], row_scale], node.output[0])
        elif node.op_type == "Gather":
            table = graph.constant(node.input[0])
            if table is None or table.ndim != 2 or table.dtype != np.float32 or table.size < smallest:
                continue
            if len(table) > _MANY_ROWS and table.shape[1] % _BLOCK == 0:
                _pack_table(graph, node, table)
                continue
            scale = _scale(table, axis=1)
            quantised = graph.add_constant("table", _rounded(table, scale))
            found = graph.make("Gather", [quantised, node.input[1]]).output[0]
            found = graph.make("Cast", [found], to=onnx.TensorProto.FLOAT).output[0]
            scales = graph.make("Gather", [graph.add_constant("scale", scale), node.input[1]]).output[0]
            graph.make("Mul", [found, scales], node.output[0])
    graph.save()


def _pack_table(graph: GraphEdit, node: Any, table: npt.NDArray[np.float32]) -> None:
    """Replace a table that `node` takes rows of, by ids of shape (rows, tokens), by one in 4 bits."""
    packed, scales = packed_table(table)
    rows = graph.make("Gather", [graph.add_constant("packed", packed), node.input[1]]).output[0]
    low = graph.make("BitwiseAnd", [rows, graph.shared("15", np.array(15, np.uint8))]).output[0]
    high = graph.make("BitShift", [rows, graph.shared("4", np.array(4, np.uint8))], direction="RIGHT").output[0]
    both = graph.make("Concat", [low, high], axis=-1).output[0]
    floats = graph.make("Cast", [both], to=onnx.TensorProto.FLOAT).output[0]
    centred = graph.make("Sub", [floats, graph.shared("8.0", np.array(8, np.float32))]).output[0]
    blocks = graph.make("Reshape", [centred, graph.shared("blocks", np.array([0, 0, -1, _BLOCK]))]).output[0]
    taken = graph.make("Gather", [graph.add_constant("scale", scales), node.input[1]]).output[0]
    taken = graph.make("Cast", [taken], to=onnx.TensorProto.FLOAT).output[0]
    taken = graph.make("Unsqueeze", [taken, graph.shared("index.-1", np.array([-1]))]).output[0]
    product = graph.make("Mul", [blocks, taken]).output[0]
    shape = graph.shared(f"flat.{table.shape[1]}", np.array([0, 0, table.shape[1]]))
    graph.make("Reshape", [product, shape], node.output[0])


def packed_table(table: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.float16]]:
    """Return a table (n, d) in 4 bits: bytes of shape (n, d/2), and scales of shape (n, d/32)."""
    n, dim = table.shape
    blocks = table.reshape(n, dim // _BLOCK, _BLOCK)
    largest = np.abs(blocks).max(2)
    best = np.full(largest.shape, np.inf, np.float32)
    scales: npt.NDArray[np.float16] = np.zeros(largest.shape, np.float16)
    numbers = np.zeros(blocks.shape, np.int8)
    for share in (1, 0.95, 0.9, 0.85, 0.8):
        tried = np.maximum(largest * np.float32(share / 7), np.finfo(np.float16).smallest_normal).astype(np.float16)
        by = tried.astype(np.float32)[..., None]
        rounded = np.clip(np.rint(blocks / by), -7, 7)
        error = ((rounded * by - blocks) ** 2).sum(2)
        is_better = error < best
        best[is_better], scales[is_better], numbers[is_better] = error[is_better], tried[is_better], rounded[is_better]
    shifted = (numbers.reshape(n, dim) + 8).astype(np.uint8)
    packed: npt.NDArray[np.uint8] = shifted[:, : dim // 2] | (shifted[:, dim // 2 :] << np.uint8(4))
    return packed, scales


def unpacked_table(packed: npt.NDArray[np.uint8], scales: npt.NDArray[np.float16]) -> npt.NDArray[np.float32]:
    """Return the floats of a table in 4 bits."""
    numbers = np.concatenate((packed & 15, packed >> 4), 1).astype(np.float32) - 8
    blocks = numbers.reshape(len(packed), -1, _BLOCK) * scales.astype(np.float32)[..., None]
    return blocks.reshape(len(packed), -1)


def _scale(weights: npt.NDArray[np.float32], axis: int) -> npt.NDArray[np.float32]:
    largest = np.abs(weights).max(axis=axis, keepdims=True)
    return np.asarray(np.maximum(largest / np.float32(127), np.finfo(np.float32).tiny))


def _rounded(weights: npt.NDArray[np.float32], scale: npt.NDArray[np.float32]) -> npt.NDArray[np.int8]:
    return np.asarray(np.clip(np.rint(weights / scale), -127, 127), np.int8)


def _channel_sizes(graph: GraphEdit, name: str) -> npt.NDArray[np.float32] | None:
    """Return s of the module's docstring, or None if it is not needed."""
    norm = graph.producer.get(name)
    gain = graph.constant(norm.input[1]) if norm is not None and norm.op_type == "LayerNormalization" else None
    if gain is None or not np.median(np.abs(gain)):
        return None
    sizes = np.maximum(1, np.abs(gain) / np.median(np.abs(gain))).astype(np.float32)
    return sizes if sizes.max() > _EVEN_GAIN else None


def _quantised_rows(graph: GraphEdit, name: str, sizes: npt.NDArray[np.float32] | None) -> tuple[str, str]:
    """Add the nodes for Xq and a of the module's docstring."""
    if sizes is not None:
        name = graph.make("Mul", [name, graph.add_constant("sizes", 1 / sizes)]).output[0]
    last = graph.shared("index.-1", np.array([-1]))
    one = graph.shared("one", np.array(1, np.float32))
    middle = graph.shared("middle", np.array(128, np.uint8))
    largest = graph.make("ReduceMax", [graph.make("Abs", [name]).output[0], last], keepdims=1).output[0]
    share = graph.shared("1/127", np.array(1 / 127, np.float32))
    scale = graph.make("Mul", [largest, share]).output[0]
    # A row of zeros would be divided by zero.
    scale = graph.make("Max", [scale, graph.shared("tiny", np.array(1e-30, np.float32))]).output[0]
    scaled = graph.make("Div", [name, scale]).output[0]
    return graph.make("QuantizeLinear", [scaled, one, middle]).output[0], scale
