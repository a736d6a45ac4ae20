"""JSON records as annotation tools and libraries write them.

============  ========================================================================================================
prodigy       ``text``, ``spans`` (``start``, ``end``, ``label``, ``token_start``, ``token_end``, the last inclusive),
              ``tokens``; records whose ``answer`` is not "accept" are passed over and counted
doccano       ``text`` and ``label`` (``[start, end, label]``), or ``entities`` with ``start_offset``
spacy         ``text`` and ``entities`` or ``ents``; also ``["text", {"entities": [...]}]``
label-studio  ``data``, ``annotations``, ``result``, ``value``; also the short form, ``text`` and ``label``
huggingface   ``tokens`` and ``ner_tags``: names, or numbers together with ``names=``
gliner        ``tokenized_text`` and ``ner`` (``[first, last, label]``, places of words)
jsonl         ``text`` and ``entities`` with ``entity_group``: what `handful predict` writes
============  ========================================================================================================

Positions are code points. A label may be a partial one (``LOC|ORG``). A record without a key for labels, or with null
there, is unlabelled. Without ``tokens``, words are found by `handful.text._words`; an unlabelled text is then cut into
sentences. A record with labels, or with words of its own, is one sentence. ``text_field`` and ``label_field`` name
other keys.

The ``id`` of a record is the `Document.id`. Every key that is not its text, its words or its labels is in
`Document.meta`; for Label Studio, so are the other keys of its ``data``, under ``data``. The ``score`` of a span is
that of the mention.
"""

import json
from collections.abc import Iterator
from typing import Any

from handful.errors import Advice, DataError

from ._annotators import settle_repeated
from ._document import Document
from ._json_marks import read_mark, sentence_of_tokens, token_offsets
from ._json_records import Record, is_pair, records, refuse_half_pairs
from ._label_studio import read_task
from ._words import NoWordsError, to_sentence, to_sentences
from .reading import Reading
from .sentences import Sentence, Span, shorten

__all__ = ["LABEL_KEYS", "read_json", "read_marked"]

# Under which keys a dialect keeps its labels; "json" takes any.
LABEL_KEYS = {
    "prodigy": ("spans",),
    "doccano": ("label", "labels", "entities"),
    "spacy": ("entities", "ents"),
    "label-studio": ("label", "labels"),
    "json": ("spans", "label", "labels", "entities", "ents"),
}
_TAG_KEYS = ("ner_tags", "tags", "labels", "ner")


def read_json(reading: Reading, dialect: str = "json") -> Iterator[Document]:
    """Yield the documents of a file of JSON records; the dialect "json" is found out for each record."""
    return settle_repeated(reading, _documents(reading, dialect))


def _documents(reading: Reading, dialect: str) -> Iterator[tuple[str, Document]]:
    for place, raw, value in records(reading):
        try:
            refuse_half_pairs(raw, value)
            if is_pair(value) and dialect in ("spacy", "json"):
                value = {**value[1], "text": value[0]}
            document = _document(reading, Record(value), dialect)
        except DataError as error:
            reading.malformed(place, error)
        else:
            if document is not None:
                yield place, document


def _document(reading: Reading, record: Record, dialect: str) -> Document | None:
    answer = record.get("answer", "accept")
    field = reading.options.text_field or "text"
    words = _words_field(reading, record)
    try:
        if dialect in ("label-studio", "json") and isinstance(record.get("data"), dict) and field not in record:
            return read_task(reading, record)
        if dialect == "gliner" or (dialect == "json" and isinstance(record.get("tokenized_text"), list)):
            return _tokenized(reading, record)
        if dialect == "huggingface" or (dialect == "json" and words is not None):
            return _tagged(reading, record, words or "tokens")
        if answer != "accept":
            reading.report.notes[f"records whose answer is {shorten(repr(answer))} were passed over"] += 1
            return None
        text, label_key = _text(reading, record), _label_key(reading, record, LABEL_KEYS[dialect])
        return read_marked(reading, record, text, label_key, field)
    except NoWordsError as error:
        if not reading.options.unlabelled:
            raise
        return record.document(error.text, ())


def _words_field(reading: Reading, record: Record) -> str | None:
    """Return the field that holds a list of words, if there is one."""
    field = reading.options.text_field or "tokens"
    value = record.get(field)
    return field if isinstance(value, list) and all(isinstance(token, str) for token in value) else None


def read_marked(
    reading: Reading, record: Record, text: str, label_key: str | None, text_field: str = "text"
) -> Document:
    """Make a document of a text and a list of spans, which is under a key of the record."""
    tokens = token_offsets(text, record.take("tokens")) if record.get("tokens") else None
    sentence = None if tokens is None else sentence_of_tokens(reading, text, tokens)
    try:
        marks = (
            None if label_key is None else [read_mark(reading, text, tokens, item) for item in record.get(label_key)]
        )
    except DataError:
        if not reading.options.unlabelled:
            raise
        marks = None  # these are not labels of words, but perhaps classes of the whole text
    try:
        if marks is not None and label_key is not None:
            record.take(label_key)
            sentence = reading.from_spans(sentence or to_sentence(text), marks)
        sentences = to_sentences(text) if sentence is None else [sentence]
        if not sentences:
            raise NoWordsError.of(text)
    except NoWordsError:
        if not reading.options.unlabelled:
            raise
        sentences = []
    return record.document(text, tuple(sentences), text_field)


