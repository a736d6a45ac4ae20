"""``handful bench``, with the embedded encoder on a small corpus."""

import json
import re
import sys
from dataclasses import fields, replace

import pytest
from commands import failed, handful, run

from handful.bench import Settings, method_names
from handful.errors import DataError
from handful.examples import HELDOUT, SUPPORT

QUICK = ("--methods", "proto,hard", "--ratios", "none", "--sets", "2", "--shots", "1", "--no-plots")


@pytest.fixture(scope="module")
def garden(tmp_path_factory):
    """Make a target of the garden notebook."""
    from handful.text import read, write

    folder = tmp_path_factory.mktemp("bench") / "garden"
    folder.mkdir()
    support, heldout = list(read(SUPPORT)), list(read(HELDOUT))
    write(support, folder / "train.txt", "inline")
    write(heldout[:60], folder / "dev.txt", "inline")
    write(heldout[60:], folder / "test.txt", "inline")
    return folder


def test_methods_are_listed():
    assert run("bench", "methods").output.split() == method_names()
    assert json.loads(run("bench", "methods", "--json").output) == method_names()


def test_transfer_shows_a_table_and_writes_the_report(garden, tmp_path):
    done = handful("bench", "transfer", garden, *QUICK, "--report", tmp_path / "report")
    assert done.returncode == 0
    assert done.stderr == f"wrote {tmp_path / 'report'}\n"
    assert "1-shot" in done.stdout
    assert "proto" in done.stdout
    rows = [json.loads(line) for line in (tmp_path / "report" / "results.jsonl").read_text().splitlines()]
    assert [(row["method"], row["support"]) for row in rows] == [
        ("proto", "0"), ("hard", "0"), ("proto", "1"), ("hard", "1"),
    ]  # fmt: skip
    again = handful("bench", "transfer", garden, *QUICK, "--report", tmp_path / "report", "--json")
    found = json.loads(again.stdout)
    mean = sum(row["f1"] for row in rows if row["method"] == "hard") / 2
    (line,) = [line for line in found["lines"] if line["method"] == "hard"]
    assert line["cells"][0]["mean"] == pytest.approx(100 * mean)
    assert json.loads((tmp_path / "report" / "environment.json").read_text())["command"].startswith("handful bench ")


def test_on_dev_and_a_method_of_ones_own(garden, tmp_path):
    (tmp_path / "mine.py").write_text(
        "class Nothing:\n"
        "    def __init__(self, encoder): pass\n"
        "    def fit(self, support, unlabelled=None): return self\n"
        "    def predict_sentences(self, sentences):\n"
        "        from dataclasses import replace\n"
        "        return [replace(sentence, spans=()) for sentence in sentences]\n"
    )
    arguments = ["--methods", "mine:Nothing", "--on", "dev", "--sets", "1", "--shots", "1", "--json", "--report", "r"]
    done = handful("bench", "transfer", garden, *arguments, cwd=tmp_path)
    assert [line["cells"][0]["mean"] for line in json.loads(done.stdout)["lines"]] == [0.0]


def test_no_labels_and_what_types_mean(garden, tmp_path):
    (tmp_path / "types.txt").write_text(
        "PLANT: plants, trees and vegetables\nPEST: insects, slugs and diseases that harm plants\nTOOL: garden tools\n"
    )
    options = ["--types", tmp_path / "types.txt", "--shots", "0", "--texts", "all,none", "--no-plots", "--json"]
    names = ["--methods", "proto,handful,names"]
    done = run("bench", "transfer", garden, *names, *options, "--report", tmp_path / "r", "--quiet")
    means = {(line["method"], line["text"]): line["cells"][0]["mean"] for line in json.loads(done.stdout)["lines"]}
    assert means.keys() == {("handful", "all"), ("handful", "none"), ("names", "none")}
    assert min(means.values()) > 20
    rows = [json.loads(line) for line in (tmp_path / "r" / "results.jsonl").read_text().splitlines()]
    assert {tuple(row["types"][2]) for row in rows} == {("TOOL", "garden tools")}
    assert {row["names"] for row in rows} == {True}


def test_labelled_files_are_targets_of_which_a_half_is_scored(garden, tmp_path):
    options = ["--on", "dev", "--shots", "0,1", "--sets", "1", "--methods", "names,proto", "--no-plots"]
    targets = [garden / "dev.txt", garden / "test.txt"]
    done = run("bench", "transfer", *targets, *options, "--report", tmp_path / "r", "--json", "--quiet")
    lines = {line["method"]: line["cells"] for line in json.loads(done.stdout)["lines"]}
    assert [cell["target"] for cell in lines["names"]] == ["dev", "test", "Avg."] * 2
    assert [cell["shown"] for cell in lines["proto"][:3]] == ["-"] * 3
    assert lines["names"][2]["mean"] == lines["names"][5]["mean"] > 20
    done = run("bench", "transfer", garden / "dev.txt", "--report", tmp_path / "r")
    assert failed(done, "dev: one file has no test split; say --on dev to score on one half of it")


