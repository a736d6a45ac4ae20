"""A, against linear programs, brute force and long runs of Bregman projections."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from drawn import examples
from handful._util.passes import ByBlock
from handful.cluster._assign import entropy, hard, soft
from handful.cluster._distances import nearest
from handful.cluster.checks import wanted_o
from handful.errors import RatioError

SEEDS = st.integers(0, 2**32 - 1)


def made_problem(seed, n=12, k=5, whole_numbers=False):
    """Return distances with some entries forbidden, and which prototypes are O; whole numbers give many ties."""
    rng = np.random.default_rng(seed)
    D = rng.integers(0, 4, (n, k)).astype(float) if whole_numbers else 4 * rng.random((n, k))
    is_o = np.zeros(k, bool)
    is_o[: rng.integers(1, k)] = True
    for i in range(n):
        kind = rng.integers(6)
        if kind == 0:
            D[i, is_o] = np.inf  # an entity for sure
        elif kind == 1:
            D[i, ~is_o] = np.inf  # O for sure
        elif kind == 2:
            D[i, rng.permutation(k)[: rng.integers(0, k)]] = np.inf
    return D, is_o


def assign_hard(D, is_o, n_o=None):
    return hard(ByBlock.of(D, len(D)), is_o, n_o).values[0].astype(int)


def assign_soft(D, is_o, mass_o=None, **options):
    return soft(ByBlock.of(D, len(D)), is_o, mass_o, **options).values[0]


def feasible_counts(D, is_o):
    only_o = np.isinf(D[:, ~is_o]).all(axis=1).sum()
    only_entity = np.isinf(D[:, is_o]).all(axis=1).sum()
    return int(only_o), int(len(D) - only_entity)


def linear_program(D, is_o, n_o):
    n, k = D.shape
    rows = np.kron(np.eye(n), np.ones(k))
    ratio = np.tile(is_o.astype(float), n)
    found = linprog(
        np.where(np.isinf(D), 0, D).ravel(),
        A_eq=np.vstack([rows, ratio]),
        b_eq=np.r_[np.ones(n), n_o],
        bounds=[(0, 0 if np.isinf(x) else 1) for x in D.ravel()],
    )
    assert found.status == 0, found.message
    return found.fun


def bregman(D, is_o, mass_o, temperature):
    """Alternate the two KL projections of the paper, rows that sum to one and O's mass, until nothing moves."""
    A = np.exp(-(D - D.min(axis=1, keepdims=True)) / temperature)
    for _ in range(100_000):
        before = A.copy()
        A[:, is_o] *= mass_o / A[:, is_o].sum()
        A[:, ~is_o] *= (len(D) - mass_o) / A[:, ~is_o].sum()
        A /= A.sum(axis=1, keepdims=True)
        if np.abs(A - before).max() < 1e-13:
            return A
    raise AssertionError("Bregman projections did not converge: make the test's problem easier")


@given(SEEDS, st.booleans())
def test_hard_without_ratio_is_the_argmin_with_ties_to_the_lowest(seed, whole_numbers):
    D, is_o = made_problem(seed, whole_numbers=whole_numbers)
    expected = [min(range(D.shape[1]), key=lambda j, row=row: (row[j], j)) for row in D]
    assert assign_hard(D, is_o).tolist() == expected
    assert nearest(D)[1].tolist() == D.min(axis=1).tolist()


@given(SEEDS, st.booleans(), st.data())
def test_hard_with_ratio_reaches_the_linear_program(seed, whole_numbers, data):
    D, is_o = made_problem(seed, whole_numbers=whole_numbers)
    n_o = data.draw(st.integers(*feasible_counts(D, is_o)))
    labels = assign_hard(D, is_o, n_o)
    cost = D[np.arange(len(D)), labels].sum()
    assert np.isfinite(cost), "an assignment that is not allowed"
    assert is_o[labels].sum() == n_o
    assert cost == pytest.approx(linear_program(D, is_o, n_o), abs=1e-7)


def test_hard_ties_go_to_the_lowest_word():
    D = np.tile([1.0, 2.0], (6, 1))
    labels = assign_hard(D, np.array([True, False]), 4)
    assert labels.tolist() == [0, 0, 0, 0, 1, 1]


