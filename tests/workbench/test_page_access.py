"""The page for everyone: axe-core, what a screen reader is told, windows of all sizes; and pictures for the docs."""

import os
from pathlib import Path

import pytest

from .browsing import enter, go_to_a_mention, mentions, picture, said
from .conftest import labelling, open_at
from .made import serving, settled

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "handful-tests"
AXE = CACHE / "node_modules" / "axe-core" / "axe.min.js"
GET_AXE = f"axe-core is not there: npm install --prefix {CACHE} axe-core"

PICTURES = ("light-1440", "dark-1024")  # that docs/workbench.md shows
OPENERS = {"types": "#open-types", "review": "#open-review", "files": "#open-files", "help": "#open-help"}


def violations(page):
    """Return what axe-core finds, as lines."""
    page.wait_for_timeout(100)  # a window fades in
    page.evaluate(AXE.read_text(encoding="utf-8") + "; null")
    found = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [f"{one['id']}: {node['target']} {node['failureSummary']}" for one in found for node in one["nodes"]]


@pytest.mark.skipif(not AXE.exists(), reason=GET_AXE)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(window, served, theme):
    page = window(5)
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    assert violations(page) == []
    page.keyboard.press("a")
    said(page, "Stored.")
    page.keyboard.press("/")
    assert violations(page) == []
    for name, opener in OPENERS.items():
        page.click(opener)
        page.wait_for_selector(f"#{name}[open]")
        if name == "review":
            page.locator("#review-list input[value=wrong]").first.check()
        assert violations(page) == [], name
        if name == "types":
            page.get_by_label("Remove PER").click()
            page.wait_for_selector("#confirm[open]")
            assert violations(page) == []
            page.keyboard.press("Escape")
        page.keyboard.press("Escape")
    page.route("**/api/sentences/*/decision", lambda route: route.abort())
    page.focus("#sentence")
    page.keyboard.press("n")
    page.wait_for_selector("#trouble:visible")
    assert violations(page) == []


def test_landmarks_names_and_the_order_of_focus(window, served):
    page = window(5)
    for role, name in [("banner", None), ("navigation", "Tools"), ("region", "Next sentences"), ("main", None)]:
        page.get_by_role(role, name=name).wait_for()
    page.get_by_role("complementary", name="How it goes").wait_for()
    page.get_by_role("listbox", name="Words of the sentence").wait_for()
    page.get_by_role("option", name="Pat, PER, predicted").wait_for()
    page.get_by_role("group", name="LOC, predicted").wait_for()
    assert page.get_by_role("status").count() == 1
    page.focus("#open-help")
    order = []
    for _ in range(40):
        page.keyboard.press("Tab")
        order.append(page.evaluate("document.activeElement.closest('[id]').id"))
        if order[-1] == "labels":
            break
    places = [order.index(one) for one in ("queue-list", "types-bar", "previous", "sentence", "accept", "labels")]
    assert places == sorted(places)
    assert page.evaluate("document.activeElement.matches('#labels button')")


def test_a_screen_reader_hears_what_is_under_the_caret_and_what_changed(window, served):
    page = window(5)
    page.focus("#sentence")
    page.keyboard.press("ArrowRight")
    assert page.get_attribute("#sentence", "aria-activedescendant") == "w1"
    page.keyboard.press("Shift+ArrowRight")
    assert page.locator("#sentence [aria-selected=true]").all_inner_texts() == ["and", "Pam"]
    page.keyboard.press("2")
    said(page, "and Pam: LOC. Stored.")
    page.get_by_role("option", name="Pam, LOC, confirmed").wait_for()
    page.click("#open-help")
    page.keyboard.press("Escape")
    page.locator("#sentence:focus").wait_for()


@pytest.mark.parametrize(("width", "height"), [(900, 700), (640, 400), (400, 800), (360, 640)])
def test_a_narrow_window_and_zoom_cut_nothing(window, served, width, height):
    page = window(5)
    page.set_viewport_size({"width": width, "height": height})  # 640 by 400: a window of 1280 by 800 at 200%
    page.emulate_media(reduced_motion="reduce")
    page.keyboard.press(".")
    page.click("text=In order")
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    boxes = {}
    for name in ("#queue", "main", "#panel"):
        boxes[name] = page.locator(name).bounding_box()
        assert 0 <= boxes[name]["x"] <= boxes[name]["x"] + boxes[name]["width"] <= width
    for one, other in (("#queue", "main"), ("main", "#panel"), ("#queue", "#panel")):
        a, b = boxes[one], boxes[other]
        is_beside = a["x"] + a["width"] <= b["x"] or b["x"] + b["width"] <= a["x"]
        assert is_beside or a["y"] + a["height"] <= b["y"] or b["y"] + b["height"] <= a["y"], (one, other)
    assert page.locator("#sentence").bounding_box()["width"] > 290  # several words in a line
    for button in page.locator("header button, #card button:visible, #parts button").all():
        box = button.bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width
    for name in ("#next", "#accept", "#open-help", "#find"):
        page.locator(name).click(trial=True)  # nothing is over it
    if AXE.exists():
        assert violations(page) == []
        page.click("#w0")
        page.wait_for_selector("#popover:visible")
        assert violations(page) == [], "popover"
        page.keyboard.press("Escape")
    for name, opener in OPENERS.items():
        page.click(opener)
        page.wait_for_selector(f"#{name}[open]")
        if name == "review":
            page.wait_for_selector("#review-list li")
        assert page.locator(f"#{name}").bounding_box()["width"] <= width
        assert page.evaluate(f"(one => one.scrollWidth <= one.clientWidth)(document.getElementById('{name}'))"), name
        if AXE.exists():
            assert violations(page) == [], name
        page.keyboard.press("Escape")


