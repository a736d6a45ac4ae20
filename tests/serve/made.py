"""Taggers on a toy encoder: what a word is, its first letter says."""

from handful import Tagger
from tagger.toy import NamedEncoder

TYPES = {"PER": "P people", "LOC": "L places"}
TEXT = "Then Pia saw Leeds again . We met Pablo near Lyon ."


def fitted(types=TYPES, support=None, encoder=None):
    return Tagger(types, encoder=encoder or NamedEncoder(), cache=False).fit(support)


def words(entities):
    return [(one["word"], one["entity_group"]) for one in entities]


class SlowEncoder(NamedEncoder):
    """An encoder that waits until it is let go."""

    def __init__(self, gate):
        super().__init__()
        self.gate = gate
        self.calls = []

    def encode(self, sentences, **options):
        sentences = list(sentences)
        self.calls.append(len(sentences))
        assert self.gate.wait(30)
        return super().encode(sentences, **options)


class FaultyEncoder(NamedEncoder):
    """An encoder with a fault: one word brings it down."""

    def encode(self, sentences, **options):
        if any("Pandora" in getattr(one, "words", one) for one in sentences):
            raise RuntimeError("a secret of the server")
        return super().encode(sentences, **options)
