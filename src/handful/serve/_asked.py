"""What a body of ``/predict`` asks for, checked."""

from typing import Any

from handful.errors import DataError
from handful.tagger import Tagger
from handful.tagger.predictor import check_min_score
from handful.tagger.tagging import MinScore

__all__ = ["read_asked"]

FIELDS = ("text", "words", "texts")


def read_asked(given: dict[str, Any], tagger: Tagger) -> tuple[list[Any], bool, MinScore]:
    """Return the texts to look into, whether one was given and not a list, and the least score of mentions."""
    if strange := sorted(given.keys() - {*FIELDS, "min_score"}):
        raise DataError(f"{strange[0]!r:.80} is not a field; the fields are {', '.join(FIELDS)} and min_score")
    fields = [name for name in FIELDS if name in given]
    if len(fields) != 1:
        raise DataError(f"give one of {', '.join(FIELDS)}, found {' and '.join(fields) or 'none'}")
    (field,) = fields
    value = given[field]
    min_score = given.get("min_score", 0.0)
    check_min_score(min_score, tagger.types_)
    if field == "texts":
        if not isinstance(value, list):
            raise DataError(f"texts is {_kind(value)}, expected a list of texts")
        for i, text in enumerate(value):
            _check(text, f"text {i} (from 0)", "a string or a list of words", str, list)
        return value, False, min_score
    _check(value, field, "a string" if field == "text" else "a list of words", str if field == "text" else list)
    return [value], True, min_score


def _check(text: Any, where: str, expected: str, *kinds: type) -> None:
    if not isinstance(text, kinds):
        raise DataError(f"{where} is {_kind(text)}, expected {expected}")
    words: list[Any] = text if type(text) is list else [text]
    for word in words:
        if not isinstance(word, str):
            raise DataError(f"{where} has {_kind(word)} among its words, expected strings")
        if not word and word is not text:
            raise DataError(f"{where} has an empty word")
        if not word.isascii() and any("\ud800" <= character <= "\udfff" for character in word):
            raise DataError(f"{where} has half of a surrogate pair in it, which is not a character")


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
