import hashlib
import json
import random
import shutil
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from made import card_of, make_encoder, write_conll
from safetensors.torch import load_file

from handful.encoders import export_encoder, load
from handful.encoders.card import count_seen
from handful.errors import DataError, EncoderError, FileError
from handful.text import Transitions, read
from handful.training import Recipe, pretrain
from handful.training.corpora import io_tags, read_corpora

QUICK = {"epochs": 4, "batch_tokens": 200, "lr": 3e-3, "head_lr": 3e-3}


def assert_same_weights(first, second):
    assert {path.name for path in first.iterdir()} == {path.name for path in second.iterdir()}
    for file in first.glob("*.safetensors"):  # the encoder, shapes of words, the head that reads names
        one, other = load_file(file), load_file(second / file.name)
        assert one.keys() == other.keys()
        assert all(torch.equal(one[name], other[name]) for name in one)


@pytest.fixture
def trained(people, things, encoder, tmp_path):
    reports = []
    recipe = Recipe(**QUICK, hold_out=0.2, weights={"things": 1.5}, seed=7)
    card = pretrain(
        [people, things],
        encoder=encoder,
        out=tmp_path / "out",
        recipe=recipe,
        licence="CC BY 4.0",
        origin="made up",
        command="handful pretrain people.txt",
        progress=reports.append,
    )
    return tmp_path / "out", card, reports


def test_it_learns_and_writes_what_others_read(trained, people, things, encoder, tmp_path):
    from transformers import AutoModel, AutoTokenizer

    out, card, reports = trained
    losses = [epoch["loss"] for epoch in card["training"]["epochs"]]
    trained_on = [sentence for path in (people, things) for sentence in read(path)]
    n_held_out = sum(corpus["dev"]["sentences"] for corpus in card["corpora"])
    assert 0 < n_held_out < count_seen(load(out), trained_on) == len(trained_on) - n_held_out
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] / 4
    # No name of the dev sentences was seen in training; guessing by chance gives at best a few per cent.
    last = card["training"]["epochs"][-1]["dev"]
    assert set(last) == {"people", "things"}
    assert all(scores["f1"] > 0.8 for scores in last.values())
    assert {*(report.epoch for report in reports)} == {1, 2, 3, 4}
    assert reports[-1].dev == last
    assert all(report.words_per_second > 0 for report in reports)
    assert [path.name for path in tmp_path.iterdir() if "out" in path.name] == ["out"]

    model, tokenizer = AutoModel.from_pretrained(out), AutoTokenizer.from_pretrained(out)
    assert tokenizer.tokenize("kason") == ["ka", "##son"]
    base = AutoModel.from_pretrained(encoder)
    assert not torch.equal(model.encoder.layer[0].output.dense.weight, base.encoder.layer[0].output.dense.weight)
    words = [["kason", "sees", "tomiville"]]
    vectors = load(out, precision="float32").encode(words)
    export_encoder(out, tmp_path / "exported")
    np.testing.assert_allclose(load(tmp_path / "exported").encode(words), vectors, atol=1e-4)


def test_the_card_says_everything(trained, people, things, encoder):
    out, card, _ = trained
    assert card == card_of(out)
    assert card["command"] == "handful pretrain people.txt"
    assert (card["licence"], card["origin"]) == ("CC BY 4.0", "made up")
    first, second = card["corpora"]
    assert (first["name"], first["types"]) == ("people", ["LOC", "PER"])
    assert (second["name"], second["types"]) == ("things", ["DRUG", "GENE", "LOC"])
    assert first["train"]["sentences"] + first["dev"]["sentences"] == 200
    assert first["files"][0]["sha256"] == hashlib.sha256(Path(people).read_bytes()).hexdigest()
    assert card["recipe"]["seed"] == 7
    assert (card["base"]["layers"], card["base"]["layers_kept"]) == (2, 2)
    assert set(card["versions"]) == {"handful", "python", "torch", "transformers"}
    assert len(card["training"]["epochs"]) == 4


