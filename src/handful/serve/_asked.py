"""`Asked`: what a body of ``/predict`` asks for, checked."""

from dataclasses import dataclass
from typing import Any

from handful.errors import DataError
from handful.tagger import Tagger
from handful.tagger.predictor import check_min_score
from handful.tagger.tagging import MinScore

from ._settings import Settings

__all__ = ["Asked", "read_asked"]

FIELDS = ("text", "words", "texts")


@dataclass(frozen=True)
class Asked:
    """Texts to look into, and how.

    Attributes
    ----------
    texts : each a str or a list of words
    is_one : whether one text was given, not a list of them
    min_score : mentions with a lower score are left out
    """

    texts: list[Any]
    is_one: bool
    min_score: MinScore


def read_asked(given: Any, tagger: Tagger, settings: Settings) -> Asked:
    """Check a body; an error says what is wrong with it."""
    if not isinstance(given, dict):
        raise DataError('the body is not a JSON object; send {"text": "..."}, {"words": [...]} or {"texts": [...]}')
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
        if len(value) > settings.max_texts:
            raise DataError(f"texts has {len(value):,} members, at most {settings.max_texts:,} can be sent at once")
        for i, text in enumerate(value):
            _check(text, f"text {i} (from 0)", "a string or a list of words", str, list)
        return Asked(value, False, min_score)
    _check(value, field, "a string" if field == "text" else "a list of words", str if field == "text" else list)
    return Asked([value], True, min_score)


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
