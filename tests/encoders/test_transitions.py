"""An encoder says how tags follow each other in the text that it was trained on."""

import json
import shutil

import pytest

from handful.encoders import export_encoder, load
from handful.encoders.card import Card
from handful.errors import EncoderError
from handful.text import Transitions

CHANCES = {"start_type": 0.1, "o_type": 0.2, "type_o": 0.3, "type_other": 0.4}


def test_the_embedded_encoder_has_those_of_its_training():
    assert load("handful-en").transitions == Transitions(0.221, 0.109, 0.508, 0.017)


def test_a_card_may_have_them_and_vectors_do_not_depend_on_them(exported, tmp_path):
    folder = shutil.copytree(exported("bert"), tmp_path / "encoder")
    card = json.loads((folder / "encoder.json").read_text())
    del card["transitions"]
    (folder / "encoder.json").write_text(json.dumps(card))
    without = load(folder)
    assert without.transitions is None
    (folder / "encoder.json").write_text(json.dumps(card | {"transitions": CHANCES}))
    assert load(folder).transitions == Transitions(**CHANCES)
    assert load(folder).fingerprint == without.fingerprint
    read = Card.read(folder / "encoder.json")
    assert json.loads(read.to_json())["transitions"] == CHANCES


def test_training_notes_them_and_an_export_takes_them_over(source, tmp_path):
    trained = shutil.copytree(source("bert"), tmp_path / "trained")
    assert load(trained).transitions is None
    (trained / "handful.json").write_text(json.dumps({"recipe": {}}))
    assert load(trained).transitions is None
    (trained / "handful.json").write_text(json.dumps({"recipe": {}, "transitions": CHANCES}))
    assert load(trained).transitions == Transitions(**CHANCES)
    assert load(trained).fingerprint == load(source("bert")).fingerprint
    assert export_encoder(trained, tmp_path / "out").transitions == Transitions(**CHANCES)
    assert load(tmp_path / "out").transitions == Transitions(**CHANCES)


@pytest.mark.parametrize("wrong", [{"o_type": 0.5}, CHANCES | {"o_type": 2}, [0.1, 0.2, 0.3, 0.4], "no"])
def test_wrong_ones_are_told_with_their_file(source, exported, tmp_path, wrong):
    trained = shutil.copytree(source("bert"), tmp_path / "trained")
    (trained / "handful.json").write_text(json.dumps({"transitions": wrong}))
    with pytest.raises(EncoderError, match=r"handful\.json: transitions"):
        load(trained)
    folder = shutil.copytree(exported("bert"), tmp_path / "encoder")
    card = json.loads((folder / "encoder.json").read_text())
    (folder / "encoder.json").write_text(json.dumps(card | {"transitions": wrong}))
    with pytest.raises(EncoderError, match=r"encoder\.json: transitions"):
        load(folder)


def test_a_broken_note_of_the_training_is_told(source, tmp_path):
    trained = shutil.copytree(source("bert"), tmp_path / "trained")
    (trained / "handful.json").write_text("{")
    with pytest.raises(EncoderError, match=r"handful\.json is not JSON"):
        load(trained)
