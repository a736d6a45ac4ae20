"""The cache: one file for each encoder, with a limit on the size of all of them."""

import contextlib
import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from handful._util.files import PathLike
from handful.errors import DataError, FileError

from ._store import FLOAT, SUFFIX, Store

DEFAULT_LIMIT = "10 GB"
_LIMIT = "HANDFUL_CACHE_LIMIT"
_UNITS = {"": 1} | {f"{unit}{i}": base**n for n, unit in enumerate("kmgt", 1) for i, base in (("", 1000), ("i", 1024))}


def default_place() -> Path:
    """Return the folder of cached features.

    It is ``features`` in the folder that the environment variable HANDFUL_CACHE names, or else in ``handful`` in the
    platform's cache folder.
    """
    chosen = os.environ.get("HANDFUL_CACHE")
    try:
        if chosen:
            return Path(chosen).expanduser().absolute() / "features"
        return platformdirs.user_cache_path("handful", appauthor=False, opinion=False) / "features"
    except (RuntimeError, ValueError) as error:  # an unknown user, a NUL; a user without a home, as in some containers
        if chosen:
            raise DataError(f"the environment variable HANDFUL_CACHE names no folder: {chosen!r} ({error})") from None
        return Path(tempfile.gettempdir()) / "handful" / "features"


def parse_size(size: str | int, name: str = "a size limit") -> int:
    """Return a number of bytes, given that or a text such as "500 MB", "10GB" or "1.5 GiB"; `name` is for the error."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]i?)?b?\s*", str(size), re.IGNORECASE)
    n_bytes = float(match[1]) * _UNITS[(match[2] or "").lower()] if match else 0
    if not 1 <= n_bytes < 2**63:
        raise DataError(f"{name} must be a positive number of bytes, such as '10 GB'; found {size!r}")
    return int(n_bytes)


@dataclass(frozen=True)
class CachedFeatures:
    """The entry of one encoder in the cache."""

    encoder: str
    fingerprint: str
    dim: int
    n_sentences: int
    n_words: int
    n_bytes: int
    last_use: float
    path: Path


class FeatureCache:
    """A folder of features, of any number of encoders, shared by any number of processes.

    Parameters
    ----------
    path : the folder; by default `default_place`. It is made when first written to.
    limit : the most bytes to keep, a number or a text such as "20 GB"; by default what the environment variable
        HANDFUL_CACHE_LIMIT says, or else 10 GB. The features that were not used for the longest time go first.
    """

    def __init__(self, path: PathLike | None = None, *, limit: str | int | None = None) -> None:
        self.path = default_place() if path is None else Path(path)
        if limit is None:
            self.limit = parse_size(os.environ.get(_LIMIT) or DEFAULT_LIMIT, f"the environment variable {_LIMIT}")
        else:
            self.limit = parse_size(limit)

    def contents(self) -> list[CachedFeatures]:
        """Return what is cached, one entry for each encoder, the last used first."""
        cached = []
        for store, n_bytes in self._stores():
            if (found := store.contents()) is not None:
                head, n_sentences, n_content, used_ns = found
                n_words = n_content // (head["dim"] * FLOAT.itemsize)
                cached.append(
                    CachedFeatures(
                        **head,
                        n_sentences=n_sentences,
                        n_words=n_words,
                        n_bytes=n_bytes,
                        last_use=used_ns / 1e9,
                        path=store.path,
                    )
                )
        return sorted(cached, key=lambda entry: -entry.last_use)

    def size(self) -> int:
        """Return the number of cached bytes."""
        return sum(n_bytes for _, n_bytes in self._stores())

    def clear(self) -> int:
        """Remove everything; return the bytes freed."""
        freed = 0
        for store, n_bytes in self._stores():
            try:
                store.delete()
            except OSError as error:
                raise FileError(f"could not remove {store.path}: {error.strerror}") from error
            freed += n_bytes
        return freed

    def make_room(self, n_bytes: int, since_ns: int) -> bool:
        """Remove the least recently used packs until `n_bytes` more fit under the limit.

        Nothing that was used since `since_ns` is removed: a corpus larger than the limit must not evict
        itself. Return whether there is room; if there cannot be, nothing is removed.
        """
        stores = self._stores()
        excess = sum(size for _, size in stores) + n_bytes - self.limit
        if excess <= 0:
            return True
        packs = sorted(
            (used_ns, size, number, i)
            for i, (store, _) in enumerate(stores)
            for used_ns, size, number in store.packs()
            if used_ns < since_ns
        )
        if excess > sum(size for _, size, _, _ in packs):
            return False
        for _, size, number, i in packs:
            if excess > 0:
                stores[i][0].remove(number)
                excess -= size
        return True

    def _stores(self) -> list[tuple[Store, int]]:
        """Return the files of all encoders, with their sizes."""
        found = []
        try:
            for path in sorted(self.path.iterdir()):
                if path.suffix == SUFFIX:
                    with contextlib.suppress(FileNotFoundError):  # gone since
                        found.append((Store(path), path.stat().st_size))
        except FileNotFoundError:
            pass
        except OSError as error:
            raise FileError(f"the feature cache {self.path} cannot be read: {error.strerror}") from error
        return found
