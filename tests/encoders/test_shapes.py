"""Word shapes: what an uncased tokenizer forgets."""

import doctest
import json
import shutil

import numpy as np
import pytest
import torch
import transformers
from safetensors.torch import save_file

from handful.encoders import export_encoder, load
from handful.encoders import shapes as shapes
from handful.encoders.shapes import N_SHAPES, SHAPES_FILE, word_shape
from handful.errors import EncoderError

SENTENCES = [["Apple", "eats", "an", "apple", "."], ["NASA", "2024", "iPhone"], ["paris"]]


@pytest.fixture(params=["bert", pytest.param("mpnet", marks=pytest.mark.exhaustive)])
def shaped(request, source, tmp_path):
    folder = tmp_path / "shaped"
    shutil.copytree(source(request.param), folder)
    dim = json.loads((folder / "config.json").read_text())["hidden_size"]
    table = torch.randn(N_SHAPES, dim, generator=torch.Generator().manual_seed(0))
    save_file({"weight": table}, folder / SHAPES_FILE)
    return folder, table


def test_shapes():
    assert doctest.testmod(shapes).attempted == 1
    assert doctest.testmod(shapes).failed == 0
    words = ["ß", "É", "Éa", "McDonald", "@Bob", "日本", "", "…", "x1"]
    assert [word_shape(w) for w in words] == [1, 4, 2, 5, 2, 1, 8, 8, 6]
    assert {word_shape(chr(c)) for c in range(0x3000)} <= set(range(1, N_SHAPES))


def test_the_shape_vector_is_added_to_every_sub_word(shaped):
    folder, table = shaped
    encoder = load(folder, precision="float32")
    model = transformers.AutoModel.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    for words in SENTENCES:
        encoding = tokenizer(words, is_split_into_words=True, return_tensors="pt")
        owners = encoding.word_ids(0)
        embedded = model.get_input_embeddings()(encoding.input_ids)
        add = torch.stack([table[0 if o is None else word_shape(words[o])] for o in owners])
        add[[o is None for o in owners]] = table[0]
        with torch.no_grad():
            hidden = model(inputs_embeds=embedded + add, attention_mask=encoding.attention_mask).last_hidden_state[0]
        for w in range(len(words)):
            at = [i for i, o in enumerate(owners) if o == w]
            expected = (hidden[at[0]] + hidden[at[-1]]) / 2
            np.testing.assert_allclose(encoder.encode([words])[w], expected, atol=1e-5)


def test_case_matters_only_with_shapes(shaped, source):
    folder, _ = shaped
    upper, lower = load(folder).encode([["Apple"], ["apple"]])
    assert np.abs(upper - lower).max() > 1e-3


@pytest.mark.parametrize("int8", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
def test_an_export_keeps_the_shapes(shaped, tmp_path, int8):
    folder, _ = shaped
    card = export_encoder(folder, tmp_path / "out", int8=int8)
    assert card.shape_stride > 0
    expected = load(folder, precision="float32").encode(SENTENCES)
    found = load(tmp_path / "out").encode(SENTENCES)
    if int8:
        cosine = (expected * found).sum(1) / np.linalg.norm(expected, axis=1) / np.linalg.norm(found, axis=1)
        assert cosine.min() > 0.95
    else:
        np.testing.assert_allclose(found, expected, atol=1e-4)


def test_fingerprints_differ_by_the_shapes(shaped, tmp_path):
    folder, table = shaped
    other = tmp_path / "other"
    shutil.copytree(folder, other)
    save_file({"weight": table + 1}, other / SHAPES_FILE)
    plain = tmp_path / "plain"
    shutil.copytree(folder, plain)
    (plain / SHAPES_FILE).unlink()
    assert len({load(f).fingerprint for f in (folder, other, plain)}) == 3


def test_a_damaged_table_is_named(shaped):
    folder, table = shaped
    save_file({"weight": table[:3].contiguous()}, folder / SHAPES_FILE)
    with pytest.raises(EncoderError, match=r"word_shapes.safetensors holds shape \(3, .*expected \(9, "):
        load(folder)
    (folder / SHAPES_FILE).write_bytes(b"nothing")
    with pytest.raises(EncoderError, match=r"word_shapes.safetensors cannot be read"):
        load(folder)
