"""Paired differences against slow direct computations."""

import sys
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from handful.bench import Settings, transfer
from handful.bench._board import make_board
from handful.bench._methods import Variant

from .made import MadeEncoder, corpus_folder

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
if not BENCHMARKS.exists():
    pytest.skip("the benchmarks are not part of a release", allow_module_level=True)
sys.path.insert(0, str(BENCHMARKS))
from differences import compare, differences, read_board, reference_line  # noqa: E402


def mean_of_means(groups):
    return sum(sum(group) / len(group) for group in groups) / len(groups)


@pytest.mark.parametrize("groups", [[[1.0, -0.5, 2.0, 0.3]], [[1.0, 2.0, -3.0], [0.5, 0.25, 4.0, -1.0]], [[0.0, 0.0]]])
def test_the_sign_flip_test_tries_all_signs(groups):
    observed = abs(mean_of_means(groups))
    far = []
    for signs in product((1, -1), repeat=sum(map(len, groups))):
        signs = list(signs)
        flipped = [[signs.pop() * d for d in group] for group in groups]
        far.append(abs(mean_of_means(flipped)) >= observed - 1e-12)
    mean, _, _, p = compare(groups)
    assert mean == pytest.approx(mean_of_means(groups))
    assert p == pytest.approx(sum(far) / len(far))


def test_many_differences_are_flipped_at_random_and_come_near_the_exact_answer():
    rng = np.random.default_rng(5)
    d = rng.normal(0.35, 1, size=16)
    sums = np.zeros(1)
    for value in d:  # the exact distribution of all 2^16 sums
        sums = np.concatenate([sums + value, sums - value])
    exact = np.mean(np.abs(sums) >= abs(d.sum()) - 1e-12)
    assert compare([d])[3] == pytest.approx(exact, abs=0.02)
    assert compare([d]) == compare([d])
    assert compare([d], seed=1) != compare([d], seed=0)


def test_the_bootstrap_draws_within_targets():
    rng = np.random.default_rng(3)
    groups = [rng.normal(1, 2, size=10), rng.normal(-1, 1, size=7)]
    draw = np.random.default_rng(11)
    means = []
    for _ in range(4000):  # one draw at a time
        drawn = [[group[draw.integers(len(group))] for _ in group] for group in groups]
        means.append(mean_of_means(drawn))
    _, low, high, _ = compare(groups)
    assert [low, high] == pytest.approx(np.quantile(means, [0.025, 0.975]), abs=0.06)


def rows(method, ratio, values):
    return [
        {
            "method": method, "o_ratio": ratio, "text": "all", "shots": 1, "target": target, "support": str(i),
            "o_ratio_given": None, "f1": f1, "error": None,
        }
        for target, found in values.items()
        for i, f1 in enumerate(found)
    ]  # fmt: skip


def test_differences_pair_supports_and_are_for_each_target_and_all():
    variants = [Variant("proto"), Variant("handful", "auto")]
    proto, ours = {"a": [0.5, 0.4], "b": [0.2, 0.3]}, {"a": [0.6, 0.45], "b": [0.1, 0.4]}
    board = make_board(rows("proto", "", proto) + rows("handful", "auto", ours)[::-1], variants, [1], ["a", "b"])
    found = {one.target: one for one in differences(board)}
    assert {name: (round(one.mean, 9), one.n) for name, one in found.items()} == {
        "a": (7.5, 2), "b": (0.0, 2), "all": (3.75, 4),
    }  # fmt: skip
    assert (found["all"].method, found["all"].other) == ("handful, r_O = auto", "proto")


def test_without_the_default_our_best_line_is_compared():
    variants = [Variant("proto"), Variant("hard", "none"), Variant("hard", "0.9")]
    made = rows("proto", "", {"a": [0.9]}) + rows("hard", "none", {"a": [0.2]}) + rows("hard", "0.9", {"a": [0.4]})
    board = make_board(made, variants, [1], ["a"])
    assert {one.method for one in differences(board)} == {"Hard clustering, r_O = 0.9"}
    assert reference_line(make_board(made[:1], variants[:1], [1], ["a"])) is None


def test_a_report_is_read_and_a_single_run_has_no_interval(tmp_path):
    settings = Settings(methods=("proto", "nnshot", "hard"), o_ratios=("none",), shots=(1,), sets=1)
    folder = corpus_folder(tmp_path / "made")
    report = transfer([folder], report=tmp_path / "report", encoder=MadeEncoder(), settings=settings)
    board = read_board(tmp_path / "report")
    assert [(line.name, line.figures) for line in board.lines] == [
        (one.name, one.figures) for one in report.board.lines
    ]
    found = differences(board)
    assert {one.other for one in found} == {"proto", "nnshot"}
    assert {(one.low, one.high, one.n, one.p) for one in found} == {(None, None, 1, 1.0)}
