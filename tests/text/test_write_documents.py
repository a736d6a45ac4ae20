"""Documents in every format: ids, other keys, scores."""

import io
import json
from dataclasses import replace

import pytest

from handful.text import FORMATS, Document, Sentence, Span, write

from .strategies import read_bytes, stream_bytes, written

TEXT = "Dr. Ekeus left. He went to New York."
BY_SENTENCE = ("conll", "lines", "inline", "huggingface")
BY_RECORD = ("prodigy", "doccano", "spacy", "label-studio", "jsonl")


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
    one = document(id=3, meta={"page": 1})
    assert written([one], format) == written(one.sentences, format)
    assert [sentence.words for sentence in read_bytes(written([one], format), format)] == [
        sentence.words for sentence in one.sentences
    ]


@pytest.mark.parametrize("format", BY_RECORD)
def test_other_formats_get_one_record_with_the_whole_text(format):
    (back,) = stream_bytes(written([document()], format), format)
    assert back.as_sentence() == document().as_sentence()
    assert (back.text, back.id, back.meta) == (TEXT, None, {})
    assert [mention["word"] for mention in back.predictions()] == ["Ekeus", "New York"]


def test_plain_text_has_one_document_per_line():
    assert written([document(), document()], "text").decode() == f"{TEXT}\n{TEXT}\n"


@pytest.mark.parametrize("one", BY_RECORD)
@pytest.mark.parametrize("other", BY_RECORD)
def test_what_comes_with_a_record_goes_with_it(one, other):
    given = document(id="x7", meta={"page": 1, "source": {"url": "u"}, "data": {"row": 2}})
    for format in (one, other):
        (given,) = stream_bytes(written([given], format), format)
    assert (given.id, given.text) == ("x7", TEXT)
    assert given.meta == {"page": 1, "source": {"url": "u"}, "data": {"row": 2}}


def test_other_keys_of_the_data_of_a_task():
    task = {"id": 1, "data": {"article": TEXT, "row": 2}, "annotations": [{"result": []}], "project": 3}
    (back,) = records(stream_bytes(json.dumps([task])), "label-studio")
    assert back == {**task, "data": {"row": 2, "text": TEXT}}


def test_a_key_that_the_format_uses_is_counted():
    report = write([document(meta={"label": "spam", "page": 1})], file := io.StringIO(), "doccano")
    assert report.handled() == ["1 keys of records were not written: the format has another use for them"]
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
        else:
            assert file.getvalue() == written([document()], format)
            assert bool(report.notes) == (format not in BY_SENTENCE)


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
