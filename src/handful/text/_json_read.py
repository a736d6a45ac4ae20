"""JSON records as annotation tools and libraries write them; docs/formats.md has their keys.

Positions are code points. A label may be a partial one (``LOC|ORG``). A record without a key for labels, or with null
there, is unlabelled. Without ``tokens``, words are found by `handful.text._words`; an unlabelled text is then cut into
sentences. A record with labels, or with words of its own, is one sentence. In Prodigy's spans, ``token_end`` is the
last token, not the one after.

The ``id`` of a record is the `Document.id`. Every key that is not its text, its words or its labels is in
`Document.meta`; for Label Studio, so are the other keys of its ``data``, under ``data``.
"""

import json
from collections.abc import Callable, Iterator
from typing import Any

from handful.errors import Advice, DataError, shorten

from ._annotators import settle_repeated
from ._document import Document
from ._json_records import Record, is_one_a_line, is_pair, read_mark, records, sentence_of_tokens, token_offsets
from ._label_studio import read_task
from ._labels import Mark, Span
from ._reading import FileReader
from ._sentences import Sentence
from ._words import is_blank, to_sentence, to_sentences

# Under which keys a dialect keeps its labels; "json" takes those of any text, and "huggingface" those of words.
LABEL_KEYS = {
    "prodigy": ("spans",),
    "doccano": ("label", "labels", "entities"),
    "spacy": ("entities", "ents"),
    "label-studio": ("label", "labels"),
    "json": ("spans", "label", "labels", "entities", "ents"),
    "huggingface": ("ner_tags", "tags", "labels", "ner"),
    "gliner": ("ner",),
}


def read_json(reading: FileReader, dialect: str = "json") -> Iterator[Document]:
    """Return the documents of a file of JSON records; "json" and "jsonl" find out the dialect of each record."""
    dialect = "json" if dialect == "jsonl" else dialect
    reading.is_by_line = is_one_a_line(reading.source.head) and not reading.source.head.lstrip().startswith("[")
    return settle_repeated(reading, _documents(reading, dialect))


def _documents(reading: FileReader, dialect: str) -> Iterator[tuple[str, Document]]:
    for place, raw, value in records(reading):
        try:
            if "\\ud" in raw or "\\uD" in raw:  # JSON can escape half of a surrogate pair, which cannot be written
                json.dumps(value, ensure_ascii=False).encode()
            if is_pair(value) and dialect in ("spacy", "json"):
                value = {**value[1], "text": value[0]}
            elif isinstance(value, str) and dialect == "json":
                value = {reading.options.text_field or "text": value}
            document = _document(reading, Record(value), dialect)
        except UnicodeEncodeError:
            reading.malformed(place, "the record has half of a surrogate pair (\\ud800 to \\udfff by itself)")
        except DataError as error:
            reading.malformed(place, error)
        else:
            if document is not None:
                yield place, document


def _document(reading: FileReader, record: Record, dialect: str) -> Document | None:
    answer = record.get("answer", "accept")
    field = reading.options.text_field or "text"
    words = reading.options.text_field or "tokens"
    if dialect in ("label-studio", "json") and isinstance(record.get("data"), dict) and field not in record:
        return read_task(reading, record)
    if dialect == "gliner" or (dialect == "json" and isinstance(record.get("tokenized_text"), list)):
        return _of_words(reading, record, "tokenized_text", "gliner", _from_word_spans)
    are_words = isinstance(record.get(words), list) and all(isinstance(token, str) for token in record[words])
    if dialect == "huggingface" or (dialect == "json" and are_words):
        return _of_words(reading, record, words if are_words else "tokens", "huggingface", _from_tags)
    if answer != "accept":
        reading.report.notes[f"records whose answer is {shorten(repr(answer))} were passed over"] += 1
        return None
    text, label_key = _text(reading, record), _label_key(reading, record, LABEL_KEYS[dialect])
    return read_marked(reading, record, text, label_key, field)


