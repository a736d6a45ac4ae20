"""Mentions that share words: how they are held, flattened, written and read."""

import json
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.errors import DataError, FormatError
from handful.text import Allowed, Document, Sentence, Span, describe, flattened, read, to_tags, write
from handful.text.layers import levels, overlap

WORDS = ("The", "University", "of", "Oslo", "Hospital", "in", "Oslo", ".")
NESTED = Sentence(WORDS, (Span(0, 5, "ORG"), Span(1, 4, "ORG"), Span(3, 4, "GPE"), Span(6, 7, "GPE")))


@st.composite
def sentences(draw, crossing=True):
    n = draw(st.integers(1, 8))
    places = st.tuples(st.integers(0, n - 1), st.integers(1, n), st.sampled_from(["A", "B C", "d"]))
    spans = draw(st.sets(places.filter(lambda one: one[0] < one[1]), max_size=6))
    kept = [Span(*one) for one in sorted(spans)]
    if not crossing:
        while any(crosses(one, other) for one, other in combinations(kept, 2)):
            kept.pop()
    words = draw(st.lists(st.sampled_from(["a", "[b]", "ç", "12", "\\"]), min_size=n, max_size=n))
    return Sentence(tuple(words), tuple(kept))


def crosses(one, other):
    one, other = sorted([one, other], key=lambda span: (span.start, -span.end))
    return one.start < other.start < one.end < other.end


@given(sentences())
def test_spans_are_kept_in_one_order(sentence):
    shuffled = Sentence(sentence.words, tuple(sorted(sentence.spans, key=lambda span: (span.start, span.end))))
    assert shuffled == sentence
    assert [span.start for span in sentence.spans] == sorted(span.start for span in sentence.spans)


@given(sentences(), st.sampled_from(["outermost", "innermost"]))
def test_a_flattened_sentence_has_no_shared_words_and_nothing_more_fits(sentence, layer):
    flat = flattened(sentence, layer)
    assert overlap(flat.spans) is None
    assert set(flat.spans) <= set(sentence.spans)
    for span in set(sentence.spans) - set(
        flat.spans
    ):  # one that left shares a word with one that is as long, or longer
        others = [one for one in flat.spans if one.start < span.end and span.start < one.end]
        lengths = [(one.end - one.start) - (span.end - span.start) for one in others]
        assert max(lengths) >= 0 if layer == "outermost" else min(lengths) <= 0


@given(sentences())
def test_a_level_is_the_number_of_places_around(sentence):
    places = {frozenset(range(span.start, span.end)) for span in sentence.spans}
    expected = [sum(set(range(one.start, one.end)) < place for place in places) for one in sentence.spans]
    assert levels(sentence.spans) == expected


@pytest.mark.parametrize("format", ["jsonl", "prodigy", "doccano", "spacy", "label-studio", "gliner"])
@given(sentence=sentences())
def test_formats_of_spans_give_back_what_went_in(format, sentence, tmp_path_factory):
    file = tmp_path_factory.mktemp("layers") / "file"
    write([sentence], file, format)
    (found,) = read(file, format)
    if found.words == sentence.words:  # a format of texts may cut other words
        assert found.spans == sentence.spans
    assert len(found.spans) == len(sentence.spans) or found.words != sentence.words


@given(sentence=sentences(crossing=False))
def test_brackets_hold_mentions_inside_mentions(sentence, tmp_path_factory):
    file = tmp_path_factory.mktemp("layers") / "file"
    write([sentence.with_text()], file, "inline")
    (found,) = read(file, "inline")
    whole = sentence.with_text()
    assert found.text == whole.text
    assert {(*found.characters(span), span.type) for span in found.spans} == {
        (*whole.characters(span), span.type) for span in whole.spans
    }


@pytest.mark.parametrize("format", ["csv", "tsv", "docbin"])
def test_other_formats_hold_them(format, tmp_path):
    if format == "docbin":
        pytest.importorskip("spacy")
    scored = Sentence(WORDS, tuple(Span(s.start, s.end, s.type, 0.25 * i) for i, s in enumerate(NESTED.spans)))
    file = tmp_path / f"file.{format}"
    write([scored.with_text()], file, format)
    (found,) = read(file)
    assert found.spans == NESTED.spans
    assert [span.score for span in found.spans] == [0, 0.25, 0.5, 0.75]


