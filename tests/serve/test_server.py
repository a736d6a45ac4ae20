"""The server: what it answers, what it refuses, and how."""

import json
import re

import pytest
from prometheus_client.parser import text_string_to_metric_families

from handful import Tagger, __version__
from handful.serve import Limits
from handful.text import Sentence

from .conftest import TOKEN, serving
from .made import TEXT, FaultyEncoder, fitted, words


def error(answer):
    assert answer.headers["content-type"] == "application/json"
    assert "Traceback" not in answer.text
    assert set(answer.json()["error"]) == {"what", "advice"}
    return answer.status_code, answer.json()["error"]["what"]


def test_one_text_is_answered_as_the_tagger_does(served):
    answer = served.client.post("/predict", json={"text": TEXT})
    assert answer.status_code == 200
    assert answer.json() == {"model": "people", "entities": fitted().predict(TEXT)}
    assert words(answer.json()["entities"]) == [("Pia", "PER"), ("Leeds", "LOC"), ("Pablo", "PER"), ("Lyon", "LOC")]


def test_mentions_that_share_words_are_answered():
    few = ["The [University of [Oslo](GPE)](ORG) has students .", "She left [Paris](GPE) for the [Bank](ORG) ."]
    tagger = Tagger({"ORG": "company or school", "GPE": "country or city"}, overlap=True, cache=False).fit(few)
    text = "He studied at the University of Bergen."
    with serving({"both": tagger}) as served:
        found = served.client.post("/predict", json={"text": text}).json()["entities"]
    assert found == tagger.predict(text)
    assert words(found) == [("University of Bergen", "ORG"), ("Bergen", "GPE")]


def test_several_texts_and_words(served):
    split = ["so", "Pia", "and", "Paul", "left"]
    answer = served.client.post("/predict", json={"texts": [TEXT, split, "", [], "nothing 😀 Lima"]}).json()
    expected = fitted().predict([TEXT, Sentence(tuple(split)), "", [], "nothing 😀 Lima"])
    assert answer == {"model": "people", "results": [{"entities": one} for one in expected]}
    assert answer["results"][4]["entities"][0]["start"] == 10  # code points
    assert served.client.post("/predict", json={"words": split}).json()["entities"] == expected[1]
    assert served.client.post("/predict", json={"texts": []}).json()["results"] == []


def test_scores_can_be_asked_for(served):
    everything = fitted().predict(TEXT)
    middle = sorted(one["score"] for one in everything)[2]
    answer = served.client.post("/predict", json={"text": TEXT, "min_score": middle}).json()
    assert answer["entities"] == [one for one in everything if one["score"] >= middle]
    assert len(answer["entities"]) in (1, 2)
    answer = served.client.post("/predict", json={"text": TEXT, "min_score": {"PER": 1}}).json()
    assert {one["entity_group"] for one in answer["entities"]} == {"LOC"}


def test_how_much_to_find_can_be_asked_for(served):
    found = {}
    for find in ("sure", "usual", "more", 0.001, 1000):
        found[find] = served.client.post("/predict", json={"text": TEXT, "find": find}).json()["entities"]
        assert found[find] == fitted().predict(TEXT, find=find)
    assert found["usual"] == served.client.post("/predict", json={"text": TEXT}).json()["entities"]
    assert len(found[0.001]) < len(found[1000])


def test_models_are_asked_by_name(served):
    text = {"text": "so Gaia and Pia left"}
    assert words(served.client.post("/models/gods/predict", json=text).json()["entities"]) == [("Gaia", "GOD")]
    assert words(served.client.post("/models/people/predict", json=text).json()["entities"]) == [("Pia", "PER")]
    status, what = error(served.client.post("/models/nobody/predict", json=text))
    assert status == 404
    assert what == "there is no model 'nobody'; there are people, gods"


