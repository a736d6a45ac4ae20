"""Tasks of Label Studio: what people marked, what models found, and what else is there."""

import io
import json
from dataclasses import replace

import pytest

from handful.errors import FormatError
from handful.text import Document, Span, stream, write

from .strategies import read_bytes, stream_bytes

TEXT = "Ekeus heads for New York."


def result(*spans, names=("label", "text"), **more):
    return [
        {
            "from_name": names[0],
            "to_name": names[1],
            "type": "labels",
            "value": {"start": start, "end": end, "text": TEXT[start:end], "labels": [label]},
            **more,
        }
        for start, end, label in spans
    ]


PER, LOC = (0, 5, "PER"), (16, 24, "LOC")


def tasks_of(items, **options):
    write(items, file := io.BytesIO(), "label-studio", **options)
    return json.loads(file.getvalue())


def converted(*tasks, **options):
    return tasks_of(stream_bytes(json.dumps(tasks), **options))


def predicted(*tasks):
    """Return tasks with one mention that was found in each."""
    with stream_bytes(json.dumps(tasks), unlabelled=True) as documents:
        found = [
            one.with_sentences([replace(one.sentences[0], spans=(Span(0, 1, "PER", 0.25),)), *one.sentences[1:]])
            for one in documents
        ]
    return tasks_of(found, is_predicted=True)


def test_a_task_comes_back_as_it_is():
    task = {
        "id": 7,
        "data": {"article": TEXT, "row": {"n": 2}},
        "annotations": [
            {"id": 70, "completed_by": 3, "lead_time": 4.5, "result": result(PER, LOC, names=("ner", "article"))}
        ],
        "predictions": [{"model_version": "v1", "score": 0.5, "result": result(PER, score=0.5)}],
        "project": 3,
        "meta": {"from": ["x"]},
    }
    assert converted(task) == [task]


def test_data_goes_to_other_formats_and_back():
    task = {"id": 7, "data": {"text": TEXT, "row": {"n": 2}}, "annotations": [{"result": result(PER)}], "project": 3}
    write(stream_bytes(json.dumps([task])), file := io.BytesIO(), "jsonl")
    record = json.loads(file.getvalue())
    assert (record["data"], record["project"], record["id"]) == ({"row": {"n": 2}}, 3, 7)
    assert tasks_of(stream_bytes(file.getvalue())) == [task]


def test_a_field_of_the_data_may_be_the_text_itself():
    task = {"id": 7, "data": {"title": TEXT, "text": TEXT}, "annotations": [{"result": []}]}
    assert converted(task) == [task]


def test_the_field_of_the_text_can_be_named():
    task = {"data": {"title": "Ekeus", "body": TEXT}, "annotations": [{"result": result(LOC)}]}
    with pytest.raises(FormatError, match=r"expected one text in it; say which field .* text_field='body'"):
        converted(task)
    assert converted(task, text_field="body") == [task]


def test_fields_from_elsewhere_are_in_the_data_too():
    """Label Studio does not keep other keys of a task that it imports."""
    record = {"id": "x7", "text": TEXT, "spans": [], "page": 1, "meta": {"from": "y"}}
    (task,) = tasks_of(stream_bytes(json.dumps(record)))
    assert task["data"] == {"text": TEXT, "id": "x7", "page": 1, "meta": {"from": "y"}}
    (back,) = stream_bytes(json.dumps([task]))
    assert (back.id, back.meta) == ("x7", {"page": 1, "meta": {"from": "y"}})


def test_what_was_predicted_is_beside_what_people_marked():
    task = {
        "id": 7,
        "data": {"text": TEXT},
        "annotations": [{"id": 70, "result": result(LOC, names=("ner", "txt"))}, {"id": 71, "result": []}],
        "predictions": [{"model_version": "v1", "result": []}, {"model_version": "handful", "result": result(LOC)}],
    }
    (back,) = predicted(task)
    assert back["annotations"] == task["annotations"]
    other, ours = back["predictions"]
    assert other == task["predictions"][0]
    assert (ours["model_version"], ours["score"]) == ("handful", 0.25)
    assert ours["result"] == result(PER, names=("ner", "txt"), score=0.25)


def test_predictions_without_a_mention_are_predictions():
    for is_predicted, key in ((True, "predictions"), (False, "annotations"), (None, "annotations")):
        (task,) = tasks_of([replace(Document.of("Yes."), sentences=(read_bytes("Yes.", "inline")[0],))])
        (task,) = tasks_of([Document.of(read_bytes("Yes.", "inline")[0])], is_predicted=is_predicted)
        assert task[key][0]["result"] == []
        assert ("predictions" in task) == bool(is_predicted)


def test_what_a_person_accepted_is_an_annotation():
    """Prodigy leaves the scores of a model with the spans that a person has accepted."""
    record = {"text": TEXT, "spans": [{"start": 0, "end": 5, "label": "PER", "score": 0.5}]}
    assert "predictions" in tasks_of(stream_bytes(json.dumps(record)))[0]
    (task,) = tasks_of(stream_bytes(json.dumps({**record, "answer": "accept"})))
    assert len(task["annotations"][0]["result"]) == 1
    assert "predictions" not in task


def test_predictions_are_no_labels_unless_they_are_asked_for():
    (task,) = predicted({"id": 7, "data": {"text": TEXT}, "project": 3})
    with stream_bytes(json.dumps([task])) as documents:
        (plain,) = documents
    assert plain.is_unlabelled
    (line,) = documents.report.handled(shell=True)
    assert line.startswith("1 task has predictions and no annotation, and counts as unlabelled (handful convert --anno")
    (found,) = stream_bytes(json.dumps([task]), annotator="handful")
    assert [(span, span.score) for _, _, span in found.mentions()] == [(Span(0, 1, "PER"), 0.25)]
    assert tasks_of([found]) == [task]


def test_predictions_that_are_only_numbers_stay():
    task = {"id": 7, "data": {"text": TEXT}, "annotations": [{"result": result(PER)}], "predictions": [4, 5]}
    assert converted(task) == [task]


def test_a_stream_of_tasks_of_a_file(tmp_path):
    (tmp_path / "tasks.json").write_text(json.dumps([{"id": 7, "data": {"text": TEXT}, "annotations": []}]))
    with stream(tmp_path / "tasks.json") as documents:
        write(documents, tmp_path / "out.json", "label-studio")
    assert json.loads((tmp_path / "out.json").read_text())[0]["id"] == 7


def test_an_annotation_that_names_a_model_is_an_annotation():
    result = [{"value": {"start": 0, "end": 4, "labels": ["PER"]}, "score": 0.4}]
    task = {"data": {"text": "Anna left."}, "annotations": [{"model_version": "m-1", "result": result}]}
    (document,) = stream_bytes(json.dumps([task]))
    assert document.sentences[0].spans[0].score is None
    write([document], file := io.BytesIO(), "label-studio")
    assert "predictions" not in json.loads(file.getvalue())[0]