def test_documents_keep_them():
    document = Document.of(NESTED)
    assert [one["word"] for one in document.predictions()] == [
        "The University of Oslo Hospital",
        "University of Oslo",
        "Oslo",
        "Oslo",
    ]
    assert document.inline() == "[The [University of [Oslo](GPE)](ORG) Hospital](ORG) in [Oslo](GPE) ."
    assert document.as_sentence() == NESTED.with_text()
    assert "[The [University of [Oslo](GPE)](ORG) Hospital](ORG)" in repr(NESTED)


@pytest.mark.parametrize("format", ["conll", "huggingface"])
def test_formats_of_tags_refuse_them_and_say_what_to_do(format, tmp_path):
    with pytest.raises(DataError, match=r"'The University of Oslo Hospital' \(ORG\) and 'University of Oslo' \(ORG\)"):
        write([NESTED], tmp_path / "file", format)
    assert not (tmp_path / "file").exists()
    write([NESTED], tmp_path / "nested.json", "gliner")
    for layer, expected in {"outermost": ["ORG", "GPE"], "innermost": ["GPE", "GPE"]}.items():
        write(read(tmp_path / "nested.json", layer=layer), tmp_path / "file", format)
        assert [span.type for span in read(tmp_path / "file")[0].spans] == expected
    write(read(tmp_path / "nested.json", keep=["GPE"]), tmp_path / "file", format)
    assert len(read(tmp_path / "file")[0].spans) == 2


def test_brackets_cannot_show_mentions_that_cross(tmp_path):
    sentence = Sentence(("a", "b", "c"), (Span(0, 2, "A"), Span(1, 3, "B")))
    with pytest.raises(DataError, match=r"'a b' \(A\) and 'b c' \(B\) share words, and neither lies inside"):
        write([sentence], tmp_path / "file", "inline")
    with pytest.raises(DataError, match="a word has one tag"):
        to_tags(sentence)
    with pytest.raises(DataError, match=r"flattened\(sentence, 'outermost'\)"):
        sentence.constraints()


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ((Span(1, 2, "A"), Span(0, 2, "A")), "not in order"),
        ((Span(0, 2, "A"), Span(0, 2, "A")), "given twice"),
        ((Span(0, 2, "A"), Span(1, 4, "A")), "does not fit"),
    ],
)
def test_spans_that_say_nothing_new_are_refused(spans, message):
    with pytest.raises(DataError, match=message):
        Sentence(("a", "b", "c"), spans)


def test_open_words_are_in_no_mention(tmp_path):
    record = {"text": "a b c", "entities": [[0, 3, "A|B"], [2, 5, "C"]]}
    (tmp_path / "file").write_text(json.dumps(record))
    with pytest.raises(FormatError, match="label is open"):
        read(tmp_path / "file")
    record["entities"][1][2] = "C|D"
    (tmp_path / "file").write_text(json.dumps(record))
    with pytest.raises(FormatError, match="another partial label"):
        read(tmp_path / "file")
    kept = Sentence(("a", "b", "c"), (Span(0, 2, "A"), Span(0, 1, "B")), (None, None, Allowed.parse("A|B")))
    assert flattened(kept).allowed == kept.allowed


def test_a_layer_is_one_that_there_is(tmp_path):
    with pytest.raises(DataError, match="layer is 'middle', expected outermost or innermost"):
        flattened(NESTED, "middle")
    (tmp_path / "file").write_text("a\tO\n")
    with pytest.raises(DataError, match="outermost"):
        read(tmp_path / "file", layer="middle")


def test_types_that_become_one_are_one_mention(tmp_path):
    write([Sentence(("a", "b"), (Span(0, 2, "A"), Span(0, 2, "B")))], tmp_path / "file", "gliner")
    assert read(tmp_path / "file", rename={"A": "B"})[0].spans == (Span(0, 2, "B"),)


def test_words_in_several_mentions_are_counted_once():
    found = describe([NESTED])
    assert (found.n_outside, found.mentions) == (2, {"GPE": 2, "ORG": 2})


def test_text_in_brackets_stays_text():
    (sentence,) = read_inline("[see [a](A) below] and [1, x")
    assert sentence.text == "[see a below] and [1, x"
    (sentence,) = read_inline(r"\[[a](A)\](B) [b](C)")
    assert sentence.text == "[a](B) b"


def read_inline(text):
    from io import StringIO

    return read(StringIO(text), "inline")
