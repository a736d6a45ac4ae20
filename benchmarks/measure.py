"""Time and peak memory of a call."""

import gc
import threading
import time
from collections.abc import Callable
from typing import Any

import psutil

__all__ = ["best_time", "describe_machine", "peak_memory"]


def best_time(call: Callable[[], Any], repeats: int = 3) -> float:
    """Return the shortest of several times, in seconds: the one least disturbed by other work on the machine."""
    times = []
    for _ in range(repeats):
        gc.collect()
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)


def peak_memory(call: Callable[[], Any]) -> int:
    """Return the most memory, in bytes, that the process held during a call beyond what it held before."""
    gc.collect()
    process = psutil.Process()
    before = process.memory_info().rss
    peak = before
    done = threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.002):
            peak = max(peak, process.memory_info().rss)

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        call()
    finally:
        done.set()
        thread.join()
    return peak - before


def describe_machine() -> str:
    """Return one line on what the figures were taken on."""
    import platform

    import numpy as np

    blas = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    return (
        f"{psutil.cpu_count()} cores, {psutil.virtual_memory().total / 2**30:.0f} GiB; "
        f"Python {platform.python_version()}, NumPy {np.__version__} with {blas['name']} {blas['version']}"
    )
