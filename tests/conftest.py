"""Settings that hold for every test, and a way to make something once for all workers."""

import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from filelock import FileLock

# One thread in each process, and in those that it starts: two processes of two threads each wait for each other.
# Tests that are about threads say how many they want.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
    os.environ.setdefault(name, "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
if (worker := os.environ.get("PYTEST_XDIST_WORKER")) and hasattr(os, "sched_setaffinity"):
    # onnxruntime starts a thread for each processor that a process may use, so a worker may use one of them.
    processors = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {processors[int(worker.removeprefix("gw")) % len(processors)]})

if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    # A shell without a terminal lets what runs in the background ignore Ctrl-C, and so would the commands of the tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)

from hypothesis import settings  # noqa: E402

from drawn import USUAL  # noqa: E402 - what it imports may read the above

# Tests never judge time. The continuous build repeats the same examples; elsewhere new ones are tried each time.
settings.register_profile("handful", max_examples=USUAL, deadline=None, derandomize=bool(os.environ.get("CI")))
# After `make test`, twice as many others; `make test-all` gives them a seed of their own where examples are to repeat.
settings.register_profile("exhaustive", max_examples=2 * USUAL, deadline=None)
settings.load_profile("handful")


@pytest.fixture(scope="session")
def made_once(tmp_path_factory):
    """Return a function that makes a folder under a name, once for all workers of a run.

    ``made_once(name, make)`` calls ``make(folder)`` if no worker has done so, and returns the folder. What it
    holds is for everybody, so nobody writes to it.
    """
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent  # each worker has a folder of its own in it

    def once(name, make):
        folder, done = (place / "made_once" / each for each in (name, f"{name}.done"))
        folder.parent.mkdir(exist_ok=True)
        with FileLock(f"{folder}.lock"):
            if not done.exists():
                shutil.rmtree(folder, ignore_errors=True)  # of one that failed
                make(folder)
                done.touch()
        return folder

    return once


CORRECT = r"""# An editor for somebody who takes the first mark of a file away.
import pathlib, re, sys
path = pathlib.Path(sys.argv[1])
path.write_text(re.sub(r"\[([^]]+)\]\(\w+\)", r"\1", path.read_text(encoding="utf-8"), count=1), encoding="utf-8")
"""


@pytest.fixture(scope="session")
def shell(tmp_path_factory, made_once):
    """Return the environment of a shell, in which `handful` starts at once; its cached features are for all tests."""
    from quick import quick_handful

    editor = tmp_path_factory.mktemp("editor") / "correct.py"
    editor.write_text(CORRECT, encoding="utf-8")
    with quick_handful(tmp_path_factory.mktemp("quick")) as commands:
        folders = [commands, Path(sys.executable).parent, os.environ["PATH"]]
        path = os.pathsep.join(str(one) for one in folders if one is not None)
        cache = made_once("cache", Path.mkdir)
        own = {"PATH": path, "HANDFUL_CACHE": str(cache), "COLUMNS": "100", "EDITOR": f"{sys.executable} {editor}"}
        yield os.environ | own


@pytest.fixture(scope="session")
def dask_cluster():
    """Start a cluster of Dask with two processes, for all tests of this process."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster:
        yield cluster


@pytest.fixture
def client(dask_cluster):
    """Let this test alone, and what it does with Dask, run on the cluster."""
    from distributed import Client

    with Client(dask_cluster) as client:
        yield client


@pytest.fixture
def unmeasured(monkeypatch):
    """Start processes without coverage, which would write a file where a test lets nothing be written."""
    monkeypatch.delenv("COVERAGE_PROCESS_CONFIG", raising=False)
    monkeypatch.delenv("COVERAGE_PROCESS_START", raising=False)
