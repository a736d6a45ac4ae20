"""`LabelModel`: what the labelled words alone say of a word's tag."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from handful.cluster._statistics import Float, row_blocks

__all__ = ["LabelModel"]

# Chosen on development data; docs/decisions/0002 has the figures.
FREEDOM = 40.0  # the regression's inverse penalty (C), on vectors of length 1
NEAREST = 27.0  # how much the nearest labelled word counts beside the regression


@dataclass(frozen=True)
class LabelModel:
    """A logistic regression on the labelled words, and those words themselves.

    Vectors are taken at length 1. The logit of tag t for a word x is ``weights[t] x + bias[t]``, the regression, plus
    `NEAREST` times the cosine of x to the nearest word labelled t: the regression knows what words of a tag have in
    common, the nearest word what only one of them has.

    Attributes
    ----------
    weights : (n_tags, d)
    bias : (n_tags,)
    vectors : (m, d) float32, the labelled words at length 1
    tags : (m,) their tags, each of 0 to n_tags - 1 at least once
    """

    weights: NDArray[np.float64]
    bias: NDArray[np.float64]
    vectors: NDArray[np.float32]
    tags: NDArray[np.int64]

    @classmethod
    def fit(cls, features: Float, tags: NDArray[np.int64], n_tags: int) -> "LabelModel":
        """Learn from words (m, d) whose tags are known; every tag must be among them."""
        from sklearn.linear_model import LogisticRegression

        vectors = _unit(features)
        regression = LogisticRegression(C=FREEDOM, max_iter=1000).fit(vectors, tags)
        weights, bias = regression.coef_.astype(np.float64), regression.intercept_.astype(np.float64)
        if n_tags == 2:  # scikit-learn gives the second tag's weights alone
            weights, bias = np.concatenate([-weights, weights]) / 2, np.concatenate([-bias, bias]) / 2
        return cls(np.ascontiguousarray(weights), bias, np.ascontiguousarray(vectors, np.float32), tags)

    def regression(self, features: Float) -> NDArray[np.float64]:
        """Return the regression's logits alone, (n, n_tags)."""
        return self._logits(features, nearest=0.0)

    def logits(self, features: Float) -> NDArray[np.float64]:
        """Return the logit of each tag for each word, (n, n_tags)."""
        return self._logits(features, nearest=NEAREST)

    def _logits(self, features: Float, nearest: float) -> NDArray[np.float64]:
        n, n_tags = len(features), len(self.bias)
        logits = np.empty((n, n_tags))
        weights = self.weights.astype(np.float32)
        for part, block in row_blocks(features):
            words = _unit(block)
            logits[part] = words @ weights.T + self.bias
            if nearest:
                cosines = words @ self.vectors.T  # (b, m)
                for tag in range(n_tags):
                    logits[part, tag] += nearest * cosines[:, self.tags == tag].max(axis=1)
        return logits


def _unit(features: Float) -> NDArray[np.float32]:
    """Return rows at length 1; one that is all zero stays so."""
    rows = np.asarray(features, np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows))
    return np.asarray(rows / np.where(lengths > 0, lengths, 1)[:, None])
