"""A real Label Studio: connected, asked for predictions, and learned from (``make test-label-studio``)."""

import os
import secrets
import shutil
import signal
import subprocess
import time
from contextlib import contextmanager

import pytest

from handful.web.server import listen

from .conftest import TOKEN as OURS
from .conftest import serving
from .made import fitted

PROGRAM = os.environ.get("HANDFUL_LABEL_STUDIO")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="make test-label-studio sets it up")

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
EMAIL, PASSWORD, TOKEN = "anna@example.org", secrets.token_hex(8), secrets.token_hex(20)
CONFIG = """
<View>
  <Labels name="label" toName="text"><Label value="PER"/><Label value="LOC"/></Labels>
  <Text name="text" value="$text"/>
</View>
"""
TEXTS = ["😀 so Pia met Gaia near Leeds .", "then Gog slept", "who is Paula ?"]


@contextmanager
def label_studio(folder):
    """Start Label Studio with an empty database, and wait until it answers."""
    httpx = pytest.importorskip("httpx")
    with listen("127.0.0.1", 0, 0) as free:
        port = free.getsockname()[1]
    environment = os.environ | {
        "ML_BLOCK_LOCAL_IP": "false",  # else it talks to no backend on this machine,
        "SSRF_PROTECTION_ENABLED": "false",  # and sends no events to it
        "COLLECT_ANALYTICS": "False",
        "LATEST_VERSION_CHECK": "False",
        "SENTRY_DSN": "",
        "FRONTEND_SENTRY_DSN": "",
    }
    options = ["--data-dir", folder, "--internal-host", "127.0.0.1", "--port", port, "--no-browser"]
    user = ["--username", EMAIL, "--password", PASSWORD, "--user-token", TOKEN]
    command = [PROGRAM, "start", *map(str, [*options, *user, "--enable-legacy-api-token"])]
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder, start_new_session=True)
    url = f"http://127.0.0.1:{port}"
    headers = {"Authorization": f"Token {TOKEN}"}
    try:
        with httpx.Client(base_url=url, headers=headers, timeout=120, trust_env=False) as client:
            until(lambda: process.poll() is None and answers(client, httpx), 400)
            yield client
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(60)


def answers(client, httpx):
    try:
        return client.get("/api/version").status_code == 200
    except httpx.HTTPError:
        return False


def until(is_true, seconds=60):
    end = time.monotonic() + seconds
    while not (found := is_true()):
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.1)
    return found


PLACE = """() => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node; (node = walker.nextNode()); ) {
    const at = node.data.indexOf("Gaia");
    if (at < 0 || !node.parentElement.closest("[class*=richtext]")) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + 4);
    const box = range.getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
  }
}"""


def mark_gaia(url, project, task):
    """Open a task in the browser, look at what is predicted, mark one more name, and submit; False if there is none."""
    if CHROMIUM is None:
        return False
    api = pytest.importorskip("playwright.sync_api")
    with api.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(60_000)
        page.goto(f"{url}/user/login/")
        page.fill("#email", EMAIL)
        page.fill("#password", PASSWORD)
        page.click("button[type=submit]")
        page.wait_for_url(lambda url: "login" not in url)
        page.goto(f"{url}/projects/{project}/data?task={task}")
        marks = page.locator(".htx-highlight")
        until(lambda: marks.all_inner_texts() == ["Pia", "Leeds"])
        page.keyboard.press("1")  # the first label
        page.mouse.dblclick(*until(lambda: page.evaluate(PLACE)))
        until(lambda: marks.all_inner_texts() == ["Pia", "Gaia", "Leeds"])
        with page.expect_response(lambda answer: "/annotations" in answer.url and answer.request.method == "POST"):
            page.locator("button:has-text('Submit')").first.click()
        browser.close()
    return True


def ok(answer):
    assert answer.status_code < 300, answer.text
    return answer.json() if answer.content else None


@pytest.mark.filterwarnings("default")
def test_the_whole_way(tmp_path):
    with (
        serving({"people": fitted()}, token=OURS, hosts=None, label_studio=True) as served,
        label_studio(tmp_path) as studio,
    ):
        project = ok(studio.post("/api/projects", json={"title": "names", "label_config": CONFIG}))["id"]
        url = served.url.replace("http://", f"http://handful:{OURS}@") + "/label-studio"
        backend = ok(studio.post("/api/ml", json={"project": project, "url": url, "title": "handful"}))
        assert backend["state"] == "CO"
        hooks = ok(studio.get("/api/webhooks/", params={"project": project}))
        assert [one["url"] for one in hooks] == [url + "/webhook"]

        ok(studio.post(f"/api/projects/{project}/import", json=[{"text": text} for text in TEXTS]))
        tasks = sorted(one["id"] for one in ok(studio.get("/api/tasks", params={"project": project}))["tasks"])

        def predict():
            """Ask for predictions of all tasks, and return them by the text of the task."""
            action = {"id": "retrieve_tasks_predictions", "project": project}
            everything = {"selectedItems": {"all": True, "excluded": []}}
            ok(studio.post("/api/dm/actions", params=action, json=everything))
            found = ok(studio.get("/api/predictions", params={"project": project}))
            newest = {}
            for one in sorted(found, key=lambda one: one["id"]):
                newest[TEXTS[tasks.index(one["task"])]] = one
            return newest

        first = predict()
        assert set(first) == set(TEXTS)
        pia, leeds = first[TEXTS[0]]["result"]
        assert pia["value"] == {"start": 5, "end": 8, "text": "Pia", "labels": ["PER"]}
        assert leeds["value"]["labels"] == ["LOC"]
        assert first[TEXTS[1]]["result"] == []
        assert first[TEXTS[0]]["score"] == pytest.approx(min(pia["score"], leeds["score"]))

        value = {"start": 13, "end": 17, "text": "Gaia", "labels": ["PER"]}
        if not mark_gaia(str(studio.base_url).rstrip("/"), project, tasks[0]):
            gaia = {"id": "g", "from_name": "label", "to_name": "text", "type": "labels", "value": value}
            ok(studio.post(f"/api/tasks/{tasks[0]}/annotations", json={"result": [pia, leeds, gaia]}))
        (made,) = ok(studio.get(f"/api/tasks/{tasks[0]}/annotations"))
        assert value in [one["value"] for one in made["result"]]  # an emoji counts one, in the browser, too
        key = ("people", str(project))
        store, sample = served.backend.annotations, served.service.metrics.registry.get_sample_value
        until(lambda: store.count(key) == 1 and (sample("handful_fits_total", {"result": "done"}) or 0) >= 1)
        assert not sample("handful_fits_total", {"result": "refused"})
        (sentence,) = store.sentences(key)
        assert [sentence.span_text(span) for span in sentence.spans] == ["Pia", "Gaia", "Leeds"]

        second = predict()
        assert second[TEXTS[1]]["model_version"] != first[TEXTS[1]]["model_version"]
        assert [one["value"]["text"] for one in second[TEXTS[1]]["result"]] == ["Gog"]

        ok(studio.patch(f"/api/annotations/{made['id']}", json={"result": [pia]}))
        until(lambda: [len(one.spans) for one in store.sentences(key)] == [1])
        ok(studio.post(f"/api/ml/{backend['id']}/train", json={}))
        ok(studio.delete(f"/api/annotations/{made['id']}"))
        until(lambda: store.count(key) == 0)
