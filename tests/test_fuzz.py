"""The fuzzer works: its saved inputs are read, changed ones give no fault, and faults are found, saved and replayed."""

import importlib.util
import json
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path
from random import Random

import numpy as np
import pytest

from handful.errors import DataError, HandfulWarning

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from fuzz import __main__ as command  # noqa: E402
from fuzz import engine, mutate, processes  # noqa: E402
from fuzz.engine import Outcome, Target, read_seeds, try_inputs, try_one  # noqa: E402
from fuzz.targets import TARGETS  # noqa: E402
from fuzz.targets.faulty import FAULTY  # noqa: E402

N_INPUTS = 200
SLOW = ("encoder-hugging-face", "label-studio", "people", "workbench")  # tens of milliseconds each


@pytest.mark.parametrize("name", TARGETS)
def test_no_input_gives_a_fault(tmp_path, name, capfd):
    target = TARGETS[name]
    if lacking := processes.missing(target):
        pytest.skip(f"{', '.join(lacking)} is not installed")
    outcome = Outcome()
    seeds = read_seeds(target)
    n = max(len(seeds), N_INPUTS // 10 if name in SLOW else N_INPUTS)
    with target.open(tmp_path) as run:
        for case in seeds:
            kind, fault = try_one(run, case)
            assert fault is None, fault.what
            assert kind.startswith("result"), kind  # otherwise nothing but the way to an error would be tried
        faults = list(try_inputs(target, run, Random(0), outcome, n=n))
    assert [fault.what for fault in faults] == []
    assert outcome.n_inputs == n
    assert outcome.n_results >= len(seeds)
    assert len(outcome.kinds) > 2


def faulty(case):
    """Fail in one of several ways."""
    word = case["file"].decode("latin-1")
    if "x" in word:
        raise KeyError(word)
    if "w" in word:
        warnings.warn("not ours", RuntimeWarning, stacklevel=1)
    if "h" in word:
        warnings.warn("ours", HandfulWarning, stacklevel=1)
    if "e" in word:
        raise DataError("this is wrong")
    if "o" in word:
        open(__file__, encoding="utf-8")  # noqa: SIM115 - left open on purpose
    if "m" in word:
        return len(np.ones(engine._memory() // 8 + (80 << 20)))  # 640 MB more than this process ever had
    if "s" in word:
        end = time.process_time() + 0.05
        while time.process_time() < end:
            pass
    return len(word)


@pytest.mark.parametrize(
    ("word", "found"),
    [
        ("a", "result 1"),
        ("h", "result 1"),
        ("e", "error DataError this is wrong"),
        ("x", "KeyError"),
        ("w", "RuntimeWarning"),
        ("o", "left open"),
        pytest.param("m", "memory", marks=pytest.mark.skipif(not engine._memory(), reason="memory is not measured")),
    ],
)
def test_what_is_a_fault_and_what_is_not(word, found):
    kind, fault = try_one(faulty, {"file": word.encode()})
    assert (fault.key if fault else kind).startswith(found)
    assert (fault is None) == found.startswith(("result", "error"))


@pytest.fixture
def broken(tmp_path, monkeypatch):
    """Make a target with faults, and places of its own for what it reads and finds."""

    @contextmanager
    def opened(folder):
        yield faulty

    monkeypatch.setattr(engine, "SEEDS", tmp_path / "seeds")
    monkeypatch.setattr(processes, "FOUND", tmp_path / "fuzz" / "found")
    monkeypatch.setitem(TARGETS, "broken", Target("broken", "", opened, {"file": [mutate.change_bytes]}))
    (tmp_path / "seeds" / "broken").mkdir(parents=True)
    (tmp_path / "seeds" / "broken" / "a").write_text("abc", encoding="utf-8")
    (tmp_path / "seeds" / "broken" / "b").write_text("xyz", encoding="utf-8")
    return TARGETS["broken"]


def test_each_kind_of_fault_comes_once_and_slow_inputs_are_faults(broken, monkeypatch):
    outcome = Outcome()
    faults = list(try_inputs(broken, faulty, Random(0), outcome, n=2))
    assert [fault.case for fault in faults] == [{"file": b"xyz"}]
    assert (outcome.n_results, outcome.n_errors, outcome.n_faults) == (1, 0, 1)
    assert list(try_inputs(broken, faulty, Random(0), outcome, n=2)) == []
    assert outcome.n_faults == 2
    monkeypatch.setattr(engine, "SLOW", 0.01)
    (engine.SEEDS / "broken" / "b").write_text("s", encoding="utf-8")
    (fault,) = try_inputs(broken, faulty, Random(0), Outcome(), n=2)
    assert "seconds of processor time" in fault.what


def test_a_fault_is_saved_with_the_command_that_replays_it(broken, monkeypatch, capsys):
    (fault,) = try_inputs(broken, faulty, Random(0), Outcome(), n=2)
    folder = processes.save(broken, fault)
    said = (folder / "REPLAY.txt").read_text(encoding="utf-8")
    first, *_ = said.splitlines()
    assert first == f"python -m fuzz --target broken --replay fuzz/found/{folder.name}"
    assert "KeyError: 'xyz'" in said
    monkeypatch.setattr(sys, "argv", ["fuzz", "--target", "broken", "--replay", str(folder)])
    assert command.main() == 1
    assert "KeyError: 'xyz'" in capsys.readouterr().out
    (folder / "file").write_text("abc", encoding="utf-8")
    assert command.main() == 0


def test_a_run_in_a_process_of_its_own(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["fuzz", "--target", "tag-names", "--inputs", "50", "--seed", "1"])
    assert command.main() == 0
    assert "| tag-names | 50 |" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "said"), [("faulty-exit", "ended with 3"), ("faulty-hang", "Timeout")])
def test_the_death_of_a_process_is_a_fault(tmp_path, monkeypatch, name, said):
    monkeypatch.setattr(processes, "FOUND", tmp_path / "fuzz" / "found")
    outcome, _ = processes.fuzz(FAULTY[name], n=1, seconds=60, seed=0, hangs=1)
    (fault,) = outcome.faults.values()
    assert said in fault.what
    assert (outcome.n_inputs, outcome.n_faults) == (1, 1)
    assert sorted(path.name for path in processes.FOUND.glob("*/*")) == ["REPLAY.txt", "file"]


@pytest.mark.parametrize("name", [name for name in mutate.__all__ if name.startswith("change_")])
def test_mutators_change_what_they_know_and_take_anything(name):
    change = getattr(mutate, name)
    cases = [case for target in TARGETS.values() for case in read_seeds(target)]
    data = [one for case in cases for one in case.values()]
    rng = Random(0)
    assert any(change(rng, one) != one for one in data)
    for _ in range(3):
        for one in [b"", b"\0", b"x" * 30, *data]:
            assert isinstance(change(rng, one), bytes)


def test_numbers_of_any_size_are_changed():
    data = b'{"a": %d}' % 10**400
    changed = {mutate.change_json(Random(seed), data) for seed in range(100)}
    assert len(changed) > 10


def test_structures_stay_what_they_are():
    rng = Random(0)
    seeds = read_seeds(TARGETS["model"])
    n_json = sum(_is_json(mutate.change_json(rng, case["config.json"])) for case in seeds for _ in range(50))
    assert n_json == 50 * len(seeds)
    (project,) = read_seeds(TARGETS["project"])
    databases = [mutate.change_sqlite(rng, project["file"]) for _ in range(50)]
    assert sum(one.startswith(b"SQLite format 3") and one != project["file"] for one in databases) > 30
    if importlib.util.find_spec("onnx"):
        import onnx

        (encoder,) = read_seeds(TARGETS["encoder"])
        models = [mutate.change_onnx(rng, encoder["model.onnx"]) for _ in range(50)]
        assert sum(_is_onnx(onnx, one) for one in models) > 30


def _is_json(data):
    json.loads(data)
    return True


def _is_onnx(onnx, data):
    try:
        onnx.ModelProto.FromString(data)
    except Exception:
        return False
    return True
