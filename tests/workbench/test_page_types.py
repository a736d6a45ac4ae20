"""The page in a real browser: types that are merged, split and edited together, and wordings against labels."""

import pytest

from .browsing import enter, mentions, said
from .conftest import open_at
from .made import serving, settled


def types(served):
    return [(one["name"], one["n_labels"]) for one in served.client.get("/api/state").json()["types"]]


def test_types_that_differ_in_capitals_alone_are_made_one(browser, tmp_path):
    with serving(tmp_path / "p.db") as served:
        body = b"so [Gaia](per) slept\nand [Rome](LOC) fell\n"
        kind = {"content-type": "application/octet-stream"}
        (note,) = served.client.post("/api/import", content=body, headers=kind).json()["notes"]
        assert note == "types that differ from others in capitals alone: per; merge them if they are one"
        settled(served.session)
        page = open_at(browser, served, 5)
        enter(page)
        page.locator("#progress", has_text="3 of ").wait_for()
        assert types(served) == [("PER", 2), ("LOC", 2), ("per", 1)]
        page.keyboard.press("t")
        page.get_by_text("Make per a part of PER", exact=True).click()
        page.locator("#confirm-text", has_text="1 label in ").wait_for()
        page.click("#confirm .yes")
        page.locator("form[aria-label='Type per']").wait_for(state="detached")
        assert page.locator("#types-list .twin").count() == 0
        assert types(served) == [("PER", 3), ("LOC", 2)]
        page.keyboard.press("Escape")
        page.locator("#types").wait_for(state="hidden")
        page.keyboard.press("z")
        said(page, "Undone: a change of types.")
        assert types(served) == [("PER", 2), ("LOC", 2), ("per", 1)]


def test_a_type_is_merged_by_its_name_or_by_choice(window, served):
    page = window(5)
    enter(page)
    page.locator("#progress", has_text="1 of ").wait_for()
    page.keyboard.press("t")
    page.get_by_label("Name of LOC").fill("PER")
    page.locator("form[aria-label='Type LOC']").get_by_text("Save").click()
    page.locator(
        "#confirm-text", has_text="Make LOC a part of PER? The labels of LOC are then of PER; 1 label in "
    ).wait_for()
    page.click("#confirm .close")
    assert types(served) == [("PER", 2), ("LOC", 1)]
    page.get_by_label("Name of LOC").fill("LOC")
    page.get_by_label("Merge or split PER").click()
    page.get_by_label("Type that PER becomes a part of").select_option("LOC")
    page.get_by_text("Merge", exact=True).first.click()
    page.click("#confirm .yes")
    page.locator("form[aria-label='Type PER']").wait_for(state="detached")
    assert types(served) == [("LOC", 3)]


def test_a_type_is_split_and_its_sentences_come_again(window, served):
    page = window(5)
    enter(page)
    page.locator("#progress", has_text="1 of ").wait_for()
    page.keyboard.press("t")
    page.get_by_label("Merge or split PER").click()
    page.get_by_label("Names of the parts of PER, with commas").fill("PER, PLACE")
    page.keyboard.press("Enter")
    page.locator("#confirm-text", has_text="Split PER into PER and PLACE? 2 labels in 1 sentence change").wait_for()
    page.click("#confirm .yes")
    page.locator("form[aria-label='Type PLACE']").wait_for()
    page.keyboard.press("Escape")
    assert types(served) == [("PER", 0), ("LOC", 1), ("PLACE", 0)]
    page.locator("#parts button[data-part=partial]").click()
    page.locator("#status", has_text="Sentence 5 · Partly decided").wait_for()
    assert mentions(page) == [("LOC", "Lille")]
    page.wait_for_selector("#sentence .m.predicted")
    assert [words for _, words in mentions(page, "predicted")] == ["Pat", "Pam"]


def test_several_edits_are_saved_together_and_undone_together(window, served):
    page = window(5)
    page.keyboard.press("t")
    page.get_by_label("Description of PER").fill("P persons")
    assert page.is_hidden("#types-save")  # one has its own button
    page.get_by_label("Name of LOC").fill("PLACE")
    page.get_by_label("Colour of LOC").fill("300")
    page.click("#types-save")
    page.locator("#confirm-text", has_text="Rename LOC to PLACE?").wait_for()
    page.click("#confirm .yes")
    page.locator("form[aria-label='Type PLACE']").wait_for()
    page.locator("#types-unsaved:empty").wait_for(state="attached")
    found = served.client.get("/api/state").json()["types"]
    assert [(one["name"], one["description"]) for one in found] == [("PER", "P persons"), ("PLACE", "L places")]
    assert found[1]["colour"] == 300
    page.keyboard.press("Escape")
    page.locator("#types").wait_for(state="hidden")
    page.keyboard.press("z")
    said(page, "Undone: a change of types.")
    found = served.client.get("/api/state").json()["types"]
    assert [(one["name"], one["description"]) for one in found] == [("PER", "P people"), ("LOC", "L places")]


