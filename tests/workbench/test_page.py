"""The page in a real browser."""

import os
import shutil
import subprocess
import sys
from importlib.resources import files
from types import SimpleNamespace

import pytest

from .made import settled

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
GET_IT = "the page is tried in a browser: apt-get install chromium, and pip install playwright"


@pytest.fixture
def browser():
    """Start Chromium; every window that a test opens must be free of errors."""
    if CHROMIUM is None:
        pytest.skip(f"there is no Chromium; {GET_IT}")
    api = pytest.importorskip("playwright.sync_api", reason=f"there is no Playwright; {GET_IT}")
    problems = []

    def watch(page):
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: problems.append(line.text) if "Content Security" in line.text else None)

    with api.sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = started.new_context(viewport={"width": 1280, "height": 800})
        context.on("page", watch)
        yield context
        started.close()
    assert problems == []


@pytest.fixture
def window(served, browser):
    """Open windows on a project with a toy encoder, which is fitted."""
    settled(served.session)

    def opened(id):
        page = browser.new_page()
        page.goto(f"{served.url}/?token={served.token}#{id}")
        page.wait_for_selector("#w0")
        return page

    return opened


@pytest.fixture
def label(tmp_path):
    """Run ``handful label`` on the example, as a person would."""
    folder = files("handful") / "examples"
    command = [sys.executable, "-m", "handful", "label", str(folder / "unlabelled.txt")]
    command += ["--types", str(folder / "types.txt"), "--project", str(tmp_path / "p.db"), "--port", "0"]
    command += ["--words", "500", "--no-browser", "--no-cache"]
    pytest.importorskip("uvicorn")
    with subprocess.Popen(
        command, env=os.environ | {"PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("http://"):
                break
        else:
            pytest.fail("".join(lines))
        yield SimpleNamespace(address=line.strip(), process=process)
        process.terminate()
        process.stdout.read()


def mentions(page, kind="confirmed"):
    boxes = page.locator(f"#sentence .m.{kind}")
    return [(one.get_attribute("data-type"), " ".join(one.locator(".w").all_inner_texts())) for one in boxes.all()]


def said(page, text):
    page.locator("#live", has_text=text).wait_for()


def test_a_mention_is_marked_by_keys_and_kept(browser, label):
    page = browser.new_page()
    page.goto(label.address)
    page.wait_for_selector("#w2")
    assert "token" not in page.url
    words = page.locator("#sentence .w").all_inner_texts()
    page.keyboard.press("End")
    page.keyboard.press("Shift+Home")  # all words are chosen, whatever is predicted
    page.keyboard.press("2")
    said(page, "PEST. Stored.")
    assert mentions(page) == [("PEST", " ".join(words))]
    page.reload()
    page.wait_for_selector(".m.confirmed")
    assert mentions(page) == [("PEST", " ".join(words))]
    page.keyboard.press("z")
    said(page, "Undone.")
    assert mentions(page) == []
    page.keyboard.press("y")
    said(page, "Redone.")
    assert mentions(page) == [("PEST", " ".join(words))]


def test_enter_accepts_and_goes_on(window, served):
    page = window(5)
    assert mentions(page, "predicted") != []
    page.keyboard.press("Enter")
    page.locator("#status", has_not_text="Sentence 5 ").wait_for()
    assert served.client.get("/api/sentences/5").json()["status"] == "labelled"
    page.keyboard.press("ArrowUp")
    page.locator("#status", has_text="Sentence 5 · Confirmed").wait_for()
    assert ("LOC", "Lille") in mentions(page)


def test_words_are_marked_and_borders_moved_by_mouse(window, served):
    page = window(2)  # a dog and a cat sat there .
    page.hover("#w1")
    page.mouse.down()
    page.hover("#w2")
    page.hover("#w4")
    page.mouse.up()
    page.click("#types-bar button[data-name=LOC]")
    said(page, "LOC. Stored.")
    assert mentions(page) == [("LOC", "dog and a cat")]
    grip = page.locator(".m.confirmed .grip[data-grip=end]").bounding_box()
    page.mouse.move(grip["x"] + 3, grip["y"] + grip["height"] / 2)
    page.mouse.down()
    page.hover("#w3")
    page.hover("#w1")
    page.mouse.up()
    said(page, "LOC is now: dog.")
    assert mentions(page) == [("LOC", "dog")]
    page.keyboard.press("l")
    said(page, "LOC is now: dog and.")
    page.keyboard.press("x")
    said(page, "not LOC")
    assert mentions(page) == []


def test_two_windows_do_not_overwrite_each_other(window, served):
    page = window(7)
    page.route("**/api/events*", lambda route: route.abort())  # it does not hear of the other window
    page.reload()
    page.wait_for_selector("#w0")
    version = served.client.get("/api/sentences/7").json()["version"]
    served.client.post("/api/sentences/7/decision", json={"version": version, "action": "nothing"})
    page.keyboard.press("u")
    page.locator("#trouble", has_text="changed in another window").wait_for()
    assert "nothing here" in page.inner_text("#status")
    assert served.client.get("/api/sentences/7").json()["status"] == "none"


def test_what_a_fit_changed_is_pointed_out(window, served):
    page = window(5)  # Pat and Pam wrote to us from Lille .
    page.wait_for_selector("body[data-connected=true]")
    assert [words for _, words in mentions(page, "predicted")] == ["Pat", "Pam", "Lille"]
    served.client.post("/api/types", json={"action": "remove", "name": "LOC"})
    said(page, "New fit. Lille: no longer LOC.")
    assert "Lille: no longer LOC" in page.inner_text("#changes")
    assert [words for _, words in mentions(page, "predicted")] == ["Pat", "Pam"]


def test_types_say_what_a_change_does(window, served):
    page = window(1)
    page.keyboard.press("End")
    page.keyboard.press("1")
    said(page, "PER. Stored.")
    page.keyboard.press("t")
    row = page.locator("form[aria-label='Type PER']")
    row.locator("input").first.fill("PERSON")
    row.get_by_text("Save").click()
    page.locator("#confirm-text", has_text="1 label in 1 sentence").wait_for()
    page.click("#confirm .yes")
    page.locator("form[aria-label='Type PERSON']").wait_for()
    page.fill("#types-add [name=name]", "DAY")
    page.keyboard.press("Enter")
    page.locator("form[aria-label='Type DAY']").wait_for()
    assert [one["name"] for one in served.client.get("/api/state").json()["types"]] == ["PERSON", "LOC", "DAY"]
    page.keyboard.press("Escape")
    page.wait_for_selector("#types-bar button[data-name=DAY]")
    assert mentions(page)[-1][0] == "PERSON"


def test_review_confirms_and_rejects_in_a_list(window, served):
    page = window(2)
    page.keyboard.press("v")
    page.wait_for_selector("#review-list li")
    boxes = page.locator("#review-list input[type=checkbox]")
    n = boxes.count()
    boxes.first.uncheck()
    page.get_by_text(f"Confirm {n - 1}, reject 1").click()
    page.locator("#review-note", has_text=f"Confirmed {n - 1}, rejected 1. Stored.").wait_for()
    assert served.client.get("/api/state").json()["counts"]["decisions"] == 1


def test_a_page_hears_that_the_server_stops(browser, label):
    page = browser.new_page()
    page.goto(label.address)
    page.wait_for_selector("#w0")
    page.wait_for_selector("body[data-connected=true]")
    label.process.terminate()
    page.locator("#trouble", has_text="has been stopped").wait_for()
    assert "Traceback" not in label.process.stdout.read()
