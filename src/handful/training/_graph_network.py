"""An exported encoder as a torch network: its ONNX graph, node by node, with its constants as parameters.

So an encoder can be trained further from its exported folder alone, and the trained weights go back into the same
graph. Only nodes that lead from what is known to what is wanted are run: with the output of a layer as known, the
layers below it cost nothing. Constants that are not weights stay on the CPU, where shapes are computed.
"""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn
from torch.nn import functional

from handful.errors import EncoderError

__all__ = ["GraphNetwork"]

_KINDS = {
    TensorProto.FLOAT: torch.float32,
    TensorProto.INT32: torch.int32,
    TensorProto.INT64: torch.int64,
    TensorProto.BOOL: torch.bool,
}

_START_SCALE = 0.02  # of the first matrix of an adapter

_SMALLEST = 16  # floats of fewer numbers are not weights, but constants of formulas


class GraphNetwork(nn.Module):
    """Runs an ONNX graph with torch.

    Parameters
    ----------
    model
        A graph in float32, as `handful.encoders._thaw.thaw` returns it.

    Attributes
    ----------
    dropout : float
        How much of what each attention and each pair of products adds to a word is left out while training.
    share : float
        How much the adapters count: 0 is the encoder as it was, 1 as it was trained.
    """

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.dropout, self.share = 0.0, 1.0
        self._adapters: dict[str, tuple[str, str]] = {}
        self._nodes = {output: node for node in model.graph.node for output in node.output}
        self._attributes = {
            node.output[0]: {each.name: helper.get_attribute_value(each) for each in node.attribute}
            for node in model.graph.node
        }
        unknown = sorted({node.op_type for node in model.graph.node} - set(_OPERATORS))
        if unknown:
            raise EncoderError(f"this encoder cannot be trained: its graph has {', '.join(unknown)}")
        self._parameter_names: dict[str, str] = {}
        self._fixed: dict[str, Tensor] = {}
        for tensor in model.graph.initializer:
            array = torch.from_numpy(np.array(numpy_helper.to_array(tensor)))
            if array.dtype == torch.float32 and array.numel() >= _SMALLEST:
                name = tensor.name.replace(".", "/")  # torch does not allow points
                self.register_parameter(name, nn.Parameter(array))
                self._parameter_names[tensor.name] = name
            else:
                self._fixed[tensor.name] = array
        self._dropped = _branches(model.graph.node, self._nodes)
        self._plans: dict[tuple[tuple[str, ...], frozenset[str]], list[Any]] = {}

    def weights(self) -> dict[str, Tensor]:
        """Return all weights, by the names of the graph."""
        return {own: self.get_parameter(name) for own, name in self._parameter_names.items()}

    def add_adapters(self, rank: int, seed: int) -> None:
        """Add a product of two thin matrices to each matrix W of the layers: ``X W + share (X A) B``.

        Only these are trained from now on. B is zero at first, so nothing changes yet. Tables of embeddings, which are
        read and not multiplied, stay as they are.
        """
        generator = torch.Generator().manual_seed(seed)
        self.requires_grad_(False)
        products = {node.input[1] for node in self._nodes.values() if node.op_type == "MatMul"}
        for number, (own, name) in enumerate(self._parameter_names.items()):
            weight = self.get_parameter(name)
            if own not in products or weight.dim() != 2 or min(weight.shape) <= rank:
                continue
            first = torch.randn(weight.shape[0], rank, generator=generator) * _START_SCALE
            pair = {"a": first, "b": torch.zeros(rank, weight.shape[1])}
            for which, one in pair.items():
                self.register_parameter(f"adapter_{which}_{number}", nn.Parameter(one.to(weight.device)))
            self._adapters[own] = (f"adapter_a_{number}", f"adapter_b_{number}")

    def adapters(self) -> dict[str, nn.Parameter]:
        """Return the matrices of the adapters, by their names."""
        return {name: self.get_parameter(name) for pair in self._adapters.values() for name in pair}

    @torch.no_grad()
    def merged(self) -> dict[str, Tensor]:
        """Return all weights by the names of the graph, with the adapters' share in them."""
        weights = {own: weight.detach() for own, weight in self.weights().items()}
        for own, (a, b) in self._adapters.items():
            weights[own] = weights[own] + self.share * (self.get_parameter(a) @ self.get_parameter(b))
        return weights

    def forward(self, known: Mapping[str, Tensor], *wanted: str) -> list[Tensor]:
        """Return values of the graph.

        Parameters
        ----------
        known
            Values by name: the inputs, or whatever stands instead of what is computed of them.
        wanted
            The names of the values to return.
        """
        values: dict[str, Any] = dict(known)
        for node in self._plan(wanted, frozenset(known)):
            for name in node.input:
                if name and name not in values:
                    values[name] = self._constant(name)
            inputs = [values[name] if name else None for name in node.input]
            if node.op_type in _BY_ELEMENT:
                inputs = _together(inputs)
            found = _OPERATORS[node.op_type](inputs, self._attributes[node.output[0]])
            if node.op_type == "MatMul" and node.input[1] in self._adapters and self.share:
                a, b = (self.get_parameter(name) for name in self._adapters[node.input[1]])
                found = found + self.share * ((inputs[0] @ a) @ b)
            if self.training and self.dropout and node.output[0] in self._dropped:
                found = functional.dropout(found, self.dropout)
            values[node.output[0]] = found
        return [values[name] for name in wanted]

    def _constant(self, name: str) -> Tensor:
        if name in self._parameter_names:
            return self.get_parameter(self._parameter_names[name])
        if name not in self._fixed:
            raise EncoderError(f"this encoder cannot be trained: its graph needs {name}, which is not given")
        return self._fixed[name]

    def _plan(self, wanted: tuple[str, ...], known: frozenset[str]) -> list[Any]:
        """Return the nodes to run, in order."""
        if (wanted, known) not in self._plans:
            ordered: list[Any] = []
            done = set(known)
            stack = list(reversed(wanted))
            while stack:
                name = stack[-1]
                node = self._nodes.get(name)
                if name in done or node is None:
                    stack.pop()
                    continue
                waiting = [each for each in node.input if each in self._nodes and each not in done]
                if waiting:
                    stack += reversed(waiting)
                else:
                    stack.pop()
                    ordered.append(node)
                    done.add(name)
            self._plans[wanted, known] = ordered
        return self._plans[wanted, known]


