"""Runs of one type within a sentence are mentions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import Span
from handful.decode import Mention, decode

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
        found.append([Span(*span) for span in spans])
    return found


@given(st.lists(st.lists(st.integers(0, 2), max_size=6), max_size=6))
def test_runs_are_those_of_a_loop_over_words(tags_by_sentence):
    flat = [tag for tags in tags_by_sentence for tag in tags]
    scores = np.full((len(flat), 3), 0.1)
    scores[np.arange(len(flat)), flat] = 0.8
    found = decode(scores, [len(tags) for tags in tags_by_sentence], TYPES)
    assert [[mention.span for mention in mentions] for mentions in found] == naive(tags_by_sentence)
    assert all(mention.score == pytest.approx(0.8) for mentions in found for mention in mentions)


def test_the_score_is_the_mean_of_the_words_scores_for_the_type():
    scores = np.array([[0.1, 0.9, 0.0], [0.2, 0.7, 0.1], [0.3, 0.1, 0.6]])
    (mentions,) = decode(scores, [3], TYPES)
    assert mentions == [Mention(Span(0, 2, "LOC"), pytest.approx(0.8)), Mention(Span(2, 3, "PER"), pytest.approx(0.6))]
    assert all(type(mention.score) is float for mention in mentions)


def test_a_tie_goes_to_the_first_tag():
    assert decode(np.array([[0.5, 0.5, 0.0]]), [1], TYPES) == [[]]
