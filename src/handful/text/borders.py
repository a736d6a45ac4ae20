"""Rules of borders in a description: whether titles, articles, units and the like belong to a mention.

They are no part of what a type means, and an encoder does not follow them. So they are read here, and decoding obeys::

    rule = ("with" | "including" | "without" | "leaving out" ...) LIST
         | LIST ("included" | "left out" | "belongs" ...)
         | ("with" | "including") WORDS ("before it" | "in front")

A list is ``a, b or c``: kinds of words ("article", "title", "unit"), words of these kinds ("the", "Mr"), and words in
quotes. A list with anything else in it says nothing of borders, and neither does "with or without". Kinds, and
their words, are in ``borders.json``.
"""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

FIGURES = "0"  # in a set of words, all words of figures

_LISTS = json.loads(Path(__file__).with_suffix(".json").read_text(encoding="utf-8"))
_KINDS = {kind: " ".join(_LISTS[one] for one in lists.split()) for kind, lists in _LISTS["kinds"].items()}
_MAY_FOLLOW = {"number", "numeral", "unit", "currency", "quotation mark"}
DETERMINERS = frozenset(_KINDS["determiner"].split())
_CLOSED = {*" ".join(_KINDS[kind] for kind in ("article", "possessive", "preposition", "title")).split()}


@dataclass(frozen=True, slots=True)
class Border:
    """A rule of a description about words at the borders of a mention."""

    belongs: bool  # whether such words belong to the mention
    # The words that are meant, in small letters, where they stand first in a mention, and last
    first: frozenset[str]
    last: frozenset[str]
    said: str  # the words of the description that say it


def _any_of(words: Iterable[str]) -> str:
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


# A list can be read in one way alone: in two ways for each item, it would take twice the time for each.
_KIND = (
    rf"(?:the |an? |any |its |their |his |her )?(?P<kind>{_any_of(_KINDS)}|quantitie|currencie)s?"
    r"(?: words?)?"
)
_QUOTED = r"(?:the )?(?:words? )?[\"“'‘](?P<quoted>(?:[^\"“”'‘’]|\b'\b){1,20})[\"”'’]"
_ITEM = re.compile(rf"(?:{_KIND}|{_QUOTED}|(?P<word>(?-i:a\b)|(?!a\b)(?:{_any_of(_CLOSED)})\.?))(?!\w)", re.IGNORECASE)
_ANY = re.sub(r"\?P<\w+>", "?:", _ITEM.pattern)
_AND = r"(?:,? (?:and|or|nor) |, )"
_SEPARATOR = re.compile(_AND)
_LIST = rf"{_ANY}(?:{_AND}{_ANY}){{0,20}}"
_END = (
    r"(?=\.? *$|[,;)]|\. | (?:and|or|before|in front|after|where|if|but|leaving|left|is|are|included|not|belongs?)\b)"
)
_IN = r"(?:(?:together |along )?(?<!or )with|including|includes?)"
_OUT = r"(?:(?<!or )without|(?:leaving|leaves?) out)"
_RULE = re.compile(
    rf"\b{_IN} (?:words? (?:like|such as) )?(?P<spoken>\w+\.?(?:{_AND}\w+\.?){{0,20}})"
    r" (?:directly |right )?(?:before it|in front)"
    rf"|\b(?:(?P<in>{_IN})|{_OUT}) (?P<list>{_LIST}){_END}(?! or not| (?:is |are )?left out)"
    rf"|(?:(?<=[;,(] )|^)(?P<subject>{_LIST}) (?:is |are )?"
    r"(?:(?P<yes>included|belongs?\b)|left out|not included|excluded)",
    re.IGNORECASE,
)


@lru_cache(4096)
def borders_of(description: str) -> tuple[Border, ...]:
    """Return the rules of borders in a description.

    >>> [(one.belongs, one.said) for one in borders_of("person, without title; sum of money with its currency")]
    [(False, 'without title'), (True, 'with its currency')]
    """
    found = []
    for match in _RULE.finditer(description):
        first, last = set[str](), set[str]()
        for text in _SEPARATOR.split(match["spoken"] or match["list"] or match["subject"]):
            item = _ITEM.fullmatch(text)
            kind = item["kind"].lower().replace("tie", "ty").replace("cie", "cy") if item and item["kind"] else ""
            word = (item["quoted"] or item["word"]) if item and not kind else text
            words = (_KINDS[kind] if kind else word.lower().replace(".", "")).split()
            first.update(_KINDS["currency"].split() if kind == "unit" else words)
            last.update(words if kind in _MAY_FOLLOW or (item and item["quoted"]) else ())
        belongs = bool(match["spoken"] or match["in"] or match["yes"])
        found.append(Border(belongs, frozenset(first), frozenset(last), match[0]))
    return tuple(found)
