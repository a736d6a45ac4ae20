"""Several annotations of the same text."""

import io
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.errors import DataError, FormatError
from handful.text import Allowed, Document, Sentence, Span, write
from handful.text._annotators import Annotation, Annotator, choose

from .strategies import labels, modest, partial_labels, read_bytes, stream_bytes

TEXT = "Ekeus heads for New York."
PER, LOC, CITY, YORK = (0, 5, "PER"), (16, 24, "LOC"), (16, 24, "CITY"), (20, 24, "LOC")


def task(**spans_by_name):
    """Return a Label Studio task that each of some people annotated."""
    return {
        "id": 4,
        "data": {"text": TEXT},
        "annotations": [
            {
                "completed_by": {"id": number, "email": f"{name}@x.org"},
                "result": [{"value": {"start": s, "end": e, "labels": [label]}} for s, e, label in spans],
            }
            for number, (name, spans) in enumerate(spans_by_name.items(), 10)
        ],
    }


def prodigy(**spans_by_name):
    """Return the records of Prodigy in which some people annotated the same text."""
    return [
        {
            "text": TEXT,
            "_session_id": f"news-{name}",
            "spans": [{"start": s, "end": e, "label": label} for s, e, label in spans],
        }
        for name, spans in spans_by_name.items()
    ]


def doccano(**spans_by_name):
    """Return records with the same id."""
    return [{"id": 4, "text": TEXT, "label": [*map(list, spans)]} for spans in spans_by_name.values()]


def read_as(kind, how, **spans_by_name):
    if kind == "task":
        text = json.dumps([task(**spans_by_name)])
    else:
        made = {"prodigy": prodigy, "doccano": doccano}[kind](**spans_by_name)
        text = "".join(json.dumps(record) + "\n" for record in made)
    return read_bytes(text, annotator=how)


KINDS = ["task", "prodigy", "doccano"]


@pytest.mark.parametrize("kind", KINDS)
def test_they_must_agree_if_nothing_is_said(kind):
    with pytest.raises(FormatError) as caught:
        read_as(kind, None, anna=[PER, LOC], ben=[PER])
    message = caught.value.for_shell
    assert "--annotator first, majority or agree" in message
    if kind == "task":
        assert "record 1 (id 4): 2 annotations do not agree: anna@x.org marks 'New York' (LOC), ben@x.org" in message
        assert message.endswith("such as anna@x.org")
    elif kind == "prodigy":
        assert ":2: the labels by news-ben are not those of the same text by news-anna, at the open" in message
        assert "at the open file:1; say" in message
        assert message.endswith("such as news-ben")
    else:
        assert ":2: the labels are not those of the same text, at the open file:1; say" in message


@pytest.mark.parametrize("kind", ["task", "prodigy"])
def test_those_who_agree_are_one(kind):
    corpus = read_as(kind, None, anna=[PER, LOC], ben=[LOC, PER])
    assert [sentence.spans for sentence in corpus] == [(Span(0, 1, "PER"), Span(3, 5, "LOC"))]
    assert len(corpus.report.handled()) == (kind == "prodigy")


@pytest.mark.parametrize("kind", KINDS)
def test_the_first(kind):
    (sentence,) = read_as(kind, "first", anna=[PER], ben=[LOC], cleo=[LOC])
    assert sentence.spans == (Span(0, 1, "PER"),)


@pytest.mark.parametrize("kind", KINDS)
def test_the_majority(kind):
    (sentence,) = read_as(kind, "majority", anna=[PER, CITY], ben=[PER, LOC], cleo=[LOC])
    assert sentence.spans == (Span(0, 1, "PER"), Span(3, 5, "LOC"))
    assert sentence.is_labelled
    (sentence,) = read_as(kind, "majority", anna=[PER], ben=[LOC])
    assert sentence.spans == ()


@pytest.mark.parametrize("kind", KINDS)
def test_where_they_do_not_agree_labels_stay_open(kind):
    (sentence,) = read_as(kind, "agree", anna=[PER, CITY], ben=[PER, LOC], cleo=[PER])
    assert sentence.spans == (Span(0, 1, "PER"),)
    either = Allowed.parse("O|CITY|LOC")
    assert sentence.allowed == (None, None, None, either, either, None)
    (sentence,) = read_as(kind, "agree", anna=[LOC], ben=[YORK])
    assert sentence.spans == (Span(4, 5, "LOC"),)
    assert sentence.allowed == (None, None, None, Allowed.parse("LOC|O"), None, None)


@pytest.mark.parametrize(
    ("kind", "name"), [("task", "ben@x.org"), ("task", "11"), ("prodigy", "ben"), ("prodigy", "news-ben")]
)
def test_one_of_them(kind, name):
    (sentence,) = read_as(kind, name, anna=[PER], ben=[LOC])
    assert sentence.spans == (Span(3, 5, "LOC"),)


@pytest.mark.parametrize("kind", ["task", "prodigy"])
def test_one_who_is_not_there(kind):
    with pytest.raises(FormatError, match=r"there is no annotator 'cleo'; there are .*anna.*, .*ben"):
        read_as(kind, "cleo", anna=[PER], ben=[LOC])
    with pytest.raises(FormatError, match="no record says who annotated it"):
        read_as("doccano", "cleo", anna=[PER])


def test_texts_that_others_annotated_are_counted_or_unlabelled():
    records = [*prodigy(anna=[PER]), {**prodigy(ben=[LOC])[0], "text": TEXT + " Yes."}, {"text": "Nobody."}]
    corpus = read_bytes("\n".join(map(json.dumps, records)), annotator="ben")
    assert [sentence.text for sentence in corpus] == [TEXT + " Yes.", "Nobody."]
    assert corpus.report.handled() == ["1 record of other annotators was left out"]
    (sentence, other) = read_bytes(json.dumps([task(anna=[PER]), task(ben=[LOC])]), annotator="ben@x.org")
    assert (sentence.is_unlabelled, other.spans) == (True, (Span(3, 5, "LOC"),))


