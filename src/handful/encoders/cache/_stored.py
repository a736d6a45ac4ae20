"""An encoder with a store: a sentence that it has seen is not encoded again.

The key of a sentence is a hash of the encoder's fingerprint and of its whole sequence of words. The words
themselves are not stored. ``docs/cache.md`` describes the files.
"""

import os
import secrets
import time
from collections.abc import Callable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from handful._util.progress import ProgressCallback, reporting
from handful.errors import DataError, EncoderError, FileError

from ._segments import KEY_BYTES, Features, Ints, put
from ._shelf import SEGMENT_BYTES, Shelf
from ._store import FeatureStore

__all__ = ["StoredEncoder"]

_FORMAT = 1  # part of each folder's name, so that two formats never meet

Progress = bool | ProgressCallback | None


class _Encoder(Protocol):
    @property
    def dim(self) -> int: ...
    @property
    def fingerprint(self) -> str: ...
    def encode(self, sentences: Sequence[Any], *, out: Any = None, progress: Any = None) -> npt.NDArray[Any]: ...


class StoredEncoder:
    """An encoder that looks in a store first, and keeps there what it had to encode.

    It has the interface of the encoder inside it, and gives what that one gives: byte for byte where the
    store's precision is "float32", as long as that encoder's features of a sentence do not depend on the
    other sentences of a call. That a store cannot be written to is said once, and costs only time.

    Parameters
    ----------
    encoder
        Anything with ``dim``, ``fingerprint`` and ``encode``; its ``name``, if any, is for ``handful cache``.
    store
        By default a `FeatureStore` in its default place.

    Examples
    --------
    >>> encoder = StoredEncoder(load("handful-en"))  # doctest: +SKIP
    >>> features = encoder.encode(sentences)  # doctest: +SKIP
    """

    def __init__(self, encoder: _Encoder, store: FeatureStore | None = None) -> None:
        self.encoder = encoder
        self.store = FeatureStore() if store is None else store
        self.dim = encoder.dim
        self.fingerprint = encoder.fingerprint
        self.name = str(getattr(encoder, "name", "") or encoder.fingerprint)
        self.precision = getattr(encoder, "precision", None)
        precision = self.store.precision
        identity = repr((_FORMAT, encoder.fingerprint, encoder.dim, precision)).encode()
        self._hash = blake2b(identity, digest_size=KEY_BYTES)
        head = {
            "encoder": self.name,
            "fingerprint": self.fingerprint,
            "dim": self.dim,
            "precision": precision,
        }
        self._shelf = Shelf(self.store.path / self._hash.hexdigest(), head)

    def encode(
        self,
        sentences: Sequence[Any],
        *,
        out: npt.NDArray[Any] | str | os.PathLike[str] | None = None,
        progress: Progress = None,
    ) -> npt.NDArray[Any]:
        """Return one row a word, from the store where it has them.

        Parameters
        ----------
        sentences
            Objects with ``.words``, or sequences of words.
        out
            Where to put the features: an array of shape (n_words, dim), or the path of an .npy file to make,
            which comes back mapped into memory. By default a new array, or a read-only view of the store if
            the sentences stand there in this very order.
        progress
            As in `handful.encoders.Encoder.encode`: True, False, None, or a function called with the words done and
            the words in all.
        """
        sentences = sentences if isinstance(sentences, Sequence) else list(sentences)
        words = [_words(sentence, i) for i, sentence in enumerate(sentences)]
        keys = [self._key(sentence, i) for i, sentence in enumerate(words)]
        n_words = np.array([len(sentence) for sentence in words], np.int64)
        shape = (int(n_words.sum()), self.dim)
        if isinstance(out, (str, os.PathLike)):
            return _to_file(Path(out), shape, lambda rows: self._fill(sentences, keys, n_words, rows, progress))
        if out is None and self.store.precision == "float32":
            view = self._shelf.view([key for key, n in zip(keys, n_words, strict=True) if n])
            if view is not None:
                with reporting(progress, len(view)) as report:
                    report(len(view), len(view))
                return view
        features = np.empty(shape, np.float32) if out is None else _checked(out, shape)
        self._fill(sentences, keys, n_words, features, progress)
        return features

    def _fill(
        self,
        sentences: Sequence[Any],
        keys: list[bytes],
        n_words: Ints,
        features: Features,
        progress: Progress,
    ) -> None:
        since_ns = time.time_ns()
        stops = np.cumsum(n_words)
        starts = stops - n_words
        first: dict[bytes, int] = {}
        for i in np.flatnonzero(n_words).tolist():
            first.setdefault(keys[i], i)

        def not_stored(wanted: Ints) -> Ints:
            return wanted[self._shelf.fetch([keys[i] for i in wanted], features, starts[wanted])]

        left = not_stored(np.fromiter(first.values(), np.int64, len(first)))
        with reporting(progress, len(features)) as report:
            report(len(features) - int(n_words[left].sum()), len(features))
            while len(left):
                sizes = np.cumsum(n_words[left])
                n_fit = max(1, int(np.searchsorted(sizes * self.dim * 4, SEGMENT_BYTES, side="right")))
                n_done = len(features) - int(sizes[-1])
                batch, left = left[:n_fit], left[n_fit:]
                found = self.encoder.encode(
                    [sentences[i] for i in batch], progress=_shifted(report, n_done, len(features))
                )
                rows = self._rounded(found, sizes[n_fit - 1])
                self._keep([keys[i] for i in batch], n_words[batch].tolist(), rows, since_ns)
                for i, part in zip(batch, np.split(rows, sizes[: n_fit - 1]), strict=True):
                    put(features[starts[i] : stops[i]], part)
                left = not_stored(left)  # another process may have stored some of the rest by now
        for i in np.flatnonzero(n_words).tolist():
            j = first[keys[i]]
            if j != i:
                features[starts[i] : stops[i]] = features[starts[j] : stops[j]]

    def _key(self, words: Sequence[str], position: int) -> bytes:
        """Hash lengths and letters: unlike a separator, a length cannot be confused with a part of a word."""
        try:
            text = ",".join(map(str, map(len, words))) + ";" + "".join(words)
        except TypeError as error:
            raise EncoderError(f"sentence {position} (from 0) must consist of str; found {words!r}") from error
        digest = self._hash.copy()
        digest.update(text.encode("utf-8", "surrogatepass"))
        return digest.digest()

    def _rounded(self, rows: Features, n_words: int) -> Features:
        """Check what the encoder gave, and bring it to the store's precision."""
        if rows.shape != (n_words, self.dim) or rows.dtype != np.float32:
            raise EncoderError(
                f"encoder {self.name!r} must give float32 features of shape {(int(n_words), self.dim)}; "
                f"found {rows.dtype} of shape {rows.shape}"
            )
        if self.store.precision == "float32":
            return rows
        with np.errstate(over="ignore"):
            rounded = rows.astype(np.float16)
        if not np.array_equal(np.isfinite(rounded), np.isfinite(rows)):
            raise EncoderError(
                f"encoder {self.name!r} gives features too large for a float16 store "
                f"(up to {np.abs(rows[np.isfinite(rows)]).max():.3g}); use FeatureStore(precision='float32')"
            )
        return rounded

    def _keep(self, keys: Sequence[bytes], n_words: Sequence[int], rows: Features, since_ns: int) -> None:
        """Store, if that can be done; the features are in memory either way."""
        n_bytes = rows.nbytes + 32 * len(keys) + 8192  # index, head and padding, rounded up
        store = self.store
        try:
            if store.make_room(n_bytes, since_ns):
                self._shelf.add(keys, n_words, rows)
            else:
                store.warn_once(
                    "limit",
                    f"the feature store {store.path} is full of what is in use now ({store.limit:,} bytes): "
                    "the rest will be encoded each time. Set HANDFUL_CACHE_LIMIT higher to keep more.",
                )
        except OSError as error:
            store.warn_once(
                "write",
                f"features could not be stored in {store.path} ({error.strerror or error}): they will be "
                "encoded each time. Set HANDFUL_CACHE to a folder that has room and can be written to.",
            )


