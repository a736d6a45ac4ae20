"""The site builds without a warning, needs nothing from elsewhere, and links that leave docs/ lead somewhere."""

import importlib.util
import logging
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

pytest.importorskip("mkdocs", reason="the site needs MkDocs: pip install '.[docs]'")
pytest.importorskip("material", reason="the site needs Material for MkDocs: pip install '.[docs]'")

ROOT = Path(__file__).parents[1]


def build(folder, out):
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", folder / "mkdocs.yml", "-d", out],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    out = tmp_path_factory.mktemp("site")
    run = build(ROOT, out)
    assert run.returncode == 0, run.stderr
    return out


@pytest.fixture
def copy(tmp_path):
    """Return a copy of what the site is made from, to break something in it."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("__pycache__"))
    for name in (
        "mkdocs.yml",
        "pyproject.toml",
        "README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "CHANGELOG.md",
        "NOTICE",
        "corpora",
        "benchmarks",
        "tools",
    ):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "mkdocs.yml").unlink()
    shutil.copy(ROOT / "mkdocs.yml", tmp_path)
    return tmp_path


def test_every_page_is_there(site):
    pages = {path.relative_to(ROOT / "docs").with_suffix(".html") for path in (ROOT / "docs").rglob("*.md")}
    assert len(pages) > 30
    assert all((site / page).is_file() for page in pages)
    assert not list(site.rglob("*.py"))
    assert (site / "search" / "search_index.json").stat().st_size > 100_000


def test_nothing_is_loaded_from_elsewhere(site):
    loaded = re.compile(r"<(?:script|img|iframe|source|video)[^>]*\ssrc=\"?([^\s\">]+)|<link([^>]+)>")
    for page in site.rglob("*.html"):
        for source, link in loaded.findall(page.read_text(encoding="utf-8")):
            assert not source.startswith(("http", "//")), (page, source)
            assert not re.search(r"href=\"?(http|//)", link), (page, link)
    assert "@import" not in (site / "site.css").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        ("[there](missing.md)", "missing.md"),
        ("[there](guide.md#no-such-part)", "no-such-part"),
        ("[there](../no-such-file.md)", "no-such-file.md"),
    ],
)
@pytest.mark.exhaustive
def test_a_dead_link_is_an_error(copy, tmp_path, broken, said):
    with (copy / "docs" / "faq.md").open("a", encoding="utf-8") as file:
        file.write(f"\n{broken}\n")
    run = build(copy, tmp_path / "out")
    assert run.returncode != 0
    assert said in run.stderr


@pytest.mark.exhaustive
def test_a_page_without_a_place_is_an_error_but_a_decision_finds_its_own(copy, tmp_path):
    (copy / "docs" / "decisions" / "0999-made.md").write_text("# 999. Made\n", encoding="utf-8")
    assert build(copy, tmp_path / "out").returncode == 0
    assert "999. Made" in (tmp_path / "out" / "api.html").read_text(encoding="utf-8")  # beside it in the list
    (copy / "docs" / "made.md").write_text("# Made\n", encoding="utf-8")
    run = build(copy, tmp_path / "out")
    assert run.returncode != 0
    assert "made.md" in run.stderr


class TestLinksThatLeave:
    @pytest.fixture
    def hooks(self):
        spec = importlib.util.spec_from_file_location("hooks", ROOT / "docs" / "hooks.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    @staticmethod
    def changed(hooks, text, page="serve.md"):
        return hooks.on_page_markdown(text, SimpleNamespace(parent="How to", file=SimpleNamespace(src_uri=page)))

    def test_without_an_address_they_become_text(self, hooks, monkeypatch):
        monkeypatch.setattr(hooks, "repository", lambda: "")
        assert self.changed(hooks, "the [README](../README.md).") == "the README (`README.md`)."
        assert self.changed(hooks, "[`NOTICE`](../NOTICE)") == "`NOTICE`"
        assert self.changed(hooks, "[it](../../README.md)", "decisions/0001-cluster-core.md") == "it (`README.md`)"

    def test_with_an_address_they_lead_there(self, hooks, monkeypatch):
        monkeypatch.setattr(hooks, "repository", lambda: "https://example.org/handful")
        found = self.changed(hooks, "the [README](../README.md#install)")
        assert found == "the [README](https://example.org/handful/blob/main/README.md#install)"

    def test_others_stay(self, hooks):
        for text in (
            "[guide](guide.md#parts) and ![a picture](images/demo.svg)",
            "```sh\n[x](../README.md)\n```\n",
            "`[x](../README.md)`",
        ):
            assert self.changed(hooks, text) == text
        assert self.changed(hooks, "[names](../names.md)", "decisions/0004-names.md") == "[names](../names.md)"

    def test_a_bar_within_code_is_one(self, hooks):
        assert self.changed(hooks, r"| `[box](PLANT\|TOOL)` | a |") == "| `[box](PLANT|TOOL)` | a |"
        assert self.changed(hooks, "```sh\na \\| b\n```") == "```sh\na \\| b\n```"

    def test_one_to_a_missing_file_is_said(self, hooks, caplog):
        with caplog.at_level(logging.WARNING):
            self.changed(hooks, "[x](../no-such-file)")
        assert "serve.md links to no-such-file" in caplog.text

    def test_a_flowchart_becomes_text(self, hooks):
        chart = "```mermaid\nflowchart TD\n    cli --> bench\n    cli --> web\n    bench --> text\n```"
        assert self.changed(hooks, chart) == "```text\n  cli → bench, web\nbench → text\n```"
