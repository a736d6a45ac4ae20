"""The trials of docs/reliability.md in a small form: they run, and they would notice what they are there to notice."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
pytestmark = [
    pytest.mark.skipif(not BENCHMARKS.exists(), reason="the benchmarks are not part of a release"),
    pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are forked and looked at in /proc"),
]


def run(script, *arguments, code=""):
    """Run a benchmark in a process of its own; `code` comes first."""
    text = f"import sys; sys.path.insert(0, {str(BENCHMARKS)!r})\n{code}\nimport {script}; sys.exit({script}.main())"
    command = [sys.executable, "-c", text, *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, timeout=500)


TWO_TRIALS = """
import functools, pathlib, shutil, tempfile
from contextlib import contextmanager
import faults, faults_commands, handful._util.files

kept = pathlib.Path(tempfile.mkdtemp())
make = functools.cache(lambda: faults_commands.make_given_anew(kept / "given"))  # for both
faults_commands.make_given_anew, faults_commands.make_given = faults_commands.make_given, lambda place: make()
names = [option for name in ("predict", "fit", "label") for option in ("--only", name)]
try:
    code = faults.main(["--kills", "2", *names])
    print("ended with", code, flush=True)

    @contextmanager
    def in_place(path, *, sync=False):
        pathlib.Path(path).write_bytes(b"half")  # from here to the end, so that hardly a kill comes outside
        yield path

    handful._util.files.replacing = in_place
    sys.exit(faults.main(["--kills", "8", "--only", "predict"]))
finally:
    shutil.rmtree(kept)
"""


@pytest.mark.exhaustive
def test_commands_that_are_killed_lose_nothing_and_one_that_writes_in_place_is_noticed():
    pytest.importorskip("uvicorn")
    done = run("faults", code=TWO_TRIALS)
    sound, _, in_place = done.stdout.partition("ended with 0")
    rows = re.findall(r"^(predict|fit|label) +(\d+) +\d+ +(\d+) ", sound, re.MULTILINE)
    assert rows == [("predict", "2", "0"), ("fit", "2", "0"), ("label", "2", "0")], done.stdout + done.stderr
    assert done.returncode == 1, done.stdout + done.stderr
    assert "predict is neither whole, nor as it was, nor absent" in in_place


@pytest.mark.exhaustive
def test_other_circumstances_give_the_same_bytes():
    row = "PYTHONHASHSEED=1"
    done = run("same_bytes", "--words", "100", "--only", row)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(rf"^{row}.* the same +the same", done.stdout, re.MULTILINE)


@pytest.mark.exhaustive
def test_load_is_measured():
    pytest.importorskip("uvicorn")
    done = run("load", "--only", "serve", "--clients", "3", "--seconds", "4")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"serve: 3 clients, 4 s; answers: {.*200: \d+", done.stdout)
    assert "MiB a minute" in done.stdout


@pytest.mark.exhaustive
def test_workers_end_when_their_command_is_killed(tmp_path):
    psutil = pytest.importorskip("psutil")
    pytest.importorskip("distributed")
    (tmp_path / "text.txt").write_text("A line of text.\n" * 2000)
    command = [sys.executable, "-m", "handful", "fit", "--types", "person, place", "-u", "text.txt", "--workers", "1"]
    with subprocess.Popen([*command, "--out", "model"], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr.readline().startswith("workers: 1")
        children = psutil.Process(process.pid).children(recursive=True)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    assert children
    _, alive = psutil.wait_procs(children, timeout=60)
    assert not alive
    assert not (tmp_path / "model").exists()


def test_a_worker_that_is_killed_as_it_starts_is_said(monkeypatch):
    distributed = pytest.importorskip("distributed")
    from handful.errors import FileError
    from handful.scale import workers

    async def die(nanny):
        raise RuntimeError("Nanny failed to start worker process")

    monkeypatch.setattr(distributed.Nanny, "start_unsafe", die)
    said = r"could not be started: Nanny failed to start\. Run the same command again"
    with pytest.raises(FileError, match=said), workers(n=1):
        pass


SLOW_SERVER = """
import socket, time
listening = socket.create_server(("127.0.0.1", 0))
print(listening.getsockname()[1], flush=True)
while True:
    connection, _ = listening.accept()
    connection.recv(1000)
    end = time.process_time() + 0.15
    while time.process_time() < end:
        pass
    connection.sendall(b'HTTP/1.1 200 OK\\r\\n\\r\\n{"status":"ok"}')
    connection.close()
"""


def test_slow_answers_are_noticed_with_what_the_server_did_meanwhile():
    with subprocess.Popen([sys.executable, "-c", SLOW_SERVER], stdout=subprocess.PIPE, text=True) as server:
        try:
            command = [
                sys.executable,
                BENCHMARKS / "attacks_prober.py",
                server.stdout.readline().strip(),
                str(server.pid),
            ]
            with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as prober:
                found = [json.loads(prober.stdout.readline()) for _ in range(3)]
                prober.stdin.close()
                rest = prober.stdout.read()
        finally:
            server.kill()
    assert len(rest.splitlines()) >= 3  # a new request does not wait for those before
    for i, one in enumerate(found):
        assert one["wrong"] == ""
        assert one["seconds"] > one["worked"] - 0.02 > 0.1 * (i + 1)
        assert one["connected"] < one["seconds"] - 0.1


@pytest.mark.exhaustive
def test_an_attack_is_tried():
    pytest.importorskip("uvicorn")
    done = run("attacks", "--only", "numbers", "--seconds", "1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\| label \| numbers \| \d+ \| .* \| HTTP/1.1 422 .* \| \d+ \|$", done.stdout, re.MULTILINE)
