"""The Gaussian heads of CONTaiNER over features that stay as they are, and their training.

From a word's features h, divided by one number so that their mean square on the source is 1::

    mu = relu(h) W_mu + b_mu          s = ELU(relu(h) W_s + b_s) + 1 + EPSILON
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._gaussians import Distance, Gaussians, contrastive

__all__ = ["Heads", "finetune", "train"]

Float = NDArray[np.floating[Any]]

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

    Parameters
    ----------
    features : for each corpus (n, d)
    tags : for each corpus (n,)
    starts : for each corpus where its sentences begin among its words, and where the last one ends
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
