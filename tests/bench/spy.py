"""Methods of a user's own."""

import sys
import time

from handful.text import Sentence, Span


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


class NeedsNoLabels(Spy):
    """Is given the types, and finds each word that is the description of one."""

    def __init__(self, encoder, types):
        super().__init__(encoder)
        self.types = types

    def fit(self, support, unlabelled=None):
        return self

    def predict_sentences(self, sentences):
        found = []
        for sentence in sentences:
            spans = [
                Span(i, i + 1, one.name)
                for i, word in enumerate(sentence.words)
                for one in self.types
                if one.description == word
            ]
            found.append(Sentence(sentence.words, tuple(spans)))
        return found


class Slow(Spy):
    """Says that it has begun, and waits to be killed."""

    def fit(self, support, unlabelled=None):
        sys.stdout.write("slow\n")
        sys.stdout.flush()
        time.sleep(600)
