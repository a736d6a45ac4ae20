"""The cache: one folder for each encoder and precision, with a limit on the size of all of them."""

import contextlib
import os
import re
import sys
import tempfile
import time
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from handful.errors import DataError, FileError, HandfulWarning

from ._segments import DamagedError, Segment, is_segment, is_temporary

__all__ = ["CachedFeatures", "FeatureCache", "default_place", "parse_size"]

DEFAULT_LIMIT = "10 GB"
_LIMIT = "HANDFUL_CACHE_LIMIT"
_STALE_NS = 3600 * 10**9  # a temporary file older than this was left by a process that was killed
_CLOCKS_DIFFER_NS = 60 * 10**9
_UNITS = {"": 1, "k": 1000, "m": 1000**2, "g": 1000**3, "t": 1000**4}
_BINARY_UNITS = {"ki": 1024, "mi": 1024**2, "gi": 1024**3, "ti": 1024**4}


def default_place() -> Path:
    """Return the folder of cached features.

    It is ``features`` in the folder that the environment variable HANDFUL_CACHE names, or else in ``handful``
    in the platform's cache folder: ``$XDG_CACHE_HOME`` or ``~/.cache``; ``~/Library/Caches``;
    ``%LOCALAPPDATA%``.
    """
    if chosen := os.environ.get("HANDFUL_CACHE"):
        try:
            return Path(chosen).expanduser().absolute() / "features"
        except (RuntimeError, ValueError) as error:  # an unknown user, a NUL
            raise DataError(f"the environment variable HANDFUL_CACHE names no folder: {chosen!r} ({error})") from None
    try:
        home = Path.home()
    except RuntimeError:  # a user without a home, as in some containers
        return Path(tempfile.gettempdir()) / "handful" / "features"
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = home / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME", ""))
        if not base.is_absolute():  # the convention says to ignore it then
            base = home / ".cache"
    return base / "handful" / "features"


def parse_size(size: str | int, name: str = "a size limit") -> int:
    """Return a number of bytes, given that or a text such as "500 MB", "10GB" or "1.5 GiB"; `name` is for the error."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", str(size), re.IGNORECASE)
    n_bytes = float(match[1]) * (_UNITS | _BINARY_UNITS)[(match[2] or "").lower()] if match else 0
    if not 1 <= n_bytes < 2**63:
        raise DataError(f"{name} must be a positive number of bytes, such as '10 GB'; found {size!r}")
    return int(n_bytes)


@dataclass(frozen=True)
class CachedFeatures:
    """What the cache holds of one encoder at one precision."""

    encoder: str
    fingerprint: str
    precision: str
    dim: int
    n_sentences: int
    n_words: int
    n_bytes: int
    last_use: float
    folder: Path


class FeatureCache:
    """A folder of features, of any number of encoders, shared by any number of processes.

    Parameters
    ----------
    path
        The folder; by default `default_place`. It is made when first written to.
    limit
        The most bytes to keep, a number or a text such as "20 GB"; by default what the environment variable
        HANDFUL_CACHE_LIMIT says, or else 10 GB. What was used least recently goes first.
    precision
        "float32" keeps features exactly. "float16" takes half the space; then all features that pass through
        the cache are rounded, cached before or not: the answer does not depend on what was cached.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        limit: str | int | None = None,
        precision: Literal["float32", "float16"] = "float32",
    ) -> None:
        if precision not in ("float32", "float16"):
            raise DataError(f"precision must be 'float32' or 'float16'; found {precision!r}")
        self.path = default_place() if path is None else Path(path)
        if limit is None:
            self.limit = parse_size(os.environ.get(_LIMIT) or DEFAULT_LIMIT, f"the environment variable {_LIMIT}")
        else:
            self.limit = parse_size(limit)
        self.precision = precision
        self._said: set[str] = set()

    def contents(self) -> list[CachedFeatures]:
        """Return what is cached, one entry for each encoder and precision, the last used first."""
        found: dict[Path, tuple[dict[str, Any], dict[bytes, int], list[int], list[int]]] = {}
        for mtime_ns, n_bytes, path in self._files():
            try:
                segment = Segment(path)
            except (OSError, DamagedError):
                continue
            entry = found.setdefault(path.parent, (segment.head, {}, [], []))
            entry[1].update(zip(segment.keys, np.diff(segment.starts).tolist(), strict=True))
            entry[2].append(n_bytes)
            entry[3].append(mtime_ns)
        cached = [
            CachedFeatures(
                encoder=head["encoder"],
                fingerprint=head["fingerprint"],
                precision=head["precision"],
                dim=head["dim"],
                n_sentences=len(n_words),
                n_words=sum(n_words.values()),
                n_bytes=sum(sizes),
                last_use=max(times) / 1e9,
                folder=folder,
            )
            for folder, (head, n_words, sizes, times) in found.items()
        ]
        return sorted(cached, key=lambda entry: -entry.last_use)

    def size(self, folders: Collection[Path] | None = None) -> int:
        """Return the number of cached bytes, of all or of some folders of `contents`."""
        return sum(size for _, size, path in self._files() if folders is None or path.parent in folders)

    def clear(self, folders: Collection[Path] | None = None) -> int:
        """Remove everything, or what some folders of `contents` hold; return the bytes freed."""
        freed = 0
        for _, n_bytes, path in self._files():
            if folders is None or path.parent in folders:
                try:
                    path.unlink(missing_ok=True)
                except OSError as error:
                    raise FileError(f"could not remove {path}: {error.strerror}") from error
                freed += n_bytes
        return freed

    def make_room(self, n_bytes: int, since_ns: int) -> bool:
        """Remove the least recently used segments until `n_bytes` more fit under the limit.

        Nothing that was used since `since_ns` is removed: a corpus larger than the limit must not evict
        itself. Return whether there is room; if there cannot be, nothing is removed.
        """
        files = sorted(self._files())
        excess = sum(size for _, size, _ in files) + n_bytes - self.limit
        if excess > sum(size for used_ns, size, _ in files if used_ns < since_ns):
            return excess <= 0
        for _, size, path in files:
            if excess <= 0:
                break
            with contextlib.suppress(OSError):
                path.unlink(missing_ok=True)
                excess -= size
        return excess <= 0

    def warn_once(self, kind: str, message: str) -> None:
        """Warn about something that the user should know, at most once for each kind."""
        if kind not in self._said:
            self._said.add(kind)
            warnings.warn(message, HandfulWarning, stacklevel=3)

    def _files(self) -> Iterator[tuple[int, int, Path]]:
        """Yield the time of last use, size and path of each segment; remove what killed processes left behind."""
        try:
            folders = [folder for folder in self.path.iterdir() if folder.is_dir()]
            files = [file for folder in folders for file in folder.iterdir()]
        except FileNotFoundError:
            return
        except OSError as error:
            raise FileError(f"the feature cache {self.path} cannot be read: {error.strerror}") from error
        for file in files:
            with contextlib.suppress(OSError):  # gone since, or not ours to touch
                status = file.stat()
                if is_segment(file.name):
                    # A time in the future comes from a clock that was wrong: such a file is not in use.
                    is_in_future = status.st_mtime_ns > time.time_ns() + _CLOCKS_DIFFER_NS
                    yield 0 if is_in_future else status.st_mtime_ns, status.st_size, file
                elif is_temporary(file.name) and status.st_mtime_ns < time.time_ns() - _STALE_NS:
                    file.unlink()
