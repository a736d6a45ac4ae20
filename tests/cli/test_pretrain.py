import json
import os
import random
import signal
import sys
import threading
import time
from dataclasses import fields
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


CARD = {"training": {"kept_epoch": 1, "epochs": [{"loss": 0.0, "dev": {}}]}}


def run(*arguments, monkeypatch=None):
    if monkeypatch is not None:
        monkeypatch.setattr(sys, "argv", ["handful", "pretrain", *arguments])
    return CliRunner().invoke(app, ["pretrain", *arguments], catch_exceptions=False)


def test_it_trains_with_the_recipes_defaults(place, monkeypatch):
    arguments = ["people.txt", "--dev", "dev.txt", "--encoder", "base", "--out", "out"]
    result = run(*arguments, "--origin", "made up", monkeypatch=monkeypatch)
    assert result.exit_code == 0
    assert "people: dev F1" in result.stdout
    assert "wrote out (epoch 3, loss" in result.stdout
    card = json.loads((place / "out" / "handful.json").read_text())
    assert card["command"] == f"handful pretrain {' '.join(arguments)} --origin 'made up'"
    plain = Recipe().to_dict()
    assert {name: card["recipe"][name] for name in plain} == plain


def test_the_cards_command_does_the_same_again(place, monkeypatch):
    options = "--layers 1 --hide LOC --epochs 1 --batch-tokens 256 --lr 1e-4 --head-lr 2e-3 --warmup 0.1"
    options += " --head linear --dropout 0.2 --weight a=0.5 --o-weight a=0.3 --hold-out 0.1 --average 0.5"
    options += " --keep best --seed 3 --types types.txt"
    (place / "types.txt").write_text("[a]\nPER: who walks\n")
    first = run("a=people.txt", "--encoder", "base", "--out", "one", *options.split(), monkeypatch=monkeypatch)
    assert first.exit_code == 0
    card = json.loads((place / "one" / "handful.json").read_text())
    command = card["command"].replace("--out one", "--out two").split()
    assert command[:2] == ["handful", "pretrain"]
    assert run(*command[2:]).exit_code == 0
    again = json.loads((place / "two" / "handful.json").read_text())
    assert {**again, "command": None} == {**card, "command": None}
    assert (place / "one" / "model.safetensors").read_bytes() == (place / "two" / "model.safetensors").read_bytes()


def test_every_setting_of_the_recipe_is_an_option_that_reaches_it(place, monkeypatch):
    given = {
        "layers": 1, "shapes": True, "hide": ("LOC", "PER"), "epochs": 2, "batch_tokens": 64, "lr": 1e-4,
        "head_lr": 2e-3, "warmup": 0.1, "head": "linear", "name_only": 0.1, "description_only": 0.2,
        "negatives": 0.3, "contrast": 0.4, "dropout": 0.2, "weights": {"a": 0.5, "b": 2.0},
        "o_weights": {"a": 0.3}, "hold_out": 0.1, "average": 0.5, "keep": "best", "seed": 3,
        "rename": {"PER": "who"},
    }  # fmt: skip
    options = "--layers 1 --shapes --hide LOC,PER --epochs 2 --batch-tokens 64 --lr 1e-4 --head-lr 2e-3"
    options += " --name-only 0.1 --description-only 0.2 --negatives 0.3 --contrast 0.4"
    options += " --warmup 0.1 --head linear --dropout 0.2 --weight a=0.5 --weight b=2 --o-weight a=0.3 --hold-out 0.1"
    options += " --average 0.5 --keep best --seed 3 --rename PER=who"
    found = {}
    monkeypatch.setattr("handful.training.pretrain", lambda corpora, **options: found.update(options) or CARD)
    assert run("people.txt", "--encoder", "base", "--out", "out", *options.split()).exit_code == 0
    assert {each.name for each in fields(Recipe)} == given.keys()
    assert found["recipe"] == Recipe(**given)


def test_ctrl_c_leaves_a_checkpoint_and_one_line(place):
    default = signal.getsignal(signal.SIGINT)

    def press():
        while signal.getsignal(signal.SIGINT) is default:  # training takes the signal when it begins
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    presser = threading.Thread(target=press, daemon=True)
    presser.start()
    result = run("people.txt", "--encoder", "base", "--out", "out", "--epochs", "2000")
    presser.join()
    assert result.exit_code == 130
    assert result.stderr.startswith("stopped after step ")
    assert result.stderr.count("\n") == 1
    assert (place / "out.checkpoint").is_file()
    assert not (place / "out").exists()
    assert signal.getsignal(signal.SIGINT) is default


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none.txt"], "none.txt: there is no such file"),
        (["people.txt", "--hide", "GENE,"], "no corpus has the type GENE"),
        (["people.txt", "--weight", "people=0"], "weights of people is 0"),
        (["people.txt", "--weight", "x=2"], "weights names no corpus: x"),
        (["people.txt", "--types", "none.txt"], "none.txt: cannot be read"),
        (["people.txt", "--name-only", "0.8", "--description-only", "0.4"], "whose sum is at most 1"),
    ],
)
def test_errors_are_one_message(place, arguments, message, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["handful", "pretrain", *arguments, "--encoder", "base", "--out", "out"])
    with pytest.raises(SystemExit) as stop:
        main()
    assert stop.value.code == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert message in printed.err
    assert "Traceback" not in printed.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--weight", "people"], "Invalid value for '--weight': found 'people', expected a number"),
        (["--weight", "people"], "as in --weight news=0.5"),
        (["--weight", "=1"], "Invalid value for '--weight': found '=1'"),
        (["--o-weight", "people=-1"], "Invalid value for '--o-weight': found 'people=-1', expected a number of at"),
        (["--head", "deep"], "Invalid value for '--head': found 'deep', expected names or prototypes or linear"),
        (["--hold-out", "1"], "Invalid value for '--hold-out': found 1.0, expected a number of at least 0 and below"),
        (["--lr", "nan"], "Invalid value for '--lr': found nan"),
        (["--epochs", "0"], "Invalid value for '--epochs'"),
    ],
)
def test_wrong_usage_names_the_option(place, arguments, message):
    result = run("people.txt", *arguments, "--encoder", "base", "--out", "out")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", " ").split())
