"""JSON records as annotation tools and libraries write them.

============  ========================================================================================================
prodigy       ``text``, ``spans`` (``start``, ``end``, ``label``, ``token_start``, ``token_end``, the last inclusive),
              ``tokens``; records whose ``answer`` is not "accept" are passed over and counted
doccano       ``text`` and ``label`` (``[start, end, label]``), or ``entities`` with ``start_offset``
spacy         ``text`` and ``entities`` or ``ents``; also ``["text", {"entities": [...]}]``
label-studio  ``data``, ``annotations``, ``result``, ``value``; also the short form, ``text`` and ``label``
huggingface   ``tokens`` and ``ner_tags``: names, or numbers together with ``names=``
jsonl         ``text`` and ``entities`` with ``entity_group``: what `handful predict` writes
============  ========================================================================================================

Positions are code points. A label may be a partial one (``LOC|ORG``). A record without a key for labels, or with null
there, is unlabelled. Without ``tokens``, words are found by `handful.text._words`; an unlabelled text is then cut into
sentences. A record with labels, or with words of its own, is one sentence.

The ``id`` of a record is the `Document.id`. Every key that is not its text, its words or its labels is in
`Document.meta`; for Label Studio, so are the other keys of its ``data``, under ``data``.
"""

import json
from collections.abc import Iterator
from typing import Any

from handful.errors import Advice, DataError

from ._document import Document
from ._json_records import is_pair, records, refuse_half_pairs
from ._reading import Reading
from ._types import Sentence, shorten
from ._words import NoWordsError, to_sentence, to_sentences

__all__ = ["read_json"]

# Under which keys a dialect keeps its labels; "json" takes any.
LABEL_KEYS = {
    "prodigy": ("spans",),
    "doccano": ("label", "labels", "entities"),
    "spacy": ("entities", "ents"),
    "label-studio": ("label", "labels"),
    "json": ("spans", "label", "labels", "entities", "ents"),
}
_TAG_KEYS = ("ner_tags", "tags", "labels", "ner")
_Mark = tuple[int, int, str]


def read_json(reading: Reading, dialect: str = "json") -> Iterator[Document]:
    """Yield the documents of a file of JSON records; the dialect "json" is found out for each record."""
    for number, raw, value in records(reading):
        try:
            refuse_half_pairs(raw, value)
            document = _document(reading, value, dialect)
        except DataError as error:
            reading.malformed(number, error)
        else:
            if document is not None:
                yield document


class _Record:
    """A JSON object, of which `take` notes the keys that were read."""

    def __init__(self, value: Any, dialect: str) -> None:
        if is_pair(value) and dialect in ("spacy", "json"):
            value = {**value[1], "text": value[0]}
        if not isinstance(value, dict):
            raise DataError(f"found {shorten(repr(value))}, expected a JSON object")
        self._value = value
        self._taken: set[str] = set()
        self.data: dict[str, Any] = {}  # of a Label Studio task: what is there besides the text

    def __contains__(self, key: str) -> bool:
        return key in self._value

    def get(self, key: str, default: Any = None) -> Any:
        return self._value.get(key, default)

    def take(self, key: str) -> Any:
        self._taken.add(key)
        return self._value.get(key)

    def show(self) -> str:
        return shorten(", ".join(map(repr, self._value)) or "nothing")

    def document(self, text: str, sentences: tuple[Sentence, ...]) -> Document:
        """Make a document, with what was not taken from the record."""
        identifier = self._value.get("id")
        is_id = isinstance(identifier, str | int) and not isinstance(identifier, bool)
        taken = self._taken | {"id"} if is_id else self._taken
        meta = {key: item for key, item in self._value.items() if key not in taken}
        if self.data:
            meta["data"] = self.data
        return Document(text, sentences, identifier if is_id else None, meta)


def _document(reading: Reading, value: Any, dialect: str) -> Document | None:
    record = _Record(value, dialect)
    answer = record.get("answer", "accept")
    tokens = record.get("tokens")
    is_words = isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)
    try:
        if dialect in ("label-studio", "json") and isinstance(record.get("data"), dict) and "text" not in record:
            return _task(reading, record)
        if dialect == "huggingface" or (dialect == "json" and is_words):
            return _tagged(reading, record)
        if answer != "accept":
            reading.report.notes[f"records whose answer is {shorten(repr(answer))} were passed over"] += 1
            return None
        return _marked(reading, record, LABEL_KEYS[dialect])
    except NoWordsError as error:
        if not reading.options.unlabelled:
            raise
        return record.document(error.text, ())


def _labelled(reading: Reading, record: _Record, sentence: Sentence, marks: list[_Mark]) -> Document:
    """Make a document of one sentence, with its labels."""
    return record.document(sentence.text or "", (reading.from_spans(sentence, marks),))


def _cut(record: _Record, text: str) -> Document:
    """Make a document of an unlabelled text."""
    sentences = to_sentences(text)
    if not sentences:
        raise NoWordsError.of(text)
    return record.document(text, tuple(sentences))


