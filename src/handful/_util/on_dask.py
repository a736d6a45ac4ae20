"""Passes over rows on the workers of Dask: the one module that knows `dask.array` and `dask.delayed`.

It is loaded only where rows are far (`FarRows`). A task is a chunk of `GROUP` blocks. It gets what goes along with its
own rows, and sends back one combined result. What is kept by block stays on the workers. The scheduler is Dask's own
choice: that of the current `distributed.Client`, or what `dask.config` says, or threads.
"""

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial, reduce
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed, delayed
from numpy.typing import NDArray

from handful.errors import DataError

from .arrays import FarRows, Float, block_rows, blocks_of
from .parallel import one_blas_thread
from .passes import GROUP, Fold, Kept, keep, run_blocks

__all__ = ["Chunk", "DaskRows", "StoredRows", "chunk_rows", "far_array", "fold_chunks", "map_chunks"]


@dataclass(frozen=True)
class Chunk:
    """Rows that one task works on.

    Attributes
    ----------
    part : which rows
    item : what the task gets: the rows; something with ``load()``, which returns them; or what was kept for its blocks,
        as a list of (rows, value). Or the promise (`Delayed`) of one of these.
    block : how many rows a block has
    """

    part: slice
    item: Any
    block: int

    @property
    def n_blocks(self) -> int:
        """How many blocks there are."""
        return -(-(int(self.part.stop) - int(self.part.start)) // self.block)


def chunk_rows(dtype: Any, d: int) -> int:
    """Return how many rows of d numbers a chunk has; a `dask.array` in such chunks is not moved around."""
    return GROUP * block_rows(np.dtype(dtype), d)


class DaskRows(FarRows):
    """The rows of a `dask.array` (n, d).

    Blocks begin and end at the same rows whatever the chunks of the array are, so other chunks are made of it where
    need be.
    """

    def __init__(self, array: Any) -> None:
        if array.ndim != 2:
            raise DataError(f"Expected 2D array, got {array.ndim}D array instead: one row per word")
        if np.isnan(array.shape[0]):
            array = array.compute_chunk_sizes()
        if array.dtype not in (np.float16, np.float32, np.float64):
            array = array.astype(np.float64)
        n, d = map(int, array.shape)
        if not n or not d:
            raise DataError(f"Found array of shape ({n}, {d}), of which at least one row and one column are needed")
        self.shape = n, d
        self.dtype = array.dtype
        self._array = array

    @cached_property
    def _chunks(self) -> list[Chunk]:
        n, d = self.shape
        size = chunk_rows(self.dtype, d)
        array = self._array.rechunk({0: size, 1: -1}, method="tasks")
        items = array.to_delayed().ravel()
        block = block_rows(self.dtype, d)
        return [Chunk(slice(i * size, min(n, (i + 1) * size)), item, block) for i, item in enumerate(items)]

    def chunks(self) -> Sequence[Chunk]:
        """Return the rows in chunks of whole blocks."""
        return self._chunks

    def take(self, rows: NDArray[np.integer[Any]]) -> Float:
        """Return some rows by their numbers (m,): (m, d), in the memory of this process."""
        return _take(self, rows)


class StoredRows(FarRows):
    """Rows (n, d) in files that all workers can read.

    Parameters
    ----------
    within : called with a slice of rows; it returns something that goes to a worker, and whose ``load()`` returns
        something of which blocks of these rows can be taken there, by slices and by the numbers of rows. So not all
        of them need to be in memory.
    shape, dtype : of all rows
    """

    def __init__(self, within: Callable[[slice], Any], shape: tuple[int, int], dtype: Any) -> None:
        self.shape = shape
        self.dtype = np.dtype(dtype)
        self._within = within

    def chunks(self) -> Sequence[Chunk]:
        """Return the rows in chunks of whole blocks."""
        n, d = self.shape
        size, block = chunk_rows(self.dtype, d), block_rows(self.dtype, d)
        parts = [slice(start, min(n, start + size)) for start in range(0, n, size)]
        return [Chunk(part, self._within(part), block) for part in parts]

    def take(self, rows: NDArray[np.integer[Any]]) -> Float:
        """Return some rows by their numbers (m,): (m, d), in the memory of this process."""
        return _take(self, rows)


def map_chunks(function: Callable[..., Any], chunks: Sequence[Chunk], along: Sequence[Any]) -> list[Chunk]:
    """Call a function for each block of each chunk; what it returns stays where it is, in chunks."""
    shared = delayed(function, traverse=False)
    tasks = [_task(_map, number, chunk, along, shared) for number, chunk in enumerate(chunks)]
    return [replace(chunk, item=item) for chunk, item in zip(chunks, kept(tasks), strict=True)]


def fold_chunks(
    fold: Fold[Any],
    function: Callable[..., Any],
    combine: Callable[[Any, Any], Any],
    chunks: Sequence[Chunk],
    along: Sequence[Any],
    is_raw: bool,
) -> None:
    """Call a function for each block of each chunk, and give a fold the results, which were combined elsewhere."""
    shared = delayed((function, combine), traverse=False)
    level = [_task(_fold, number, chunk, along, shared, is_raw) for number, chunk in enumerate(chunks)]
    rest: list[tuple[int, int, Delayed]] = []  # of the last group of each level: level, how many, what
    if (n_blocks := chunks[-1].n_blocks) < GROUP:
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
    """Return a `dask.array` of what a function takes from each kept value, and of what is near, after it."""
    import dask.array as da

    shared = delayed(take, traverse=False)
    pieces = []
    for chunk in chunks:
        shape = (chunk.part.stop - chunk.part.start, *near.shape[1:])
        pieces.append(da.from_delayed(delayed(_array)(shared, chunk.item), shape, near.dtype))
    return da.concatenate([*pieces, *([da.from_array(near)] if len(near) else [])])


def _task(run: Callable[..., Any], number: int, chunk: Chunk, along: Sequence[Any], *more: Any) -> Delayed:
    """Promise to run one chunk, with what goes along with it alone."""
    part = (chunk.part.start, chunk.part.stop)
    return delayed(run)(*more, chunk.item, part, chunk.block, [_within(one, number, chunk.part) for one in along])


def _within(along: Any, number: int, part: slice) -> Any:
    if along is None:
        return None
    if isinstance(along, Kept):
        return along.far[number].item
    return _Slice(along[part], part.start) if isinstance(along, np.ndarray) else along.within(part)


@dataclass(frozen=True)
class _Slice:
    """Some rows of an array that goes along."""

    array: NDArray[Any]
    first: int

    def at(self, part: slice) -> NDArray[Any]:
        return self.array[part.start - self.first : part.stop - self.first]


# What follows is run by workers.


def _map(function: Callable[..., Any], item: Any, part: tuple[int, int], block: int, along: list[Any]) -> Any:
    with one_blas_thread():
        return list(run_blocks(partial(keep, function), _blocks(item, part[0], block), _here(along)))


def _fold(shared: tuple[Any, Any], is_raw: bool, item: Any, part: tuple[int, int], block: int, along: list[Any]) -> Any:
    function, combine = shared
    with one_blas_thread():
        return reduce(combine, run_blocks(function, _blocks(item, part[0], block, is_raw), _here(along)))


def _join(shared: tuple[Any, Any], results: list[Any]) -> Any:
    return reduce(shared[1], results)


def _array(take: Callable[[Any], NDArray[Any]], item: list[tuple[slice, Any]]) -> NDArray[Any]:
    return np.concatenate([take(value) for _, value in item])


def _blocks(item: Any, first: int, block: int, is_raw: bool = False) -> Any:
    if isinstance(item, list):
        return item
    return blocks_of(item.load() if hasattr(item, "load") else item, first, block, is_raw=is_raw)


def _here(along: list[Any]) -> list[Any]:
    return [Kept((), *zip(*one, strict=True)) if isinstance(one, list) else one for one in along]


def _take(X: FarRows, rows: NDArray[np.integer[Any]]) -> Float:  # noqa: N803
    """Gather rows from all chunks that have some."""
    chunks = X.chunks()
    size = chunk_rows(X.dtype, X.shape[1])
    of_chunk = rows // size
    numbers = np.unique(of_chunk).tolist()
    take = delayed(_rows)
    found = dask.compute(*(take(chunks[i].item, rows[of_chunk == i] - i * size) for i in numbers))
    taken = np.empty((len(rows), X.shape[1]), X.dtype)
    for i, here in zip(numbers, found, strict=True):
        taken[of_chunk == i] = here
    return taken


def _rows(item: Any, rows: NDArray[np.integer[Any]]) -> Float:
    array = item.load() if hasattr(item, "load") else item
    return np.asarray(array[rows])


# Helpers for text on Dask: other modules do without importing it.


def promise(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return the promise of a call; arguments may be promises themselves."""
    return delayed(function)(*arguments)


def share(value: Any) -> Any:
    """Return the promise of a value that many calls get: it goes to each worker once."""
    return delayed(value, traverse=False)


def kept(promises: Sequence[Any]) -> list[Any]:
    """Make all calls; what they return stays where they are made.

    Calls that need it are planned when it is there: they go to it, and it does not go to whoever is idle.
    """
    found = list(dask.persist(*promises))
    if "distributed" in sys.modules:
        from distributed import futures_of, wait

        if futures := futures_of(found):
            wait(futures)
    return found


def results(promises: Sequence[Any]) -> list[Any]:
    """Return what calls return."""
    return list(dask.compute(*promises))


def partitions(collection: Any) -> list[Any]:
    """Return the promises of the partitions of a `dask.bag` or of a column of a `dask.dataframe`."""
    return list(np.ravel(collection.to_delayed()))


def joined(pieces: Sequence[Any], n_rows: Sequence[int], d: int, dtype: Any) -> DaskRows:
    """Return the rows of promised arrays, one after the other."""
    import dask.array as da

    arrays = [da.from_delayed(piece, (n, d), dtype) for piece, n in zip(pieces, n_rows, strict=True)]
    return DaskRows(da.concatenate(arrays))
