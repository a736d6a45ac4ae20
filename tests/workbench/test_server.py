"""The server: what it answers, and whom it does not."""

import io
import json
import zipfile

import pytest

from handful import Tagger
from handful.text import FORMATS, read
from handful.workbench._server import LIMITS
from tagger.toy import NamedEncoder

from .made import settled

PLACES = ["/", "/static/nothing.css", "/api/state", "/api/events", "/api/queue", "/api/sentences/1", "/api/export"]


def post(served, path, record, **options):
    return served.client.post(path, json=record, **options)


def error(answer):
    return answer.status_code, answer.json()["error"]["what"]


def test_the_whole_way_from_text_to_tagger(served, tmp_path):
    settled(served.session)
    client = served.client
    state = client.get("/api/state").json()
    assert [one["name"] for one in state["types"]] == ["PER", "LOC"]
    for _ in range(4):
        one = client.get("/api/queue", params={"mode": "teach", "n": 1}).json()["sentences"][0]
        labels = [{key: mention[key] for key in ("start", "end", "type")} for mention in one["predictions"]]
        record = {"version": one["version"], "action": "label", "labels": labels}
        answer = post(served, f"/api/sentences/{one['id']}/decision", record)
        assert answer.status_code == 200
    counts = client.get("/api/state").json()["counts"]
    assert (counts["labelled"], counts["decisions"]) == (4, 4)
    assert post(served, "/api/undo", {"n": 1}).json()["undone"] == 1
    assert post(served, "/api/redo", {}).json()["redone"] == 1
    n_labelled = len(list(served.project.documents(only_decided=True)))  # some formats join sentences of a text
    assert n_labelled >= 3
    for format in FORMATS:
        exported = client.get("/api/export", params={"format": format})
        assert exported.headers["content-disposition"].startswith("attachment")
        if format != "text":
            corpus = read(io.BytesIO(exported.content), format)
            assert sum(not sentence.is_unlabelled for sentence in corpus) >= n_labelled, format
    archive = zipfile.ZipFile(io.BytesIO(client.get("/api/tagger").content))
    archive.extractall(tmp_path)
    tagger = Tagger.load(tmp_path / "tagger", encoder=NamedEncoder())
    assert [found["word"] for found in tagger.predict("so Pia and Pam went to Lima")] == ["Pia", "Pam", "Lima"]


def test_an_export_of_decided_sentences_holds_nothing_that_is_open(served):
    client = served.client
    label = {"start": 1, "end": 2, "type": "PER"}
    post(served, "/api/sentences/1/decision", {"version": 0, "action": "label", "labels": [label]})
    post(served, "/api/sentences/2/decision", {"version": 0, "action": "nothing"})
    post(served, "/api/sentences/4/decision", {"version": 0, "action": "nothing"})  # of a text with another sentence
    one = {"sentence": 5, "start": 0, "end": 1, "version": 0}
    post(served, "/api/mentions/review", {"type": "PER", "accept": [one]})
    for format in FORMATS:
        found = client.get("/api/export", params={"format": format, "only": "decided"}).content
        if format == "text":
            assert b"Lille" not in found
            continue
        sentences = list(read(io.BytesIO(found), format))
        assert all(sentence.is_labelled for sentence in sentences), format
        mentions = [{(span.start, span.type) for span in sentence.spans} for sentence in sentences]
        assert mentions in ([{(1, "PER")}, set(), set(), {(1, "PER")}], [{(1, "PER")}]), format
    doccano = client.get("/api/export", params={"format": "doccano", "only": "decided"}).text
    assert "Nothing else is known" in doccano
    assert "Lagos" not in doccano
    assert '"_"' not in doccano
    for format in FORMATS:  # nor does the whole text hold more mentions than were decided
        found = client.get("/api/export", params={"format": format, "only": "mentions"}).content
        if format not in ("text", "gliner", "tokens"):
            sentences = list(read(io.BytesIO(found), format))
            assert [span.type for one in sentences for span in one.spans] == ["PER"] * 3, (
                format
            )  # one sentence is twice
    post(served, "/api/types", {"action": "add", "name": "DAY"})
    assert client.get("/api/export", params={"format": "conll", "only": "decided"}).text.strip() == ""
    assert client.get("/api/state").json()["counts"]["look"] == 3


