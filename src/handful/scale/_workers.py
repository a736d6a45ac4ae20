"""The workers: a cluster that is there already, or processes on this machine; and calls that run on them."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from handful._util.lazy import check_libraries
from handful._util.processor import usable_threads
from handful._util.progress import ProgressCallback
from handful.encoders import Encoder
from handful.encoders.opened import is_object, open_encoder
from handful.errors import DataError, FileError
from handful.tagger import Tagger

if TYPE_CHECKING:
    from distributed import Client

FAILURES = 20  # deaths of workers that a task outlives; Dask's own 3 are few for a run of days
PATIENCE = "30s"  # for a scheduler to answer


@contextmanager
def workers(address: str | None = None, n: int | None = None) -> "Iterator[Client]":
    """Yield a client of the cluster at an address, or of one of n processes on this machine, which end with the block.

    Parameters
    ----------
    address : as ``tcp://10.0.0.1:8786``; the workers need handful and the same file system
    n : how many processes to start; each has one thread for tasks
    """
    check_libraries("running on workers", "distributed")
    import dask
    from distributed import Client, LocalCluster

    if (address is None) == (n is None):
        raise DataError("give either the address of a cluster or a number of workers")
    cluster: Any = address
    with ExitStack() as stack:
        if address is None:
            stack.enter_context(dask.config.set({"distributed.scheduler.allowed-failures": FAILURES}))
            try:
                local = LocalCluster(n_workers=n, threads_per_worker=1, processes=True, dashboard_address="127.0.0.1:0")
            except RuntimeError as error:  # one was killed as it started, by the system for want of memory perhaps
                raise FileError(
                    f"the workers could not be started: {error} Run the same command again, or with fewer workers"
                ) from None
            cluster = stack.enter_context(local)
        try:
            client = Client(cluster, timeout=PATIENCE)
        except (OSError, ValueError) as error:
            raise FileError(f"{address}: there is no scheduler of Dask that can be reached: {error}") from None
        stack.enter_context(client)
        yield client


class Opening(NamedTuple):
    """How a worker opens an encoder: its name, path or the object itself, and how it is run."""

    reference: Any
    threads: int | None
    precision: str | None

    @classmethod
    def of(cls, tagger: Tagger, client: "Client") -> "Opening":
        """Return how workers open the encoder of a tagger; they share the threads of their machines."""
        reference, threads = tagger.encoder, tagger.threads
        if threads is None:
            by_host = Counter(one["host"] for one in client.scheduler_info(n_workers=-1)["workers"].values())
            threads = max(1, usable_threads() // max(by_host.values(), default=1))
        reference = reference if is_object(reference) else str(reference)
        return cls(reference, threads, tagger.encoder_.precision)

    def encoder(self) -> Encoder:
        """Return the encoder of this worker, which opens it once."""
        return _opened(*self) if isinstance(self.reference, str) else open_encoder(self.reference)


@lru_cache(maxsize=4)
def _opened(reference: str, threads: int | None, precision: str | None) -> Encoder:
    return open_encoder(reference, threads=threads, precision=precision)


def call_all(
    client: "Client",
    function: Callable[..., Any],
    items: Sequence[Any],
    *shared: Any,
    sizes: Sequence[int],
    report: ProgressCallback,
) -> list[Any]:
    """Call a function on the workers with each item and what all calls share; return the results in order.

    `report` is called with the sum of the `sizes` of the items that are done, and with that of all. If items fail, the
    error of the first one in order is raised, and calls that have not begun are given up.
    """
    from distributed import KilledWorker, as_completed

    if not items:
        return []
    common = [client.submit(_same, one, pure=False) for one in shared]  # scattered data would die with their workers
    futures = [client.submit(function, item, *common, pure=False) for item in items]
    numbers = {future.key: number for number, future in enumerate(futures)}
    results: list[Any] = [None] * len(items)
    failed: list[int] = []
    n_done = 0
    try:
        for future in (completed := as_completed(futures)):
            number = numbers[future.key]
            if future.status == "error":
                failed.append(number)
                if min(failed) == number:  # those before it may fail, too: the first is named
                    client.cancel(futures[number + 1 :])
            elif future.status == "finished":
                results[number] = future.result()
                n_done += sizes[number]
                report(n_done, sum(sizes))
                future.release()
            elif future.status != "cancelled":  # its worker died with the result: the call is made again
                completed.add(future)
        if failed:
            error = futures[min(failed)].exception()
            if isinstance(error, KilledWorker):
                raise DataError(
                    f"a worker died each time it ran the same task ({error.args[0]}); it may need more memory than"
                    " there is"
                )
            raise error
    finally:
        client.cancel(futures)
    return results


def _same(value: Any) -> Any:
    return value
