"""The commands that `faults.py` kills: how each is run, and what has to hold after a kill and at the end."""

import http.client
import json
import os
import signal
import sqlite3
import sys
import threading
import time
from contextlib import suppress

import made
import psutil

from handful._util.files import is_temporary

TOKEN = "a-token-for-trials"
MODULES = """
handful.cli.commands handful.tagger handful.encoders.cache handful.encoders._onnx handful.training
handful.training.prepare handful.training._card handful.workbench._server handful.workbench._session handful.scale
handful.web handful.cluster onnxruntime tokenizers safetensors.numpy scipy.optimize scipy.sparse
sklearn.base uvicorn uvicorn.protocols.http.auto distributed rich.progress
"""


def import_all():
    """Import what the commands import, once for all of them."""
    from importlib import import_module

    for name in MODULES.split():
        import_module(name)


def make_given(place):
    """Write what commands read: texts, labels, an encoder, and a model."""
    made.write_texts(place, 1500)
    made.write_texts(place / "old", 50, n_labelled=8)
    network = made.make_network(place / "network")
    made.make_encoder(place / "encoder", network)
    from handful import Tagger

    for name in ("", "old"):
        tagger = Tagger(encoder=str(place / "encoder"), cache=False, threads=1)
        tagger.fit(str(place / name / "few.txt"), str(place / name / "text.txt"), progress=False)
        tagger.save(place / name / "model")
    return place


def handful(*arguments):
    """Run a command in this process, which ends with it."""
    from handful.cli import main

    sys.argv = ["handful", *map(str, arguments)]
    main()


def contents(path):
    """Return what is in a file or in all files of a folder, but for what is temporary; None if there is nothing."""
    if path.is_file():
        return path.read_bytes()
    if not path.is_dir():
        return None
    files = [one.relative_to(path) for one in sorted(path.rglob("*")) if one.is_file()]
    return {str(one): (path / one).read_bytes() for one in files if not any(map(is_temporary, one.parts))}


class Command:
    """A command that writes one file or folder, `out`, which is the old one, the new one, or not there."""

    n_killed = 1
    ends_with = 0
    old = None  # what `out` may be before

    def __init__(self, given, out):
        self.given, self.out = given, out / self.name
        self.watched = out
        self.most_left = 0
        out.mkdir()

    def run(self, *, to_the_end=False):
        """Run in the child."""
        raise NotImplementedError

    def remember(self):
        """Take what is there for the right result."""
        self.result = contents(self.out)
        assert self.result
        self.reset()

    def prepare(self, rng):
        """Get ready for a run: every other time there is something old to replace."""
        if self.old is not None and rng.random() < 0.5:
            self.reset()
            os.system(f"cp -r '{self.old}' '{self.out}'")

    def accompany(self, pid, log):
        """Do something while it runs; return a function that waits until that has ended."""
        self.log = log
        return lambda: None

    def kill(self, pid, rng):
        """Kill it, and return its status."""
        os.kill(pid, signal.SIGKILL)
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def left(self):
        """Return what is beside the result."""
        return [one for one in self.watched.rglob("*") if is_temporary(one.name)]

    def check_killed(self):
        """Look at what a killed run left."""
        found = contents(self.out)
        expected = [None, self.result] + ([] if self.old is None else [contents(self.old)])
        assert found in expected, f"{self.out.name} is neither whole, nor as it was, nor absent"
        self.most_left = max(self.most_left, len(self.left()))
        assert self.most_left <= 2, f"what is left grows: {[one.name for one in self.left()]}"

    def check_ended(self):
        """Look at what a run wrote that was not disturbed, but came after others that were."""
        assert contents(self.out) == self.result, f"{self.out.name} is not what an undisturbed run writes"
        assert not self.left(), f"something is left: {self.left()}"
        self.reset()

    def note(self):
        """Return what else there is to say in the end."""
        return ""

    def reset(self):
        """Remove everything."""
        os.system(f"rm -rf '{self.watched}'")
        self.watched.mkdir()


class Fit(Command):
    """`handful fit`: a model that is the old one or the new one."""

    name = "fit"

    def __init__(self, given, out):
        super().__init__(given, out)
        self.old = given / "old" / "model"

    def run(self, *, to_the_end=False):
        """Run in the child."""
        text, few = self.given / "text.txt", self.given / "few.txt"
        handful("fit", few, "-u", text, "--encoder", self.given / "encoder", "--out", self.out, "-q", "--no-cache")


class Predict(Command):
    """`handful predict --out`: a file that is the old one or the new one."""

    name = "predict"

    def __init__(self, given, out):
        super().__init__(given, out)
        self.old = given / "old" / "text.txt"

    def run(self, *, to_the_end=False):
        """Run in the child."""
        handful("predict", self.given / "model", self.given / "text.txt", "--out", self.out, "--to", "jsonl", "-q")


