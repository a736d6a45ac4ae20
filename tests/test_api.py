"""The API reference is made from the docstrings, and is that of today."""

import importlib.util
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from handful.tagger.evidence import EVIDENCE

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def made():
    spec = importlib.util.spec_from_file_location("make_api", DOCS / "make_api.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current(made):
    page = (DOCS / "api.md").read_text(encoding="utf-8")
    assert page == made.api(), "docs/api.md is out of date: run python docs/make_api.py"


def test_the_table_of_weights_is_current(made):
    (table,) = made.WEIGHTS.findall((DOCS / "architecture.md").read_text(encoding="utf-8"))
    assert table == made.weights(), "docs/architecture.md is out of date: run python docs/make_api.py"
    assert set(made.EVIDENCE) == set(EVIDENCE)


def test_every_public_class_and_function_is_there_with_its_parameters(made):
    page = made.api()
    titles = set(re.findall(r"^#+ (.+)$", page, flags=re.MULTILINE))
    for room in made.ROOMS:
        module = import_module(f"handful.{room}")
        for name in module.__all__:
            found = getattr(module, name)
            if inspect.isfunction(found):
                section = page.partition(f"\n### {name}\n")[2].partition("\n##")[0]
                assert all(parameter in section for parameter in inspect.signature(found).parameters), name
            assert name in titles or f"`{name}`" in page
            assert name in titles or not inspect.isclass(found)
    assert {"Tagger.fit", "Predictor.predict", "SubspaceKMeans.fit", "Sentence.with_text"} <= titles
    assert "\nTagger(types=None, *, encoder='handful-en', names=True" in page
    assert "- `unlabelled`: text of the kind to be tagged" in page


def test_all_rooms_but_the_command_line_are_on_the_page(made):
    rooms = {path.parent.name for path in (DOCS.parent / "src" / "handful").glob("*/__init__.py")}
    assert {room for room in rooms if room[0] != "_"} - {"cli"} == set(made.ROOMS) - {"encoders.cache", "errors"}


def test_links_within_the_page_lead_somewhere(made):
    page = made.api()
    anchors = {made._anchor(title) for title in re.findall(r"^#+ (.+)$", page, flags=re.MULTILINE)}
    assert set(re.findall(r"\]\(#([^)]*)\)", page)) <= anchors


def test_nothing_on_the_page_depends_on_the_machine(made):
    page = made.api()
    assert str(DOCS.parent) not in page
    assert " at 0x" not in page
