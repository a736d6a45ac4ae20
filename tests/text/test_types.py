"""Sentences, spans and partial labels."""

import pickle
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.errors import DataError
from handful.text import OUTSIDE, SOME_ENTITY, UNKNOWN, Allowed, Sentence, Span, types_in

from .strategies import modest, partial_labels, sentences, types

WORDS = ("Ekeus", "heads", "for", "New", "York")
SPANS = (Span(0, 1, "PER"), Span(3, 5, "LOC"))


def test_a_sentence_knows_its_state():
    labelled = Sentence(WORDS, SPANS)
    without_mentions = Sentence(WORDS, ())
    unlabelled = Sentence(WORDS)
    partly = Sentence(WORDS, SPANS[:1], (None, UNKNOWN, None, None, None))
    for sentence, state in [
        (labelled, (True, False, False)),
        (without_mentions, (True, False, False)),
        (unlabelled, (False, False, True)),
        (partly, (False, True, False)),
    ]:
        assert (sentence.is_labelled, sentence.is_partly_labelled, sentence.is_unlabelled) == state


def test_all_words_unknown_is_unlabelled_and_none_open_is_labelled():
    assert Sentence(WORDS, allowed=[UNKNOWN] * 5) == Sentence(WORDS)
    assert Sentence(WORDS, SPANS, [None, OUTSIDE, OUTSIDE, None, None]) == Sentence(WORDS, SPANS)
    assert Sentence(WORDS, allowed=[None, SOME_ENTITY, None, None, None]).spans == ()


def test_equal_sentences_have_equal_hashes_and_nothing_can_be_set():
    one, other = Sentence(WORDS, SPANS), Sentence(list(WORDS), list(SPANS))
    assert one == other
    assert hash(one) == hash(other)
    assert len({one, other, Sentence(WORDS)}) == 2
    with pytest.raises(FrozenInstanceError):
        one.words = ()
    with pytest.raises(FrozenInstanceError):
        SPANS[0].type = "LOC"


def test_reprs_show_the_labels():
    assert repr(Sentence(WORDS, SPANS)) == ("<Sentence of 5 words, labelled: [Ekeus](PER) heads for [New York](LOC)>")
    assert repr(Sentence(WORDS[:2])) == "<Sentence of 2 words, unlabelled: Ekeus heads>"
    partly = Sentence(WORDS[:2], SPANS[:1], (None, Allowed.parse("LOC|ORG")))
    assert repr(partly) == "<Sentence of 2 words, partly labelled: [Ekeus](PER) [heads](LOC|ORG)>"
    assert repr(Sentence(("a",) * 100)).endswith(" …>")
    assert repr(SPANS[0]) == "Span(0, 1, 'PER')"
    assert repr(Span(3, 5, "LOC", 0.51234)) == "Span(3, 5, 'LOC', score=0.5123)"


def test_character_positions_follow_from_the_text():
    sentence = Sentence(("a👍🏽", "b"), (Span(1, 2, "X"),), text=" a👍🏽  b", starts=(1, 6))
    assert sentence.offsets == ((1, 4), (6, 7))
    span = sentence.spans[0]
    assert sentence.characters(span) == (6, 7)
    assert sentence.text[6:7] == sentence.span_text(span) == "b"
    assert sentence.characters(Span(0, 2, "X")) == (1, 7)
    with pytest.raises(DataError, match=r"has no text, so .* has no place in it"):
        Sentence(("a", "b"), (span,)).characters(span)


def test_spans_compare_without_scores():
    assert Span(0, 1, "PER", 0.5) == Span(0, 1, "PER")
    assert hash(Span(0, 1, "PER", 0.5)) == hash(Span(0, 1, "PER"))
    assert Span(0, 1, "PER", 0.5).score == 0.5


def test_words_of_an_array_are_words():
    sentence = Sentence(np.array(["a", "bc"]))
    assert sentence == Sentence(("a", "bc"))
    assert {type(word) for word in sentence.words} == {str}


def test_with_text_joins_words_by_spaces():
    sentence = Sentence(WORDS, SPANS).with_text()
    assert sentence.text == "Ekeus heads for New York"
    assert sentence.span_text(sentence.spans[1]) == "New York"
    assert sentence.with_text() is sentence
    partly = Sentence(("a", "bc"), (), (None, UNKNOWN)).with_text()
    assert partly == Sentence(("a", "bc"), (), (None, UNKNOWN), "a bc", (0, 2))


