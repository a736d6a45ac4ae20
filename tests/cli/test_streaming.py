"""`handful predict` on text that comes as it is written, on text that was seen before, and on a terminal."""

import json
import os
import subprocess
import sys
import threading

import pytest
from commands import COMMAND, TEXT, handful, run

from handful import Tagger
from handful.encoders.cache import FeatureCache

POSIX = pytest.mark.skipif(sys.platform == "win32", reason="pipes cannot be asked there whether they have text")
LINES = TEXT.splitlines()


@POSIX
@pytest.mark.parametrize("to", ["jsonl", "inline", "conll", "text"])
def test_each_line_is_answered_before_the_next_is_written(inside, to):
    """A reader of one line at a time, and a writer that waits for the answer."""
    whole = run("predict", "model", "text.txt", "--to", to).stdout
    with subprocess.Popen(
        [*COMMAND, "predict", "model", "-", "--to", to],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as running:
        alarm = threading.Timer(120, running.kill)
        alarm.start()
        answers = []
        for line in LINES:
            running.stdin.write(line + "\n")
            running.stdin.flush()
            answers.append(running.stdout.readline())
            if to == "conll":
                while (more := running.stdout.readline()).strip():
                    answers.append(more)
                answers.append(more)
        running.stdin.close()
        assert running.stdout.read() == ""
        alarm.cancel()
    assert running.returncode == 0
    assert "".join(answers) == whole  # to the last digit, though lines were tagged together there, and one by one here


@pytest.mark.parametrize("given", ["", "\n", " \n\n"])
@pytest.mark.parametrize(("to", "expected"), [("jsonl", ""), ("conll", ""), ("label-studio", "[]\n")])
def test_nothing_in_is_nothing_out(inside, given, to, expected):
    result = run("predict", "model", "-", "--to", to, input=given)
    assert (result.exit_code, "".join(result.stdout.split()), result.stderr) == (0, expected.strip(), "")
    assert handful("predict", "model", "--to", to, stdin=subprocess.DEVNULL).returncode == 0


def test_a_text_that_fit_has_read_is_not_encoded_again(inside, tmp_path, monkeypatch):
    """An encoder that cannot encode shows that what it says was known."""
    (tmp_path / "new.txt").write_text("Ekeus likes the lazy official .\n")
    monkeypatch.setenv("HANDFUL_CACHE", str(tmp_path / "cache"))
    without = run("predict", "model", "text.txt", tmp_path / "new.txt").stdout
    assert not (tmp_path / "cache").exists()  # nothing is kept unless it is asked for
    arguments = [
        "support.txt",
        "-u",
        "text.txt",
        "--o-ratio",
        "0.8",
        "--encoder",
        "encoder",
        "--out",
        tmp_path / "model",
    ]
    assert run("fit", *arguments, "-q").exit_code == 0
    assert run("predict", tmp_path / "model", "text.txt", tmp_path / "new.txt").stdout == without
    n_kept = FeatureCache().contents()[0].n_sentences
    assert n_kept == 10
    kept = run("predict", tmp_path / "model", "text.txt", tmp_path / "new.txt", "--keep-features")
    assert kept.stdout == without
    assert FeatureCache().contents()[0].n_sentences == n_kept + 1

    def encode(*arguments, **options):
        raise AssertionError("it was asked to encode")

    monkeypatch.setattr("handful.encoders.opened.NetworkEncoder.encode", encode)
    assert run("predict", tmp_path / "model", "text.txt", tmp_path / "new.txt").stdout == without
    explained = run("explain", tmp_path / "model", "text.txt", "--json")
    assert explained.exit_code == 0
    tagger = Tagger.load(tmp_path / "model", cache=False)
    with pytest.raises(AssertionError, match="asked to encode"):
        tagger.predict(LINES)


def test_types_alone_use_what_was_kept(inside, tmp_path, monkeypatch):
    monkeypatch.setenv("HANDFUL_CACHE", str(tmp_path / "cache"))
    arguments = ["predict", "--types", "person, place", "text.txt", "--to", "jsonl"]
    first = run(*arguments, "--keep-features")
    assert FeatureCache().contents()[0].n_sentences == 4
    assert run(*arguments).stdout == first.stdout


@POSIX
def test_a_terminal_shows_how_far_it_is(inside, tmp_path):
    """A pseudo-terminal for standard error; text of some seconds."""
    import pty

    lines = [f"{line} No {number} ." for number in range(60) for line in LINES]
    (tmp_path / "long.txt").write_text("\n".join(lines), encoding="utf-8")
    ours, theirs = pty.openpty()
    environment = os.environ | {"TERM": "xterm", "COLUMNS": "120"}
    command = [*COMMAND, "predict", "model", str(tmp_path / "long.txt")]
    with open(tmp_path / "found", "wb") as out:
        running = subprocess.Popen(command, stdout=out, stderr=theirs, env=environment)
    os.close(theirs)
    shown = b""
    while True:
        try:
            piece = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(ours)
    assert running.wait() == 0
    assert len((tmp_path / "found").read_bytes().splitlines()) == len(lines)
    if shown:  # on a fast machine it is over before a bar would appear
        text = shown.decode()
        assert "tagging" in text
        assert "words" in text
        assert "%" in text


def test_nothing_is_shown_in_a_pipe(inside):
    assert handful("predict", "model", "text.txt").stderr == ""


def test_a_long_line_is_cut_and_said(inside, tmp_path):
    text = "Ekeus heads for Baghdad . " * 4_000
    (tmp_path / "long.txt").write_text(text, encoding="utf-8")
    result = run("predict", "--types", "person, place", tmp_path / "long.txt", "--keep-features")
    records = [json.loads(line) for line in result.stdout.splitlines()]
    assert len(records) == 2
    for record in records:
        assert text[record["offset"] : record["offset"] + len(record["text"])] == record["text"]
        for one in record["entities"][:50]:
            assert record["text"][one["start"] : one["end"]] == one["word"]
    assert "2 parts were made of texts of more than 100,000 characters" in result.stderr
