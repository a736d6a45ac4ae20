"""Documents as JSON records, in the dialects that `handful.text._json_read` reads.

Each record holds the text of a document and its labels, the ``id`` of the document and what is in its `meta`. Prodigy's
records hold everything that a document does, except where its sentences end. doccano's, spaCy's, Label Studio's and
handful's own (``jsonl``) hold the text but not the words. Those of Hugging Face and GLiNER are written for each
sentence, each with what came with its document, and hold the words but not the text.

The text is under ``text``; in ``jsonl``, under the name that the source has for it. The scores of mentions are written
where the format has a place for them: with each span (prodigy, jsonl), or as ``predictions`` instead of ``annotations``
(label-studio).
"""

import json
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from handful.errors import DataError

from ._document import Document
from ._label_studio import task
from ._schemes import to_tags
from ._writing import Writing, label_marks, note_changed_words, partial_spans, text_marks, with_words
from .sentences import Sentence

__all__ = [
    "entities",
    "write_doccano",
    "write_gliner",
    "write_huggingface",
    "write_jsonl",
    "write_label_studio",
    "write_prodigy",
    "write_spacy",
]

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
        marks = text_marks(sentence)
        record = {"text": document.text} | ({} if marks is None else {key: [mark[:3] for mark in marks]})
        yield _line(document, record, writing)


def write_jsonl(documents: Iterable[Document], writing: Writing) -> Iterator[str]:
    """Yield records with a text and ``entities`` as Hugging Face names their parts, one on each line.

    A text without a word has no entities, and is written like any other.
    """
    for document in documents:
        found = entities(document, writing)
        record: _Record = {document.text_field: document.text}
        yield _line(document, record if found is None else record | {"entities": found}, writing)


def entities(document: Document, writing: Writing) -> list[_Record] | None:
    """Return the labels of a document as Hugging Face names their parts; None if it is unlabelled."""
    sentence = document.as_sentence()
    if sentence is None:
        return []
    note_changed_words(sentence, writing)
    marks = text_marks(sentence)
    if marks is None:
        return None
    return [
        {"entity_group": label}
        | ({} if score is None else {"score": score})
        | {"word": document.text[start:end], "start": start, "end": end}
        for start, end, label, score in marks
    ]


def write_label_studio(documents: Iterable[Document], writing: Writing) -> Iterator[str]:
    """Yield the text of an array of tasks."""
    return _array(_tasks(documents, writing))


def _tasks(documents: Iterable[Document], writing: Writing) -> Iterator[str]:
    for document, sentence, is_predicted in _predicted(with_words(documents, writing), writing.is_predicted):
        note_changed_words(sentence, writing)
        record, rest = task(document, sentence, is_predicted=is_predicted)
        yield _joined(document, record, rest, writing, used={"text"})


def _array(lines: Iterable[str]) -> Iterator[str]:
    """Yield the text of a JSON array, of lines with a record each."""
    before = "[\n"
    for line in lines:
        yield before + line
        before = ","
    yield "]\n" if before == "," else "[]\n"


def _predicted(
    documents: Iterable[tuple[Document, Sentence]], is_predicted: bool | None
) -> Iterator[tuple[Document, Sentence, bool]]:
    """Yield documents, and whether their labels were predicted, where that is not known of all.

    Mentions tell by their scores, unless a person accepted the record. A document without mentions is taken to be like
    the one with mentions before it; at the start of a file, like the first one with mentions.
    """
    waiting: list[tuple[Document, Sentence]] = []
    is_known = is_predicted is not None
    for document, sentence in documents:
        waiting.append((document, sentence))
        if sentence.spans and not is_known:
            is_scored = any(span.score is not None for span in sentence.spans)
            is_predicted = is_scored and document.meta.get("answer") != "accept"
        if is_predicted is not None:
            yield from ((*each, is_predicted) for each in waiting)
            waiting = []
    yield from ((*each, False) for each in waiting)


def write_huggingface(documents: Iterable[Document], writing: Writing) -> Iterator[str]:
    """Yield records with tokens and tags, one on each line."""
    numbers = None if writing.names is None else {name: i for i, name in enumerate(writing.names)}
    for document in documents:
        for sentence in document.sentences:
            record: _Record = {"tokens": list(sentence.words)}
            if not sentence.is_unlabelled:
                tags = to_tags(sentence, writing.scheme)
                record["ner_tags"] = tags if numbers is None else _by_number(tags, numbers)
            yield _line(document, record, writing)


def _by_number(tags: list[str], numbers: dict[str, int]) -> list[int]:
    missing = sorted(set(tags) - set(numbers))
    if missing:
        raise DataError(f"the tag {missing[0]!r} is not among the names {', '.join(numbers)}")
    return [numbers[tag] for tag in tags]


def write_gliner(documents: Iterable[Document], writing: Writing) -> Iterator[str]:
    """Yield the text of an array of records with words, and spans of them whose end is the last word."""
    return _array(
        _line(document, _gliner(sentence), writing) for document in documents for sentence in document.sentences
    )


def _gliner(sentence: Sentence) -> _Record:
    record: _Record = {"tokenized_text": list(sentence.words)}
    if sentence.spans is not None:
        spans = [(span.start, span.end, span.type) for span in (*sentence.spans, *partial_spans(sentence))]
        record["ner"] = [[start, end - 1, label] for start, end, label in sorted(spans)]
    return record


def _line(document: Document, record: _Record, writing: Writing) -> str:
    """Return a record as a line, together with what came with the document."""
    rest = {key: value for key, value in document.meta.items() if key != document.text_field}
    return _joined(document, record, rest, writing)


def _joined(
    document: Document, record: _Record, rest: _Record, writing: Writing, used: Collection[str] = frozenset()
) -> str:
    """Return a record, the id of the document and other fields as a line; count fields that the format uses itself."""
    lost = rest.keys() & {*record, *used}
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
