"""``handful serve`` as a process of its own: it says where it is, answers, and ends well."""

import contextlib
import json
import os
import re
import signal
import subprocess
import threading

import pytest
from commands import COMMAND, failed, run

from handful import Tagger

httpx = pytest.importorskip("httpx")
pytest.importorskip("uvicorn")

TOKEN = "a-token-of-the-tests"
TEXT = {"text": "We sprayed the tomatoes with soft soap against whitefly."}
LONG = {"texts": [TEXT["text"]] * 300}


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    """Fit a model by the names of types."""
    folder = tmp_path_factory.mktemp("serve") / "garden"
    types = {"PEST": "insects and slugs", "TREATMENT": "a substance put on plants"}
    Tagger(types, cache=False).fit().save(folder)
    return folder


@contextlib.contextmanager
def serving(*arguments, env=None, where=r"(http://127\.0\.0\.1:\d+)/\n"):
    process = subprocess.Popen(
        [*COMMAND, "serve", *map(str, arguments), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={key: value for key, value in os.environ.items() if key != "HANDFUL_TOKEN"} | (env or {}),
    )
    with process:
        try:
            line = process.stdout.readline()
            match = re.fullmatch(where, line)
            assert match, (line, process.stderr.read())
            with httpx.Client(base_url=match[1], timeout=60, trust_env=False) as client:
                yield process, client
        finally:
            process.kill()


def test_the_command_serves_logs_and_finishes_what_was_accepted(model):
    with serving(model, f"other={model}", "--json-logs") as (process, client):
        answer = client.post("/predict", json=TEXT).json()
        assert answer["model"] == "garden"
        assert ("whitefly", "PEST") in [(one["word"], one["entity_group"]) for one in answer["entities"]]
        assert client.get("/info").json()["models"][1]["name"] == "other"
        late = []
        asking = threading.Thread(target=lambda: late.append(client.post("/models/other/predict", json=LONG)))
        asking.start()
        while "handful_requests_under_way 1" not in httpx.get(f"{client.base_url}/metrics", trust_env=False).text:
            assert asking.is_alive()
        process.send_signal(signal.SIGTERM)  # while it is at work
        asking.join()
        out, err = process.communicate(timeout=30)
    assert late[0].status_code == 200
    assert [one["entities"] for one in late[0].json()["results"]] == [answer["entities"]] * 300
    assert (process.returncode, out) == (0, "")
    first, *lines = err.splitlines()
    assert first.startswith("serving garden (2 types), other (2 types)")
    records = [json.loads(line) for line in lines]
    predicted = [one for one in records if one["path"].endswith("predict")]
    assert [(one["model"], one["status"], one["texts"], one["words"]) for one in predicted] == [
        ("garden", 200, 1, 10),
        ("other", 200, 300, 3000),
    ]
    assert all(one["ms"] > 0 and one["event"] == "request" and one["time"].endswith("Z") for one in records)
    assert "soft soap" not in err


def test_types_alone_are_served_and_ctrl_c_ends_it():
    with serving("--types", "pest, tool", "--quiet") as (process, client):
        assert client.get("/info").json()["models"][0]["name"] == "types"
        assert client.post("/predict", json=TEXT).status_code == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "stopped\n")


def test_other_machines_need_a_token(model, tmp_path):
    assert failed(run("serve", model, "--host", "0.0.0.0", "--quiet", env={"HANDFUL_TOKEN": ""}), "needs a token")
    store = tmp_path / "store.db"
    options = (model, "--quiet", "--label-studio", store)
    with serving(*options, env={"HANDFUL_TOKEN": TOKEN}) as (_, client):
        assert client.post("/predict", json=TEXT).status_code == 401
        headers = {"Authorization": f"Bearer {TOKEN}"}
        assert client.post("/predict", json=TEXT, headers=headers).status_code == 200
        assert client.get("/label-studio/health", headers=headers).json()["status"] == "UP"
    assert store.is_file()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is nothing to serve"),
        (["nothing"], "there is no such folder"),
        (["MODEL", "MODEL"], "two models are called 'garden'"),
        (["MODEL", "--host", "203.0.113.1"], "cannot listen on 203.0.113.1"),
    ],
)
def test_what_cannot_be_served_is_said(model, arguments, message):
    arguments = [model if one == "MODEL" else one for one in arguments]
    assert failed(run("serve", *arguments, "--quiet", env={"HANDFUL_TOKEN": TOKEN}), message)


def test_limits_come_from_a_file(model, tmp_path):
    file = tmp_path / "limits.toml"
    file.write_text("max_texts = 2\n")
    with serving(model, "--limits", file, "--quiet") as (_, client):
        assert client.get("/info").json()["limits"]["max_texts"] == 2
        assert client.post("/predict", json=LONG).status_code == 422
    file.write_text("max_text = 2\n")
    assert failed(run("serve", model, "--limits", file), "there is no setting 'max_text'; did you mean 'max_texts'?")
    file.write_text("timeout = 0\n")
    assert failed(run("serve", model, "--limits", file), "timeout is 0, expected a number of at least 0.001")
