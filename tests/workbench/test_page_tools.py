"""The page in a real browser: types, search, files."""

import json
import re

from handful import Tagger
from handful.text import FORMATS, read
from tagger.toy import NamedEncoder

from .browsing import at_sentence, mentions, said, until
from .made import TEXTS, settled


def types(served):
    return served.client.get("/api/state").json()["types"]


def test_types_are_changed_and_the_effect_is_said_first(window, served):
    page = window(1)
    page.keyboard.press("End")
    page.keyboard.press("1")
    said(page, "PER. Stored.")
    page.keyboard.press("t")
    row = page.locator("form[aria-label='Type PER']")
    row.get_by_label("Name of PER").fill("PERSON")
    row.get_by_text("Save").click()
    page.locator("#confirm-text", has_text="1 label in 1 sentence").wait_for()
    page.click("#confirm .close")
    assert [one["name"] for one in types(served)] == ["PER", "LOC"]
    row.get_by_text("Save").click()
    page.click("#confirm .yes")
    row = page.locator("form[aria-label='Type PERSON']")
    row.get_by_label("Description of PERSON").fill("P people, by name")
    row.get_by_label("Colour of PERSON").fill("300")
    row.get_by_text("Save").click()
    page.locator("form[aria-label='Type PERSON'] button:disabled").wait_for()
    page.fill("#types-add [name=name]", "DAY")
    page.keyboard.press("Enter")
    page.locator("form[aria-label='Type DAY']").wait_for()
    found = types(served)
    assert [one["name"] for one in found] == ["PERSON", "LOC", "DAY"]
    assert (found[0]["description"], found[0]["colour"]) == ("P people, by name", 300)
    page.keyboard.press("Escape")
    page.wait_for_selector("#types-bar button[data-name=DAY]")
    assert mentions(page)[-1] == ("PERSON", ".")


def test_a_type_is_removed_and_brought_back(window, served):
    page = window(5)
    page.keyboard.press("a")
    said(page, "Pat: PER is right. Stored.")
    page.click("#open-types")
    page.get_by_label("Remove PER").click()
    page.locator("#confirm-text", has_text="This takes away 1 label in 1 sentence").wait_for()
    page.click("#confirm .yes")
    page.locator("form[aria-label='Type PER']").wait_for(state="detached")
    page.keyboard.press("Escape")
    page.wait_for_selector("#sentence .m.confirmed", state="detached")
    assert [one["name"] for one in types(served)] == ["LOC"]
    page.click("#undo")
    said(page, "Undone: a change of types.")
    page.wait_for_selector("#sentence .m.confirmed")
    assert mentions(page) == [("PER", "Pat")]
    assert [one["name"] for one in types(served)] == ["PER", "LOC"]


def test_edits_of_several_types_outlast_saving_one_and_closing(window, served):
    page = window(1)
    page.keyboard.press("t")
    page.get_by_label("Description of PER").fill("P people, by name")
    page.get_by_label("Description of LOC").fill("L places, by name")
    page.locator("#types-unsaved", has_text="Not saved yet: PER, LOC.").wait_for()
    page.locator("form[aria-label='Type PER']").get_by_text("Save").click()
    page.locator("#types-unsaved", has_text="Not saved yet: LOC.").wait_for()
    assert page.get_by_label("Description of LOC").input_value() == "L places, by name"
    page.keyboard.press("Escape")
    page.locator("#types").wait_for(state="hidden")
    page.keyboard.press("t")
    page.locator("form[aria-label='Type LOC']").get_by_text("Save").click()
    page.locator("#types-unsaved:empty").wait_for(state="attached")
    assert [one["description"] for one in types(served)] == ["P people, by name", "L places, by name"]


def test_names_that_differ_in_case_alone_are_refused(window, served):
    page = window(1)
    page.keyboard.press("t")
    page.fill("#types-add [name=name]", "per")
    page.keyboard.press("Enter")
    page.locator("#types .trouble", has_text="There is a type PER already;").wait_for()
    page.get_by_label("Name of LOC").fill("Per")
    page.locator("form[aria-label='Type LOC']").get_by_text("Save").click()
    page.locator("#types .trouble", has_text="There is a type PER already;").wait_for()
    page.get_by_label("Name of LOC").fill("Loc")  # its own name in another case is another name
    page.locator("form[aria-label='Type LOC']").get_by_text("Save").click()
    page.click("#confirm .yes")
    page.locator("form[aria-label='Type Loc']").wait_for()
    assert [one["name"] for one in types(served)] == ["PER", "Loc"]


def test_a_type_that_is_there_is_not_added_again(window, served):
    page = window(1)
    page.keyboard.press("t")
    page.fill("#types-add [name=name]", "PER")
    page.keyboard.press("Enter")
    page.locator("#types .trouble", has_text="There is a type PER already;").wait_for()


