"""`Encoder.encode_types`: what a type's vector is, and what it does not depend on."""

import copy
import doctest
import hashlib
import json
import pickle
import shutil

import numpy as np
import pytest
import torch
import transformers
from heads import by_torch, random_head, with_head
from models import TEXT
from safetensors.torch import save_file

from handful.encoders import CachedEncoder, export_encoder, load, open_encoder
from handful.encoders import names as texts
from handful.encoders.cache import FeatureCache
from handful.encoders.names import NAMES_FILE, NameHead, readable, text_of
from handful.encoders.opened import NetworkEncoder
from handful.encoders.shapes import N_SHAPES, SHAPES_FILE
from handful.encoders.tokenizer import WordTokenizer
from handful.errors import DataError, EncoderError, ModelError
from handful.text import EntityType, to_sentence

TYPES = {
    "FOX": "the quick brown animals that jump over a lazy dog",
    "creative-work": "",
    "PER": "official names, says the U.N. in Paris",
    "CostOf": "unbelievable dollars, 1,234.50 of them",
    "LOC": "",
    "café": "naïve owners in São Paulo and Zürich",
}


@pytest.fixture(scope="session")
def named(source, made_once):
    """Return a Hugging Face folder with a head and with word shapes."""

    def make(folder):
        with_head(source("mpnet"), folder)
        table = torch.randn(N_SHAPES, 32, generator=torch.Generator().manual_seed(0))
        save_file({"weight": table}, folder / SHAPES_FILE)

    return made_once("named", make)


@pytest.fixture(scope="session")
def exports(named, made_once):
    """Return the folder exported in float32 and in int8."""

    def make(folder):
        for precision in ("float32", "int8"):
            assert export_encoder(named, folder / precision, int8=precision == "int8").names is True

    folder = made_once("named-exported", make)
    return {"transformers": named, "float32": folder / "float32", "int8": folder / "int8"}


@pytest.fixture(params=["transformers", "float32", "int8"])
def encoder(request, exports):
    return load(exports[request.param])


def same(a, b):
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in ("vectors", "biases"))


def test_names_as_they_are_read():
    assert doctest.testmod(texts).failed == 0
    assert doctest.testmod(texts).attempted == 7
    names = [
        "ORG",
        "Org/other",
        "GPE",
        "NORP",
        "MISC_x",
        "per-title",
        "iPhone",
        "HTTPServer",
        "Müller",
        "a b",
        "PERSON",
    ]
    assert list(map(readable, names)) == [
        "organization",
        "organization other",
        "geopolitical entity",
        "nationality, religious or political group",
        "miscellaneous x",
        "person title",
        "i phone",
        "httpserver",
        "müller",
        "a b",
        "person",
    ]
    assert readable("-") == "-"


@pytest.mark.parametrize("name", ["GS", "RR", "TYPE_A", "TypeB", "LABEL_12", "T1", "x", "7"])
def test_a_name_that_is_no_word_gives_way_to_the_description(name):
    assert text_of(EntityType(name, "gold and silver")) == "gold and silver"
    assert text_of(EntityType(name)) == readable(name)


@pytest.mark.parametrize("name", ["PER", "DNA", "LABEL", "tag", "person-b", "HER2"])
def test_a_word_is_read_with_the_description(name):
    assert text_of(EntityType(name, "gold and silver")) == f"{readable(name)}: gold and silver"
    assert text_of(EntityType("LOC")) == "location"
    assert text_of(EntityType("LOC", " Paris\nand  ORG ")) == "location: Paris and ORG"


