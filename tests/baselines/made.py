"""Sentences of made-up words for the toy encoder, and slow ways to the same answers."""

import numpy as np

from handful import Sentence, Span
from tagger.toy import ToyEncoder

# Letters that the toy tells apart well (P, L) or not at all (the rest), so that methods are wrong now and then.
LETTERS = "PPLLabcdefg"
OF = {"P": "PER", "L": "LOC"}


def encoder(transitions=None):
    """Make one in whose space kinds of words overlap; it may know how tags follow each other."""
    made = ToyEncoder(noise=1.5)
    if transitions is not None:
        made.transitions = transitions
    return made


def sentences(seed, n, *, n_words=6):
    """Make labelled sentences; a word's letter mostly tells its type, and neighbours of one type are one mention."""
    rng = np.random.default_rng(seed)
    made = []
    for _ in range(n):
        words = ["".join([rng.choice(list(LETTERS)), *rng.choice(list("xyz"), 5)]) for _ in range(n_words)]
        tags = [OF.get(word[0], "O") if rng.random() < 0.9 else "O" for word in words]
        made.append(tagged(words, tags))
    return made


def tagged(words, tags):
    """Make a sentence of IO tags."""
    spans, start = [], 0
    for end in range(1, len(tags) + 1):
        if end == len(tags) or tags[end] != tags[start]:
            if tags[start] != "O":
                spans.append(Span(start, end, tags[start]))
            start = end
    return Sentence(tuple(words), tuple(spans))


def tags_of(sentence):
    tags = ["O"] * len(sentence.words)
    for span in sentence.spans:
        tags[span.start : span.end] = [span.type] * (span.end - span.start)
    return tags


def labelled_words(support, model):
    """Give (vector, tag) of every labelled word."""
    return [
        (model.vector(word).astype(np.float32).astype(float), tag)
        for sentence in support
        for word, tag in zip(sentence.words, tags_of(sentence), strict=True)
    ]


def softmax(values):
    """Turn a dict of numbers into one of shares."""
    most = max(values.values())
    powers = {key: float(np.exp(value - most)) for key, value in values.items()}
    return {key: power / sum(powers.values()) for key, power in powers.items()}
