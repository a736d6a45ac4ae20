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


def test_it_compares_the_old_and_the_new_way(script, people, things, encoder, capsys, monkeypatch):
    """Each turn takes a second by this clock, so the words per second are the words of its steps."""
    monkeypatch.setattr(script.time, "perf_counter", map(float, count()).__next__)
    options = ["--steps", "2", "--turns", "1", "--batch-tokens", "512", "--device", "cpu"]
    script.main([encoder, people, things, *options])
    head, _, old, new = (line.split() for line in capsys.readouterr().out.splitlines())
    n_words = sum(len(one.words) for corpus in read_corpora([people, things]) for one in corpus.train)
    assert " ".join(head) == f"2 corpora, {n_words:,} words, cpu, packed: True"
    by_old, by_new = (float(line[1].replace(",", "")) for line in (old, new))
    assert 10 * 1 <= by_old <= 10 * 32 * 20  # ten steps of up to 32 sentences, of at most 20 words
    assert 2 * 1 <= by_new <= 2 * 512
    assert (old[2], float(new[2])) == ("1.00", pytest.approx(by_new / by_old, abs=0.006))
    assert float(new[3]) == pytest.approx(n_words / by_new, abs=0.05)


def test_the_old_way_takes_whole_sentences_of_one_corpus(script, people, things, encoder):
    sources = read_corpora([people, things])
    way = script.OldWay(sources, encoder, "cpu", {})
    n_steps = sum(-(-len(corpus.train) // script.SENTENCES) for corpus in sources)
    assert way.run(n_steps) == sum(len(one.words) for corpus in sources for one in corpus.train)
