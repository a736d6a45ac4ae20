"""Predictions: their shape, their positions, and that any text goes in."""

from itertools import islice, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import Sentence, Span
from handful.errors import DataError
from handful.text import to_sentences
from handful.text._words import word_offsets

from .toy import ToyEncoder, fitted, mentions, tagger

MODEL = fitted(encoder=ToyEncoder(noise=0.05), o_ratio=0.7)  # so little that no word at all is misplaced by it

# Any text at all; with the toy's own letters in it, so that there are mentions.
strange = st.text(
    st.one_of(
        st.sampled_from(list("PLGab .,!?\n\t\r'@#-\u200b\u200d\u00ad\u0301\ufeff🎉👩🏽‍💻🇫🇷é中の\u2028\x00")),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=60,
)


@given(strange)
def test_text_at_the_positions_is_the_word(text):
    found = MODEL.predict(text)
    for mention in found:
        assert set(mention) == {"entity_group", "score", "word", "start", "end"}
        assert text[mention["start"] : mention["end"]] == mention["word"] != ""
        assert type(mention["score"]) is float
        assert type(mention["start"]) is type(mention["end"]) is int
        assert 0 <= mention["score"] <= 1
    assert all(one["end"] <= other["start"] for one, other in pairwise(found))
    covered = {place for mention in found for place in range(mention["start"], mention["end"])}
    for start, _ in word_offsets(text):
        if text[start] != "G":  # which the tagger was shown nothing of
            assert (start in covered) == (text[start] in "PL")


@given(st.lists(st.one_of(strange, st.lists(st.text("PLab🎉 ", min_size=1), max_size=4)), max_size=4))
def test_many_at_once_are_as_one_by_one(texts):
    together = MODEL.predict(texts)
    assert [mentions(found) for found in together] == [mentions(MODEL.predict([text])[0]) for text in texts]


@pytest.mark.parametrize("text", ["", " ", "\n\t\u200b", "\ufeff"])
def test_text_without_words_gives_nothing(text):
    assert MODEL.predict(text) == []
    assert MODEL.predict([text, "Pim"])[0] == []
    assert MODEL.explain(text) == []


def test_shapes_of_what_is_given():
    sentence = Sentence(("Pim", "ran"))
    assert MODEL.predict([]) == []
    assert MODEL.predict([[]]) == [[]]
    assert mentions(MODEL.predict("Pim ran")) == mentions(MODEL.predict(sentence)) == [("Pim", "PER")]
    assert MODEL.predict(["Pim ran", sentence, ["Pim", "ran"]]) == [MODEL.predict("Pim ran")] * 3
    assert MODEL.predict(np.array(["Pim ran"])) == [MODEL.predict("Pim ran")]


def test_positions_are_those_in_the_document_and_in_a_sentences_own_text():
    text = "He ran.  Then 🎉 Lima fell."
    (found,) = MODEL.predict(text)
    assert text[found["start"] : found["end"]] == found["word"] == "Lima"
    second = to_sentences(text)[1]
    (found,) = MODEL.predict(second)
    assert second.text[found["start"] : found["end"]] == "Lima"
    (found,) = MODEL.predict([["go", "to", "Lima"]])[0]
    assert "go to Lima"[found["start"] : found["end"]] == "Lima"


def test_no_word_of_a_long_document_is_lost():
    text = " ".join(f"then Pim{i} ran." for i in range(20_000))
    found = MODEL.predict(text)
    assert [mention["word"] for mention in found] == [f"Pim{i}" for i in range(20_000)]
    assert all(text[mention["start"] : mention["end"]] == mention["word"] for mention in found[::997])
    one = MODEL.predict([["then", *[f"Pim{i}" for i in range(20_000)], "ran"]])  # one sentence, one mention
    assert [(len(m["word"].split()), m["entity_group"]) for m in one[0]] == [(20_000, "PER")]


def test_min_score_leaves_out_the_less_sure():
    model = fitted(o_ratio=0.7, temperature=20.0)
    text = "Pim and Pip went to Lot , Leo and Lya"
    everything = model.predict(text)
    scores = sorted(mention["score"] for mention in everything)
    kept = model.predict(text, min_score=scores[2])
    assert kept == [mention for mention in everything if mention["score"] >= scores[2]]
    assert len(everything) - 2 == len(kept)
    of_places = model.predict(text, min_score={"LOC": 1.0})
    assert of_places == [one for one in everything if one["entity_group"] == "PER" or one["score"] == 1]
    assert [one.mention for one in model.explain(text, min_score={"LOC": 1.0})] == of_places
    for wrong in (-0.1, 1.1, "high", None, True, float("nan"), {"LOC": 2}, {"GOD": 0.5}):
        with pytest.raises(DataError, match="min_score"):
            model.predict(text, min_score=wrong)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ([True], "text 0 .*bool"),
        (["fine", 1.5], "text 1 .*float"),
        ([b"bytes"], "text 0 .*bytes"),
        (b"bytes", "found bytes"),
        ({"text": "x"}, "found dict"),
        (3, "found int"),
        ("half \ud800 pair", "surrogate"),
        ([["a", ""]], "text 0 .*non-empty"),
        ([["a", 3]], "text 0 .*non-empty strings"),
    ],
)
def test_what_is_no_text_is_refused(texts, message):
    with pytest.raises(DataError, match=message):
        MODEL.predict(texts)


