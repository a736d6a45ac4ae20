"""Kinds of arrays, and their blocks of rows; `passes` says what parts, blocks and chunks are."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.floating]
Result = TypeVar("Result")

SMALL = 1_000_000  # multiplications: OpenBLAS computes so small a product without copying its matrices first
THIN = 48  # rows of such a product; it takes 12 at a time
BLOCK_BYTES = 1 << 23  # a block and a scratch copy of it stay in the last cache of most machines


@dataclass(frozen=True)
class Chunk:
    """Rows that are read in blocks of `size` rows, by one process.

    `item` is the rows, something with ``load()`` that returns them, or the results for their blocks (`ByBlock`). Where
    the chunk is far it may be the promise (`Delayed`) of one of these.
    """

    where: slice
    item: Any
    size: int


@dataclass(frozen=True)
class FarRows:
    """Rows (n, d) that are not in the memory of this process: the workers of Dask read them (`on_dask`).

    All chunks have the same number of whole blocks; the last may have fewer.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    chunks: Sequence[Chunk]

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: NDArray[np.integer[Any]]) -> Float:
        """Bring some rows, by their numbers (m,), into the memory of this process: (m, d)."""
        from .on_dask import gather

        return gather(self, rows)


class Part:
    """Rows (n, d) that stay as they are, with what was found out about them."""

    def __init__(self, array: Float | FarRows) -> None:
        self.array = array
        self._known: dict[str, tuple[Hashable, Any]] = {}

    def once(self, what: str, key: Hashable, compute: Callable[[], Result]) -> Result:
        """Return what `compute` does; it is called again only when the key is another than the last time."""
        if what not in self._known or self._known[what][0] != key:
            self._known[what] = key, compute()
        result: Result = self._known[what][1]
        return result


class Rows:
    """Rows (n, d) in several arrays, one after the other: they are read like one array, and not copied."""

    def __init__(self, parts: Sequence[Part]) -> None:
        self.parts = tuple(parts)
        assert not any(isinstance(part.array, FarRows) for part in self.parts[1:]), "only the first part may be far"
        self._starts = np.cumsum([0, *(len(part.array) for part in self.parts)])

    def __len__(self) -> int:
        return int(self._starts[-1])

    @property
    def far(self) -> Sequence[Chunk]:
        """The chunks of the part that is far, if any."""
        first = self.parts[0].array
        return first.chunks if isinstance(first, FarRows) else ()

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows there are, and how many numbers each has."""
        return len(self), int(self.parts[0].array.shape[1])

    @property
    def dtype(self) -> np.dtype[Any]:
        """The kind of numbers that all parts fit into."""
        return np.result_type(*(part.array.dtype for part in self.parts))

    def __getitem__(self, rows: NDArray[np.integer[Any]] | slice) -> Float:
        """Return some rows by their numbers (m,), which are those of rows that there are, or by a slice: (m, d).

        A slice of one part is not copied. Slices are of rows that are near.
        """
        if isinstance(rows, slice):
            pieces = [
                part.array[max(0, rows.start - first) : max(0, rows.stop - first)]  # type: ignore[index]
                for part, first in zip(self.parts, self._starts, strict=False)
            ]
            some = [piece for piece in pieces if len(piece)] or pieces[:1]
            return some[0] if len(some) == 1 else np.concatenate(some)
        taken = np.empty((len(rows), self.shape[1]), self.dtype)
        of_part = np.searchsorted(self._starts[1:], rows, side="right")
        ends = np.flatnonzero(np.diff(of_part, append=-1)) + 1  # of runs of rows in one part
        for start, end in zip([0, *ends], ends, strict=False):
            here = rows[start:end] - self._starts[of_part[start]]
            array = self.parts[of_part[start]].array
            if isinstance(array, FarRows) or array.dtype != taken.dtype:
                taken[start:end] = array[here]
            else:
                np.take(array, here, axis=0, out=taken[start:end], mode="clip")  # "raise" would take a copy
        return taken


def block_rows(dtype: np.dtype[Any], d: int) -> int:
    """Return how many rows of d numbers a block has."""
    return max(64, BLOCK_BYTES // (max(4, dtype.itemsize) * max(1, d)))


def row_blocks(X: Float | Rows | Chunk, *, is_raw: bool = False) -> Iterator[tuple[slice, Float]]:  # noqa: N803
    """Yield where each block of X (n, d) lies, and its rows; a part that is far is passed over.

    float16 rows come as float32, unless they are to come as they are; other floats as they are, never copied.
    """
    if isinstance(X, Chunk):
        array = X.item.load() if hasattr(X.item, "load") else X.item
        for start in range(0, len(array), X.size):
            block = array[start : start + X.size]
            where = slice(X.where.start + start, X.where.start + start + len(block))
            yield where, block.astype(np.float32) if block.dtype == np.float16 and not is_raw else block
        return
    first = 0
    for array in [part.array for part in X.parts] if isinstance(X, Rows) else [X]:
        where = slice(first, first + len(array))
        if not isinstance(array, FarRows):
            yield from row_blocks(Chunk(where, array, block_rows(array.dtype, array.shape[1])), is_raw=is_raw)
        first = where.stop


def thin_product(block: Float, W: Float) -> Float:  # noqa: N803
    """Compute block @ W for a W of few columns, a few rows at a time."""
    d, k = W.shape
    m = max(12, min(THIN, SMALL // max(1, d * k) // 12 * 12))
    n = len(block) // m * m
    result = np.empty((len(block), k), W.dtype)
    np.matmul(block[:n].reshape(-1, m, d), W, out=result[:n].reshape(-1, m, k))
    np.matmul(block[n:], W, out=result[n:])
    return result


def thin_sums(block: Float, W: Float) -> NDArray[np.float64]:  # noqa: N803
    """Compute W^T block (k, d) for a W (n, k) of few columns: some rows at a time, added up in float64."""
    (n, d), k = block.shape, W.shape[1]
    m = SMALL // max(1, d * k)
    if n <= m or m < THIN:  # with more columns, all at once takes less
        return (W.T @ block).astype(np.float64)
    whole = n // m * m
    pieces = np.matmul(block[:whole].reshape(-1, m, d).transpose(0, 2, 1), W[:whole].reshape(-1, m, k))
    total = pieces.sum(axis=0, dtype=np.float64)
    total += block[whole:].T @ W[whole:]
    return np.ascontiguousarray(total.T)
