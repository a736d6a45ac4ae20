"""``handful label``: from a text to a served project, and what its labels are used for."""

import getpass
import json
import re
import signal
import sqlite3
import subprocess
from contextlib import closing, contextmanager

import pytest
from commands import COMMAND, SLOW_COMMAND, failed, handful, run

from handful.text import Document, EntityType, Span, read
from handful.text.projects import State
from handful.workbench import Project

pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")

TYPES = "PER: names of people\nLOC: names of places\n"


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "notes.txt").write_text(
        "Ekeus says the dog heads for Paris.\nThe official Dupont likes Zürich.\nNothing at all.\n", encoding="utf-8"
    )
    (tmp_path / "types.txt").write_text(TYPES, encoding="utf-8")
    return tmp_path


@contextmanager
def serving(*arguments, cwd, command=COMMAND):
    """Run the command, and give its process and a client that knows its token."""
    process = subprocess.Popen(
        [*command, "label", *map(str, arguments), "--no-browser", "--port", "0"],
        cwd=cwd,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    with process:
        try:
            line = process.stdout.readline()
            match = re.fullmatch(r"(http://127\.0\.0\.1:\d+)/\?token=(\S+)\n", line)
            assert match, (line, process.stderr.read())
            headers = {"X-Handful-Token": match[2]}
            with httpx.Client(base_url=match[1], headers=headers, timeout=60, trust_env=False) as client:
                yield process, client
        finally:
            process.kill()


def test_the_command_serves_a_project_and_ends_with_ctrl_c(folder):
    with serving("notes.txt", "--types", "types.txt", cwd=folder) as (process, client):
        state = client.get("/api/state").json()
        assert [one["description"] for one in state["types"]] == ["names of people", "names of places"]
        record = {"version": 0, "action": "label", "labels": [{"start": 0, "end": 1, "type": "PER"}]}
        assert client.post("/api/sentences/1/decision", json=record).status_code == 200
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
    with closing(sqlite3.connect(folder / "notes.db")) as written:
        (author,) = written.execute("SELECT author FROM log ORDER BY seq DESC LIMIT 1").fetchone()
    assert author == getpass.getuser()
    assert "notes.txt: 3 sentences added, 0 of them labelled" in err
    assert err.endswith("stopped\n")
    assert "Traceback" not in err
    assert (process.returncode, out) == (130, "")
    assert [sentence.is_labelled for sentence in read(folder / "notes.db")] == [True, False, False]


def test_a_killed_server_has_lost_nothing(folder):
    with serving("notes.txt", "--types", "PER, LOC", cwd=folder, command=SLOW_COMMAND) as (process, client):
        for id in (1, 2, 3):
            answer = client.post(f"/api/sentences/{id}/decision", json={"version": 0, "action": "nothing"})
            assert answer.status_code == 200
        process.kill()
    with serving("notes.db", cwd=folder) as (_, client):
        assert client.get("/api/state").json()["counts"]["none"] == 3
        assert client.post("/api/undo", json={"n": 2}).json()["undone"] == 2
        assert client.get("/api/sentences/3").json()["status"] == "new"


def test_each_of_several_people_gets_an_address(folder):
    arguments = ["label", "notes.txt", "--types", "PER, LOC", "--people", "anna, ben", "--both", "1", "--port", "0"]
    with subprocess.Popen(
        [*COMMAND, *arguments, "--no-browser"], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            for name, status in (("anna", "label"), ("ben", "nothing")):
                line = process.stdout.readline()
                match = re.fullmatch(rf"{name}: (http://127\.0\.0\.1:\d+)/\?token=(\w+)\n", line)
                assert match, (line, process.stderr.read())
                headers = {"X-Handful-Token": match[2]}
                with httpx.Client(base_url=match[1], headers=headers, timeout=60, trust_env=False) as client:
                    assert client.get("/api/state").json()["project"]["person"] == name
                    labels = [{"start": 0, "end": 1, "type": "PER"}] if status == "label" else []
                    for id in (1, 2):
                        record = {"version": 0, "action": status if id == 1 else "nothing", "labels": labels[: 2 - id]}
                        assert client.post(f"/api/sentences/{id}/decision", json=record).status_code == 200
            process.send_signal(signal.SIGINT)
            _, err = process.communicate()
        finally:
            process.kill()
    assert "only this machine can reach these addresses; --host 0.0.0.0 lets others in" in err
    shown = run("stats", folder / "notes.db").stdout
    assert "anna and ben: F1 0.000, kappa 0.000 by words, 1 of 2 sentences the same" in " ".join(shown.split())
    (record,) = json.loads(run("stats", folder / "notes.db", "--json").stdout)
    assert [pair["n_same"] for pair in record["agreement"]] == [1]
    run("convert", folder / "notes.db", folder / "out.jsonl", "--to", "prodigy")
    fields = [json.loads(line).get("decided_by") for line in (folder / "out.jsonl").read_text().splitlines()]
    assert fields == [None, ["anna", "ben"], None]  # the first one is disputed


def make(folder, decisions):
    with Project(folder / "p.db") as project:
        texts = SUPPORT.splitlines()
        project.add(map(Document.of, texts), lambda: [EntityType("PER", "people"), EntityType("LOC", "places")])
        project.decide("label", decisions)


SUPPORT = """\
Ekeus heads for Baghdad on Thursday .
the quick brown fox jumps over the lazy dog in Paris
nothing else
"""
LABELS = {
    1: State("labelled", (Span(0, 1, "PER"), Span(3, 4, "LOC"))),
    3: State("none"),
}


def test_fit_and_convert_read_a_project(folder):
    make(folder, LABELS)
    done = handful("fit", "p.db", "--out", "model", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert '"n_support": 2' in done.stdout
    assert '"n_unlabelled_words": 11' in done.stdout
    result = run("convert", folder / "p.db", folder / "out.txt", "--to", "inline")
    assert result.exit_code == 0
    assert (folder / "out.txt").read_text(encoding="utf-8").splitlines()[:4] == [
        "# PER: people",
        "# LOC: places",
        "",
        "[Ekeus](PER) heads for [Baghdad](LOC) on Thursday .",
    ]


def test_fit_on_a_project_without_labels_reads_types_and_text(folder):
    make(folder, {})
    done = handful("fit", "p.db", "--out", "model", "--json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert '"n_support": 0' in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "there is nothing to label"),
        (["-"], "needs a name for its project"),
        (["nothing.txt"], "there is no such file"),
        (["--project", "notes.txt"], "is not a project"),
        (["notes.txt", "--host", "203.0.113.1"], "cannot listen on 203.0.113.1"),
        (["notes.txt", "--people", "anna"], "give two names or more"),
        (["notes.txt", "--people", "anna, Anna"], "each of them once"),
        (["notes.txt", "--people", "anna,ben", "--both", "2"], "expected 0 to 1"),
        (["notes.txt", "--both", "0.1"], "name them with --people"),
    ],
)
def test_what_cannot_be_served_is_said(folder, monkeypatch, arguments, message):
    monkeypatch.chdir(folder)
    assert failed(handful("label", *arguments, "--no-browser", "--quiet", cwd=folder), message)


def test_a_project_is_not_made_of_half_of_its_texts(folder, monkeypatch):
    monkeypatch.chdir(folder)
    (folder / "shared.txt").write_text("# ORG: o\n# CITY: c\n\n[[Oslo](CITY) University](ORG) is there\n", "utf-8")
    result = handful("label", "notes.txt", "shared.txt", "--types", "types.txt", "--no-browser", "--quiet")
    failed(result, "share a word")
    assert [one.name for one in folder.glob("*.db*")] == []
    with Project(folder / "before.db") as project:
        project.add([Document.of("Then Pia left .")], lambda: ())
    failed(handful("label", "shared.txt", "--project", "before.db", "--no-browser", "--quiet"), "share a word")
    with Project(folder / "before.db") as project:
        assert [one.text for one in project.documents()] == ["Then Pia left ."]
