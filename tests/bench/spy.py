"""Methods of a user's own."""

import sys
import time

from handful.text import Sentence


class Spy:
    """Refuses to see what it must not see."""

    def __init__(self, encoder):
        self.encoder = encoder

    def fit(self, support, unlabelled=None):
        assert all(sentence.is_labelled for sentence in support)
        assert all(sentence.is_unlabelled for sentence in unlabelled)
        self.encoder.encode(support)
        return self

    def predict_sentences(self, sentences):
        assert all(sentence.is_unlabelled for sentence in sentences)
        return [Sentence(sentence.words, ()) for sentence in sentences]


class Slow(Spy):
    """Says that it has begun, and waits to be killed."""

    def fit(self, support, unlabelled=None):
        sys.stdout.write("slow\n")
        sys.stdout.flush()
        time.sleep(600)
