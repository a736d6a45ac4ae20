"""Proto, NNShot and StructShot against loops over words and over all paths."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import Sentence, Span
from handful.baselines import NNShot, Proto, StructShot
from handful.errors import DataError, EncoderError
from handful.tagger.decoding import log_probabilities
from handful.text import Transitions
from tagger.toy import ToyEncoder

from .made import encoder, labelled_words, sentences, softmax, tagged, tags_of

TAGS = ("O", "LOC", "PER")


def distance_to_mean(x, points):
    mean = sum(points) / len(points)
    return sum((a - b) ** 2 for a, b in zip(x, mean, strict=True))


def distance_to_nearest(x, points):
    return min(sum((a - b) ** 2 for a, b in zip(x, point, strict=True)) for point in points)


def word_scores(support, word, distance):
    """Give the score of each tag, one word and one tag at a time."""
    model = encoder()
    known = labelled_words(support, model)
    x = model.vector(word).astype(np.float32).astype(float)
    return softmax({tag: -distance(x, [point for point, t in known if t == tag]) for tag in TAGS})


@pytest.mark.parametrize(("method", "distance"), [(Proto, distance_to_mean), (NNShot, distance_to_nearest)])
def test_tags_and_scores_are_those_of_a_loop(method, distance):
    support, test = sentences(1, 8), sentences(2, 10)
    model = method(encoder()).fit(support)
    assert [one.name for one in model.types_] == ["LOC", "PER"]
    expected = []
    for sentence in test:
        scores = [word_scores(support, word, distance) for word in sentence.words]
        expected.append(tagged(sentence.words, [max(TAGS, key=each.get) for each in scores]))
        for span, found in zip(expected[-1].spans, model.predict(sentence), strict=True):
            mean = np.mean([scores[i][span.type] for i in range(span.start, span.end)])
            assert found["score"] == pytest.approx(mean, rel=1e-4)
            assert found["entity_group"] == span.type
    assert model.predict_sentences(test) == expected
    assert any(tags_of(a) != tags_of(b) for a, b in zip(expected, test, strict=True))  # the task is not trivial


def step_probability(transitions, before, tag, n_types):
    """Give the chance of a tag after another, spread over the types."""
    if before is None or before == "O":
        chance = transitions.start_type if before is None else transitions.o_type
        return 1 - chance if tag == "O" else chance / n_types
    other = transitions.type_other if n_types > 1 else 0
    total = 1 if n_types > 1 else 1 - transitions.type_other
    if tag == "O":
        return transitions.type_o / total
    if tag == before:
        return (1 - transitions.type_o - transitions.type_other) / total
    return other / (n_types - 1)


def best_path(scores, transitions, tags):
    """Try every path."""

    def worth(path):
        steps = (step_probability(transitions, a, b, len(tags) - 1) for a, b in pairwise([None, *path]))
        moves = sum(map(np.log, steps))
        return moves + sum(np.log(scores[i][tag]) for i, tag in enumerate(path))

    return max(product(tags, repeat=len(scores)), key=worth)


@pytest.mark.parametrize("transitions", [Transitions(0.2, 0.1, 0.3, 0.1), Transitions(0.01, 0.001, 0.9, 0.001)])
def test_structshot_finds_the_best_of_all_paths(transitions):
    support, test = sentences(3, 8), sentences(4, 12, n_words=4)
    model = StructShot(encoder(transitions)).fit(support)
    found = [tuple(tags_of(sentence)) for sentence in model.predict_sentences(test)]
    for sentence, path in zip(test, found, strict=True):
        scores = [word_scores(support, word, distance_to_nearest) for word in sentence.words]
        assert path == best_path(scores, transitions, TAGS)
    assert found != [tuple(tags_of(s)) for s in NNShot(encoder()).fit(support).predict_sentences(test)]


def test_structshot_with_transitions_that_are_all_alike_is_nnshot():
    support, test = sentences(5, 8), sentences(6, 40)
    alike = Transitions(2 / 3, 2 / 3, 1 / 3, 1 / 3)
    struct = StructShot(encoder(alike)).fit(support).predict_sentences(test)
    assert struct == NNShot(encoder()).fit(support).predict_sentences(test)


def test_the_score_of_a_path_is_that_of_its_words():
    support = sentences(3, 8)
    (sentence,) = sentences(4, 1)
    model = StructShot(encoder(Transitions(0.01, 0.001, 0.9, 0.001))).fit(support)
    for found, span in zip(model.predict(sentence), model.predict_sentences([sentence])[0].spans, strict=True):
        words = sentence.words[span.start : span.end]
        scores = [word_scores(support, word, distance_to_nearest)[span.type] for word in words]
        assert found["score"] == pytest.approx(np.mean(scores), rel=1e-4)


@given(st.integers(2, 6), st.lists(st.floats(0.01, 0.49), min_size=4, max_size=4))
def test_chances_of_types_are_spread_evenly(n_tags, chances):
    transitions = Transitions(*chances)
    start, step = log_probabilities(transitions, n_tags)
    tags = ["O", *(f"T{i}" for i in range(n_tags - 1))]
    for before, row in zip([None, *tags], [start, *step], strict=True):
        expected = [step_probability(transitions, before, tag, n_tags - 1) for tag in tags]
        np.testing.assert_allclose(np.exp(row), expected, atol=1e-12)


def test_words_whose_tag_is_open_are_not_used():
    whole = ["[Paul](PER) met aaa in [Lima](LOC)"]
    partly = ["[Paul](PER) met aaa in [Lima](LOC)", "see [Peter](PER|LOC) and [Lech](!O) [x](_)"]
    plain = NNShot(encoder()).fit([*whole, "see and"])
    assert NNShot(encoder()).fit(partly).predict("see Peter and Lech x") == plain.predict("see Peter and Lech x")


def test_a_sentence_given_twice_counts_once():
    once, twice = sentences(1, 8), sentences(1, 8) + sentences(1, 3)
    test = sentences(2, 20)
    assert Proto(encoder()).fit(once).predict(test) == Proto(encoder()).fit(twice).predict(test)


def test_unlabelled_text_changes_nothing():
    support, test = sentences(1, 8), sentences(2, 20)
    assert Proto(encoder()).fit(support, sentences(7, 20)).predict(test) == Proto(encoder()).fit(support).predict(test)


def test_shapes_of_what_is_given_and_comes_back():
    model = NNShot(ToyEncoder()).fit(["[Paul](PER) met aaa in [Lima](LOC)"])
    text = "Paul slept.  Then 🎉 Lima woke."
    found = model.predict(text)
    assert [(text[each["start"] : each["end"]], each["entity_group"]) for each in found] == [
        ("Paul", "PER"),
        ("Lima", "LOC"),
    ]
    assert all(type(each["score"]) is float and 0 <= each["score"] <= 1 for each in found)
    assert model.predict([]) == []
    assert model.predict(["", text]) == [[], found]
    assert model.predict_sentences([["Paul"]]) == [Sentence(("Paul",), (Span(0, 1, "PER"),))]


def test_mentions_below_the_least_score_are_left_out():
    test = sentences(2, 30)
    model = NNShot(encoder()).fit(sentences(1, 8))
    found, sure = model.predict(test), model.predict(test, min_score=0.9)
    assert sure == [[each for each in mentions if each["score"] >= 0.9] for mentions in found]
    assert sure != found
    counts = [len(sentence.spans) for sentence in model.predict_sentences(test, min_score=0.9)]
    assert counts == [len(mentions) for mentions in sure]


@pytest.mark.parametrize("method", [Proto, NNShot, StructShot])
def test_bad_input_is_refused(method):
    with pytest.raises(DataError, match="not fitted"):
        method(encoder()).predict("Paul")
    with pytest.raises(DataError, match="no labels"):
        method(encoder()).fit([["Paul", "met"]])
    with pytest.raises(DataError, match="no word that is O"):
        method(encoder()).fit(["[Paul](PER)"])
    with pytest.raises(EncoderError, match="has no dim"):
        method(object()).fit(sentences(1, 8))
    model = method(encoder()).fit(sentences(1, 8))
    for strange in (3, b"Paul", {"text": "Paul"}):
        with pytest.raises(DataError, match="texts must be"):
            model.predict(strange)
    with pytest.raises(DataError, match="text 1 "):
        model.predict(["Paul", 3])
    with pytest.raises(DataError, match="sentence 0 is 'Paul'"):
        model.predict_sentences(["Paul"])
    with pytest.raises(DataError, match="min_score"):
        model.predict("Paul", min_score=2)


def test_a_fit_that_fails_leaves_the_one_before():
    model = NNShot(encoder()).fit(["[Paul](PER) met aaa in [Lima](LOC)"])
    before = model.predict("Paul went")
    with pytest.raises(DataError):
        model.fit(["[Paul](ANIMAL)"])
    assert [one.name for one in model.types_] == ["LOC", "PER"]
    assert model.predict("Paul went") == before
