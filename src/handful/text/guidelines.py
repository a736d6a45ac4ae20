"""Guidelines in parts: what a description says belongs to a type, what does not, and where mentions begin and end.

An encoder reads "a sum of money, not postage" as little more than the two nouns. So a description is cut into parts,
each of which is read by itself::

    part        = meaning | exclusion | inclusion | border
    exclusion   = ("not" | "no" | "never" | "except" | "excluding" | "other than" | "but not") LIST
                | LIST ("do not count" | "are not marked" | "are left out" | "excluded" | ...)
    inclusion   = ("including" | "also" | "and also") LIST  |  LIST ("included" | "as well" | "too")
    border      = ("with" | "without" | "together with" | "leaving out") LIST

Parts are divided by commas, semicolons and brackets. A list is ``a, b or c``. "Not only", "no matter", "not yet" and
the like exclude nothing, and neither does a "not" within a clause ("a person who has not won").
"""

import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Part:
    """Something that a guideline includes or excludes.

    Attributes
    ----------
    text : what the encoder reads
    said : the words of the guideline that say it
    is_border : whether it is about words at the borders of a mention, such as titles and units
    """

    text: str
    said: str
    is_border: bool = False


@dataclass(frozen=True, slots=True)
class Guideline:
    """A description in parts.

    Attributes
    ----------
    meaning : the description without what it excludes; it may be empty
    includes, excludes : the parts
    """

    meaning: str
    includes: tuple[Part, ...] = ()
    excludes: tuple[Part, ...] = ()


_OUT = r"(?:not|never|no|nor|neither|except(?: for| that)?|excluding|other than|rather than|apart from)"
_HARMLESS = r"(?:only|just|merely|necessarily|yet|always|matter|difference|longer|more than|less than|later than)\b"
_EXCLUDES = re.compile(rf"(?:and |but |yet |though )?{_OUT}\b (?!{_HARMLESS})(?P<list>.+)", re.IGNORECASE)
_LEAVES_OUT = re.compile(r"(?:and |but )?(?:without|leaving out|omitting)\b (?P<list>.+)", re.IGNORECASE)
_INCLUDES = re.compile(r"(?:and |but )?(?:also|including|even)\b (?P<list>.+)", re.IGNORECASE)
_TAKES_IN = re.compile(r"(?:and |but )?(?:together )?with\b (?!or without\b)(?P<list>.+)", re.IGNORECASE)
_IS_OUT = re.compile(
    r"(?P<list>.+?) (?:(?:do|does|must|may|should) (?:not|never) (?:count|belong|qualify|be marked|be included)"
    r"(?: here| to it)?|(?:is|are) (?:not|never) (?:marked|wanted|meant|counted|included|asked for|part of it|labelled)"
    r"|(?:(?:is|are) )?(?:left out|excluded|not included|not marked)|(?:is|are) out|stays? outside)",
    re.IGNORECASE,
)
_IS_IN = re.compile(r"(?P<list>.+?) (?:included|as well|too|counts? too|also counts?)", re.IGNORECASE)
# Within a segment, only what is no part of a description of the thing itself
_INNER = re.compile(
    r"(?P<before>.*?\S) (?P<after>(?:but (?:not|no|never|without)|and not|except(?: for)?|excluding|including|"
    r"other than|together with|(?<!or )without(?! \w+ing\b))\b .+)",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r" ?\(([^()]*)\)")
_LEAD = re.compile(
    r"(?:(?:for|to|in|at|on|of|by|from|when|any|all|the|a|an|its|their|his|her|such|other|mere|bare|plain|yet|also|or|and|"
    r"nor) )+",
    re.IGNORECASE,
)
_TRAIL = re.compile(
    r" (?:(?:if|where|when) .*|(?:standing )?(?:right |directly )?(?:in front|before (?:it|the name))(?: of it)?)"
)
_CLAUSE = re.compile(r"(?:if|when|where|unless|because|as|that|which|who|whether|only|what)\b", re.IGNORECASE)
_LIST = re.compile(r" ?(?:,|\bor\b|\band\b|\bnor\b) ?", re.IGNORECASE)
_LAST = re.compile(r"\b(?:or|and|nor)\b", re.IGNORECASE)
_EXAMPLES = re.compile(r"\b(?:such as|like)\b", re.IGNORECASE)
_PRONOUNS = {"it", "them", "that", "this", "those", "these", "one", "ones", "so", "others"}
_LONGEST_ITEM = 5  # words; what is longer is one item, commas and all