def test_ablation_and_extension(garden, tmp_path):
    quick = ["--sets", "1", "--shots", "1", "--no-plots", "--json", "--quiet"]
    done = run("bench", "ablation", garden, "--which", "subspace", *quick, "--report", tmp_path / "a")
    assert {line["method"] for line in json.loads(done.stdout)["lines"]} == {"hard", "hard-nosubspace"}
    options = ["--groups", "A=PEST,TOOL;B=PLANT", "--encoder", "handful-en", "--methods", "proto"]
    done = run("bench", "extension", garden, *options, *quick, "--report", tmp_path / "e")
    assert {cell["target"] for line in json.loads(done.stdout)["lines"] for cell in line["cells"]} == {"A", "B", "Avg."}
    done = run("bench", "extension", garden, *options, "--encoder", "B=x", *quick, "--report", tmp_path / "e")
    assert done.exit_code == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["transfer", "no-such-folder"], "no-such-folder: does not exist; a folder with train, dev and test"),
        (["transfer", "TARGET", "--methods", "x"], "there is no method 'x'"),
        (["transfer", "TARGET", "--methods", "container-frozen"], "CONTaiNER trains on labelled corpora first"),
        (["extension", "TARGET", "--groups", "x", "--encoder", "y"], "there are no groups 'x'"),
        (["ablation", "TARGET", "--which", "x"], "expected some of unlabelled"),
    ],
)
def test_what_is_wrong_is_one_line(arguments, message, garden, tmp_path):
    arguments = [str(garden) if argument == "TARGET" else argument for argument in arguments]
    assert failed(run("bench", *arguments, "--report", tmp_path / "report"), message)


@pytest.mark.parametrize(
    ("option", "given", "message"),
    [
        ("--shots", "few", "found 'few', expected a list, each entry a whole number of at least 0, as in 1,5"),
        ("--shots", "1,-1", "found '1,-1', expected a list, each entry a whole number of at least 0"),
        ("--layers", "top", "found 'top', expected a list, each entry a whole number, as in -1"),
        ("--on", "train", "found 'train', expected test or dev"),
        ("--sets", "0", "greater than or equal to 1"),
    ],
)
def test_wrong_usage(option, given, message):
    done = run("bench", "transfer", "x", "--report", "y", option, given)
    assert done.exit_code == 2
    shown = " ".join(done.stderr.replace("│", " ").split())
    assert f"Invalid value for '{option}'" in shown
    assert message in shown


def test_every_setting_is_an_option_that_reaches_it(monkeypatch, tmp_path):
    given = {
        "methods": ("proto", "hard"), "ratios": ("none", "0.9"), "shots": (1, 3), "sets": 2, "seed": 4,
        "supports": tmp_path, "layers": (-1, 2), "on": "test", "most_words": 7, "published": True, "plots": False,
        "skip_unnamed": True, "threads": 2, "texts": ("all", "none"), "types": tmp_path / "types.txt", "fewer": True,
        "keep": ("A", "B"), "drop": ("C",), "rename": {"D": "E"},
    }  # fmt: skip
    options = "--methods proto,hard --ratios none --ratios 0.9 --shots 1,3 --sets 2 --seed 4 --layers=-1,2 --on test"
    options += f" --most-words 7 --published --no-plots --skip-unnamed --threads 2 --supports {tmp_path}"
    options += f" --texts all,none --types {tmp_path / 'types.txt'} --fewer --keep A,B --drop C --rename D=E"
    found = []

    def keep(*arguments, settings, **more):
        found.append(settings)
        raise DataError("that is all")

    for protocol in ("transfer", "extension", "ablation"):
        monkeypatch.setattr(f"handful.bench._protocols.{protocol}", keep)
    assert run("bench", "transfer", "x", "--report", "y", *options.split()).exit_code == 1
    groups = ["--groups", "ontonotes", "--encoder", "e"]
    assert run("bench", "extension", "x", *groups, "--report", "y", *options.split()).exit_code == 1
    of_ablation = options.replace("--methods proto,hard ", "").replace(" --texts all,none", "").split()
    assert run("bench", "ablation", "x", "--report", "y", *of_ablation).exit_code == 1
    assert {each.name for each in fields(Settings)} == given.keys() | {"command"}
    wanted = Settings(**given)
    assert [replace(each, command="") for each in found] == [
        wanted,
        wanted,
        replace(wanted, methods=None, texts=("all",)),
    ]
    assert run("bench", "ablation", "x", "--report", "y", "--methods", "proto").exit_code == 2


def test_defaults_are_those_of_the_settings(monkeypatch):
    found = []
    monkeypatch.setattr("handful.bench._protocols.transfer", lambda *given, settings, **more: found.append(settings))
    with pytest.raises(AttributeError):  # there is no report to show
        run("bench", "transfer", "x", "--report", "y")
    assert [replace(each, command="") for each in found] == [Settings()]


def test_speed_of_a_file_and_of_the_garden_notes(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "transformers", None)  # the loop that people write takes long
    (tmp_path / "notes.txt").write_text("The slugs had every lettuce by Sunday.\nWe sprayed soft soap.\n")
    quick = ["--turns", "1", "--threads", "1"]
    found = json.loads(run("bench", "speed", tmp_path / "notes.txt", *quick, "--json").stdout)
    assert (found["n_sentences"], found["n_words"], found["threads"], found["turns"]) == (2, 13, [1], 1)
    assert found["words_per_second"].keys() == {"encode", "predict"}
    assert found["processor"].keys() == {"name", "instructions"}
    shown = run("bench", "speed", "--words", "30", *quick)
    assert shown.exit_code == 0
    assert re.search(r"^encode, words per second +[\d,]+$", shown.stdout, re.MULTILINE)
    assert re.search(r"^add, seconds +[\d.]+$", shown.stdout, re.MULTILINE)
    assert shown.stderr.startswith("note: what people write is not measured")
    assert failed(run("bench", "speed", "no-such-file"), "no-such-file")


@pytest.mark.parametrize("name", ["transfer", "extension", "ablation", "methods", "speed"])
def test_help_has_examples(name):
    shown = run("bench", name, "--help").output
    assert "Examples" in shown
    assert f"handful bench {name}" in shown
