"""The page in a real browser: what it says of itself, in plain words."""

from dataclasses import replace

import pytest

from handful.text import Document, EntityType, Span
from handful.web import CLOSING, hue, marked, opening

from .browsing import at_sentence, said
from .conftest import labelling, open_at
from .made import TEXTS, serving, settled


def test_the_button_says_what_it_does(window, served):
    page = window(5)  # Pat and Pam wrote to us from Lille .
    page.locator("#accept", has_text="Accept 3").wait_for()
    page.keyboard.press("a")
    said(page, "Pat: PER is right. Stored.")
    page.locator("#accept", has_text="Accept 3").wait_for()  # one confirmed, two predicted
    page.click("#accept")
    page.locator("#progress", has_text="1 of ").wait_for()
    page.keyboard.press("z")
    at_sentence(page, 5)
    page.keyboard.press("n")
    page.locator("#status", has_not_text="Sentence 5 ").wait_for()
    page.keyboard.press("ArrowUp")
    at_sentence(page, 5)
    assert page.inner_text("#accept span") == "Next"


def test_undo_says_what_it_undid(window, served):
    page = window(5)
    page.keyboard.press("n")
    page.locator("#progress", has_text="1 of ").wait_for()
    page.keyboard.press("z")
    said(page, "Undone: nothing here, in sentence 5.")
    page.keyboard.press("y")
    said(page, "Redone: nothing here, in sentence 5.")
    served.client.post("/api/types", json={"action": "describe", "name": "PER", "description": "P persons"})
    page.keyboard.press("z")
    said(page, "Undone: a change of types.")


def test_a_fit_that_is_ready_is_said_in_words(window, served):
    page = window(5)
    page.locator("#fit[data-status=idle]", has_text="up to date").wait_for()
    assert page.get_attribute("#fit", "title").startswith("Fit ")


def test_sentences_with_the_same_words_are_counted_once_and_both_page_and_command_say_so(browser, tmp_path):
    (tmp_path / "notes.txt").write_text("\n".join(TEXTS))
    with labelling(tmp_path / "p.db", "--port", "0", corpus=tmp_path / "notes.txt") as label:
        assert label.said[:2] == [
            f"{tmp_path}/notes.txt: sentences with the words of others, which are counted and asked once: 1\n",
            f"{tmp_path}/notes.txt: 10 sentences added, 0 of them labelled\n",
        ]
        page = browser.new_page()
        page.goto(label.address)
        page.locator("#progress", has_text="of 9 sentences").wait_for()
        title = page.get_attribute("#progress", "title")
        assert title == "10 sentences in all; those with the same words are asked once"


def test_colours_are_those_of_the_pages_that_predict_writes(browser, tmp_path):
    with serving(tmp_path / "p.db", types={"PER": "P people", "LOC": "L places"}) as served:
        settled(served.session)
        page = open_at(browser, served, 5)
        shown = page.locator("#types-bar button").evaluate_all(
            "all => Object.fromEntries(all.map(one => [one.dataset.name, +one.style.getPropertyValue('--hue')]))"
        )
        assert shown == {name: hue(i) for i, name in enumerate(sorted(shown))}  # a tagger has them in this order


def test_a_file_is_called_after_its_format(window, served):
    page = window(5)
    page.click("#open-files")
    names = []
    for format in ("prodigy", "doccano", "conll", "docbin"):
        page.select_option("#export-format", format)
        with page.expect_download() as download:
            page.click("#export")
        names.append(download.value.suggested_filename)
    assert names == ["labels-prodigy.jsonl", "labels-doccano.jsonl", "labels.conll", "labels-docbin.spacy"]


@pytest.mark.parametrize("text", ["ראתה Pablo Ruiz ב Lagos אתמול .", "رأت Pablo Ruiz في Lagos أمس ."])
def test_pages_of_predictions_show_text_from_right_to_left_in_order(browser, text):
    words = text.split()
    (sentence,) = Document.of(text).sentences
    span = Span(1, 3, "PER", 0.9)
    types = [EntityType("PER", "people")]
    page = browser.new_page()
    page.set_content(opening("a page", types) + marked(replace(sentence, spans=(span,)), types) + CLOSING)
    places = page.evaluate(
        """words => {
            const nodes = [], walker = document.createTreeWalker(document.querySelector(".s"), NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) nodes.push(walker.currentNode);
            return [...words, "PER"].map(word => {
                const node = nodes.find(one => one.data.includes(word));
                const range = document.createRange();
                range.setStart(node, node.data.indexOf(word));
                range.setEnd(node, node.data.indexOf(word) + word.length);
                const box = range.getBoundingClientRect();
                return (box.left + box.right) / 2;
            });
        }""",
        words,
    )
    *of_words, of_type = places
    first, name, family, *rest = of_words
    assert [first, *rest] == sorted([first, *rest], reverse=True)  # from right to left
    assert first > family > name > rest[0]  # Latin words inside them from left to right
    assert of_words[3] < of_type < name  # and their type after them


def test_what_changed_since_does_not_hide_what_was_undone(window, served):
    page = window(5)
    served.client.post("/api/types", json={"action": "remove", "name": "LOC"}).raise_for_status()
    said(page, "Predictions have changed. Lille: no longer LOC.")
    page.keyboard.press("z")
    said(page, "Predictions have changed. Lille: now LOC.")
    said(page, "Undone: a change of types.")


def test_what_was_decided_last_is_listed_and_a_click_goes_back_to_it(window, served):
    page = window(5)
    assert page.is_hidden("#recent")
    page.keyboard.press("a")
    said(page, "Pat: PER is right. Stored.")
    page.keyboard.press("n")
    page.locator("#status", has_not_text="Sentence 5 ").wait_for()
    other = page.inner_text("#status").split()[1]
    page.keyboard.press("s")
    page.locator("#status", has_not_text=f"Sentence {other} ").wait_for()
    rows = page.locator("#recent-list button")
    assert [one.split(".")[0] for one in rows.all_inner_texts()] == ["Skipped", "Nothing here"]  # each sentence once
    rows.filter(has_text="Pat and Pam wrote").click()
    at_sentence(page, 5)
    page.keyboard.press("z")
    said(page, "Undone: skipped")
    rows.first.filter(has_text="Undone: skipped").wait_for()
    assert rows.count() == 2
