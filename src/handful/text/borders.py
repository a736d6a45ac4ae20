"""Rules of borders in a description: whether titles, articles, units and the like belong to a mention.

They are no part of what a type means, and an encoder does not follow them. So they are read here, and decoding obeys::

    rule = ("with" | "including" | "without" | "leaving out" ...) LIST
         | LIST ("included" | "left out" | "belongs" ...)
         | ("with" | "including") WORDS ("before it" | "in front")

A list is ``a, b or c``: kinds of words ("article", "title", "unit"), words of these kinds ("the", "Mr"), and words in
quotes. A list with anything else in it says nothing of borders, and neither does "with or without".
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

FIGURES = "0"  # in a set of words, all words of figures

_ARTICLES = "the a an"
_POSSESSIVES = "my your his her its our their"
_PREPOSITIONS = (
    "in on at by for from of to within without into onto upon over under above below behind beside between among "
    "near around about across along against after before during since until till through throughout towards "
    "toward via per"
)
_TITLES = (
    "mr mrs ms mx mme mlle miss master madam sir lady lord dame dr doctor prof professor rev reverend fr father "
    "sister brother hon judge justice magistrate president senator sen rep governor gov mayor minister chancellor "
    "ambassador king queen prince princess duke duchess count countess baron emperor pope bishop archbishop "
    "cardinal rabbi imam sheikh captain capt lieutenant lt sergeant sgt corporal cpl major maj colonel col "
    "general gen admiral commander cmdr private constable pc officer detective inspector superintendent supt "
    "sheriff deputy coach nurse herr frau"
)
_CURRENCIES = (
    "$ £ € ¥ ₹ usd eur gbp jpy chf sek nok dkk cad aud dollar dollars euro euros pound pounds quid pence penny p "
    "cent cents franc francs krona kronor krone kroner yen rupee rupees peso pesos rand lira zloty yuan"
)
_UNITS = (
    "% percent ‰ ° °c °f c f k degree degrees mg g kg kilo kilos gram grams µg ug mcg ng pg t tonne tonnes ton "
    "tons lb lbs oz ounce ounces stone l ml dl cl ul µl fl litre litres liter liters gallon gallons pint pints "
    "cup cups teaspoon teaspoons tablespoon tablespoons tsp tbsp m mm cm km nm µm metre metres meter meters "
    "kilometre kilometres kilometer kilometers mile miles mi yard yards yd foot feet ft inch inches acre acres "
    "hectare hectares ha s sec secs second seconds min mins minute minutes h hr hrs hour hours day days week "
    "weeks month months year years yr yrs mph kph knots rpm hz khz mhz ghz db v kv mv w kw kwh mw mwh gw hp pa "
    "kpa mpa bar psi mbar mmhg bpm mol mmol umol nmol pmol u mu iu kiu kcal kj mb gb tb kb"
)
_NUMBERS = (
    "one two three four five six seven eight nine ten eleven twelve fifteen twenty thirty forty fifty sixty "
    "seventy eighty ninety hundred thousand million billion dozen half"
)
_PACKS = (
    "of bag bags bottle bottles box boxes can cans carton cartons case cases crate crates pack packs packet "
    "packets piece pieces slice slices tins"
)
_KINDS = {
    "article": _ARTICLES,
    "possessive": _POSSESSIVES,
    "determiner": f"{_ARTICLES} {_POSSESSIVES} this that these those",
    "preposition": _PREPOSITIONS,
    "title": _TITLES,
    "honorific": _TITLES,
    "rank": _TITLES,
    "number": f"{FIGURES} {_NUMBERS}",
    "numeral": f"{FIGURES} {_NUMBERS}",
    "quantity": f"{FIGURES} {_NUMBERS} {_UNITS} {_PACKS}",
    "unit": f"{_UNITS} {_CURRENCIES}",
    "currency": _CURRENCIES,
    "quotation mark": "\" ' “ ” ‘ ’ « » „ `",
}
_MAY_FOLLOW = {"number", "numeral", "unit", "currency", "quotation mark"}
_CLOSED = {*f"{_ARTICLES} {_POSSESSIVES} {_PREPOSITIONS} {_TITLES}".split()}


@dataclass(frozen=True, slots=True)
class Border:
    """What a description says of words at the borders of a mention."""

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
            first.update(_CURRENCIES.split() if kind == "unit" else words)
            last.update(words if kind in _MAY_FOLLOW or (item and item["quoted"]) else ())
        belongs = bool(match["spoken"] or match["in"] or match["yes"])
        found.append(Border(belongs, frozenset(first), frozenset(last), match[0]))
    return tuple(found)
