"""The notebooks of the docs run from the first cell to the last, in a kernel of Jupyter, and show what they say."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

FOLDER = Path(__file__).parents[1] / "docs" / "notebooks"

RUN = """
import sys, nbformat
from nbclient import NotebookClient
book = nbformat.read(sys.argv[1], as_version=4)
NotebookClient(book, timeout=300, kernel_name="python3").execute()
nbformat.write(book, sys.argv[2])
"""


def executed(book, folder):
    """Run a notebook in a folder; return the outputs of each of its cells with code."""
    target = folder / "executed.ipynb"
    environment = {**os.environ, "HANDFUL_CACHE": str(folder / "cache"), "JUPYTER_RUNTIME_DIR": str(folder / "run")}
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", RUN, str(book), str(target)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    cells = json.loads(target.read_text(encoding="utf-8"))["cells"]
    return [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]


def html(outputs):
    return "".join("".join(one.get("data", {}).get("text/html", "")) for one in outputs)


def text(outputs):
    plain = ("".join(one.get("text", one.get("data", {}).get("text/plain", ""))) for one in outputs)
    return "".join(plain)


def shown(outputs):
    """Return the last line of a text as a notebook shows it: a carriage return goes back to the start of the line."""
    return text(outputs).rstrip("\n").rsplit("\r", 1)[-1]


@pytest.mark.exhaustive
def test_own_types(tmp_path):
    cells = executed(FOLDER / "own-types.ipynb", tmp_path)
    assert "vine weevils<small" in html(cells[1])
    assert "PEST" in text(cells[2])
    assert html(cells[3]).count("<div") == 3
    assert "whitefly<small" in html(cells[3])
    assert html(cells[4]).count(">WHEN</small>") == 2  # Sunday and June
    assert "<th" in html(cells[5])
    assert "an animal, disease or disorder that harms plants" in html(cells[5])
    assert "strict" in text(cells[6])
    assert "<mark" in html(cells[7])


@pytest.mark.exhaustive
def test_more_labels(tmp_path):
    cells = executed(FOLDER / "more-labels.ipynb", tmp_path)
    assert html(cells[1]).count("<div") == 3
    assert "<table>" in html(cells[2])
    before, after = (float(text(cells[i]).split(": ")[1].split()[0].split("'")[0]) for i in (0, 3))
    assert 40 < before < after
    assert text(cells[5]) == "True"
    assert (tmp_path / "garden-model" / "config.json").is_file()


@pytest.mark.exhaustive
def test_a_corpus(tmp_path):
    cells = executed(FOLDER / "corpus.ipynb", tmp_path)
    bar = shown(cells[2])
    assert bar.startswith("tagging ")
    (share,) = re.findall(r"([\d]+)% · [\d,]+ words · ", bar)
    assert share == "100"
    assert text(cells[3]).startswith("(80, ")
    assert len((tmp_path / "tagged.jsonl").read_text(encoding="utf-8").splitlines()) == 80
    assert "<mark" in html(cells[4])
    assert text(cells[5]).count(" s\n") == 2


def test_bars_appear_after_a_second_and_go(tmp_path):
    book = nbformat.v4.new_notebook()
    wait = "import time\nfrom handful._util.progress import reporting\n"
    count = "    for i in range(8):\n        report(10 * i, 100)\n        time.sleep(0.2)\n"
    book.cells = [
        nbformat.v4.new_code_cell(f"{wait}with reporting(None, 100) as report:\n{count}"),
        nbformat.v4.new_code_cell("with reporting(None, 100) as report:\n    report(1, 100)"),
        nbformat.v4.new_code_cell("with reporting(False, 100) as report:\n    report(1, 100)"),
        nbformat.v4.new_code_cell("with reporting(True, 100, 'reading <it>') as report:\n    report(50, 100)"),
        nbformat.v4.new_code_cell("with reporting(True, 10, 'fitting', 'rounds') as report:\n    report(4, 4)"),
    ]
    nbformat.write(book, tmp_path / "bars.ipynb")
    cells = executed(tmp_path / "bars.ipynb", tmp_path)
    assert "/100 words" in text(cells[0])
    assert shown(cells[0]).strip() == ""
    assert cells[1] == cells[2] == []
    assert shown(cells[3]).startswith("reading <it> ")
    assert "50/100 words" in shown(cells[3])
    assert "4/4 rounds" in shown(cells[4])


@pytest.mark.parametrize("file", sorted(FOLDER.glob("*.ipynb")), ids=lambda file: file.stem)
def test_notebooks_are_kept_without_outputs(file):
    book = nbformat.read(file, as_version=4)
    nbformat.validate(book)
    assert not [cell for cell in book.cells if cell.cell_type == "code" and (cell.outputs or cell.execution_count)]
