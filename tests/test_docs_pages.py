"""The pages that were written for the site: their commands run, top to bottom, and print what the pages show."""

import importlib.util
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
#: tests/cli tries the demo; what makes the gallery is tried below.
NOT_RUN = {"pip install .", "pip install '.[web]'", "handful demo", "python docs/make_gallery.py"}
ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "100"}


def blocks(page):
    """Return the language and the text of each block of code of a page."""
    return re.findall(r"^```(\w+)\n(.*?)^```$", (DOCS / page).read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def is_alike(promised, printed):
    """Whether two lines have the same words, and nearly the same numbers."""
    promised, printed = promised.split(), printed.split()
    if len(promised) != len(printed):
        return False
    for one, other in zip(promised, printed, strict=True):
        if re.fullmatch(r"[\d.]+", one) and re.fullmatch(r"[\d.]+", other):
            if abs(float(one) - float(other)) > (4 if "." in one else max(4, 0.1 * float(one))):
                return False
        elif one != other:
            return False
    return True


def run_shell(script, folder):
    """Run commands as one script; servers are started, asked for their address, and stopped."""
    lines = [line for line in script.splitlines() if line not in NOT_RUN]
    servers = [line for line in lines if line.startswith(("handful label", "handful serve"))]
    script = "\n".join(line for line in lines if line not in servers)
    run = subprocess.run(
        ["bash", "-ec", script], cwd=folder, env=ENVIRONMENT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, f"{script}\n{run.stdout}{run.stderr}"
    for server in servers:
        assert "http://127.0.0.1:" in _first_words_of(f"exec {server} --no-browser --port 0", folder)
    return run.stdout


def _first_words_of(command, folder):
    process = subprocess.Popen(
        ["bash", "-c", command],
        cwd=folder,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    late = threading.Timer(300, process.kill)
    late.start()
    said = ""
    try:
        for line in process.stdout:
            said += line
            if "http://" in line:
                break
        process.send_signal(signal.SIGINT)
        process.communicate()
    finally:
        late.cancel()
        process.kill()
    return said


@pytest.mark.parametrize("page", ["index.md", "tutorial.md", "concepts.md"])
def test_a_page_runs_and_prints_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.setitem(ENVIRONMENT, "HANDFUL_CACHE", str(tmp_path / "cache"))
    (tmp_path / "docs").symlink_to(DOCS)
    printed, n_shown = "", 0
    for language, code in blocks(page):
        if language == "sh":
            printed = run_shell(code, tmp_path)
        elif language == "python":
            run = subprocess.run(
                [sys.executable, "-Bc", code],
                cwd=tmp_path,
                env=ENVIRONMENT,
                capture_output=True,
                text=True,
                check=False,
            )
            assert run.returncode == 0, f"{code}\n{run.stderr}"
            printed = run.stdout
        else:
            assert language == "text"
            for line in code.splitlines():
                assert any(is_alike(line, other) for other in printed.splitlines()), f"{line}\nnot in\n{printed}"
                n_shown += 1
    assert n_shown >= 2


@pytest.mark.parametrize("page", ["gallery.md", "comparison.md", "faq.md"])
def test_the_other_pages_promise_no_other_command(page):
    assert {line for _, code in blocks(page) for line in code.splitlines()} <= NOT_RUN


def test_words_and_numbers_are_compared():
    assert is_alike("PEST  72.4 21", "PEST 75.0   21")
    assert not is_alike("PEST  72.4 21", "PEST 77.0 21")
    assert not is_alike("PEST  72.4 21", "TOOL 72.4 21")
    assert not is_alike("PEST  72.4 21", "PEST 72.4")


def made(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return module


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
    assert len(re.findall(r'<p class="s">', page)) == 5 * len(gallery.DOMAINS)


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
