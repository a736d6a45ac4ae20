"""`handful cache` shows what is cached and clears it."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest
from commands import COMMAND

from handful.encoders import Encoder
from handful.encoders.cache import CachedEncoder, FeatureCache


class Zeros(Encoder):
    dim = 8

    def __init__(self, name, fingerprint):
        self.name = name
        self.fingerprint = fingerprint

    def encode(self, sentences, *, progress=None):
        return np.zeros((sum(map(len, sentences)), self.dim), np.float32)


@pytest.fixture
def cache(tmp_path):
    cache = FeatureCache(tmp_path / "features")
    CachedEncoder(Zeros("small", "abc123"), cache).encode([["a", "b"], ["c"]])
    time.sleep(0.002)
    CachedEncoder(Zeros("large", "def456"), cache).encode([["a", "b", "c", "d"]] * 2)
    return cache


def handful(tmp_path, *arguments, text="", **variables):
    variables = {"HANDFUL_CACHE": str(tmp_path), "COLUMNS": "100", **variables}
    return subprocess.run(
        [*COMMAND, "cache", *arguments],
        input=text,
        capture_output=True,
        text=True,
        env=os.environ | variables,
        check=False,
    )


def test_shows_a_table(cache, tmp_path):
    run = handful(tmp_path, HANDFUL_CACHE_LIMIT="5 MB")
    assert (run.returncode, run.stderr) == (0, "")
    header, large, small, place, limit = run.stdout.splitlines()
    assert header.split() == ["encoder", "fingerprint", "sentences", "words", "size", "last", "use"]
    assert large.split()[:6] == ["large", "def456", "1", "4", "65.5", "kB"]
    assert small.split()[:6] == ["small", "abc123", "2", "3", "65.5", "kB"]
    assert place.split() == ["place", str(tmp_path / "features")]
    assert limit == "limit  5.0 MB, 131 kB used"


def test_an_empty_store(tmp_path):
    run = handful(tmp_path)
    assert run.returncode == 0
    assert run.stdout.startswith("nothing is cached\n")
    assert handful(tmp_path, "--clear").returncode == 0
    assert list(tmp_path.iterdir()) == []


def test_clears_all(cache, tmp_path):
    run = handful(tmp_path, "--clear", "--yes")
    assert run.stdout == f"removed 131 kB from {tmp_path / 'features'}\n"
    assert cache.size() == 0


def test_clears_nothing_unasked(cache, tmp_path):
    run = handful(tmp_path, "--clear", text="y\n")
    assert run.returncode == 1
    assert run.stdout == ""
    assert run.stderr.startswith("error: ")
    assert "--yes" in run.stderr
    assert len(cache.contents()) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals on Windows")
@pytest.mark.parametrize(("answer", "n_left"), [("n", 2), ("y", 0)])
def test_asks_on_a_terminal(cache, tmp_path, answer, n_left):
    ours, theirs = os.openpty()
    os.write(ours, f"{answer}\n".encode())
    run = subprocess.run(
        [*COMMAND, "cache", "--clear"],
        stdin=theirs,
        capture_output=True,
        text=True,
        env=os.environ | {"HANDFUL_CACHE": str(tmp_path)},
        check=False,
    )
    os.close(ours)
    os.close(theirs)
    assert run.returncode == (1 if n_left else 0)
    assert f"Remove 131 kB of features from {tmp_path / 'features'}?" in run.stderr
    assert "Traceback" not in run.stderr
    assert len(cache.contents()) == n_left


def test_bad_input_is_one_clear_line(cache, tmp_path):
    run = handful(tmp_path, HANDFUL_CACHE_LIMIT="much")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr.startswith("error: ")
    assert run.stderr.count("\n") == 1
    assert "'much'" in run.stderr
    assert len(cache.contents()) == 2


def test_yes_alone_is_a_mistake(cache, tmp_path):
    run = handful(tmp_path, "--yes")
    assert run.returncode == 2
    assert "--clear" in run.stderr


def test_a_place_that_is_no_folder(tmp_path):
    (tmp_path / "features").write_text("a file")
    run = handful(tmp_path)
    assert run.returncode == 1
    assert run.stderr.startswith(f"error: the feature cache {tmp_path / 'features'} cannot be read")
