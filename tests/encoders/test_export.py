import collections
import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from models import TEXT
from onnx import TensorProto, helper, numpy_helper

from handful._util import processor
from handful.encoders import _exporting, export_encoder, load
from handful.encoders import _graph as graph
from handful.encoders import _onnx as backend
from handful.encoders.thaw import thaw
from handful.errors import EncoderError, FileError

SENTENCES = [text.split() for text in TEXT]


def test_the_card(source, exported, tmp_path):
    card = json.loads((exported("mpnet") / "encoder.json").read_text())
    assert card | {"origin": None} == {
        "format": 1,
        "dim": 32,
        "window": 64,
        "n_layers": 2,
        "precision": "float32",
        "pad_id": 1,
        "unknown_id": 4,
        "shape_stride": 0,
        "origin": None,
        "licence": "unknown",
        "transitions": None,
        "names": False,
        "languages": [],
    }
    described = shutil.copytree(source("mpnet"), tmp_path / "described")
    header = "tags: x\nlanguage:\n- de\n  - pt\n- multilingual\nlicense: mit"
    (described / "README.md").write_text(f"---\n{header}\n---\n# A model\nlicense: none\n")
    export_encoder(described, tmp_path / "a", origin="me/mine")
    card = json.loads((tmp_path / "a" / "encoder.json").read_text())
    assert (card["licence"], card["origin"]) == ("mit", "me/mine")
    assert card["languages"] == ["de", "pt"]
    assert load(tmp_path / "a").languages == ("de", "pt")
    assert np.array_equal(load(tmp_path / "a").encode(SENTENCES), load(exported("mpnet")).encode(SENTENCES))


@pytest.mark.parametrize(
    ("header", "codes"),
    [("language: en", ["en"]), ("language: [sw, ar]\nlicense: mit", ["sw", "ar"]), ("license: en", [])],
)
def test_languages_of_a_readme(header, codes, tmp_path):
    (tmp_path / "README.md").write_text(f"---\n{header}\n---\nlanguage: xx\n")
    assert _exporting._languages(tmp_path) == codes


def test_wrong_languages_are_refused(source, tmp_path):
    with pytest.raises(EncoderError, match="languages must be a list of codes such as en, found 'de'"):
        export_encoder(source("bert"), tmp_path / "x", languages="de")


def test_the_card_of_the_training_goes_along(source, exported, tmp_path):
    trained = shutil.copytree(source("bert"), tmp_path / "trained")
    (trained / "handful.json").write_text('{"recipe": {"hide": ["LAW"]}}')
    export_encoder(trained, tmp_path / "out")
    assert json.loads((tmp_path / "out" / "training.json").read_text())["recipe"]["hide"] == ["LAW"]
    assert load(tmp_path / "out").fingerprint == load(exported("bert")).fingerprint
    assert not (exported("bert") / "training.json").exists()


@pytest.mark.parametrize("family", ["bert", "distilbert", "mpnet", "roberta", "xlm_roberta"])
def test_attention_is_fused(exported, family):
    nodes = onnx.load(exported(family) / "model.onnx").graph.node
    assert collections.Counter(node.op_type for node in nodes)["MultiHeadAttention"] == 2


@pytest.mark.exhaustive
def test_a_lost_mask_is_noticed_and_nothing_is_written(source, tmp_path, monkeypatch):
    monkeypatch.setattr(graph, "_scores", lambda graph, name, real=graph._scores: (*real(graph, name)[:2], []))
    with pytest.raises(EncoderError, match="not faithful: it differs by up to"):
        export_encoder(source("bert"), tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_what_stands_there_is_not_overwritten(source, tmp_path):
    (tmp_path / "mine").write_text("x")
    with pytest.raises(FileError, match="folder with files in it"):
        export_encoder(source("bert"), tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]


def test_int8_is_close_to_float32(exported):
    a = load(exported("mpnet")).encode(SENTENCES)
    b = load(exported("mpnet", int8=True), precision="int8").encode(SENTENCES)
    cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    assert cosines.min() > 0.99
    assert not np.array_equal(a, b)


def test_int8_is_the_same_every_time(exported):
    # Traced and fused a second time, in another export.
    model = onnx.load(exported("mpnet") / "model.onnx")
    graph.quantise(model)
    assert model.SerializeToString() == (exported("mpnet", int8=True) / "model.onnx").read_bytes()


def product_model(weights):
    k, n = weights.shape
    return helper.make_model(
        helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["y"])],
            "product",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["m", k])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["m", n])],
            [numpy_helper.from_array(weights, "w")],
        ),
        opset_imports=[helper.make_opsetid("", 20)],
        ir_version=10,
    )