def test_the_card_has_the_transitions_of_the_training_sentences(people, encoder, tmp_path):
    recipe = Recipe(epochs=1, hold_out=0.3, rename={"LOC": "PER"})
    card = pretrain([people], encoder=encoder, out=tmp_path / "out", recipe=recipe)
    (corpus,) = read_corpora([people], rename={"LOC": "PER"}, hold_out=0.3)
    # Counted here by pairs of tags; every count starts at one.
    tags = [io_tags([sentence], ["PER"]) for sentence in corpus.train]
    pairs = [pair for each in tags for pair in pairwise(each)]
    starts = [each[0] for each in tags]
    after_o, after_type = ([after for before, after in pairs if before == tag] for tag in (0, 1))
    assert Transitions.from_dict(card["transitions"]) == Transitions(
        (starts.count(1) + 1) / (len(starts) + 2),
        (after_o.count(1) + 1) / (len(after_o) + 2),
        (after_type.count(0) + 1) / (len(after_type) + 3),
        1 / (len(after_type) + 3),
    )


def test_a_training_that_is_interrupted_leaves_nothing(people, encoder, tmp_path):
    def interrupt(report):
        if report.epoch == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pretrain([people], encoder=encoder, out=tmp_path / "new" / "out", recipe=Recipe(**QUICK), progress=interrupt)
    assert not any((tmp_path / "new").rglob("*"))


def test_the_seed_decides_the_weights_and_the_callers_chance_is_left_alone(people, encoder, tmp_path):
    torch.manual_seed(11)
    expected = torch.rand(3)
    torch.manual_seed(11)
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        recipe = Recipe(epochs=1, seed=seed, shapes=True)
        pretrain([people], encoder=encoder, out=tmp_path / name, recipe=recipe)
    assert torch.equal(torch.rand(3), expected)
    assert_same_weights(tmp_path / "a", tmp_path / "b")
    with pytest.raises(AssertionError):
        assert_same_weights(tmp_path / "a", tmp_path / "c")


def test_layers_are_cut(people, encoder, tmp_path):
    recipe = Recipe(**QUICK, hold_out=0.2, layers=1)
    card = pretrain([people], encoder=encoder, out=tmp_path / "out", recipe=recipe)
    assert card["training"]["epochs"][-1]["dev"]["people"]["f1"] > 0.8
    assert json.loads((tmp_path / "out" / "config.json").read_text())["num_hidden_layers"] == 1
    assert (card["base"]["layers"], card["base"]["layers_kept"]) == (2, 1)


def test_o_words_that_count_less_are_tagged_more_freely(people, encoder, tmp_path):
    def precision(o_weight):
        weights = {"people": o_weight}
        recipe = Recipe(epochs=1, batch_tokens=200, lr=1e-3, hold_out=0.3, o_weights=weights)
        out = tmp_path / f"out{o_weight}"
        card = pretrain([people], encoder=encoder, out=out, recipe=recipe)
        return card["training"]["epochs"][0]["dev"]["people"]["precision"]

    assert precision(0.02) < precision(1) / 2


