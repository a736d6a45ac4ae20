"""Two people at one project, each in a browser of their own."""

import json

import pytest

from handful.text import Span, read
from handful.workbench import People

from .browsing import at_sentence, enter, mentions, said
from .conftest import open_at
from .made import serving, settled


@pytest.fixture
def serve(tmp_path):
    """Serve a project for anna and ben, of whose sentences a share is given to both."""
    opened = []

    def begin(both):
        opened.append(serving(tmp_path / "p.db", people=People(("anna", "ben"), both)))
        served = opened[-1].__enter__()
        settled(served.session)
        return served

    yield begin
    for one in opened:
        one.__exit__(None, None, None)


@pytest.fixture
def pages(serve, browser_of):
    """Open a page for each of the two."""

    def begin(both, id=""):
        served = serve(both)
        return served, *(open_at(browser_of(name), served, id, name) for name in ("anna", "ben"))

    return begin


def look_at(page, served, id):
    page.goto(f"{served.url}/?at={id}#{id}")
    at_sentence(page, id)


def id_of(page):
    return int(page.inner_text("#status").split(" ")[1])


def test_a_page_says_who_one_is_and_who_else_is_there(pages):
    _, anna, ben = pages(0)
    anna.locator("#people", has_text="anna, with ben").wait_for()
    assert ben.inner_text("#people") == "ben, with anna"
    ben.close()
    anna.locator("#people", has_text="anna, alone here").wait_for()


def test_no_two_are_given_the_same_sentence(pages):
    served, anna, ben = pages(0)
    seen = []
    for _ in range(4):
        assert id_of(anna) != id_of(ben)
        for page in (anna, ben):
            seen.append(id_of(page))
            page.keyboard.press("n")
            page.locator("#progress", has_text=f"{len(seen)} of ").wait_for()
            gone_on = page.locator("#status", has_not_text=f"Sentence {seen[-1]} ·")
            gone_on.or_(page.locator("#live", has_text="no other sentence")).first.wait_for()
    assert len(set(seen)) == 8
    said(ben, "There is no other sentence here.")  # the last one is on the page of anna
    assert "Not decided yet" in anna.inner_text("#status")
    authors = served.project._connection.execute("SELECT author, subject FROM log WHERE subject > 0").fetchall()
    assert sorted(authors) == sorted(zip(["anna", "ben"] * 4, seen, strict=True))


def test_what_another_has_on_the_page_can_be_seen_and_not_decided(pages):
    served, anna, ben = pages(0, 7)
    ben.locator("#status", has_text="on the page of anna").wait_for()
    for key in ("n", "Enter", "u", "s"):
        ben.keyboard.press(key)
        ben.locator("#trouble", has_text="Anna has this sentence on the page").wait_for()
        ben.click("#trouble button")
    ben.keyboard.press("1")
    ben.locator("#trouble", has_text="Anna has this sentence on the page").wait_for()
    assert served.client.get("/api/sentences/7").json()["status"] == "new"
    anna.keyboard.press("ArrowDown")  # and leaves it to others
    anna.locator("#status", has_not_text="Sentence 7 ").wait_for()
    ben.keyboard.press("n")
    ben.locator("#progress", has_text="1 of ").wait_for()


def test_everybody_undoes_their_own_and_nothing_else(pages):
    served, anna, ben = pages(0)
    one, other = id_of(anna), id_of(ben)
    anna.keyboard.press("n")
    anna.locator("#progress", has_text="1 of ").wait_for()
    ben.keyboard.press("z")
    said(ben, "There is nothing to undo.")
    ben.keyboard.press("n")
    ben.locator("#progress", has_text="2 of ").wait_for()
    anna.keyboard.press("z")
    said(anna, f"Undone: nothing here, in sentence {one}.")
    assert served.client.get(f"/api/sentences/{other}").json()["status"] == "none"
    anna.keyboard.press("y")
    said(anna, f"Redone: nothing here, in sentence {one}.")
    look_at(ben, served, one)
    assert "· anna" in ben.inner_text("#status")
    ben.keyboard.press("u")
    anna.locator("#status", has_text="Put aside as not sure · ben").wait_for()
    anna.keyboard.press("z")
    said(anna, "Not undone: ben changed this sentence since then.")
    assert served.client.get(f"/api/sentences/{one}").json()["status"] == "unsure"


PRESS_AT_ONCE = """key => new MutationObserver((_, observer) => {
    if (!document.getElementById("live").textContent.includes("You see how it stands now")) return;
    observer.disconnect();
    document.activeElement.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
}).observe(document.getElementById("live"), { childList: true })"""


def test_no_key_crosses_a_decision_of_somebody_else(pages):
    served, anna, _ = pages(0, 5)
    with served.httpx.Client(base_url=served.url, headers={"X-Handful-Token": served.tokens["ben"]}) as client:
        served.session.people.free("anna", 5)  # as after some minutes
        anna.evaluate("() => { const now = performance.now(); performance.now = () => now; }")  # however slow we are
        for i, key in enumerate(["n", "Enter", "u", "s", "r", "a", "x", "2", "l"]):
            mention = {"sentence": 5, "start": 2, "end": 3, "version": client.get("/api/sentences/5").json()["version"]}
            record = {"type": ("PER", "LOC")[i % 2], "accept": [mention]}
            anna.evaluate(PRESS_AT_ONCE, key)
            assert client.post("/api/mentions/review", json=record).json()["accepted"] == 1
            said(anna, "ben changed this sentence just now. Look at how it stands, and press the key again.")
            anna.locator("#live").evaluate("one => one.textContent = ''")
            found = client.get("/api/sentences/5").json()
            assert (found["status"], [one["type"] for one in found["labels"]]) == ("partial", [record["type"]])


