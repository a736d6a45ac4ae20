"""`handful suggest` and `handful add`: what to label next, and the model with it."""

import json
import shutil

import pytest
from commands import failed, run

from handful import Tagger
from handful.text import EntityType, read

CORPUS = """\
the lazy dog in Oslo likes the quick fox
Ekeus heads for Baghdad on Thursday .
Olga and the official Berg say the rain costs dollars
owners of the dog in Paris like Dupont
nothing jumps over the café on Thursday
Anna heads for Rome , says Ekeus
"""


@pytest.fixture
def corpus(tmp_path):
    (tmp_path / "corpus.txt").write_text(CORPUS, encoding="utf-8")
    return tmp_path / "corpus.txt"


@pytest.fixture
def model(inside, tmp_path):
    shutil.copytree(inside / "model", tmp_path / "model")
    return tmp_path / "model"


def test_suggest_writes_sentences_with_marks_to_correct(inside, corpus):
    result = run("suggest", "model", corpus, "-n", "3")
    assert (result.exit_code, result.stderr) == (0, "")
    tagger = Tagger.load(inside / "model", encoder=inside / "encoder")
    expected = tagger.suggest(CORPUS.splitlines(), 3)
    (corpus.parent / "next.txt").write_text(result.stdout, encoding="utf-8")
    found = read(corpus.parent / "next.txt", "inline")
    assert [(one.words, one.spans) for one in found] == [(one.words, one.spans) for one in expected]
    assert not any("heads for Baghdad on Thursday" in one.text for one in found)  # that one is labelled
    assert run("suggest", "model", "-", "-n", "3", input=CORPUS).stdout == result.stdout


def test_suggest_in_other_formats_and_to_a_file(inside, corpus):
    out = corpus.parent / "next.jsonl"
    result = run("suggest", "model", corpus, "-n", "2", "--to", "prodigy", "--out", out)
    assert (result.exit_code, result.stdout) == (0, "")
    assert f"handful add model {out}" in result.stderr
    records = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
    assert [record["text"] for record in records] == [s.text for s in Tagger.load("model").suggest(corpus, 2)]
    few = run("suggest", "model", corpus, "-n", "99")
    assert "only 5 sentences are not labelled" in few.stderr
    assert failed(run("suggest", "model", "none.txt"), "none.txt: cannot be read")
    assert failed(run("suggest", "model", corpus, "--out", corpus.parent / "no" / "out"), "there is no folder")
    assert run("suggest", "model", corpus, "-n", "0").exit_code == 2


def test_types_are_described_at_the_head_of_what_is_suggested(inside, corpus, tmp_path):
    (tmp_path / "types.txt").write_text("PER: names of people\nLOC: names of places\n", encoding="utf-8")
    options = ["--types", tmp_path / "types.txt", "--encoder", "encoder", "--out", tmp_path / "named", "-q"]
    assert run("fit", *options).exit_code == 0
    shown = run("suggest", tmp_path / "named", corpus, "-n", "1").stdout
    assert shown.startswith("# LOC: names of places\n# PER: names of people\n\n")


def test_add_learns_from_more_sentences(inside, model, tmp_path):
    (tmp_path / "more.txt").write_text("[Olga](PER) left [Oslo](LOC) by [train](VEHICLE) .\n", encoding="utf-8")
    lacking = run("add", model, tmp_path / "more.txt", "--out", tmp_path / "lacking")
    assert "note: 36 unlabelled words of the fit before are missing" in lacking.stdout
    result = run("add", model, tmp_path / "more.txt", "-u", "text.txt")
    assert result.exit_code == 0
    assert "added 1 labelled sentence; new: VEHICLE\n" in result.stdout
    tagger = Tagger.load(model)
    assert tagger.summary_.mentions == {"LOC": 4, "PER": 4, "VEHICLE": 1}
    assert tagger.summary_.o_ratio == 0.8
    assert [one.name for one in tagger.types_] == ["LOC", "PER", "VEHICLE"]
    before = read("support.txt", judged=("LOC", "PER"))  # nobody looked for vehicles there
    whole = Tagger(encoder="encoder", o_ratio=0.8).fit([*before, *read(tmp_path / "more.txt")], "text.txt")
    text = "Anna left Rome by bus ."
    assert tagger.predict(text) == whole.predict(text)  # as if all had been given at once


def test_add_says_what_changed_and_can_write_elsewhere(inside, model, tmp_path):
    (tmp_path / "more.txt").write_text(
        "# VEHICLE: what carries people\n\n[Olga](PER) left by [train](VEHICLE) .\nthe [official](PER) sleeps\n"
    )
    (tmp_path / "changed.txt").write_text("[Dupont](PER) says the [fox](PER) costs dollars .\n")
    arguments = ["add", model, tmp_path / "more.txt", tmp_path / "changed.txt", "-u", "text.txt"]
    before = (model / "config.json").read_bytes()
    result = run(*arguments, "--out", tmp_path / "other")
    assert "added 2 labelled sentences; new: VEHICLE\n" in result.stdout
    assert "8 labelled sentences, 10 mentions; 36 unlabelled words\n" in result.stdout
    assert "1 sentence got new labels" in result.stdout
    assert f"wrote {tmp_path / 'other'}" in result.stderr
    assert (model / "config.json").read_bytes() == before
    types = Tagger.load(tmp_path / "other").types_
    assert EntityType("VEHICLE", "what carries people") in types
    assert run(*arguments, "-q").output == ""
    assert Tagger.load(model).types_ == types


def test_what_add_refuses(inside, model, tmp_path):
    (tmp_path / "blank.txt").write_text("nothing is marked here\n")
    (tmp_path / "odd.txt").write_text("[Olga](CAR|LOC) left\n")
    text = ["-u", "text.txt"]
    assert failed(run("add", model, tmp_path / "blank.txt", *text), "no sentence is labelled")
    assert failed(run("add", model, tmp_path / "none.txt", *text), "cannot be read")
    assert failed(run("add", tmp_path / "none", tmp_path / "odd.txt", *text), "no such folder")
    assert failed(run("add", model, tmp_path / "odd.txt", "--out", tmp_path, *text), "not overwritten")
    assert run("add", model).exit_code == 2


def test_the_loop(inside, tmp_path, corpus):
    """Types, suggestions, corrections, and on."""
    options = ["--types", "PER, LOC", "--encoder", "encoder"]
    assert run("fit", *options, "-u", corpus, "--out", tmp_path / "m", "-q").exit_code == 0
    for n_labelled in (2, 4):
        assert run("suggest", tmp_path / "m", corpus, "-n", "2", "--out", tmp_path / "next.txt", "-q").exit_code == 0
        assert run("add", tmp_path / "m", tmp_path / "next.txt", "-u", corpus, "-q", "--as-is").exit_code == 0
        assert Tagger.load(tmp_path / "m").summary_.n_support == n_labelled