@pytest.mark.parametrize("is_exact_asked", [False, True])
def test_a_quantised_product_is_within_its_bound(tmp_path, monkeypatch, is_exact_asked):
    """|error| <= sum_k (a/2 |w_k| + b/2 |x_k| + a b / 4), a and b being the scales of row and column."""
    rng = np.random.default_rng(0)
    weights = (rng.normal(size=(96, 64)) * rng.uniform(0.1, 10, 64)).astype(np.float32)
    x = (rng.normal(size=(9, 96)) * 10.0 ** rng.integers(-6, 6, (9, 1))).astype(np.float32)
    x[3] = 0
    x[5] = 1e3  # pairs of these and of these weights would saturate 16 bits
    weights[:, 0] = 5
    x[4, 1:] = 0
    model = product_model(weights)
    graph.quantise(model)
    onnx.save(model, tmp_path / "model.onnx")
    if is_exact_asked:  # as on a processor without fast 8-bit products
        monkeypatch.setattr(processor, "_CPU_INFO", tmp_path / "none")
    session = backend.open_session(tmp_path / "model.onnx", threads=1)
    found = session.run(None, {"x": x})[0]
    a = np.abs(x).max(1, keepdims=True) / 127
    b = np.abs(weights).max(0, keepdims=True) / 127
    bound = a / 2 * np.abs(weights).sum(0) + b / 2 * np.abs(x).sum(1, keepdims=True) + 96 * a * b / 4
    error = np.abs(found - x.astype(np.float64) @ weights)
    assert (error <= bound * 1.01).all()
    assert error.max() > 0
    assert not found[3].any()
    for row in range(9):
        assert np.array_equal(session.run(None, {"x": x[row : row + 1]})[0][0], found[row])


@pytest.mark.exhaustive
def test_an_export_says_nothing_of_the_machine_and_is_the_same_each_time(source, exported, tmp_path):
    export_encoder(source("bert"), tmp_path / "again", origin="x")
    made = [(folder / "model.onnx").read_bytes() for folder in (exported("bert"), tmp_path / "again")]
    assert made[0] == made[1]
    made.append((exported("mpnet", int8=True) / "model.onnx").read_bytes())
    for word in (b"site-packages", b".py", b"stack_trace", str(Path(__file__).parents[1]).encode()):
        assert not any(word in model for model in made)


def table_model(table):
    return helper.make_model(
        helper.make_graph(
            [helper.make_node("Gather", ["table", "ids"], ["y"])],
            "table",
            [helper.make_tensor_value_info("ids", TensorProto.INT64, ["rows", "tokens"])],
            [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["rows", "tokens", table.shape[1]])],
            [numpy_helper.from_array(table, "table")],
        ),
        opset_imports=[helper.make_opsetid("", 20)],
        ir_version=10,
    )


def test_a_table_of_many_rows_is_in_four_bits_and_near(tmp_path):
    rng = np.random.default_rng(0)
    table = (rng.normal(size=(70_000, 64)) * 10.0 ** rng.integers(-3, 3, (70_000, 1))).astype(np.float32)
    table[7] = 0
    table[8, :32] = 1e-9
    model = table_model(table)
    graph.quantise(model)
    assert len(model.SerializeToString()) < 70_000 * (32 + 4) + 10_000
    onnx.save(model, tmp_path / "model.onnx")
    session = backend.open_session(tmp_path / "model.onnx", threads=1)
    ids = rng.integers(0, 70_000, (40, 25))
    ids[0, :3] = [7, 8, 69_999]
    found = session.run(None, {"ids": ids})[0]
    assert not found[0, 0].any()
    # A scale is at most the largest of 32 numbers / 7; what is cut off is at most a fifth of that largest.
    largest = np.abs(table[ids]).reshape(40, 25, 2, 32).max(3)
    error = np.abs(found - table[ids]).reshape(40, 25, 2, 32)
    assert (error.max(3) <= 0.2 * largest + 1e-4).all()
    assert np.sqrt((error**2).mean(3) / np.maximum(largest, 1e-3) ** 2).mean() < 1 / 7 / np.sqrt(12)
    for row in range(40):
        assert np.array_equal(session.run(None, {"ids": ids[row : row + 1]})[0][0], found[row])
    thaw(model)
    (floats,) = [numpy_helper.to_array(one) for one in model.graph.initializer]
    np.testing.assert_array_equal(floats[ids], found)
    before = (tmp_path / "model.onnx").stat().st_size
    graph.quantise(model)
    assert abs(len(model.SerializeToString()) - before) < 1000


@pytest.fixture
def in_four_bits(source, tmp_path, monkeypatch):
    """Return an export of a SentencePiece encoder whose table of embeddings counts as a large one."""
    monkeypatch.setattr(graph, "_MANY_ROWS", 66)
    folder = tmp_path / "four"
    export_encoder(source("xlm_roberta"), folder, int8=True)
    kinds = {node.op_type for node in onnx.load(folder / "model.onnx").graph.node}
    assert {"BitShift", "MatMulIntegerToFloat"} <= kinds
    return folder


def test_an_encoder_in_four_bits_is_close_and_the_same_in_every_batch(in_four_bits, source):
    exact = load(source("xlm_roberta"), precision="float32").encode(SENTENCES)
    encoder = load(in_four_bits)
    found = encoder.encode(SENTENCES)
    cosines = (exact * found).sum(1) / np.linalg.norm(exact, axis=1) / np.linalg.norm(found, axis=1)
    assert cosines.mean() > 0.97
    alone = np.concatenate([encoder.encode([sentence]) for sentence in SENTENCES])
    assert alone.tobytes() == found.tobytes()
    assert encoder.encode(SENTENCES * 3)[: len(found)].tobytes() == found.tobytes()


def test_an_encoder_in_four_bits_becomes_floats_again(in_four_bits, tmp_path):
    model = onnx.load(in_four_bits / "model.onnx")
    thaw(model)
    assert not {"BitShift", "MatMulIntegerToFloat"} & {node.op_type for node in model.graph.node}
    again = shutil.copytree(in_four_bits, tmp_path / "again")
    onnx.save(model, again / "model.onnx")
    a, b = (load(folder).encode(SENTENCES) for folder in (in_four_bits, again))
    cosines = (a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)
    assert cosines.min() > 0.99
