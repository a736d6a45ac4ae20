"""JSON records, one a line or in an array, as annotation tools and libraries write them.

============  ===========================================================================================
prodigy       ``text``, ``spans`` (``start``, ``end``, ``label``, ``token_start``, ``token_end``, the last
              inclusive), ``tokens``; records whose ``answer`` is not "accept" are passed over and counted
doccano       ``text`` and ``label`` (``[start, end, label]``), or ``entities`` with ``start_offset``
spacy         ``text`` and ``entities`` or ``ents``; also ``["text", {"entities": [...]}]``, and predictions
              (``entity_group`` instead of ``label``)
label-studio  ``data``, ``annotations``, ``result``, ``value``; also the short form, ``text`` and ``label``
huggingface   ``tokens`` and ``ner_tags``: names, or numbers together with ``names=``
============  ===========================================================================================

Positions are code points. A label may be a partial one (``LOC|ORG``). A record without a key for labels, or
with a null there, is unlabelled. Without ``tokens``, words are found by `handful.text._words`.
"""

import json
from collections.abc import Iterator
from typing import Any

from handful.errors import DataError

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
# What a record says of its text, its words and their labels; the rest is its own business.
_READ_KEYS = {"text", "data", "tokens", "annotations", "completions", *LABEL_KEYS["json"], *_TAG_KEYS}


def read_json(reading: Reading, dialect: str = "json") -> Iterator[Sentence]:
    """Yield the sentences of a file of JSON records; the dialect "json" is found out for each record."""
    for number, raw, value in _records(reading):
        try:
            _refuse_half_pairs(raw, value)
            sentence = _sentence(reading, value, dialect)
        except NoWordsError as error:
            if not reading.is_unlabelled:
                reading.malformed(number, error)
                continue
            sentence = reading.without_words(error.text)
        except DataError as error:
            reading.malformed(number, error)
            continue
        if sentence is not None:
            if reading.is_unlabelled:
                record = value[1] if _is_pair(value) else value
                is_text = sentence.is_unlabelled and not record.get("tokens")
                read_keys = {"text", "data", "entities"} if is_text else _READ_KEYS
                reading.rest = {key: item for key, item in record.items() if key not in read_keys}
                reading.is_text = is_text
            if reading.is_text and not reading.is_whole:
                yield from to_sentences(sentence.text or "")
            else:
                yield sentence


def _records(reading: Reading) -> Iterator[tuple[int, str, Any]]:
    """Yield each record's line, text and value."""
    head = reading.source.head.lstrip()
    if not _is_one_a_line(head):
        yield from _values(reading, is_array=head.startswith("["))
        return
    for number, line in enumerate(reading.source.lines(), 1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                reading.malformed(number, f"{shorten(line.strip())!r} is not a JSON record: {error}")
                continue
            yield number, line, value


def _is_one_a_line(head: str) -> bool:
    is_array = head.startswith("[")
    try:
        value, end = json.JSONDecoder().raw_decode(head.split("\n", 1)[0] if is_array else head)
    except (ValueError, RecursionError):
        return not is_array
    return _is_pair(value) if is_array else "\n" not in head[:end]


def _is_pair(value: Any) -> bool:
    """Whether this is ``["text", {"entities": ...}]``."""
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], dict)


def _values(reading: Reading, *, is_array: bool) -> Iterator[tuple[int, str, Any]]:
    """Yield the members of an array, or records that go over several lines, holding one at a time."""
    cursor = _Cursor(reading.source.chunks())
    if is_array:
        cursor.skip()
        cursor.position += 1
    is_first = True
    while following := cursor.skip():
        if is_array and following == "]":
            cursor.position += 1
            if cursor.skip():
                reading.fail(cursor.line, f"found {cursor.show()} after the end of the array")
            return
        if is_array and not is_first:
            if following != ",":
                reading.fail(cursor.line, f"found {cursor.show()}, expected a comma or ] after a record")
            cursor.position += 1
            cursor.skip()
        line = cursor.line
        try:
            raw, value = cursor.decode()
        except (ValueError, RecursionError) as error:
            reading.fail(line, f"{cursor.show()} is not a JSON record: {error}")
        yield line, raw, value
        is_first = False
    if is_array:
        reading.fail(cursor.line, "the array is not closed, expected ] at the end of the file")


