"""Documents as JSON records, in the dialects that `handful.text._json_read` reads.

Each record holds the text of a document and its labels, the ``id`` of the document and what is in its `meta`. Prodigy's
records hold everything that a document does, except where its sentences end. doccano's, spaCy's, Label Studio's and
handful's own (``jsonl``) hold the text but not the words. Those of Hugging Face are written for each sentence, and hold
the words but not the text.

The scores of mentions are written where the format has a place for them: with each span (prodigy, jsonl), or as
``predictions`` instead of ``annotations`` (label-studio).
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from handful.errors import DataError

from ._document import Document
from ._schemes import to_tags
from ._types import Sentence
from ._writing import Writing, label_marks, note_changed_words, with_words

__all__ = [
    "write_doccano",
    "write_huggingface",
    "write_jsonl",
    "write_label_studio",
    "write_prodigy",
    "write_spacy",
]

_MODEL_VERSION = "handful"
_Record = dict[str, Any]


def write_prodigy(documents: Iterable[Document], writing: Writing) -> Iterator[str]:
    """Yield records with a text, tokens and spans, one on each line."""
    for document, sentence in with_words(documents, writing):
        yield _line(document, _prodigy(sentence), writing)


def write_doccano(documents: Iterable[Document], writing: Writing) -> Iterator[str]:
    """Yield records with a text and a list ``label``, one on each line."""
    return _with_list("label", documents, writing)


def write_spacy(documents: Iterable[Document], writing: Writing) -> Iterator[str]:
    """Yield records with a text and a list ``entities``, one on each line."""
    return _with_list("entities", documents, writing)


def _with_list(key: str, documents: Iterable[Document], writing: Writing) -> Iterator[str]:
    for document, sentence in with_words(documents, writing):
        note_changed_words(sentence, writing)
        marks = label_marks(sentence)
        record = {"text": document.text} | ({} if marks is None else {key: [mark[:3] for mark in marks]})
        yield _line(document, record, writing)


def write_jsonl(documents: Iterable[Document], writing: Writing) -> Iterator[str]:
    """Yield records with a text and ``entities`` as Hugging Face names their parts, one on each line.

    A text without a word has no entities, and is written like any other.
    """
    for document in documents:
        sentence = document.as_sentence()
        record: _Record = {"text": document.text}
        marks = [] if sentence is None else label_marks(sentence)
        if sentence is not None:
            note_changed_words(sentence, writing)
        if marks is not None:
            record["entities"] = [
                {"entity_group": label}
                | ({} if score is None else {"score": score})
                | {"word": document.text[start:end], "start": start, "end": end}
                for start, end, label, score in marks
            ]
        yield _line(document, record, writing)


def write_label_studio(documents: Iterable[Document], writing: Writing) -> Iterator[str]:
    """Yield the text of an array of tasks."""
    before = "[\n"
    for document, sentence, is_predicted in _predicted(with_words(documents, writing)):
        note_changed_words(sentence, writing)
        yield before + _line(document, _task(document, sentence, is_predicted=is_predicted), writing)
        before = ","
    yield "]\n" if before == "," else "[]\n"


def _predicted(documents: Iterable[tuple[Document, Sentence]]) -> Iterator[tuple[Document, Sentence, bool]]:
    """Yield documents, and whether their labels were predicted.

    Mentions tell by their scores. A document without mentions is taken to be like the one with mentions before it; at
    the start of a file, like the first one with mentions.
    """
    waiting: list[tuple[Document, Sentence]] = []
    is_predicted: bool | None = None
    for document, sentence in documents:
        waiting.append((document, sentence))
        if sentence.spans:
            is_predicted = any(span.score is not None for span in sentence.spans)
        if is_predicted is not None:
            yield from ((*each, is_predicted) for each in waiting)
            waiting = []
    yield from ((*each, False) for each in waiting)


def write_huggingface(sentences: Iterable[Sentence], writing: Writing) -> Iterator[str]:
    """Yield records with tokens and tags, one on each line."""
    numbers = None if writing.names is None else {name: i for i, name in enumerate(writing.names)}
    for sentence in sentences:
        record: _Record = {"tokens": list(sentence.words)}
        if not sentence.is_unlabelled:
            tags = to_tags(sentence, writing.scheme)
            record["ner_tags"] = tags if numbers is None else _by_number(tags, numbers)
        yield _dump(record)


def _by_number(tags: list[str], numbers: dict[str, int]) -> list[int]:
    missing = sorted(set(tags) - set(numbers))
    if missing:
        raise DataError(f"the tag {missing[0]!r} is not among the names {', '.join(numbers)}")
    return [numbers[tag] for tag in tags]


def _line(document: Document, record: _Record, writing: Writing) -> str:
    """Return a record as a line, together with what came with the document."""
    rest = dict(document.meta)
    data = rest.get("data")
    if isinstance(record.get("data"), dict) and isinstance(data, dict):
        record["data"] = data | record["data"]
        del rest["data"]
    lost = rest.keys() & record.keys()
    if lost:
        writing.notes["keys of records were not written: the format has another use for them"] += len(lost)
    identifier = {} if document.id is None else {"id": document.id}
    return _dump(record | identifier | {key: item for key, item in rest.items() if key not in lost})


def _dump(record: _Record) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def _prodigy(sentence: Sentence) -> _Record:
    text, offsets = sentence.text or "", sentence.offsets or ()
    blank = next((word for word in sentence.words if not word.strip()), None)
    if blank is not None:
        raise DataError(f"Prodigy's format cannot hold the word {blank!r}: a token of white space is a gap there")
    record: _Record = {"text": text}
    record["tokens"] = [
        {"text": text[start:end], "start": start, "end": end, "id": i, "ws": text[end : end + 1].isspace()}
        for i, (start, end) in enumerate(offsets)
    ]
    marks = label_marks(sentence)
    if marks is not None:
        first = {start: i for i, (start, _) in enumerate(offsets)}
        last = {end: i for i, (_, end) in enumerate(offsets)}
        record["spans"] = [
            {"start": start, "end": end, "token_start": first[start], "token_end": last[end], "label": label}
            | ({} if score is None else {"score": score})
            for start, end, label, score in marks
        ]
    return record


def _task(document: Document, sentence: Sentence, *, is_predicted: bool) -> _Record:
    """Return a Label Studio task; what was predicted goes to its predictions, what a person marked does not."""
    marks = label_marks(sentence)
    result = [
        {
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {"start": start, "end": end, "text": document.text[start:end], "labels": [label]},
        }
        | ({} if score is None else {"score": score})
        for start, end, label, score in marks or ()
    ]
    data = {"data": {"text": document.text}}
    if marks is None:
        return data | {"annotations": []}
    if not is_predicted:
        return data | {"annotations": [{"result": result}]}
    scores = [mark.score for mark in marks if mark.score is not None]
    score = {"score": min(scores)} if scores else {}
    return data | {"predictions": [{"model_version": _MODEL_VERSION, **score, "result": result}]}