def test_an_old_version_is_answered_with_the_present_sentence(served):
    path = "/api/sentences/2/decision"
    assert post(served, path, {"version": 0, "action": "nothing"}).status_code == 200
    answer = post(served, path, {"version": 0, "action": "skip"})
    assert answer.status_code == 409
    assert "changed in the meantime" in answer.json()["error"]["what"]
    assert answer.json()["sentence"]["status"] == "none"


def test_a_change_of_types_that_is_based_on_older_types_is_refused(served):
    change = {"action": "describe", "name": "PER", "description": "P persons"}
    version = served.client.get("/api/state").json()["types_version"]
    assert post(served, "/api/sentences/2/decision", {"version": 0, "action": "nothing"}).status_code == 200
    answer = post(served, "/api/types", change | {"version": version})  # a decision on a sentence changes no types
    assert answer.status_code == 200
    assert answer.json()["types_version"] > version
    for other in (change | {"preview": True}, {"changes": [change]}):
        what = "the types were changed in the meantime, in another window; look again, and decide then"
        assert error(post(served, "/api/types", other | {"version": version})) == (409, what)
    assert served.client.get("/api/state").json()["types_version"] == answer.json()["types_version"]


def test_import_brings_text_labels_and_types(served):
    body = b"# GOD: G gods\nso [Gaia](GOD) slept\nand Pia left\n"
    headers = {"content-type": "application/octet-stream"}
    answer = served.client.post("/api/import", content=body, params={"format": "inline"}, headers=headers).json()
    assert (answer["texts"], answer["sentences"], answer["labelled"]) == (2, 2, 2)
    state = served.client.get("/api/state").json()
    assert state["types"][2] | {"name": "GOD", "description": "G gods", "n_labels": 1} == state["types"][2]
    bad = served.client.post("/api/import", content=b'{"text": ', params={"name": "x.jsonl"}, headers=headers)
    assert bad.status_code == 422
    assert bad.json()["error"]["what"].startswith("x.jsonl")
    bad = served.client.post("/api/import", content=body, params={"format": "/etc/passwd"}, headers=headers)
    assert error(bad)[0] == 422


def test_what_is_wrong_with_an_import_is_said_as_the_page_can_mend_it(served):
    def bring_in(body, name, **given):
        headers = {"content-type": "application/octet-stream"}
        return served.client.post("/api/import", content=body, params={"name": name, **given}, headers=headers)

    no_json = b"text: a dog sat there\ntext: so it did\n"
    status, what = error(bring_in(no_json, "broken.jsonl"))
    assert status == 422
    assert what.startswith("broken.jsonl: its name says JSON")
    assert served.client.get("/api/state").json()["counts"]["sentences"] == 9  # nothing came in
    assert bring_in(no_json, "broken.jsonl", format="text").json()["texts"] == 2
    wrong = bring_in("die Größe zählt hier\n".encode("latin-1"), "old.txt")
    assert wrong.status_code == 422
    assert wrong.json()["error"]["advice"].startswith("bring in what handful convert writes of it: ")


def test_events_come_in_order_and_again_after_a_break(served):
    settled(served.session)
    last = served.session.events.last
    seen = []

    def read_events(headers, n):
        with served.client.stream("GET", f"/api/events?since={last}", headers=headers) as answer:
            assert answer.headers["content-type"].startswith("text/event-stream")
            number = None
            for line in answer.iter_lines():
                if line.startswith("id: "):
                    number = int(line[4:])
                elif line.startswith("data: "):
                    seen.append((number, json.loads(line[6:])["kind"]))
                    if len(seen) >= n:
                        return

    post(served, "/api/sentences/2/decision", {"version": 0, "action": "nothing"})
    settled(served.session)
    read_events({}, 2)
    assert seen[0] == (last + 1, "labels")
    read_events({"Last-Event-ID": str(seen[0][0])}, 3)
    assert seen[2] == seen[1]
    seen.clear()
    read_events({"Last-Event-ID": "999999"}, 1)
    assert seen[0][1] == "reset"


