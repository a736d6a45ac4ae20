"""What scripts write for the site is what they would write now: the gallery, and pictures with their figures."""

import importlib.util
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"


def made(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


@pytest.mark.exhaustive
def test_the_gallery_is_what_its_script_writes(monkeypatch, tmp_path):
    monkeypatch.setenv("HANDFUL_CACHE", str(tmp_path))
    gallery = made("make_gallery")
    page = gallery.PAGE.read_text(encoding="utf-8")
    assert page.startswith(gallery.HEAD)
    assert re.findall(r"^## (.*)$", page, re.MULTILINE) == list(gallery.DOMAINS.values())
    title = gallery.DOMAINS["vet_emails"]
    cells, section = gallery.domain("vet_emails", title, gallery.CachedEncoder(gallery.load("handful-en")))
    (row,) = re.findall(rf"^\| \[{title}\]\(.*?\) \|(.*)\|$", page, re.MULTILINE)
    figures = [float(cell.split("±")[0]) for cell in row.split("|")]
    assert figures == pytest.approx([float(cell.split(" ")[0]) for cell in cells], abs=3)
    assert section.partition("</dl>")[0] in page
    assert len(re.findall(r'<p class="s" dir="auto">', page)) == 5 * len(gallery.DOMAINS)


def test_the_picture_of_the_loop_is_that_of_its_script():
    pictures = made("make_pictures")
    frames, truth = pictures.loop()
    drawn = pictures.draw_loop(frames, truth)
    kept = (pictures.IMAGES / "loop.svg").read_text(encoding="utf-8")
    assert re.findall("<text.*?</text>", drawn) == re.findall("<text.*?</text>", kept)
    numbers = [[int(one) for one in re.findall(r"(\d+)px", picture)] for picture in (drawn, kept)]
    assert numbers[0] == pytest.approx(numbers[1], abs=2)
    assert "@media (prefers-reduced-motion:no-preference)" in kept
    assert kept.index("animation:") > kept.index("@media")  # nothing moves outside of it


def test_the_figures_of_the_projection_are_those_of_its_picture():
    kept = (DOCS / "images" / "projection.svg").read_text(encoding="utf-8")
    without, within = re.findall(r"F1 of words ([\d.]+)<", kept)
    page = " ".join((DOCS / "concepts.md").read_text(encoding="utf-8").split())
    assert f"{without} without the projection and {within} with it" in page