def _branches(nodes: Iterable[Any], producer: Mapping[str, Any]) -> set[str]:
    """Return what is added to a word before a normalisation: products with their biases, not the word itself."""
    found: set[str] = set()
    for norm in (node for node in nodes if node.op_type == "LayerNormalization"):
        total = producer.get(norm.input[0])
        for name in [] if total is None or total.op_type != "Add" else total.input:
            node = producer.get(name)
            inputs = [] if node is None else [producer[each].op_type for each in node.input if each in producer]
            if node is not None and node.op_type == "Add" and "MatMul" in inputs:
                found.add(name)
    return found


def _together(inputs: list[Any]) -> list[Any]:
    """Return tensors on one device: the GPU, if any of them is there."""
    devices = {each.device for each in inputs}
    if len(devices) == 1:
        return inputs
    (device,) = [each for each in devices if each.type != "cpu"]
    return [each.to(device) if each.dim() else each for each in inputs]


_BY_ELEMENT = frozenset(
    ["Add", "And", "Div", "Equal", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min", "Mul", "Sub", "Where"]
)

_Inputs = list[Any]
_Attributes = dict[str, Any]


def _attention(inputs: _Inputs, attributes: _Attributes) -> Tensor:
    query, key, value = (each.unflatten(-1, (attributes["num_heads"], -1)).transpose(1, 2) for each in inputs[:3])
    bias = inputs[5] if len(inputs) > 5 else None
    scale = attributes.get("scale") or 1 / math.sqrt(query.shape[-1])
    if bias is not None:
        bias = bias.to(query.dtype)
    found = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias, scale=scale)
    return found.transpose(1, 2).flatten(-2)


def _layer_norm(inputs: _Inputs, attributes: _Attributes) -> Tensor:
    x, gain = inputs[:2]
    bias = inputs[2] if len(inputs) > 2 else None
    return functional.layer_norm(x, gain.shape, gain, bias, attributes.get("epsilon", 1e-5))


def _divide(inputs: _Inputs, _: _Attributes) -> Tensor:
    a, b = inputs
    return a / b if a.is_floating_point() else torch.div(a, b, rounding_mode="trunc")


def _expand(inputs: _Inputs, _: _Attributes) -> Tensor:
    x, shape = inputs
    return x.expand(torch.broadcast_shapes(x.shape, shape.tolist()))


def _slice(inputs: _Inputs, _: _Attributes) -> Tensor:
    x, starts, ends = inputs[:3]
    axes = inputs[3].tolist() if len(inputs) > 3 and inputs[3] is not None else range(x.dim())
    steps = inputs[4].tolist() if len(inputs) > 4 else [1] * len(starts)
    for start, end, axis, step in zip(starts.tolist(), ends.tolist(), axes, steps, strict=True):
        if step < 1:
            raise EncoderError("this encoder cannot be trained: its graph reads a tensor backwards")
        index: list[Any] = [slice(None)] * x.dim()
        index[axis] = slice(start, end, step)
        x = x[tuple(index)]
    return x


def _gather(inputs: _Inputs, attributes: _Attributes) -> Tensor:
    x, index = inputs[0], inputs[1].to(inputs[0].device)
    axis = attributes.get("axis", 0)
    if axis == 0 and x.dim() == 2 and x.is_floating_point():
        return functional.embedding(index, x)
    index = torch.where(index < 0, index + x.shape[axis], index)
    found = x.index_select(axis, index.flatten())
    return found.unflatten(axis, index.shape) if index.dim() else found.squeeze(axis)