def test_hard_with_ratio_by_brute_force_over_all_assignments():
    D, is_o = made_problem(3, n=6, k=3)
    low, high = feasible_counts(D, is_o)
    assert low < high
    for n_o in range(low, high + 1):
        best = min(
            sum(D[i, j] for i, j in enumerate(choice))
            for choice in itertools.product(range(3), repeat=6)
            if sum(is_o[list(choice)]) == n_o
        )
        labels = assign_hard(D, is_o, n_o)
        assert D[np.arange(6), labels].sum() == pytest.approx(best)


@given(SEEDS, st.floats(0.3, 3))
def test_soft_without_ratio_minimises_distance_plus_entropy(seed, temperature):
    D, is_o = made_problem(seed)
    A = assign_soft(D.copy(), is_o, temperature=temperature)
    weights = np.array([[np.exp(-x / temperature) for x in row] for row in D])
    np.testing.assert_allclose(A, weights / weights.sum(axis=1, keepdims=True), atol=1e-12)


@examples(8)
@given(SEEDS, st.floats(0.05, 0.95), st.floats(0.5, 3))
def test_soft_with_ratio_equals_long_bregman(seed, where, temperature):
    D, is_o = made_problem(seed)
    low, high = feasible_counts(D, is_o)
    if low == high:
        return
    mass = low + where * (high - low)
    A = assign_soft(D.copy(), is_o, mass, temperature=temperature)
    np.testing.assert_allclose(A, bregman(D, is_o, mass, temperature), atol=1e-6)


@given(SEEDS, st.floats(0, 1), st.sampled_from([1e-12, 1e-6, 1e-2, 1.0, 1e3]), st.sampled_from([1.0, 1e9, 1e-9]))
def test_soft_with_ratio_meets_every_constraint_at_any_scale(seed, where, temperature, scale):
    D, is_o = made_problem(seed, n=50)
    D *= scale
    low, high = feasible_counts(D, is_o)
    mass = low + where * (high - low)
    A = assign_soft(D.copy(), is_o, mass, temperature=temperature)
    assert (A >= 0).all()
    assert not A[np.isinf(D)].any()
    np.testing.assert_allclose(A.sum(axis=1), 1, rtol=1e-12)
    assert A[:, is_o].sum() == pytest.approx(mass, rel=1e-9, abs=1e-9)


def test_soft_with_tied_words_at_a_temperature_near_zero_still_meets_the_ratio():
    D = np.tile([1e6, 2e6], (10, 1))
    A = assign_soft(D.copy(), np.array([True, False]), 3.3, temperature=1e-9)
    assert A[:, 0].sum() == pytest.approx(3.3, rel=1e-9)


def test_soft_at_the_edge_of_feasibility_sends_every_free_word_to_one_side():
    D, is_o = made_problem(5, n=20)
    low, high = feasible_counts(D, is_o)
    free = ~np.isinf(D[:, is_o]).all(axis=1) & ~np.isinf(D[:, ~is_o]).all(axis=1)
    assert free.any()
    assert not assign_soft(D.copy(), is_o, low)[free][:, is_o].any()
    assert not assign_soft(D.copy(), is_o, high)[free][:, ~is_o].any()


@given(SEEDS)
def test_entropy_is_the_sum_of_a_log_a(seed):
    D, is_o = made_problem(seed)
    A = assign_soft(D, is_o)
    expected = sum(a * np.log(a) for a in A.ravel() if a > 0)
    assert entropy(A) == pytest.approx(expected, abs=1e-11)


def test_a_ratio_asks_for_the_nearest_whole_number_of_words():
    assert wanted_o(0.25, 10, 0, 0, is_soft=False) == 3  # half goes up
    assert wanted_o(0.24, 10, 0, 0, is_soft=False) == 2
    assert wanted_o(0.25, 10, 0, 0, is_soft=True) == 2.5


@pytest.mark.parametrize("is_soft", [False, True])
@pytest.mark.parametrize("ratio", [0.2, 0.9])
def test_an_impossible_ratio_says_the_counts_and_the_range(ratio, is_soft):
    with pytest.raises(
        RatioError, match=r"o_ratio=.* among 100, .* 30 words O and 20 words entities.* between 0.3 and 0.8"
    ):
        wanted_o(ratio, 100, 30, 20, is_soft=is_soft)


@pytest.mark.parametrize("is_soft", [False, True])
@pytest.mark.parametrize("ratio", [0.3, 0.8])
def test_the_ends_of_the_range_are_possible(ratio, is_soft):
    assert wanted_o(ratio, 100, 30, 20, is_soft=is_soft) == pytest.approx(100 * ratio)
