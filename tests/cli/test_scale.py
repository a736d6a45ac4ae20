"""`fit` and `predict` on several workers: the same model and predictions as without."""

import os
import re
import threading

import pytest
from commands import TEXT, failed, handful, run

pytest.importorskip("distributed")


def on_a_terminal(*arguments):
    """Run a command whose standard error is a terminal; return the process, and what came there."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    said = []

    def listen():
        try:
            while some := os.read(ours, 1 << 16):
                said.append(some)
        except OSError:  # how a terminal ends on Linux
            pass

    listener = threading.Thread(target=listen)
    listener.start()
    try:
        done = handful(*arguments, stderr=theirs, env={"TERM": "xterm", "COLUMNS": "100"})
    finally:
        os.close(theirs)
        listener.join()
        os.close(ours)
    return done, re.sub(r"\x1b\[[\d;?]*[a-zA-Z]", "", b"".join(said).decode()).replace("\r", "\n")


def test_workers_encode_fit_and_tag_as_one_process_does(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, line in enumerate(TEXT.splitlines()):
        (tmp_path / f"text{number}.txt").write_text(line + "\n", encoding="utf-8")
    encoder = ["--encoder", place / "encoder"]
    arguments = ["fit", place / "support.txt", "--o-ratio", "0.8", *encoder, "--out"]
    far = ["-u", "text*.txt", "--features", "shards", "--workers", 2]
    two, said = on_a_terminal(*arguments, "two", *far)
    assert two.returncode == 0, said
    assert said.startswith("workers: 2; dashboard: http://127.0.0.1:")
    assert "shards: 36 words in 4 shards; fitting" in said
    assert "wrote two" in said
    rounds = [int(n) for n in re.findall(r"fitting .* (\d+)/\d+ rounds", said)]
    assert rounds[0] == 0  # before the first is done
    (n_rounds,) = re.findall(r"(\d+) round", two.stdout)
    assert rounds == sorted(rounds)
    assert rounds[-1] == int(n_rounds) > 0

    assert run(*arguments, "one", "-u", place / "text.txt", "--quiet").exit_code == 0
    for name in ("config.json", "model.safetensors", "support.jsonl"):
        assert (tmp_path / "one" / name).read_bytes() == (tmp_path / "two" / name).read_bytes()
    found, said = on_a_terminal("predict", "two", "text*.txt", "--workers", 2, "--out", "found")
    assert found.returncode == 0, said
    assert "4 documents, 36 words" in said
    assert re.search(r"tagging .* 0/36 words", said)
    assert re.search(r"tagging .* 36/36 words", said)
    serial = run("predict", "one", place / "text.txt", "--to", "jsonl")
    shards = sorted((tmp_path / "found").glob("*.jsonl"))
    assert len(shards) == 4
    assert "".join(path.read_text(encoding="utf-8") for path in shards) == serial.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["fit", "support.txt", "--features", "x", "--out", "y"],
        ["fit", "support.txt", "--workers", "2", "--out", "y"],
        ["fit", "support.txt", "--dask", "tcp://127.0.0.1:1", "--workers", "2", "--out", "y"],
        ["predict", "model", "text.txt", "--workers", "2"],
        ["predict", "model", "text.txt", "--workers", "2", "--out", "x", "--to", "html"],
        ["predict", "model", "--text", "x", "--workers", "2", "--out", "x"],
        ["predict", "model", "text.txt", "--to", "parquet"],
    ],
)
def test_options_that_do_not_go_together_are_wrong_usage(inside, arguments):
    assert run(*arguments).exit_code == 2


def test_a_folder_for_predictions_that_holds_something_else_is_refused_first(inside, tmp_path):
    (tmp_path / "mine.txt").write_text("mine", encoding="utf-8")
    arguments = ["predict", "model", "text.txt", "--workers", 1, "--out", tmp_path]
    result = run(*arguments, "--quiet")
    assert failed(result, "is a folder with other files in it")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_malformed_records_are_skipped_if_asked_to(inside, tmp_path):
    path = tmp_path / "records.jsonl"
    path.write_text('{"text": "Ekeus left"}\n{"text": 5}\n{"text": "for Paris"}\n', encoding="utf-8")
    assert failed(run("predict", "model", path, "--out", tmp_path / "found.jsonl"), "records.jsonl:2")
    assert not (tmp_path / "found.jsonl").exists()
    done = run("predict", "model", path, "--skip-malformed", "--out", tmp_path / "found.jsonl")
    assert done.exit_code == 0
    assert "1 malformed place was skipped" in done.stderr
    assert len((tmp_path / "found.jsonl").read_text(encoding="utf-8").splitlines()) == 2