def test_a_decision_on_an_old_version_is_refused_and_what_is_there_is_shown(pages):
    served, anna, _ = pages(0, 5)
    anna.route("**/api/events*", lambda route: route.abort())  # she does not hear of him
    anna.reload()
    at_sentence(anna, 5)
    served.session.people.free("anna", 5)  # as after some minutes
    with served.httpx.Client(base_url=served.url, headers={"X-Handful-Token": served.tokens["ben"]}) as client:
        client.post("/api/sentences/5/decision", json={"version": 0, "action": "nothing"})
    anna.keyboard.press("u")
    anna.locator("#trouble", has_text="Ben changed this sentence in the meantime, so yours was not stored").wait_for()
    assert "nothing here · ben" in anna.inner_text("#status")


def test_two_answers_that_differ_are_settled(pages, tmp_path):
    served, anna, ben = pages(1, 5)
    assert "on the page of" not in ben.inner_text("#status")
    enter(anna)  # Pat, Pam and Lille
    anna.locator("#progress", has_text="1 of ").wait_for()
    anna.locator("#agreement-note", has_text="1 sentence waits for a second answer").wait_for()
    assert "Not decided yet" in ben.inner_text("#status")
    assert mentions(ben) == []
    ben.keyboard.press("n")
    ben.locator("#settle", has_text="Settle 1 sentence").wait_for()
    anna.click("#settle")
    at_sentence(anna, 5)
    anna.locator("#status", has_text="Two people differ").wait_for()
    assert anna.locator("#answers h3").all_inner_texts() == ["anna", "ben"]
    assert anna.locator("#answers section").nth(0).locator("mark").all_inner_texts() == ["Pat", "Pam", "Lille"]
    assert "Nothing here" in anna.locator("#answers section").nth(1).inner_text()
    anna.keyboard.press("Enter")
    said(anna, "Two people differ here.")
    anna.keyboard.press("b")
    anna.locator("#settle").wait_for(state="hidden")
    assert served.client.get("/api/sentences/5").json()["status"] == "labelled"
    row = anna.locator("#agreement-table tbody tr")
    assert row.all_inner_texts() == ["anna and ben\t0.00\t0.00\t1"]
    with anna.expect_download() as download:
        anna.click("#get-answers")
    given = json.loads(download.value.path().read_text())
    found = [(one["person"], len(one["labels"])) for one in given["sentences"][0]["answers"]]
    assert found == [("anna", 3), ("ben", 0)]
    assert [span.type for span in list(read(served.project.path))[4].spans] == ["PER", "PER", "LOC"]


def test_a_disputed_sentence_is_marked_anew(pages):
    served, anna, ben = pages(1, 5)
    enter(anna)
    for word in ("#w2", "#w7"):  # Pam and Lille are none to him
        ben.click(word)
        ben.keyboard.press("Escape")
        ben.keyboard.press("x")
        said(ben, "Stored.")
        ben.locator("#live").evaluate("one => one.textContent = ''")
    enter(ben)
    ben.click("#settle")
    ben.locator("#status", has_text="Two people differ").wait_for()
    assert mentions(ben) == [("PER", "Pat")]  # as both say
    assert ben.locator("#answers h3").all_inner_texts() == ["anna", "ben"]
    ben.click("#w7")
    ben.keyboard.press("Escape")
    ben.keyboard.press("2")
    said(ben, "Lille: LOC. Stored.")
    assert mentions(ben) == [("PER", "Pat"), ("LOC", "Lille")]
    ben.wait_for_timeout(600)
    ben.keyboard.press("Enter")
    ben.locator("#settle").wait_for(state="hidden")
    found = served.client.get("/api/sentences/5").json()
    assert [(one["start"], one["type"]) for one in found["labels"]] == [(0, "PER"), (7, "LOC")]
    look_at(anna, served, 5)
    assert "Confirmed · ben" in anna.inner_text("#status")
    assert list(read(served.project.path))[4].spans == (Span(0, 1, "PER"), Span(7, 8, "LOC"))


def test_what_both_have_marked_can_be_taken(pages):
    served, anna, _ = pages(1)
    for name, labels in (("anna", [(0, 1, "PER"), (2, 3, "PER")]), ("ben", [(0, 1, "PER"), (7, 8, "LOC")])):
        with served.httpx.Client(base_url=served.url, headers={"X-Handful-Token": served.tokens[name]}) as client:
            given = [{"start": start, "end": end, "type": type} for start, end, type in labels]
            client.post("/api/sentences/5/decision", json={"version": 0, "action": "label", "labels": given})
    anna.click("#settle")
    anna.locator("#answers h3", has_text="what both have marked").wait_for()
    anna.locator("#answers button").nth(2).click()
    anna.locator("#settle").wait_for(state="hidden")
    labels = served.client.get("/api/sentences/5").json()["labels"]
    assert labels == [{"start": 0, "end": 1, "type": "PER"}]


def test_one_browser_is_one_person(serve, browser_of):
    """Who opens two addresses in one browser decides in one name only: the page of the other one says so."""
    served = serve(0)
    anna = open_at(browser_of("anna"), served, 5, "anna")
    ben = open_at(browser_of("anna"), served, 7, "ben")
    anna.keyboard.press("n")
    anna.locator("#trouble", has_text="This page belongs to anna, the browser now to ben").wait_for()
    ben.keyboard.press("n")
    ben.locator("#progress", has_text="1 of ").wait_for()
    assert served.client.get("/api/sentences/5").json()["status"] == "new"
