"""Documents in every format: ids, other keys, scores."""

import io
import json
from dataclasses import replace

import pytest

from handful.errors import FormatError
from handful.text import FORMATS, Document, Sentence, Span, write

from .strategies import read_bytes, stream_bytes, written

TEXT = "Dr. Ekeus left. He went to New York."
BY_SENTENCE = ("conll", "inline", "huggingface", "gliner")
BY_RECORD = ("prodigy", "doccano", "spacy", "label-studio", "jsonl", "csv", "tsv", "docbin")
JSON = ("prodigy", "doccano", "spacy", "label-studio", "jsonl", "docbin")  # what holds fields of any kind
WITH_SCORES = ("prodigy", "jsonl", "csv", "tsv", "docbin")


def document(scores=(None, None), **options):
    first, second = Document.of(TEXT).sentences
    first = replace(first, spans=(Span(1, 2, "PER", scores[0]),))
    second = replace(second, spans=(Span(3, 5, "LOC", scores[1]),))
    return replace(Document.of(TEXT, **options), sentences=(first, second))


def records(items, format):
    text = written(items, format).decode()
    return json.loads(text) if format == "label-studio" else [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize("format", BY_SENTENCE)
def test_formats_by_sentence_get_the_sentences(format):
    one = document()
    assert written([one], format) == written(one.sentences, format)
    assert [sentence.words for sentence in read_bytes(written([one], format), format)] == [
        sentence.words for sentence in one.sentences
    ]


@pytest.mark.parametrize("format", BY_RECORD)
def test_other_formats_get_one_record_with_the_whole_text(format):
    (back,) = stream_bytes(written([document()], format), format)
    assert back.as_sentence() == document().as_sentence()
    assert (back.text, back.id, back.meta) == (TEXT, None, {"text": TEXT} if format in ("csv", "tsv") else {})
    assert [mention["word"] for mention in back.predictions()] == ["Ekeus", "New York"]


def test_plain_text_has_one_document_per_line():
    assert written([document(), document()], "text").decode() == f"{TEXT}\n{TEXT}\n"


@pytest.mark.parametrize("one", JSON)
@pytest.mark.parametrize("other", JSON)
def test_what_comes_with_a_record_goes_with_it(one, other):
    given = document(id="x7", meta={"page": 1, "source": {"url": "u"}, "data": {"row": 2}})
    for format in (one, other):
        (given,) = stream_bytes(written([given], format), format)
    assert (given.id, given.text) == ("x7", TEXT)
    assert given.meta == {"page": 1, "source": {"url": "u"}, "data": {"row": 2}}


@pytest.mark.parametrize("format", ["csv", "tsv"])
def test_tables_hold_fields_as_text(format):
    given = document(id="x7", meta={"page": 1, "source": {"url": "u"}, "note": 'a, b\t"c"\nd', "none": None})
    (back,) = stream_bytes(written([given], format), format)
    assert (back.id, back.text, back.text_field) == ("x7", TEXT, "text")
    fields = {"page": "1", "source": '{"url": "u"}', "note": 'a, b\t"c"\nd', "none": ""}
    assert back.meta == {"id": "x7", "text": TEXT, **fields}
    (again,) = stream_bytes(written([back], "jsonl"), "jsonl")
    assert (again.id, again.meta) == ("x7", fields)


@pytest.mark.parametrize("format", ["huggingface", "gliner"])
def test_json_by_sentence_repeats_what_comes_with_a_document(format):
    first, second = stream_bytes(written([document(id="x7", meta={"page": {"n": 1}})], format), format)
    assert [first.id, second.id] == ["x7", "x7"]
    assert first.meta == second.meta == {"page": {"n": 1}}


@pytest.mark.parametrize("format", ["conll", "inline", "text"])
def test_what_a_format_has_no_place_for_is_said_once(format):
    report = write([document((0.5, 0.75), id=3), document(meta={"page": 1}), document()], io.BytesIO(), format)
    lost = [line for line in report.handled() if "no place" in line]
    assert lost[0] == f"2 documents were written without their id and other fields: {format} has no place for them"
    assert lost[1:] == [f"2 mentions were written without their scores: {format} has no place for them"]


def test_what_is_said_of_one_thing_is_singular():
    report = write([document((0.5, None), id=3)], io.BytesIO(), "inline")
    assert report.handled() == [
        "1 document was written without its id and other fields: inline has no place for them",
        "1 mention was written without its score: inline has no place for them",
    ]


@pytest.mark.parametrize("one", WITH_SCORES)
@pytest.mark.parametrize("other", WITH_SCORES)
def test_scores_come_back(one, other):
    given = document((0.5, 0.75))
    for format in (one, other):
        (given,) = stream_bytes(written([given], format), format)
    assert [span.score for _, _, span in given.mentions()] == [0.5, 0.75]


@pytest.mark.parametrize("format", [format for format in FORMATS if format not in (*WITH_SCORES, "label-studio")])
def test_scores_are_not_made_up(format):
    report = write([document((0.5, 0.75))], file := io.BytesIO(), format)
    assert any("2 mentions were written without their scores" in line for line in report.handled())
    for back in stream_bytes(file.getvalue(), format):
        assert all(span.score is None for _, _, span in back.mentions())


@pytest.mark.parametrize("score", ["high", True, [1], float("nan"), 10**400])
def test_a_score_is_a_number(score):
    span = {"start": 4, "end": 9, "label": "PER", "score": score}
    with pytest.raises(FormatError, match=r":1: the score of .* expected a number"):
        list(stream_bytes(json.dumps({"text": TEXT, "spans": [span]})))


def test_a_key_that_the_format_uses_is_counted():
    report = write([document(meta={"label": "spam", "page": 1})], file := io.StringIO(), "doccano")
    assert report.handled() == ["1 key of records was not written: the format has another use for them"]
    assert json.loads(file.getvalue())["page"] == 1
    assert records([document(meta={"label": "spam"})], "jsonl")[0]["label"] == "spam"


def test_scores_of_spans():
    one = document((0.5, 0.75), id=3)
    assert [span["score"] for span in records([one], "prodigy")[0]["spans"]] == [0.5, 0.75]
    assert records([one], "jsonl") == [{"text": TEXT, "entities": one.predictions(), "id": 3}]
    assert records([one], "doccano")[0]["label"] == [[4, 9, "PER"], [27, 35, "LOC"]]
    (task,) = records([one], "label-studio")
    (prediction,) = task["predictions"]
    assert "annotations" not in task
    assert (prediction["model_version"], prediction["score"]) == ("handful", 0.5)
    assert [(item["value"]["text"], item["score"]) for item in prediction["result"]] == [
        ("Ekeus", 0.5),
        ("New York", 0.75),
    ]


def test_labels_have_no_scores():
    one = document()
    assert "score" not in records([one], "prodigy")[0]["spans"][0]
    assert records([one], "jsonl")[0]["entities"][0] == {"entity_group": "PER", "word": "Ekeus", "start": 4, "end": 9}
    (task,) = records([one], "label-studio")
    assert "predictions" not in task
    assert len(task["annotations"][0]["result"]) == 2


def test_a_document_without_mentions_is_predicted_if_its_neighbours_are():
    empty = Document.of(Sentence(("Yes",), ()))
    unlabelled = Document.of("Perhaps.")
    for one, key in ((document((0.5, 0.5)), "predictions"), (document(), "annotations")):
        tasks = records([empty, unlabelled, one, empty], "label-studio")
        assert [task["data"]["text"] for task in tasks] == ["Yes", "Perhaps.", TEXT, "Yes"]
        assert [len(task[key][0]["result"]) for task in (tasks[0], *tasks[2:])] == [0, 2, 0]
        assert tasks[1]["annotations"] == []
    assert records([empty], "label-studio")[0]["annotations"] == [{"result": []}]


def test_documents_without_a_word():
    blank = Document.of(" ", id=2)
    for format in FORMATS:
        report = write([document(), blank], file := io.BytesIO(), format)
        assert (report.n_documents, report.n_sentences) == (2, 2)
        if format == "jsonl":
            assert json.loads(file.getvalue().splitlines()[1]) == {"text": " ", "entities": [], "id": 2}
        elif format in ("csv", "tsv"):
            assert [one.text for one in stream_bytes(file.getvalue(), format, unlabelled=True)] == [TEXT, " "]
        else:
            assert file.getvalue() == written([document()], format)
            assert bool(report.notes) == (format not in ("huggingface", "gliner"))


def test_unlabelled_documents_stay_unlabelled():
    for format in (*BY_RECORD, "text"):
        (back,) = stream_bytes(written([Document.of(TEXT, id=1)], format), format)
        assert back.is_unlabelled
        assert back.as_sentence() == Document.of(TEXT).as_sentence()


def test_a_stream_passes_through(tmp_path):
    path = tmp_path / "file.jsonl"
    write([document(id=i) for i in range(3)], path, "jsonl")
    with stream_bytes(path.read_bytes()) as documents:
        tasks = records(documents, "label-studio")
    assert [task["id"] for task in tasks] == [0, 1, 2]
