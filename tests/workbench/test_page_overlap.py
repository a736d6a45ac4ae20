"""The page in a real browser: mentions that share words, by mouse and by key."""

import pytest

from handful.text import Document, Sentence, Span

from .browsing import drag, enter, mentions, said
from .conftest import labelling, open_at
from .made import serving, settled

WORDS = ["the", "Peter", "of", "Lima", "sleeps", "all", "day"]
NESTED = Document.of(Sentence(tuple(WORDS), (Span(1, 4, "PER"), Span(3, 4, "LOC"))))
PLAIN = "we saw a dog and a cat of mine there"


@pytest.fixture
def page(browser, tmp_path):
    with serving(tmp_path / "p.db", [NESTED, PLAIN]) as served:
        settled(served.session)
        yield open_at(browser, served, 2)


def boxes(page):
    """Return type and words of each box, with the type of the box that it is drawn in."""
    return page.evaluate(  # at once: the sentence is drawn anew when a fit is ready
        "() => [...document.querySelectorAll('#sentence .m')].map(one => [one.dataset.type,"
        " [...one.querySelectorAll('.w')].map(w => w.innerText).join(' '),"
        " one.parentElement.closest('.m')?.dataset.type ?? ''])"
    )


def test_one_inside_another_has_a_line_below_it(page):
    page.goto(page.url.split("#")[0] + "#1")
    page.reload()
    page.wait_for_selector("#sentence .m .m")
    assert boxes(page) == [["PER", "Peter of Lima", ""], ["LOC", "Lima", "PER"]]
    widths = page.locator("#sentence .m .m").evaluate(
        "one => [1, 2].map(() => getComputedStyle(one).borderBottomWidth)"
    )
    assert widths == ["3px", "3px"]
    assert page.get_attribute("#w3", "aria-label") == "Lima, PER, confirmed, LOC, confirmed"


def test_they_are_marked_by_mouse_inside_and_across_others(page):
    drag(page, "#w2", "#w3", "#w8")  # a dog and a cat of mine
    page.click("#popover-types [data-name=PER]")
    said(page, "a dog and a cat of mine: PER. Stored.")
    drag(page, "#w5", "#w6")
    page.click("#popover-types [data-name=LOC]")
    said(page, "a cat: LOC. Stored.")
    assert mentions(page) == [("PER", "a dog and a cat of mine"), ("LOC", "a cat")]
    page.dblclick("#w3")  # one word of a mention
    page.click("#popover-types [data-name=LOC]")
    said(page, "dog: LOC. Stored.")
    drag(page, "#w8", "#w9")  # across its end
    page.click("#popover-types [data-name=LOC]")
    said(page, "mine there: LOC. Stored.")
    assert boxes(page) == [
        ["PER", "a dog and a cat of mine", ""],
        ["LOC", "dog", "PER"],
        ["LOC", "a cat", "PER"],
        ["LOC", "mine", "PER"],
        ["LOC", "there", ""],
    ]
    page.locator("#sentence .m[data-type=PER] > .tag").click()  # the outer one, by its name
    page.click("#wrong")
    said(page, "a dog and a cat of mine: not PER. Stored.")
    assert mentions(page) == [("LOC", "dog"), ("LOC", "a cat"), ("LOC", "mine there")]


def test_they_are_marked_changed_moved_and_taken_away_by_key(page):
    page.click("#w3")
    page.keyboard.press("Escape")
    for key in ["o", "Shift+ArrowRight", "Shift+ArrowRight", "1"]:
        page.keyboard.press(key)
    said(page, "dog and a: PER. Stored.")
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("o")  # the word alone, inside the mention
    page.keyboard.press("2")
    said(page, "and: LOC. Stored.")
    assert boxes(page) == [["PER", "dog and a", ""], ["LOC", "and", "PER"]]
    page.keyboard.press("l")
    said(page, "LOC is now: and a. Stored.")
    assert mentions(page) == [("PER", "dog and a"), ("LOC", "and a")]
    page.keyboard.press("1")  # it becomes another type; the one around it stays
    said(page, "and a: PER. Stored.")
    assert mentions(page) == [("PER", "dog and a"), ("PER", "and a")]
    page.keyboard.press(",")
    assert page.inner_text("#mention").startswith("dog and a · PER")
    page.keyboard.press(".")
    assert page.inner_text("#mention").startswith("and a · PER")
    page.keyboard.press("x")
    said(page, "and a: not PER. Stored.")
    assert mentions(page) == [("PER", "dog and a")]
    page.keyboard.press("z")
    said(page, "Undone")
    assert mentions(page) == [("PER", "dog and a"), ("PER", "and a")]


def test_all_of_them_are_confirmed_by_one_key(page):
    page.goto(page.url.split("#")[0] + "#1")
    page.reload()
    page.wait_for_selector("#sentence .m .m")
    page.keyboard.press("r")
    page.locator("#status", has_text="Not decided yet").wait_for()
    page.wait_for_selector("#sentence .m.predicted")
    drag(page, "#w1", "#w3")
    page.keyboard.press("1")
    said(page, "Peter of Lima: PER. Stored.")
    assert ("LOC", "Lima") in mentions(page, "predicted")  # what was found inside it is still asked for
    enter(page)
    page.locator("#progress", has_text="1 of 2 sentences decided").wait_for()


def test_the_command_asks_for_them(browser, tmp_path):
    (tmp_path / "notes.txt").write_text("He lived in the American University of Beirut .\n")
    (tmp_path / "types.txt").write_text("ORG: company, school or institution\nGPE: country or city\n")
    options = "--overlap", "--port", "0", "--no-cache"
    given = {"corpus": tmp_path / "notes.txt", "types": tmp_path / "types.txt"}
    with labelling(tmp_path / "p.db", *options, **given) as label:
        page = browser.new_page()
        page.goto(label.address)
        page.wait_for_selector("#sentence .m .m")
        assert boxes(page) == [["ORG", "American University of Beirut", ""], ["GPE", "Beirut", "ORG"]]
    with labelling(tmp_path / "p.db", "--port", "0", "--no-cache", **given) as label:  # the project remembers it
        page.goto(label.address)
        page.wait_for_selector("#sentence .m .m")
