"""Gaussian distances and the contrastive loss against integrals, loops and differences."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from handful.baselines import _gaussians as heads
from handful.baselines._gaussians import EPSILON, Heads, contrastive, distances, finetune, loss_and_gradient, train


def made(seed, n, size=3):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, size)) * 2, rng.uniform(0.3, 3, size=(n, size))


def divergence(mean, variance, other_mean, other_variance):
    """KL of two Gaussians on a line, by its integral."""
    x = mean + np.linspace(-12, 12, 2001) * math.sqrt(variance)
    one, other = norm.logpdf(x, mean, math.sqrt(variance)), norm.logpdf(x, other_mean, math.sqrt(other_variance))
    return np.trapezoid(np.exp(one) * (one - other), x)


def slow_distance(words, other, p, q, distance):
    (mu, s), (nu, r) = words, other
    if distance == "euclidean":
        return sum((mu[p, j] - nu[q, j]) ** 2 for j in range(mu.shape[1]))
    return sum(
        (divergence(mu[p, j], s[p, j], nu[q, j], r[q, j]) + divergence(nu[q, j], r[q, j], mu[p, j], s[p, j])) / 2
        for j in range(mu.shape[1])
    )


@pytest.mark.parametrize("distance", ["kl", "euclidean"])
def test_distances_are_those_of_integrals(distance):
    one, other = made(1, 4), made(2, 3)
    found = distances(one, other, distance)
    for p in range(4):
        for q in range(3):
            assert found[p, q] == pytest.approx(slow_distance(one, other, p, q, distance), rel=1e-6)


@pytest.mark.parametrize("distance", ["kl", "euclidean"])
def test_a_word_is_at_no_distance_from_itself_wherever_it_lies(distance):
    mu, s = made(3, 5)
    np.testing.assert_allclose(np.diag(distances((mu + 1e5, s), (mu + 1e5, s), distance)), 0, atol=1e-5)


def slow_loss(words, tags, distance):
    losses = []
    for p, tag in enumerate(tags):
        near = {q: math.exp(-slow_distance(words, words, p, q, distance)) for q in range(len(tags)) if q != p}
        partners = [value for q, value in near.items() if tags[q] == tag]
        if partners:
            losses.append(-math.log(sum(partners) / len(partners) / sum(near.values())))
    return sum(losses) / len(losses)


TAGS = np.array([0, 0, 1, 2, 1, 0, 2, 3])  # 3 has no partner


@pytest.mark.parametrize("distance", ["kl", "euclidean"])
def test_the_loss_is_that_of_a_loop(distance):
    words = made(4, len(TAGS), size=2)
    assert contrastive(words, TAGS, distance)[0] == pytest.approx(slow_loss(words, TAGS.tolist(), distance), rel=1e-6)


def differences(function, point, step=1e-6):
    answer = np.empty_like(point)
    for i in np.ndindex(point.shape):
        moved = point.copy()
        moved[i] += step
        above = function(moved)
        moved[i] -= 2 * step
        answer[i] = (above - function(moved)) / (2 * step)
    return answer


@pytest.mark.parametrize("distance", ["kl", "euclidean"])
def test_derivatives_are_those_of_differences(distance):
    mu, s = made(5, len(TAGS))
    _, by_mean, by_variance = contrastive((mu, s), TAGS, distance)
    np.testing.assert_allclose(
        by_mean, differences(lambda m: contrastive((m, s), TAGS, distance)[0], mu), rtol=1e-5, atol=1e-7
    )
    np.testing.assert_allclose(
        by_variance, differences(lambda v: contrastive((mu, v), TAGS, distance)[0], s), rtol=1e-5, atol=1e-7
    )


def test_words_all_without_partners_have_no_loss():
    mu, s = made(6, 3)
    loss, by_mean, by_variance = contrastive((mu, s), np.array([0, 1, 2]), "kl")
    assert loss == 0
    assert not by_mean.any()
    assert not by_variance.any()


def small_weights(seed, dim=4, size=3):
    rng = np.random.default_rng(seed)
    return tuple(rng.normal(size=shape) for shape in ((dim, size), (size,), (dim, size), (size,)))


@pytest.mark.parametrize("distance", ["kl", "euclidean"])
def test_derivatives_by_weights_are_those_of_differences(distance):
    rows = np.abs(np.random.default_rng(7).normal(size=(len(TAGS), 4)))
    weights = small_weights(8)
    _, gradient = loss_and_gradient(weights, rows, TAGS, distance)
    for i, found in enumerate(gradient):

        def loss(part, i=i):
            return loss_and_gradient((*weights[:i], part, *weights[i + 1 :]), rows, TAGS, distance)[0]

        np.testing.assert_allclose(found, differences(loss, weights[i]), rtol=1e-4, atol=1e-7)


def test_heads_give_the_means_and_variances_of_the_formula():
    weights = small_weights(9)
    features = np.random.default_rng(10).normal(size=(6, 4))
    mu, s = Heads(weights, 2.0).gaussians(features)
    for i, row in enumerate(features):
        h = [max(value, 0) / 2.0 for value in row]
        for j in range(3):
            mean = sum(h[k] * weights[0][k, j] for k in range(4)) + weights[1][j]
            a = sum(h[k] * weights[2][k, j] for k in range(4)) + weights[3][j]
            elu = a if a > 0 else math.exp(a) - 1
            assert mu[i, j] == pytest.approx(mean)
            assert s[i, j] == pytest.approx(elu + 1 + EPSILON)
    assert (s > 1).any()
    assert (s < 1).any()  # both sides of ELU


def overlapping(seed, n=240, dim=10):
    """Three tags that differ in three directions, among others with more noise."""
    rng = np.random.default_rng(seed)
    tags = rng.integers(0, 3, n)
    features = rng.normal(size=(n, dim)) * np.where(np.arange(dim) < 3, 0.5, 4)
    features[np.arange(n), tags] += 2
    return features.astype(np.float32), tags


def share_right(heads, known, known_tags, features, tags, distance):
    found = distances(heads.gaussians(features), heads.gaussians(known), distance).argmin(axis=1)
    return (known_tags[found] == tags).mean()


def test_training_brings_words_of_a_tag_together(monkeypatch):
    corpora = [overlapping(1), overlapping(2)]
    starts = [np.arange(0, 241, 8)] * 2
    (features, tags), (test, test_tags) = overlapping(3, 40), overlapping(4)
    monkeypatch.setattr(heads, "EPOCHS", 0)
    start = train([f for f, _ in corpora], [t for _, t in corpora], starts)
    monkeypatch.setattr(heads, "EPOCHS", 30)
    trained = train([f for f, _ in corpora], [t for _, t in corpora], starts)
    for distance in ("kl", "euclidean"):
        before = share_right(start, features, tags, test, test_tags, distance)
        after = share_right(trained, features, tags, test, test_tags, distance)
        assert after > before + 0.1
    again = train([f for f, _ in corpora], [t for _, t in corpora], starts)
    assert all((one == other).all() for one, other in zip(trained.weights, again.weights, strict=True))


@pytest.mark.parametrize("distance", ["kl", "euclidean"])
def test_training_on_a_support_lowers_its_loss_and_stops(distance, monkeypatch):
    features, tags = overlapping(5, 30)
    start = Heads(tuple(part.astype(np.float32) for part in small_weights(6, dim=10)), 1.0)
    losses = []
    for n_rounds in (1, 5, 20):  # the first round only measures
        monkeypatch.setattr(heads, "MOST_ROUNDS", n_rounds)
        tuned = finetune(start, features, tags, distance)
        losses.append(contrastive(tuned.gaussians(features), tags, distance)[0])
    assert losses[0] == contrastive(start.gaussians(features), tags, distance)[0]
    assert losses[0] > losses[1] > losses[2]
    monkeypatch.setattr(
        heads, "RATE_ON_SUPPORT", 1e3
    )  # the first step goes far astray: nothing is gained, so none is kept
    thrown = finetune(start, features, tags, distance)
    assert all(one is other for one, other in zip(thrown.weights, start.weights, strict=True))
