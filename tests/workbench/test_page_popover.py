"""The page in a real browser: what can be done with the chosen words, and why the tagger says so."""

import pytest

from .browsing import drag, mentions, said
from .conftest import open_at
from .made import serving, settled


def test_all_that_keys_do_with_a_mention_the_mouse_does(window, served):
    page = window(5)  # Pat and Pam wrote to us from Lille .
    assert page.is_hidden("#popover")
    page.click("#w7")
    page.wait_for_selector("#popover:visible")
    assert page.inner_text("#popover-words") == "Lille"
    assert page.locator("#popover-types [aria-current]").get_attribute("data-name") == "LOC"
    page.click("#popover-types [data-name=PER]")
    said(page, "Lille: PER. Stored.")
    assert page.is_hidden("#popover")
    page.click("#w7")
    page.get_by_label("End one word later").click()
    said(page, "PER is now: Lille .")
    page.get_by_label("Start one word earlier").click()
    said(page, "PER is now: from Lille .")
    assert page.inner_text("#popover-words") == "from Lille ."  # it stays, with what it is about now
    page.get_by_label("Start one word later").click()
    said(page, "PER is now: Lille .")
    page.get_by_label("End one word earlier").click()
    said(page, "PER is now: Lille.")
    page.click("#wrong")
    said(page, "Lille: not PER. Stored.")
    page.click("#w0")
    page.click("#right")
    said(page, "Pat: PER is right. Stored.")
    assert mentions(page) == [("PER", "Pat")]


def test_words_that_are_chosen_get_a_type_there(window):
    page = window(2)  # a dog and a cat sat there .
    drag(page, "#w1", "#w2", "#w4")
    page.wait_for_selector("#popover:visible")
    assert page.is_hidden("#mention-actions")
    assert page.is_hidden("#borders")
    page.click("#popover-types [data-name=LOC]")
    said(page, "dog and a cat: LOC. Stored.")
    page.click("#w6")
    page.wait_for_selector("#popover:visible")
    page.keyboard.press("1")  # keys go on as before
    said(page, "there: PER. Stored.")
    assert page.is_hidden("#popover")
    page.click("#w6")
    page.keyboard.press("Escape")
    assert page.is_hidden("#popover")
    page.click("#w6")
    page.click("#queue-title")
    assert page.is_hidden("#popover")


def test_the_tagger_says_why_and_why_not(window, served):
    page = window(5)
    page.keyboard.press("1")
    said(page, "Pat: PER. Stored.")
    settled(served.session)
    page.click("#w2")
    page.click("text=Why?")
    page.locator("#reasons", has_text="Found as PER").wait_for()
    assert "second comes" in page.inner_text("#reasons")
    assert "labelled near it: Pat (PER)" in page.inner_text("#reasons")
    assert page.locator("#reasons tr").count() >= 2
    page.keyboard.press("Escape")
    page.click("#w3")
    page.keyboard.press("w")
    page.locator("#reasons", has_text="Now no mention. To be").wait_for()
    assert page.inner_text("#why span") == "Why not?"


def test_the_menu_is_for_keys_too(window):
    page = window(5)
    page.keyboard.press("m")
    page.locator("#popover-types [data-name=PER]:focus").wait_for()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    said(page, "Pat: LOC. Stored.")
    page.locator("#sentence:focus").wait_for()
    page.keyboard.press("m")
    page.keyboard.press("m")
    assert page.is_hidden("#popover")


@pytest.mark.parametrize(("width", "height"), [(1280, 800), (900, 700), (640, 400), (360, 640)])
def test_the_popover_covers_neither_words_nor_decisions(browser, tmp_path, width, height):
    long = " and ".join(f"Pia{i} who saw the big dog" for i in range(30))
    types = {f"TYPE-{i}": f"{'PLG'[i % 3]} things of kind {i}" for i in range(14)}
    with serving(tmp_path / "p.db", ["Pia met Leeds", long], types) as served:
        settled(served.session)
        page = open_at(browser, served, 1)
        page.set_viewport_size({"width": width, "height": height})
        for id, words in ((1, (0, 2)), (2, (0, 20, 60))):
            page.goto(f"{served.url}/#{id}")
            page.reload()
            page.wait_for_selector("#w0")
            for i in words:
                page.click(f"#w{i}")
                page.wait_for_selector("#popover:visible")
                box, word = (page.locator(one).bounding_box() for one in ("#popover", f"#w{i}"))
                assert 0 <= box["x"] <= box["x"] + box["width"] <= width
                assert 0 <= box["y"] <= box["y"] + box["height"] <= height
                if width >= 900:
                    assert word["y"] + word["height"] <= box["y"] or box["y"] + box["height"] <= word["y"]
                page.keyboard.press("Escape")