def _marked(reading: Reading, record: _Record, keys: tuple[str, ...]) -> Document:
    """Make a document of a record with a text and a list of spans."""
    text_key = "text" if "text" in record else "data"
    if text_key not in record:
        raise DataError(f"the record has no text: found {record.show()}, expected 'text' (or 'tokens')")
    text = record.take(text_key)
    if not isinstance(text, str):
        raise DataError(f"{text_key!r} is {shorten(json.dumps(text))}, expected a string")
    label_key = _label_key(reading, record, keys)
    tokens = _token_offsets(text, record.take("tokens")) if record.get("tokens") else None
    sentence = None if tokens is None else _from_tokens(reading, text, tokens)
    try:
        marks = None if label_key is None else [_mark(reading, text, tokens, item) for item in record.get(label_key)]
    except DataError:
        if not reading.options.unlabelled:
            raise
        marks = None  # these are not labels of words, but perhaps classes of the whole text
    if marks is not None and label_key is not None:
        record.take(label_key)
        return _labelled(reading, record, sentence or to_sentence(text), marks)
    return _cut(record, text) if sentence is None else record.document(text, (sentence,))


def _label_key(reading: Reading, record: _Record, keys: tuple[str, ...]) -> str | None:
    """Return the key that holds a list of labels, or None if there is none."""
    found = [key for key in keys if isinstance(record.get(key), list)]
    if len(found) == 1:
        return found[0]
    if reading.options.unlabelled:
        return None  # other keys may be called as labels are
    if found:
        raise DataError(
            f"labels are under {' and '.join(found)}",
            Advice("name the format, for example format='prodigy'", "name the format, for example --from prodigy"),
        )
    odd = [key for key in keys if not isinstance(record.get(key), list | None)]
    if odd:
        raise DataError(f"{odd[0]!r} is {shorten(repr(record.get(odd[0])))}, expected a list of spans")
    foreign = [key for key in LABEL_KEYS["json"] if key not in keys and isinstance(record.get(key), list)]
    if foreign:
        raise DataError(f"labels are under {foreign[0]!r}, expected {' or '.join(map(repr, keys))}")
    return None


def _token_offsets(text: str, tokens: Any) -> list[tuple[int, int]]:
    if not isinstance(tokens, list):
        raise DataError(f"'tokens' is {shorten(repr(tokens))}, expected a list")
    offsets: list[tuple[int, int]] = []
    for token in tokens:
        if not isinstance(token, dict):
            raise DataError(f"found the token {shorten(repr(token))}, expected an object with start and end")
        start, end = token.get("start"), token.get("end")
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            raise DataError(f"the token {shorten(repr(token))} has no start and end in the text")
        if token.get("text", text[start:end]) != text[start:end]:
            raise DataError(f"the token {shorten(repr(token))} is {text[start:end]!r} in the text")
        if offsets and start < offsets[-1][1]:
            raise DataError(f"the token {shorten(repr(token))} overlaps the one before it")
        offsets.append((start, end))
    return offsets


def _from_tokens(reading: Reading, text: str, tokens: list[tuple[int, int]]) -> Sentence:
    offsets = [(start, end) for start, end in tokens if text[start:end].strip()]
    if len(offsets) < len(tokens):
        reading.report.notes["tokens of white space were not taken as words"] += len(tokens) - len(offsets)
    if not offsets:
        raise NoWordsError.of(text)
    words = tuple([text[start:end] for start, end in offsets])
    return Sentence(words, text=text, starts=tuple([start for start, _ in offsets]))


def _mark(reading: Reading, text: str, tokens: list[tuple[int, int]] | None, item: Any) -> _Mark:
    """Read a span in any of its shapes."""
    if isinstance(item, list) and len(item) == 3:
        start, end, label = item
        item = {}
    elif isinstance(item, dict):
        start = item.get("start", item.get("start_offset"))
        end = item.get("end", item.get("end_offset"))
        labels = item.get("labels")
        label = (
            labels[0] if isinstance(labels, list) and len(labels) == 1 else item.get("label", item.get("entity_group"))
        )
    else:
        raise DataError(f"found {shorten(repr(item))}, expected [start, end, label] or an object")
    first, last = item.get("token_start"), item.get("token_end")
    if tokens is not None and first is not None and last is not None:
        if type(first) is not int or type(last) is not int or not 0 <= first <= last < len(tokens):
            raise DataError(f"the span {shorten(repr(item))} is not in the {len(tokens)} tokens")
        by_token = tokens[first][0], tokens[last][1]
        if (start, end) != (None, None) and (start, end) != by_token:
            raise DataError(
                f"the span {shorten(repr(item))} is at {start}:{end}, but its tokens are at "
                f"{by_token[0]}:{by_token[1]} (token_end is the last token, not the one after)"
            )
        start, end = by_token
    if type(start) is not int or type(end) is not int:
        raise DataError(f"the span {shorten(repr(item))} has no whole numbers for its start and end")
    if not isinstance(label, str) or not label:
        raise DataError(f"the span {start}:{end} has no single label: {shorten(repr(item or label))}")
    quoted = item.get("text")
    if isinstance(quoted, str) and text[max(start, 0) : max(end, 0)] != quoted:
        start, end = _from_utf16(reading, text, start, end, quoted)
    return start, end, label


