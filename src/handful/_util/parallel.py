"""Passes over rows in several threads, each with a BLAS of one thread.

BLAS' own threads help with large products alone. They make small factorisations and thin products slower, and much
slower when other work keeps the processors busy, because they wait for each other. Blocks of rows do not wait, and
what is computed does not depend on how many threads there are.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from itertools import chain, islice
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from .arrays import Float, Rows, row_blocks
from .processor import usable_threads

if TYPE_CHECKING:
    from concurrent.futures import Future

__all__ = ["in_threads", "map_blocks", "one_blas_thread", "several_threads"]

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_THREADS = 8  # more wait for memory

_n_threads: ContextVar[int | None] = ContextVar("n_threads", default=None)


@contextmanager
def several_threads() -> Iterator[None]:
    """Let `map_blocks` use as many threads as BLAS may, and hold BLAS itself to one, until the end of the block."""
    if _n_threads.get() is not None:
        yield
        return
    blas = _blas()
    n = max((library["num_threads"] for library in blas.info()), default=1)
    token = _n_threads.set(max(1, min(n, usable_threads(), MOST_THREADS)))
    try:
        with blas.limit(limits=1):
            yield
    finally:
        _n_threads.reset(token)


_one = Lock()
_n_held = 0  # how many threads of this process are inside `one_blas_thread`
_held: Any = None


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Hold BLAS to one thread until the last thread of this process has left such a block.

    The number of threads belongs to the process, and it may change how BLAS rounds.
    """
    global _n_held, _held
    with _one:
        if not _n_held:
            _held = _blas().limit(limits=1)
        _n_held += 1
    try:
        yield
    finally:
        with _one:
            _n_held -= 1
            if not _n_held:
                _held.restore_original_limits()
                _held = None


@cache
def _blas() -> Any:
    """Return what says and sets how many threads BLAS may use; to find its libraries takes milliseconds."""
    import scipy.linalg  # noqa: F401 - it brings a BLAS of its own
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def map_blocks(function: Callable[[slice, Float], Result], X: Float | Rows) -> Iterator[Result]:  # noqa: N803
    """Yield what a function returns for each block of rows (see `row_blocks`), in order; see `in_threads`."""
    return in_threads(lambda block: function(*block), row_blocks(X))


def in_threads(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield what a function returns for each item, in order.

    Inside `several_threads`, some items are worked on at the same time.
    """
    n, items = _n_threads.get() or 1, iter(items)
    first = list(islice(items, 2))
    if n == 1 or len(first) == 1:
        yield from map(function, chain(first, items))
        return
    from concurrent.futures import ThreadPoolExecutor  # here, because prediction does without

    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(n) as pool:
        for item in chain(first, items):
            waiting.append(pool.submit(function, item))
            if len(waiting) > 2 * n:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