def _text(reading: Reading, record: Record) -> str:
    """Return the text of a record."""
    given = reading.options.text_field
    field = given or ("text" if "text" in record else "data")
    if field not in record:
        strings = {key: len(record.get(key)) for key in record if isinstance(record.get(key), str)}
        likely = max(strings, key=lambda key: strings[key], default="body")
        what = f"has no field {given!r}" if given else "has no text"
        expected = "" if given else ", expected 'text' (or 'tokens')"
        advice = "say which field holds it, for example"
        raise DataError(
            f"the record {what}: found {record.show()}{expected}",
            Advice(f"{advice} text_field={likely!r}", f"{advice} --text-field {likely}"),
        )
    text = record.get(field) if given else record.take(field)
    if not isinstance(text, str):
        raise DataError(f"{field!r} is {shorten(json.dumps(text))}, expected a string")
    return text


def _label_key(reading: Reading, record: Record, keys: tuple[str, ...]) -> str | None:
    """Return the key that holds a list of labels, or None if there is none."""
    if (given := reading.options.label_field) is not None and not reading.options.unlabelled:
        if given not in record:
            raise DataError(f"the record has no field {given!r} for its labels: found {record.show()}")
        keys = (given,)
    found = [key for key in keys if isinstance(record.get(key), list)]
    if len(found) == 1:
        return found[0]
    if reading.options.unlabelled:
        return None  # other keys may be called as labels are
    if found:
        raise DataError(
            f"labels are under {' and '.join(found)}",
            Advice(
                f"say label_field={found[0]!r}, or name the format, for example format='prodigy'",
                f"say --label-field {found[0]}, or name the format, for example --from prodigy",
            ),
        )
    odd = [key for key in keys if not isinstance(record.get(key), list | None)]
    if odd:
        raise DataError(f"{odd[0]!r} is {shorten(repr(record.get(odd[0])))}, expected a list of spans")
    foreign = [key for key in LABEL_KEYS["json"] if key not in keys and isinstance(record.get(key), list)]
    if foreign and given is None:
        raise DataError(f"labels are under {foreign[0]!r}, expected {' or '.join(map(repr, keys))}")
    return None


def _tagged(reading: Reading, record: Record, field: str) -> Document:
    """Make a document of a record with words and tags. Its sentence has no text yet; `Stream` adds it."""
    words = _words(reading, record, field)
    given = reading.options.label_field
    keys = _TAG_KEYS if given is None or reading.options.unlabelled else (given,)
    found = [key for key in keys if record.get(key) is not None]
    if len(found) > 1:
        raise DataError(f"tags are under {' and '.join(found)}, expected one of them")
    if not found and given is not None and keys == (given,) and given not in record:
        raise DataError(f"the record has no field {given!r} for its tags: found {record.show()}")
    sentence = Sentence(words)
    if found:
        sentence = reading.from_tags(words, _tags(reading, len(words), found[0], record.take(found[0])))
    return record.document("", (sentence,))


def _tokenized(reading: Reading, record: Record) -> Document:
    """Make a document of a record as GLiNER is trained on, with words, and spans of them whose end is the last word."""
    sentence = Sentence(_words(reading, record, "tokenized_text"))
    spans = record.get("ner")
    if spans is None:
        return record.document("", (sentence,))
    if not isinstance(spans, list):
        raise DataError(f"'ner' is {shorten(repr(spans))}, expected a list of spans")
    record.take("ner")
    n_words, found = len(sentence.words), []
    for item in spans:
        if not isinstance(item, list) or len(item) != 3 or not isinstance(item[2], str) or not item[2]:
            raise DataError(f"found the span {shorten(repr(item))}, expected [first, last, label]")
        first, last, label = item
        if type(first) is not int or type(last) is not int or not 0 <= first <= last < n_words:
            raise DataError(
                f"the span {shorten(repr(item))} is not in the {n_words} words (its end is the last word, not the one "
                "after)"
            )
        found.append(Span(first, last + 1, label))
    found.sort(key=lambda span: span.start)
    return record.document("", (reading.labelled(sentence, found),))


def _words(reading: Reading, record: Record, field: str) -> tuple[str, ...]:
    words = record.take(field)
    if not isinstance(words, list):
        raise DataError(f"found {record.show()}, expected {field!r}, a list of words")
    if not words and reading.options.unlabelled:
        raise NoWordsError.of("")
    return tuple(words)


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
        raise DataError(
            "the tags are numbers",
            Advice(
                "say their names in order, as in names=['O', 'B-PER', 'I-PER']",
                "say their names in order, as in --names O,B-PER,I-PER, or a file with one name on each line",
            ),
        )
    for tag in tags:
        if type(tag) is not int or not 0 <= tag < len(names):
            raise DataError(f"found the tag {shorten(repr(tag))}, expected a number from 0 to {len(names) - 1}")
    return [names[tag] for tag in tags]
