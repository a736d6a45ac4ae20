"""Tag schemes, against seqeval's reading of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval.metrics.sequence_labeling import get_entities

from handful.errors import DataError
from handful.text import SCHEMES, Allowed, Sentence, Span, from_tags, to_tags
from handful.text._schemes import TagReader, count_adjacent

from .strategies import modest, sentences, tame_words

any_tags = st.lists(
    st.sampled_from(["O", *(f"{prefix}-{label}" for prefix in "BIES" for label in "XY")]),
    min_size=1,
    max_size=9,
)
TAGS = {
    "IO": ["I-PER", "O", "I-LOC", "I-LOC"],
    "types": ["PER", "O", "LOC", "LOC"],
    "BIO": ["B-PER", "O", "B-LOC", "B-LOC"],
    "IOB1": ["I-PER", "O", "I-LOC", "B-LOC"],
    "BIOES": ["S-PER", "O", "S-LOC", "S-LOC"],
    "BILOU": ["U-PER", "O", "U-LOC", "U-LOC"],
}
SENTENCE = Sentence(tuple("abcd"), (Span(0, 1, "PER"), Span(2, 3, "LOC"), Span(3, 4, "LOC")))


@given(any_tags)
@modest
def test_any_sequence_is_read_as_seqeval_reads_it(tags):
    spans = from_tags(["w"] * len(tags), tags).spans
    assert [(span.type, span.start, span.end - 1) for span in spans] == get_entities(tags)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_tags_of_each_scheme(scheme):
    assert to_tags(SENTENCE, scheme) == TAGS[scheme]


def test_longer_mentions():
    sentence = Sentence(tuple("abcde"), (Span(0, 3, "X"), Span(3, 5, "X")))
    assert to_tags(sentence, "BIOES") == ["B-X", "I-X", "E-X", "B-X", "E-X"]
    assert to_tags(sentence, "BILOU") == ["B-X", "I-X", "L-X", "B-X", "L-X"]
    assert to_tags(sentence, "IOB1") == ["I-X", "I-X", "I-X", "B-X", "I-X"]
    assert to_tags(sentence, "IO") == ["I-X"] * 5


@pytest.mark.parametrize("scheme", SCHEMES)
def test_schemes_recognise_themselves(scheme):
    reader = TagReader()
    reader.read(TAGS[scheme])
    assert reader.scheme == scheme
    assert reader.n_broken == 0


@given(sentences(tame_words), st.sampled_from([scheme for scheme in SCHEMES if scheme not in ("IO", "types")]))
@modest
def test_schemes_with_borders_bring_back_the_sentence(sentence, scheme):
    tags = to_tags(sentence, scheme)
    assert from_tags(sentence.words, tags) == sentence
    reader = TagReader(scheme)
    reader.read(tags)
    assert reader.n_broken == 0


@given(sentences(tame_words), st.sampled_from(["IO", "types"]))
@modest
def test_io_merges_as_many_mentions_as_are_adjacent(sentence, scheme):
    if scheme == "types" and any(span.type == "B-cell" for span in sentence.spans or ()):
        with pytest.raises(DataError, match="B-cell"):
            to_tags(sentence, scheme)
        return
    back = from_tags(sentence.words, to_tags(sentence, scheme), scheme)
    assert len(back.spans or ()) == len(sentence.spans or ()) - count_adjacent(sentence.spans)
    assert back.constraints() == sentence.constraints()


@pytest.mark.parametrize(
    ("tags", "scheme", "n_broken"),
    [
        (["O", "I-X", "B-X"], "IOB1", 0),
        (["O", "I-X", "O", "B-X"], "BIO", 1),
        (["B-X", "I-Y"], "BIO", 1),
        (["I-X", "B-Y", "I-Y", "O", "I-Z"], "BIO", 2),
        (["B-X", "O"], "BIO", 0),
        (["B-X", "O", "S-X"], "BIOES", 1),
        (["I-X", "E-X", "S-Y", "B-Y"], "BIOES", 2),
        (["B-X", "B-X", "E-X", "E-X"], "BIOES", 2),
        (["_", "I-X", "B-X", "B-Y"], "BIO", 0),
        (["X", "Y", "O"], "types", 0),
        (["O", "O"], None, 0),
    ],
)
def test_broken_tags_are_counted(tags, scheme, n_broken):
    reader = TagReader()
    reader.read(tags)
    assert (reader.scheme, reader.n_broken) == (scheme, n_broken)


def test_a_later_sentence_can_settle_the_scheme():
    reader = TagReader()
    reader.read(["I-X", "O"])
    assert (reader.scheme, reader.n_broken) == ("IO", 0)
    reader.read(["B-X"])
    assert (reader.scheme, reader.n_broken) == ("BIO", 1)


def test_partial_labels_stand_in_place_of_tags():
    sentence = from_tags("abcdef", ["B-PER", "_", "LOC|ORG", "!O", "!PER", "O"])
    assert sentence.spans == (Span(0, 1, "PER"),)
    assert sentence.allowed == (None, *map(Allowed.parse, ["_", "LOC|ORG", "!O", "!PER"]), None)
    assert from_tags("ab", ["_", "_"]).is_unlabelled


def test_a_named_scheme_takes_types_that_look_like_tags():
    assert from_tags("ab", ["B-cell", "T-cell"], "types").spans == (
        Span(0, 1, "B-cell"),
        Span(1, 2, "T-cell"),
    )


@pytest.mark.parametrize(
    ("tags", "scheme", "message"),
    [
        (["B-cell", "protein"], None, "mix types with a prefix .* scheme='types'"),
        (["B-X"], "IO", "not a tag of the scheme IO, which has I-TYPE, O"),
        (["X"], "BIO", "not a tag of the scheme BIO"),
        (["S-X"], "BILOU", "not a tag of the scheme BILOU"),
        (["B-"], None, "not a tag"),
        ([""], None, "non-empty"),
        (["B-X|B-Y"], None, "write types alone"),
        (["LOC|"], None, "empty name"),
        (["B-O"], None, "cannot be called 'O'"),
        (["O"], "BOI", "there is no scheme 'BOI'; choose one of IO"),
    ],
)
def test_tags_that_make_no_sense_are_refused(tags, scheme, message):
    with pytest.raises(DataError, match=message):
        from_tags(["w"] * len(tags), tags, scheme)


def test_partial_labels_that_would_read_as_tags_with_prefixes_are_not_written():
    sentence = Sentence(("a",), (), (Allowed.parse("B-cell|T-cell"),))
    with pytest.raises(DataError, match="cannot be a tag"):
        to_tags(sentence)


def test_words_and_tags_must_be_as_many():
    with pytest.raises(DataError, match="2 words but 1 tags"):
        from_tags("ab", ["O"])