def test_a_word_with_a_hyphen_is_one_box(browser, tmp_path):
    with serving(tmp_path / "p.db", ["so " * 300 + "P-4012 " * 40]) as served:
        settled(served.session)
        page = open_at(browser, served, 1)
        page.set_viewport_size({"width": 800, "height": 700})
        boxes = page.locator("#sentence .w").evaluate_all("all => all.map(one => one.getClientRects().length)")
        assert set(boxes) == {1}


def test_more_than_ten_types_have_keys_and_are_found_by_typing(browser, tmp_path):
    types = {f"TYPE-{i}": f"{'PLG'[i % 3]} things of kind {i}" for i in range(23)}
    with serving(tmp_path / "p.db", ["so we met there", "and home"], types) as served:
        settled(served.session)
        page = open_at(browser, served, 1)
        page.keyboard.press("Shift+Digit2")  # whatever sign is on that key
        said(page, "so: TYPE-11. Stored.")
        assert page.locator("#types-bar [data-name=TYPE-19] kbd").inner_text() == "⇧0"
        assert page.locator("#types-bar [data-name=TYPE-20] kbd").count() == 0
        page.click("#w2")
        page.wait_for_selector("#popover:visible")
        page.keyboard.press("m")
        page.locator("#popover-find:focus").wait_for()
        page.keyboard.type("-21")
        assert page.locator("#popover-types button:visible").all_inner_texts() == ["TYPE-21"]
        page.keyboard.press("Enter")
        said(page, "met: TYPE-21. Stored.")
        page.locator("#sentence:focus").wait_for()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("m")
        page.keyboard.type("nothing of that name")
        page.keyboard.press("Enter")  # nothing is marked
        assert page.is_visible("#popover")
        page.keyboard.press("Escape")
        assert page.is_hidden("#popover")
        assert [one["type"] for one in served.client.get("/api/sentences/1").json()["labels"]] == ["TYPE-11", "TYPE-21"]


def test_few_types_need_no_search(window):
    page = window(5)
    page.click("#w3")
    page.wait_for_selector("#popover:visible")
    assert page.is_hidden("#popover-find")


def test_why_not_is_asked_for_a_type(window):
    page = window(5)  # Pat and Pam wrote to us from Lille .
    page.click("#w3")
    page.get_by_label("Why not of").select_option("LOC")
    page.locator("#reasons", has_text="To be LOC, it lacks").wait_for()
    page.get_by_label("Why not of").select_option("PER")
    page.locator("#reasons", has_text="To be PER, it lacks").wait_for()
    page.click("#w0")
    page.wait_for_selector("#why-type", state="hidden")  # a mention that was found


def test_the_popover_is_reached_by_touch(chromium, served):
    settled(served.session)
    context = chromium.new_context(viewport={"width": 390, "height": 780}, has_touch=True, is_mobile=True)
    page = context.new_page()
    page.goto(f"{served.url}/?token={served.token}#5")
    page.wait_for_selector("#sentence .m.predicted")
    page.tap("#w7")
    page.wait_for_selector("#popover:visible")
    page.tap("#right")
    said(page, "Lille: LOC is right. Stored.")
    page.tap("#w3")
    page.wait_for_selector("#popover:visible")
    page.tap("#popover-types [data-name=PER]")
    said(page, "wrote: PER. Stored.")
    assert mentions(page) == [("PER", "wrote"), ("LOC", "Lille")]
    context.close()


def test_a_click_on_the_end_of_a_mention_opens_it_too(window):
    page = window(5)  # Pat and Pam wrote to us from Lille .
    for which in ("start", "end"):
        grip = page.locator(f"#sentence .m:has(#w7) .grip[data-grip={which}]").bounding_box()
        page.mouse.click(grip["x"] + (3 if which == "end" else -3), grip["y"] + grip["height"] / 2)
        page.wait_for_selector("#popover:visible")
        assert page.inner_text("#popover-words") == "Lille"
        page.keyboard.press("Escape")
        page.wait_for_selector("#popover", state="hidden")


def test_the_focus_stays_in_the_menu_when_a_fit_is_ready(window, served):
    page = window(5)
    page.keyboard.press("m")
    page.keyboard.press("ArrowRight")
    page.locator("#popover-types [data-name=LOC]:focus").wait_for()
    fit = served.client.get("/api/sentences/5").json()["fit"]
    served.client.post("/api/sentences/2/decision", json={"version": 0, "action": "nothing"}).raise_for_status()
    settled(served.session)
    assert served.client.get("/api/sentences/5").json()["fit"] > fit
    served.client.post("/api/types", json={"action": "remove", "name": "PER"}).raise_for_status()
    page.locator("#changes", has_text="Pam: no longer PER").wait_for()
    assert page.evaluate("document.activeElement.dataset.name") == "LOC"
    page.keyboard.press("Enter")
    said(page, "Pat: LOC. Stored.")
