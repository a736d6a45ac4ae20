"""Documents as JSON records, in the dialects that `handful.text._json_read` reads.

Each record holds the text of a document and its labels, the ``id`` of the document and what is in its `meta`. Records
of Hugging Face and GLiNER are written for each sentence, each with what came with its document. The text is under
``text``; in ``jsonl``, under the name that the source has for it.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from typing import Any

from handful.errors import DataError

from ._document import Document
from ._label_studio import task
from ._schemes import to_tags
from ._sentences import Sentence
from ._writing import Writing, label_marks, partial_spans, text_marks, with_words

_Record = dict[str, Any]


def write_json(documents: Iterable[Document], writing: Writing, dialect: str) -> Iterator[str]:
    """Yield the text of a file of records: an array for GLiNER and Label Studio, for others one on each line."""
    lines = (json.dumps(record, ensure_ascii=False) + "\n" for record in RECORDS[dialect](documents, writing))
    if dialect not in ("gliner", "label-studio"):
        yield from lines
        return
    before = "[\n"
    for line in lines:
        yield before + line
        before = ","
    yield "]\n" if before == "," else "[]\n"


def _joined(
    document: Document, record: _Record, writing: Writing, rest: _Record | None = None, used: Collection[str] = ()
) -> _Record:
    """Return a record with the id of the document and its other fields; count fields that the format uses itself."""
    if rest is None:
        rest = {key: value for key, value in document.meta.items() if key != document.text_field}
    judged = {} if document.judged in (None, writing.known) else {"judged": sorted(document.judged or ())}
    lost = rest.keys() & {*record, *judged, *used}
    if lost:
        writing.notes["keys of records were not written: the format has another use for them"] += len(lost)
    identifier = {} if document.id is None else {"id": document.id}
    return record | identifier | judged | {key: item for key, item in rest.items() if key not in lost}


def _prodigy(documents: Iterable[Document], writing: Writing) -> Iterator[_Record]:
    for document, sentence in with_words(documents, writing):
        text, offsets, marks = document.text, sentence.offsets or (), label_marks(sentence)
        blank = next((word for word in sentence.words if not word.strip()), None)
        if blank is not None:
            raise DataError(f"Prodigy's format cannot hold the word {blank!r}: a token of white space is a gap there")
        record: _Record = {"text": text}
        record["tokens"] = [
            {"text": text[start:end], "start": start, "end": end, "id": i, "ws": text[end : end + 1].isspace()}
            for i, (start, end) in enumerate(offsets)
        ]
        if marks is not None:
            first = {start: i for i, (start, _) in enumerate(offsets)}
            last = {end: i for i, (_, end) in enumerate(offsets)}
            record["spans"] = [
                {"start": start, "end": end, "token_start": first[start], "token_end": last[end], "label": label}
                | ({} if score is None else {"score": score})
                for start, end, label, score in marks
            ]
        yield _joined(document, record, writing)


def _with_list(documents: Iterable[Document], writing: Writing, key: str) -> Iterator[_Record]:
    for document, sentence in with_words(documents, writing):
        marks = text_marks(sentence, writing)
        record = {"text": document.text} | ({} if marks is None else {key: [mark[:3] for mark in marks]})
        yield _joined(document, record, writing)


def _jsonl(documents: Iterable[Document], writing: Writing) -> Iterator[_Record]:
    """Yield records of handful; a text without a word has no entities, and is written like any other."""
    for document in documents:
        found = entities(document, writing)
        record: _Record = {document.text_field: document.text}
        yield _joined(document, record if found is None else record | {"entities": found}, writing)


def entities(document: Document, writing: Writing) -> list[_Record] | None:
    """Return the labels of a document as Hugging Face names their parts; None if it is unlabelled."""
    sentence = document.as_sentence()
    marks = [] if sentence is None else text_marks(sentence, writing)
    if marks is None:
        return None
    return [
        {"entity_group": label}
        | ({} if score is None else {"score": score})
        | {"word": document.text[start:end], "start": start, "end": end}
        for start, end, label, score in marks
    ]


def _label_studio(documents: Iterable[Document], writing: Writing) -> Iterator[_Record]:
    for document, sentence, is_predicted in _predicted(with_words(documents, writing), writing.is_predicted):
        record, rest = task(document, text_marks(sentence, writing), is_predicted=is_predicted)
        yield _joined(document, record, writing, rest, used={"text"})


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


def _huggingface(documents: Iterable[Document], writing: Writing) -> Iterator[_Record]:
    for document in documents:
        for sentence in document.sentences:
            record: _Record = {"tokens": list(sentence.words)}
            if not sentence.is_unlabelled:
                record["ner_tags"] = to_tags(sentence, writing.scheme)
            yield _joined(document, record, writing)


def _gliner(documents: Iterable[Document], writing: Writing) -> Iterator[_Record]:
    """Yield records with words, and spans of them whose end is the last word."""
    for document in documents:
        for sentence in document.sentences:
            record: _Record = {"tokenized_text": list(sentence.words)}
            if sentence.spans is not None:
                spans = [(span.start, span.end - 1, span.type) for span in (*sentence.spans, *partial_spans(sentence))]
                record["ner"] = [list(span) for span in sorted(spans)]
            yield _joined(document, record, writing)


RECORDS: dict[str, Callable[[Iterable[Document], Writing], Iterator[_Record]]] = {
    "prodigy": _prodigy,
    "doccano": partial(_with_list, key="label"),
    "spacy": partial(_with_list, key="entities"),
    "label-studio": _label_studio,
    "huggingface": _huggingface,
    "gliner": _gliner,
    "jsonl": _jsonl,
}
