"""The benchmark of the training's speed, in a small form on the CPU."""

import importlib.util
from itertools import count
from pathlib import Path

import pytest

from handful.training.corpora import read_corpora

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "pretrain_gpu.py"

pytestmark = pytest.mark.skipif(not SCRIPT.exists(), reason="the benchmarks are not part of a release")


@pytest.fixture
def script():
    spec = importlib.util.spec_from_file_location("pretrain_gpu", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_counts_the_words_of_its_steps(script, people, things, encoder, capsys, monkeypatch):
    """Each turn takes a second by this clock, so the words per second are the words of its steps."""
    monkeypatch.setattr(script.time, "perf_counter", map(float, count()).__next__)
    options = ["--steps", "2", "--turns", "1", "--batch-tokens", "512", "--device", "cpu"]
    script.main([encoder, people, things, *options])
    head, found = (line.split() for line in capsys.readouterr().out.splitlines())
    n_words = sum(len(one.words) for corpus in read_corpora([people, things]) for one in corpus.train)
    assert " ".join(head) == f"2 corpora, {n_words:,} words, cpu, packed: True"
    speed = float(found[0].replace(",", ""))
    assert 2 * 1 <= speed <= 2 * 512
    assert float(found[2]) == pytest.approx(n_words / speed, abs=0.05)
