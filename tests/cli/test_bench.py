"""``handful bench``, with the embedded encoder on a small corpus."""

import json
import re
import shutil
from dataclasses import replace

import pytest
from commands import failed, handful, run

from handful.bench import Settings, method_names
from handful.errors import DataError
from handful.examples import HELDOUT, SUPPORT

QUICK = ("--methods", "proto,hard", "--o-ratios", "none", "--sets", "2", "--shots", "1")


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


def cells(folder):
    """Return the cells of the table of a report, by the labels of its lines: means without deviations."""
    page = (folder / "README.md").read_text(encoding="utf-8").replace("*", "").replace("\\", "")
    rows = [[one.strip() for one in line.strip("|").split("|")] for line in page.splitlines() if line.startswith("|")]
    return {label: [one.partition(" ")[0] for one in found] for label, *found in rows if any(found)}


def test_the_help_lists_the_methods():
    shown = re.findall(r"[\w-]+", run("bench", "--help").output)
    assert set(method_names()) <= set(shown)


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
    again = handful("bench", "transfer", garden, *QUICK, "--report", tmp_path / "report")
    assert again.stdout == done.stdout
    mean = sum(row["f1"] for row in rows if row["method"] == "hard") / 2
    assert cells(tmp_path / "report")["r_O = NA"] == [f"{100 * mean:.1f}"]
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
    arguments = ["--methods", "mine:Nothing", "--on", "dev", "--sets", "1", "--shots", "1", "--report", "r"]
    assert handful("bench", "transfer", garden, *arguments, cwd=tmp_path).returncode == 0
    assert cells(tmp_path / "r")["mine:Nothing"] == ["0.0"]


def test_no_labels_and_what_types_mean(garden, tmp_path):
    target = shutil.copytree(garden, tmp_path / "garden")
    (target / "types.txt").write_text(
        "PLANT: plants, trees and vegetables\nPEST: insects, slugs and diseases that harm plants\nTOOL: garden tools\n"
    )
    (tmp_path / "recipe.toml").write_text("texts = ['all', 'none']\n")
    options = ["--methods", "proto,handful,names", "--shots", "0", "--recipe", tmp_path / "recipe.toml"]
    assert run("bench", "transfer", target, *options, "--report", tmp_path / "r").exit_code == 0
    rows = [json.loads(line) for line in (tmp_path / "r" / "results.jsonl").read_text().splitlines()]
    assert {(row["method"], row["text"]) for row in rows} == {
        ("handful", "all"),
        ("handful", "none"),
        ("names", "none"),
    }
    assert min(row["f1"] for row in rows) > 0.2
    assert {tuple(row["types"][2]) for row in rows} == {("TOOL", "garden tools")}
    assert {row["names"] for row in rows} == {True}


def test_labelled_files_are_targets_of_which_a_half_is_scored(garden, tmp_path):
    options = ["--on", "dev", "--shots", "0,1", "--sets", "1", "--methods", "names,proto"]
    targets = [garden / "dev.txt", garden / "test.txt"]
    assert run("bench", "transfer", *targets, *options, "--report", tmp_path / "r").exit_code == 0
    found = cells(tmp_path / "r")
    assert found["method"] == ["0-shot", "0-shot", "0-shot", "1-shot", "1-shot", "1-shot"]
    assert found["proto"][:3] == ["-"] * 3
    assert found["names"][2] == found["names"][5]
    assert float(found["names"][2]) > 20
    done = run("bench", "transfer", garden / "dev.txt", "--report", tmp_path / "r")
    assert failed(done, "dev: one file has no test split; say --on dev to score on one half of it")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["transfer", "no-such-folder"], "no-such-folder: does not exist; a folder with train, dev and test"),
        (["transfer", "TARGET", "--methods", "x"], "there is no method 'x'"),
    ],
)
def test_what_is_wrong_is_one_line(arguments, message, garden, tmp_path):
    arguments = [str(garden) if argument == "TARGET" else argument for argument in arguments]
    assert failed(run("bench", *arguments, "--report", tmp_path / "report"), message)


@pytest.mark.parametrize(
    ("option", "given", "message"),
    [
        ("--shots", "few", "'few' is not a list of numbers, such as 1,5"),
        ("--on", "train", "'train' is not one of test, dev"),
        ("--sets", "0", "greater than or equal to 1"),
    ],
)
def test_wrong_usage(option, given, message):
    done = run("bench", "transfer", "x", "--report", "y", option, given)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.replace("│", " ").split())


def test_settings_that_are_not_possible_are_one_line(tmp_path):
    arguments = ["bench", "transfer", "x", "--report", "y"]
    message = "shots is (1, -1), expected a list, each entry a whole number of at least 0"
    assert failed(run(*arguments, "--shots", "1,-1"), message)
    (tmp_path / "r.toml").write_text("set = 3\n")
    assert failed(run(*arguments, "--recipe", tmp_path / "r.toml"), "there is no setting 'set'; did you mean 'sets'?")


def test_options_go_before_the_recipe(monkeypatch, tmp_path):
    (tmp_path / "r.toml").write_text("sets = 3\nseed = 4\nfewer = true\n")
    options = f"--o-ratios none,0.9 --shots 1,3 --sets 2 --on dev --threads 2 --recipe {tmp_path / 'r.toml'}".split()
    found = []

    def keep(*arguments, settings, **more):
        found.append(replace(settings, command=""))
        raise DataError("that is all")

    monkeypatch.setattr("handful.bench._transfer.transfer", keep)
    assert run("bench", "transfer", "x", "--report", "y", *options, "--methods", "proto,hard").exit_code == 1
    assert run("bench", "transfer", "x", "--report", "y", "--recipe", tmp_path / "r.toml").exit_code == 1
    given = Settings(o_ratios=("none", "0.9"), shots=(1, 3), sets=2, seed=4, on="dev", threads=2, fewer=True)
    assert found == [replace(given, methods=("proto", "hard")), Settings(sets=3, seed=4, fewer=True)]


def test_defaults_are_those_of_the_settings(monkeypatch):
    found = []
    monkeypatch.setattr("handful.bench._transfer.transfer", lambda *given, settings, **more: found.append(settings))
    with pytest.raises(AttributeError):  # there is no report to show
        run("bench", "transfer", "x", "--report", "y")
    assert [replace(each, command="") for each in found] == [Settings()]


def test_help_has_examples():
    shown = run("bench", "transfer", "--help").output
    assert "Examples" in shown
    assert "handful bench transfer" in shown
