"""An encoder with a cache: a sentence that it has seen is not encoded again.

The key of a sentence is a hash of the encoder's fingerprint and of its whole sequence of words. The words
themselves are not kept. ``docs/cache.md`` describes the files.
"""

import sqlite3
import time
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import numpy as np

from handful._util.progress import Progress, reporting
from handful.encoders.encoder import Encoder, WrappedEncoder, words_of
from handful.errors import EncoderError

from ._cache import FeatureCache
from ._store import KEY_BYTES, SUFFIX, Features, Ints, Store

#: Other sentences are encoded and kept in packs of about this size; a kill loses at most one.
PACK_BYTES = 64_000_000

_FORMAT = 2  # part of each file's name, so that two formats never meet


class CachedEncoder(WrappedEncoder):
    """An encoder that looks in a cache first, and keeps there what it had to encode, unless it is not to.

    It returns the features of the encoder inside, byte for byte. If the cache cannot be written to, there is one
    warning, and it costs only time.

    Parameters
    ----------
    encoder : the encoder inside. Its ``name``, if any, is for ``handful cache``.
    cache : by default a `FeatureCache` in its default place
    keeps : whether it keeps what it had to encode

    Examples
    --------
    >>> encoder = CachedEncoder(load("handful-en"))  # doctest: +SKIP
    >>> features = encoder.encode(sentences)  # doctest: +SKIP
    """

    def __init__(self, encoder: Encoder, cache: FeatureCache | None = None, *, keeps: bool = True) -> None:
        super().__init__(encoder)
        self.keeps = keeps
        self.cache = FeatureCache() if cache is None else cache
        self._identity = repr((_FORMAT, encoder.fingerprint, encoder.dim)).encode()
        head = {
            "encoder": self.name or self.fingerprint,
            "fingerprint": self.fingerprint,
            "dim": self.dim,
        }
        self._store = Store(self.cache.path / f"{_hash(self._identity).hex()}{SUFFIX}", head)

    def looking_up(self) -> "CachedEncoder":
        """Return the same encoder on the same file, one that keeps nothing it has to encode."""
        return type(self)(self.encoder, self.cache, keeps=False)

    def encode(self, sentences: Sequence[Any], *, progress: Progress = None) -> Features:
        """Return one row per word, from the cache if it has them; see `Encoder.encode`."""
        sentences = sentences if isinstance(sentences, Sequence) else list(sentences)
        words = [words_of(sentence, i) for i, sentence in enumerate(sentences)]
        keys = [self._key(sentence, i) for i, sentence in enumerate(words)]
        n_words = np.array([len(sentence) for sentence in words], np.int64)
        features = np.empty((int(n_words.sum()), self.dim), np.float32)
        since_ns = time.time_ns()
        stops = np.cumsum(n_words)
        starts = stops - n_words
        first: dict[bytes, int] = {}
        for i in np.flatnonzero(n_words).tolist():
            first.setdefault(keys[i], i)

        def not_cached(wanted: Ints) -> Ints:
            return wanted[self._store.fetch([keys[i] for i in wanted], features, starts[wanted])]

        left = not_cached(np.fromiter(first.values(), np.int64, len(first)))
        if not self.keeps and len(left) == len(first):
            return self.encoder.encode(sentences, progress=progress)
        with reporting(progress, len(features)) as report:
            report(len(features) - int(n_words[left].sum()), len(features))
            while len(left):
                sizes = np.cumsum(n_words[left])
                n_fit = max(1, int(np.searchsorted(sizes * self.dim * 4, PACK_BYTES, side="right")))
                n_done = len(features) - int(sizes[-1])
                batch, left = left[:n_fit], left[n_fit:]

                def shifted(n_now: int, _: int, n_before: int = n_done) -> None:
                    report(n_before + n_now, len(features))

                found = self.encoder.encode([sentences[i] for i in batch], progress=shifted)
                shape = int(sizes[n_fit - 1]), self.dim
                if found.shape != shape or found.dtype != np.float32:
                    raise EncoderError(
                        f"encoder {self.name!r} must give float32 features of shape {shape}; "
                        f"found {found.dtype} of shape {found.shape}"
                    )
                if self.keeps:
                    self._keep([keys[i] for i in batch], n_words[batch].tolist(), found, since_ns)
                for i, part in zip(batch, np.split(found, sizes[: n_fit - 1]), strict=True):
                    features[starts[i] : stops[i]] = part
                left = not_cached(left)  # another process may have added some of the rest by now
        for i in np.flatnonzero(n_words).tolist():
            j = first[keys[i]]
            if j != i:
                features[starts[i] : stops[i]] = features[starts[j] : stops[j]]
        return features

    def _key(self, words: Sequence[str], position: int) -> bytes:
        """Return a hash of lengths and letters: a separator could also be part of a word."""
        try:
            text = ",".join(map(str, map(len, words))) + ";" + "".join(words)
        except TypeError as error:
            raise EncoderError(f"sentence {position} must consist of str, found {words!r}") from error
        return _hash(self._identity + text.encode("utf-8", "surrogatepass"))

    def _keep(self, keys: Sequence[bytes], n_words: Sequence[int], rows: Features, since_ns: int) -> None:
        """Put features into the cache, if that can be done; they are in memory either way."""
        n_bytes = int(rows.nbytes * 1.1) + 128 * len(keys)  # with the index, rounded up
        n_bytes += 0 if self._store.path.exists() else 65_536
        cache = self.cache
        try:
            if cache.make_room(n_bytes, since_ns):
                self._store.add(keys, n_words, rows)
            else:
                self._store.warn(
                    f"the feature cache {cache.path} is full of what is in use now ({cache.limit:,} bytes): "
                    "the rest will be encoded each time. Set HANDFUL_CACHE_LIMIT higher to keep more.",
                )
        except (OSError, sqlite3.Error) as error:
            self._store.warn(
                f"features could not be written to {cache.path} ({error}): they will be "
                "encoded each time. Set HANDFUL_CACHE to a folder that has room and that you can write to.",
            )


def _hash(content: bytes) -> bytes:
    return blake2b(content, digest_size=KEY_BYTES).digest()
