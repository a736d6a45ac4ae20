"""The folder of one encoder in the cache: its segments, and where in them each sentence is."""

import contextlib
import os
import threading
import time
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from handful.errors import HandfulWarning

from ._segments import DamagedError, Features, Ints, Segment, is_segment, write_segment

__all__ = ["SEGMENT_BYTES", "CacheFolder"]

#: A segment is closed at this size. A kill loses at most one; encoding needs about one beside the answer.
SEGMENT_BYTES = 64_000_000

_SMALL_BYTES = SEGMENT_BYTES // 8
_MANY = 32  # small segments are merged when there are more than this
_VIEW_BYTES = 1_000_000  # less is copied: a mapping holds a file open
_TRIES = 3
_ROW_BITS = 32  # a place is one integer: the segment's number, then the sentence's number in it


class CacheFolder:
    """The cached features of one encoder.

    There are no locks between processes, because no file is ever changed: each process sees a segment whole or
    not at all. A segment may vanish, evicted or merged by another process; then its sentences are looked up again.

    Parameters
    ----------
    folder
        Where the segments are; it is made when the first one is written.
    head
        What to write into the head of each segment.
    """

    def __init__(self, folder: Path, head: Mapping[str, Any]) -> None:
        self.folder = folder
        self.head = head
        self._segments: dict[int, Segment] = {}
        self._names: dict[str, int] = {}
        self._ignored: set[str] = set()
        self._places: dict[bytes, int] = {}
        self._n_seen = 0
        self._lock = threading.RLock()

    def fetch(self, keys: Sequence[bytes], features: Features, at: Ints) -> Ints:
        """Copy the features of all sentences that are cached into an array.

        Parameters
        ----------
        keys
            One per sentence, all different.
        features
            The array to write into.
        at
            The row of `features` where each sentence begins.

        Returns
        -------
        Ints
            The positions in `keys` of the sentences that are not cached, increasing.
        """
        wanted = np.arange(len(keys))
        with self._lock:
            for _ in range(_TRIES):
                self._refresh()
                places = self._find(keys[i] for i in wanted.tolist())
                numbers = places >> _ROW_BITS
                lost = np.zeros(len(wanted), bool)
                for number in np.unique(numbers[places >= 0]).tolist():
                    here = numbers == number
                    sentences = places[here] - (number << _ROW_BITS)
                    segment = self._segments[number]
                    try:
                        segment.read_into(sentences, features, at[wanted[here]])
                    except (OSError, DamagedError) as error:
                        lost |= here
                        self._lose(number, error)
                    else:
                        _touch(segment.path)
                wanted = wanted[(places < 0) | lost]
                if not lost.any():
                    break
        return wanted

    def view(self, keys: Sequence[bytes]) -> Features | None:
        """Map sentences into memory if one segment has them in this order and they are worth a mapping."""
        with self._lock:
            self._refresh()
            places = self._find(keys)
            if not len(places) or places[0] < 0 or (places != places[0] + np.arange(len(places))).any():
                return None
            number, first = divmod(int(places[0]), 1 << _ROW_BITS)
            segment = self._segments[number]
            n_rows = int(segment.starts[first + len(keys)] - segment.starts[first])
            if n_rows * self.head["dim"] * 4 < _VIEW_BYTES:
                return None
            try:
                rows = segment.view(first, first + len(keys))
            except (OSError, DamagedError) as error:
                self._lose(number, error)
                return None
            _touch(segment.path)
            return rows

    def has_any(self, keys: Iterable[bytes]) -> bool:
        """Tell whether any of these sentences is cached."""
        with self._lock:
            self._refresh()
            return not self._places.keys().isdisjoint(keys)

    def add(self, keys: Sequence[bytes], n_words: Sequence[int], features: Features) -> None:
        """Write the features of some sentences as one segment; OSError if that cannot be done."""
        with self._lock:
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_segment(self.folder, self.head, keys, n_words, features, used_ns=time.time_ns())
            self._refresh()
            small = sorted(
                (segment for segment in self._segments.values() if segment.n_bytes < _SMALL_BYTES),
                key=lambda segment: segment.n_bytes,
            )
            if len(small) > _MANY:
                sizes = np.cumsum([segment.n_bytes for segment in small])
                with contextlib.suppress(OSError):  # they stay as they are
                    self._merge(small[: int(np.searchsorted(sizes, SEGMENT_BYTES))])
                self._refresh()

    def _find(self, keys: Iterable[bytes]) -> Ints:
        return np.array([self._places.get(key, -1) for key in keys], np.int64)

    def _refresh(self) -> None:
        """Find the segments that this process or another has added or removed since."""
        try:
            with os.scandir(self.folder) as files:
                names = {file.name for file in files if is_segment(file.name)} - self._ignored
        except OSError:
            names = set()
        for name in self._names.keys() - names:
            del self._segments[self._names.pop(name)]
            self._places = {}  # what remains may hold the same sentences
        if not self._places:
            for number, segment in self._segments.items():
                self._index(number, segment)
        for name in sorted(names - self._names.keys()):
            try:
                segment = Segment(self.folder / name)
            except FileNotFoundError:
                continue
            except (OSError, DamagedError) as error:
                self._give_up(self.folder / name, error)
                continue
            self._names[name], self._n_seen = self._n_seen, self._n_seen + 1
            self._segments[self._names[name]] = segment
            self._index(self._names[name], segment)

    def _index(self, number: int, segment: Segment) -> None:
        first = number << _ROW_BITS
        self._places.update(zip(segment.keys, range(first, first + len(segment.keys)), strict=True))

    def _lose(self, number: int, error: Exception) -> None:
        """Drop a segment that could not be read; what is intact in a damaged one goes into a new one."""
        segment = self._segments.pop(number)
        del self._names[segment.path.name]
        self._places = {}
        if isinstance(error, FileNotFoundError):
            return
        if isinstance(error, DamagedError):
            with contextlib.suppress(OSError):
                self._merge([segment])
        self._give_up(segment.path, error)

    def _give_up(self, path: Path, error: Exception) -> None:
        """Remove a file that cannot be used, or ignore it if it cannot be removed."""
        try:
            path.unlink(missing_ok=True)
        except OSError:
            self._ignored.add(path.name)
        warnings.warn(
            f"a file of cached features could not be used: {error}. Its sentences are encoded again.",
            HandfulWarning,
            stacklevel=2,
        )

    def _merge(self, segments: Sequence[Segment]) -> None:
        """Write what is intact in some segments into one, then remove them."""
        kept: dict[bytes, Features] = {}
        used_ns = 0
        for segment in segments:
            try:
                used_ns = max(used_ns, segment.path.stat().st_mtime_ns)
                sentences, rows = segment.intact()
            except (OSError, DamagedError):
                continue
            for i in sentences:
                kept.setdefault(segment.keys[i], rows[segment.starts[i] : segment.starts[i + 1]])
        merged = None
        if kept:
            features = np.concatenate(list(kept.values()))
            n_words = [len(rows) for rows in kept.values()]
            merged = write_segment(self.folder, self.head, list(kept), n_words, features, used_ns=used_ns)
        for segment in segments:
            if segment.path != merged:
                with contextlib.suppress(OSError):
                    segment.path.unlink(missing_ok=True)


def _touch(path: Path) -> None:
    """Note the time of the last use; a cache that cannot be written to can still be read."""
    now = time.time_ns()
    with contextlib.suppress(OSError):
        os.utime(path, ns=(now, now))
