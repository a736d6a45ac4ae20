"""Training with names: types that were never trained on, what is written, folders of small corpora."""

import json
import random

import numpy as np
import pytest
import torch
from made import MARKS, card_of, make_corpus, make_encoder, write_conll, write_marked

from handful.encoders import export_encoder, load
from handful.errors import DataError, FileError
from handful.evaluate import score
from handful.text import EntityType, from_tags, read
from handful.training import Recipe, TrainingState, pretrain
from handful.training.corpora import read_corpora

QUICK = {"batch_tokens": 1024, "lr": 3e-3, "head_lr": 3e-3}


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Thirty small corpora, and three whose types have endings that none of the thirty has."""
    folder = tmp_path_factory.mktemp("small")
    rng = random.Random(0)
    marks = rng.sample(MARKS, len(MARKS))
    for name, n, own in (("train", 30, marks[:18]), ("new", 3, marks[18:])):
        (folder / name).mkdir()
        for i in range(n):
            write_marked(folder / name / f"{name}{i}.txt", rng, own)
    return folder


@pytest.fixture(scope="module")
def trained(small, tmp_path_factory):
    place = tmp_path_factory.mktemp("trained")
    encoder = make_encoder(place / "bert", "bert", dropout=0.0)
    recipe = Recipe(epochs=3, **QUICK, name_only=0, description_only=0.2, weights={"small": 1.5, "small/train3": 0.5})
    card = pretrain(
        [f"small={small / 'train'}"],
        dev=[f"new={small / 'new'}"],
        encoder=encoder,
        out=place / "out",
        recipe=recipe,
    )
    return place / "out", card


def test_it_finds_types_that_it_reads_for_the_first_time(trained):
    _, card = trained
    figures = card["training"]["epochs"][-1]["dev"]
    assert set(figures) == {f"new/new{i}" for i in range(3)}
    # About half of the words with endings are O: by chance, or without reading, precision is below a third.
    assert min(scores["f1"] for scores in figures.values()) > 0.8


def test_descriptions_make_the_difference(trained, small):
    encoder = load(trained[0])
    right, swapped = [], []
    for path in sorted((small / "new").iterdir()):
        corpus = read(path)
        first, second = corpus.types
        mixed = [EntityType("T0", second.description), EntityType("T1", first.description)]
        right.append(f1_by_names(encoder, corpus, corpus.types))
        swapped.append(f1_by_names(encoder, corpus, mixed))
    assert np.mean(right) > 0.8
    assert np.mean(swapped) < 0.1


def f1_by_names(encoder, corpus, types):
    scores = encoder.encode_types(types).scores(encoder.encode(list(corpus)))
    tags = np.array(["O", *(one.name for one in types)], object)[scores.argmax(1)].tolist()
    found, start = [], 0
    for sentence in corpus:
        found.append(from_tags(sentence.words, tags[start : start + len(sentence.words)], "types"))
        start += len(sentence.words)
    return score(list(corpus), found).micro.f1


def test_the_written_head_gives_the_figures_of_the_card(trained, small, tmp_path):
    out, card = trained
    export_encoder(out, tmp_path / "exported")
    encoder, exported = load(out, precision="float32"), load(tmp_path / "exported")
    assert encoder.has_names
    for i in range(3):
        corpus = read(small / "new" / f"new{i}.txt")
        wanted = card["training"]["epochs"][-1]["dev"][f"new/new{i}"]["f1"]
        assert round(f1_by_names(encoder, corpus, corpus.types), 4) == wanted
        scores = [each.encode_types(corpus.types).scores(each.encode(list(corpus))) for each in (encoder, exported)]
        np.testing.assert_allclose(*scores, atol=2e-3)


def test_the_card_has_corpora_descriptions_and_groups(trained):
    out, card = trained
    assert card == card_of(out)
    names = [corpus["name"] for corpus in card["corpora"]]
    assert names[:30] == sorted(f"small/train{i}" for i in range(30))
    assert set(card["corpora"][0]["descriptions"]) == {"T0", "T1"}
    assert card["corpora"][-1]["train"]["sentences"] == 0
    assert json.loads(json.dumps(card)) == card
    dev = card["training"]["epochs"][-1]["dev"]
    mean = 100 * sum(scores["f1"] for scores in dev.values()) / 3
    state = TrainingState(3, 3, 9, 9, 0.1, 1.0, {**dev, "web/news": {"f1": 0.5}})
    assert str(state).endswith(f"dev F1: new (3 corpora) {mean:.1f} · web/news 50.0")


def test_a_tiny_training_is_the_same_on_the_written_seed(small, encoder, tmp_path):
    recipe = Recipe(epochs=1, **QUICK, seed=3)
    for name in ("a", "b"):
        pretrain([f"small={small / 'new'}"], encoder=encoder, out=tmp_path / name, recipe=recipe)
    for file in ("names.safetensors", "model.safetensors"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


def test_folders_of_small_corpora_are_groups(small):
    corpora = read_corpora([f"a={small / 'new'}", str(small / "new")])
    assert [corpus.name for corpus in corpora] == [f"{group}/new{i}" for group in ("a", "new") for i in range(3)]
    assert all(corpus.types[0].description for corpus in corpora)
    with pytest.raises(DataError, match="two corpora would be called 'new/new0'"):
        read_corpora([small / "new", small / "new"])
    doubled = read_corpora([f"a={small / 'new'}", f"a={small / 'new'}"])
    assert len(doubled) == 3
    assert len(doubled[0].train) == 2 * len(corpora[0].train)


def test_a_folder_with_anything_else_is_not_a_group(small, tmp_path):
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "a.txt").write_text((small / "new" / "new0.txt").read_text())
    (folder / ".hidden").write_text("")
    assert [corpus.name for corpus in read_corpora([folder])] == ["mixed/a"]
    (folder / "README.md").write_text("# Corpora\n")
    with pytest.raises(FileError, match=r"no train\.txt"):
        read_corpora([folder])
    (folder / "README.md").unlink()
    write_conll(folder / "b.txt", make_corpus(random.Random(0), 3, ["PER"]))
    with pytest.raises(FileError, match=r"no train.txt \(it has .hidden, a.txt, b.txt\)"):
        read_corpora([folder])


def test_a_file_describes_types_of_corpora(people, things, tmp_path):
    file = tmp_path / "types"
    file.write_text(
        "# for all\nLOC: a place\n\n[people]\nPER = human being : who  walks\n[other]\nX: y\n"
        "[things]\nLOC: near: here\n"
    )
    first, second = read_corpora([f"web/people={people}", things], types=file)
    assert first.types == (EntityType("LOC", "a place"), EntityType("PER", "who walks"))
    assert second.types == (EntityType("DRUG"), EntityType("GENE"), EntityType("LOC", "near: here"))
    assert (first.called, second.called) == ({"PER": "human being"}, {})
    assert first.summary()["called"] == {"PER": "human being"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[people]\nPERS: who\n", "people has no type PERS that is described; types are LOC, PER"),
        ("PER who\n", "types:1: found 'PER who', expected TYPE: description"),
        ("PER: who\nPER: what\n", "types:2: the type PER is described twice"),
        ("O: nothing\n", "types:1: a type cannot be called 'O'"),
        ("# only a remark\n", "there is no type in it"),
    ],
)
def test_bad_files_of_descriptions_are_errors(people, tmp_path, text, message):
    (tmp_path / "types").write_text(text)
    with pytest.raises(DataError, match=message):
        read_corpora([people], types=tmp_path / "types")
    with pytest.raises(FileError, match="cannot be read"):
        read_corpora([people], types=tmp_path / "none")


def test_shifts_of_corpora_and_the_scale_are_trained(small, encoder):
    from handful.training.prepare import prepare

    recipe = Recipe(**QUICK, contrast=0.1)
    training = prepare(read_corpora([small / "new"]), encoder, recipe, "cpu").training
    from handful.training.batches import on_device

    before = {name: one.detach().clone() for name, one in training.network.named_parameters()}
    training.network.train()
    step = on_device(training._builder.build(training._plan(0)[0]), torch.device("cpu"))
    training._stepper.take(0, lambda: training.network.loss(step))
    same = {name for name, one in training.network.named_parameters() if torch.equal(one, before[name])}
    # the made types exclude nothing, so nothing is learned of that
    assert {name for name in same if not name.startswith("encoder.")} == {"head.exclusion"}