def _from_utf16(reading: Reading, text: str, start: int, end: int, quoted: str) -> tuple[int, int]:
    """Turn positions that a browser counted, with two for a character such as an emoji, into code points."""
    if 0 <= start <= end:
        units = text.encode("utf-16-le")
        before = len(units[: 2 * start].decode("utf-16-le", "ignore"))
        after = before + len(quoted)
        if units[2 * start : 2 * end] == quoted.encode("utf-16-le") and text[before:after] == quoted:
            reading.report.notes["spans had positions in UTF-16 units, which were converted"] += 1
            return before, after
    found = text[max(start, 0) : max(end, 0)]
    raise DataError(f"the span {start}:{end} is {shorten(found)!r} in the text, but says {shorten(quoted)!r}")


def _task(reading: Reading, record: _Record) -> Document:
    """Make a document of a Label Studio task."""
    data = record.take("data")
    texts = ["text"] if "text" in data else [key for key, value in data.items() if isinstance(value, str)]
    if len(texts) != 1 or not isinstance(data[texts[0]], str):
        raise DataError(f"the task's data is {shorten(repr(data))}, expected one text in it")
    text = data[texts[0]]
    record.data = {key: value for key, value in data.items() if key != texts[0]}
    annotations = record.take("annotations" if "annotations" in record else "completions") or []
    if not isinstance(annotations, list):
        raise DataError(f"'annotations' is {shorten(repr(annotations))}, expected a list")
    answers = [
        sorted(_result(reading, text, annotation))
        for annotation in annotations
        if not _is_cancelled(reading, annotation)
    ]
    if any(answer != answers[0] for answer in answers):
        raise DataError(f"the task has {len(answers)} annotations that do not agree; keep one")
    return _labelled(reading, record, to_sentence(text), answers[0]) if answers else _cut(record, text)


def _is_cancelled(reading: Reading, annotation: Any) -> bool:
    if not isinstance(annotation, dict) or not isinstance(annotation.get("result"), list):
        raise DataError(f"found the annotation {shorten(repr(annotation))}, expected one with a list 'result'")
    if annotation.get("was_cancelled"):
        reading.report.notes["cancelled annotations were passed over"] += 1
        return True
    return False


def _result(reading: Reading, text: str, annotation: dict[str, Any]) -> Iterator[_Mark]:
    """Yield the marks of one annotation of a task."""
    for item in annotation["result"]:
        value = item.get("value") if isinstance(item, dict) else None
        if isinstance(value, dict) and "labels" in value:
            yield _mark(reading, text, None, value)
        else:
            reading.report.notes["annotations of another kind than labelled spans were passed over"] += 1


def _tagged(reading: Reading, record: _Record) -> Document:
    """Make a document of a record with words and tags. Its sentence has no text yet; `Stream` adds it."""
    words = record.take("tokens")
    if not isinstance(words, list):
        raise DataError(f"found {record.show()}, expected 'tokens', a list of words")
    if not words and reading.options.unlabelled:
        raise NoWordsError.of("")
    found = [key for key in _TAG_KEYS if record.get(key) is not None]
    if len(found) > 1:
        raise DataError(f"tags are under {' and '.join(found)}, expected one of them")
    sentence = Sentence(tuple(words))
    if found:
        sentence = reading.from_tags(words, _tags(reading, len(words), found[0], record.take(found[0])))
    return record.document("", (sentence,))


def _tags(reading: Reading, n_words: int, key: str, tags: Any) -> list[str]:
    """Return the tags of a record, each by its name."""
    if not isinstance(tags, list):
        raise DataError(f"{key!r} is {shorten(repr(tags))}, expected a list of tags")
    if len(tags) != n_words:
        raise DataError(f"{n_words} tokens but {len(tags)} {key}")
    if any(type(tag) is int for tag in tags):
        tags = _by_name(tags, reading.options.names)
    for tag in tags:
        if not isinstance(tag, str):
            raise DataError(f"found the tag {shorten(repr(tag))}, expected a name or a number")
    return list(tags)


def _by_name(tags: list[Any], names: Any) -> list[Any]:
    if names is None:
        advice, names_given = "say their names in order, as in", "names=['O', 'B-PER', 'I-PER']"
        raise DataError(
            "the tags are numbers",
            Advice(
                f"{advice} {names_given}",
                f"{advice} handful.text.read(FILE, {names_given}) in Python (the command line has no option for it)",
            ),
        )
    for tag in tags:
        if type(tag) is not int or not 0 <= tag < len(names):
            raise DataError(f"found the tag {shorten(repr(tag))}, expected a number from 0 to {len(names) - 1}")
    return [names[tag] for tag in tags]
