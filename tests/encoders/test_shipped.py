"""Encoders of other distributions: built, installed and found by name."""

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import numpy as np
import pytest
from heads import random_head

from handful import Tagger
from handful.encoders import load, open_encoder
from handful.encoders.languages import choose, installed, languages_of
from handful.encoders.names import NAMES_FILE
from handful.encoders.shipped import about, folder_of, names
from handful.errors import EncoderError
from handful.text import to_sentences

DISTRIBUTION = Path(__file__).parents[2] / "encoders/handful-xx"
WEIGHTS = ("*.bin", "*.json", "*.onnx", "*.safetensors")
GERMAN = to_sentences("Der Bürgermeister ist gestern nicht nach Berlin gefahren, weil der Zug ausgefallen ist. " * 3)
ENGLISH = to_sentences("The mayor did not go to the city yesterday because the train was not there for them. " * 3)


def pip(command, *arguments):
    """Run pip without any network; --no-deps: what is needed is what these tests run with."""
    env = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    command = [sys.executable, "-m", "pip", command, "-q", "--no-deps", "--no-build-isolation", "--no-index"]
    done = subprocess.run([*command, *map(str, arguments)], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def site(exported, made_once):
    """Return a folder with an installed distribution that is made as handful-xx is, from a small encoder."""

    def make(place):
        tree = place / "tree"
        shutil.copytree(DISTRIBUTION, tree, ignore=shutil.ignore_patterns(*WEIGHTS))
        for file in exported("bert").iterdir():
            shutil.copy(file, tree / "handful_xx" / file.name)
        card = tree / "handful_xx/encoder.json"
        text = json.dumps(json.loads(card.read_text()) | {"languages": ["de", "fr"], "licence": "CC0", "names": True})
        random_head().save(tree / "handful_xx" / NAMES_FILE)
        card.write_text(text)
        pip("install", "--target", place / "site", tree)

    return made_once("shipped", make) / "site"


@pytest.fixture
def shipped(site, monkeypatch):
    monkeypatch.syspath_prepend(site)
    return site


def test_the_encoder_is_found_by_its_name(shipped):
    encoder = load("handful-xx")
    assert (encoder.name, encoder.reference, encoder.languages) == ("handful-xx", "handful-xx", ("de", "fr"))
    assert encoder.fingerprint == load(shipped / "handful_xx").fingerprint
    assert folder_of("handful-xx") == shipped / "handful_xx"
    np.testing.assert_array_equal(open_encoder("handful-xx").encode([["Ekeus"]]), encoder.encode([["Ekeus"]]))
    assert "handful_xx" not in sys.modules  # nothing of it is run


def test_what_is_installed_is_known(shipped):
    assert names() == ["handful-en", "handful-xx"]
    found = about("handful-xx")
    assert (found.languages, found.licence, found.distribution) == (("de", "fr"), "CC0", "handful-xx 0.2.0")
    assert found.n_bytes == sum(file.stat().st_size for file in (shipped / "handful_xx").iterdir() if file.is_file())
    assert about("handful-en").languages == ("en",)


def test_the_encoder_that_knows_the_language_is_chosen(shipped):
    assert installed() == {"handful-en": ("en",), "handful-xx": ("de", "fr")}
    assert (choose(GERMAN), choose(ENGLISH)) == ("handful-xx", "handful-en")
    assert languages_of("handful-xx") == languages_of(load("handful-xx")) == ("de", "fr")


def test_a_tagger_keeps_the_name_of_its_encoder(shipped, tmp_path):
    labels = ["[Ekeus](PER) heads for [Baghdad](LOC).", "[Paris](LOC) says the [Ekeus](PER) ."]
    tagger = Tagger(encoder="handful-xx", cache=False).fit(labels)
    tagger.save(tmp_path / "model")
    assert Tagger.load(tmp_path / "model").encoder == "handful-xx"
    assert Tagger.load(tmp_path / "model").predict("Ekeus left.") == tagger.predict("Ekeus left.")


def test_an_encoder_that_is_not_installed_says_how_to_get_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for ask in (load, open_encoder, lambda name: Tagger(encoder=name).fit(["[a](B) c"])):
        with pytest.raises(EncoderError, match=r"'handful-xx' is not installed; installed are handful-en") as error:
            ask("handful-xx")
        assert "pip install handful-xx" in str(error.value)


def entry_point(site, name, value, distribution="other"):
    about = site / f"{distribution}-1.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1\n")
    (about / "entry_points.txt").write_text(f"[handful.encoders]\n{name} = {value}\n")


def test_two_distributions_with_one_name_are_an_error(shipped, tmp_path, monkeypatch):
    entry_point(tmp_path, "handful-xx", "something_else")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EncoderError, match=r"an encoder 'handful-xx': handful-xx 0\.2\.0, other 1;"):
        load("handful-xx")


@pytest.mark.parametrize("damage", [b"mine", b"mine = \xff"])
def test_entry_points_that_cannot_be_read_are_an_error(damage, shipped, tmp_path, monkeypatch):
    entry_point(tmp_path, "mine", "mine")
    (tmp_path / "other-1.dist-info/entry_points.txt").write_bytes(b"[handful.encoders]\n" + damage + b"\n")
    monkeypatch.syspath_prepend(tmp_path)
    for ask in (names, installed, lambda: load("handful-xx")):
        with pytest.raises(EncoderError, match=r"entry_points.txt of other 1 is damaged; install this again"):
            ask()
    load("handful-en")


