"""An encoder that counts what it encodes, and ways to look into and to damage a cache."""

import time
from hashlib import blake2b

import numpy as np

from handful.encoders import Encoder


class CountingEncoder(Encoder):
    """Rows depend on the fingerprint, the whole sentence and the place of the word in it."""

    def __init__(self, dim=8, fingerprint="counting", seconds=0.0):
        self.dim = dim
        self.fingerprint = fingerprint
        self.seconds = seconds
        self.seen = []

    def encode(self, sentences, *, progress=None):
        rows = [np.empty((0, self.dim), np.float32)]
        n_words = sum(len(words_of(sentence)) for sentence in sentences)
        for sentence in sentences:
            words = words_of(sentence)
            self.seen.append(tuple(words))
            time.sleep(self.seconds)
            for i in range(len(words)):
                seed = blake2b(repr((self.fingerprint, i, *words)).encode(), digest_size=8).digest()
                rows.append(np.random.default_rng(int.from_bytes(seed)).standard_normal((1, self.dim), np.float32))
            if progress:
                progress(sum(map(len, rows)), n_words)
        return np.concatenate(rows)


def words_of(sentence):
    return getattr(sentence, "words", sentence)


def sentences_of(n, first=0, n_words=4):
    return [[f"word{i}", *(f"w{i * j}" for j in range(1, n_words))] for i in range(first, first + n)]


def stores_of(cache):
    return sorted(cache.path.glob("*.sqlite"))


def expected(sentences, **options):
    return CountingEncoder(**options).encode(sentences)


def assert_same(found, wanted):
    assert found.dtype == wanted.dtype
    assert found.shape == wanted.shape
    assert found.tobytes() == wanted.tobytes()


def damage(path, where, kind):
    content = bytearray(path.read_bytes())
    at = int(where * (len(content) - 1))
    if kind == "flip":
        content[at] ^= 0x10
    elif kind == "cut":
        del content[at:]
    elif kind == "zero":
        content[at:] = bytes(len(content) - at)
    elif kind == "longer":
        content += b"more"
    path.write_bytes(content)