def test_a_wording_is_checked_against_the_labels_while_it_is_typed(window, served):
    page = window(5)
    enter(page)
    page.locator("#progress", has_text="1 of ").wait_for()
    page.keyboard.press("t")
    line = page.locator("form[aria-label='Type PER'] ~ .fitting").first
    line.filter(has_text="Labelled: Pat, Pam. Without labels, this wording finds 2 of 2 labelled words").wait_for()
    page.get_by_label("Description of PER").fill("Gods and men")  # the toy encoder reads the first letter
    line.filter(has_text="this wording finds 0 of 2 labelled words, the name alone 2. It misses Pa").wait_for()
    assert served.client.get("/api/state").json()["types"][0]["description"] == "P people"


def test_two_people_who_change_types_at_once_lose_nothing(window, served):
    one, other = window(5), window(5)
    for page, wording in ((one, "P persons"), (other, "P names")):
        page.keyboard.press("t")
        page.get_by_label("Description of PER").fill(wording)
    other.get_by_label("Name of LOC").fill("PLACE")
    one.locator("form[aria-label='Type PER']").get_by_text("Save").click()
    one.locator("form[aria-label='Type PER'] button:disabled", has_text="Save").wait_for()
    other.click("#types-save")
    other.locator("#types .trouble", has_text="The types were changed in the meantime").wait_for()
    other.get_by_text("Somebody else has made it: P persons").wait_for()
    assert other.get_by_label("Description of PER").input_value() == "P names"
    assert other.get_by_label("Name of LOC").input_value() == "PLACE"
    found = served.client.get("/api/state").json()["types"]
    assert [(one["name"], one["description"]) for one in found] == [("PER", "P persons"), ("LOC", "L places")]
    other.click("#types-save")
    other.click("#confirm .yes")
    other.locator("form[aria-label='Type PLACE']").wait_for()
    found = served.client.get("/api/state").json()["types"]
    assert [(one["name"], one["description"]) for one in found] == [("PER", "P names"), ("PLACE", "L places")]


def test_a_name_alone_does_not_take_back_a_wording_of_somebody_else(window, served):
    page = window(5)
    page.keyboard.press("t")
    page.get_by_label("Name of PER").fill("PEOPLE")
    served.client.post("/api/types", json={"action": "describe", "name": "PER", "description": "P persons"})
    save = page.locator("form[aria-label='Type PER']").get_by_text("Save")
    save.click()
    page.locator("#types .trouble", has_text="The types were changed in the meantime").wait_for()
    assert page.get_by_label("Description of PER").input_value() == "P persons"
    save.click()
    page.click("#confirm .yes")
    page.locator("form[aria-label='Type PEOPLE']").wait_for()
    assert served.client.get("/api/state").json()["types"][0]["description"] == "P persons"


@pytest.mark.parametrize("is_known", [False, True])
def test_words_about_a_type_that_somebody_else_took_away_are_kept_until_they_are_not_wanted(window, served, is_known):
    page = window(5)
    page.keyboard.press("t")
    page.get_by_label("Description of LOC").fill("L cities and towns")
    served.client.post("/api/types", json={"action": "remove", "name": "LOC"})
    if is_known:
        page.locator("#types-bar [data-name=LOC]").wait_for(state="detached")
    page.locator("form[aria-label='Type LOC']").get_by_text("Save").click()
    page.locator("#types .trouble", has_text="The types were changed in the meantime").wait_for()
    page.locator("#types-unsaved", has_text="LOC is no longer there; you wrote of it: L cities and towns.").wait_for()
    page.click("text=Forget LOC")
    page.locator("#types-unsaved:empty").wait_for(state="attached")
    assert types(served) == [("PER", 0)]


def test_what_is_wrong_is_said_where_it_is_seen(window, served):
    page = window(5)
    page.set_viewport_size({"width": 900, "height": 420})
    page.keyboard.press("t")
    page.get_by_label("Name of PER").fill("LOC ")
    page.locator("form[aria-label='Type PER']").get_by_text("Save").click()
    trouble = page.locator("#types .trouble", has_text="starts or ends with white space")
    trouble.wait_for()
    box, dialog = trouble.bounding_box(), page.locator("#types").bounding_box()
    assert dialog["y"] <= box["y"] <= box["y"] + box["height"] <= dialog["y"] + dialog["height"]