RIGHT_TO_LEFT = [
    "אתמול נסע Pablo מתל אביב אל Lyon , ואחר כך חזר .",
    "زار Pia مدينة Leeds يوم الأحد ، ثم عاد إلى البيت .",
]


@pytest.mark.parametrize(("width", "height"), [(1440, 900), (1024, 768), (640, 400), (360, 640)])
def test_text_from_right_to_left_in_each_window(browser, tmp_path, width, height):
    with serving(tmp_path / "p.db", RIGHT_TO_LEFT, {"PER": "P אנשים", "LOC": "L places"}) as served:
        settled(served.session)
        page = open_at(browser, served, 1)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(reduced_motion="reduce")
        page.wait_for_selector("#sentence .m.predicted")
        words = page.locator("#sentence .w").evaluate_all("all => all.map(one => one.getBoundingClientRect().toJSON())")
        first = [one for one in words if one["top"] == words[0]["top"]]
        assert [one["left"] for one in first] == sorted((one["left"] for one in first), reverse=True)
        assert all(0 <= one["left"] <= one["right"] <= width for one in words)
        page.keyboard.press("ArrowLeft")  # on to the next word
        assert page.get_attribute("#sentence", "aria-activedescendant") == "w1"
        page.click("#w2")
        box = page.locator("#popover:visible").bounding_box()
        assert 0 <= box["x"] <= box["x"] + box["width"] <= width
        assert 0 <= box["y"] <= box["y"] + box["height"] <= height
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert not AXE.exists() or violations(page) == []
        page.keyboard.press("Escape")
        enter(page)
        page.locator("#progress", has_text="1 of 2").wait_for()
        assert "Pablo" in [one for _, one in served_labels(served, 1)]
        assert page.locator("#queue-list button").evaluate_all(RTL_ROWS) == []
        for name, opener in OPENERS.items():
            page.click(opener)
            page.wait_for_selector(f"#{name}[open]")
            if name == "review":
                page.wait_for_selector("#review-list li")
            fits = f"(one => one.scrollWidth <= one.clientWidth)(document.getElementById('{name}'))"
            assert page.evaluate(fits), name
            assert not AXE.exists() or violations(page) == [], name
            page.keyboard.press("Escape")


RTL_ROWS = "all => all.filter(one => getComputedStyle(one).direction !== 'rtl').map(one => one.textContent)"


def served_labels(served, id):
    """Return type and words of the labels of a sentence."""
    found = served.client.get(f"/api/sentences/{id}").json()
    return [(one["type"], " ".join(found["words"][one["start"] : one["end"]])) for one in found["labels"]]


def test_the_page_fits_its_window_and_pictures_of_it(browser, tmp_path):
    with labelling(tmp_path / "garden.db", "--port", "0", "--words", "3000") as label:
        page = browser.new_page()
        page.set_viewport_size({"width": 1440, "height": 900})
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.goto(label.address)
        page.wait_for_selector("body[data-connected=true]")
        for _ in range(6):
            page.wait_for_selector("#fit[data-status=idle]")
            enter(page)
        page.wait_for_selector(".curve")
        go_to_a_mention(page)
        page.keyboard.press(".")
        page.keyboard.press("a")
        said(page, "is right. Stored.")
        assert mentions(page)
        for width, height in [(1440, 900), (1024, 768)]:
            page.set_viewport_size({"width": width, "height": height})
            for theme in ("light", "dark"):
                page.emulate_media(color_scheme=theme)
                assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
                assert page.locator("header").bounding_box()["height"] < 60
                for button in page.locator("header button, #card button:visible").all():
                    box = button.bounding_box()
                    assert 0 <= box["x"] <= box["x"] + box["width"] <= width
                if f"{theme}-{width}" in PICTURES:
                    picture(page, f"workbench-{theme}-{width}")
            for name, opener in OPENERS.items():
                page.emulate_media(color_scheme="light")
                page.click(opener)
                page.wait_for_selector(f"#{name}[open]")
                if name == "review":
                    page.wait_for_selector("#review-list li")
                box = page.locator(f"#{name}").bounding_box()
                assert box["width"] <= width
                assert box["height"] <= height
                assert page.evaluate(f"(one => one.scrollWidth <= one.clientWidth)(document.getElementById('{name}'))")
                page.keyboard.press("Escape")
