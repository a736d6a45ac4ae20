"""The page in a real browser: the review of all mentions of one type."""

import pytest

from .browsing import said, until
from .conftest import open_at
from .made import serving, settled

PIAS = [f"then Pia{i} saw it" for i in range(250)] + ["who is Paula ?"]


@pytest.fixture
def pias(browser, tmp_path):
    with serving(tmp_path / "p.db", PIAS) as served:
        settled(served.session)
        page = open_at(browser, served)
        page.click("#labels button >> text=PER")
        page.locator("#review-note", has_text="251 things it takes for PER, the first 200 listed").wait_for()
        yield served, page


def types(served):
    return [(one["name"], one["n_labels"]) for one in served.client.get("/api/state").json()["types"]]


def rows(page):
    return page.locator("#review-list li")


def say(row, what):
    row.get_by_label(what, exact=True).check()


def test_what_is_right_and_wrong_is_stored_and_the_rest_stays_open(window, served):
    page = window(2)
    page.keyboard.press("v")
    rows(page).first.wait_for()
    n = rows(page).count()
    until(page, f"document.getElementById('review-note').textContent.includes('; {n} have been in sight')")
    say(rows(page).first, "Wrong")
    say(rows(page).nth(1), "Leave open")
    page.get_by_text(f"Confirm {n - 2}, reject 1", exact=True).click()
    page.locator("#review-note", has_text=f"Confirmed {n - 2}, rejected 1. Stored.").wait_for()
    assert served.client.get("/api/state").json()["counts"]["decisions"] == 1
    assert types(served) == [("PER", n - 2), ("LOC", 0)]
    page.keyboard.press("Escape")
    page.keyboard.press("z")
    said(page, "Undone:")
    assert types(served) == [("PER", 0), ("LOC", 0)]


def test_nothing_is_stored_that_was_not_in_sight_unless_that_is_wanted(pias):
    served, page = pias
    seen = int(page.inner_text("#review-note").split("listed; ")[1].split()[0])
    assert 3 <= seen < 60
    page.get_by_text(f"Confirm {seen}, reject 0", exact=True).click()
    page.locator("#review-note", has_text=f"Confirmed {seen}, rejected 0. Stored.").wait_for()
    assert types(served)[0] == ("PER", seen)
    settled(served.session)
    page.keyboard.press("Escape")
    page.click("#labels button >> text=PER")
    page.get_by_text("Show all 251").click()
    page.locator("#review-note", has_text="251 things it takes for PER; ").wait_for()
    page.locator("#review-unseen", has_text=f"Confirm {251 - seen}, reject 0, unseen ones too").click()
    page.locator("#confirm-text", has_text="of 251 rows have been in sight.").wait_for()
    page.click("#confirm .close")
    assert types(served)[0] == ("PER", seen)
    page.click("#review-unseen")
    page.click("#confirm .yes")
    page.locator("#review-note", has_text=f"Confirmed {251 - seen}, rejected 0. Stored.").wait_for()
    assert types(served)[0] == ("PER", 251)


def test_rows_are_in_sight_as_the_list_scrolls(pias):
    _, page = pias
    before = int(page.inner_text("#review-note").split("listed; ")[1].split()[0])
    for _ in range(10):
        page.locator("#review-list").hover()
        page.mouse.wheel(0, 200)
        page.wait_for_timeout(100)
    until(
        page, f"+document.getElementById('review-note').textContent.split('listed; ')[1].split(' ')[0] > {before + 10}"
    )


def test_all_are_left_open_at_once(pias):
    _, page = pias
    page.get_by_text("Leave all open").click()
    assert page.locator("#review-store").is_disabled()
    assert page.is_hidden("#review-unseen")
    say(rows(page).nth(1), "Right")
    page.get_by_text("Confirm 1, reject 0", exact=True).wait_for()
    page.get_by_text("All wrong", exact=True).click()
    page.locator("#review-unseen", has_text="Confirm 0, reject 200, unseen ones too").wait_for()


