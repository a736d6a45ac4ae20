"""Passes over rows: the one thing that the algorithm asks of its data.

`map_rows` calls a function for each block of rows and keeps the results, by block. `reduce_rows` combines them.

| word | meaning |
|---|---|
| rows | (n, d), one per word: an array, or `Rows`, which are parts one after the other |
| part | one array of `Rows`, with what was found out about it |
| block | about 8 MB of neighbouring rows of one part: a function is called with one block, and with `where` it lies |
| far | not in the memory of this process |
| chunk | the blocks that one task of Dask works on; parts that are far come in chunks |
| along | what else goes with rows, such as labels: ``at(where)`` is for a block, ``within(where)`` for a chunk |
| `ByBlock` | the results of a function for all blocks; for blocks that are far they stay where they were computed |

Blocks of near rows are worked on in threads, far ones by the workers of Dask. Blocks begin and end at the same rows in
both cases, and results are combined in one fixed order. So the result is the same to the byte.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from .arrays import Chunk, Float, Rows, row_blocks
from .parallel import in_threads

GROUP = 32  # results that are combined one after the other, before groups are combined with each other

Result = TypeVar("Result")
Combine = Callable[[Result, Result], Result]


class Fold(Generic[Result]):
    """Combines results in a fixed order: `GROUP` of them one after the other, then as many groups, and so on.

    The order depends on the places of the results alone. So groups can be combined in different places.
    """

    def __init__(self, combine: Combine[Result]) -> None:
        self._combine = combine
        self._levels: list[tuple[int, Any]] = []  # how many were combined, and the result

    def add(self, result: Result, level: int = 0, n: int = 1) -> None:
        """Take the next result: of a block, or of a whole group (level 1), or of a group of groups (level 2).

        `n` is how many of that level were combined to it already, where it is the first of its group.
        """
        while len(self._levels) <= level:
            self._levels.append((0, None))
        n_before, before = self._levels[level]
        n, result = n + n_before, self._combine(before, result) if n_before else result
        if n < GROUP:
            self._levels[level] = (n, result)
        else:
            self._levels[level] = (0, None)
            self.add(result, level + 1)

    def result(self) -> Result:
        """Return all results combined; there must be one."""
        found: list[Result] = [result for n, result in reversed(self._levels) if n]
        return reduce(self._combine, found)


@dataclass(frozen=True)
class ByBlock(Generic[Result]):
    """The results of a function for all blocks of rows.

    `where` has the rows of each near block, `values` the result for it; `far` has the results by chunk.
    """

    where: Sequence[slice]
    values: Sequence[Result]
    far: Sequence[Chunk] = ()

    @classmethod
    def of(cls, value: Result, n: int) -> "ByBlock[Result]":
        """Return the one result for n rows in one block."""
        return cls([slice(0, n)], [value])

    def __len__(self) -> int:
        ends = [*(where.stop for where in self.where), *(chunk.where.stop for chunk in self.far)]
        return max(ends, default=0)

    def map(self, function: Callable[[slice, Result], Any]) -> "ByBlock[Any]":
        """Call a function with where each block lies and the result for it."""
        return map_rows(function, self)

    def array(self, take: Callable[[Result], NDArray[Any]], like: NDArray[Any]) -> Any:
        """Return an array of what a function takes from each result, (n, ...); one of Dask if some blocks are far.

        `like` is such an array with no row.
        """
        near = np.concatenate([like, *map(take, self.values)])
        if not self.far:
            return near
        from .on_dask import far_array

        return far_array(self.far, take, near)


Source = Float | Rows | Chunk | ByBlock[Any]


def map_rows(function: Callable[..., Result], X: Source, *along: Any) -> ByBlock[Result]:  # noqa: N803
    """Call ``function(where, block, *along)`` for each block of rows, and return the results by block.

    The function gets the slice of the rows; the rows (float16 as float32), or the earlier result for them; and what
    goes along with them, or None. It may be called in any order, more than once,
    and in another process.
    """
    far: Sequence[Chunk] = ()
    if chunks := _far(X):
        from .on_dask import map_chunks

        far = map_chunks(function, chunks, along)
    near = list(_run(function, X, along))
    return ByBlock([where for where, _ in near], [result for _, result in near], far)


def reduce_rows(
    function: Callable[..., Result],
    combine: Combine[Result],
    X: Source,  # noqa: N803
    *along: Any,
    is_raw: bool = False,
) -> Result:
    """Call ``function(where, block, *along)`` for each block of rows, at least one, and combine the results.

    `combine` makes one result of two, and changes neither (see `Fold`). With `is_raw`, float16 rows come as they are,
    because the function looks at few of them.
    """
    fold = Fold(combine)
    if chunks := _far(X):
        from .on_dask import fold_chunks

        fold_chunks(fold, function, combine, chunks, along, is_raw)
    for _, result in _run(function, X, along, is_raw):
        fold.add(result)
    return fold.result()


def _far(X: Source) -> Sequence[Chunk]:  # noqa: N803
    return X.far if isinstance(X, Rows | ByBlock) else ()


def _run(
    function: Callable[..., Result],
    X: Source,  # noqa: N803
    along: Sequence[Any],
    is_raw: bool = False,
) -> Iterator[tuple[slice, Result]]:
    """Yield where each near block lies, and the result for it, in order.

    A thread takes many blocks at once where a block is little work: to hand one over costs time, too.
    """

    def call(numbered: tuple[int, tuple[slice, Any]]) -> tuple[slice, Result]:
        number, (where, block) = numbered
        here = [
            one.values[number] if isinstance(one, ByBlock) else None if one is None else one.at(where) for one in along
        ]
        return where, function(where, block, *here)

    blocks = zip(X.where, X.values, strict=True) if isinstance(X, ByBlock) else row_blocks(X, is_raw=is_raw)
    return in_threads(call, enumerate(blocks), at_once=GROUP if is_raw or isinstance(X, ByBlock) else 1)