@given(sentences())
@modest
def test_constraints_say_what_each_word_may_be(sentence):
    rows = sentence.constraints()
    assert len(rows) == len(sentence.words)
    by_word = {i: span.type for span in sentence.spans or () for i in range(span.start, span.end)}
    for i, row in enumerate(rows):
        if sentence.is_unlabelled:
            assert "O" in row
            assert "whatever" in row
        elif i in by_word:
            assert row.among(["O", by_word[i], "whatever"]) == (False, True, False)
        elif sentence.allowed is None or sentence.allowed[i] is None:
            assert row.among(["O", "PER"]) == (True, False)
        else:
            assert row == sentence.allowed[i]


@given(sentences())
@modest
def test_sentences_survive_pickling(sentence):
    assert pickle.loads(pickle.dumps(sentence)) == sentence


@given(partial_labels)
@modest
def test_partial_labels_survive_writing(allowed):
    assert Allowed.parse(str(allowed)) == allowed


@given(partial_labels, st.one_of(types, st.just("O")))
@modest
def test_among_agrees_with_in(allowed, tag):
    assert allowed.among([tag]) == (tag in allowed,)
    opposite = Allowed(allowed.names, not allowed.is_excluded) if allowed.names else None
    if opposite is not None:
        assert (tag in opposite) != (tag in allowed)


def test_types_in_counts_partial_labels_too():
    one = Sentence(WORDS, SPANS)
    two = Sentence(("a", "b"), (), (Allowed.parse("ORG|O"), Allowed.parse("!MISC")))
    assert types_in([one, two, Sentence(WORDS)]) == ["LOC", "MISC", "ORG", "PER"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"words": ()}, "at least one word"),
        ({"words": ("a", "")}, "word 1"),
        ({"words": ("a", 3)}, "word 1"),
        ({"words": "Ekeus heads"}, "sequence of strings"),
        ({"words": WORDS, "spans": (Span(4, 6, "X"),)}, "does not fit"),
        ({"words": WORDS, "spans": (Span(2, 2, "X"),)}, "does not fit"),
        ({"words": WORDS, "spans": (Span(0, 1.0, "X"),)}, "whole numbers"),
        ({"words": WORDS, "spans": (Span("0", 1, "X"),)}, "whole numbers"),
        ({"words": WORDS, "spans": (Span(-1, 2, "X"),)}, "does not fit"),
        ({"words": WORDS, "spans": (Span(3, 4, "X"), Span(0, 1, "Y"))}, "not in order"),
        ({"words": WORDS, "spans": (Span(0, 1, "O"),)}, "cannot be called 'O'"),
        ({"words": WORDS, "spans": (Span(0, 1, "A|B"),)}, "cannot be called"),
        ({"words": WORDS, "spans": (Span(0, 1, ""),)}, "non-empty"),
        ({"words": WORDS, "spans": ((0, 1, "X"),)}, "Span objects"),
        ({"words": WORDS, "judged": "LOC"}, "judged must be a sequence of strings"),
        ({"words": WORDS, "judged": ["LOC", 3]}, "non-empty string, not 3"),
        ({"words": WORDS, "judged": [["LOC"]]}, "non-empty string"),
        ({"words": WORDS, "judged": frozenset({"O"})}, "cannot be called .O."),
        ({"words": WORDS, "allowed": (None,)}, "1 entries for 5 words"),
        ({"words": ("a",), "allowed": (Allowed(frozenset({"LOC"})),)}, "with a Span"),
        ({"words": ("a",), "allowed": ("LOC",)}, "Allowed objects"),
        ({"words": ("a",), "spans": (Span(0, 1, "X"),), "allowed": (SOME_ENTITY,)}, "label is open"),
        ({"words": ("a",), "text": "a"}, "go together"),
        ({"words": ("a",), "text": "b", "starts": (0,)}, "is not at position 0"),
        ({"words": ("a", "a"), "text": "aa", "starts": (0, 0)}, "is not at position"),
        ({"words": ("a", "b"), "text": "ab", "starts": (0,)}, "1 entries for 2 words"),
    ],
)
def test_what_makes_no_sense_is_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        Sentence(**arguments)


@pytest.mark.parametrize("written", ["LOC||ORG", "!", "", "|", "A|_", "!!O"])
def test_partial_labels_that_make_no_sense_are_refused(written):
    with pytest.raises(DataError):
        Allowed.parse(written)
