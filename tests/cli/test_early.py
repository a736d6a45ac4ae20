"""What can be known to fail is said before the work begins, not after it."""

import os
import subprocess
import sys

import pytest
from commands import COMMAND, failed, run

IS_ROOT = hasattr(os, "geteuid") and os.geteuid() == 0
NOT_ROOT = pytest.mark.skipif(IS_ROOT or sys.platform == "win32", reason="root may write anywhere")


def refused_at_once(*arguments, message):
    """Whether a command says what is wrong while its standard input, which never ends, has not been read."""
    with subprocess.Popen(
        [*COMMAND, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as running:
        try:
            running.wait(60)
        except subprocess.TimeoutExpired:
            running.kill()
            raise AssertionError("it waits for text") from None
        running.stdin.close()
        said = running.stderr.read()
        assert running.stdout.read() == ""
    assert message in said
    assert running.returncode in (1, 2)
    return True


@pytest.fixture
def taken(tmp_path):
    """Make a folder with something in it, and a file."""
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "file").write_text("mine")
    return tmp_path


FIT = ("fit", "support.txt", "--unlabelled", "-")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*FIT, "--out", "{}/full"), "not overwritten"),
        ((*FIT, "--out", "{}/file"), "is a file; a model is a folder"),
        ((*FIT, "--out", "{}/file/model"), "file is a file"),
        ((*FIT, "--out", "{}/new", "--encoder", "./nowhere"), "no encoder at nowhere"),
        ((*FIT, "--out", "{}/new", "--o-ratio", "1.5"), "--o-ratio 1.5 is not possible"),
        ((*FIT, "--out", "{}/new", "-u", "none.txt"), "none.txt: cannot be read: No such file"),
        (("fit", "-", "none.txt", "--out", "{}/new"), "none.txt: cannot be read: No such file"),
        (("predict", "model", "-", "--out", "{}/full"), "is a folder"),
        (("predict", "model", "-", "--out", "{}/none/out.jsonl"), "there is no folder"),
        (("predict", "model", "-", "--out", "{}/file/out.jsonl"), "file is a file"),
        (("predict", "model", "-", "none.txt"), "none.txt: cannot be read: No such file"),
        (("predict", "model", "-", "{}"), "is a folder without Parquet files"),
        (("predict", "model", "-", "--min-score", "much"), "neither a number"),
        (("predict", "model", "-", "--min-score", "GOD=0.5"), "min_score names GOD"),
        (("predict", "none", "-"), "no such folder"),
        (("predict", "--types", "none.txt", "-"), "none.txt: cannot be read"),
        (("explain", "model", "-", "none.txt"), "none.txt: cannot be read"),
        (("evaluate", "none", "-"), "no such folder"),
        (("convert", "-", "{}/none/out", "--to", "conll"), "there is no folder"),
        (("convert", "-", "{}/full", "--to", "conll"), "is a folder"),
    ],
    ids=lambda value: " ".join(value[:4]) if isinstance(value, tuple) else None,
)
@pytest.mark.usefixtures("inside")
def test_nothing_is_read_in_vain(taken, arguments, message):
    assert refused_at_once(*(argument.format(taken) for argument in arguments), message=message)
    assert sorted(path.name for path in taken.iterdir()) == ["file", "full"]


@NOT_ROOT
@pytest.mark.parametrize("arguments", [FIT, ("predict", "model", "-"), ("convert", "-")])
@pytest.mark.usefixtures("inside")
def test_a_folder_that_is_closed(tmp_path, arguments):
    (tmp_path / "closed").mkdir(mode=0o500)
    out = tmp_path / "closed" / "out.jsonl"
    given = (out, "--to", "conll") if arguments[0] == "convert" else ("--out", out)
    assert refused_at_once(*arguments, *given, message="nothing can be written into")


@pytest.mark.usefixtures("inside")
def test_a_model_is_written_over_but_its_folder_need_not_be_there(tmp_path):
    out = tmp_path / "a" / "b" / "model"
    for _ in range(2):
        assert run("fit", "support.txt", "--encoder", "encoder", "--out", out, "-q").exit_code == 0
    assert [path.name for path in out.parent.iterdir()] == ["model"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["transfer", "none", "--report", "{}/file"], "file is a file"),
        (["transfer", "none", "--report", "{}/new", "--encoder", "./nowhere"], "no encoder at nowhere"),
    ],
)
def test_a_comparison_is_refused_before_its_corpora_are_read(taken, arguments, message):
    assert failed(run("bench", *(argument.format(taken) for argument in arguments)), message)


def test_an_export_is_refused_before_its_encoder_is_read(taken):
    assert failed(run("export-encoder", "./nowhere", "--out", taken / "file" / "out"), "file is a file")
    assert failed(run("export-encoder", "./nowhere", "--out", taken / "full"), "is a folder with files in it")


def test_a_training_is_refused_before_its_corpora_are_read(taken):
    arguments = ["pretrain", "none.txt", "--encoder", "./nowhere"]
    assert failed(run(*arguments, "--out", taken / "full"), "is a folder with files in it")
    assert failed(run(*arguments, "--out", taken / "new"), "no encoder at nowhere")


@pytest.mark.usefixtures("inside")
def test_an_encoder_that_cannot_go_into_the_model_is_refused_first(tmp_path):
    arguments = [*FIT, "--include-encoder", "--encoder", "somebody/something", "--out", tmp_path / "new"]
    assert refused_at_once(*arguments, message="could go into the model")
