"""Whatever is in a file, reading gives sentences or one of our errors."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from handful.errors import DataError, HandfulError
from handful.text import FORMATS, Allowed, Sentence, Span, to_sentence
from handful.text._words import is_blank

from .strategies import read_bytes, strange_texts, stream_bytes, written

READABLE = (None, "json", *FORMATS)
fuzz = examples(20)
options = st.fixed_dictionaries(
    {},
    optional={
        "malformed": st.just("skip"),
        "misaligned": st.just("widen"),
        "unmarked": st.just("unknown"),
        "names": st.just(["O", "B-X", "I-X"]),
        "scheme": st.sampled_from(["BIO", "types", "IO"]),
        "annotator": st.sampled_from(["first", "agree", "majority", "handful"]),
        "rename": st.just({"PER": "LOC", "X": "PER"}),
        "keep": st.just(["LOC"]),
        "drop": st.just(["PER"]),
        "text_field": st.sampled_from(["text", "id", "a"]),
        "label_field": st.sampled_from(["spans", "entities"]),
        "unlabelled": st.booleans(),
        "encoding": st.sampled_from(["latin-1", "utf-16", "utf-7"]),
    },
)


def try_reading(data, format, options):
    try:
        corpus = read_bytes(data, format, **options)
    except HandfulError:
        return
    assert corpus.report.n_sentences == len(corpus)
    with stream_bytes(data, format, **options) as documents:
        for document in documents:
            for mention in document.predictions():
                assert document.text[mention["start"] : mention["end"]] == mention["word"]
            if any(is_blank(mention["word"]) for mention in document.predictions()):
                with pytest.raises(DataError, match="nothing is visible in it"):
                    written([document], "jsonl")
                continue
            record = json.loads(written([document], "jsonl"))
            assert record[document.text_field] == document.text
            assert record.get("id", document.id) == document.id
            assert len(record.get("entities", ())) >= len(document.predictions())
    for sentence in corpus:
        # The checks that a reader goes round must hold all the same.
        checked = Sentence(sentence.words, sentence.spans, sentence.allowed, sentence.text, sentence.starts)
        assert checked == sentence


CORPUS = [
    Sentence(("Ekeus", "heads", "for", "Baghdad", "👍🏽", "."), (Span(0, 1, "PER"), Span(3, 4, "LOC"))),
    Sentence(("a", "b"), (), (Allowed.parse("LOC|ORG"), None)),
    to_sentence("It is far."),
]
SEEDS = {
    format: [written(CORPUS[: 3 if scheme == "BIO" else 1], format, scheme=scheme) for scheme in ("BIO", "BIOES")]
    for format in FORMATS
}
PIECES = [
    *(
        b"\t",
        b"\n",
        b"\r",
        b" ",
        b"\x00",
        b"\xff",
        b"\xef\xbb\xbf",
        b"\\",
        b'"',
        b"[",
        b"]",
        b"{",
        b"}",
        b",",
        b":",
    ),
    *(
        b"|",
        b"!",
        b"_",
        b"O",
        b"X",
        b"B-",
        b"I-",
        b"-DOCSTART-",
        b"](",
        b"-1",
        b"1e9",
        b"99999999999999999999",
    ),
    *(
        b"null",
        b"true",
        b"NaN",
        b"[]",
        b"{}",
        b"\\ud800",
        "é".encode(),
        "\u200b".encode(),
        "\u2028".encode(),
        b"\x1f\x8b",
        b"# A: b\n",
        b"# ",
        b'"id": 1,',
    ),
]


@st.composite
def mutated(draw, data):
    """Change a file in a few places: cut, double, replace, insert."""
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 12)))
        middle = draw(
            st.one_of(
                st.just(b""),
                st.sampled_from(PIECES),
                st.binary(max_size=3),
                st.just(data[start:end] * 2),
                strange_texts.map(str.encode),
            )
        )
        data = data[:start] + middle + data[end:]
    return data


@pytest.mark.parametrize("format", READABLE)
@given(data=st.binary(max_size=60), options=options)
@fuzz
def test_any_bytes(format, data, options):
    try_reading(data, format, options)


@pytest.mark.parametrize("format", READABLE)
@given(
    data=st.lists(st.one_of(st.sampled_from(PIECES), st.just(b"a")), max_size=20).map(b"".join),
    options=options,
)
@fuzz
def test_any_pieces(format, data, options):
    try_reading(data, format, options)


@pytest.mark.parametrize("format", FORMATS)
@given(data=st.data(), options=options)
@fuzz
def test_mutated_files(format, data, options):
    changed = data.draw(mutated(data.draw(st.sampled_from(SEEDS[format]))))
    for name in (format, None, *(["json"] if format not in ("conll", "lines", "inline", "text") else [])):
        try_reading(changed, name, options)
