"""The page in a real browser: a sentence, its words and its mentions."""

import json

import pytest

from .browsing import at_sentence, drag, drag_border, enter, mentions, said
from .conftest import open_at
from .made import serving, settled


def status(served, id):
    return served.client.get(f"/api/sentences/{id}").json()["status"]


def test_enter_accepts_all_of_a_sentence_and_goes_on(window, served):
    page = window(5)
    assert mentions(page, "predicted") == [("PER", "Pat"), ("PER", "Pam"), ("LOC", "Lille")]
    enter(page)
    assert status(served, 5) == "labelled"
    page.keyboard.press("ArrowUp")
    page.locator("#status", has_text="Sentence 5 · Confirmed").wait_for()
    assert mentions(page) == [("PER", "Pat"), ("PER", "Pam"), ("LOC", "Lille")]
    assert mentions(page, "predicted") == []


def test_one_mention_is_accepted_and_another_taken_away(window, served):
    page = window(5)
    page.keyboard.press(".")  # from Pat, where the caret is, to Pam
    page.keyboard.press("a")
    said(page, "Pam: PER is right. Stored.")
    assert mentions(page) == [("PER", "Pam")]
    page.keyboard.press(".")
    page.keyboard.press("x")
    said(page, "Lille: not LOC. Stored.")
    assert mentions(page) == [("PER", "Pam")]
    assert status(served, 5) == "partial"
    assert mentions(page, "predicted") == [("PER", "Pat")]


def test_a_mention_gets_another_type_by_its_key_or_a_click(window, served):
    page = window(5)
    page.click("#w7")
    page.keyboard.press("1")
    said(page, "Lille: PER. Stored.")
    assert ("PER", "Lille") in mentions(page)
    page.click("#types-bar button[data-name=LOC]")
    said(page, "Lille: LOC. Stored.")
    assert ("LOC", "Lille") in mentions(page)


def test_words_are_chosen_and_borders_moved_by_mouse(window, served):
    page = window(2)  # a dog and a cat sat there .
    drag(page, "#w1", "#w2", "#w4")
    page.click("#types-bar button[data-name=LOC]")
    said(page, "LOC. Stored.")
    assert mentions(page) == [("LOC", "dog and a cat")]
    drag_border(page, "end", "#w3", "#w1")
    said(page, "LOC is now: dog.")
    assert mentions(page) == [("LOC", "dog")]
    drag_border(page, "start", "#w0")
    said(page, "LOC is now: a dog.")
    drag_border(page, "end", "#w2", "#w3")
    said(page, "LOC is now: a dog and a.")
    assert mentions(page) == [("LOC", "a dog and a")]
    known = served.client.get("/api/sentences/2").json()
    assert known["labels"] == [{"start": 0, "end": 4, "type": "LOC"}]


def test_a_mention_is_accepted_and_rejected_by_mouse(window, served):
    page = window(5)
    page.click("#sentence .m:has-text('Lille') .tag")  # the name of its type belongs to it
    page.locator("#mention", has_text="Lille · LOC: L places").wait_for()
    page.click("#right")
    said(page, "Lille: LOC is right. Stored.")
    assert mentions(page) == [("LOC", "Lille")]
    page.wait_for_selector("#right", state="hidden")
    page.click("#w2")
    page.click("text=Not PER")
    said(page, "Pam: not PER. Stored.")
    assert [words for _, words in mentions(page, "predicted")] == ["Pat"]
    page.click("#w3")
    page.wait_for_selector("#mention-actions", state="hidden")
    grip = page.locator("#sentence .m.confirmed .grip").first
    assert grip.evaluate("one => parseFloat(getComputedStyle(one, '::before').width)") >= 16


def test_a_type_is_chosen_first_and_words_then(window, served):
    page = window(2)  # a dog and a cat sat there .
    page.click("#types-bar button[data-name=LOC]")
    said(page, "LOC is chosen.")
    assert mentions(page) == []  # not the first word
    assert page.get_attribute("#types-bar button[data-name=LOC]", "aria-pressed") == "true"
    page.click("#w1")
    said(page, "dog: LOC. Stored.")
    drag(page, "#w3", "#w4")
    said(page, "a cat: LOC. Stored.")
    page.click("#w4")  # a mention is selected, and stays as it is
    page.click("#types-bar button[data-name=PER]")
    said(page, "PER is chosen.")
    page.click("#w4")
    assert mentions(page) == [("LOC", "dog"), ("LOC", "a cat")]
    page.click("#w6")
    said(page, "there: PER. Stored.")
    page.keyboard.press("Escape")
    said(page, "PER is no longer chosen.")
    page.click("#w5")
    assert page.locator("#types-bar [aria-pressed=true]").count() == 0
    assert mentions(page) == [("LOC", "dog"), ("LOC", "a cat"), ("PER", "there")]


def test_words_are_chosen_and_borders_moved_by_keys(window, served):
    page = window(2)
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Shift+ArrowRight")
    page.keyboard.press("2")
    said(page, "dog and: LOC. Stored.")
    for key, now in [("l", "dog and a"), ("k", "dog and"), ("h", "a dog and"), ("j", "dog and")]:
        page.keyboard.press(key)
        said(page, f"LOC is now: {now}.")
    assert mentions(page) == [("LOC", "dog and")]
    page.keyboard.press("x")
    said(page, "dog and: not LOC")
    assert mentions(page) == []


