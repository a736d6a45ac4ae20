"""Operators of ONNX, as far as exported encoders have them, with torch.

Each is a function from the list of a node's inputs and its attributes to its output.
"""

import math
from collections.abc import Callable
from typing import Any

import torch
from onnx import TensorProto
from torch import Tensor
from torch.nn import functional

from handful.errors import EncoderError

_KINDS = {
    TensorProto.FLOAT: torch.float32,
    TensorProto.INT32: torch.int32,
    TensorProto.INT64: torch.int64,
    TensorProto.BOOL: torch.bool,
}

#: Those whose inputs must be on one device.
BY_ELEMENT = frozenset(
    ["Add", "And", "Div", "Equal", "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Min", "Mul", "Sub", "Where"]
)

_Inputs = list[Tensor]
_Attributes = dict[str, Any]


def _attention(inputs: _Inputs, attributes: _Attributes) -> Tensor:
    query, key, value = (each.unflatten(-1, (attributes["num_heads"], -1)).transpose(1, 2) for each in inputs[:3])  # type: ignore[no-untyped-call]
    bias: Tensor | None = inputs[5] if len(inputs) > 5 else None
    scale = attributes.get("scale") or 1 / math.sqrt(query.shape[-1])
    if bias is not None:
        bias = bias.to(query.dtype)
    found = functional.scaled_dot_product_attention(query, key, value, attn_mask=bias, scale=scale)
    return found.transpose(1, 2).flatten(-2)


def _slice(inputs: _Inputs, _: _Attributes) -> Tensor:
    x, starts, ends = inputs[:3]
    axes = inputs[3].tolist() if len(inputs) > 3 and inputs[3] is not None else range(x.dim())
    steps = inputs[4].tolist() if len(inputs) > 4 else [1] * len(starts)
    for start, end, axis, step in zip(starts.tolist(), ends.tolist(), axes, steps, strict=True):
        if step < 1:
            raise EncoderError("this encoder cannot be trained: its graph reads a tensor backwards")
        index: list[Any] = [slice(None)] * x.dim()
        n = x.shape[axis]
        index[axis] = slice(max(start, -n), max(end, -n), step)  # torch warns of numbers far beyond the first
        x = x[tuple(index)]
    return x


def _gather(inputs: _Inputs, attributes: _Attributes) -> Tensor:
    x, index = inputs[0], inputs[1].to(inputs[0].device)
    axis = attributes.get("axis", 0)
    if axis == 0 and x.dim() == 2 and x.is_floating_point():
        return functional.embedding(index, x)
    index = torch.where(index < 0, index + x.shape[axis], index)
    found = x.index_select(axis, index.flatten())
    return found.unflatten(axis, index.shape) if index.dim() else found.squeeze(axis)  # type: ignore[no-untyped-call]


def _unsqueeze(inputs: _Inputs, _: _Attributes) -> Tensor:
    x, axes = inputs
    n = x.dim() + axes.numel()
    for axis in sorted(int(axis) % n for axis in axes):
        x = x.unsqueeze(axis)
    return x


def _gather_nd(inputs: _Inputs, attributes: _Attributes) -> Tensor:
    if attributes.get("batch_dims", 0):
        raise EncoderError("this encoder cannot be trained: its graph gathers by batch")
    x, index = inputs
    return x[tuple(index.to(x.device).unbind(-1))]


def _reduce(inputs: _Inputs, attributes: _Attributes, function: Callable[..., Tensor]) -> Tensor:
    axes = [int(axis) for axis in inputs[1]] if len(inputs) > 1 else list(range(inputs[0].dim()))
    return function(inputs[0], dim=axes, keepdim=bool(attributes.get("keepdims", 1)))


OPERATORS: dict[str, Callable[[_Inputs, _Attributes], Tensor]] = {
    "Abs": lambda x, _: x[0].abs(),
    "Add": lambda x, _: x[0] + x[1],
    "And": lambda x, _: x[0] & x[1],
    "Cast": lambda x, given: x[0].to(_KINDS[given["to"]]),
    "Concat": lambda x, given: torch.cat(x, given["axis"]),
    "Cos": lambda x, _: x[0].cos(),
    "CumSum": lambda x, _: x[0].cumsum(int(x[1])),
    "Div": lambda x, _: torch.div(*x, rounding_mode=None if x[0].is_floating_point() else "trunc"),
    "Equal": lambda x, _: x[0] == x[1],
    "Erf": lambda x, _: x[0].erf(),
    "Expand": lambda x, _: x[0].expand(torch.broadcast_shapes(x[0].shape, x[1].tolist())),  # type: ignore[no-untyped-call]
    "Gather": _gather,
    "GatherElements": lambda x, given: x[0].gather(given.get("axis", 0), x[1].to(x[0].device)),
    "GatherND": _gather_nd,
    "Gelu": lambda x, given: functional.gelu(x[0], approximate=given.get("approximate", b"none").decode()),
    "Gemm": lambda x, given: x[0] @ (x[1].T if given.get("transB") else x[1]) + (x[2] if len(x) > 2 else 0),
    "GreaterOrEqual": lambda x, _: x[0] >= x[1],
    "Identity": lambda x, _: x[0],
    "LayerNormalization": lambda x, given: functional.layer_norm(
        x[0], x[1].shape, x[1], x[2] if len(x) > 2 else None, given.get("epsilon", 1e-5)
    ),
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
    "Range": lambda x, _: torch.arange(*(each.item() for each in x)),
    "ReduceMax": lambda x, given: _reduce(x, given, torch.amax),
    "ReduceMean": lambda x, given: _reduce(x, given, torch.mean),
    "ReduceSum": lambda x, given: _reduce(x, given, torch.sum),
    "Relu": lambda x, _: x[0].relu(),
    "Reshape": lambda x, _: x[0].reshape([size or x[0].shape[i] for i, size in enumerate(x[1].tolist())]),
    "Shape": lambda x, given: torch.tensor(x[0].shape[given.get("start", 0) : given.get("end")]),
    "Sigmoid": lambda x, _: x[0].sigmoid(),
    "Sin": lambda x, _: x[0].sin(),
    "Slice": _slice,
    "Softmax": lambda x, given: x[0].softmax(given.get("axis", -1)),
    "Sqrt": lambda x, _: x[0].sqrt(),
    "Squeeze": lambda x, _: x[0].squeeze(*(tuple(map(int, axes)) for axes in x[1:])),
    "Sub": lambda x, _: x[0] - x[1],
    "Tanh": lambda x, _: x[0].tanh(),
    "Transpose": lambda x, given: x[0].permute(*given["perm"]),
    "Unsqueeze": _unsqueeze,
    "Where": lambda x, _: torch.where(x[0], x[1], x[2]),
}
