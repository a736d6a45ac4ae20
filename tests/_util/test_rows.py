"""Rows in several arrays, and passes over them in several threads."""

import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from handful._util import arrays, parallel
from handful._util.arrays import Part, Rows, row_blocks, thin_sums
from handful._util.parallel import several_threads
from handful._util.passes import GROUP, map_rows, reduce_rows


def made(*sizes, d=3, dtype=np.float32):
    rng = np.random.default_rng(0)
    return [rng.normal(size=(n, d)).astype(dtype) for n in sizes]


def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def test_rows_of_several_arrays_are_read_like_one():
    several = made(5, 0, 3, 1)
    X, whole = Rows([Part(array) for array in several]), np.concatenate(several)
    assert X.shape == whole.shape == (len(X), 3)
    assert X.dtype == whole.dtype
    rows = np.array([8, 0, 4, 5, 5, 7, 2])
    assert X[rows].tobytes() == whole[rows].tobytes()
    assert X[np.empty(0, int)].shape == (0, 3)
    only = Rows([Part(whole)])
    assert only[rows].tobytes() == whole[rows].tobytes()


def test_rows_of_several_kinds_of_numbers():
    single, double = made(2)[0], made(2, dtype=np.float64)[0]
    X = Rows([Part(single), Part(double)])
    assert X.dtype == np.float64
    np.testing.assert_array_equal(X[np.array([3, 0])], [double[1], single[0]])


def test_blocks_end_where_arrays_end(monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK_BYTES", 64 * 3 * 4)
    several = made(100, 0, 70)
    found = list(row_blocks(Rows([Part(array) for array in several])))
    assert [(part.start, part.stop) for part, _ in found] == [(0, 64), (64, 100), (100, 164), (164, 170)]
    assert np.shares_memory(found[1][1], several[0])
    np.testing.assert_array_equal(np.concatenate([block for _, block in found]), np.concatenate(several))


def test_what_is_known_of_a_part_is_computed_once_for_each_key():
    part, calls = Part(made(2)[0]), []

    def compute(value):
        calls.append(value)
        return value

    assert [part.once("sum", 1, lambda: compute("a")) for _ in range(3)] == ["a"] * 3
    assert part.once("mean", 1, lambda: compute("b")) == "b"
    assert part.once("sum", 2, lambda: compute("c")) == "c"
    assert part.once("sum", 1, lambda: compute("d")) == "d"  # the last key alone is kept
    assert calls == ["a", "b", "c", "d"]


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_blocks_come_in_order_from_any_number_of_threads(monkeypatch, n_threads):
    monkeypatch.setattr(arrays, "BLOCK_BYTES", 64 * 3 * 4)
    monkeypatch.setattr(parallel, "usable_threads", lambda: n_threads)
    (X,) = made(5000)
    seen = set()

    def sums(part, block):
        seen.add(threading.get_ident())
        return part.start, block.sum()

    with threadpool_limits(3), several_threads():
        assert blas_threads() == {1}
        found = map_rows(sums, X).values
    assert found == [(part.start, block.sum()) for part, block in row_blocks(X)]
    assert len(seen) <= n_threads
    assert (threading.get_ident() in seen) == (n_threads == 1)


def test_blas_gets_its_threads_back_and_says_how_many_there_may_be(monkeypatch):
    monkeypatch.setattr(parallel, "usable_threads", lambda: 4)

    @several_threads()
    def fail():
        threads = parallel._threads.get()
        assert threads[0] == 2
        with several_threads():
            assert parallel._threads.get() is threads
        assert blas_threads() == {1}
        raise ZeroDivisionError

    with threadpool_limits(2):
        before = blas_threads()
        with pytest.raises(ZeroDivisionError):
            fail()
        assert blas_threads() == before
    assert parallel._threads.get() is None
    with threadpool_limits(1), several_threads():
        assert parallel._threads.get()[0] == 1


def test_an_error_in_a_thread_is_raised(monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK_BYTES", 64 * 3 * 4)
    monkeypatch.setattr(parallel, "usable_threads", lambda: 2)
    (X,) = made(1000)
    with threadpool_limits(2), several_threads(), pytest.raises(ZeroDivisionError):
        map_rows(lambda where, block: 1 // (where.start - 128), X)


def test_threads_stay_until_the_end_and_an_error_leaves_none_at_work(monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK_BYTES", 64 * 3 * 4)
    monkeypatch.setattr(parallel, "usable_threads", lambda: 2)
    (X,) = made(5000)
    seen, at_work = set(), []

    def look(part, block):
        seen.add(threading.current_thread())
        at_work.append(part)
        time.sleep(0.001)
        at_work.remove(part)
        return 1 // (part.start - 128)

    with threadpool_limits(2), several_threads():
        for _ in range(3):
            with pytest.raises(ZeroDivisionError):
                map_rows(look, X)
            assert not at_work
        assert len(seen) == 2
        assert all(thread.is_alive() for thread in seen)
    assert not any(thread.is_alive() for thread in seen)


@pytest.mark.parametrize("n_threads", [1, 2])
def test_what_is_kept_of_blocks_is_looked_at_by_groups_of_blocks(monkeypatch, n_threads):
    monkeypatch.setattr(arrays, "BLOCK_BYTES", 64 * 3 * 4)
    monkeypatch.setattr(parallel, "usable_threads", lambda: n_threads)
    few, many = made(64 * GROUP, 64 * 2 * GROUP + 1)
    for X, is_here in ((few, True), (many, n_threads == 1)):
        seen = set()

        def least(part, sums, _seen=seen):
            _seen.add(threading.get_ident())
            return part.start, sums.min()

        with threadpool_limits(2), several_threads():
            kept = map_rows(lambda _, block: block.sum(axis=1), X)
            found = reduce_rows(lambda part, sums, least=least: [least(part, sums)], list.__add__, kept)
        assert found == [(part.start, block.sum(axis=1).min()) for part, block in row_blocks(X)]
        assert (threading.get_ident() in seen) == is_here


@pytest.mark.parametrize("n", [0, 1, 80, 500])
@pytest.mark.parametrize(("d", "k"), [(768, 16), (768, 200), (3, 2)])
def test_thin_sums_are_a_product(n, d, k):
    rng = np.random.default_rng(n)
    block, W = rng.standard_normal((n, d), np.float32), rng.standard_normal((n, k), np.float32)
    found = thin_sums(block, W)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, W.T.astype(float) @ block.astype(float), atol=1e-4)