def test_vectors_are_those_of_plain_transformers(named):
    model = transformers.AutoModel.from_pretrained(named).eval()
    encoder, head = load(named, precision="float32"), random_head()
    shapes = encoder.network.model.get_input_embeddings().shapes.weight.detach()
    means = []
    for name, description in TYPES.items():
        words = to_sentence(f"{readable(name)}: {description}" if description else readable(name)).words
        ids = [0, *(token for ids in encoder.tokenizer(words) for token in ids), 2]
        stride = encoder.tokenizer.shape_stride
        embedded = model.get_input_embeddings()(torch.tensor([[i % stride for i in ids]]))
        embedded = embedded + shapes[[i // stride for i in ids]]
        with torch.no_grad():
            hidden = model(inputs_embeds=embedded, attention_mask=torch.ones(1, len(ids))).last_hidden_state[0]
        means.append(hidden[1:-1].mean(0).numpy())  # without the special tokens
    found = encoder.encode_types(TYPES)
    expected = by_torch(head, means)
    assert [one.name for one in found.types] == list(TYPES)
    np.testing.assert_allclose(found.vectors, expected, atol=1e-4)
    np.testing.assert_allclose(found.biases, -0.25 - 0.5 * (expected**2).sum(1), rtol=1e-4)
    assert np.array_equal(found.o_vectors, head.o_prototypes)
    np.testing.assert_allclose(found.o_biases, -0.5 * (head.o_prototypes**2).sum(1), rtol=1e-6)
    assert {a.dtype for a in (found.vectors, found.biases, found.o_vectors, found.o_biases)} == {np.dtype("float32")}


def test_scores_are_those_of_the_formulas(encoder):
    x = encoder.encode([text.split() for text in TEXT])
    found = encoder.encode_types(TYPES)
    scores = found.scores(x)
    n, o = found.vectors.astype(float), found.o_vectors.astype(float)
    assert scores.shape == (len(x), 1 + len(TYPES))
    np.testing.assert_allclose(scores[:, 1:], x @ n.T - 0.5 * (n**2).sum(1) - 0.25, rtol=1e-4, atol=1e-3)
    each = x @ o.T - 0.5 * (o**2).sum(1)
    np.testing.assert_allclose(scores[:, 0], np.log(np.exp(each).sum(1)), rtol=1e-4, atol=1e-3)
    assert found.scores(x[:0]).shape == (0, 1 + len(TYPES))


def test_other_types_and_their_order_change_nothing(encoder):
    expected = encoder.encode_types(TYPES)
    items = list(TYPES.items())
    again = encoder.encode_types(dict(items[::-1]))
    assert np.array_equal(again.vectors[::-1], expected.vectors)
    assert np.array_equal(again.biases[::-1], expected.biases)
    for number, (name, description) in enumerate(items):
        alone = encoder.encode_types({name: description})
        assert np.array_equal(alone.vectors[0], expected.vectors[number])
        assert alone.biases[0] == expected.biases[number]
    more = encoder.encode_types(TYPES | {f"type {n}": "a dog " * n for n in range(40)})
    assert np.array_equal(more.vectors[: len(TYPES)], expected.vectors)
    encoder.batch_tokens = 1
    assert same(encoder.encode_types(TYPES), expected)


def test_types_are_given_in_any_form(encoder):
    expected = encoder.encode_types({"fox": "a dog", "LOC": ""})
    assert same(encoder.encode_types([EntityType("fox", "a dog"), "LOC"]), expected)
    assert same(encoder.encode_types([{"name": "fox", "description": "a dog"}, {"name": "LOC"}]), expected)
    assert same(encoder.encode_types("fox, LOC"), encoder.encode_types(["fox", "LOC"]))
    assert not np.array_equal(encoder.encode_types("fox, LOC").vectors[0], expected.vectors[0])
    assert np.array_equal(encoder.encode_types("location").vectors[0], expected.vectors[1])
    empty = encoder.encode_types([])
    assert (empty.vectors.shape, empty.biases.shape, empty.o_vectors.shape) == ((0, 32), (0,), (8, 32))
    assert empty.scores(np.zeros((3, 32))).shape == (3, 1)


def test_types_that_cannot_be_read(encoder):
    with pytest.raises(DataError, match="names, a dict of descriptions or a list"):
        encoder.encode_types(3)
    with pytest.raises(DataError, match="cannot be called 'O'"):
        encoder.encode_types(["O"])
    with pytest.raises(DataError, match=r"the type '\\u200b': there is no word in the text"):
        encoder.encode_types(["\u200b"])


class PositionsNetwork:
    """The vector of a token says which token it is; the head below leaves it as it is."""

    def run(self, inputs):
        ids, mask = inputs["input_ids"], inputs["attention_mask"]
        return np.stack([ids, mask.sum(1, keepdims=True) + 0 * ids, 0 * ids], axis=2).astype(np.float32)

    def identity(self):
        return b"positions"


def split_numbers(words):
    return [[int(word) + i for i in range(int(word) % 7 + 1)] if word.isdigit() else [5] for word in words]


@pytest.mark.parametrize("n_words", [1, 4, 5, 200])
def test_every_sub_word_of_a_long_text_counts_once(n_words):
    tokenizer = WordTokenizer(split_numbers, prefix=[0], suffix=[0, 0], pad_id=0, unknown_id=1, content=b"")
    head = NameHead(np.eye(3), np.zeros(3), np.zeros((1, 3)))
    encoder = NetworkEncoder(PositionsNetwork(), tokenizer, dim=3, window=20, names=head)
    words = [str(n) for n in range(1000, 1000 + n_words)]
    found = encoder.encode_types({"xo": " ".join(words)}).vectors[0]
    tokens = [5, 5, *(token for ids in split_numbers(words) for token in ids)]  # "xo", ":"
    np.testing.assert_allclose(found[0], np.mean(tokens), rtol=1e-6)
    assert found[1] <= 20


def test_windows_of_an_exported_encoder(encoder):
    # The halves do not fit into one window of 64 tokens together, but each does alone.
    half = " ".join(TEXT)
    n_tokens = sum(map(len, encoder.tokenizer(to_sentence(half).words)))
    assert encoder.window / 2 < n_tokens
    whole = encoder.encode_types({"x": f"{half} {half}"}).vectors
    assert np.isfinite(whole).all()
    assert not np.array_equal(whole, encoder.encode_types({"x": half}).vectors)
    assert np.array_equal(whole, encoder.encode_types({"y": "", "x": f"{half} {half}"}).vectors[1:])


def test_an_export_gives_the_same_vectors(exports):
    expected = load(exports["transformers"], precision="float32").encode_types(TYPES)
    found = load(exports["float32"]).encode_types(TYPES)
    np.testing.assert_allclose(found.vectors, expected.vectors, rtol=0, atol=1e-4)
    np.testing.assert_allclose(found.biases, expected.biases, rtol=1e-5, atol=1e-4)
    assert (exports["float32"] / NAMES_FILE).read_bytes() == (exports["transformers"] / NAMES_FILE).read_bytes()
    small = load(exports["int8"]).encode_types(TYPES)
    a, b = expected.vectors, small.vectors
    assert ((a * b).sum(1) / np.linalg.norm(a, axis=1) / np.linalg.norm(b, axis=1)).min() > 0.99
    assert np.array_equal(small.o_vectors, expected.o_vectors)


def test_an_encoder_without_a_head_says_so(source, exported, named):
    for folder in (source("mpnet"), exported("mpnet")):
        encoder = load(folder)
        assert encoder.has_names is False
        with pytest.raises(EncoderError, match=r"does not read the names of types.*; take encoder=") as error:
            encoder.encode_types(["LOC"])
        assert str(folder) in str(error.value)
        assert "--encoder handful-en" in error.value.for_shell
    assert json.loads((exported("mpnet") / "encoder.json").read_text())["names"] is False
    assert not (exported("mpnet") / NAMES_FILE).exists()


def test_the_card_says_whether_there_are_names(exports, tmp_path):
    folder = shutil.copytree(exports["float32"], tmp_path / "encoder")
    card = json.loads((folder / "encoder.json").read_text())
    assert card["names"] is True
    expected = load(folder).fingerprint

    def write(**other):
        changed = {key: value for key, value in (card | other).items() if value != "left out"}
        (folder / "encoder.json").write_text(json.dumps(changed))

    for without in ("left out", None):  # the file decides
        write(names=without)
        assert (load(folder).has_names, load(folder).fingerprint) == (True, expected)
    write(names=False)
    assert not load(folder).has_names
    write(names="yes")
    with pytest.raises(EncoderError, match=r"encoder.json: names is 'yes', expected True or False"):
        load(folder)
    (folder / NAMES_FILE).unlink()
    write()
    with pytest.raises(EncoderError, match=r"broken encoder: .*names.safetensors is missing"):
        load(folder)
    write(names="left out")
    assert not load(folder).has_names


def test_a_head_that_does_not_fit_is_told(source, exports, tmp_path):
    head = random_head(31)
    folder = with_head(source("bert"), tmp_path / "a", head)
    exported = shutil.copytree(exports["float32"], tmp_path / "b")
    head.save(exported / NAMES_FILE)
    message = r"names.safetensors: it is for vectors of 31 numbers, but the encoder gives 32"
    for place in (folder, exported):
        with pytest.raises(EncoderError, match=message):
            load(place)
    with pytest.raises(EncoderError, match=message):
        export_encoder(folder, tmp_path / "c")
    assert not (tmp_path / "c").exists()


def test_a_head_is_not_taken_for_the_weights(named, tmp_path):
    folder = shutil.copytree(named, tmp_path / "encoder")
    (folder / "model.safetensors").unlink()
    with pytest.raises(EncoderError, match=r"model\.safetensors missing"):
        load(folder)


@pytest.mark.parametrize("kind", ["transformers", "float32"])
def test_the_fingerprint_follows_the_head(exports, tmp_path, kind):
    prints = [load(exports[kind]).fingerprint]
    for seed in (0, 1):
        folder = shutil.copytree(exports[kind], tmp_path / str(seed))
        random_head(seed=seed).save(folder / NAMES_FILE)
        prints.append(load(folder).fingerprint)
    assert prints[0] == prints[1] != prints[2]
    assert np.array_equal(load(folder).encode([["a"]]), load(exports[kind]).encode([["a"]]))


def test_the_fingerprint_without_a_head_is_as_before_there_were_heads(exported):
    encoder = load(exported("bert"))
    parts = [b"handful features 1", encoder.network.identity(), encoder.tokenizer.content, b"first-last", b"64"]
    expected = hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()
    assert encoder.fingerprint == expected


@pytest.mark.parametrize("copied", [lambda e: pickle.loads(pickle.dumps(e)), copy.copy, copy.deepcopy])
def test_copies_read_names(encoder, copied):
    expected = encoder.encode_types(TYPES)
    again = copied(encoder)
    assert again.has_names
    assert same(again.encode_types(TYPES), expected)


def test_a_copy_is_small_and_notices_another_head(exports, tmp_path):
    folder = shutil.copytree(exports["float32"], tmp_path / "encoder")
    state = pickle.dumps(load(folder))
    assert len(state) < 2000
    random_head(seed=1).save(folder / NAMES_FILE)
    with pytest.raises(ModelError, match="no longer the one"):
        pickle.loads(state).encode_types(["LOC"])


def test_vectors_of_types_can_be_pickled(encoder):
    expected = encoder.encode_types(TYPES)
    again = pickle.loads(pickle.dumps(expected))
    assert again.types == expected.types
    assert same(again, expected)


class Bare:
    dim, fingerprint = 3, "x"

    def encode(self, sentences, *, progress=None):
        return np.zeros((sum(map(len, sentences)), 3), np.float32)


def test_a_cache_passes_names_through(exports, exported, tmp_path):
    cache = FeatureCache(tmp_path)
    encoder = load(exports["float32"])
    cached = CachedEncoder(encoder, cache)
    assert cached.has_names
    assert same(cached.encode_types(TYPES), encoder.encode_types(TYPES))
    for without in (load(exported("mpnet")), open_encoder(Bare())):
        cached = CachedEncoder(without, cache)
        assert cached.has_names is False
        with pytest.raises(EncoderError, match="does not read the names of types"):
            cached.encode_types(TYPES)


def test_vectors_whose_squares_overflow_are_an_error(encoder, monkeypatch):
    monkeypatch.setattr(NetworkEncoder, "_text_mean", lambda self, words: np.full(32, 1e30))
    with pytest.raises(EncoderError, match="not finite: its weights are damaged or overflow"):
        encoder.encode_types(TYPES)


def test_what_a_description_excludes_is_read_by_itself(source, tmp_path):
    head = NameHead(**{**vars(random_head()), "exclusion": 0.5})
    reads = load(with_head(source("mpnet"), tmp_path / "parts", head))
    whole = load(with_head(source("mpnet"), tmp_path / "whole"))
    one = EntityType("FEE", "a sum of money, without dots; not postage or tips")
    x = np.random.default_rng(1).normal(size=(20, 32)).astype(np.float32)

    def score(text):  # of a text that is read as it is
        vector = by_torch(head, [whole._text_mean(to_sentence(text).words)])[0].astype(np.float64)
        return x @ vector - 0.5 * vector @ vector + head.beta

    own, excluded = score("fee: a sum of money, without dots"), np.logaddexp(score("postage"), score("tips")) + 0.5
    found = reads.encode_types([EntityType("LOC"), one, EntityType("PER", "a person")])
    np.testing.assert_allclose(found.scores(x)[:, 2], own - np.log1p(np.exp(excluded - own)), rtol=1e-4, atol=1e-4)
    assert found.excluded.owners.tolist() == [1, 1]
    # it depends on the type's own text alone, and bare types exclude nothing
    alone = reads.encode_types([one])
    np.testing.assert_array_equal(alone.vectors[0], found.vectors[1])
    np.testing.assert_array_equal(alone.excluded.vectors, found.excluded.vectors)
    assert reads.encode_types([EntityType("LOC")]).excluded is None
    # a head without exclusion reads the description as it is
    assert whole.encode_types([one]).excluded is None
    as_it_is = score(f"fee: {one.description}")
    np.testing.assert_allclose(whole.encode_types([one]).scores(x)[:, 1], as_it_is, rtol=1e-4, atol=1e-4)
    assert NameHead.load(tmp_path / "parts" / NAMES_FILE).exclusion == 0.5
    assert head.identity() != random_head().identity()
