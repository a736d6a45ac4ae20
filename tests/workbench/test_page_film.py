"""The story that docs/workbench.md tells, on garden notes in a real browser; it takes the pictures of it."""

from importlib.resources import files

from handful.workbench import People

from .browsing import at_sentence, enter, go_to_a_mention, mentions, picture, said, until
from .conftest import labelling, open_at
from .made import serving, settled

EXAMPLES = files("handful") / "examples"
TYPES = [line.split(": ", 1) for line in (EXAMPLES / "types.txt").read_text(encoding="utf-8").splitlines()]
FIRST, (LATER, MEANING) = TYPES[:-1], TYPES[-1]
WINDOW = {"width": 1120, "height": 680}


def test_a_story_in_pictures(browser, tmp_path):
    types = tmp_path / "types.txt"
    types.write_text("".join(f"{name}: {meaning}\n" for name, meaning in FIRST))
    with labelling(tmp_path / "garden.db", "--port", "0", "--words", "3000", types=types) as label:
        page = browser.new_page()
        page.set_viewport_size(WINDOW)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.goto(label.address)
        page.wait_for_selector("body[data-connected=true]")
        go_to_a_mention(page)  # there are some before any label, by what types mean
        picture(page, "workbench-story-1")

        page.click("#sentence .m.predicted .w")
        page.click("#why")
        page.wait_for_selector("#reasons tbody tr")
        assert "Found as " in page.inner_text("#reasons p")
        picture(page, "workbench-story-2")
        page.keyboard.press("Escape")

        for _ in range(6):
            page.wait_for_selector("#fit[data-status=idle]")
            enter(page)
        page.locator("#progress", has_text="6 of ").wait_for()
        page.keyboard.press("t")
        page.fill("#types-add [name=name]", LATER)
        page.fill("#types-add [name=description]", MEANING)
        page.keyboard.press("Enter")
        page.locator(f"form[aria-label='Type {LATER}']").wait_for()
        until(page, "[...document.querySelectorAll('.fitting:not([hidden])')].every(one => one.textContent)")
        assert page.locator(".fitting", has_text="Labelled: ").count() > 1
        picture(page, "workbench-story-3")
        page.keyboard.press("Escape")
        page.locator("#look", has_text=f"6 decided sentences need a look for {LATER}.").wait_for()
        page.wait_for_selector("#fit[data-status=idle]")
        picture(page, "workbench-story-4")
        page.click("#look button")
        for n in range(5, 0, -1):
            page.locator("#status", has_text=f"nobody has looked for {LATER}").wait_for()
            at = page.inner_text("#status").split(" · ")[0]
            page.keyboard.press("n")
            page.locator("#status", has_not_text=f"{at} ·").wait_for()
            page.locator(f"#parts [data-part=look] .n:text-is('{n}')").wait_for()

        page.wait_for_selector("#fit[data-status=idle]")
        page.keyboard.press("v")
        page.select_option("#review-type", "PLANT")
        page.select_option("#review-by", "doubt")
        page.locator("#review-looked", has_text="looked through all").wait_for()
        page.locator("#review-list input[value=wrong]").nth(1).check()
        page.locator("#review-list input[value=open]").nth(3).check()
        page.locator("#review-store", has_text="reject 1").wait_for()
        picture(page, "workbench-story-5")
        page.click("#review-store")
        page.locator("#review-note", has_text="Stored.").wait_for()
        page.keyboard.press("Escape")

        page.click("text=Teaches most")
        go_to_a_mention(page)
        page.set_viewport_size({"width": 390, "height": 680})
        page.emulate_media(color_scheme="dark")
        page.click("#sentence .m .w >> nth=0")
        page.wait_for_selector("#popover:visible")
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        picture(page, "workbench-story-7")


NOTE = "Two sprays of soft soap cleared the blackfly from the broad beans by Sunday ."
ANSWERS = {
    "anna": [(3, 5, "TREATMENT"), (7, 8, "PEST"), (10, 12, "PLANT")],
    "ben": [(1, 5, "TREATMENT"), (7, 8, "PEST"), (11, 12, "PLANT")],
}


def test_a_story_in_pictures_of_two_people(browser_of, tmp_path):
    texts = [NOTE, "The hens got out at lunchtime .", "Left the secateurs out in the rain again ."]
    people = People(tuple(ANSWERS), 1)
    with serving(tmp_path / "garden.db", texts, dict(TYPES), people=people, encoder="handful-en") as served:
        settled(served.session)
        for name, answer in ANSWERS.items():
            labels = [{"start": start, "end": end, "type": type} for start, end, type in answer]
            headers = {"X-Handful-Token": served.tokens[name]}
            version = served.client.get("/api/sentences/1", headers=headers).json()["version"]
            record = {"version": version, "action": "label", "labels": labels}
            path = "/api/sentences/1/decision"
            assert served.client.post(path, json=record, headers=headers).status_code == 200
        settled(served.session)
        page = open_at(browser_of("anna"), served, 2, "anna")
        page.set_viewport_size(WINDOW)
        page.emulate_media(color_scheme="light", reduced_motion="reduce")
        page.click("#settle")
        at_sentence(page, 1)
        assert mentions(page) == [("PEST", "blackfly")]  # what both have marked
        card, panel = (page.locator(one).bounding_box() for one in ("#card", "#agreement"))
        for one in page.locator("#answers section").all():
            assert card["x"] + 10 < one.bounding_box()["x"]
        table = page.locator("#agreement-table").bounding_box()
        assert table["x"] + table["width"] <= panel["x"] + panel["width"] - 10
        picture(page, "workbench-story-6")
        page.keyboard.press("b")
        said(page, "The answer of anna counts. Stored.")
        found = served.client.get("/api/sentences/1").json()
        assert [(one["start"], one["end"], one["type"]) for one in found["labels"]] == ANSWERS["anna"]
