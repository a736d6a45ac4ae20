"""Exported encoders as floats again, as networks of torch, and back."""

import numpy as np
import onnx
import pytest
import torch

from handful.encoders import load
from handful.encoders._onnx import open_session
from handful.encoders.thaw import freeze, read_graph, thaw, write_tuned
from handful.errors import EncoderError
from handful.training._graph_network import GraphNetwork
from handful.training._operators import OPERATORS

LONG = pytest.mark.exhaustive
FAMILIES = ["bert", "distilbert", "mpnet", "roberta"]


def inputs(n_ids=30):
    mask = (np.arange(9) < np.array([9, 4, 6])[:, None]).astype(np.int64)
    ids = np.random.default_rng(0).integers(5, n_ids, mask.shape)
    return {"input_ids": np.where(mask == 1, ids, 1), "attention_mask": mask}


def run(network, given):
    network.eval()
    with torch.inference_mode():
        known = {name: torch.from_numpy(array) for name, array in given.items()}
        return network(**known).last_hidden_state.numpy()[given["attention_mask"] == 1]


def by_onnx(path, given):
    return open_session(path, 1).run(["layer_2"], given)[0][given["attention_mask"] == 1]


def cosines(a, b):
    return (a * b).sum(1) / (np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1))


@pytest.mark.parametrize("family", FAMILIES)
def test_a_graph_of_floats_gives_what_onnxruntime_gives(family, exported):
    path = exported(family) / "model.onnx"
    graph = read_graph(path)
    thaw(graph)
    np.testing.assert_allclose(run(GraphNetwork(graph), inputs()), by_onnx(path, inputs()), rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("family", ["mpnet", *(pytest.param(one, marks=LONG) for one in FAMILIES if one != "mpnet")])
def test_a_thawed_graph_is_near_the_floats_that_it_was_made_of(family, exported):
    graph = read_graph(exported(family, int8=True) / "model.onnx")
    thaw(graph)
    assert not {"MatMulIntegerToFloat", "QuantizeLinear"} & {node.op_type for node in graph.graph.node}
    floats = by_onnx(exported(family) / "model.onnx", inputs())
    assert cosines(run(GraphNetwork(graph), inputs()), floats).min() > 0.99


def test_frozen_again_without_a_change_it_gives_the_same_vectors(exported, tmp_path):
    path = exported("mpnet", int8=True) / "model.onnx"
    graph = read_graph(path)
    thaw(graph)
    freeze(graph, {})
    onnx.save(graph, tmp_path / "again.onnx")
    assert cosines(by_onnx(tmp_path / "again.onnx", inputs()), by_onnx(path, inputs())).min() > 0.9999


def test_adapters_change_nothing_at_first_and_count_by_their_share(exported):
    graph = read_graph(exported("bert") / "model.onnx")
    thaw(graph)
    network = GraphNetwork(graph)
    before = run(network, inputs())
    network.add_adapters(4, seed=0)
    assert np.array_equal(run(network, inputs()), before)
    assert {name for name, one in network.named_parameters() if one.requires_grad} == set(network.adapters())
    with torch.no_grad():
        for name, one in network.adapters().items():
            if name.startswith("adapter_b"):
                one.fill_(0.3)
    changed = run(network, inputs())
    assert not np.allclose(changed, before)
    network.share = 0.0
    assert np.array_equal(run(network, inputs()), before)
    network.share = 1.0
    merged = network.merged()
    for tensor in graph.graph.initializer:
        if tensor.name in merged:
            tensor.CopyFrom(onnx.numpy_helper.from_array(merged[tensor.name].numpy(), tensor.name))
    np.testing.assert_allclose(run(GraphNetwork(graph), inputs()), changed, rtol=1e-3, atol=1e-4)


def test_dropout_is_for_training_alone(exported):
    graph = read_graph(exported("bert") / "model.onnx")
    thaw(graph)
    network = GraphNetwork(graph)
    before = run(network, inputs())
    network.dropout = 0.5
    assert np.array_equal(run(network, inputs()), before)
    network.train()
    known = {name: torch.from_numpy(array) for name, array in inputs().items()}
    with torch.no_grad():
        assert not np.allclose(network(**known).last_hidden_state.numpy()[inputs()["attention_mask"] == 1], before)


def test_a_graph_that_cannot_be_trained_is_said_to_be_so(exported):
    graph = read_graph(exported("bert") / "model.onnx")
    graph.graph.node[0].op_type = "Einsum"
    with pytest.raises(EncoderError, match="cannot be trained: its graph has Einsum"):
        GraphNetwork(graph)


def test_a_graph_that_cannot_be_read_is_said_to_be_so(tmp_path):
    (tmp_path / "model.onnx").write_bytes(b"nothing")
    with pytest.raises(EncoderError, match=r"broken encoder: .*model\.onnx cannot be read"):
        read_graph(tmp_path / "model.onnx")


def test_what_is_written_is_an_encoder(exported, tmp_path):
    source = exported("mpnet")
    graph = read_graph(source / "model.onnx")
    thaw(graph)
    write_tuned(source, tmp_path, graph, {}, None)
    encoder = load(tmp_path)
    assert not encoder.has_names
    a, b = (one.encode([["the", "quick", "fox"]]) for one in (encoder, load(source)))
    assert cosines(a, b).min() > 0.95
    assert "tuned by its user" in (tmp_path / "encoder.json").read_text()


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [(-(2**63), -2, [3, 4]), (1, 2**63 - 1, [4, 9, 8]), (-2, -(2**63), []), (-9, 9, [3, 4, 9, 8])],
)
def test_a_slice_may_begin_and_end_far_beyond_a_tensor(start, end, expected):
    found = OPERATORS["Slice"]([torch.tensor([3, 4, 9, 8]), torch.tensor([start]), torch.tensor([end])], {})
    assert found.tolist() == expected
