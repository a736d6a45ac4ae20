"""Encoders that are pickled and copied open their files again, and notice if these have changed."""

import copy
import os
import pickle
import shutil

import numpy as np
import pytest

from handful.encoders import Encoder, load, open_encoder
from handful.encoders import opened as module
from handful.encoders.hugging_face import TorchNetwork, as_encoder, read_pretrained
from handful.errors import ModelError

SENTENCES = [["the", "quick", "fox"], ["Baghdad"]]


def pickled(encoder):
    return pickle.loads(pickle.dumps(encoder))


@pytest.mark.parametrize("copied", [pickled, copy.copy, copy.deepcopy])
@pytest.mark.parametrize("is_exported", [False, True])
def test_a_copy_gives_the_same_vectors(source, exported, copied, is_exported):
    folder = exported("bert") if is_exported else source("bert")
    encoder = load(folder, threads=1)
    expected = encoder.encode(SENTENCES)
    for again in (copied(encoder), copied(copied(encoder))):
        assert again.fingerprint == encoder.fingerprint
        assert (again.threads, again.dim) == (1, 32)
        assert np.array_equal(again.encode(SENTENCES), expected)
        assert again.tokenizer(["the"]) == encoder.tokenizer(["the"])


def test_a_copy_is_small_and_opens_nothing_until_it_is_used(monkeypatch):
    encoder = load("handful-en")
    state = pickle.dumps(encoder)
    assert len(state) < 2000
    with monkeypatch.context() as patch:
        patch.setattr(module, "load", None)
        again = pickle.loads(state)
        assert (again.dim, again.fingerprint, again.transitions) == (
            encoder.dim,
            encoder.fingerprint,
            encoder.transitions,
        )
        assert len(pickle.dumps(again)) == len(state)
    assert np.array_equal(again.encode(SENTENCES), encoder.encode(SENTENCES))


def test_a_copy_keeps_its_precision(source):
    encoder = load(source("bert"), precision="bfloat16")
    again = pickled(encoder)
    assert again.precision == "bfloat16"
    assert np.array_equal(again.encode(SENTENCES), encoder.encode(SENTENCES))


def test_a_copy_whose_files_have_changed_says_so(exported, tmp_path):
    shutil.copytree(exported("bert"), tmp_path / "encoder")
    again = pickled(load(tmp_path / "encoder"))
    shutil.rmtree(tmp_path / "encoder")
    shutil.copytree(exported("mpnet"), tmp_path / "encoder")
    with pytest.raises(ModelError, match="no longer the one"):
        again.encode(SENTENCES)


def test_an_encoder_knows_where_it_is_found_again(exported, tmp_path, monkeypatch):
    assert (load("handful-en").name, load("handful-en").reference) == ("handful-en", "handful-en")
    folder = shutil.copytree(exported("bert"), tmp_path / "encoder")
    monkeypatch.chdir(tmp_path)
    encoder = open_encoder("./encoder")
    assert (encoder.name, encoder.reference) == ("./encoder", os.fspath(folder))
    monkeypatch.chdir("/")
    assert np.array_equal(pickled(encoder).encode(SENTENCES), load(folder).encode(SENTENCES))


def test_an_encoder_that_was_not_loaded_is_copied_with_its_weights(source):
    model, tokenizer = read_pretrained(os.fspath(source("bert")))
    network = TorchNetwork(model, precision="float32")
    encoder = as_encoder(network, tokenizer)
    assert isinstance(encoder, Encoder)
    assert encoder.reference is None
    assert encoder.fingerprint == load(source("bert"), precision="float32").fingerprint
    again = copy.deepcopy(encoder)
    expected = encoder.encode(SENTENCES)
    for weights in network.model.parameters():
        weights.data.zero_()
    assert np.array_equal(again.encode(SENTENCES), expected)
