"""Types that are kept, left out, renamed and merged while a file is read."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.errors import DataError
from handful.text import Allowed, EntityType, ReadOptions, Sentence, Span, stream, write
from handful.text.type_choice import TypeChoice

from .strategies import modest, read_bytes, sentences, stream_bytes

LINE = "[Ekeus](PERSON) of the [UN](ORG) heads for [Iraq](GPE) and [Baghdad](LOC).\n"
SAME = {
    "inline": LINE,
    "conll": "Ekeus\tB-PERSON\nof\tO\nthe\tO\nUN\tB-ORG\nheads\tO\nfor\tO\nIraq\tB-GPE\nand\tO\nBaghdad\tB-LOC\n.\tO\n",
    "prodigy": json.dumps(
        {
            "text": "Ekeus of the UN heads for Iraq and Baghdad.",
            "spans": [
                {"start": 0, "end": 5, "label": "PERSON"},
                {"start": 13, "end": 15, "label": "ORG"},
                {"start": 26, "end": 30, "label": "GPE"},
                {"start": 35, "end": 42, "label": "LOC"},
            ],
        }
    ),
    "gliner": json.dumps(
        {
            "tokenized_text": ["Ekeus", "of", "the", "UN", "heads", "for", "Iraq", "and", "Baghdad", "."],
            "ner": [[0, 0, "PERSON"], [3, 3, "ORG"], [6, 6, "GPE"], [8, 8, "LOC"]],
        }
    ),
}


def types_in(format, **options):
    (sentence,) = read_bytes(SAME[format], format, **options)
    return {sentence.span_text(span): span.type for span in sentence.spans}


@pytest.mark.parametrize("format", SAME)
def test_every_format(format):
    people = {"Ekeus": "PERSON"}
    places = {"Iraq": "GPE", "Baghdad": "LOC"}
    assert types_in(format, keep=["PERSON"]) == people
    assert types_in(format, keep="GPE, LOC") == places
    assert types_in(format, drop=["ORG"]) == people | places
    assert types_in(format, rename={"GPE": "LOC"}, keep=["LOC"]) == {"Iraq": "LOC", "Baghdad": "LOC"}
    assert types_in(format, rename={"GPE": "LOC", "LOC": "PLACE"}, drop=["ORG"]) == people | {
        "Iraq": "LOC",
        "Baghdad": "PLACE",
    }


def test_descriptions_are_renamed_too():
    head = "# domain: news\n# PERSON: people\n# GPE: countries\n# LOC: rivers and towns\n# ORG: bodies\n\n"
    corpus = read_bytes(head + LINE, rename={"GPE": "PLACE", "LOC": "PLACE", "PERSON": "PER"}, drop=["ORG"])
    assert corpus.types == (EntityType("PER", "people"), EntityType("PLACE", "countries; rivers and towns"))
    assert corpus.meta == {"domain": "news"}
    corpus = read_bytes(head + LINE, rename={"GPE": "LOC"}, keep=["LOC"])
    assert corpus.types == (EntityType("LOC", "rivers and towns"),)
    with stream_bytes(head + LINE, keep=["PERSON"]) as documents:
        assert documents.types == (EntityType("PERSON", "people"),)


def test_names_that_are_not_in_the_file_are_said():
    corpus = read_bytes(LINE, keep=["PER", "LOC"], rename={"CITY": "LOC", "GPE": "LOC"})
    assert corpus.report.handled() == [
        "2 types of keep, drop and rename are not in the file: CITY, PER (it has GPE, LOC, ORG, PERSON)"
    ]
    assert corpus.report.handled(shell=True)[0].startswith("2 types of --keep, --drop and --rename are")
    assert not read_bytes(LINE, keep=["LOC"], rename={"GPE": "LOC"}).report.notes
    assert not read_bytes("no label here\n", "text", keep=["LOC"]).report.notes


@pytest.mark.parametrize(
    ("written", "options", "expected"),
    [
        ("LOC|ORG", {"rename": {"ORG": "GROUP"}}, "GROUP|LOC"),
        ("LOC|ORG", {"drop": ["ORG"]}, "LOC|O"),
        ("LOC|ORG", {"keep": ["PER"]}, None),
        ("LOC|ORG", {"rename": {"LOC": "X", "ORG": "X"}}, "X"),
        ("!LOC", {"rename": {"LOC": "X"}}, "_"),  # it may have been an X
        ("!LOC", {"rename": {"GPE": "LOC"}}, "_"),
        ("!LOC|GPE", {"rename": {"GPE": "LOC"}}, "!LOC"),
        ("!LOC", {"drop": ["LOC"]}, "_"),
        ("!LOC", {"drop": ["ORG"]}, "!LOC"),
        ("!O", {"rename": {"GPE": "LOC"}}, "!O"),
        ("!O", {"drop": ["ORG"]}, "_"),
        ("!O|LOC", {"drop": ["LOC"]}, "!O"),
        ("!O", {"keep": ["LOC"]}, "_"),
        ("_", {"keep": ["LOC"]}, "_"),
    ],
)
def test_partial_labels(written, options, expected):
    (sentence,) = read_bytes(f"[a b]({written}) [c](PER) d\n", "inline", **options)
    if expected is None:
        assert sentence.allowed is None
    elif expected == "X":
        assert (sentence.spans[0], sentence.allowed) == (Span(0, 2, "X"), None)
    else:
        assert sentence.allowed == (Allowed.parse(expected), Allowed.parse(expected), None, None)


@given(
    sentences(), st.dictionaries(st.sampled_from(["PER", "LOC", "x"]), st.sampled_from(["LOC", "型", "new"])), st.data()
)
@modest
def test_what_a_word_may_be_follows_the_new_names(sentence, rename, data):
    """Each new tag is allowed if and only if an old one that became it was."""
    old = ["O", "PER", "LOC", "ORG", "x", "型", "art-painting", "B-cell", "new", "another"]
    drop = data.draw(st.lists(st.sampled_from(["LOC", "型", "new", "ORG"]), max_size=2))
    keep = data.draw(st.one_of(st.none(), st.lists(st.sampled_from(["PER", "LOC", "new"]), max_size=2)))

    def become(tag):
        new = rename.get(tag, tag)
        return "O" if tag == "O" or new in drop or (keep is not None and new not in keep) else new

    made = TypeChoice(keep, drop, rename).sentence(sentence)
    if sentence.spans is None:
        assert made == sentence
        return
    tags = sorted({become(tag) for tag in old})
    for before, after in zip(sentence.constraints(), made.constraints(), strict=True):
        allowed = {become(tag) for tag in old if tag in before}
        assert {tag for tag in tags if tag in after} == allowed


def test_merging_keeps_two_mentions_apart_and_scores():
    span = {"start": 0, "end": 5, "entity_group": "PERSON", "score": 0.5}
    (sentence,) = read_bytes(json.dumps({"text": "Ekeus left.", "entities": [span]}), rename={"PERSON": "PER"})
    assert sentence.spans[0].score == 0.5
    (sentence,) = read_bytes("a\tB-X\nb\tB-Y\n", rename={"Y": "X"})
    assert sentence.spans == (Span(0, 1, "X"), Span(1, 2, "X"))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"keep": ["X"], "drop": ["X", "Y"]}, "the type 'X' cannot be both kept and dropped"),
        ({"keep": 3}, "keep is 3, expected a list, each entry a string"),
        ({"drop": [3]}, r"drop is \(3,\), expected a list"),
        ({"rename": ["A=B"]}, "rename is .*, expected a string for each name"),
        ({"rename": {"A": "O"}}, "a type cannot be called 'O'"),
        ({"rename": {"A": ""}}, "a type is a non-empty string"),
        ({"text_field": 3}, "text_field is 3, expected a string"),
    ],
)
def test_options_that_cannot_be(options, message):
    with pytest.raises(DataError, match=message):
        ReadOptions(**options)


NAMES = ["GARDEN PEST", "Head (of State)", "x y z", 'the "big" one']


@pytest.mark.parametrize("format", ["conll", "huggingface", "gliner", "prodigy", "doccano", "spacy", "label-studio"])
@pytest.mark.parametrize("other", ["conll", "jsonl", "csv", "tsv", "docbin", "inline"])
def test_names_with_spaces_pass_through_every_format_that_can_hold_them(format, other):
    given = [Sentence(("a", "b", "c"), (Span(0, 2, name),), text="a b c", starts=(0, 2, 4)) for name in NAMES]
    for each in (format, other):
        write(given, file := io.BytesIO(), each)
        file.seek(0)
        given = [document.as_sentence() for document in stream(file, None if each == "conll" else each)]
    assert [sentence.spans for sentence in given] == [(Span(0, 2, name),) for name in NAMES]


def test_conll_says_how_to_rename_what_it_cannot_hold():
    with pytest.raises(DataError, match=r"CoNLL cannot hold the type ' A' \(a tab,") as caught:
        write([Sentence(("a",), (Span(0, 1, " A"),))], io.BytesIO(), "conll")
    assert "rename={'GARDEN PEST': 'GARDEN_PEST'}" in str(caught.value)
    assert "--rename 'GARDEN PEST=GARDEN_PEST'" in caught.value.for_shell
