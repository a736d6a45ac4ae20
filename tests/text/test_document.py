"""Documents: a text, its sentences, and what came with it."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.errors import DataError
from handful.text import UNKNOWN, Allowed, Document, Sentence, Span, to_sentence
from handful.text._words import word_offsets

from .strategies import labels, modest, strange_texts

TEXT = "  Dr. Ekeus left. He went to New York. "


def labelled(document, *spans):
    """Put one list of spans on each sentence."""
    return document.with_sentences(
        replace(one, spans=each) for one, each in zip(document.sentences, spans, strict=True)
    )


def test_a_text_is_cut_into_sentences():
    document = Document.of(TEXT, id="x1", meta={"page": 3})
    assert [sentence.text for sentence in document.sentences] == ["Dr. Ekeus left.", "He went to New York."]
    assert (document.text, document.id, document.meta, document.n_words) == (TEXT, "x1", {"page": 3}, 10)
    assert document.is_unlabelled
    assert Document.of(document) is document


def test_words_and_sentences_are_documents_of_one_sentence():
    sentence = Sentence(("New York", "left"), (Span(0, 1, "LOC"),))
    document = Document.of(sentence, id=4)
    assert (document.text, document.id) == ("New York left", 4)
    assert document.sentences == (sentence.with_text(),)
    assert Document.of(["New York", "left"]).sentences == (Sentence(("New York", "left")).with_text(),)
    second = Document.of(TEXT).sentences[1]
    assert second.offset > 0
    alone = Document.of(second)
    assert (alone.text, alone.sentences, alone.sentences[0].offset) == (second.text, (second,), 0)


@pytest.mark.parametrize("nothing", ["", " \u200b\n", [], ()])
def test_a_document_without_words_has_no_sentences(nothing):
    document = Document.of(nothing)
    assert (document.sentences, document.n_words) == ((), 0)
    assert document.as_sentence() is None
    assert document.predictions() == []


def test_what_is_no_text_is_refused():
    with pytest.raises(DataError, match="found int 3, expected a text"):
        Document.of(3)


def test_mentions_have_places_in_the_document():
    document = labelled(Document.of(TEXT), (Span(1, 2, "PER", 0.75),), (Span(3, 5, "LOC"),))
    found = [(document.text[start:end], span.type) for start, end, span in document.mentions()]
    assert found == [("Ekeus", "PER"), ("New York", "LOC")]
    assert document.predictions() == [
        {"entity_group": "PER", "score": 0.75, "word": "Ekeus", "start": 6, "end": 11},
        {"entity_group": "LOC", "score": 1.0, "word": "New York", "start": 29, "end": 37},
    ]


def test_all_words_as_one_sentence():
    whole = labelled(Document.of(TEXT), (Span(1, 2, "PER", 0.75),), (Span(3, 5, "LOC"),)).as_sentence()
    assert whole == Sentence(to_sentence(TEXT).words, (Span(1, 2, "PER"), Span(7, 9, "LOC")), None, TEXT, whole.starts)
    assert whole.spans[0].score == 0.75
    assert Document.of(TEXT).as_sentence() == to_sentence(TEXT)


def test_one_sentence_of_parts_that_are_labelled_differently():
    document = labelled(Document.of(TEXT), (Span(1, 2, "PER"),), None)
    assert not document.is_unlabelled
    assert document.as_sentence().allowed == (None,) * 4 + (UNKNOWN,) * 6
    either = Allowed.parse("LOC|ORG")
    first, second = Document.of(TEXT).sentences
    partly = document.with_sentences([replace(first, spans=(), allowed=(None, either, None, None)), second])
    assert partly.as_sentence().allowed == (None, either, None, None, *[UNKNOWN] * 6)


@given(strange_texts, st.data())
@modest
def test_one_sentence_has_the_words_and_mentions_of_all(text, data):
    document = Document.of(text)
    document = labelled(document, *(data.draw(labels(len(one), partial=False))[0] for one in document.sentences))
    whole = document.as_sentence()
    assert list(whole.offsets if whole else ()) == word_offsets(text)
    if whole is not None:
        found = [(*whole.characters(span), span.type) for span in whole.spans or ()]
        assert found == [(start, end, span.type) for start, end, span in document.mentions()]
    for mention in document.predictions():
        assert text[mention["start"] : mention["end"]] == mention["word"]
