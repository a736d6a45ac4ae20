"""Counts and times for Prometheus, in its text format."""

import threading
from collections.abc import Callable

__all__ = ["Metrics"]

_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
_REQUESTS = (1, 2, 4, 8, 16, 32, 64, 128)


class _Histogram:
    """How many values were at most this large, for some sizes."""

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.sum = 0.0

    def add(self, value: float) -> None:
        i = next((i for i, bound in enumerate(self.bounds) if value <= bound), len(self.bounds))
        self.counts[i] += 1
        self.sum += value

    def lines(self, name: str, label: str = "") -> list[str]:
        out, total = [], 0
        for bound, count in zip((*map(str, self.bounds), "+Inf"), self.counts, strict=True):
            total += count
            out.append(f'{name}_bucket{{{label}{"," if label else ""}le="{bound}"}} {total}')
        braces = f"{{{label}}}" if label else ""
        return [*out, f"{name}_sum{braces} {self.sum:.6f}", f"{name}_count{braces} {total}"]


class Metrics:
    """What a server counts.

    Parameters
    ----------
    version : str
        Of the package.
    waiting, under_way : function
        Return how many requests wait for a batch, and how many are under way, at the moment.
    """

    def __init__(self, version: str, waiting: Callable[[], int], under_way: Callable[[], int]) -> None:
        self._version = version
        self._now = {"handful_requests_waiting": waiting, "handful_requests_under_way": under_way}
        self._requests: dict[tuple[str, str, int], int] = {}
        self._seconds: dict[str, _Histogram] = {}
        self._batches = _Histogram(_REQUESTS)
        self._batch_seconds = _Histogram(_SECONDS)
        self._n_words = 0
        self._fits = {"done": 0, "refused": 0}
        self._lock = threading.Lock()

    def request(self, route: str, method: str, status: int, seconds: float) -> None:
        """Count an answer; a route is a pattern, so that there are few."""
        with self._lock:
            key = (route, method, status)
            self._requests[key] = self._requests.get(key, 0) + 1
            self._seconds.setdefault(route, _Histogram(_SECONDS)).add(seconds)

    def batch(self, n_jobs: int, n_words: int, seconds: float) -> None:
        """Count a batch."""
        with self._lock:
            self._batches.add(n_jobs)
            self._batch_seconds.add(seconds)
            self._n_words += n_words

    def fit(self, *, is_done: bool) -> None:
        """Count a fit for Label Studio."""
        with self._lock:
            self._fits["done" if is_done else "refused"] += 1

    def text(self) -> str:
        """Return all counts, as Prometheus reads them."""
        with self._lock:
            lines = _head("handful_info", "gauge", "The version that runs.")
            lines.append(f'handful_info{{version="{self._version}"}} 1')
            lines += _head("handful_requests_total", "counter", "Requests that were answered.")
            for (route, method, status), n in sorted(self._requests.items()):
                lines.append(f'handful_requests_total{{route="{route}",method="{method}",status="{status}"}} {n}')
            lines += _head("handful_request_seconds", "histogram", "Seconds from a request to its answer.")
            for route, histogram in sorted(self._seconds.items()):
                lines += histogram.lines("handful_request_seconds", f'route="{route}"')
            lines += _head("handful_batch_requests", "histogram", "Requests that were predicted together.")
            lines += self._batches.lines("handful_batch_requests")
            lines += _head("handful_batch_seconds", "histogram", "Seconds that a batch took.")
            lines += self._batch_seconds.lines("handful_batch_seconds")
            lines += _head("handful_words_total", "counter", "Words that were tagged.")
            lines.append(f"handful_words_total {self._n_words}")
            lines += _head("handful_fits_total", "counter", "Fits on annotations from Label Studio.")
            lines += [f'handful_fits_total{{result="{result}"}} {n}' for result, n in self._fits.items()]
            for name, now in self._now.items():
                lines += [*_head(name, "gauge", "At the moment."), f"{name} {now()}"]
        return "\n".join(lines) + "\n"


def _head(name: str, kind: str, help: str) -> list[str]:
    return [f"# HELP {name} {help}", f"# TYPE {name} {kind}"]