def test_repeated_texts_of_nobody_are_left_alone():
    """A corpus may have the same short text twice; a fit says so if labels differ."""
    records = [{"text": TEXT, "label": [[*LOC]]}, {"text": TEXT, "label": []}, {"id": 1, "text": TEXT, "label": []}]
    text = "\n".join(map(json.dumps, records))
    assert len(read_bytes(text)) == 3
    assert len(read_bytes(text, annotator="first")) == 1
    assert read_bytes(text, annotator="majority")[0].spans == ()


def test_unlabelled_records_and_predictions_are_left_alone():
    span = {"start": 0, "end": 5, "entity_group": "PER", "score": 0.5}
    records = [{"id": 1, "text": TEXT}, {"id": 1, "text": TEXT, "entities": [span]}, {"id": 1, "text": TEXT}]
    for how in (None, "first", "agree"):
        assert len(read_bytes("\n".join(map(json.dumps, records)), annotator=how)) == 3
    records += prodigy(anna=[PER], ben=[LOC])
    assert len(read_bytes("\n".join(map(json.dumps, records)), unlabelled=True)) == 5


@pytest.mark.parametrize("format", ["huggingface", "gliner"])
def test_sentences_of_a_document_are_not_annotations_of_the_same_text(format):
    one, other = Sentence(("Slugs", "."), (Span(0, 1, "PEST"),)), Sentence(("Slugs", "."), ())
    document = Document("Slugs . Slugs .", (one.with_text(), replace(other.with_text(), offset=8)), id=1)
    write([document], file := io.BytesIO(), format)
    assert [sentence.spans for sentence in read_bytes(file.getvalue())] == [one.spans, ()]


def test_contradictions_can_be_skipped():
    corpus = read_bytes("\n".join(map(json.dumps, prodigy(anna=[PER], ben=[LOC]))), malformed="skip")
    assert (len(corpus), corpus.report.n_skipped) == (1, 1)


def test_types_are_renamed_before_they_are_compared():
    for records in ([task(anna=[CITY], ben=[LOC])], prodigy(anna=[CITY], ben=[LOC])):
        assert read_bytes(json.dumps(records), rename={"CITY": "LOC"})[0].spans == (Span(3, 5, "LOC"),)
    with pytest.raises(FormatError, match=r": record 2: .* by news-ben .* by news-anna, at the open file: record 1;"):
        read_bytes(json.dumps(prodigy(anna=[CITY], ben=[LOC])))


def test_a_merged_task_goes_out_as_one_annotation():
    given = task(anna=[PER, LOC], ben=[PER, LOC], cleo=[])
    write(stream_bytes(json.dumps([given]), annotator="majority"), file := io.BytesIO(), "label-studio")
    (back,) = json.loads(file.getvalue())
    assert len(back["annotations"]) == 1
    assert len(back["annotations"][0]["result"]) == 2
    assert "completed_by" not in back["annotations"][0]


def test_words_must_be_the_same():
    tokens = [{"start": 0, "end": 15}, {"start": 16, "end": 25}]
    one, other = prodigy(anna=[], ben=[])
    text = "\n".join(map(json.dumps, [one, {**other, "tokens": tokens}]))
    with pytest.raises(FormatError, match="do not have the same words"):
        read_bytes(text, annotator="agree")
    corpus = read_bytes(text + '\n{"text": "Fine."}', annotator="agree", malformed="skip")
    assert (len(corpus), corpus.report.n_skipped) == (1, 1)


def test_partial_labels_are_compared_too():
    either, other = (16, 24, "LOC|ORG"), (16, 24, "LOC|PER")
    with pytest.raises(FormatError, match="2 annotations do not agree: their partial labels differ"):
        read_as("task", None, anna=[either], ben=[other])
    (sentence,) = read_as("task", "majority", anna=[either], ben=[other], cleo=[either])
    assert sentence.allowed[3:5] == (Allowed.parse("LOC|ORG"),) * 2


@given(partial_labels, partial_labels)
@modest
def test_a_union_allows_what_one_of_the_two_allows(one, other):
    tags = ["O", "PER", "LOC", "ORG", "x", "型", "art-painting", "another"]
    expected = tuple(a or b for a, b in zip(one.among(tags), other.among(tags), strict=True))
    assert (one | other).among(tags) == expected


@st.composite
def annotations(draw):
    n_words = draw(st.integers(1, 6))
    words = tuple(f"w{i}" for i in range(n_words))
    n = draw(st.integers(2, 4))
    return [Annotation(Annotator((str(i),)), Sentence(words, *draw(labels(n_words)))) for i in range(n)]


@given(annotations())
@modest
def test_agreement_allows_what_any_annotator_says(made):
    made = [one for one in made if one.sentence.spans is not None]
    if len(made) < 2:
        return
    agreed = choose(made, "agree")
    tags = ["O", "PER", "LOC", "ORG", "x", "型", "art-painting", "B-cell", "another"]
    rows = zip(*(one.sentence.constraints() for one in made), strict=True)
    for row, found in zip(rows, agreed.constraints(), strict=True):
        assert found.among(tags) == tuple(map(any, zip(*(entry.among(tags) for entry in row), strict=True)))
    majority = choose(made, "majority")
    for span in majority.spans or ():
        assert 2 * sum(span in (one.sentence.spans or ()) for one in made) > len(made)


def test_options():
    with pytest.raises(DataError, match="annotator is '', expected a name"):
        read_bytes("a O\n", annotator="")