@pytest.mark.parametrize("damage", [b"Version: 1\n", b"Name: other\n", b"Name: other\nVersion: 1\nSummary: \xff\n"])
def test_a_distribution_that_cannot_be_named_is_said_by_its_folder(damage, shipped, tmp_path, monkeypatch):
    entry_point(tmp_path, "handful-xx", "something_else")
    (tmp_path / "other-1.dist-info/METADATA").write_bytes(damage)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EncoderError, match=rf"a damaged distribution in {tmp_path}, handful-xx 0.2.0; remove one"):
        load("handful-xx")


@pytest.mark.parametrize("value", ["no_such_package", "os.path", "json:dumps", "__main__"])
def test_an_entry_point_that_leads_nowhere_is_an_error(value, tmp_path, monkeypatch):
    entry_point(tmp_path, "mine", value)
    monkeypatch.syspath_prepend(tmp_path)
    said = f"other 1 says that the encoder 'mine' is in the package '{value}', which is not there"
    with pytest.raises(EncoderError, match=said):
        load("mine")


def test_a_package_without_an_encoder_is_an_error(tmp_path, monkeypatch):
    entry_point(tmp_path, "mine", "empty_package")
    (tmp_path / "empty_package").mkdir()
    (tmp_path / "empty_package/__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(EncoderError, match=r"broken encoder 'mine': .*empty_package holds no encoder\.json"):
        about("mine")
    with pytest.raises(EncoderError, match=r"holds neither encoder\.json nor config\.json"):
        load("mine")


@pytest.mark.parametrize("wrong", ["en", ["english"], [1], {"en": 1}])
def test_wrong_languages_of_a_card_are_an_error(wrong, exported, tmp_path):
    folder = shutil.copytree(exported("bert"), tmp_path / "wrong")
    card = json.loads((folder / "encoder.json").read_text())
    (folder / "encoder.json").write_text(json.dumps(card | {"languages": wrong}))
    with pytest.raises(EncoderError, match="languages must be a list of codes such as en"):
        load(folder)


def handful(site, *arguments, columns="80", cwd=None, given=None):
    own = {"PYTHONPATH": os.pathsep.join([str(site), *sys.path]), "COLUMNS": columns}
    env = os.environ | own | {"HANDFUL_CACHE": str(site.parent / "cache")}
    command = [sys.executable, "-c", "from handful.cli import main; main()", *arguments]
    return subprocess.run(command, env=env, cwd=cwd, input=given, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("columns", ["40", "200"])
def test_the_command_lists_what_is_installed_on_any_terminal(site, columns):
    done = handful(site, "encoders", columns=columns)
    parts = {part.split()[0]: " ".join(part.split()[1:]) for part in re.split(r"\n(?=\S)", done.stdout)}
    assert list(parts) == ["handful-en", "handful-xx"]
    assert parts["handful-en"].startswith("languages English size 73 MiB, 768 numbers per word licence Apache-2.0 for")
    assert parts["handful-xx"].startswith("languages German, French size 0 MiB, 32 numbers per word licence CC0 from")
    assert parts["handful-xx"].endswith("handful-xx 0.2.0")


def test_every_command_that_reads_text_takes_the_encoder_of_its_language(shipped, tmp_path):
    german = " ".join(sentence.text for sentence in GERMAN)
    (tmp_path / "de.txt").write_text(german, encoding="utf-8")
    (tmp_path / "gold.txt").write_text(german.replace("Berlin", "[Berlin](city)"), encoding="utf-8")
    auto = ("--types", "city", "--encoder", "auto")

    def ask(*arguments, given=None):
        done = handful(shipped, *arguments, cwd=tmp_path, given=given)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr  # no note that it does not know German
        return done.stdout

    said = ask("predict", "de.txt", *auto)
    assert said == ask("predict", "--types", "city", "--encoder", "handful-xx", "de.txt")
    assert said == ask("predict", *auto, "-", given=german)
    assert json.loads(said)["text"] == german
    ask("evaluate", "gold.txt", *auto)
    ask("fit", "gold.txt", *auto, "--out", "model", "--quiet", "--no-cache")
    assert Tagger.load(tmp_path / "model").encoder == "handful-xx"


def test_where_there_is_no_text_the_types_say_which_encoder_is_taken(shipped):
    assert (
        Tagger({"ORT": "der Ort, in dem ein Mensch wohnt, und die Stadt"}, encoder="auto").fit().encoder_.name
        == "handful-xx"
    )
    assert Tagger({"PLACE": "the town in which a person lives"}, encoder="auto").fit().encoder_.name == "handful-en"
    assert Tagger("Ort", encoder="auto").fit().encoder_.name == "handful-en"


def test_a_choice_without_text_is_an_error(tmp_path):
    with pytest.raises(EncoderError, match="'auto' chooses an encoder by the language of a text"):
        load("auto")


@pytest.mark.exhaustive
def test_a_release_tries_an_encoder_in_an_environment_of_its_own(site, tmp_path, capsys):
    pip("wheel", "--wheel-dir", tmp_path / "made", site.parent / "tree")
    (wheel,) = (tmp_path / "made").iterdir()
    venv.create(tmp_path / "venv", with_pip=True)
    programs = tmp_path / "venv/bin"
    (packages,) = (tmp_path / "venv/lib").glob("python*/site-packages")
    (packages / "here.pth").write_text("\n".join(path for path in sys.path if path), encoding="utf-8")
    (programs / "handful").write_text(
        f"#!{programs / 'python'}\nfrom handful.cli import main\nmain()\n", encoding="utf-8"
    )
    (programs / "handful").chmod(0o755)
    runpy.run_path(str(DISTRIBUTION.parents[1] / "tools/release.py"))["try_encoder"](wheel, programs, tmp_path)
    said = capsys.readouterr().out.splitlines()
    assert [line.partition("environment, ")[2] for line in said] == [
        "handful encoders lists handful-xx",
        "handful predict --encoder handful-xx answers",
        "--encoder auto takes handful-xx for de",
    ]
