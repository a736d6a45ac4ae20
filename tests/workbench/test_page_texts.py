"""The page in a real browser: texts that come in and go out again."""

from .browsing import at_sentence, enter, mentions, said
from .made import serving, settled

KIND = {"content-type": "application/octet-stream"}


def n_sentences(served):
    return served.client.get("/api/state").json()["counts"]["sentences"]


def test_undoing_an_import_takes_its_texts_back(window, served):
    page = window(5)
    served.client.post("/api/import", content=b"# GOD: G gods\nso [Gaia](GOD) slept\n", headers=KIND)
    page.wait_for_selector("#types-bar button[data-name=GOD]")
    page.locator("#progress", has_text="1 of 10 ").wait_for()
    page.click("#undo")
    said(page, "Undone: an import of 1 text.")
    page.wait_for_selector("#types-bar button[data-name=GOD]", state="detached")
    page.locator("#progress", has_text="0 of 9 ").wait_for()
    page.click("#redo")
    said(page, "Redone: an import of 1 text.")
    page.locator("#progress", has_text="1 of 10 ").wait_for()


def test_the_first_import_of_an_empty_page_can_be_undone(browser, tmp_path):
    with serving(tmp_path / "p.db", ()) as served:
        page = browser.new_page()
        page.goto(f"{served.url}/?token={served.token}")
        page.locator("#empty-text", has_text="There is no text").wait_for()
        served.client.post("/api/import", content=b"Pia met Leeds\n", headers=KIND)
        page.wait_for_selector("#w0")
        page.click("#undo")
        said(page, "Undone: an import of 1 text.")
        page.locator("#empty-text", has_text="There is no text").wait_for()
        page.wait_for_selector("#card", state="hidden")
        assert page.locator("#queue-list button").count() == 0


def test_the_text_on_the_page_is_deleted_and_brought_back(window, served):
    page = window(3)  # We met Pablo near Lagos ..., the first sentence of a text of two
    enter(page)
    page.locator("#progress", has_text="1 of 9 ").wait_for()
    page.keyboard.press("ArrowUp")
    at_sentence(page, 3)
    page.get_by_label("Delete this text").click()
    page.locator("#confirm-text", has_text="2 sentences, 1 of them decided or put aside, go with it").wait_for()
    page.click("#confirm .close")
    page.get_by_label("Delete this text").click()
    page.click("#confirm .yes")
    page.locator("#progress", has_text="0 of 7 ").wait_for()
    page.locator("#status", has_not_text="Sentence 3 ").wait_for()
    settled(served.session)
    assert served.client.get("/api/state").json()["fit"]["error"] is None
    assert "Lagos" not in served.client.get("/api/export?format=prodigy").text
    page.keyboard.press("z")
    said(page, "Undone: 1 text deleted.")
    page.locator("#progress", has_text="1 of 9 ").wait_for()
    assert [one["type"] for one in served.client.get("/api/sentences/3").json()["labels"]] == ["PER", "LOC", "LOC"]


def test_a_sentence_that_is_in_another_text_too_stays(window, served):
    page = window(1)  # its words are those of sentence 6
    page.get_by_label("Delete this text").click()
    page.locator("#confirm-text", has_text="Its sentences are in other texts, too").wait_for()
    page.click("#confirm .yes")
    said(page, "1 text deleted.")
    page.locator("#progress[title='']", has_text="of 9 sentences").wait_for()  # no copies any more
    at_sentence(page, 1)


def test_texts_with_some_words_are_deleted_together(window, served):
    page = window(5)
    page.keyboard.press("/")
    page.keyboard.type("lima")
    page.locator("#queue-note", has_text="2 sentences in all").wait_for()
    page.click("#delete-texts")
    page.locator(
        "#confirm-text", has_text="Delete 2 texts in which “lima” was found? 2 sentences go with it."
    ).wait_for()
    page.click("#confirm .yes")
    page.locator("#progress", has_text="of 7 sentences").wait_for()
    page.locator("#queue-note", has_text="0 sentences in all").wait_for()
    assert page.is_hidden("#delete-texts")
    page.keyboard.press("z")
    page.locator("#queue-note", has_text="2 sentences in all").wait_for()


def test_a_text_that_was_deleted_comes_in_again_on_the_page_alone(window, served):
    page = window(5)
    page.get_by_label("Delete this text").click()
    page.click("#confirm .yes")
    page.locator("#progress", has_text="of 8 sentences").wait_for()
    answer = served.client.post("/api/import", content=b"Pat and Pam wrote to us from Lille .\n", headers=KIND).json()
    assert (answer["texts"], answer["sentences"], answer["notes"]) == (1, 1, [])
    page.locator("#progress", has_text="of 9 sentences").wait_for()
    page.goto(f"{served.url}/#5")
    page.reload()
    at_sentence(page, 5)
    page.wait_for_selector("#sentence .m.predicted")
    assert mentions(page, "predicted") == [("PER", "Pat"), ("PER", "Pam"), ("LOC", "Lille")]