def _unsqueeze(inputs: _Inputs, _: _Attributes) -> Tensor:
    x, axes = inputs
    n = x.dim() + axes.numel()
    for axis in sorted(int(axis) % n for axis in axes):
        x = x.unsqueeze(axis)
    return x


def _squeeze(inputs: _Inputs, _: _Attributes) -> Tensor:
    x = inputs[0]
    if len(inputs) == 1:
        return x.squeeze()
    return x.squeeze(tuple(int(axis) for axis in inputs[1]))


def _shape(inputs: _Inputs, attributes: _Attributes) -> Tensor:
    sizes = list(inputs[0].shape)[attributes.get("start", 0) : attributes.get("end")]
    return torch.tensor(sizes, dtype=torch.int64)


def _reshape(inputs: _Inputs, _: _Attributes) -> Tensor:
    x, shape = inputs
    sizes = [x.shape[i] if size == 0 else size for i, size in enumerate(shape.tolist())]
    return x.reshape(sizes)


def _concat(inputs: _Inputs, attributes: _Attributes) -> Tensor:
    return torch.cat(inputs, attributes["axis"])


def _gather_nd(inputs: _Inputs, attributes: _Attributes) -> Tensor:
    if attributes.get("batch_dims", 0):
        raise EncoderError("this encoder cannot be trained: its graph gathers by batch")
    x, index = inputs
    return x[tuple(index.to(x.device).unbind(-1))]


def _range(inputs: _Inputs, _: _Attributes) -> Tensor:
    return torch.arange(*(each.item() for each in inputs))


def _reduce(inputs: _Inputs, attributes: _Attributes, function: Callable[..., Tensor]) -> Tensor:
    axes = [int(axis) for axis in inputs[1]] if len(inputs) > 1 else list(range(inputs[0].dim()))
    return function(inputs[0], dim=axes, keepdim=bool(attributes.get("keepdims", 1)))


_OPERATORS: dict[str, Callable[[_Inputs, _Attributes], Tensor]] = {
    "Abs": lambda x, _: x[0].abs(),
    "Add": lambda x, _: x[0] + x[1],
    "And": lambda x, _: x[0] & x[1],
    "Cast": lambda x, given: x[0].to(_KINDS[given["to"]]),
    "Concat": _concat,
    "Cos": lambda x, _: x[0].cos(),
    "CumSum": lambda x, _: x[0].cumsum(int(x[1])),
    "Div": _divide,
    "Equal": lambda x, _: x[0] == x[1],
    "Erf": lambda x, _: x[0].erf(),
    "Expand": _expand,
    "Gather": _gather,
    "GatherElements": lambda x, given: x[0].gather(given.get("axis", 0), x[1].to(x[0].device)),
    "GatherND": _gather_nd,
    "Gelu": lambda x, given: functional.gelu(x[0], approximate=given.get("approximate", b"none").decode()),
    "Gemm": lambda x, given: x[0] @ (x[1].T if given.get("transB") else x[1]) + (x[2] if len(x) > 2 else 0),
    "GreaterOrEqual": lambda x, _: x[0] >= x[1],
    "Identity": lambda x, _: x[0],
    "LayerNormalization": _layer_norm,
    "Less": lambda x, _: x[0] < x[1],
    "LessOrEqual": lambda x, _: x[0] <= x[1],
    "Log": lambda x, _: x[0].log(),
    "MatMul": lambda x, _: x[0] @ x[1],
    "Max": lambda x, _: torch.maximum(x[0], x[1]),
    "Min": lambda x, _: torch.minimum(x[0], x[1]),
    "Mod": lambda x, _: x[0] % x[1],
    "Mul": lambda x, _: x[0] * x[1],
    "MultiHeadAttention": _attention,
    "Neg": lambda x, _: -x[0],
    "Not": lambda x, _: ~x[0],
    "Pow": lambda x, _: x[0] ** x[1],
    "Range": _range,
    "ReduceMax": lambda x, given: _reduce(x, given, torch.amax),
    "ReduceMean": lambda x, given: _reduce(x, given, torch.mean),
    "ReduceSum": lambda x, given: _reduce(x, given, torch.sum),
    "Relu": lambda x, _: x[0].relu(),
    "Reshape": _reshape,
    "Shape": _shape,
    "Sigmoid": lambda x, _: x[0].sigmoid(),
    "Sin": lambda x, _: x[0].sin(),
    "Slice": _slice,
    "Softmax": lambda x, given: x[0].softmax(given.get("axis", -1)),
    "Sqrt": lambda x, _: x[0].sqrt(),
    "Squeeze": _squeeze,
    "Sub": lambda x, _: x[0] - x[1],
    "Tanh": lambda x, _: x[0].tanh(),
    "Transpose": lambda x, given: x[0].permute(*given["perm"]),
    "Unsqueeze": _unsqueeze,
    "Where": lambda x, _: torch.where(x[0], x[1], x[2]),
}
