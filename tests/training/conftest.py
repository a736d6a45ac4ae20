"""Tiny random encoders, and corpora whose types can be told by the last syllable of a name."""

import random

import pytest
import torch
from made import make_corpus, make_encoder, write_conll


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Networks this small are slower with several."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def own_cache(monkeypatch, tmp_path_factory):
    """Keep features of tests apart from those of the user."""
    monkeypatch.setenv("HANDFUL_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(scope="session")
def encoder(tmp_path_factory):
    return make_encoder(tmp_path_factory.mktemp("encoders") / "bert", "bert")


@pytest.fixture
def people(tmp_path):
    return write_conll(tmp_path / "people.txt", make_corpus(random.Random(1), 200, ["PER", "LOC"]))


@pytest.fixture
def things(tmp_path):
    return write_conll(tmp_path / "things.txt", make_corpus(random.Random(2), 120, ["GENE", "DRUG", "LOC"]))
