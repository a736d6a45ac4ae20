"""Words as Gaussians with diagonal covariance: their distances, CONTaiNER's contrastive loss, and its heads.

A word p has means mu_p and variances s_p, both of length l. The distance of two words is the mean of both
Kullback-Leibler divergences, in which the logarithms cancel (all sums over the l entries)::

    d(p, q) = 1/4 sum [ s_p / s_q + s_q / s_p + (mu_p - mu_q)^2 (1 / s_p + 1 / s_q) - 2 ]

or, with "euclidean", ``d(p, q) = sum (mu_p - mu_q)^2``.

The heads of CONTaiNER over features h that stay as they are, divided by one number so that their mean square on the
source is 1::

    mu = relu(h) W_mu + b_mu          s = ELU(relu(h) W_s + b_s) + 1 + EPSILON
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.floating[Any]]
Distance = Literal["kl", "euclidean"]

#: Means (n, l) and variances (n, l).
Gaussians = tuple[Float, Float]

EPSILON = float(np.exp(-14))
SIZE = 128  # the length of means and variances
SENTENCES = 32  # in a batch of the source
WORDS = 1024  # in a batch of the support, at most
EPOCHS = 3  # over the source
RATE = 1e-3  # of Adam, on the source
RATE_ON_SUPPORT = 1e-3
MOST_ROUNDS = 100  # over the support

#: W_mu (d, l), b_mu (l,), W_s (d, l), b_s (l,).
Weights = tuple[Float, ...]


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


@dataclass(frozen=True)
class Heads:
    """Two linear layers, for means and for variances."""

    weights: Weights  # W_mu (d, l), b_mu (l,), W_s (d, l), b_s (l,)
    scale: float  # what features are divided by

    def gaussians(self, features: Float) -> Gaussians:
        """Return means (n, l) and variances (n, l), in double precision."""
        weights = tuple(part.astype(np.float64) for part in self.weights)
        mu, s, _ = _forward(weights, _rectified(features.astype(np.float64), self.scale))
        return mu, s


def train(features: Sequence[Float], tags: Sequence[NDArray[np.intp]], starts: Sequence[NDArray[np.intp]]) -> Heads:
    """Train heads on source corpora, by batches of sentences, each from one corpus.

    Each corpus has features (n, d), tags (n,), and starts: where its sentences begin, and where the last one ends.
    """
    rng = np.random.default_rng(0)
    dim = features[0].shape[1]
    scale = float(np.sqrt(np.mean([np.square(each, dtype=np.float64).mean() for each in features]))) or 1.0
    bound = 1 / np.sqrt(dim)  # how layers of this shape are usually started
    shapes = ((dim, SIZE), (SIZE,), (dim, SIZE), (SIZE,))
    weights: Weights = tuple(rng.uniform(-bound, bound, shape).astype(np.float32) for shape in shapes)
    adam = _Adam(weights, RATE)
    for _ in range(EPOCHS):
        for corpus, words in _batches(starts, rng):
            rows = _rectified(features[corpus][words].astype(np.float32), scale)
            _, gradient = loss_and_gradient(weights, rows, tags[corpus][words], "kl")
            weights = adam.step(weights, gradient)
    return Heads(weights, scale)


def finetune(heads: Heads, features: Float, tags: NDArray[np.intp], distance: Distance) -> Heads:
    """Train heads further on the labelled words of a support.

    Rounds over all words go on until the loss no longer falls, or `MOST_ROUNDS` are done; the weights with the lowest
    loss are kept.
    """
    rng = np.random.default_rng(0)
    rows = _rectified(features.astype(np.float32), heads.scale)
    weights, kept = heads.weights, heads.weights
    adam = _Adam(weights, RATE_ON_SUPPORT)
    lowest = np.inf
    for _ in range(MOST_ROUNDS):
        before, losses = weights, []
        for part in np.array_split(rng.permutation(len(tags)), -(-len(tags) // WORDS)):
            loss, gradient = loss_and_gradient(weights, rows[part], tags[part], distance)
            losses.append(loss * len(part))
            weights = adam.step(weights, gradient)
        if not sum(losses) < lowest:
            break
        lowest, kept = sum(losses), before
    return Heads(kept, heads.scale)


def loss_and_gradient(
    weights: Weights, rows: Float, tags: NDArray[np.intp], distance: Distance
) -> tuple[float, Weights]:
    """Return the contrastive loss of a batch of rectified features (n, d), and its derivatives by the weights."""
    mu, s, by_input = _forward(weights, rows)
    loss, by_mean, by_variance = contrastive((mu, s), tags, distance)
    by_variance *= by_input
    return loss, (rows.T @ by_mean, by_mean.sum(axis=0), rows.T @ by_variance, by_variance.sum(axis=0))


def _rectified(features: Float, scale: float) -> Float:
    return np.maximum(features, 0) / features.dtype.type(scale)


def _forward(weights: Weights, rows: Float) -> tuple[Float, Float, Float]:
    """Return means, variances, and the derivatives of variances by what goes into ELU, each (n, l)."""
    inputs = rows @ weights[2] + weights[3]
    below = np.exp(np.minimum(inputs, 0))  # ELU is below - 1 there
    variances = np.maximum(inputs, 0) + below + inputs.dtype.type(EPSILON)
    return rows @ weights[0] + weights[1], variances, np.where(inputs > 0, 1, below).astype(inputs.dtype)


def _batches(starts: Sequence[NDArray[np.intp]], rng: np.random.Generator) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield the batches of an epoch, in random order: the corpus, and the words of some of its sentences."""
    batches = []
    for corpus, places in enumerate(starts):
        order = rng.permutation(len(places) - 1)
        for i in range(0, len(order), SENTENCES):
            words = [np.arange(places[j], places[j + 1]) for j in order[i : i + SENTENCES]]
            batches.append((corpus, np.concatenate(words)))
    for i in rng.permutation(len(batches)):
        yield batches[i]


class _Adam:
    """Adam (Kingma and Ba 2015), with its usual constants and no weight decay."""

    def __init__(self, weights: Weights, rate: float) -> None:
        self.rate = rate
        self.n_steps = 0
        self.first = [np.zeros_like(part) for part in weights]
        self.second = [np.zeros_like(part) for part in weights]

    def step(self, weights: Weights, gradient: Weights) -> Weights:
        """Return the weights after a step."""
        self.n_steps += 1
        moved = []
        for part, by, first, second in zip(weights, gradient, self.first, self.second, strict=True):
            first += 0.1 * (by - first)
            second += 0.001 * (by**2 - second)
            height = first / (1 - 0.9**self.n_steps)
            width = np.sqrt(second / (1 - 0.999**self.n_steps)) + 1e-8
            moved.append((part - self.rate * height / width).astype(part.dtype))
        return tuple(moved)
