"""The same result on Dask as in memory, to the byte: whatever the chunks, the workers and the scheduler."""

import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from made_words import made_words

from drawn import examples
from handful._util import arrays, on_dask, passes
from handful._util.arrays import Part, Rows
from handful._util.passes import ByBlock, Fold, reduce_rows
from handful.cluster import SubspaceKMeans, _select
from handful.cluster._select import mth_smallest, smallest
from handful.cluster.labels import Weights
from handful.errors import DataError

dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")

MODES = pytest.mark.parametrize("assignment", ["hard", "soft"])


@pytest.fixture
def _small(monkeypatch):
    """Blocks of 64 rows and chunks of 4 blocks, so that there are many of both."""
    monkeypatch.setattr(arrays, "BLOCK_BYTES", 1)
    monkeypatch.setattr(passes, "GROUP", 4)
    monkeypatch.setattr(on_dask, "GROUP", 4)


def problem(dtype=np.float32, n=1500):
    X, y, _ = made_words(n=n, d=12, apart=1.0)
    weights = np.where(y < 0, 1.0, 7.3)
    return X.astype(dtype), y, weights


def found(model):
    names = ("prototypes_", "projection_", "labels_", "tags_", "objective_", "responsibilities_")
    return {name: np.asarray(getattr(model, name)).tobytes() for name in names if hasattr(model, name)} | {
        "o_share_": model.o_share_,
        "n_iter_": model.n_iter_,
    }


@pytest.mark.parametrize(
    ("assignment", "dtype", "ratio"),
    [
        ("hard", np.float16, 0.7),
        ("hard", np.float32, None),
        ("hard", np.float64, 0.7),
        ("soft", np.float16, None),
        ("soft", np.float32, 0.7),
    ],
)
@pytest.mark.usefixtures("_small")
def test_a_fit_on_threads_of_dask_is_that_in_memory(assignment, dtype, ratio):
    X, y, weights = problem(dtype)
    model = SubspaceKMeans(ratio, assignment=assignment)
    near = found(model.fit(X, y, sample_weight=weights))
    fitted = model.fit(da.from_array(X, chunks=(700, 5)), y, sample_weight=weights)
    assert isinstance(fitted.labels_, da.Array)
    assert isinstance(fitted.tags_, da.Array)
    assert found(fitted) == near
    if ratio is not None:
        assert fitted.o_share_ == pytest.approx(ratio)


@examples(4)
@given(
    st.lists(st.integers(1, 900), min_size=1, max_size=6),
    st.sampled_from(["synchronous", "threads"]),
    st.sampled_from(["hard", "soft"]),
)
def test_chunks_change_no_byte(sizes, scheduler, assignment):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrays, "BLOCK_BYTES", 1)
        patch.setattr(passes, "GROUP", 4)
        patch.setattr(on_dask, "GROUP", 4)
        X, y, weights = problem(n=sum(sizes) + 200)
        model = SubspaceKMeans(0.7, assignment=assignment, max_iter=4)
        near = found(model.fit(X, y, sample_weight=weights))
        with dask.config.set(scheduler=scheduler):
            far = da.from_array(X, chunks=((*sizes, 200), (12,)))
            assert found(model.fit(far, y, sample_weight=weights)) == near


@pytest.mark.usefixtures("_small")
def test_a_fit_on_processes_is_that_in_memory():
    X, y, weights = problem(n=1500)
    model = SubspaceKMeans(0.7, max_iter=2)
    near = found(model.fit(X, y, sample_weight=weights))
    far = da.from_array(X, chunks=(400, 12))
    with (
        ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool,
        dask.config.set(scheduler="processes", pool=pool),
    ):
        assert found(model.fit(far, y, sample_weight=weights)) == near


@MODES
@pytest.mark.usefixtures("_small")
def test_a_worker_that_is_killed_in_a_fit_changes_no_byte(assignment, client):
    X, y, weights = problem()
    model = SubspaceKMeans(0.7, assignment=assignment, max_iter=4)
    near = found(model.fit(X, y, sample_weight=weights))
    killed = []

    def kill_one(round_):
        if round_.number == 2:
            address, pid = next(iter(client.run(os.getpid).items()))
            os.kill(pid, signal.SIGKILL)
            killed.append(address)

    far = da.from_array(X, chunks=(500, 12))
    assert found(model.fit(far, y, sample_weight=weights, callback=kill_one)) == near
    assert killed


