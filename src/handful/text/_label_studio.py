"""Tasks of Label Studio; docs/formats.md says where their labels are.

Other fields of a task go with the document: those of its data under ``data``, those of the annotation (who made it, and
when) and the names that the labelling interface gave to the labels and to the text under ``label_studio``.
"""

from collections.abc import Iterator
from typing import Any

from handful.errors import Advice, DataError, shorten

from ._annotators import RULES, Annotation, annotator_of, choose
from ._document import Document
from ._json_records import Record, read_mark, read_score
from ._labels import Mark
from ._reading import FileReader
from ._sentences import Sentence
from ._words import to_sentence, to_sentences

MODEL_VERSION = "handful"
_NAMES = {"from_name": "label", "to_name": "text"}
_ANNOTATION = "label_studio"  # where the fields of an annotation go
_TASK_FIELDS = {"project", "created_at", "inner_id", "file_upload", "drafts", "annotations", "predictions", _ANNOTATION}


def read_task(reading: FileReader, record: Record) -> Document:
    """Make a document of a task.

    Where no labels are asked for, all annotations stay with the task, beside what will be predicted.
    """
    text = _text(reading, record)
    sentence = None if reading.options.unlabelled else _labelled(reading, record, text)
    if reading.options.unlabelled and not record.get("annotations"):
        record.take("annotations")
    sentences = to_sentences(text) if sentence is None else [sentence]
    return record.document(text, reading.check_words(text, sentences))


def _text(reading: FileReader, record: Record) -> str:
    """Return the text of a task.

    The fields of its data go with the document, but for a text that is called so, and for copies of other fields.
    """
    data = record.take("data")
    given = reading.options.text_field
    if given is not None:
        texts = [given] if given in data else []
    else:
        texts = ["text"] if "text" in data else [key for key, value in data.items() if isinstance(value, str)]
    if len(texts) != 1 or not isinstance(data[texts[0]], str):
        pair = ("text_field='body'", "--text-field body")
        advice = Advice.of("say which field of the data holds the text, as in {}", pair)
        raise DataError(f"the task's data is {shorten(repr(data))}, expected one text in it", advice)
    text = str(data[texts[0]])
    others = {key: value for key, value in data.items() if key not in record or record.get(key) != value}
    if list(others.values()).count(text) == 1 and others.get("text") == text:
        del others["text"]
    if others:
        record.more["data"] = others
    return text


def _labelled(reading: FileReader, record: Record, text: str) -> Sentence | None:
    """Return the text with the labels that count; None where it has none."""
    how = reading.options.annotator
    found = [(annotator_of(one.get("completed_by")), one) for one in _annotations(reading, record)]
    predictions = record.get("predictions")
    predictions = [one for one in predictions if _has_result(one)] if isinstance(predictions, list) else []
    if how is not None and how not in RULES:
        found += [(annotator_of(one.get("model_version")), one) for one in predictions]
        reading.annotators |= {who: None for who, _ in found if who is not None}
        found = [(who, one) for who, one in found if who is not None and who.is_called(how)]
    elif predictions and not found:
        note = "tasks have predictions and no annotation, and count as unlabelled ({} reads the predictions)"
        version = predictions[0].get("model_version")
        pair = (f"annotator={version!r}", f"handful convert --annotator {version}")
        reading.report.notes[Advice.of(note, pair)] += 1
    if not found:
        return None
    first = found[0][1]
    fields = {} if first in predictions else {key: item for key, item in first.items() if key != "result"}
    if how not in ("majority", "agree") and (fields := fields | _names(first)):
        record.more[_ANNOTATION] = fields
    words = to_sentence(text)
    marks = [_marks(reading, text, one, has_scores=one in predictions) for _, one in found]
    made = [Annotation(who, reading.from_marks(words, each)) for (who, _), each in zip(found, marks, strict=True)]
    return choose(made, how)


