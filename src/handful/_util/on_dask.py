"""Passes over rows on the workers of Dask: the one module of the algorithm that knows Dask.

It is loaded only where rows are far. A task is a chunk of `GROUP` blocks: a worker makes the same pass over it that a
process makes over rows in its memory. It gets what goes along with its own rows, and sends back one combined result.
Results by block stay on the workers. The scheduler is Dask's own choice: that of the current `distributed.Client`, or
what `dask.config` says, or threads.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed, delayed
from numpy.typing import NDArray

from handful.errors import DataError

from .arrays import Chunk, FarRows, Float, block_rows
from .parallel import one_blas_thread
from .passes import GROUP, ByBlock, Fold, map_rows, reduce_rows


def chunk_rows(dtype: Any, d: int) -> int:
    """Return how many rows of d numbers a chunk has; a `dask.array` in such chunks is not moved around."""
    return GROUP * block_rows(np.dtype(dtype), d)


def dask_rows(array: Any) -> FarRows:
    """Return the rows of a `dask.array` (n, d).

    Blocks begin and end at the same rows whatever the chunks of the array are, so other chunks are made of it where
    need be.
    """
    if array.ndim != 2:
        raise DataError(f"Expected 2D array, got {array.ndim}D array instead: one row per word")
    if np.isnan(array.shape[0]):
        array = array.compute_chunk_sizes()
    if array.dtype not in (np.float16, np.float32, np.float64):
        array = array.astype(np.float64)
    n, d = map(int, array.shape)
    if not n or not d:
        raise DataError(f"Found array of shape ({n}, {d}), of which at least one row and one column are needed")
    size = chunk_rows(array.dtype, d)
    items = array.rechunk({0: size, 1: -1}, method="tasks").to_delayed().ravel()
    return stored_rows(lambda where: items[where.start // size], (n, d), array.dtype)


def stored_rows(within: Callable[[slice], Any], shape: tuple[int, int], dtype: Any) -> FarRows:
    """Return rows (n, d) that all workers can read.

    `within` is called with a slice of rows, and returns the `item` of their `Chunk`. Its ``load()``, if it has one, may
    return anything that gives blocks of these rows by slices, and rows by their numbers: not all of them need to be in
    memory.
    """
    (n, d), dtype = shape, np.dtype(dtype)
    size = chunk_rows(dtype, d)
    places = [slice(start, min(n, start + size)) for start in range(0, n, size)]
    return FarRows(shape, dtype, [Chunk(where, within(where), block_rows(dtype, d)) for where in places])


def gather(X: FarRows, rows: NDArray[np.integer[Any]]) -> Float:  # noqa: N803
    """Return some rows by their numbers (m,), from all chunks that have some: (m, d)."""
    size = chunk_rows(X.dtype, X.shape[1])
    of_chunk = rows // size
    numbers = np.unique(of_chunk).tolist()
    found = dask.compute(*(delayed(_rows)(X.chunks[i].item, rows[of_chunk == i] - i * size) for i in numbers))
    taken = np.empty((len(rows), X.shape[1]), X.dtype)
    for i, here in zip(numbers, found, strict=True):
        taken[of_chunk == i] = here
    return taken


def map_chunks(function: Callable[..., Any], chunks: Sequence[Chunk], along: Sequence[Any]) -> list[Chunk]:
    """Call a function for each block of each chunk; the results stay where they are, in chunks."""
    shared = delayed(function, traverse=False)
    tasks = [_task(_map, shared, number, chunk, along) for number, chunk in enumerate(chunks)]
    return [replace(chunk, item=item) for chunk, item in zip(chunks, persisted(tasks), strict=True)]


def fold_chunks(
    fold: Fold[Any],
    function: Callable[..., Any],
    combine: Callable[[Any, Any], Any],
    chunks: Sequence[Chunk],
    along: Sequence[Any],
    is_raw: bool,
) -> None:
    """Call a function for each block of each chunk, and give a fold the results, which were combined elsewhere."""
    shared = delayed((function, combine, is_raw), traverse=False)
    level = [_task(_fold, shared, number, chunk, along) for number, chunk in enumerate(chunks)]
    rest: list[tuple[int, int, Delayed]] = []  # the last group of each level: level, how many, and the result
    last = chunks[-1]
    if (n_blocks := len(range(last.where.start, last.where.stop, last.size))) < GROUP:
        rest.append((0, n_blocks, level.pop()))
    number = 1
    join = delayed(_join)
    while level:
        whole = len(level) // GROUP * GROUP
        if level[whole:]:
            rest.append((number, len(level) - whole, join(shared, level[whole:])))
        level = [join(shared, level[start : start + GROUP]) for start in range(0, whole, GROUP)]
        number += 1
    results = dask.compute(*(result for _, _, result in reversed(rest)))
    for (number, n, _), result in zip(reversed(rest), results, strict=True):
        fold.add(result, number, n)


def far_array(chunks: Sequence[Chunk], take: Callable[[Any], NDArray[Any]], near: NDArray[Any]) -> Any:
    """Return a `dask.array` of what a function takes from each result that is far, and of what is near, after it."""
    import dask.array as da

    shared = delayed(take, traverse=False)
    pieces = []
    for chunk in chunks:
        shape = (chunk.where.stop - chunk.where.start, *near.shape[1:])
        pieces.append(da.from_delayed(delayed(_array)(shared, chunk.item), shape, near.dtype))
    return da.concatenate([*pieces, *([da.from_array(near)] if len(near) else [])])


def persisted(promises: Sequence[Any]) -> list[Any]:
    """Make all calls; their results stay where they are made.

    Calls that need a result are planned when it is there: they go to it, and it does not go to whoever is idle.
    """
    found = list(dask.persist(*promises))
    if "distributed" in sys.modules:
        from distributed import futures_of, wait

        if futures := futures_of(found):
            wait(futures)
    return found


def _task(run: Callable[..., Any], shared: Any, number: int, chunk: Chunk, along: Sequence[Any]) -> Delayed:
    """Promise to run one chunk, with what goes along with it alone."""
    here = [
        one.far[number].item if isinstance(one, ByBlock) else None if one is None else one.within(chunk.where)
        for one in along
    ]
    return delayed(run)(shared, chunk, here)


# The rest is run by workers. Promises in their arguments are kept by then.


def _map(function: Callable[..., Any], chunk: Chunk, along: list[Any]) -> ByBlock[Any]:
    with one_blas_thread():
        return map_rows(function, _source(chunk), *along)


def _fold(shared: tuple[Any, ...], chunk: Chunk, along: list[Any]) -> Any:
    function, combine, is_raw = shared
    with one_blas_thread():
        return reduce_rows(function, combine, _source(chunk), *along, is_raw=is_raw)


def _source(chunk: Chunk) -> Chunk | ByBlock[Any]:
    return chunk.item if isinstance(chunk.item, ByBlock) else chunk


def _join(shared: tuple[Any, ...], results: list[Any]) -> Any:
    return reduce(shared[1], results)


def _array(take: Callable[[Any], NDArray[Any]], results: ByBlock[Any]) -> NDArray[Any]:
    return np.concatenate([take(value) for value in results.values])


def _rows(item: Any, rows: NDArray[np.integer[Any]]) -> Float:
    array = item.load() if hasattr(item, "load") else item
    return np.asarray(array[rows])