def test_rows_of_a_dask_array_are_gathered_by_number():
    X = np.random.default_rng(0).normal(size=(50, 3))
    far = Rows([Part(on_dask.dask_rows(da.from_array(X, chunks=7))), Part(X[:4])])
    rows = np.array([53, 0, 49, 7, 7, 52, 20])
    np.testing.assert_array_equal(far[rows], np.concatenate([X, X[:4]])[rows])
    assert far.shape == (54, 3)


@pytest.mark.usefixtures("_small")
def test_what_is_near_comes_after_what_is_far_in_the_same_order_of_sums():
    X = np.random.default_rng(0).normal(size=(2000, 3))
    both = Rows([Part(on_dask.dask_rows(da.from_array(X[:1500], chunks=200))), Part(X[1500:])])
    near = Rows([Part(X[:1500]), Part(X[1500:])])
    rows = Weights.of(np.arange(2000.0))

    def sums(where, block, numbers):
        assert (numbers == np.arange(where.start, where.stop)).all()
        return block.sum(axis=0)

    assert reduce_rows(sums, np.add, both, rows).tobytes() == reduce_rows(sums, np.add, near, rows).tobytes()


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones(3), "Expected 2D array"),
        (np.ones((0, 3)), "at least one row"),
        (np.array([[1.0, np.nan], [0, 1]]), "NaN at row 0, column 1"),
    ],
)
def test_a_dask_array_that_cannot_be_used_is_refused(array, message):
    with pytest.raises(DataError, match=message):
        SubspaceKMeans().fit(da.from_array(array), np.arange(len(array)) % 2)


def test_a_dask_array_of_unknown_length_and_of_whole_numbers():
    X, y, _ = problem(np.float64, n=300)
    X = np.round(X * 10)
    near = found(SubspaceKMeans(0.7, max_iter=2).fit(X.astype(int), y))
    far = da.from_array(X.astype(int), chunks=100)
    unknown = far[da.ones(300, chunks=100, dtype=bool)]
    assert np.isnan(unknown.shape[0])
    assert found(SubspaceKMeans(0.7, max_iter=2).fit(unknown, y)) == near


def test_predictions_for_a_dask_array():
    X, y, _ = problem(n=400)
    model = SubspaceKMeans(0.7, max_iter=2).fit(X, y)
    far = da.from_array(X, chunks=(90, 4))
    for name in ("predict", "predict_proba", "transform"):
        near, there = getattr(model, name)(X), getattr(model, name)(far)
        assert isinstance(there, da.Array)
        assert there.shape == near.shape
        assert there.dtype == near.dtype
        np.testing.assert_allclose(there.compute(), near, rtol=1e-5)


@given(st.integers(1, 200), st.integers(2, 5))
def test_a_fold_takes_whole_groups_from_elsewhere(n, size):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(passes, "GROUP", size)
        one, other = Fold(lambda a, b: f"({a}{b})"), Fold(lambda a, b: f"({a}{b})")
        letters = [chr(200 + i) for i in range(n)]
        for letter in letters:
            one.add(letter)
        for start in range(0, n, size):
            group = letters[start : start + size]
            joined = group[0]
            for letter in group[1:]:
                joined = f"({joined}{letter})"
            other.add(joined, *((1, 1) if len(group) == size else (0, len(group))))
        assert one.result() == other.result()
        assert [letter for letter in one.result() if letter not in "()"] == letters


VALUES = st.sampled_from([-np.inf, np.inf, 0.0, -0.0, 1.0, -1.0, 1.5, 5e-324, -5e-324, 1e300]) | st.floats(-9, 9)


@given(st.lists(VALUES, min_size=2, max_size=300), st.data(), st.booleans())
def test_the_smallest_values_over_blocks_are_those_of_a_stable_sort(values, data, is_gathered):
    values = np.array(values)
    n = len(values)
    m = data.draw(st.integers(1, n - 1))
    cuts = sorted(data.draw(st.lists(st.integers(0, n), max_size=4)))
    blocks = [slice(a, b) for a, b in zip([0, *cuts], [*cuts, n], strict=True)]
    results = ByBlock(blocks, [values[where] for where in blocks])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_select, "FEW", 1 << 13 if is_gathered else 1)
        cut = smallest(results, lambda one: one, m, n)
        mth = mth_smallest(results, lambda one: one, m, n)
    order = np.argsort(values, kind="stable")
    chosen = np.concatenate([cut.chosen(where, values[where]) for where in blocks])
    assert np.flatnonzero(chosen).tolist() == sorted(order[:m].tolist())
    assert mth == values[order[m - 1]]
