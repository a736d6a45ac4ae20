"""`handful demo`, with a tiny encoder in the place of the embedded one."""

import json
import re
import shutil

import pytest
from commands import failed, run

from handful import Tagger, examples
from handful.cli.demo import _comments
from handful.encoders import EMBEDDED
from handful.evaluate import Score, Scores
from handful.text import read


@pytest.fixture
def tiny(place, monkeypatch, tmp_path):
    monkeypatch.setitem(EMBEDDED, "handful-en", place / "encoder")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_demo_scores_four_fits_and_writes_a_page(tiny):
    result = run("demo")
    assert (result.exit_code, result.stderr) == (0, "")
    rows = [line.split() for line in result.stdout.splitlines()]
    f1 = [row[-2] for row in rows if row[:1] in (["what"], ["and"]) and row[-1].replace(".", "").isdigit()]
    assert len(f1) == 4
    assert "handful-demo.html" in result.stdout
    page = (tiny / "handful-demo.html").read_text(encoding="utf-8")
    assert re.findall(r"<td>([\d.]+)</td><td><span", page) == f1
    assert page.count('<p class="s" dir="auto">') == len(read(examples.SUPPORT)) + len(read(examples.HELDOUT))
    assert page.endswith("</html>\n")


def test_demo_writes_its_corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "try: handful predict --types garden/types.txt" in run("demo", "--files", "garden").stderr
    garden = tmp_path / "garden"
    assert sorted(path.name for path in garden.iterdir()) == [
        "corpus.txt",
        "few.txt",
        "notes.txt",
        "test.txt",
        "types.txt",
    ]
    for name, source in (
        ("types", examples.TYPES),
        ("few", examples.SUPPORT),
        ("corpus", examples.UNLABELLED),
        ("test", examples.HELDOUT),
    ):
        assert (garden / f"{name}.txt").read_bytes() == source.read_bytes()
    notes = (garden / "notes.txt").read_text(encoding="utf-8").splitlines()
    assert notes == [sentence.text for sentence in read(examples.HELDOUT)]
    assert failed(
        run("demo", "--files", "garden"), "garden: is a folder with files in it; give the name of a new or empty one"
    )
    assert "try: handful predict --types other/types.txt" in run("demo", "--files", "other").stderr


def test_demo_in_another_language_takes_an_encoder_that_knows_it(tiny, place, monkeypatch):
    assert failed(run("demo", "--language", "de"), "no encoder that is installed knows German; pip install handful-xx")
    assert not (tiny / "handful-demo.html").exists()
    folder = shutil.copytree(place / "encoder", tiny / "many")
    card = json.loads((folder / "encoder.json").read_text(encoding="utf-8"))
    (folder / "encoder.json").write_text(json.dumps(card | {"languages": ["de", "es", "zh"]}), encoding="utf-8")
    monkeypatch.setitem(EMBEDDED, "many", folder)
    result = run("demo", "--language", "de")
    assert (result.exit_code, result.stderr) == (0, "")
    page = (tiny / "handful-demo.html").read_text(encoding="utf-8")
    assert "Wann treffen wir uns am Sonntag" in page
    assert "SCHÄDLING" in page
    advice = "--types zh/types.txt zh/notes.txt --encoder auto"
    assert advice in run("demo", "--language", "zh", "--files", "zh").stderr
    assert (tiny / "zh/types.txt").read_bytes() == examples.NOTES["zh"].types.read_bytes()


def test_demo_that_cannot_write_its_page(tiny):
    assert failed(run("demo", "--out", "no/such/folder.html"), "no/such/folder.html")
    assert list(tiny.iterdir()) == []


@pytest.mark.parametrize(
    ("f1", "n_comments"), [((1, 2, 3, 4), 0), ((3, 1, 4, 5), 1), ((1, 3, 5, 4), 1), ((4, 3, 2, 1), 2)]
)
def test_demo_says_why_when_more_is_worse(place, f1, n_comments):
    tagger = Tagger.load(place / "model", encoder=place / "encoder")
    steps = [("", tagger, Scores(Score(10, 10, n)), 0.0) for n in f1]
    assert len(_comments(steps)) == n_comments