@pytest.mark.parametrize("path", PLACES)
def test_nothing_is_answered_without_the_token(served, path):
    with served.httpx.Client(base_url=served.url, trust_env=False) as stranger:
        for given in (
            {},
            {"X-Handful-Token": "wrong"},
            {"Cookie": "handful=x; a=b"},
            {"X-Handful-Token": "ä".encode()},
        ):
            answer = stranger.get(path, headers=given)
            assert error(answer) == (403, "the token is missing or wrong")
        assert stranger.get(path, params={"token": "wrong"}).status_code == 403
        if path != "/":  # the token is in the address of the page alone
            assert stranger.get(path, params={"token": served.token}).status_code == 403


def test_the_address_with_the_token_sets_a_cookie_that_is_enough(served):
    with served.httpx.Client(base_url=served.url, trust_env=False) as browser:
        cookie = browser.get("/", params={"token": served.token}).headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert browser.get("/api/state").status_code == 200
        answer = browser.post("/api/undo", json={"n": 1}, headers={"Origin": served.url})
        assert answer.status_code == 200
    assert "set-cookie" not in served.client.get("/api/state").headers


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1.evil.example", "a@localhost", "localhost/x", "", "[::1"]
)
def test_a_foreign_name_is_refused(served, host):
    answer = served.client.get("/api/state", headers={"Host": host.format(port=served.port)})
    assert answer.status_code in (400, 421)


@pytest.mark.parametrize("host", ["localhost", "localhost:{port}", "127.0.0.1:{port}", "[::1]:{port}", "LOCALHOST"])
def test_names_of_this_server(served, host):
    assert served.client.get("/api/state", headers={"Host": host.format(port=served.port)}).status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1", "http://localhost:{port}"])
def test_another_site_is_refused(served, origin):
    headers = {"Origin": origin.format(port=served.port)}
    answer = post(served, "/api/sentences/2/decision", {"version": 0, "action": "nothing"}, headers=headers)
    assert error(answer) == (403, "the request comes from another site")
    assert served.client.get("/api/state", headers=headers).status_code == 403
    for site in ("cross-site", "same-site"):
        assert served.client.get("/api/state", headers={"Sec-Fetch-Site": site}).status_code == 403
    assert served.client.get("/api/sentences/2").json()["status"] == "new"


def test_bodies_have_a_type_and_a_limit(served):
    path = "/api/sentences/2/decision"
    body = json.dumps({"version": 0, "action": "nothing"})
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = served.client.post(path, content=body, headers={"Content-Type": kind})
        assert answer.status_code == 415
    headers = {"Content-Type": "application/json; charset=utf-8"}
    for wrong, status in (("", 400), ("{", 400), ("[]", 422), ("7", 422), ("[" * 100_000, 400)):
        assert served.client.post(path, content=wrong, headers=headers).status_code == status
    answer = served.client.post(path, content=" " * (LIMITS.max_bytes + 1), headers=headers)
    assert answer.status_code == 413
    kind = {"Content-Type": "application/octet-stream"}
    assert served.client.post("/api/import", content=b"x" * (LIMITS.max_import + 1), headers=kind).status_code == 413
    assert served.client.get("/api/sentences/2").json()["status"] == "new"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/queue?n=99999", 422),
        ("/api/queue?n=x", 422),
        ("/api/queue?n=--5", 422),
        ("/api/queue?n=-", 422),
        ("/api/queue?mode=order&before=201", 422),
        ("/api/queue?skip=1,--5", 422),
        ("/api/queue?after=--5", 422),
        ("/api/mentions?type=PER&n=--5", 422),
        ("/api/events?since=--5", 422),
        ("/api/queue?mode=search", 422),
        ("/api/mentions?type=NOBODY", 422),
        ("/api/mentions?type=PER&least=x", 422),
        ("/api/events?since=x", 422),
        ("/api/export?format=../../x", 422),
        ("/api/sentences/77", 422),
        ("/api/sentences/x", 404),
        ("/api/undo", 405),
        ("/static/../_server.py", 404),
        ("/static/..%2f_server.py", 404),
        ("/static/%2fetc%2fpasswd", 404),
        ("/nothing", 404),
    ],
)
def test_bad_requests_are_answered_in_words(served, path, status):
    answer = served.client.get(path)
    assert answer.status_code == status
    assert answer.json()["error"]["what"]


