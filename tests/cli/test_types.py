"""`handful types`, and what `fit`, `add` and `evaluate` do with types and labels."""

import json
import shutil
from pathlib import Path

import pytest
from commands import failed, run

from handful import Tagger


@pytest.fixture
def model(inside, tmp_path):
    shutil.copytree(inside / "model", tmp_path / "model")
    return tmp_path / "model"


def test_types_are_shown(inside, model):
    shown = run("types", model).stdout.splitlines()
    head = ["type", "mentions", "judged", "in", "F1", "name", "F1", "description", "F1", "both", "description"]
    assert shown[0].split() == head
    f1 = Tagger.load(model).summary_.guidelines["LOC"].f1
    assert shown[1].split() == ["LOC", "3", "6", "of", "6", f"{100 * f1['name']:.1f}", "-", "-"]
    assert shown[2].split()[:5] == ["PER", "3", "6", "of", "6"]


def test_types_are_merged_and_written(inside, model, tmp_path):
    before = (model / "config.json").read_bytes()
    result = run("types", model, "--rename", "LOC=NAME, PER=NAME", "-u", "text.txt", "--out", tmp_path / "other")
    assert result.exit_code == 0
    assert f"wrote {tmp_path / 'other'}" in result.stderr
    assert "missing" not in result.stdout
    tagger = Tagger.load(tmp_path / "other")
    assert [one.name for one in tagger.types_] == ["NAME"]
    assert tagger.summary_.mentions == {"NAME": 6}
    assert (model / "config.json").read_bytes() == before


def test_types_that_are_left_out_are_dropped(inside, model, tmp_path):
    (tmp_path / "types.txt").write_text("PER: names of people\n")
    result = run("types", model, "--set", tmp_path / "types.txt")
    assert "note: 36 unlabelled words of the fit before are missing" in result.stdout
    (one,) = Tagger.load(model).types_
    assert (one.name, one.description) == ("PER", "names of people")


def test_what_types_refuses(inside, model, tmp_path):
    before = (model / "config.json").read_bytes()
    assert failed(run("types", model, "--rename", "PERR=PERSON"), "did you mean PER?")
    for options in (["--rename", "PER"], ["--rename", "PER=A+"], ["--out", tmp_path / "other"]):
        assert run("types", model, *options).exit_code == 2
    assert (model / "config.json").read_bytes() == before


def test_fit_does_not_replace_a_model_with_more_labels(inside, model, tmp_path):
    (tmp_path / "few.txt").write_text("[Ekeus](PER) heads for [Baghdad](LOC) .\n")
    fit = ["fit", tmp_path / "few.txt", "--encoder", "encoder", "--out", model]
    before = (model / "config.json").read_bytes()
    assert failed(run(*fit), "this model has 6 labelled sentences, and the new one would have 1; add to it")
    assert (model / "config.json").read_bytes() == before
    assert run(*fit, "--replace", "-q").exit_code == 0
    assert len(Tagger.load(model).support_) == 1
    assert run(*fit, "-q").exit_code == 0  # as many as there are


def test_add_refuses_suggestions_that_nobody_changed(inside, model, tmp_path):
    (tmp_path / "corpus.txt").write_text("Anna heads for Rome , says Ekeus\nowners of the dog in Paris like Dupont\n")
    next_ = tmp_path / "next.txt"
    assert run("suggest", model, tmp_path / "corpus.txt", "-n", "2", "--out", next_, "-q").exit_code == 0
    assert "](" in next_.read_text()
    add = ["add", model, next_, "-u", "text.txt", "-q"]
    assert failed(run(*add), "the labels are those that the model finds by itself")
    assert len(Tagger.load(model).support_) == 6
    assert run(*add, "--as-is").exit_code == 0
    assert len(Tagger.load(model).support_) == 8


def test_add_takes_types_without_a_file(tmp_path):
    assert run("fit", "--types", "person, place", "--out", tmp_path / "model", "-q").exit_code == 0
    result = run("add", tmp_path / "model", "--types", "disease")
    assert "added 0 labelled sentences; new: disease\n" in result.stdout
    assert [one.name for one in Tagger.load(tmp_path / "model").types_] == ["disease", "person", "place"]
    assert run("add", tmp_path / "model").exit_code == 2