class _Cursor:
    """A place in a text that comes in chunks."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self._buffer = ""
        self._raw_decode = json.JSONDecoder().raw_decode
        self.position = 0
        self.line = 1

    def _more(self) -> bool:
        chunk = next(self._chunks, "")
        self._buffer = self._buffer[self.position :] + chunk
        self.position = 0
        return bool(chunk)

    def skip(self) -> str:
        """Go past white space; return the character there, or nothing at the end."""
        while True:
            while self.position < len(self._buffer):
                character = self._buffer[self.position]
                if not character.isspace():
                    return character
                self.line += character == "\n"
                self.position += 1
            if not self._more():
                return ""

    def decode(self) -> tuple[str, Any]:
        """Decode the value here and go past it; return its text and itself."""
        while True:
            try:
                value, end = self._raw_decode(self._buffer, self.position)
            except (ValueError, RecursionError):
                if not self._more():
                    raise
                continue
            raw = self._buffer[self.position : end]
            self.line += raw.count("\n")
            self.position = end
            return raw, value

    def show(self) -> str:
        return repr(shorten(self._buffer[self.position : self.position + 100]))


def _refuse_half_pairs(raw: str, value: Any) -> None:
    """JSON can escape half of a surrogate pair, which is no character and cannot be written."""
    if "\\ud" in raw or "\\uD" in raw:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise DataError("the record has half of a surrogate pair (\\ud800 to \\udfff by itself)") from None


def _sentence(reading: Reading, record: Any, dialect: str) -> Sentence | None:
    if _is_pair(record) and dialect in ("spacy", "json"):
        record = {**record[1], "text": record[0]}
    if not isinstance(record, dict):
        raise DataError(f"found {shorten(repr(record))}, expected a JSON object")
    if dialect in ("label-studio", "json") and isinstance(record.get("data"), dict):
        return _task(reading, record)
    tokens = record.get("tokens")
    is_words = isinstance(tokens, list) and all(isinstance(token, str) for token in tokens)
    if dialect == "huggingface" or (dialect == "json" and is_words):
        return _tagged(reading, record)
    return _marked(reading, record, LABEL_KEYS[dialect])


def _marked(reading: Reading, record: dict[str, Any], keys: tuple[str, ...]) -> Sentence | None:
    """Make a sentence of a record with a text and a list of spans."""
    answer = record.get("answer", "accept")
    if answer != "accept":
        reading.report.notes[f"records whose answer is {shorten(repr(answer))} were passed over"] += 1
        return None
    key = "text" if "text" in record else "data"
    if key not in record:
        keys_found = ", ".join(map(repr, record)) or "nothing"
        raise DataError(f"the record has no text: found {shorten(keys_found)}, expected 'text' (or 'tokens')")
    text = record[key]
    if not isinstance(text, str):
        raise DataError(f"{key!r} is {shorten(json.dumps(text))}, expected a string")
    found = [key for key in keys if isinstance(record.get(key), list)]
    odd = [key for key in keys if key in record and not isinstance(record[key], list | None)]
    if len(found) > 1:
        raise DataError(f"labels stand under {' and '.join(found)}; name the format: {', '.join(LABEL_KEYS)}")
    if odd and not found and not reading.is_unlabelled:
        raise DataError(f"{odd[0]!r} is {shorten(repr(record[odd[0]]))}, expected a list of spans")
    foreign = [key for key in LABEL_KEYS["json"] if key not in keys and isinstance(record.get(key), list)]
    if foreign and not found:
        raise DataError(f"labels stand under {foreign[0]!r}, expected {' or '.join(map(repr, keys))}")
    tokens = _token_offsets(text, record["tokens"]) if record.get("tokens") else None
    sentence = to_sentence(text) if tokens is None else _from_tokens(reading, text, tokens)
    try:
        marks = [_mark(reading, text, tokens, item) for item in record[found[0]]] if found else None
    except DataError:
        if not reading.is_unlabelled:
            raise
        marks = None  # labels of another kind, such as a class of the whole text
    return reading.from_spans(sentence, marks)


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
        raise NoWordsError(text)
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


def _task(reading: Reading, record: dict[str, Any]) -> Sentence:
    """Make a sentence of a Label Studio task."""
    data = record["data"]
    texts = [data["text"]] if "text" in data else [value for value in data.values() if isinstance(value, str)]
    if len(texts) != 1 or not isinstance(texts[0], str):
        raise DataError(f"the task's data is {shorten(repr(data))}, expected one text in it")
    text = texts[0]
    annotations = record.get("annotations", record.get("completions")) or []
    if not isinstance(annotations, list):
        raise DataError(f"'annotations' is {shorten(repr(annotations))}, expected a list")
    answers: list[list[_Mark]] = []
    for annotation in annotations:
        result = annotation.get("result") if isinstance(annotation, dict) else None
        if not isinstance(result, list):
            raise DataError(f"found the annotation {shorten(repr(annotation))}, expected one with a list 'result'")
        if annotation.get("was_cancelled"):
            reading.report.notes["cancelled annotations were passed over"] += 1
            continue
        marks = []
        for item in result:
            value = item.get("value") if isinstance(item, dict) else None
            if isinstance(value, dict) and "labels" in value:
                marks.append(_mark(reading, text, None, value))
            else:
                reading.report.notes["annotations of another kind than labelled spans were passed over"] += 1
        answers.append(sorted(marks))
    if any(answer != answers[0] for answer in answers):
        raise DataError(f"the task has {len(answers)} annotations that do not agree; keep one")
    return reading.from_spans(to_sentence(text), answers[0] if answers else None)


def _tagged(reading: Reading, record: dict[str, Any]) -> Sentence:
    """Make a sentence of a record with words and tags."""
    words = record.get("tokens")
    if not isinstance(words, list):
        raise DataError(f"found {shorten(', '.join(map(repr, record)))}, expected 'tokens', a list of words")
    if not words and reading.is_unlabelled:
        raise NoWordsError("")
    found = [key for key in _TAG_KEYS if record.get(key) is not None]
    if len(found) > 1:
        raise DataError(f"tags stand under {' and '.join(found)}, expected one of them")
    if not found:
        return Sentence(tuple(words))
    tags = record[found[0]]
    if not isinstance(tags, list):
        raise DataError(f"{found[0]!r} is {shorten(repr(tags))}, expected a list of tags")
    if len(tags) != len(words):
        raise DataError(f"{len(words)} tokens but {len(tags)} {found[0]}")
    if any(type(tag) is int for tag in tags):
        tags = _by_name(tags, reading.names)
    for tag in tags:
        if not isinstance(tag, str):
            raise DataError(f"found the tag {shorten(repr(tag))}, expected a name or a number")
    Sentence(tuple(words))  # for its checks
    return reading.from_tags(words, tags)


def _by_name(tags: list[Any], names: Any) -> list[Any]:
    if names is None:
        raise DataError("the tags are numbers; say their names in order, as in names=['O', 'B-PER', 'I-PER']")
    for tag in tags:
        if type(tag) is not int or not 0 <= tag < len(names):
            raise DataError(f"found the tag {shorten(repr(tag))}, expected a number from 0 to {len(names) - 1}")
    return [names[tag] for tag in tags]