@pytest.mark.parametrize(
    "change",
    [
        {"changes": [{"action": "describe", "name": "PER", "description": "people"}] * (LIMITS.max_types + 1)},
        {"changes": [{"action": "add", "name": f"T{i}"} for i in range(LIMITS.max_types)]},
        {"action": "split", "name": "PER", "to": [f"T{i}" for i in range(LIMITS.max_types)]},
    ],
)
def test_types_and_their_changes_have_a_limit(served, change):
    answer = post(served, "/api/types", change)
    assert answer.status_code == 422
    assert "at most 1,000" in answer.json()["error"]["what"]
    assert len(served.client.get("/api/state").json()["types"]) == 2


@pytest.mark.parametrize("kind", ["accept", "reject"])
@pytest.mark.parametrize(("start", "end"), [(0, 2**64), (-(2**64), 1), (1, 1), (2, 1)])
def test_a_mention_beyond_its_sentence_is_refused_at_once(served, kind, start, end):
    mention = {"sentence": 2, "start": start, "end": end, "version": 0}
    answer = post(served, "/api/mentions/review", {"type": "PER", kind: [mention]})
    assert answer.status_code == 422
    assert "does not fit a sentence" in answer.json()["error"]["what"]
    assert served.client.get("/api/sentences/2").json()["status"] == "new"


@pytest.mark.parametrize("path", ["/api/state", "/nothing", "/api/queue?n=x"])
def test_every_answer_has_safe_headers(served, path):
    headers = served.client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert headers["cache-control"] == "no-store"
    refused = served.client.get(path, headers={"X-Handful-Token": "no"}).headers
    assert refused["content-security-policy"] == policy


def test_requests_do_not_wait_for_a_fit(served):
    """The worker is held; everything is answered nevertheless."""
    settled(served.session)
    with served.session._at_work:
        answer = post(served, "/api/sentences/2/decision", {"version": 0, "action": "nothing"})
        assert answer.json()["sentence"]["status"] == "none"
        for path in ("/api/state", "/api/queue", "/api/mentions?type=PER", "/api/export?format=jsonl"):
            assert served.client.get(path).status_code == 200
        number = served.session.number
    settled(served.session)
    assert served.session.number > number


@pytest.mark.parametrize("level", [1, 6, 9])  # the first bytes say it; only those of 6 are recognised
def test_a_docbin_is_unpacked_no_further_than_the_limit(served, level):
    import zlib

    headers = {"content-type": "application/octet-stream"}
    bomb = zlib.compress(bytes(LIMITS.max_import + 1), level)
    answer = served.client.post("/api/import", content=bomb, headers=headers, params={"format": "docbin"})
    assert answer.status_code == 422
    assert "holds more than 65,536 KiB" in answer.json()["error"]["what"]


def test_a_gzip_file_is_unpacked_no_further_than_the_limit(served):
    import gzip

    headers = {"content-type": "application/octet-stream"}
    answer = served.client.post("/api/import", content=gzip.compress(b"so Pia left\n"), headers=headers)
    assert answer.json()["texts"] == 1
    bomb = gzip.compress(b"so Pia left\n" * (LIMITS.max_import // 12 + 1))
    assert len(bomb) < 300_000
    assert error(served.client.post("/api/import", content=bomb, headers=headers))[0] == 422
    assert error(served.client.post("/api/import", content=b"\x1f\x8b damaged", headers=headers))[0] == 422
    status, what = error(served.client.post("/api/import", content=gzip.compress(bomb), headers=headers))
    assert (status, what) == (422, "the gzip file holds another gzip file; unpack it first")
    assert served.client.get("/api/state").json()["counts"]["sentences"] == 10
