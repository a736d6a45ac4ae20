import json
import os
import random
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from typer.testing import CliRunner

sys.path.insert(0, str(Path(__file__).parents[1] / "pretrain"))

from made import make_corpus, make_encoder, write_conll

from handful.cli import main
from handful.cli.commands import app
from handful.training import Recipe


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_encoder(tmp_path / "base", "bert")
    write_conll(tmp_path / "people.txt", make_corpus(random.Random(1), 100, ["PER", "LOC"]))
    write_conll(tmp_path / "dev.txt", make_corpus(random.Random(2), 20, ["PER"]))
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, ["pretrain", *arguments], catch_exceptions=False)


def test_it_trains_with_the_recipes_defaults(place):
    result = run("people.txt", "--dev", "dev.txt", "--encoder", "base", "--out", "out")
    assert result.exit_code == 0
    assert "people: dev F1" in result.stdout
    assert "wrote out (epoch 3, loss" in result.stdout
    card = json.loads((place / "out" / "handful.json").read_text())
    assert card["command"] == "handful pretrain people.txt --encoder base --out out --dev dev.txt"
    plain = Recipe().as_dict()
    assert {name: card["recipe"][name] for name in plain} == plain


def test_the_cards_command_does_the_same_again(place):
    options = "--layers 1 --hide LOC --epochs 1 --batch 4 --batch-words 64 --lr 1e-4 --head-lr 2e-3 --warmup 0.1"
    options += " --head linear --dropout 0.2 --weight a=0.5 --o-weight a=0.3 --hold-out 0.1 --average 0.5"
    options += " --keep best --seed 3"
    first = run("a=people.txt", "--encoder", "base", "--out", "one", *options.split())
    assert first.exit_code == 0
    card = json.loads((place / "one" / "handful.json").read_text())
    command = card["command"].replace("--out one", "--out two").split()
    assert run(*command[2:]).exit_code == 0
    again = json.loads((place / "two" / "handful.json").read_text())
    assert {**again, "command": None} == {**card, "command": None}
    assert (place / "one" / "model.safetensors").read_bytes() == (place / "two" / "model.safetensors").read_bytes()


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
        (["people.txt", "--weight", "people"], "--weight is NAME=NUMBER"),
        (["people.txt", "--weight", "=1"], "--weight is NAME=NUMBER"),
        (["people.txt", "--hide", "GENE,"], "no corpus has the type GENE"),
        (["people.txt", "--head", "deep"], "head is one of prototypes, linear"),
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
