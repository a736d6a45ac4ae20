"""Guidelines in parts: what a description means, and what it excludes.

An encoder reads "a sum of money, not postage" as little more than the two nouns. So what is excluded is taken out, and
read by itself::

    exclusion = ("not" | "no" | "never" | "except" | "excluding" | "other than" | "but not") LIST
              | LIST ("do not count" | "are not marked" | "are left out" | "excluded" | ...)

A phrase may also ask for mentions inside others of the type ("also inside other mentions")::

    inner = ("also" | "even" | "including" | "with") [...] ("inside" | "within") ("others" | ["other"] "mentions")
          | ["also" | "even" | "including" | "with"] ("nested" | "inner") ("ones" | "mentions" | "names") ["too"]

Clauses are divided by commas, semicolons and brackets. A list is ``a, b or c``. "Not only", "no matter" and the like
exclude nothing, and neither does a "not" within a clause ("a person who has not won").
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from .borders import borders_of


@dataclass(frozen=True, slots=True)
class Excluded:
    """Something that a guideline excludes."""

    text: str  # what the encoder reads
    said: str  # the words of the guideline that say it


@dataclass(frozen=True, slots=True)
class Guideline:
    """A description in parts."""

    meaning: str  # the description without what it excludes; it may be empty
    excludes: tuple[Excluded, ...] = ()  # what it excludes
    inner: str = ""  # the words that ask for mentions inside others of the type


_NOT = r"(?: (?:not|never)|n['’]t)"
_OUT = (
    r"(?:not(?: (?:includ|count)ing)?|never|no|nor|neither|with the exception of|except(?: for)?|excluding|ignore"
    rf"|other than|rather than|as opposed to|instead of|apart from|(?:it )?do(?:es)?{_NOT} (?:include|mark|label))"
)
_HARMLESS = r"(?:only|just|merely|necessarily|yet|always|matter|difference|longer|more than|less than|later than)\b"
_EXCLUDES = re.compile(rf"(?:and |but |yet |though )?{_OUT}\b (?!{_HARMLESS})(?P<list>.+)", re.IGNORECASE)
_SAYS_MORE = re.compile(
    rf"(?:and |but |yet |though )?(?:{_OUT}|without|with|together with|including|also|even)\b ", re.IGNORECASE
)
_IS_OUT = re.compile(
    rf"(?P<list>.+?) (?:(?:do|does|must|may|should){_NOT} (?:count|belong|qualify|be marked|be included)"
    rf"(?: here| to it)?|(?:is|are){_NOT} (?:marked|wanted|meant|counted|included|asked for|part of it|labelled)"
    r"|(?:(?:is|are) )?(?:left out|excepted|excluded|not included|not marked)|(?:is|are) out|stays? outside)",
    re.IGNORECASE,
)
# Within a segment, only what is no part of a description of the thing itself
_INNER = re.compile(
    r"(?P<before>.*?\S) (?P<after>(?:but (?:not|no|never)|and not|not (?:includ|count)ing|with the exception of|"
    rf"except(?: for)?|excluding|other than)\b (?!{_HARMLESS}).+)",
    re.IGNORECASE,
)
_OTHERS = r"(?:others|(?:(?:(?:an)?other|a longer|longer) )?(?:mentions?|names?|ones?|phrases?))"
_INSIDE = re.compile(
    rf"(?:and |but )?(?:also|even|including|with)\b(?: \S+)* ?\b(?:inside|within) {_OTHERS}\b.*|"
    r"(?:and |but )?(?:also |even |including |with )?(?:nested|inner) (?:ones|mentions|names)(?: (?:too|also|count))*",
    re.IGNORECASE,
)
_BRACKETS = re.compile(r" ?\(([^()]*)\) ?")
_LEAD = re.compile(
    r"(?:(?:for|to|in|at|on|of|by|from|when|any|all|the|a|an|its|their|his|her|such|other|mere|bare|plain|yet|also|or|and|"
    r"but|nor) )+",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?:if|when|where|unless|because|as|that|which|who|whether|only|what)\b", re.IGNORECASE)
_LIST = re.compile(r" ?(?:,|\bor\b|\band\b|\bnor\b) ?", re.IGNORECASE)
_LAST = re.compile(r"\b(?:or|and|nor)\b", re.IGNORECASE)
_EXAMPLES = re.compile(r"\b(?:such as|like)\b", re.IGNORECASE)
_PRONOUNS = {"it", "them", "that", "this", "those", "these", "one", "ones", "so", "others"}
_LONGEST_ITEM = 5  # words; what is longer is one item, commas and all
_LONGEST_LIST = 20  # items before an "or" that is looked for


@lru_cache(4096)
def guideline_of(description: str) -> Guideline:
    """Read a description in parts.

    >>> found = guideline_of("a sum of money, such as a fee, with the currency; not postage or tips")
    >>> found.meaning
    'a sum of money, such as a fee, with the currency'
    >>> [part.text for part in found.excludes]
    ['postage', 'tips']
    >>> found.excludes[0].said
    'not postage or tips'
    """
    meaning: list[str] = []
    excludes: list[Excluded] = []
    inner = ""
    for clause in _clauses(description):
        kept: list[str] = []
        segments = [one for one in map(str.strip, re.split(r",|\s[-\u2013\u2014]\s", clause)) if one]
        if meaning and _IS_OUT.fullmatch(whole := ", ".join(segments)):
            segments = [whole]
        asked = [one for one in segments if (meaning or one != segments[0]) and _INSIDE.fullmatch(one)]
        inner = inner or ", ".join(asked)
        segments = [one for one in segments if one not in asked]
        n_all = len(segments)
        while segments:
            one, used, is_first = segments[0], 1, len(segments) == n_all
            parts: list[Excluded] = []
            if (meaning or kept) and (match := _IS_OUT.fullmatch(one)):
                parts = _parts(match["list"], one)
            elif match := _EXCLUDES.fullmatch(one):
                used = _length(segments, is_all=is_first and bool(meaning))
                one = ", ".join(segments[:used])
                parts = _parts(one[match.start("list") :], one)
            elif match := _INNER.fullmatch(one):
                segments = [match["before"], match["after"], *segments[1:]]
                continue
            excludes += parts
            kept += [] if parts else [one]
            segments = segments[used:]
        if kept:
            meaning.append(", ".join(kept))
    return Guideline("; ".join(meaning), tuple(dict.fromkeys(excludes)), inner)


def understood(description: str) -> list[str]:
    """Return a line for each part of a description that says something else than what the type means.

    >>> understood("a sum of money, with its currency, not postage or tips")
    ['excludes postage, tips: "not postage or tips"', 'obeyed at the borders of mentions: "with its currency"']
    """
    texts: dict[str, list[str]] = {}
    whole = guideline_of(description)
    for part in whole.excludes:
        texts.setdefault(part.said, []).append(part.text)
    lines = [f'excludes {", ".join(of_part)}: "{said}"' for said, of_part in texts.items()]
    lines += [f'asks for mentions inside others of the type, with overlap: "{whole.inner}"'] if whole.inner else []
    return lines + [f'obeyed at the borders of mentions: "{rule.said}"' for rule in borders_of(description)]


def _clauses(description: str) -> list[str]:
    """Return what semicolons and full stops divide; brackets that exclude something are clauses, too."""
    inner: list[str] = []

    def of_brackets(match: re.Match[str]) -> str:
        if not any(one.fullmatch(match[1].strip()) for one in (_EXCLUDES, _IS_OUT, _INSIDE)):
            return match[0]
        inner.append(match[1])
        return " "

    outer = re.split(r";|\.\s+(?=[A-Z])", _BRACKETS.sub(of_brackets, description))
    return [clause for one in [*outer, *inner] if (clause := one.strip(" .,"))]


def _length(segments: list[str], *, is_all: bool = False) -> int:
    """Return how many segments belong to the list that begins with the first: up to the one with the last "or"."""
    if _CLAUSE.match(segments[0]) or (not is_all and _LAST.search(segments[0])):
        return 1
    for n, one in enumerate(segments[1 : None if is_all else _LONGEST_LIST], 1):
        if _SAYS_MORE.match(one) or len(one.split()) > 2 * _LONGEST_ITEM:
            return n if is_all else 1
        if _LAST.search(one) and not is_all:
            return n + 1
    return len(segments) if is_all else 1


def _parts(text: str, said: str) -> list[Excluded]:
    """Return the items of a list; a long item is not cut, and neither are examples."""
    examples = _EXAMPLES.search(text)
    head, tail = (text[: examples.start()], text[examples.start() :]) if examples else (text, "")
    items = _LIST.split(head)
    items[-1] += tail
    items = [_bare(one) for one in items]
    if _CLAUSE.match(text) or (not tail and any(len(one.split()) > _LONGEST_ITEM for one in items)):
        items = [_bare(text)]
    return [Excluded(one, said) for one in items if re.search(r"\w", one) and one.lower() not in _PRONOUNS]


def _bare(item: str) -> str:
    item = item.strip(" ,.")
    lead = _LEAD.match(item)
    return item[lead.end() :] if lead else item
