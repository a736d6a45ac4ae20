"""An encoder that knows what a word is by its first letter, and text for it."""

from hashlib import blake2b

import numpy as np

from handful import SubspaceKMeans, Tagger
from handful.encoders import TypeVectors
from handful.text import Transitions, types_of

TRANSITIONS = Transitions(start_type=0.148, o_type=0.094, type_o=0.502, type_other=0.015)
KINDS = {"P": 1, "L": 2, "G": 3}


class ToyEncoder:
    """Words in P, L and G stand apart from each other and from all others; the rest is noise, the same each time."""

    def __init__(self, dim=8, fingerprint="toy", noise=0.3):
        self.dim = dim
        self.transitions = TRANSITIONS
        self.fingerprint = fingerprint
        self.noise = noise
        self.n_words = 0
        self.largest_call = 0

    def encode(self, sentences, *, progress=None):
        rows = [self.vector(word) for sentence in sentences for word in getattr(sentence, "words", sentence)]
        self.n_words += len(rows)
        self.largest_call = max(self.largest_call, len(rows))
        if callable(progress):
            progress(len(rows), len(rows))
        return np.array(rows, np.float32).reshape(-1, self.dim)

    def vector(self, word):
        seed = blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        vector = self.noise * np.random.default_rng(int.from_bytes(seed)).standard_normal(self.dim)
        vector[KINDS.get(word[0], 0)] += 4
        return vector


class NamedEncoder(ToyEncoder):
    """A toy that reads names, too: a type is what its description starts with, or else its name."""

    has_names = True

    def encode_types(self, types):
        types = types_of(types)
        vectors = np.zeros((len(types), self.dim), np.float32)
        for vector, one in zip(vectors, types, strict=True):
            vector[KINDS.get((one.description or one.name)[0], 0)] = 4
        o_vectors = np.zeros((2, self.dim), np.float32)
        o_vectors[:, 0] = 4, 3
        half = [-0.5 * (rows**2).sum(axis=1) for rows in (vectors, o_vectors)]
        return TypeVectors(types, vectors, half[0] + np.float32(0.1), o_vectors, half[1])


SUPPORT = ["[Paul](PER) went to [London](LOC) with me", "the [Peter](PER) of [Lima](LOC) sleeps all day"]
UNLABELLED = [
    "Then Pia saw Leeds again .",
    "a dog and a cat sat there .",
    "We met Pablo near Lagos , not far from Lyon .",
    "nothing else is known of her .",
    "Pat and Pam wrote to us from Lille .",
]


PAPER = {"cache": False, "o_prototypes": 2, "method": "paper", "o_ratio": None}  # by hand, to be followed by hand
OF_CLUSTERS = SubspaceKMeans().get_params().keys() - {"o_ratio"}


def tagger(**options):
    """Make a tagger on the toy encoder; parameters of the clustering may be among the options."""
    options = PAPER | options
    clusters = SubspaceKMeans(**{name: options.pop(name) for name in OF_CLUSTERS & options.keys()})
    return Tagger(encoder=options.pop("encoder", None) or ToyEncoder(), clusters=clusters, **options)


def names(model):
    return [one.name for one in model.types_]


def fitted(**options):
    return tagger(**options).fit(SUPPORT, UNLABELLED)


def mentions(predictions):
    return [(found["word"], found["entity_group"]) for found in predictions]