def test_enter_accepts_nothing_that_was_not_in_sight(browser, tmp_path):
    text = " and ".join(f"Pia{i} who saw the great big {'long ' * 20}dog" for i in range(30))
    with serving(tmp_path / "p.db", [text, "who is Paula ?"]) as served:
        settled(served.session)
        page = open_at(browser, served, 1)
        assert len(mentions(page, "predicted")) == 30
        page.locator("#below", has_text="not seen yet").wait_for()
        page.wait_for_timeout(600)
        seen = []
        for _ in range(30):
            page.keyboard.press("Enter")
            said(page, "not in sight")
            assert status(served, 1) == "new"
            seen.append(page.evaluate("document.getElementById('text').scrollTop"))
            page.locator("#live").evaluate("one => one.textContent = ''")
            page.wait_for_timeout(50)
            if page.locator("#below:visible", has_text="not seen yet").count() == 0:
                break
        assert seen == sorted(set(seen))  # each time it scrolls on
        page.keyboard.press("Enter")
        at_sentence(page, 2)
        assert len(served.client.get("/api/sentences/1").json()["labels"]) == 30


def test_a_click_brings_what_was_not_in_sight(browser, tmp_path):
    text = "Pia sat " + "there and looked on " * 300 + "at Leeds"
    with serving(tmp_path / "p.db", [text]) as served:
        settled(served.session)
        page = open_at(browser, served, 1)
        page.locator("#below", has_text="1 predicted mention not seen yet").click()
        page.locator("#below", has_text="not seen yet").wait_for(state="hidden")
        page.keyboard.press("Enter")
        page.locator("#progress", has_text="1 of ").wait_for()


def test_the_mention_at_the_caret_is_marked_and_no_other(window):
    page = window(5)  # Pat and Pam wrote to us from Lille .
    current = page.locator("#sentence .m.current .w")
    for key, words in (
        ("Home", ["Pat"]),
        ("ArrowRight", []),
        ("ArrowRight", ["Pam"]),
        ("End", []),
        ("ArrowLeft", ["Lille"]),
    ):
        page.keyboard.press(key)
        assert current.all_inner_texts() == words, key


@pytest.mark.parametrize(("key", "state"), [("n", "none"), ("u", "unsure"), ("s", "skipped")])
def test_a_sentence_is_decided_without_labels_and_opened_again(window, served, key, state):
    page = window(7)
    page.keyboard.press(key)
    page.locator("#status", has_not_text="Sentence 7 ").wait_for()
    assert status(served, 7) == state
    page.keyboard.press("ArrowUp")
    at_sentence(page, 7)
    page.keyboard.press("r")
    said(page, "Open again. Stored.")
    assert status(served, 7) == "new"


def test_steps_are_undone_and_redone_to_the_first_and_to_the_last(window, served):
    page = window(2)
    for word, key in enumerate("1212"):
        page.keyboard.press(key)
        said(page, "Stored.")
        page.wait_for_selector(f"#sentence .m.confirmed >> nth={word}")
        page.keyboard.press("ArrowRight")
    done = mentions(page)
    assert [name for name, _ in done] == ["PER", "LOC", "PER", "LOC"]
    for n in range(3, -1, -1):
        page.keyboard.press("z")
        page.wait_for_selector(f"#sentence .m.confirmed >> nth={n}", state="detached")
    page.wait_for_selector("#undo:disabled")
    page.keyboard.press("z")
    said(page, "There is nothing to undo.")
    assert status(served, 2) == "new"
    for n in range(4):
        page.click("#redo")
        page.wait_for_selector(f"#sentence .m.confirmed >> nth={n}")
    assert mentions(page) == done
    page.wait_for_selector("#redo:disabled")


def test_what_a_fit_changed_is_pointed_out(window, served):
    page = window(5)  # Pat and Pam wrote to us from Lille .
    assert [words for _, words in mentions(page, "predicted")] == ["Pat", "Pam", "Lille"]
    served.client.post("/api/types", json={"action": "remove", "name": "LOC"})
    said(page, "Predictions have changed. Lille: no longer LOC.")
    assert "Lille: no longer LOC" in page.inner_text("#changes")
    assert [words for _, words in mentions(page, "predicted")] == ["Pat", "Pam"]


def test_text_from_right_to_left_and_emoji(browser, tmp_path):
    texts = ["هي رأت Pablo في Lagos أمس", "👩‍👩‍👧 Pia 🇩🇪 met 😀 Lena", "פיטר נסע אל Leeds 🎉 היום"]
    with serving(tmp_path / "p.db", texts) as served:
        settled(served.session)
        page = open_at(browser, served, 1)
        assert page.evaluate("getComputedStyle(document.getElementById('sentence')).direction") == "rtl"
        assert mentions(page, "predicted") == [("PER", "Pablo"), ("LOC", "Lagos")]
        word, tag = (page.locator(f"#sentence .m:has(#w2) {of}").bounding_box() for of in (".w", ".tag"))
        assert tag["x"] + tag["width"] < word["x"]  # after the word, also one of another direction
        page.keyboard.press("ArrowLeft")  # on, in this direction
        page.keyboard.press("Shift+ArrowLeft")
        page.keyboard.press("2")
        said(page, "LOC. Stored.")
        assert mentions(page) == [("LOC", "رأت Pablo")]
        drag_border(page, "end", "#w3", is_right_to_left=True)
        said(page, "LOC is now: رأت Pablo في.")
        enter(page)
        page = open_at(browser, served, 2)
        at_sentence(page, 2)
        drag(page, "#sentence .w:has-text('Pia')", "#sentence .w:has-text('met')")
        page.keyboard.press("1")
        said(page, "PER. Stored.")
        (name, words), *_ = mentions(page)
        assert name == "PER"
        assert words.startswith("Pia")
        assert words.endswith("met")
        lines = served.client.get("/api/export?format=prodigy").text.splitlines()
        found = [
            [one["text"][span["start"] : span["end"]] for span in one.get("spans", [])]
            for one in map(json.loads, lines)
        ]
        assert ["رأت Pablo في", "Lagos"] in found