class Cache(Command):
    """The features that `handful predict --keep-features` keeps, and `handful cache --clear`, in turns."""

    name = "cache"
    clears = False

    def __init__(self, given, out):
        super().__init__(given, out)
        self.out = out / "features"
        self.found = out / "found.jsonl"

    def run(self, *, to_the_end=False):
        """Run in the child."""
        os.environ["HANDFUL_CACHE"] = str(self.watched)
        if self.clears:
            handful("cache", "--clear", "--yes")
        model, text = self.given / "model", self.given / "text.txt"
        handful("predict", model, text, "--out", self.found, "--keep-features", "-q")

    def remember(self):
        """Take what is there for the right result."""
        self.expected = self.found.read_bytes()
        super().remember()

    def prepare(self, rng):
        """Clear in one of four runs."""
        self.clears = rng.random() < 0.25

    def left(self):
        """Return what is beside the features: the journal of a killed run, which the next one takes back."""
        return [*self.out.rglob("*-journal"), *super().left()]

    def check_killed(self):
        """Look at what a killed run left: the cache can be read, and no journal stays."""
        from handful.encoders.cache import FeatureCache

        assert contents(self.found) in (None, self.expected), "found.jsonl is neither whole nor absent"
        self.most_left = max(self.most_left, len(self.left()))
        FeatureCache(self.out).contents()
        assert not list(self.out.rglob("*-journal")), "what killed runs left is never removed"

    def check_ended(self):
        """Look at a run to the end: the same predictions, from whatever was kept."""
        if self.clears:
            assert not list(self.out.rglob("*.sqlite")), "something was not cleared"
            return
        assert self.found.read_bytes() == self.expected, "the predictions are not those of an undisturbed run"
        assert not self.left(), f"something is left: {self.left()}"
        self.reset()


class Label(Command):
    """`handful label`, while a client decides: what was confirmed is in the project."""

    name = "label.db"

    def __init__(self, given, out):
        super().__init__(given, out)
        self.confirmed = {}  # the last decision on each sentence that was confirmed, and those sent after it
        self.n_confirmed = 0

    def run(self, *, to_the_end=False):
        """Run in the child; to the end is until a signal to end."""
        os.environ["HANDFUL_TOKEN"] = TOKEN
        if to_the_end:
            threading.Timer(3.0, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
        text = self.given / "old" / "text.txt"
        options = ("--no-browser", "--port", "0", "--no-cache", "--encoder", self.given / "encoder")
        handful("label", text, self.given / "few.txt", "--project", self.out, *options)

    def remember(self):
        """Count the texts."""
        self.result = self.n_texts()
        assert self.result
        self.reset()

    def reset(self):
        """Remove everything, and begin anew."""
        super().reset()
        self.confirmed = {}

    def n_texts(self):
        """Return how many texts there are in the project, which is whole."""
        with sqlite3.connect(self.out) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)], "the project is damaged"
            (n,) = connection.execute("SELECT count(*) FROM texts").fetchone()
        connection.close()
        return n

    def accompany(self, pid, log):
        """Let a client make decisions until the server is gone."""
        thread = threading.Thread(target=self.decide, args=(pid, log))
        thread.start()
        return thread.join

    def decide(self, pid, log):
        """Make one decision after the other, as fast as they are confirmed."""
        port, end = None, time.monotonic() + 30
        while port is None and time.monotonic() < end:
            text = log.read_text() if log.exists() else ""
            if "/?token" in text:
                port = int(text.partition("/?token")[0].rpartition(":")[2])
            elif not psutil.pid_exists(pid):
                return
            time.sleep(0.002)
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
            for round in range(100):
                for id in range(1, 25):
                    self.decide_one(connection, id, round)
        except (OSError, http.client.HTTPException, ValueError):
            pass  # it was killed

    def decide_one(self, connection, id, round):
        """Label the first word of a sentence, or say that there is nothing in it."""
        sentence = self.ask(connection, "GET", f"/api/sentences/{id}")
        labels = [] if round % 2 else [{"start": 0, "end": 1 + round % 3, "type": "PER"}]
        record = {"version": sentence["version"], "action": "label" if labels else "nothing", "labels": labels}
        spans = [(one["start"], one["end"]) for one in labels]
        self.confirmed.setdefault(id, [[]]).append(spans)
        self.ask(connection, "POST", f"/api/sentences/{id}/decision", json.dumps(record))
        self.confirmed[id] = [spans]
        self.n_confirmed += 1

    def ask(self, connection, method, path, body=None):
        """Return an answer."""
        headers = {"X-Handful-Token": TOKEN, "Content-Type": "application/json", "Host": "localhost"}
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        content = answer.read()
        assert answer.status == 200, content
        return json.loads(content)

    def check_killed(self):
        """Look for each decision that was confirmed."""
        from handful.workbench import Project

        self.most_left = max(self.most_left, len(self.left()))
        assert self.most_left <= 2, "what is left grows"
        if not self.out.exists():
            assert not self.confirmed, "the project is gone"
            return
        with Project(self.out) as project:
            states = {id: [(one.start, one.end) for one in state.spans] for id, (_, state) in project.states().items()}
        for id, spans in self.confirmed.items():
            assert states.get(id, []) in spans, f"a decision that was confirmed is lost: {spans}, {states.get(id)}"
        n = self.n_texts()
        assert n in self.possible(), f"{n} texts of {self.result}"

    def check_ended(self):
        """Look for the same; the project goes on."""
        self.check_killed()
        assert not self.left(), f"something is left: {self.left()}"

    def note(self):
        """Say how many decisions there were."""
        return f"{self.n_confirmed:,} decisions were confirmed"

    def possible(self):
        """Return how many texts there may be: each file is there with all of its texts or none."""
        n_first = len((self.given / "old" / "text.txt").read_text().splitlines())
        return (0, n_first, self.result)