def test_search_and_the_queue_lead_to_sentences(window, served):
    page = window(2)
    page.keyboard.press("/")
    page.keyboard.type("lima")
    page.locator("#queue-note", has_text="2 sentences in all").wait_for()
    at_sentence(page, 7)
    page.locator("#queue-list button").nth(1).click()
    at_sentence(page, 9)
    page.keyboard.press("/")
    page.keyboard.type("nowhere to be found")
    page.locator("#queue-note", has_text="0 sentences in all").wait_for()
    page.get_by_text("Teaches most").click()
    page.wait_for_selector("#queue-list mark.predicted")


def test_labels_come_in_and_go_out_in_every_format(window, served, tmp_path):
    page = window(5)
    (tmp_path / "more.txt").write_text("We saw [Paris](LOC) and [Petra](PER).\n")
    page.keyboard.press("i")
    page.set_input_files("#import [name=file]", tmp_path / "more.txt")
    page.click("#import button")
    page.locator("#files-note", has_text="Imported 1 text, 1 sentence, 1 labelled sentence.").wait_for()
    for n, format in enumerate(FORMATS):
        if n == 8:  # Chromium stops a page that downloads more than ten files without a pause
            page.reload()
            page.wait_for_selector("#w0")
            page.keyboard.press("i")
        page.select_option("#export-format", format)
        with page.expect_download() as download:
            page.click("#export")
            page.locator("#files-note", has_text="is downloaded.").wait_for()
        download.value.save_as(tmp_path / download.value.suggested_filename)
        found = read(tmp_path / download.value.suggested_filename, None if format == "docbin" else format)
        assert any("Paris" in sentence.words for sentence in found)
    page.select_option("#export-format", "prodigy")
    page.select_option("#export-only", "")
    with page.expect_download() as download:
        page.click("#export")
    assert len(download.value.path().read_text().splitlines()) > len(set(TEXTS))
    (tmp_path / "wrong.jsonl").write_text('{"text": "x", "spans": [{"start": 9}]}\n')
    page.set_input_files("#import [name=file]", tmp_path / "wrong.jsonl")
    page.click("#import button")
    page.locator("#files .trouble", has_text=re.compile(r"^wrong\.jsonl")).wait_for()


def test_a_download_of_decided_sentences_says_what_is_not_in_it(window, served):
    page = window(5)
    page.keyboard.press("a")
    said(page, "Pat: PER is right. Stored.")
    page.keyboard.press("ArrowDown")
    page.locator("#status", has_not_text="Sentence 5 ").wait_for()
    page.keyboard.press("n")
    page.locator("#progress", has_text="1 of ").wait_for()
    page.click("#open-files")
    page.select_option("#export-format", "doccano")
    with page.expect_download() as download:
        page.click("#export")
    page.locator("#files-note", has_text="Not in it: sentences that are partly decided (1).").wait_for()
    assert '"_"' not in download.value.path().read_text()
    page.select_option("#export-only", "mentions")
    with page.expect_download() as download:
        page.click("#export")
    page.locator(
        "#files-note", has_text="8 sentences in it are not wholly decided; nothing in the file says so."
    ).wait_for()
    lines = [json.loads(line) for line in download.value.path().read_text().splitlines()]
    assert [one["label"] for one in lines if one["label"]] == [[[0, 3, "PER"]]]
    page.select_option("#export-only", "")
    with page.expect_download() as download:
        page.click("#export")
    assert '"_"' in download.value.path().read_text()


def test_a_tagger_is_downloaded(window, served, tmp_path):
    import zipfile

    page = window(5)
    page.click("#open-files")
    with page.expect_download() as download:
        page.click("#tagger")
    page.locator("#files-note", has_text="tagger.zip is downloaded.").wait_for()
    zipfile.ZipFile(download.value.path()).extractall(tmp_path)
    tagger = Tagger.load(tmp_path / "tagger", encoder=NamedEncoder())
    assert [found["word"] for found in tagger.predict("so Pia and Pam went to Lima")] == ["Pia", "Pam", "Lima"]


def test_how_much_to_find_is_chosen_beside_the_sentence(window, served):
    page = window(1)
    assert page.get_by_label("Find", exact=True).input_value() == "usual"
    with page.expect_response("**/api/find"):
        page.get_by_label("Find", exact=True).select_option("more")
    settled(served.session)
    assert served.client.get("/api/state").json()["find"] == "more"
    other = window(2)
    until(other, "document.getElementById('find').value === 'more'")


def test_types_say_how_their_descriptions_were_understood(window, served):
    change = {"action": "describe", "name": "PER", "description": "People, not pets, without title"}
    served.client.post("/api/types", json=change).raise_for_status()
    page = window(5)
    page.locator("#open-types").click()
    lines = page.locator("#types-list .understood")
    lines.first.wait_for()
    assert lines.all_inner_texts() == [
        'excludes pets: "not pets"',
        'obeyed at the borders of mentions: "without title"',
    ]
