"""`handful stats` and `convert`: the commands that need no model."""

import json
import os
import subprocess
import sys

import pytest
from commands import COMMAND, failed, handful, run

from handful import Sentence, Span
from handful.text import read, write

SENTENCES = [
    Sentence(("Ekeus", "heads", "for", "Baghdad"), (Span(0, 1, "PER"), Span(3, 4, "LOC"))),
    Sentence(("Paris", "and", "Oslo", "wait"), (Span(0, 1, "LOC"), Span(2, 3, "LOC"))),
    Sentence(("Anna", "Berg", "knows", "Ekeus", "."), (Span(0, 2, "PER"), Span(3, 4, "PER"))),
    Sentence(("Nothing", "here"), ()),
]


@pytest.fixture
def corpus(tmp_path):
    write(SENTENCES, tmp_path / "corpus.conll", "conll")
    return tmp_path / "corpus.conll"


def test_stats_counts(corpus):
    [figures] = json.loads(run("stats", corpus, "--json").stdout)
    assert figures["format"] == "conll"
    assert (figures["n_sentences"], figures["n_words"], figures["n_mentions"]) == (4, 15, 6)
    assert figures["mentions"] == {"LOC": 3, "PER": 3}
    assert figures["o_share"] == pytest.approx(8 / 15)


def test_stats_of_several_files_for_people(corpus, tmp_path):
    (tmp_path / "raw.txt").write_text("Nobody has labelled this text. It has two sentences.\n")
    result = run("stats", corpus, tmp_path / "raw.txt")
    assert result.exit_code == 0
    assert "4 (4 labelled)" in result.stdout
    assert "0.533 of 15 words" in result.stdout
    assert "2 (2 unlabelled)" in result.stdout


def test_stats_reads_standard_input(corpus):
    [figures] = json.loads(run("stats", "-", "--json", input=corpus.read_bytes()).stdout)
    assert figures["file"] == "standard input"
    assert figures["n_mentions"] == 6


def test_convert_and_back(corpus, tmp_path):
    there, back = tmp_path / "there.jsonl", tmp_path / "back.conll"
    result = run("convert", corpus, there, "--to", "prodigy")
    assert (result.exit_code, result.stdout) == (0, "")
    assert result.stderr.splitlines()[-1] == f"wrote {there}: prodigy, 4 sentences"
    assert run("convert", there, back, "--to", "conll", "--quiet").output == ""
    assert back.read_bytes() == corpus.read_bytes()


def test_convert_counts_what_it_changed(tmp_path):
    adjacent = Sentence(("Oslo", "Paris", "wait"), (Span(0, 1, "LOC"), Span(1, 2, "LOC")))
    write([adjacent], tmp_path / "in.conll", "conll")
    shown = run("convert", tmp_path / "in.conll", tmp_path / "out.conll", "--to", "conll", "--scheme", "IO")
    assert "1 mention was merged" in shown.stderr


def test_convert_says_what_it_skipped(tmp_path):
    (tmp_path / "in.jsonl").write_text('{"text": "a b", "label": [[0, 1, "X"]]}\n{"text": 3}\n')
    arguments = ["convert", tmp_path / "in.jsonl", tmp_path / "out.conll", "--to", "conll"]
    assert failed(run(*arguments), "in.jsonl:2:")
    assert not (tmp_path / "out.conll").exists()
    result = run(*arguments, "--skip-malformed")
    assert "1 malformed place was skipped, the first: " in result.stderr
    assert result.stdout == ""
    assert len(read(tmp_path / "out.conll")) == 1


def test_convert_writes_to_standard_output(corpus):
    result = run("convert", corpus, "-", "--to", "inline")
    assert result.stdout.splitlines()[0] == "[Ekeus](PER) heads for [Baghdad](LOC)"
    assert result.stderr.splitlines()[-1] == "wrote standard output: inline, 4 sentences"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "No such file"),
        (b"", "is empty"),
        (b"\x00\x01\xff\xfe" * 50, "--encoding cp1252"),
        (b"\x00\x01\x02 \n" * 50, "NUL"),
    ],
)
@pytest.mark.parametrize("command", ["stats", "convert"])
def test_bad_files_are_one_line(tmp_path, command, content, message):
    if content is not None:
        (tmp_path / "bad").write_bytes(content)
    more = [tmp_path / "out", "--to", "conll"] if command == "convert" else []
    assert failed(run(command, tmp_path / "bad", *more), message)
    assert [path.name for path in tmp_path.iterdir()] == (["bad"] if content is not None else [])


@pytest.mark.parametrize(
    "arguments",
    [
        ["convert", "a", "b", "--to", "xml"],
        ["convert", "a", "b"],
        ["stats", "a", "--from", "xml"],
        ["stats"],
        ["explain", "a", "b", "--threads", "x"],
        ["explain", "a", "b", "--threads", "0"],
    ],
)
def test_wrong_usage_is_exit_code_2(arguments):
    assert run(*arguments).exit_code == 2


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no /dev/full")
@pytest.mark.parametrize("arguments", [["stats"], ["stats", "--json"], ["convert", "-", "--to", "conll"]])
def test_a_full_disk_under_standard_output(corpus, arguments):
    with open("/dev/full", "w") as full:
        done = handful(arguments[0], corpus, *arguments[1:], "--quiet", stdout=full)
    assert done.returncode == 1
    assert done.stderr.startswith("error: standard output: ")
    assert done.stderr.count("\n") == 1


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no broken pipes")
def test_a_reader_that_has_gone_is_no_error(tmp_path):
    write(SENTENCES * 5000, tmp_path / "large.conll", "conll")
    with subprocess.Popen(
        [*COMMAND, "convert", str(tmp_path / "large.conll"), "-", "--to", "inline"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdout.readline() == b"[Ekeus](PER) heads for [Baghdad](LOC)\n"
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 141


def test_quiet(corpus, tmp_path):
    assert run("convert", corpus, tmp_path / "b", "--to", "conll", "-q").stderr == ""
    assert run("convert", corpus, tmp_path / "c", "--to", "conll").stderr != ""
