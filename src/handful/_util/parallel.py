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

from .processor import usable_threads

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

Item = TypeVar("Item")
Result = TypeVar("Result")

MOST_THREADS = 8  # more wait for memory


# How many threads there are until the end of a block, and their pool: to start them takes as long as a pass.
_threads: ContextVar["tuple[int, ThreadPoolExecutor] | None"] = ContextVar("threads", default=None)


@contextmanager
def several_threads() -> Iterator[None]:
    """Let `in_threads` use as many threads as BLAS may, and hold BLAS itself to one, until the end of the block."""
    if _threads.get() is not None:
        yield
        return
    from concurrent.futures import ThreadPoolExecutor  # here, because prediction does without

    blas = _blas(with_scipy=True)
    n = max((library["num_threads"] for library in blas.info()), default=1)
    n = max(1, min(n, usable_threads(), MOST_THREADS))
    with ThreadPoolExecutor(n, initializer=_threads.set, initargs=(None,)) as pool:  # its threads use no others
        token = _threads.set((n, pool))
        try:
            with blas.limit(limits=1):
                yield
        finally:
            _threads.reset(token)


_one = Lock()
_n_held = 0  # how many threads of this process are inside `one_blas_thread`
_held: Any = None


@contextmanager
def one_blas_thread(*, with_scipy: bool = True) -> Iterator[None]:
    """Hold BLAS to one thread until the last thread of this process has left such a block.

    The number of threads belongs to the process, and it may change how BLAS rounds. `with_scipy` says whether the BLAS
    of scipy is used, too, which takes long to load.
    """
    global _n_held, _held
    with _one:
        if not _n_held:
            _held = _blas(with_scipy=with_scipy).limit(limits=1)
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
def _blas(*, with_scipy: bool) -> Any:
    """Return what says and sets how many threads BLAS may use; to find its libraries takes milliseconds."""
    if with_scipy:
        import scipy.linalg  # noqa: F401 - it brings a BLAS of its own
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


def in_threads(function: Callable[[Item], Result], items: Iterable[Item], at_once: int = 1) -> Iterator[Result]:
    """Yield what a function returns for each item, in order.

    Inside `several_threads`, some items are worked on at the same time; a thread takes `at_once` of them.
    """
    (n, pool), items = _threads.get() or (1, None), iter(items)
    groups = iter(lambda: list(islice(items, at_once)), [])
    first = list(islice(groups, 2))
    if pool is None or n == 1 or len(first) == 1:
        yield from map(function, chain(*first, items))
        return
    waiting: deque[Future[list[Result]]] = deque()
    try:
        for group in chain(first, groups):
            waiting.append(pool.submit(lambda group: list(map(function, group)), group))
            if len(waiting) > 2 * n:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:  # after an error, nothing goes on in the background
        for one in waiting:
            if not one.cancel():
                one.exception()
