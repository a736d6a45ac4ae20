"""The whole story in a real browser: from an empty project to a tagger, by mouse and by keyboard."""

import zipfile

import pytest

from handful import Tagger
from tagger.toy import NamedEncoder

from .browsing import accept, drag, enter, go_to_a_mention, mentions, said, until
from .made import TEXTS, serving


@pytest.fixture
def empty(tmp_path, browser):
    """Open the page of a project without texts and types; there is a file with texts."""
    (tmp_path / "texts.txt").write_text("\n".join(dict.fromkeys(TEXTS)))
    with serving(tmp_path / "p.db", (), {}) as served:
        page = browser.new_page()
        page.goto(f"{served.url}/?token={served.token}")
        page.wait_for_selector("#types[open]")
        yield served, page


def check(served, archive, folder):
    """Check that the tagger finds what was labelled, and that labels are as they were decided."""
    zipfile.ZipFile(archive).extractall(folder)
    tagger = Tagger.load(folder / "tagger", encoder=NamedEncoder())
    found = tagger.predict("so Pia and Pam went to Lima")
    assert [(one["word"], one["entity_group"]) for one in found] == [("Pia", "PER"), ("Pam", "PER"), ("Lima", "LOC")]
    assert served.client.get("/api/state").json()["counts"]["labelled"] == 3


def test_by_mouse(empty, tmp_path):
    served, page = empty
    page.on("filechooser", lambda chooser: chooser.set_files(tmp_path / "texts.txt"))  # early: it takes a while to hold
    for name, description in (("PER", "P people"), ("LOC", "L places")):
        page.fill("#types-add [name=name]", name)
        page.fill("#types-add [name=description]", description)
        page.click("#types-add button")
        page.locator(f"form[aria-label='Type {name}']").wait_for()
    page.click("#types .close")
    assert "no text in the project yet" in page.inner_text("#empty")
    page.click("#import-first")
    page.click("#import [name=file]")
    page.locator("#import [name=file]:valid").wait_for()  # it has a file
    page.click("#import button")
    page.locator("#files-note", has_text="Imported").wait_for()
    page.click("#files .close")
    page.wait_for_selector("#w0")
    for _ in range(2):
        go_to_a_mention(page, lambda: page.click("#next"))
        accept(page, lambda: page.click("#accept"))
    page.click("text=In order")
    page.locator("#queue-list button", has_text="dog").click()
    page.locator("#w1", has_text="dog").wait_for()
    drag(page, "#w1", "#w2", "#w4")
    page.click("#types-bar button[data-name=PER]")
    said(page, "dog and a cat: PER. Stored.")
    page.click("#undo")
    said(page, "Undone:")
    assert mentions(page) == []
    page.reload()
    page.locator("#w1", has_text="dog").wait_for()
    page.click("#nothing")
    page.locator("#progress", has_text="3 of ").wait_for()
    page.click("#open-files")
    with page.expect_download() as download:
        page.click("#tagger")
    check(served, download.value.path(), tmp_path)


def test_by_keyboard(empty, tmp_path):
    served, page = empty
    keys = page.keyboard
    for name, description in (("PER", "P people"), ("LOC", "L places")):
        keys.type(name)
        keys.press("Tab")
        keys.type(description)
        keys.press("Enter")
        page.locator(f"form[aria-label='Type {name}']").wait_for()
    keys.press("Escape")
    page.locator("#types").wait_for(state="hidden")
    keys.press("i")  # the page listens as soon as a dialog is closed
    page.locator("#import [name=file]:focus").wait_for()
    page.set_input_files("#import [name=file]", tmp_path / "texts.txt")  # the system's own dialog is not ours to press
    keys.press("Tab")
    keys.press("Tab")
    keys.press("Enter")
    page.locator("#files-note", has_text="Imported").wait_for()
    keys.press("Escape")
    page.wait_for_selector("#w0")
    go_to_a_mention(page)
    enter(page)
    page.reload()
    page.wait_for_selector("#w0")
    page.wait_for_selector("body[data-connected=true]")
    go_to_a_mention(page)
    enter(page)
    keys.press("/")
    keys.type("dog")
    page.locator("#w1", has_text="dog").wait_for()
    keys.press("Enter")
    keys.press("Shift+ArrowRight")  # from the hit on
    keys.press("g")  # to the types
    keys.press("ArrowRight")
    keys.press("Enter")
    said(page, "dog and: LOC. Stored.")
    keys.press("x")
    said(page, "dog and: not LOC. Stored.")
    keys.press("n")
    page.locator("#progress", has_text="3 of ").wait_for()
    keys.press("i")
    page.wait_for_selector("#files[open]")
    for _ in range(30):
        keys.press("Tab")
        if page.evaluate("document.activeElement.id") == "tagger":
            break
    with page.expect_download() as download:
        keys.press("Enter")
    check(served, download.value.path(), tmp_path)


def test_a_key_counts_as_soon_as_a_dialog_is_closed(empty):
    _, page = empty
    opened = page.evaluate(
        """() => {
            document.querySelector("#types input").focus();
            document.getElementById("types").close(); // what follows comes before the browser has drawn anything
            const key = new KeyboardEvent("keydown", { key: "i", bubbles: true, cancelable: true });
            document.activeElement.dispatchEvent(key);
            return document.getElementById("files").open;
        }"""
    )
    assert opened
    page.keyboard.press("Escape")
    page.locator("#files").wait_for(state="hidden")
    until(page, "document.activeElement === document.body")