class Dask(Command):
    """`handful fit` and `predict` with `--workers 2`: kills hit the command, or a worker."""

    name = "dask"
    old = None

    def __init__(self, given, out):
        super().__init__(given, out)
        self.out = out
        self.n_turns = 0

    def run(self, *, to_the_end=False):
        """Run in the child."""
        text, few = self.given / "text.txt", self.given / "few.txt"
        model, workers = self.out / "model", ("--workers", "2", "-q")
        try:
            handful("fit", few, "-u", text, "--encoder", self.given / "encoder", *workers, "--out", model)
        except SystemExit as stop:
            if stop.code:
                raise
        handful("predict", model, text, *workers, "--out", self.out / "found")

    def kill(self, pid, rng):
        """Kill the command and see that its workers end; or up to three workers, and see that it does not end."""
        self.n_turns += 1
        command = psutil.Process(pid)
        workers = workers_of(command)
        if self.n_turns % 2 or not workers:
            self.n_killed = 1
            status = super().kill(pid, rng)
            _, alive = psutil.wait_procs(workers, timeout=30)
            for one in alive:
                one.kill()
            assert not alive, "workers live on when the command is gone"
            return status
        return self.kill_workers(command, workers, rng)

    def kill_workers(self, command, workers, rng):
        """Kill a worker, some time later another, and another; the command goes on, or says that they cannot start."""
        self.n_killed = 0
        end = time.monotonic() + 120
        while time.monotonic() < end:
            done, status = os.waitpid(command.pid, os.WNOHANG)
            if done:
                status = os.waitstatus_to_exitcode(status)
                is_told = status == 1 and "error: the workers could not be started" in self.log.read_text()
                assert status == 0 or is_told, f"the command did not survive a worker: {status}"
                self.check(whole=status == 0)
                return -signal.SIGKILL  # it counts
            if self.n_killed < 3 and workers:
                with suppress(psutil.NoSuchProcess):
                    rng.choice(workers).kill()
                    self.n_killed += 1
                time.sleep(rng.uniform(0, 1))
                workers = workers_of(command)
            time.sleep(0.01)
        command.kill()
        os.waitpid(command.pid, 0)
        raise AssertionError("it hangs when workers are killed")

    def check_killed(self):
        """Look at shards and the model: each is whole, or not there."""
        self.check(whole=False)

    def check_ended(self):
        """Compare everything."""
        self.check(whole=True)
        assert not self.left(), f"something is left: {self.left()}"
        self.reset()

    def check(self, *, whole):
        """Compare what is there, which has to be everything if it is `whole`."""
        found = contents(self.out) or {}
        other = [name for name, content in found.items() if self.result.get(name) != content]
        assert not other, f"not what an undisturbed run writes: {other}"
        assert not whole or found.keys() == self.result.keys(), f"missing: {self.result.keys() - found.keys()}"
        self.most_left = max(self.most_left, len(self.left()))
        assert self.most_left <= 30, "what is left grows"


def workers_of(command):
    """Return the workers of Dask that a command has started."""
    found = []
    with suppress(psutil.NoSuchProcess):
        for one in command.children(recursive=True):
            with suppress(psutil.NoSuchProcess):  # a zombie is one, too
                found += [one] if "spawn_main" in " ".join(one.cmdline()) else []
    return found


COMMANDS = {"fit": Fit, "predict": Predict, "cache": Cache, "label": Label, "dask": Dask}
