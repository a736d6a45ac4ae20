"""How tags follow each other."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.errors import DataError
from handful.text import Sentence, Span, Transitions, to_tags

from .strategies import modest, sentences


def test_counts_by_hand():
    corpus = [
        Sentence(tuple("abcde"), (Span(0, 2, "X"), Span(2, 3, "Y"))),  # X X Y O O
        Sentence(tuple("ab"), (Span(1, 2, "X"),)),  # O X
    ]
    # One is added to every count: starts 1 + 1 of 2 + 2; O to type 1 + 1 of 2 + 2; from a type: X X, X Y, Y O.
    assert Transitions.count(corpus) == Transitions(2 / 4, 2 / 4, 2 / 6, 2 / 6)
    assert Transitions.count([]) == Transitions(1 / 2, 1 / 2, 1 / 3, 1 / 3)


@given(st.lists(sentences(partial=False), max_size=4))
@modest
def test_counts_agree_with_tags(corpus):
    tags = [["O" if tag == "_" else tag[2:] or "O" for tag in to_tags(one, "IO")] for one in corpus]
    pairs = [pair for each in tags for pair in pairwise(each)]
    after_type = [(a, b) for a, b in pairs if a != "O"]
    found = Transitions.count(corpus)
    assert found.start_type == pytest.approx((1 + sum(each[0] != "O" for each in tags)) / (2 + len(tags)))
    assert found.type_o == pytest.approx((1 + sum(b == "O" for _, b in after_type)) / (3 + len(after_type)))
    others = sum(b not in ("O", a) for a, b in after_type)
    assert found.type_other == pytest.approx((1 + others) / (3 + len(after_type)))


def test_they_are_saved_as_a_dict():
    transitions = Transitions(0.148, 0.094, 0.502, 0.015)
    saved = transitions.to_dict()
    assert saved == {"start_type": 0.148, "o_type": 0.094, "type_o": 0.502, "type_other": 0.015}
    assert Transitions.from_dict(saved) == transitions


@pytest.mark.parametrize(
    ("chances", "message"),
    [
        (None, "expected numbers for start_type, o_type, type_o, type_other"),
        ({"start_type": 0.1}, "expected numbers for"),
        (
            {"start_type": 2, "o_type": 0, "type_o": 0, "type_other": 0},
            "start_type is 2, expected a number above 0 and below 1",
        ),
        ({"start_type": True, "o_type": 0, "type_o": 0, "type_other": 0}, "start_type is True"),
    ],
)
def test_what_is_saved_is_checked(chances, message):
    with pytest.raises(DataError, match=message):
        Transitions.from_dict(chances)