@pytest.mark.parametrize("kind", ["roberta", "mpnet", "distilbert"])
def test_other_architectures_train(kind, people, tmp_path):
    folder = make_encoder(tmp_path / kind, kind)
    card = pretrain([people], encoder=folder, out=tmp_path / "out", recipe=Recipe(epochs=2, batch_tokens=200, lr=2e-3))
    first, second = (epoch["loss"] for epoch in card["training"]["epochs"])
    assert second < 0.7 * first
    assert load(tmp_path / "out").dim == 32


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"recipe": Recipe(weights={"x": 2.0})}, DataError, "weights names no corpus: x"),
        ({"recipe": Recipe(o_weights={"x": 2.0})}, DataError, "o_weights names no corpus: x"),
        ({"recipe": Recipe(weights={"people": 1e-6})}, DataError, "leave no sentence"),
        ({"recipe": Recipe(layers=9)}, EncoderError, "layers is 9, expected 1 to 2"),
        ({"encoder": "./nowhere"}, EncoderError, "nowhere"),
        ({"device": "toaster"}, DataError, "expected cpu or cuda"),
        ({"device": "meta"}, DataError, "expected cpu or cuda"),
    ],
)
def test_what_cannot_be_trained_is_an_error_before_training(options, error, message, people, encoder, tmp_path):
    def never(report):
        raise AssertionError("training started")

    options = {"encoder": encoder, **options}
    with pytest.raises(error, match=message):
        pretrain([people], out=tmp_path / "out", progress=never, **options)
    assert not (tmp_path / "out").exists()


def test_places_that_cannot_be_written_are_errors(people, encoder, tmp_path):
    with pytest.raises(FileError, match="is a file"):
        pretrain([people], encoder=encoder, out=people)
    with pytest.raises(FileError, match="files in it"):
        pretrain([people], encoder=encoder, out=tmp_path)
    with pytest.raises(FileError, match="cannot be written"):
        pretrain([people], encoder=encoder, out=Path(people) / "a" / "b")
    with pytest.raises(FileError, match="the name of a new folder"):
        pretrain([people], encoder=encoder, out=".")


def test_a_loss_that_is_not_finite_is_an_error(people, encoder, tmp_path):
    with pytest.raises(EncoderError, match="too high"):
        pretrain([people], encoder=encoder, out=tmp_path / "out", recipe=Recipe(lr=1e30, head_lr=1e30))


@pytest.mark.parametrize(
    "wrong",
    [
        {"epochs": 0},
        {"batch_tokens": 1.5},
        {"batch_tokens": 0},
        {"name_only": 0.6, "description_only": 0.6},
        {"negatives": 1.0},
        {"contrast": -0.1},
        {"lr": -1.0},
        {"lr": float("nan")},
        {"hold_out": 1.0},
        {"seed": -1},
        {"layers": 0},
        {"weights": {"a": 0}},
        {"weights": 2},
        {"rename": "LOC"},
    ],
    ids=str,
)
def test_recipes_are_checked(wrong):
    with pytest.raises(DataError, match=next(iter(wrong))):
        Recipe(**wrong)


def test_shapes_teach_an_uncased_encoder_what_capitals_mean(encoder, tmp_path):
    uncased = tmp_path / "uncased"
    shutil.copytree(encoder, uncased)
    tokenizer = json.loads((uncased / "tokenizer.json").read_text())
    tokenizer["normalizer"] = {"type": "Lowercase"}
    (uncased / "tokenizer.json").write_text(json.dumps(tokenizer))
    rng = random.Random(3)
    sentences = [
        [
            (word.title(), "B-PER") if i % 2 == 0 and rng.random() < 0.4 else (word, "O")
            for i, word in enumerate(["kato", "the", "mire", "by", "suno"])
        ]
        for _ in range(200)
    ]
    corpus = write_conll(tmp_path / "case.txt", sentences)
    f1 = {}
    for shapes in (False, True):
        out = tmp_path / f"out{shapes}"
        recipe = Recipe(**QUICK, hold_out=0.2, shapes=shapes)
        card = pretrain([corpus], encoder=uncased, out=out, recipe=recipe)
        f1[shapes] = card["training"]["epochs"][-1]["dev"]["case"]["f1"]
        vectors = load(out).encode([["Kato"], ["kato"]])
        assert (np.abs(vectors[0] - vectors[1]).max() > 0.1) == shapes
        assert card["recipe"]["shapes"] == shapes
        assert transformers.AutoModel.from_pretrained(out).config.hidden_size == 32
    assert f1[True] > 0.95
    assert f1[False] < 0.9  # the same tags whatever the case