def test_a_tagger_that_is_not_fitted_says_so():
    for use in (
        lambda model: model.predict("x"),
        lambda model: model.explain("x"),
        lambda model: model.evaluate([]),
        lambda model: model.predict_sentences([]),
        lambda model: model.add([]),
        lambda model: model.save("nowhere"),
    ):
        with pytest.raises(DataError, match="not fitted"):
            use(tagger())


def test_predict_sentences_keeps_words_text_and_order():
    given_sentences = [*to_sentences("He saw Pim Pam. Then Lima!"), Sentence(("no", "one"), (Span(0, 1, "PER"),))]
    found = MODEL.predict_sentences([*given_sentences, ["Lima"]])
    assert [sentence.words for sentence in found] == [s.words for s in given_sentences] + [("Lima",)]
    assert [sentence.spans for sentence in found] == [
        (Span(2, 4, "PER"),),
        (Span(1, 2, "LOC"),),
        (),
        (Span(0, 1, "LOC"),),
    ]
    assert found[1].text == "Then Lima!"
    assert found[1].offset == given_sentences[1].offset
    assert found[1].characters(found[1].spans[0]) == (5, 9)
    assert all(0 < span.score <= 1 for sentence in found for span in sentence.spans)
    for wrong in ["a text", []]:
        with pytest.raises(DataError, match="sentence 0"):
            MODEL.predict_sentences([wrong])


@pytest.mark.parametrize("sentences", [None, "Paul", b"x", 3, {"text": "x"}, Sentence(("Paul",))])
def test_predict_sentences_takes_a_list(sentences):
    with pytest.raises(DataError, match=f"list of Sentences or of lists of words, found {type(sentences).__name__}"):
        MODEL.predict_sentences(sentences)


def test_streaming_reads_no_further_than_it_must():
    encoder = ToyEncoder()
    model = fitted(encoder=encoder, o_ratio=0.7)
    n_read = 0

    def endless():
        nonlocal n_read
        while True:
            n_read += 1
            yield f"then Pim{n_read} went to Lima"

    encoder.largest_call = 0
    found = list(islice(model.predict_iter(endless()), 20_000))
    assert [mention[0]["word"] for mention in found] == [f"Pim{i}" for i in range(1, 20_001)]
    assert encoder.largest_call < 10_000
    assert n_read < 20_000 + 10_000
    n_read = 0
    next(model.predict_iter(endless()))
    assert n_read < 100  # the first answer comes soon


def test_what_came_before_a_bad_text_is_not_lost():
    found = MODEL.predict_iter(["Pim ran", "to Lima", 3, "Pim"])
    assert [mentions(next(found)), mentions(next(found))] == [[("Pim", "PER")], [("Lima", "LOC")]]
    with pytest.raises(DataError, match="text 2"):
        next(found)
