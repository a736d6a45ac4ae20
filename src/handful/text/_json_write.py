"""Sentences as JSON records, in the dialects that `handful.text._json_read` reads.

Prodigy's holds everything that a sentence does. doccano's, spaCy's and Label Studio's hold the text but not
the words, the tokens of Hugging Face the words but not the text.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from handful.errors import DataError

from ._inline import label_marks, note_changed_words
from ._schemes import to_tags
from ._types import Sentence

__all__ = ["write_json"]

_Mark = tuple[int, int, str]


def write_json(
    sentences: Iterable[Sentence], dialect: str, scheme: str, names: Sequence[str] | None, notes: Counter[str]
) -> Iterator[str]:
    """Yield the text of a JSON Lines file, or of a JSON array for Label Studio."""
    if dialect == "huggingface":
        for sentence in sentences:
            yield _dump(_tagged(sentence, scheme, names))
        return
    record: Callable[[Sentence], dict[str, Any]] = {
        "prodigy": _prodigy,
        "doccano": lambda sentence: _with_list(sentence, "label"),
        "spacy": lambda sentence: _with_list(sentence, "entities"),
        "label-studio": _task,
    }[dialect]
    is_array = dialect == "label-studio"
    before = "[\n"
    for sentence in sentences:
        sentence = sentence.with_text()
        if dialect != "prodigy":
            note_changed_words(sentence, notes)
        yield (before if is_array else "") + _dump(record(sentence))
        before = ","
    if is_array:
        yield "]\n" if before == "," else "[]\n"


def _dump(record: dict[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False) + "\n"


def _tagged(sentence: Sentence, scheme: str, names: Sequence[str] | None) -> dict[str, Any]:
    record: dict[str, Any] = {"tokens": list(sentence.words)}
    if not sentence.is_unlabelled:
        tags = to_tags(sentence, scheme)
        if names is not None:
            missing = sorted(set(tags) - set(names))
            if missing:
                raise DataError(f"the tag {missing[0]!r} is not among the names {', '.join(names)}")
            numbers = {name: i for i, name in enumerate(names)}
            record["ner_tags"] = [numbers[tag] for tag in tags]
        else:
            record["ner_tags"] = tags
    return record


def _prodigy(sentence: Sentence) -> dict[str, Any]:
    text, offsets = sentence.text or "", sentence.offsets or ()
    blank = next((word for word in sentence.words if not word.strip()), None)
    if blank is not None:
        raise DataError(f"Prodigy's format cannot hold the word {blank!r}: a token of white space is a gap there")
    record: dict[str, Any] = {"text": text}
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
            for start, end, label in marks
        ]
    return record


def _with_list(sentence: Sentence, key: str) -> dict[str, Any]:
    marks = label_marks(sentence)
    return {"text": sentence.text} | ({} if marks is None else {key: marks})


def _task(sentence: Sentence) -> dict[str, Any]:
    text, marks = sentence.text or "", label_marks(sentence)
    result = [
        {
            "from_name": "label",
            "to_name": "text",
            "type": "labels",
            "value": {"start": start, "end": end, "text": text[start:end], "labels": [label]},
        }
        for start, end, label in marks or ()
    ]
    return {"data": {"text": text}, "annotations": [] if marks is None else [{"result": result}]}
