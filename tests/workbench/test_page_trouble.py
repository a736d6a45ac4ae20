"""The page in a real browser when things go wrong: reloads, other windows, a server that is gone, much text."""

import threading
from urllib.parse import urlsplit

from tagger.toy import NamedEncoder

from .browsing import at_sentence, mentions, said
from .conftest import labelling, open_at
from .made import serving, settled


def test_a_reload_in_the_middle_loses_nothing(browser, label):
    page = browser.new_page()
    page.goto(label.address)
    page.wait_for_selector("#w2")
    assert "token" not in page.url
    words = page.locator("#sentence .w").all_inner_texts()
    page.keyboard.press("End")
    page.keyboard.press("Shift+Home")  # all words are chosen, whatever is predicted
    page.keyboard.press("2")
    said(page, "PEST. Stored.")
    assert mentions(page) == [("PEST", " ".join(words))]
    page.reload()
    page.wait_for_selector(".m.confirmed")
    assert mentions(page) == [("PEST", " ".join(words))]
    page.keyboard.press("z")
    said(page, "Undone:")
    assert mentions(page) == []
    page.reload()
    page.wait_for_selector("#w2")
    page.keyboard.press("y")
    said(page, "Redone:")
    assert mentions(page) == [("PEST", " ".join(words))]
    label.process.terminate()
    page.locator("#trouble", has_text="has been stopped").wait_for()
    assert "Traceback" not in label.process.stdout.read()


def test_two_windows_hear_of_each_other(window, served):
    one, other = window(7), window(7)
    one.keyboard.press("n")
    said(other, "This sentence was changed in another window.")
    assert "Confirmed: nothing here" in other.inner_text("#status")
    assert served.client.get("/api/sentences/7").json()["status"] == "none"
    other.wait_for_timeout(1100)  # it must have been on the page for a second
    other.keyboard.press("r")
    said(other, "Open again.")
    one.locator("#status", has_not_text="Sentence 7 ").wait_for()  # it has gone on
    one.keyboard.press("ArrowUp")
    one.locator("#status", has_text="Sentence 7 · Not decided yet").wait_for()


def test_a_key_that_crosses_a_decision_of_another_window_does_nothing(window, served):
    one, other = window(5), window(5)
    other.evaluate("() => { const now = performance.now(); performance.now = () => now; }")  # however slow we are
    one.keyboard.press("a")
    said(one, "Pat: PER is right. Stored.")
    said(other, "This sentence was changed in another window.")
    other.keyboard.press("n")
    said(other, "was changed in another window just now")
    assert [label["type"] for label in served.client.get("/api/sentences/5").json()["labels"]] == ["PER"]
    other.evaluate("() => { performance.now = () => 1e9; }")
    other.keyboard.press("n")
    other.locator("#progress", has_text="1 of ").wait_for()


def test_two_windows_do_not_overwrite_each_other(window, served):
    page = window(7)
    page.route("**/api/events*", lambda route: route.abort())  # it does not hear of the other window
    page.reload()
    page.wait_for_selector("#w0")
    other = window(7)
    other.keyboard.press("n")
    other.locator("#status", has_not_text="Sentence 7 ").wait_for()
    page.keyboard.press("u")
    page.locator("#trouble", has_text="changed in another window").wait_for()
    assert "nothing here" in page.inner_text("#status")
    assert served.client.get("/api/sentences/7").json()["status"] == "none"


def test_a_killed_server_loses_nothing_and_the_page_comes_back(browser, tmp_path):
    options = ["--words", "300", "--no-cache"]
    page = browser.new_page()
    with labelling(tmp_path / "p.db", "--port", "0", *options, token="a-token-that-is-known") as label:
        page.goto(label.address)
        page.wait_for_selector("body[data-connected=true]")
        page.wait_for_selector("#w0")
        page.keyboard.press("1")
        said(page, "PLANT. Stored.")
        decided = mentions(page)
        page.keyboard.press("ArrowRight")
        page.keyboard.press("ArrowRight")
        label.process.kill()
        page.locator("#trouble", has_text="The connection to handful label is lost").wait_for()
        page.locator("#fit[data-status=stopped]", has_text="no connection").wait_for()
        page.keyboard.press("n")
        page.locator("#trouble", has_text="does not answer").wait_for()
        assert mentions(page) == decided  # nothing is shown as stored that is not
        assert "nothing here" not in page.inner_text("#status")
        port = str(urlsplit(label.address).port)
    with labelling(tmp_path / "p.db", "--port", port, *options, token="a-token-that-is-known"):
        said(page, "Connected again.")
        assert page.is_hidden("#trouble")
        assert mentions(page) == decided
        page.keyboard.press("n")
        page.locator("#progress", has_text="1 of ").wait_for()
    with labelling(tmp_path / "p.db", "--port", port, *options):
        page.locator("#trouble", has_text="no longer knows this page").wait_for()


