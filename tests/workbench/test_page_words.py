"""The page in a real browser: what it says of itself, in plain words."""

from handful.web import hue

from .browsing import at_sentence, said
from .conftest import open_at
from .made import serving, settled


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


def test_sentences_with_the_same_words_are_counted_once_and_the_page_says_so(window, served):
    page = window(5)
    assert "of 9 sentences" in page.inner_text("#progress")
    assert page.get_attribute("#progress", "title") == "10 sentences in all; those with the same words are asked once"


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
