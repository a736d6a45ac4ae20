"""Passes over rows: the one thing that the algorithm asks of its data.

`map_rows` calls a function for each block of rows and keeps what it returns, by block. `reduce_rows` combines what it
returns. Where the rows are in memory, blocks are worked on in threads; where they are elsewhere (`FarRows`), on the
workers of Dask, and what is kept stays there. Blocks begin and end at the same rows in both cases, and results are
combined in one fixed order. So the result is the same to the byte.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial, reduce
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from .arrays import Float, Rows, row_blocks
from .parallel import in_threads

if TYPE_CHECKING:
    from .on_dask import Chunk

__all__ = ["GROUP", "Fold", "Kept", "map_rows", "reduce_rows", "run_blocks"]

GROUP = 32  # results that are combined one after the other, before groups are combined with each other

Result = TypeVar("Result")
Combine = Callable[[Result, Result], Result]
Block = tuple[slice, Any]


class Along(Protocol):
    """What goes along with rows, such as labels of some of them. An array (n, ...) or None may go along as it is."""

    def within(self, part: slice) -> Self:
        """Return what concerns a part of the rows, which keep their numbers."""

    def at(self, part: slice) -> Any:
        """Return what a function gets for a block of rows."""


class Fold(Generic[Result]):
    """Combines results in a fixed order: `GROUP` of them one after the other, then as many groups, and so on.

    The order depends on the places of the results alone. So groups can be combined in different places.
    """

    def __init__(self, combine: Combine[Result]) -> None:
        self._combine = combine
        self._levels: list[tuple[int, Any]] = []  # how many were combined, and to what

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


class Kept(Generic[Result]):
    """What a function returned for each block of rows.

    Attributes
    ----------
    far : for each chunk of rows that are elsewhere, what was returned for its blocks
    parts : the rows of each block that is here
    values : what was returned for each of those
    """

    def __init__(self, far: "Sequence[Chunk]", parts: Sequence[slice], values: Sequence[Result]) -> None:
        self.far = far
        self.parts = parts
        self.values = values

    @classmethod
    def of(cls, values: Result, n: int) -> "Kept[Result]":
        """Keep what there is of n rows in one block."""
        return cls((), [slice(0, n)], [values])

    def array(self, take: Callable[[Result], NDArray[Any]], like: NDArray[Any]) -> Any:
        """Return an array of what a function takes from each block, (n, ...); one of Dask if some blocks are far.

        `like` is such an array with no row.
        """
        near = np.concatenate([like, *map(take, self.values)])
        if not self.far:
            return near
        from .on_dask import far_array

        return far_array(self.far, take, near)


Source = Float | Rows | Kept[Any]


def map_rows(function: Callable[..., Result], X: Source, *along: Any) -> Kept[Result]:  # noqa: N803
    """Call ``function(part, block, *along)`` for each block of rows, and keep what it returns.

    Parameters
    ----------
    function
        It gets the slice of the rows; the rows (float16 as float32), or what was kept for them; and what goes along
        with them. It may be called in any order, more than once, and in another process.
    X
        The rows, or what was kept by their blocks.
    along
        `Along`, arrays (n, ...), `Kept` of the same rows, or None.
    """
    far: Sequence[Chunk] = ()
    if _far(X):
        from .on_dask import map_chunks

        far = map_chunks(function, _far(X), along)
    return Kept(far, *_unzipped(run_blocks(partial(keep, function), _near(X), along, _at_once(X))))


def keep(function: Callable[..., Result], part: slice, block: Any, *along: Any) -> tuple[slice, Result]:
    """Return the rows of a block, and what a function returns for it."""
    return part, function(part, block, *along)


def _unzipped(kept: Iterable[tuple[slice, Result]]) -> tuple[list[slice], list[Result]]:
    pairs = list(kept)
    return [part for part, _ in pairs], [value for _, value in pairs]


def reduce_rows(
    function: Callable[..., Result],
    combine: Combine[Result],
    X: Source,  # noqa: N803
    *along: Any,
    is_raw: bool = False,
) -> Result:
    """Call ``function(part, block, *along)`` for each block of rows, and combine what it returns (see `Fold`).

    Parameters
    ----------
    function, X, along
        As for `map_rows`; there is at least one row.
    combine
        Makes one result of two, and changes neither.
    is_raw
        Whether float16 rows come as they are, because the function looks at few of them.
    """
    fold = Fold(combine)
    if _far(X):
        from .on_dask import fold_chunks

        fold_chunks(fold, function, combine, _far(X), along, is_raw)
    for result in run_blocks(function, _near(X, is_raw), along, GROUP if is_raw else _at_once(X)):
        fold.add(result)
    return fold.result()


def run_blocks(
    function: Callable[..., Result], blocks: Iterable[Block], along: Sequence[Any], at_once: int = 1
) -> Iterator[Result]:
    """Yield what a function returns for each block, in order; a thread takes some blocks at once."""

    def run(numbered: tuple[int, Block]) -> Result:
        number, (part, block) = numbered
        return function(part, block, *(_at(one, number, part) for one in along))

    numbered = iter(enumerate(blocks))
    if at_once == 1:
        return in_threads(run, numbered)
    groups = iter(lambda: list(islice(numbered, at_once)), [])
    return chain.from_iterable(in_threads(lambda group: [run(one) for one in group], groups))


def _at(along: Any, number: int, part: slice) -> Any:
    """Return what goes along with a block."""
    if along is None:
        return None
    if isinstance(along, Kept):
        return along.values[number]
    return along[part] if isinstance(along, np.ndarray) else along.at(part)


def _far(X: Source) -> "Sequence[Chunk]":  # noqa: N803
    return X.far if isinstance(X, Rows | Kept) else ()


def _near(X: Source, is_raw: bool = False) -> Iterator[Block]:  # noqa: N803
    return zip(X.parts, X.values, strict=True) if isinstance(X, Kept) else row_blocks(X, is_raw=is_raw)


def _at_once(X: Source) -> int:  # noqa: N803
    """Return how many blocks a thread takes at once: what is kept of a block is little work, and threads cost time."""
    return GROUP if isinstance(X, Kept) else 1
