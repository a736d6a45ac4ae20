"""Words as Gaussians with diagonal covariance: distances between them, and the contrastive loss of CONTaiNER.

A word p has means mu_p and variances s_p, both of length l. The distance of two words is the mean of both
Kullback-Leibler divergences, in which the logarithms cancel (all sums over the l entries)::

    d(p, q) = 1/4 sum [ s_p / s_q + s_q / s_p + (mu_p - mu_q)^2 (1 / s_p + 1 / s_q) - 2 ]

or, with "euclidean", ``d(p, q) = sum (mu_p - mu_q)^2``.
"""

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Distance", "Gaussians", "contrastive", "distances"]

Float = NDArray[np.floating[Any]]
Distance = Literal["kl", "euclidean"]

#: Means (n, l) and variances (n, l).
Gaussians = tuple[Float, Float]


def distances(one: Gaussians, other: Gaussians, distance: Distance) -> Float:
    """Return the distance of each word of one to each of the other, (n, m), as one product of matrices."""
    middle = other[0].mean(axis=0)  # distances do not depend on it; digits do
    mu, nu = one[0] - middle, other[0] - middle
    if distance == "euclidean":
        found = (mu**2).sum(axis=1)[:, None] - 2 * mu @ nu.T + (nu**2).sum(axis=1)
        return np.asarray(np.maximum(found, 0))
    s, r = one[1], other[1]
    u, v = 1 / s, 1 / r
    left = np.concatenate([s + mu**2, u, mu * u, mu], axis=1)
    right = np.concatenate([v, r + nu**2, -2 * nu, -2 * nu * v], axis=1)
    found = left @ right.T
    found += (mu**2 * u).sum(axis=1)[:, None] + (nu**2 * v).sum(axis=1) - 2 * mu.shape[1]
    return np.asarray(np.maximum(found / 4, 0))


def contrastive(words: Gaussians, tags: NDArray[np.integer[Any]], distance: Distance) -> tuple[float, Float, Float]:
    """Return the contrastive loss of a batch, and its derivatives by means and variances.

    A word's partners are the other words with its tag. With the mean over the words p that have partners::

        loss = mean_p  -log [ (1 / n_p) sum_{q partner of p} exp(-d(p, q)) / sum_{q != p} exp(-d(p, q)) ]

    Words without partners still count among the q. A batch in which no word has a partner has loss 0.

    Parameters
    ----------
    words : means (n, l) and variances (n, l)
    tags : (n,)
    distance : "kl" or "euclidean"; the latter does not depend on variances

    Returns
    -------
    loss, by means (n, l), by variances (n, l)
    """
    mu, s = words
    n = len(tags)
    is_partner = tags[:, None] == tags
    np.fill_diagonal(is_partner, False)
    n_partners = is_partner.sum(axis=1)
    has_partner = n_partners > 0
    if not has_partner.any():
        return 0.0, np.zeros_like(mu), np.zeros_like(s)
    logits = -distances(words, words, distance)
    np.fill_diagonal(logits, -np.inf)
    of_all, log_all = _shares(logits[has_partner])
    of_partners, log_partners = _shares(np.where(is_partner, logits, -np.inf)[has_partner])
    losses = log_all - log_partners + np.log(n_partners[has_partner])
    # The derivative by d(p, q): a partner's share of the numerator less its share of the denominator.
    by_distance = np.zeros((n, n), mu.dtype)
    by_distance[has_partner] = (of_partners - of_all) / has_partner.sum()
    by_distance += by_distance.T  # d(p, q) and d(q, p) are one
    by_mean, by_variance = _chain(mu - mu.mean(axis=0), s, by_distance, distance)
    return float(losses.mean()), by_mean, by_variance


def _shares(logits: Float) -> tuple[Float, Float]:
    """Return the softmax of each row, and the logarithm of the sum of its exponentials."""
    most = logits.max(axis=1, keepdims=True)
    powers = np.exp(logits - most)
    total = powers.sum(axis=1, keepdims=True)
    return powers / total, (most + np.log(total))[:, 0]


def _chain(mu: Float, s: Float, h: Float, distance: Distance) -> Gaussians:
    """Return derivatives by mu and s from those by distances: h (n, n), symmetric, both directions in one entry."""
    row = h.sum(axis=1, keepdims=True)
    if distance == "euclidean":
        return 2 * (row * mu - h @ mu), np.zeros_like(s)
    v = 1 / s
    h_v, h_mu, h_mu_v, h_s, h_square = np.split(h @ np.concatenate([v, mu, mu * v, s, mu**2], axis=1), 5, axis=1)
    by_mean = (mu * v * row + mu * h_v - v * h_mu - h_mu_v) / 2
    by_variance = (h_v - v**2 * (h_s + mu**2 * row - 2 * mu * h_mu + h_square)) / 4
    return by_mean, by_variance