@lru_cache(4096)
def guideline_of(description: str) -> Guideline:
    """Read a description in parts.

    >>> found = guideline_of("a sum of money, such as a fee; not postage or tips, without the currency")
    >>> found.meaning
    'a sum of money, such as a fee'
    >>> [part.text for part in found.excludes]
    ['postage', 'tips', 'currency']
    >>> found.excludes[0].said
    'not postage or tips'
    """
    meaning: list[str] = []
    includes: list[Part] = []
    excludes: list[Part] = []
    for clause in _clauses(description):
        kept: list[str] = []
        segments = _segments(clause)
        n_all = len(segments)
        while segments:
            one, used = segments[0], 1
            whole = ", ".join(segments)
            is_first = len(segments) == n_all
            parts: list[Part] = []
            is_out = True
            if is_first and n_all > 1 and meaning and (match := _IS_OUT.fullmatch(whole)):
                one, used = whole, n_all
                parts = _parts(match["list"], whole)
            elif (meaning or kept) and (match := _IS_OUT.fullmatch(one)):
                parts = _parts(match["list"], one)
            elif match := _EXCLUDES.fullmatch(one) or _LEAVES_OUT.fullmatch(one):
                used = _length(segments, is_all=is_first and bool(meaning))
                one = ", ".join(segments[:used])
                parts = _parts(one[match.start("list") :], one, is_border=match.re is _LEAVES_OUT)
            elif match := _INCLUDES.fullmatch(one) or _TAKES_IN.fullmatch(one):
                used, is_out = _length(segments) if match.re is _INCLUDES else 1, False
                one = ", ".join(segments[:used])
                parts = _parts(one[match.start("list") :], one, is_border=match.re is _TAKES_IN)
            elif match := _IS_IN.fullmatch(one):
                is_out = False
                parts = _parts(match["list"], one)
            elif match := _INNER.fullmatch(one):
                segments = [match["before"], match["after"], *segments[1:]]
                continue
            (excludes if is_out else includes).extend(parts)
            if not parts or not is_out:
                kept.append(one)
            segments = segments[used:]
        if kept:
            meaning.append(", ".join(kept))
    return Guideline("; ".join(meaning), tuple(dict.fromkeys(includes)), tuple(dict.fromkeys(excludes)))


def _clauses(description: str) -> list[str]:
    """Return what semicolons and full stops divide; brackets that exclude or include something are clauses, too."""
    inner: list[str] = []

    def of_brackets(match: re.Match[str]) -> str:
        says = (_EXCLUDES, _LEAVES_OUT, _INCLUDES, _TAKES_IN, _IS_OUT, _IS_IN)
        if not any(one.fullmatch(match[1].strip()) for one in says):
            return match[0]
        inner.append(match[1])
        return ""

    outer = re.split(r";|\.\s+(?=[A-Z])", _BRACKETS.sub(of_brackets, description))
    return [clause for one in [*outer, *inner] if (clause := one.strip(" .,"))]


def _segments(clause: str) -> list[str]:
    return [one for one in map(str.strip, re.split(r",|\s[-\u2013\u2014]\s", clause)) if one]


def _length(segments: list[str], *, is_all: bool = False) -> int:
    """Return how many segments belong to the list that begins with the first: up to the one with the last "or"."""
    if _CLAUSE.match(segments[0]):
        return 1
    for n, one in enumerate(segments[1:], 1):
        says = (_EXCLUDES, _LEAVES_OUT, _INCLUDES, _TAKES_IN)
        if any(each.match(one) for each in says) or len(one.split()) > 2 * _LONGEST_ITEM:
            return n if is_all else 1
        if _LAST.search(one) and not is_all and not _LAST.search(segments[0]):
            return n + 1
    return len(segments) if is_all else 1


def _parts(text: str, said: str, *, is_border: bool = False) -> list[Part]:
    """Return the items of a list; a long item is not cut, and neither are examples."""
    examples = _EXAMPLES.search(text)
    head, tail = (text[: examples.start()], text[examples.start() :]) if examples else (text, "")
    items = _LIST.split(head)
    items[-1] += tail
    items = [_bare(one) for one in items]
    if _CLAUSE.match(text) or (not tail and any(len(one.split()) > _LONGEST_ITEM for one in items)):
        items = [_bare(text)]
    return [Part(one, said, is_border) for one in items if re.search(r"\w", one) and one.lower() not in _PRONOUNS]


def _bare(item: str) -> str:
    item = item.strip(" ,.")
    lead = _LEAD.match(item)
    return _TRAIL.sub("", item[lead.end() :] if lead else item)
