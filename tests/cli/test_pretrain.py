import json
import random
import sys
from dataclasses import asdict
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))

from made import make_corpus, make_encoder, write_conll

from handful.cli import main
from handful.cli.commands import make_app
from handful.training import Recipe

app = make_app()


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_encoder(tmp_path / "base", "bert")
    write_conll(tmp_path / "people.txt", make_corpus(random.Random(1), 100, ["PER", "LOC"]))
    write_conll(tmp_path / "dev.txt", make_corpus(random.Random(2), 20, ["PER"]))
    return tmp_path


def run(*arguments, monkeypatch=None):
    if monkeypatch is not None:
        monkeypatch.setattr(sys, "argv", ["handful", "pretrain", *arguments])
    return CliRunner().invoke(app, ["pretrain", *arguments], catch_exceptions=False)


def test_it_trains_with_the_recipes_defaults(place, monkeypatch):
    arguments = ["people.txt", "--dev", "dev.txt", "--encoder", "base", "--out", "out"]
    result = run(*arguments, "--origin", "made up", monkeypatch=monkeypatch)
    assert result.exit_code == 0
    assert "people: dev F1" in result.stdout
    assert "wrote out (loss" in result.stdout
    card = json.loads((place / "out" / "handful.json").read_text())
    assert card["command"] == f"handful pretrain {' '.join(arguments)} --origin 'made up'"
    plain = asdict(Recipe())
    assert {name: card["recipe"][name] for name in plain} == plain


def test_the_cards_command_does_the_same_again(place, monkeypatch):
    (place / "recipe.toml").write_text(
        "layers = 1\nepochs = 1\nbatch_tokens = 256\nlr = 1e-4\nhead_lr = 2e-3\nwarmup = 0.1\nparts = false\n"
        "weights = {a = 0.5}\no_weights = {a = 0.3}\nhold_out = 0.1\nseed = 3\n"
    )
    (place / "types.txt").write_text("[a]\nPER: who walks\n")
    options = ["--recipe", "recipe.toml", "--types", "types.txt"]
    first = run("a=people.txt", "--encoder", "base", "--out", "one", *options, monkeypatch=monkeypatch)
    assert first.exit_code == 0
    card = json.loads((place / "one" / "handful.json").read_text())
    assert (card["recipe"]["parts"], card["recipe"]["weights"], card["recipe"]["seed"]) == (False, {"a": 0.5}, 3)
    command = card["command"].replace("--out one", "--out two").split()
    assert command[:2] == ["handful", "pretrain"]
    assert run(*command[2:]).exit_code == 0
    again = json.loads((place / "two" / "handful.json").read_text())
    assert {**again, "command": None} == {**card, "command": None}
    assert (place / "one" / "model.safetensors").read_bytes() == (place / "two" / "model.safetensors").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "recipe", "message"),
    [
        (["none.txt"], "", "none.txt: there is no such file"),
        (["people.txt", "--types", "none.txt"], "", "none.txt: cannot be read"),
        (["people.txt"], 'rename = {GENE = "gene"}', "no corpus has the type GENE"),
        (["people.txt"], "weights = {people = 0}", "weights of people is 0"),
        (["people.txt"], "weights = {x = 2}", "weights names no corpus: x"),
        (["people.txt"], "name_only = 0.8\ndescription_only = 0.4", "whose sum is at most 1"),
        (["people.txt"], "o_weights = {people = -1}", "expected a number of at least 0 for each name"),
        (["people.txt"], "parts = 2", "r.toml: parts is 2, expected True or False"),
        (["people.txt"], "hold-out = 0.1", "r.toml: there is no setting 'hold-out'; did you mean 'hold_out'?"),
    ],
)
def test_errors_are_one_message(place, arguments, recipe, message, monkeypatch, capsys):
    (place / "r.toml").write_text(recipe)
    arguments = [*arguments, "--encoder", "base", "--out", "out", "--recipe", "r.toml"]
    monkeypatch.setattr(sys, "argv", ["handful", "pretrain", *arguments])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert message in printed.err
    assert "Traceback" not in printed.err
