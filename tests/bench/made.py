"""A made corpus whose types show in a word's first letter, and an encoder that sees it."""

from hashlib import blake2b
from random import Random

import numpy as np

from handful.encoders import Encoder, TypeVectors
from handful.text import Sentence, Span, Transitions, types_of, write

KINDS = {"P": 1, "L": 2}
NAMES = {"PER": ["Paul", "Pia", "Peter", "Pat", "Pablo", "Pam"], "LOC": ["Lima", "Leeds", "Lagos", "Lyon", "Lille"]}
OTHERS = tuple("abcdefghijkmnopqrstuvwxyz")


class MadeEncoder(Encoder):
    """Words in P and L stand apart, noisily; the same word has the same vector each time."""

    name = "made"
    transitions = Transitions(start_type=0.148, o_type=0.094, type_o=0.502, type_other=0.015)

    def __init__(self, dim=6, fingerprint="made 1"):
        self.dim = dim
        self.fingerprint = fingerprint
        self.n_words = 0

    def encode(self, sentences, *, progress=None):
        rows = [self._vector(word) for sentence in sentences for word in getattr(sentence, "words", sentence)]
        self.n_words += len(rows)
        return np.array(rows, np.float32).reshape(-1, self.dim)

    def _vector(self, word):
        seed = int.from_bytes(blake2b(word.encode(), digest_size=8).digest())
        vector = 0.8 * np.random.default_rng(seed).standard_normal(self.dim)
        vector[KINDS.get(word[0], 0)] += 2
        return vector


class NamingEncoder(MadeEncoder):
    """Reads a type by the first letter of its description, or of its name where it has none."""

    has_names = True

    def __init__(self, **options):
        super().__init__(**options)
        self.asked = []

    def encode_types(self, types):
        types = types_of(types)
        self.asked.append(types)
        vectors = np.zeros((len(types), self.dim), np.float32)
        for row, one in zip(vectors, types, strict=True):
            row[KINDS.get((one.description or one.name)[0].upper(), 5)] = 3
        o_vectors = np.zeros((1, self.dim), np.float32)
        o_vectors[0, 0] = 3
        return TypeVectors(types, vectors, np.zeros(len(types), np.float32), o_vectors, np.zeros(1, np.float32))


def sentences(n, seed):
    random = Random(seed)
    made = []
    for _ in range(n):
        words, spans = [], []
        for _ in range(random.randint(1, 3)):
            words += random.choices(OTHERS, k=random.randint(1, 4))
            label = random.choice(list(NAMES))
            length = random.randint(1, 2)
            spans.append(Span(len(words), len(words) + length, label))
            words += random.choices(NAMES[label], k=length)
        words.append(random.choice(OTHERS))
        made.append(Sentence(tuple(words), tuple(spans)))
    return made


def corpus_folder(folder, *, has_dev=True, sizes=(30, 20, 25), seed=0):
    """Write train, dev and test files."""
    folder.mkdir(parents=True, exist_ok=True)
    for number, (split, n) in enumerate(zip(("train", "dev", "test"), sizes, strict=True)):
        if split != "dev" or has_dev:
            write(sentences(n, 10 * seed + number), folder / f"{split}.txt", "conll")
    return folder
