"""An exported encoder as a torch network: its ONNX graph, node by node, with its constants as parameters.

So an encoder can be trained further from its exported folder alone, and the trained weights go back into the same
graph. Constants that are not weights stay on the CPU, where shapes are computed.
"""

from collections.abc import Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from onnx import helper, numpy_helper
from torch import Tensor, nn
from torch.nn import functional

from handful.errors import EncoderError

from ._operators import BY_ELEMENT, OPERATORS

_START_SCALE = 0.02  # of the first matrix of an adapter
_SMALLEST = 16  # floats of fewer numbers are not weights, but constants of formulas


class GraphNetwork(nn.Module):
    """Runs an ONNX graph in float32, as `handful.encoders.thaw.thaw` returns it, with torch."""

    def __init__(self, model: Any) -> None:
        super().__init__()
        self.dropout = 0.0  # how much of what attentions and pairs of products add to a word training leaves out
        self.share = 1.0  # how much the adapters count: 0 is the encoder as it was, 1 as it was trained
        self._adapters: dict[str, tuple[str, str]] = {}
        self._output = model.graph.output[0].name
        wanted = {self._output}
        self._needed: list[Any] = []  # the nodes that the output depends on; a node comes after all that it reads
        for node in reversed(model.graph.node):
            if wanted & set(node.output):
                self._needed.insert(0, node)
                wanted |= set(node.input)
        self._attributes = {
            node.output[0]: {each.name: helper.get_attribute_value(each) for each in node.attribute}
            for node in self._needed
        }
        unknown = sorted({node.op_type for node in self._needed} - set(OPERATORS))
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
        self._dropped = _branches(self._needed)

    def add_adapters(self, rank: int, seed: int) -> None:
        """Add a product of two thin matrices to each matrix W of the layers: ``X W + share (X A) B``.

        Only these are trained from now on. B is zero at first, so nothing changes yet. Tables of embeddings, which are
        read and not multiplied, stay as they are.
        """
        generator = torch.Generator().manual_seed(seed)
        self.requires_grad_(False)
        products = {node.input[1] for node in self._needed if node.op_type == "MatMul"}
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
        weights = {own: self.get_parameter(name).detach() for own, name in self._parameter_names.items()}
        for own, (a, b) in self._adapters.items():
            weights[own] = weights[own] + self.share * (self.get_parameter(a) @ self.get_parameter(b))
        return weights

    def forward(self, input_ids: Tensor, attention_mask: Tensor, return_dict: bool = True) -> Any:
        """Return the first output of the graph as ``last_hidden_state``, as models of transformers do."""
        values: dict[str, Any] = {"input_ids": input_ids, "attention_mask": attention_mask}
        for node in self._needed:
            given: list[Any] = [self._value(values, name) if name else None for name in node.input]
            if node.op_type in BY_ELEMENT and len({each.device for each in given}) > 1:
                (device,) = {each.device for each in given if each.device.type != "cpu"}  # the GPU, for all
                given = [each.to(device) if each.dim() else each for each in given]
            found = OPERATORS[node.op_type](given, self._attributes[node.output[0]])
            if node.op_type == "MatMul" and node.input[1] in self._adapters and self.share:
                a, b = (self.get_parameter(name) for name in self._adapters[node.input[1]])
                found = found + self.share * ((given[0] @ a) @ b)
            if self.training and self.dropout and node.output[0] in self._dropped:
                found = functional.dropout(found, self.dropout)
            values[node.output[0]] = found
        return SimpleNamespace(last_hidden_state=values[self._output])

    def _value(self, values: Mapping[str, Any], name: str) -> Any:
        if name in values:
            return values[name]
        if name in self._parameter_names:
            return self.get_parameter(self._parameter_names[name])
        if name not in self._fixed:
            raise EncoderError(f"this encoder cannot be trained: its graph needs {name}, which is not given")
        return self._fixed[name]


def _branches(nodes: Sequence[Any]) -> set[str]:
    """Return what is added to a word before a normalisation: products with their biases, not the word itself."""
    producer = {node.output[0]: node for node in nodes}
    found: set[str] = set()
    for norm in (node for node in nodes if node.op_type == "LayerNormalization"):
        total = producer.get(norm.input[0])
        for name in [] if total is None or total.op_type != "Add" else total.input:
            node = producer.get(name)
            inputs = [] if node is None else [producer[each].op_type for each in node.input if each in producer]
            if node is not None and node.op_type == "Add" and "MatMul" in inputs:
                found.add(name)
    return found
