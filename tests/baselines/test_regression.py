"""Logistic regression against a general minimiser of the same objective."""

import numpy as np
import pytest
from scipy.optimize import minimize

from handful.baselines import RegressionBaseline

from .made import encoder, labelled_words, sentences, softmax, tagged

TAGS = ("O", "LOC", "PER")


def minimised(known):
    """Minimise the objective in the docstring, with derivatives by differences."""
    dim, n_tags = len(known[0][0]), len(TAGS)

    def logits(parameters, x):
        weights = parameters.reshape(n_tags, dim + 1)
        return {tag: weights[i, :dim] @ x + weights[i, dim] for i, tag in enumerate(TAGS)}

    def objective(parameters):
        weights = parameters.reshape(n_tags, dim + 1)
        losses = [-np.log(softmax(logits(parameters, x))[tag]) for x, tag in known]
        return sum(losses) + (weights[:, :dim] ** 2).sum() / 2

    found = minimize(objective, np.zeros(n_tags * (dim + 1)), options={"gtol": 1e-4})
    return lambda x: softmax(logits(found.x, x))


def test_scores_are_those_of_a_general_minimiser():
    support, test = sentences(1, 5), sentences(2, 10)
    model = encoder()
    scores_of = minimised(labelled_words(support, model))
    fitted = RegressionBaseline(model).fit(support)
    for sentence in test:
        scores = [scores_of(model.vector(word)) for word in sentence.words]
        expected = tagged(sentence.words, [max(TAGS, key=each.get) for each in scores])
        assert fitted.predict_sentences([sentence]) == [expected]
        for span, found in zip(expected.spans, fitted.predict(sentence), strict=True):
            mean = np.mean([scores[i][span.type] for i in range(span.start, span.end)])
            assert found["score"] == pytest.approx(mean, abs=1e-3)


def test_with_one_type_and_with_no_words():
    model = RegressionBaseline(encoder()).fit(["[Paul](PER) met aaa there", "see [Peter](PER) bbb"])
    assert [found["word"] for found in model.predict("bbb saw Peter there")] == ["Peter"]
    assert model.predict("") == []