def read_marked(
    reading: FileReader, record: Record, text: str, label_key: str | None, text_field: str = "text"
) -> Document:
    """Make a document of a text and a list of spans, which is under a key of the record."""
    tokens = token_offsets(text, record.take("tokens")) if record.get("tokens") else None
    sentence = None if tokens is None else sentence_of_tokens(reading, text, tokens)
    marks = None
    if label_key is not None:
        try:
            marks = [read_mark(reading, text, tokens, item) for item in record[label_key]]
        except DataError:
            if not reading.options.unlabelled:
                raise  # else these are not labels of words, but perhaps classes of the whole text
    if marks is not None and label_key is not None:
        record.take(label_key)
        if sentence is not None or not is_blank(text):
            sentence = reading.from_marks(sentence or to_sentence(text), marks)
    sentences = to_sentences(text) if sentence is None else [sentence]
    return record.document(text, reading.check_words(text, sentences), text_field)


def _text(reading: FileReader, record: Record) -> str:
    given = reading.options.text_field
    field = given or ("text" if "text" in record else "data")
    if field not in record:
        strings = {key: len(record[key]) for key in record if isinstance(record.get(key), str)}
        likely = max(strings, key=lambda key: strings[key], default="body")
        missing = f"has no field {given!r}" if given else "has no text"
        expected = "" if given else ", expected 'text' (or 'tokens')"
        pair = (f"text_field={likely!r}", f"--text-field {likely}")
        advice = Advice.of("say which field holds it, for example {}", pair)
        raise DataError(f"the record {missing}: found {record.show()}{expected}", advice)
    text = record.get(field) if given else record.take(field)
    if not isinstance(text, str):
        raise DataError(f"{field!r} is {shorten(json.dumps(text))}, expected a string")
    return text


def _label_key(reading: FileReader, record: Record, keys: tuple[str, ...]) -> str | None:
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
                f"name the format, for example --from prodigy, or say handful convert --label-field {found[0]}",
            ),
        )
    odd = [key for key in keys if not isinstance(record.get(key), list | None)]
    if odd:
        raise DataError(f"{odd[0]!r} is {shorten(repr(record.get(odd[0])))}, expected a list of labels")
    foreign = [key for key in LABEL_KEYS["json"] if key not in keys and isinstance(record.get(key), list)]
    if foreign and given is None:
        raise DataError(f"labels are under {foreign[0]!r}, expected {' or '.join(map(repr, keys))}")
    return None


def _of_words(
    reading: FileReader,
    record: Record,
    field: str,
    dialect: str,
    labelled: Callable[[FileReader, Sentence, list[Any]], Sentence],
) -> Document:
    """Make a document of a record with words and labels. Its sentence has no text yet; `Stream` adds it."""
    words = record.take(field)
    if not isinstance(words, list):
        raise DataError(f"found {record.show()}, expected {field!r}, a list of words")
    if not words and reading.options.unlabelled:
        return record.document("", ())
    sentence = Sentence(tuple(words))
    if (key := _label_key(reading, record, LABEL_KEYS[dialect])) is not None:
        try:
            sentence = labelled(reading, sentence, record[key])
            record.take(key)
        except DataError:
            if not reading.options.unlabelled:
                raise
    return record.document("", (sentence,))


def _from_word_spans(reading: FileReader, sentence: Sentence, spans: list[Any]) -> Sentence:
    """Put spans of words onto a sentence, as GLiNER is trained on; the end of a span is its last word."""
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
        found.append(Mark(first, last + 1, label))
    return reading.from_spans(sentence, [Span(*mark[:3]) for mark in reading.once(sorted(found))])


def _from_tags(reading: FileReader, sentence: Sentence, tags: list[Any]) -> Sentence:
    if len(tags) != len(sentence.words):
        raise DataError(f"{len(sentence.words)} tokens but {len(tags)} tag{'s' * (len(tags) != 1)}")
    names = reading.options.tag_names
    if any(type(tag) is int for tag in tags):
        if names is None:
            shell = "handful convert --tag-names O,B-PER,I-PER, or give a file with one name on each line"
            pair = ("tag_names=['O', 'B-PER', 'I-PER']", shell)
            raise DataError("the tags are numbers", Advice.of("say their names in order, as in {}", pair))
        for tag in tags:
            if type(tag) is not int or not 0 <= tag < len(names):
                raise DataError(f"found the tag {shorten(repr(tag))}, expected a number from 0 to {len(names) - 1}")
        tags = [names[tag] for tag in tags]
    for tag in tags:
        if not isinstance(tag, str):
            raise DataError(f"found the tag {shorten(repr(tag))}, expected a name or a number")
    return reading.from_tags(sentence.words, tags)
