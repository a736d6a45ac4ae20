"""Strange names and texts are shown as text, and a page of another site gets nothing, in a real browser."""

import contextlib
import http.server
import threading

from handful.text import EntityType

from .browsing import mentions, said
from .conftest import open_at
from .made import serving, settled

HOSTILE = '"><img src=x onerror=hit()><script>hit()</script>'
STYLE = "</style><svg onload=hit()>"
ODD = "javascript:hit()//'\";{{1}}${hit()}"
OBJECT, QUERY, OVER = "__proto__", '"] *, [data-name="', "constructor, %0a \\d{9}("

FOREIGN = """<!doctype html><title>elsewhere</title>
<iframe id="frame" src="URL/"></iframe>
<form id="form" action="URL/api/undo" method="post" enctype="text/plain" target="other">
<input name='{"n": 1, "x' value='": 1}'></form><iframe name="other"></iframe>
<script>
const tries = {
  read: () => fetch("URL/api/state", {credentials: "include"}).then(answer => answer.text()),
  blind: () => fetch("URL/api/undo", {method: "POST", mode: "no-cors", credentials: "include", body: '{"n": 1}'})
    .then(answer => answer.type),
  json: () => fetch("URL/api/undo", {method: "POST", credentials: "include", body: '{"n": 1}',
    headers: {"Content-Type": "application/json"}}).then(answer => answer.status),
  script: () => new Promise((done, fail) => {
    const one = Object.assign(document.createElement("script"), {src: "URL/static/main.js", onload: () => done("read"),
      onerror: () => fail("refused")})
    document.head.append(one)
  }),
  events: () => new Promise((done, fail) => {
    const source = new EventSource("URL/api/events?since=0", {withCredentials: true})
    source.onopen = () => done("read")
    source.onerror = () => fail("refused")
  }),
}
const attempt = ([name, go]) => go().then(found => [name, found], () => [name, null])
window.tried = Promise.all(Object.entries(tries).map(attempt))
document.getElementById("form").submit()
</script>"""


@contextlib.contextmanager
def site(content):
    """Serve a page on another port of this machine, to which a browser sends the cookies of ours."""

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(content.encode())

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/"
        finally:
            server.shutdown()


def test_names_and_texts_are_shown_as_text(browser, tmp_path):
    names = [EntityType(HOSTILE, f"P {HOSTILE}"), EntityType(STYLE, f"L {STYLE}"), EntityType(ODD, ODD)]
    texts = [f"Then Pia saw {HOSTILE} in Leeds .", f"Paul {STYLE} and Lima .", f"Pam {ODD} sat there ."]
    path = tmp_path / "'\"><img src=x onerror=hit()>.db"
    with serving(path, texts, names) as served:
        settled(served.session)
        page = open_at(browser, served)
        page.evaluate("window.hits = 0; window.hit = () => { window.hits += 1 }; 0")
        page.on("dialog", lambda dialog: page.evaluate("hit()"))
        assert HOSTILE in page.locator("#types-bar").inner_text()
        for button, dialog in (("#open-review", "#review"), ("#open-types", "#types"), ("#open-files", "#files")):
            page.click(button)
            page.locator(f"dialog[open]{dialog}, dialog[open]").first.wait_for()
            if dialog == "#files":
                page.locator("dialog[open] input[type=file]").first.set_input_files(
                    {"name": f"{STYLE}{HOSTILE}.jsonl", "mimeType": "text/plain", "buffer": b'{"text": 1}\n'}
                )
                page.wait_for_timeout(500)
            page.keyboard.press("Escape")
        assert page.evaluate("window.hits") == 0
        assert page.locator("[onerror], [onload], img[src=x], a[href^=javascript]").count() == 0
        assert page.locator("script").count() == 1


def test_strange_names_can_be_chosen_and_changed(browser, tmp_path):
    """In the popover and in the window of types, which are made of names and texts."""
    names = [EntityType(one, f"P {one}, not {HOSTILE}, without title") for one in (OBJECT, QUERY, OVER, HOSTILE)]
    texts = [f"Then Pia saw {HOSTILE} in Leeds .", f"Paul {QUERY} and {OVER} saw Lima ."]
    with serving(tmp_path / "p.db", texts, names) as served:
        settled(served.session)
        page = open_at(browser, served, 1)
        page.evaluate("window.hits = 0; window.hit = () => { window.hits += 1 }; 0")
        page.click("#w1")
        page.wait_for_selector("#popover:visible")
        assert page.locator("#popover-types button").count() == 4
        for name in (HOSTILE, QUERY):
            page.locator("#popover-types button").nth([OBJECT, QUERY, OVER, HOSTILE].index(name)).click()
            said(page, f"Pia: {name}. Stored.")
            page.click("#w1")
            page.wait_for_selector("#popover:visible")
        page.keyboard.press("Escape")
        assert mentions(page) == [(QUERY, "Pia")]
        page.click("#open-types")
        page.get_by_label(f"Merge or split {QUERY}", exact=True).click()
        page.get_by_label(f"Names of the parts of {QUERY}, with commas", exact=True).fill("toString, hasOwnProperty")
        page.keyboard.press("Enter")
        page.locator("#confirm-text", has_text=f"Split {QUERY} into toString and hasOwnProperty?").wait_for()
        page.click("#confirm .yes")
        page.locator("form[aria-label='Type toString']").wait_for()
        now = [one["name"] for one in served.client.get("/api/state").json()["types"]]
        assert now == [OBJECT, OVER, HOSTILE, "toString", "hasOwnProperty"]
        page.keyboard.press("Escape")
        assert page.evaluate("window.hits") == 0
        assert page.locator("[onerror], [onload], img[src=x]").count() == 0


def test_a_page_of_another_site_gets_nothing(chromium, served):
    settled(served.session)
    browser = chromium.new_context()  # it says that it refuses to frame a page, which is no fault here
    open_at(browser, served)
    body = {"action": "label", "labels": [], "version": 0}
    assert served.client.post("/api/sentences/1/decision", json=body).status_code == 200
    settled(served.session)  # the fit changes the predictions
    before = served.client.get("/api/sentences/1").json()
    with site(FOREIGN.replace("URL", served.url)) as address:
        page = browser.new_page()
        page.goto(address)
        assert dict(page.evaluate("window.tried")) == dict.fromkeys(("read", "blind", "json", "script", "events"))
        assert not any(frame.locator("#types-bar").count() for frame in page.frames)
    assert served.client.get("/api/sentences/1").json() == before  # nothing was undone
    browser.close()
