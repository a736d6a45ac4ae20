"""The benchmark of the training's speed, in a small form on the CPU."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "pretrain_gpu.py"


@pytest.mark.skipif(not SCRIPT.exists(), reason="the benchmarks are not part of a release")
def test_it_compares_the_old_and_the_new_way(people, things, encoder, capsys):
    spec = importlib.util.spec_from_file_location("pretrain_gpu", SCRIPT)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    options = ["--steps", "2", "--turns", "1", "--batch-tokens", "512", "--device", "cpu"]
    script.main([encoder, people, things, *options])
    head, _, old, new = capsys.readouterr().out.splitlines()
    assert head.startswith("2 corpora, ")
    assert head.endswith("packed: True")
    speeds = {line.split()[0]: float(line.split()[1].replace(",", "")) for line in (old, new)}
    assert speeds.keys() == {"old", "new"}
    assert min(speeds.values()) > 0
    assert old.split()[2] == "1.00"