def _words(sentence: Any, position: int) -> Sequence[str]:
    words: Sequence[str] = getattr(sentence, "words", sentence)
    if isinstance(words, str) or not isinstance(words, Sequence):
        raise EncoderError(f"sentence {position} (from 0) must be a list of words, not a text; found {words!r}")
    return words


def _shifted(progress: ProgressCallback, n_done: int, n_all: int) -> ProgressCallback:
    return lambda n_now, _: progress(n_done + n_now, n_all)


def _checked(out: object, shape: tuple[int, int]) -> Features:
    if not isinstance(out, np.ndarray) or out.shape != shape or out.dtype not in (np.float32, np.float16):
        found = f"{out.dtype} of shape {out.shape}" if isinstance(out, np.ndarray) else type(out).__name__
        raise DataError(f"out must be a float32 or float16 array of shape {shape}, or a path; found {found}")
    if not out.flags.writeable:
        raise DataError("out must be an array that can be written to; this one is read-only")
    return out


def _to_file(path: Path, shape: tuple[int, int], fill: Callable[[Features], None]) -> Features:
    """Make an .npy file, which appears when it is complete; return it mapped into memory, read-only."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        try:
            rows = np.lib.format.open_memmap(temporary, "w+", np.dtype(np.float32), shape)
            if hasattr(os, "posix_fallocate"):  # a disk that is full is an error now, not a crash later
                with temporary.open("r+b") as file:
                    os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
        except OSError as error:
            raise FileError(f"could not make {path}: {error.strerror or error}") from error
        fill(rows)
        rows.flush()
        del rows
        try:
            os.replace(temporary, path)
        except OSError as error:
            raise FileError(f"could not write {path}: {error.strerror or error}") from error
    finally:
        temporary.unlink(missing_ok=True)
    return np.lib.format.open_memmap(path, "r")