def test_info_health_and_the_description(served):
    info = served.client.get("/info").json()
    assert info["version"] == __version__
    assert [one["name"] for one in info["models"]] == ["people", "gods"]
    assert info["models"][1]["types"] == [{"name": "GOD", "description": "G gods"}]
    assert info["models"][0]["encoder"] == {"name": "NamedEncoder", "fingerprint": "toy", "dim": 8}
    assert served.client.get("/health").json() == {"status": "ok"}
    description = served.client.get("/openapi.json").json()
    assert description["info"]["version"] == __version__
    for path in description["paths"]:
        for method, operation in description["paths"][path].items():
            if method == "get":
                assert served.client.get(path).status_code == 200, path
                assert "200" in operation["responses"]


@pytest.mark.parametrize(
    ("body", "status", "what"),
    [
        (b"", 400, "not JSON"),
        (b"{", 400, "not JSON"),
        (b"\xff\xfe", 400, "not JSON"),
        (b"[" * 100_000, 400, "not JSON"),
        (b"[]", 422, "not a JSON object"),
        (b"{}", 422, "give one of text, words, texts, found none"),
        (b'{"text": "a", "words": ["a"]}', 422, "found text and words"),
        (b'{"text": 7}', 422, "text is a number, expected a string"),
        (b'{"text": null}', 422, "text is null"),
        (b'{"text": ["a"]}', 422, "text is a list"),
        (b'{"words": "a"}', 422, "words is a string, expected a list of words"),
        (b'{"words": ["a", ""]}', 422, "has an empty word"),
        (b'{"words": ["a", true]}', 422, "true or false among its words"),
        (b'{"texts": "a"}', 422, "texts is a string"),
        (b'{"texts": ["a", {}]}', 422, "text 1 (from 0) is an object"),
        (b'{"text": "\\ud83d"}', 422, "half of a surrogate pair"),
        (b'{"words": ["\\ude00"]}', 422, "half of a surrogate pair"),
        (b'{"text": "a", "treshold": 1}', 422, "'treshold' is not a field"),
        (b'{"text": "a", "min_score": 2}', 422, "min_score is 2"),
        (b'{"text": "a", "min_score": NaN}', 422, "min_score is nan"),
        (b'{"text": "a", "min_score": "x"}', 422, "min_score is 'x'"),
        (b'{"text": "a", "find": "all"}', 422, "find is 'all'"),
        (b'{"text": "a", "find": ["more"]}', 422, "find is ['more']"),
        (b'{"text": "a", "find": null}', 422, "find is None"),
        (b'{"text": "a", "find": NaN}', 422, "find is nan"),
        (b'{"text": "a", "min_score": {"X": 1}}', 422, "min_score names X"),
        (b'{"text": "a", "min_score": {"\\ud800": 1}}', 422, "min_score names \ud800"),
    ],
)
def test_bad_input_is_said(served, body, status, what):
    answer = served.client.post("/predict", content=body, headers={"Content-Type": "application/json"})
    found = error(answer)
    assert found[0] == status
    assert what in found[1]


def test_wrong_addresses_methods_and_kinds(served):
    client = served.client
    for path in ("/nothing", "/predict/", "/static/..%2f_server.py", "/static/try.py", "/models/people"):
        assert error(client.get(path))[0] == 404
    answer = client.get("/predict")
    assert error(answer)[0] == 405
    assert answer.headers["allow"] == "POST"
    assert error(client.post("/info"))[0] == 405
    for kind in ("text/plain", "application/x-www-form-urlencoded", ""):
        answer = client.post("/predict", content=b'{"text": "a"}', headers={"Content-Type": kind})
        assert error(answer) == (415, "the Content-Type must be application/json")


def test_sizes_are_limited():
    with serving({"people": fitted()}, limits=Limits(max_bytes=2048, max_texts=3)) as served:
        post = served.client.post
        assert post("/predict", json={"texts": ["a"] * 3}).status_code == 200
        assert "at most 3" in error(post("/predict", json={"texts": ["a"] * 4}))[1]
        assert error(post("/predict", json={"text": "a" * 2048}))[0] == 413

        def pieces():
            for _ in range(10):
                yield b" " * 1000

        answer = post("/predict", content=pieces(), headers={"Content-Type": "application/json"})
        assert error(answer) == (413, "at most 2 KiB can be sent at once")


