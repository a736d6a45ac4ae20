"""A small encoder that workers can have, texts for it, and what a serial run gives."""

import sys
import time
from hashlib import blake2b

import cloudpickle
import numpy as np

from handful.encoders import TypeVectors
from handful.text import read, types_of

KINDS = {"P": 1, "L": 2}
FEW = ["[Paul](PER) went to [London](LOC) with me", "the [Peter](PER) of [Lima](LOC) sleeps all day"]
TYPES = {"PER": "People", "LOC": "Locations"}
TEXTS = [
    f"{name} saw {place} again , and {other} did not . Then {name} left {place} ."
    for name in ("Pia", "Pablo", "Pam", "a dog", "Pat")
    for place in ("Leeds", "Lyon", "the sea", "Lille")
    for other in ("Pim", "nobody", "she", "Lou", "Pit")
]


class Encoder:
    """It knows what a word is by its first letter, and reads names, too; it may take its time."""

    has_names = True

    def __init__(self, seconds=0.0, dim=8, fingerprint="made"):
        self.dim = dim
        self.seconds = seconds
        self.fingerprint = fingerprint

    def encode(self, sentences, *, progress=None):
        time.sleep(self.seconds)
        rows = [self.vector(word) for sentence in sentences for word in sentence.words]
        return np.array(rows, np.float32).reshape(-1, self.dim)

    def vector(self, word):
        seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest())
        vector = 0.3 * np.random.default_rng(seed).standard_normal(self.dim)
        vector[KINDS.get(word[0], 0)] += 4
        return vector

    def unreadable(self, sentences):
        return np.array([word == "nobody" for sentence in sentences for word in sentence.words], bool)

    def encode_types(self, types):
        types = types_of(types)
        vectors = np.zeros((len(types), self.dim), np.float32)
        for vector, one in zip(vectors, types, strict=True):
            vector[KINDS.get((one.description or one.name)[0], 0)] = 4
        o_vectors = np.zeros((2, self.dim), np.float32)
        o_vectors[:, 0] = 4, 3
        half = [-0.5 * (rows**2).sum(axis=1) for rows in (vectors, o_vectors)]
        return TypeVectors(types, vectors, half[0] + np.float32(0.1), o_vectors, half[1])


cloudpickle.register_pickle_by_value(sys.modules[__name__])


def write_texts(folder, n_files=3):
    """Write the texts as lines of several files; return the pattern for them."""
    for number in range(0 if (folder / "text0.txt").exists() else n_files):
        lines = TEXTS[number * len(TEXTS) // n_files : (number + 1) * len(TEXTS) // n_files]
        (folder / f"text{number}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(folder / "text*.txt")


def sentences_of(folder):
    """Return all sentences of the texts, read one file after the other."""
    return [one for path in sorted(folder.glob("text*.txt")) for one in read(path, unlabelled=True)]