def test_a_wrong_token_is_said_in_words(browser, served):
    page = browser.new_page()
    for query in ("", "?token=wrong"):
        answer = page.goto(f"{served.url}/{query}")
        assert answer.status == 403
        assert page.inner_text("main") == (
            "handful\n\nThe token is missing or wrong.\n\nOpen the address that handful label printed."
        )
    page.goto(f"{served.url}/?token={served.token}")
    page.wait_for_selector("#w0")


def test_a_page_that_is_no_longer_known_stops_asking_until_another_one_is(browser, tmp_path):
    options = ["--words", "300", "--no-cache"]
    page = browser.new_page()
    with labelling(tmp_path / "p.db", "--port", "0", *options) as label:
        page.goto(label.address)
        page.wait_for_selector("body[data-connected=true]")
        port = str(urlsplit(label.address).port)
    with labelling(tmp_path / "p.db", "--port", port, *options) as again:
        page.locator("#trouble", has_text="no longer knows this page").wait_for()
        asked = []
        page.on("request", lambda request: asked.append(request.url))
        page.wait_for_timeout(5000)
        assert asked == []
        browser.new_page().goto(again.address)
        said(page, "Connected again.")
        assert page.is_hidden("#trouble")
        page.keyboard.press("n")
        page.locator("#progress", has_text="1 of ").wait_for()


def test_a_page_that_lost_its_token_goes_on_once_the_address_is_opened_again(window, served, browser):
    page = window(7)
    browser.clear_cookies()
    page.keyboard.press("n")
    page.locator("#trouble", has_text="Open the address that handful label printed").wait_for()
    assert "Not decided yet" in page.inner_text("#status")
    open_at(browser, served, 5).close()
    page.keyboard.press("n")
    page.locator("#progress", has_text="1 of ").wait_for()
    assert served.client.get("/api/sentences/7").json()["status"] == "none"


class HeldEncoder(NamedEncoder):
    """Reads sentences when it may."""

    def __init__(self):
        super().__init__()
        self.may = threading.Event()

    def encode(self, sentences, **options):
        self.may.wait(60)
        return super().encode(sentences, **options)


def test_text_comes_first_and_predictions_follow(browser, tmp_path):
    encoder = HeldEncoder()
    try:
        with serving(tmp_path / "p.db", encoder=encoder) as served:
            page = open_at(browser, served, 5)
            assert "no prediction yet" in page.inner_text("#status")
            page.locator("#fit", has_text="reading the text, 0%").wait_for()
            page.keyboard.press("Enter")
            said(page, "There is no prediction yet.")
            encoder.may.set()
            page.wait_for_selector(".m.predicted")
            assert mentions(page, "predicted")[0] == ("PER", "Pat")
            page.wait_for_selector("#fit[data-status=idle]")
    finally:
        encoder.may.set()


def test_ten_thousand_sentences(browser, tmp_path):
    texts = [f"line {i} says that Pia saw Leeds" for i in range(1, 10_001)]
    with serving(tmp_path / "p.db", texts, most_words=3_000) as served:
        page = open_at(browser, served)
        page.locator("#progress", has_text="0 of 10,000 sentences decided").wait_for()
        page.get_by_text("In order", exact=True).click()
        page.locator("#queue-note", has_text="10,000 sentences in all").wait_for()
        page.keyboard.press("/")
        page.keyboard.type("line 9876 ")
        page.locator("#queue-note", has_text="1 sentence in all").wait_for()
        at_sentence(page, 9876)
        page.wait_for_selector(".m.predicted")  # though it is not among the text that the tagger learns from
        page.keyboard.press("Enter")  # from the search to the sentence
        settled(served.session)
        page.keyboard.press("End")
        page.keyboard.press("a")
        said(page, "Leeds: LOC is right. Stored.")
        page.get_by_text("In order", exact=True).click()
        assert "line 9876 says" in page.locator("#queue-list [aria-current]").inner_text()
        page.goto(f"{served.url}/#1")
        page.reload()
        at_sentence(page, 1)
        page.get_by_text("In order", exact=True).click()
        page.keyboard.press("n")
        at_sentence(page, 2)
        page.locator("#progress", has_text="1 of 10,000 sentences decided").wait_for()