def test_a_fault_is_no_stack_trace_and_others_are_answered():
    with serving({"people": fitted(encoder=FaultyEncoder())}) as served:
        answer = served.client.post("/predict", json={"text": "Pandora"})
        assert error(answer) == (500, "a fault of the server: RuntimeError")
        assert "secret" not in answer.text
        assert served.client.post("/predict", json={"text": "Pia"}).status_code == 200


def test_the_token_is_demanded_in_any_of_its_forms():
    with serving({"people": fitted()}, token=TOKEN, hosts=None) as served:
        client = served.client
        for path in ("/", "/info", "/metrics", "/openapi.json", "/static/try.js", "/nothing"):
            answer = client.get(path)
            assert error(answer) == (401, "the token is missing or wrong")
            assert "Bearer" in answer.headers["www-authenticate"]
            for wrong in ("Bearer x", "Bearer", f"Token {TOKEN}", "Basic x", "Basic eDp5", "Basic ä".encode()):
                assert client.get(path, headers={"Authorization": wrong}).status_code == 401
        assert client.get("/health").status_code == 200
        assert client.get("/info", headers={"Authorization": f"Bearer {TOKEN}"}).status_code == 200
        assert client.get("/info", headers={"X-Handful-Token": TOKEN}).status_code == 200
        assert client.get("/info", auth=("anybody", TOKEN)).status_code == 200
        assert client.get("/info", params={"token": TOKEN}).status_code == 401
        headers = {"Authorization": f"Bearer {TOKEN}", "Host": "handful.example"}
        assert client.get("/info", headers=headers).status_code == 200
        description = client.get("/openapi.json", headers=headers).json()
        assert description["security"]
        assert client.get("/", params={"token": TOKEN}).status_code == 200
        assert client.get("/info").status_code == 200  # by the cookie
        assert client.get("/info", headers={"Origin": "https://evil.example"}).status_code == 403


@pytest.mark.parametrize("headers", [{"Host": "evil.example"}, {"Origin": "https://evil.example"}, {"Origin": "null"}])
def test_without_a_token_other_sites_are_refused(served, headers):
    answer = served.client.post("/predict", json={"text": "a"}, headers=headers)
    assert error(answer)[0] in (403, 421)


def test_answers_have_safe_headers(served):
    for path in ("/", "/info", "/nothing"):
        headers = served.client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert "server" not in headers or "uvicorn" in headers["server"]


def test_metrics_are_counted_and_can_be_read(served):
    client = served.client

    def read():
        answer = client.get("/metrics")
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        families = text_string_to_metric_families(answer.text)
        return {(one.name, *sorted(one.labels.values())): one.value for family in families for one in family.samples}

    before = read()
    client.post("/predict", json={"text": TEXT})
    client.post("/predict", json={"text": 7})
    client.get("/some-address-that-nobody-has")
    words = ("handful_words_total",)
    while (after := read()).get(words, 0) == before.get(words, 0):  # a batch is counted after its requests are answered
        pass

    def more(*name):
        return after[name] - before.get(name, 0)

    assert more("handful_requests_total", "/predict", "200", "POST") == 1
    assert more("handful_requests_total", "/predict", "422", "POST") == 1
    assert more("handful_requests_total", "404", "GET", "none") == 1
    assert more("handful_words_total") == 12
    assert more("handful_batch_requests_count") == 1
    assert more("handful_request_seconds_bucket", "+Inf", "/predict") == 2
    assert after["handful_requests_waiting",] == 0
    assert after["handful_info", __version__] == 1
    assert not any("nobody" in str(name) for name in after)


def test_the_page_has_its_files(served):
    page = served.client.get("/")
    assert page.headers["content-type"].startswith("text/html")
    files = re.findall(r'(?:href|src)="(/static/[^"]+)"', page.text)
    assert len(files) == 2
    for file in files:
        assert served.client.get(file).status_code == 200
    assert json.dumps("/info") in served.client.get("/static/try.js").text