def _annotations(reading: FileReader, record: Record) -> list[dict[str, Any]]:
    found = record.take("annotations" if "annotations" in record else "completions") or []
    if not isinstance(found, list):
        raise DataError(f"'annotations' is {shorten(repr(found))}, expected a list")
    for one in found:
        if not _has_result(one):
            raise DataError(f"found the annotation {shorten(repr(one))}, expected one with a list 'result'")
    kept = [one for one in found if not one.get("was_cancelled")]
    if len(kept) < len(found):
        reading.report.notes["cancelled annotations were passed over"] += len(found) - len(kept)
    return kept


def _has_result(annotation: Any) -> bool:
    return isinstance(annotation, dict) and isinstance(annotation.get("result"), list)


def _marks(reading: FileReader, text: str, annotation: dict[str, Any], *, has_scores: bool) -> Iterator[Mark]:
    """Yield the marks of an annotation; only those of a prediction have scores."""
    for item in annotation["result"]:
        value = item.get("value") if isinstance(item, dict) else None
        if isinstance(value, dict) and "labels" in value:
            score = read_score(item) if has_scores else None
            yield read_mark(reading, text, None, value)._replace(score=score)
        else:
            reading.report.notes["annotations of another kind than labelled spans were passed over"] += 1


def _names(annotation: dict[str, Any]) -> dict[str, str]:
    """Return the names in the results of an annotation that are not the usual ones."""
    for item in annotation["result"]:
        if isinstance(item, dict) and isinstance(item.get("value"), dict) and "labels" in item["value"]:
            return {key: item[key] for key, usual in _NAMES.items() if item.get(key, usual) != usual}
    return {}


def task(document: Document, marks: list[Mark] | None, *, is_predicted: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return a task, and the fields of the document that go beside its data, annotations and predictions.

    Other annotations, and predictions of other models, stay.
    """
    rest = {key: value for key, value in document.meta.items() if key != document.text_field}
    data = _data(document, rest)
    own = rest.pop(_ANNOTATION) if isinstance(rest.get(_ANNOTATION), dict) else {}
    annotations, predictions = _lists(rest, "annotations"), _lists(rest, "predictions")
    names = _NAMES.copy()
    for one in (*predictions, *annotations):
        names |= _names(one)
    names |= {key: own[key] for key in _NAMES if key in own}
    result = [
        {
            **names,
            "type": "labels",
            "value": {"start": start, "end": end, "text": document.text[start:end], "labels": [label]},
        }
        | ({} if score is None else {"score": score})
        for start, end, label, score in marks or ()
    ]
    if marks is not None and (is_predicted or annotations):  # annotations that stay are not those of the document
        scores = [mark.score for mark in marks if mark.score is not None]
        score = {"score": min(scores)} if scores else {}
        predictions = [one for one in predictions if one.get("model_version") != MODEL_VERSION]
        predictions.append({"model_version": MODEL_VERSION, **score, "result": result})
    elif marks is not None:
        annotations = [{**{key: value for key, value in own.items() if key not in _NAMES}, "result": result}]
    lists = {"annotations": annotations} if annotations or not predictions else {}
    return {"data": data} | lists | ({"predictions": predictions} if predictions else {}), rest


def _data(document: Document, rest: dict[str, Any]) -> dict[str, Any]:
    """Return the data of a task, and take it out of the other fields where it came from a task."""
    data = rest.get("data")
    if isinstance(data, dict):
        del rest["data"]
        has_text = any(value == document.text for value in data.values())
        return data if has_text else data | {"text": document.text}
    if rest.keys() & _TASK_FIELDS:
        return {"text": document.text}
    identifier = {} if document.id is None else {"id": document.id}
    return {"text": document.text} | identifier | {key: value for key, value in rest.items() if key != "text"}


def _lists(rest: dict[str, Any], key: str) -> list[dict[str, Any]]:
    found = rest.get(key)
    if not isinstance(found, list) or not all(map(_has_result, found)):
        return []
    del rest[key]
    return found