def test_rows_are_chosen_by_score_and_in_another_order(pias):
    served, page = pias
    found = served.client.get("/api/mentions?type=PER&n=1000").json()["mentions"]
    scores = sorted(one["score"] for one in found)
    least = 0.05 * round(scores[-1] / 0.05 - 0.5)
    page.locator("#review-least").fill(f"{least:.2f}")
    page.keyboard.press("Tab")
    wanted = sum(one["score"] >= least for one in found)
    assert 0 < wanted < 251
    page.locator("#review-note", has_text=f"{wanted} thing").wait_for()
    page.locator("#review-least").fill("0")
    page.locator("#review-most").fill(f"{least:.2f}")
    page.keyboard.press("Tab")
    page.locator("#review-note", has_text=f"{251 - wanted} thing").wait_for()
    page.locator("#review-by").select_option("doubt")
    until(page, f"document.querySelector('#review-list .score').textContent === '{scores[0]:.2f}'")
    page.locator("#review-most").fill("1")
    page.locator("#review-by").select_option("word")
    page.locator("#review-list li").first.filter(has_text="Paula").wait_for()


def test_all_places_of_a_word_are_reviewed_whatever_they_are_taken_for(browser, tmp_path):
    texts = ["we saw Mercury there", "no mercury here , Pia", "so mercury it is", "the dog of Mercury"]
    with serving(tmp_path / "p.db", texts) as served:
        settled(served.session)
        page = open_at(browser, served, 1)
        mark = {"sentence": 1, "start": 2, "end": 3, "version": 0}
        served.client.post("/api/mentions/review", json={"type": "PER", "accept": [mark]}).raise_for_status()
        page.keyboard.press("v")
        page.get_by_role("searchbox", name="Words", exact=True).fill("MERCURY")
        page.locator("#review-note", has_text="4 places with “MERCURY”; ").wait_for()
        notes = page.locator("#review-list .score").all_inner_texts()
        assert sorted(notes) == ["confirmed", "not found", "not found", "not found"]
        assert page.locator("#review-list [data-is=open]").count() == 3  # a place is no mention until somebody says so
        assert page.locator("#review-store").is_disabled()
        for i in range(2):
            say(rows(page).nth(i), "Right")
        say(rows(page).nth(2), "Wrong")
        page.get_by_text("Confirm 2, reject 1", exact=True).click()
        page.locator("#review-note", has_text="Confirmed 2, rejected 1. Stored.").wait_for()
        assert types(served)[0] == ("PER", 3)
        page.get_by_role("searchbox", name="Words", exact=True).fill("venus")
        page.locator("#review-note", has_text="No place has “venus”.").wait_for()


def test_a_row_gets_another_type(window, served):
    page = window(2)
    page.keyboard.press("v")
    row = rows(page).filter(has_text="Pablo")
    row.get_by_label("Type of Pablo").select_option("LOC")
    n = rows(page).count()
    rows(page).filter(has_text="Paula").locator("input:checked").focus()
    page.keyboard.press("2")  # by the key of a type, too
    page.keyboard.press("ArrowUp")
    page.keyboard.press("x")
    page.get_by_text(f"Confirm {n - 1}, reject 1", exact=True).click()
    page.locator("#review-note", has_text="Stored.").wait_for()
    assert types(served) == [("PER", n - 3), ("LOC", 2)]
    labels = served.client.get("/api/sentences/3").json()["labels"]
    assert [one["type"] for one in labels] == ["LOC"]


def test_the_guideline_is_in_sight(window, served):
    page = window(2)
    page.keyboard.press("v")
    page.locator("#review-guideline", has_text="P people").wait_for()
    page.locator("#review-type").select_option("LOC")
    page.locator("#review-guideline", has_text="L places").wait_for()


def test_a_review_is_of_all_text_also_what_the_tagger_does_not_learn_from(browser, tmp_path):
    texts = [f"then Pia{i} saw it" for i in range(200)]
    with serving(tmp_path / "p.db", texts, most_words=100) as served:
        settled(served.session)
        page = open_at(browser, served)
        page.wait_for_selector("#sentence .m")
        page.keyboard.press("v")
        rows(page).first.wait_for()
        say(rows(page).first, "Wrong")
        said_of = rows(page).first.locator("mark").inner_text()
        page.locator("#review-looked", has_text="It has looked through all 200 sentences.").wait_for()
        page.get_by_text("List what was found since").click()
        page.locator("#review-note", has_text="200 things it takes for PER;").wait_for()
        assert page.locator("#review-list [data-is=wrong] mark").all_inner_texts() == [said_of]  # it is kept
