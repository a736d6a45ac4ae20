"""Runs of one type within a sentence are mentions."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import Span
from handful.tagger.decoding import decode, log_probabilities, viterbi
from handful.text import Transitions

TYPES = ["LOC", "PER"]


def naive(tags_by_sentence):
    """Find the runs word by word."""
    found = []
    for tags in tags_by_sentence:
        spans = []
        for i, tag in enumerate(tags):
            if tag == 0:
                continue
            if i and tags[i - 1] == tag:
                start, _, _ = spans[-1]
                spans[-1] = (start, i + 1, TYPES[tag - 1])
            else:
                spans.append((i, i + 1, TYPES[tag - 1]))
        found.append(tuple(Span(*span) for span in spans))
    return found


@given(st.lists(st.lists(st.integers(0, 2), max_size=6), max_size=6))
def test_runs_are_those_of_a_loop_over_words(tags_by_sentence):
    flat = [tag for tags in tags_by_sentence for tag in tags]
    scores = np.full((len(flat), 3), 0.1)
    scores[np.arange(len(flat)), flat] = 0.8
    found = decode(scores, [len(tags) for tags in tags_by_sentence], TYPES, scores.argmax(axis=1))
    assert found == naive(tags_by_sentence)
    assert all(span.score == pytest.approx(0.8) for spans in found for span in spans)


def test_the_score_is_the_mean_of_the_words_scores_for_the_type():
    scores = np.array([[0.1, 0.9, 0.0], [0.2, 0.7, 0.1], [0.3, 0.1, 0.6]])
    (spans,) = decode(scores, [3], TYPES, scores.argmax(axis=1))
    assert spans == (Span(0, 2, "LOC"), Span(2, 3, "PER"))
    assert [span.score for span in spans] == pytest.approx([0.8, 0.6])
    assert all(type(span.score) is float for span in spans)


def best_path(emissions, transitions):
    """Try every path of tags of one sentence."""
    n, n_tags = emissions.shape
    start, step = log_probabilities(transitions, n_tags)

    def worth(path):
        moves = sum(step[a, b] for a, b in pairwise(path))
        return start[path[0]] + moves + sum(emissions[i, tag] for i, tag in enumerate(path))

    return max(product(range(n_tags), repeat=n), key=worth)


@given(st.lists(st.integers(0, 5), min_size=1, max_size=5), st.integers(2, 4), st.integers(0, 2**32 - 1))
def test_viterbi_finds_the_best_of_all_paths(n_words, n_tags, seed):
    rng = np.random.default_rng(seed)
    emissions = rng.normal(size=(sum(n_words), n_tags)) * 3
    transitions = Transitions(*rng.uniform(0.01, 0.49, size=4))
    tags = viterbi(emissions, n_words, transitions)
    first = 0
    for n in n_words:
        if n:
            assert tuple(tags[first : first + n].tolist()) == best_path(emissions[first : first + n], transitions)
        first += n


def test_transitions_are_probabilities_that_do_not_depend_on_names():
    for n_tags in (2, 3, 7):
        start, step = log_probabilities(Transitions(0.148, 0.094, 0.502, 0.015), n_tags)
        np.testing.assert_allclose(np.exp(start).sum(), 1)
        np.testing.assert_allclose(np.exp(step).sum(axis=1), 1)
        assert np.ptp(start[1:]) == 0
        assert np.ptp(np.diag(step)[1:]) == 0


def test_tags_that_are_given_are_decoded_as_they_are():
    scores = np.array([[0.9, 0.1], [0.6, 0.4], [0.2, 0.8]])
    found = decode(scores, [3], ["PER"], np.array([0, 1, 1]))
    assert found == [(Span(1, 3, "PER"),)]
    assert found[0][0].score == pytest.approx(0.6)
