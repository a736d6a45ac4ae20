"""Cosines to labelled words that are remembered from fit to fit: against those of the whole evidence."""

import numpy as np
import pytest

from handful.tagger.evidence import NearestLabel
from handful.text import Sentence
from handful.workbench._near import NearWords

N_TAGS, DIM = 4, 6


def labels(rng, vectors, n_open):
    """Make labelled words of these vectors; O words of the first ones are open for the last type."""
    tags = np.arange(len(vectors)) % 3  # the last type has no word
    is_open = np.zeros((len(vectors), N_TAGS), bool)
    is_open[:n_open, 3] = True
    return NearestLabel.of(vectors, tags, N_TAGS, is_open)


@pytest.mark.parametrize("seed", range(8))
def test_what_is_remembered_is_what_all_labels_say(seed):
    rng = np.random.default_rng(seed)
    text = [Sentence(tuple(f"w{i}_{j}" for j in range(rng.integers(1, 9)))) for i in range(12)]
    features = {one.words: rng.normal(size=(len(one.words), DIM)).astype(np.float32) for one in text}
    near, vectors, n_open = NearWords(), rng.normal(size=(6, DIM)).astype(np.float32), 0
    for _ in range(15):
        some = [text[i] for i in rng.permutation(12)[: rng.integers(1, 12)]]
        rows = np.concatenate([features[one.words] for one in some])
        now = labels(rng, vectors, n_open)
        near.follow(now)
        found = near.cosines(now, rows, some)
        assert np.allclose(found, now.by_kind(rows), atol=1e-12)
        assert np.allclose(now.logits_by(found), now.logits(rows), atol=1e-12)
        change = rng.integers(4)
        if change == 0 and len(vectors) > 8:  # a label is taken away
            vectors = np.delete(vectors, rng.integers(len(vectors)), axis=0)
        elif change == 1:  # a type comes later, or somebody has looked for it
            n_open = int(rng.integers(0, len(vectors)))
        else:
            vectors = np.concatenate([vectors, rng.normal(size=(3, DIM)).astype(np.float32)])
