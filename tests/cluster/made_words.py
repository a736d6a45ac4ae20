"""Made words of a few tags, some of them labelled."""

import numpy as np
import pytest
from hypothesis import strategies as st

SEEDS = st.integers(0, 2**32 - 1)
MODES = pytest.mark.parametrize("assignment", ["hard", "soft"])


def made_words(seed=0, n=400, d=8, n_types=3, o_share=0.7, apart=4.0, n_labelled=5):
    """Return X, y with a few labels, and the true tags: O in two groups, each type in one."""
    rng = np.random.default_rng(seed)
    share = np.r_[o_share / 2, o_share / 2, np.full(n_types, (1 - o_share) / n_types)]
    group = np.r_[np.repeat(np.arange(n_types + 2), n_labelled), rng.choice(n_types + 2, n, p=share)][:n]
    X = rng.normal(size=(n, d)) + apart * rng.normal(size=(n_types + 2, d))[group]
    truth = np.maximum(group - 1, 0)
    y = np.full(n, -1)
    for t in range(n_types + 1):
        y[np.flatnonzero(truth == t)[: (2 if t == 0 else 1) * n_labelled]] = t
    return X, y, truth
