"""The page in a real browser: the list of all sentences, the hits of a search, and how far one is."""

import pytest

from .browsing import at_sentence, said, until
from .conftest import open_at
from .made import serving, settled

MANY = [
    f"then Pia{i} saw Leeds, and wrote of dog {i} to all of us who were there with her on that day" for i in range(900)
]


@pytest.fixture
def many(browser, tmp_path):
    with serving(tmp_path / "p.db", MANY) as served:
        settled(served.session)
        yield served, open_at(browser, served, 5)


def listed(page):
    return page.locator("#queue-list button").evaluate_all("all => all.map(one => +one.dataset.id)")


def test_all_sentences_are_in_one_list_that_scrolls(many):
    _, page = many
    page.get_by_text("In order", exact=True).click()
    page.locator("#queue-list [aria-current=true][data-id='5']").wait_for()
    height = page.evaluate("document.getElementById('queue-list').scrollHeight")
    row = page.locator("#queue-list li").first.bounding_box()["height"]
    assert height == pytest.approx(900 * row, rel=0.02)
    page.evaluate("document.getElementById('queue-list').scrollTop = 1e7")
    page.locator("#queue-list [data-id='900']").wait_for()
    assert page.locator("#queue-list li").count() < 200
    assert page.evaluate("document.getElementById('queue-list').scrollHeight") == pytest.approx(height, abs=2)
    box, place = page.locator("#queue-list [data-id='900']").bounding_box(), page.locator("#queue-list").bounding_box()
    assert box["y"] + box["height"] <= place["y"] + place["height"] + 2
    page.evaluate(
        "(one => (one.scrollTop = 450 * one.children[0].offsetHeight))(document.getElementById('queue-list'))"
    )
    page.locator("#queue-list [data-id='455']").click()
    at_sentence(page, 455)
    page.locator("#queue-list [aria-current=true][data-id='455']").wait_for()
    page.keyboard.press("ArrowDown")
    at_sentence(page, 456)
    page.locator("#queue-list [aria-current=true][data-id='456']").wait_for()
    item = page.locator("#queue-list li", has=page.locator("[data-id='456']"))
    assert (item.get_attribute("aria-posinset"), item.get_attribute("aria-setsize")) == ("456", "900")


def test_the_list_is_walked_by_keys(many):
    _, page = many
    page.get_by_text("In order", exact=True).click()
    page.locator("#queue-list [aria-current=true]").wait_for()
    page.wait_for_selector("#fit[data-status=idle]")  # no prediction comes any more
    page.locator("#queue-list [data-id='40']").focus()
    for id in range(41, 75):  # beyond what was read at first
        page.keyboard.press("Tab")
        until(page, f"document.activeElement.dataset.id === '{id}'")
        page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")  # it is drawn


def test_hits_of_a_search_are_marked_and_the_caret_is_on_the_first(many):
    _, page = many
    page.keyboard.press("n")
    page.locator("#progress", has_text="1 of ").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("leeds, and")
    page.locator("#queue-note", has_text="900 sentences in all").wait_for()  # decided ones, too
    at_sentence(page, 1)
    assert page.locator("#sentence .w.hit").all_inner_texts() == ["Leeds", ",", "and"]
    assert page.locator("#sentence .w.caret").inner_text() == "Leeds"
    assert page.locator("#queue-list [data-id='1'] .hit").all_inner_texts() == [
        "Leeds",
        ", and",
    ]
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    at_sentence(page, 2)
    assert page.locator("#sentence .w.caret").inner_text() == "Leeds"
    page.keyboard.press("/")
    page.keyboard.type("dog 77 ")
    at_sentence(page, 78)
    assert page.locator("#sentence .w.hit").all_inner_texts() == ["dog", "77"]
    page.keyboard.press("Escape")
    page.wait_for_selector("#search-row", state="hidden")
    until(page, "!document.querySelector('.hit')")


def test_progress_counts_what_is_partly_done(window, served):
    page = window(5)
    page.keyboard.press("a")
    said(page, "is right. Stored.")
    page.locator("#progress", has_text="0 of 9 sentences decided, 1 partly").wait_for()
    share = page.evaluate("getComputedStyle(document.getElementById('progress-bar')).getPropertyValue('--partly')")
    assert float(share) == pytest.approx(1 / 9)


def test_the_list_in_order_follows_decisions_and_fits(window, served):
    page = window(1)
    page.get_by_text("In order", exact=True).click()
    page.locator("#queue-list [data-id='5'] mark.predicted").first.wait_for()
    mark = {"sentence": 5, "start": 0, "end": 1, "version": 0}
    served.client.post("/api/mentions/review", json={"type": "LOC", "accept": [mark]}).raise_for_status()
    page.locator("#queue-list [data-id='5'] mark[title='LOC, confirmed']").wait_for()
    served.client.post("/api/types", json={"action": "remove", "name": "LOC"}).raise_for_status()
    page.locator("#queue-list [data-id='5'] mark.confirmed").wait_for(state="detached")


def is_in_sight(page, of, within):
    inner, outer = page.locator(of).first.bounding_box(), page.locator(within).first.bounding_box()
    is_below_top = inner["y"] >= max(0, outer["y"]) - 2
    return is_below_top and inner["y"] + inner["height"] <= min(800, outer["y"] + outer["height"]) + 2


def test_the_caret_and_hits_are_in_sight_in_a_long_sentence(browser, tmp_path):
    long = " and ".join(f"Pia{i} who saw the big dog" for i in range(80))
    with serving(tmp_path / "p.db", ["Pia met Leeds", f"{long} near Oslo"]) as served:
        settled(served.session)
        page = open_at(browser, served, 2)
        for key in ("End", "Home", ",", "."):  # the last word, the first one, the last mention, the first one
            page.keyboard.press(key)
            assert is_in_sight(page, ".w.caret", "#text"), key
        page.keyboard.press("/")
        page.keyboard.type("oslo")
        page.wait_for_selector("#sentence .w.caret.hit")
        assert is_in_sight(page, ".w.caret", "#text")
        assert is_in_sight(page, "#queue-list .hit", "#queue-list li")
        page.keyboard.press("Escape")
        page.wait_for_selector("#search-row", state="hidden")
        page.goto(f"{served.url}/#1")
        page.reload()
        at_sentence(page, 1)
        page.get_by_text("In order", exact=True).click()
        page.keyboard.press("ArrowDown")
        at_sentence(page, 2)
        assert page.evaluate("document.getElementById('text').scrollTop") == 0  # it begins at its start