def test_evaluate_takes_types_without_a_model(tmp_path):
    (tmp_path / "test.txt").write_text("[Anna Berg](person) lives in [Paris](place) .\n")
    result = run("evaluate", "--types", "person, place", tmp_path / "test.txt", "--json")
    assert json.loads(result.stdout)["n_sentences"] == 1
    assert run("evaluate", tmp_path / "test.txt").exit_code == 2
    assert run("evaluate", "a", "b", "--types", "person").exit_code == 2


def test_names_and_descriptions_are_checked_against_labels(tmp_path):
    lines = ["[Anna Berg](WHO) lives here .", "we saw [Paul](WHO) and [Mary Smith](WHO) today .", "call [John](WHO) ."]
    (tmp_path / "few.txt").write_text("# WHO: a make of car or lorry\n" + "\n".join(lines) + "\n")
    result = run("fit", tmp_path / "few.txt", "--out", tmp_path / "model")
    assert "try: the name of WHO alone fits the labels better than name and description" in result.stdout
    shown = run("types", tmp_path / "model").stdout
    assert "F1 name  F1 description  F1 both" in shown
    assert "WHO misses " in shown
    found = Tagger.load(tmp_path / "model").summary_.guidelines["WHO"]
    assert found.f1["name"] > found.f1["both"]
    assert {"Paul", "Mary"} & set(found.misses)


def test_why_a_word_was_not_found(inside, model):
    ask = ["explain", model, "--text", "the dog heads for Paris .", "--text", "Paris says"]
    result = run(*ask, "--word", "dog=PER")
    assert "dog is O; to be PER it lacks" in result.stdout
    assert "try: label one mention like it as PER, such as this one: [dog](PER)" in result.stdout
    (line,) = run(*ask, "--word", "dog", "--json").stdout.splitlines()
    (found,) = json.loads(line)["explanations"]
    assert (found["mention"]["word"], found["tags"]) == ("dog", ["O"])
    assert len(run(*ask, "--word", "paris", "--json").stdout.splitlines()) == 2
    assert "no text has the word 'oven'" in run(*ask, "--word", "oven").stderr
    assert failed(run(*ask, "--word", "dog=ANIMAL"), "type is 'ANIMAL', but the types are LOC, PER")


def test_types_are_described_on_the_command_line(inside):
    text = ["--text", "Anna Berg sold a hoe", "--to", "jsonl", "--quiet"]
    for types in (["PERSON: a human; TOOL: a thing"], ["PERSON: a human", "TOOL"]):
        options = [part for one in types for part in ("--types", one)]
        assert run("predict", *options, *text).exit_code == 0
    beside = run("predict", "--types", "PERSON, PERSN", *text[:2])
    assert "note: PERSN and PERSON are two types" in beside.stderr
    assert failed(run("predict", "--types", "types.tx", *text), "types.tx: cannot be read: No such file")
    assert failed(run("predict", "--types", "PEST - an animal", *text), "write 'PEST: an animal'")
    assert failed(run("serve", "--types", "PEST = an animal"), "write 'PEST: an animal'")
    assert failed(run("label", "text.txt", "--types", "Pest, PEST", "--no-browser"), "differ in case alone")


def test_a_quoted_pattern_is_files(inside, model):
    assert run("stats", "supp*.txt").exit_code == 0
    assert run("evaluate", model, "supp*.txt").exit_code == 0
    assert failed(run("label", "no*.txt", "--no-browser"), "no file matches this pattern")


def test_what_a_description_excludes_is_shown(inside, model):
    changed = run("types", model, "--set", "PER: person, not pets or gods; LOC", "--out", "other")
    assert "PER excludes pets, gods: " in changed.stdout


def test_how_a_description_was_understood_is_shown(inside):
    Path("fees.txt").write_text("# FEE: a sum, not tips, without article\n\nI paid [5](FEE) .\n", encoding="utf-8")
    shown = run("stats", "fees.txt").stdout
    assert 'excludes tips: "not tips"' in shown
    assert 'obeyed at the borders of mentions: "without article"' in shown
