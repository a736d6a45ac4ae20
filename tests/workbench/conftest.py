"""A workbench on a toy encoder, served as it is for people, and a browser to look at it."""

import os
import shutil
import subprocess
import sys
import threading
from contextlib import contextmanager
from importlib.resources import files
from types import SimpleNamespace

import pytest

from .browsing import FLAGS, PATIENCE
from .made import serving, settled

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
GET_IT = "the page is tried in a browser: apt-get install chromium, and pip install playwright"


@pytest.fixture
def served(tmp_path):
    """Serve a project on a free port; the client knows the token."""
    with serving(tmp_path / "p.db") as found:
        yield found


@pytest.fixture(scope="module")
def chromium():
    """Start Chromium, once for all tests of a file."""
    if CHROMIUM is None:
        pytest.skip(f"there is no Chromium; {GET_IT}")
    api = pytest.importorskip("playwright.sync_api", reason=f"there is no Playwright; {GET_IT}")
    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield started
        started.close()


@pytest.fixture
def browser_of(chromium):
    """Give each person a browser of their own; every window that a test opens must be free of errors."""
    problems, contexts = [], {}

    def watch(page):
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: problems.append(line.text) if "Content Security" in line.text else None)

    def get(person):
        if person not in contexts:
            contexts[person] = chromium.new_context(viewport={"width": 1280, "height": 800})
            contexts[person].set_default_timeout(PATIENCE)
            contexts[person].on("page", watch)
        return contexts[person]

    yield get
    for context in contexts.values():
        context.close()
    assert problems == []


@pytest.fixture
def browser(browser_of):
    """Give a browser of its own."""
    return browser_of("")


@pytest.fixture
def window(served, browser):
    """Open windows on a project with a toy encoder, which is fitted."""
    settled(served.session)
    return lambda id: open_at(browser, served, id)


def open_at(browser, served, id="", person=""):
    """Open a window at a sentence."""
    page = browser.new_page()
    page.goto(f"{served.url}/?token={served.tokens[person]}#{id}")
    page.wait_for_selector("#w0")
    page.wait_for_selector("body[data-connected=true]")
    return page


@contextmanager
def labelling(project, *options, corpus=None, types=None, token=None):
    """Run ``handful label`` on the example, or on another text, as a person would."""
    pytest.importorskip("uvicorn")
    folder = files("handful") / "examples"
    command = [sys.executable, "-m", "handful", "label", str(corpus or folder / "unlabelled.txt")]
    command += ["--types", str(types or folder / "types.txt"), "--project", str(project), "--no-browser", *options]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"} | ({"HANDFUL_TOKEN": token} if token else {})
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("http://"):
                break
        else:
            pytest.fail("".join(lines))
        try:
            yield SimpleNamespace(address=line.strip(), process=process, said=lines)
        finally:
            process.terminate()
            late = threading.Timer(60, process.kill)  # then it says less than a test expects
            late.start()
            process.stdout.read()
            late.cancel()


@pytest.fixture
def label(tmp_path):
    """Run ``handful label`` with little text."""
    with labelling(tmp_path / "p.db", "--port", "0", "--words", "500", "--no-cache") as found:
        yield found


def pytest_collection_modifyitems(items):
    """Let the story of the page run each time, and the rest that needs a browser where there is time."""
    for item in items:
        if "chromium" in getattr(item, "fixturenames", ()) and item.path.stem != "test_page_story":
            item.add_marker(pytest.mark.exhaustive)
