"""Where a word of letters has parts that are words of their own: ``l'`` in ``l'école``, ``'da`` in ``Ankara'da``.

A mention is rarely as long as such a word. The parts that are found are those that can be told without a dictionary:

- what is elided before an apostrophe, in French, Italian and Catalan: ``l'``, ``qu'``, ``dell'``. In English
  text, as the words around tell, names such as ``Côte d'Ivoire`` and ``L'Oréal`` stay as they are;
- Turkish endings after an apostrophe: ``'da``, ``'nın``;
- Korean particles: ``에서``, ``은``, those that fit the sound before them alone;
- Arabic and Hebrew letters beside Latin letters and digits.

Prefixes and endings without a mark (``وقال``, ``בירושלים``, ``Helsingissä``) stay: a letter says too little.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator

from .particles import PARTICLES, fits

_ELIDED = re.compile(
    r"(?:^|[^\w'’@/.&\u0300-\u036f-])((?:[cdjlmnst]|(?:jus|lors|puis|quoi)?qu|gl|un|nessun|ciascun|[dn]ell|coll|d?all"
    r"|sull|quest|quell|anch|tutt|com|dov|mezz)|[CDJLMNST]|Qu|Jusqu|Lorsqu|Puisqu|Un|[DN]ell|All|Dall|Sull|Quest|Quell"
    r"|Anch|Com|Dov)$"
)
_ENGLISH = re.compile(
    r"\b(?:the|of|and|to|with|for|was|is|at|by|from|has|have|are|be|been|it|he|she|his|her|this|that|will|were|said|not|but"
    r"|you|they|its|who)\b"
)
_ROMANCE = re.compile(
    r"\b(?:de|la|le|les|des|du|et|est|un|une|il|au|aux|sur|par|pour|qui|que|en|dans|a|di|che|è|per|del|della|el|els|amb|i)\b"
)
_AROUND = 60  # characters on each side, of the same line, that tell which language an apostrophe is in

_TURKISH = re.compile(
    r"['’](?:(?P<short>[ıiuüae]|[ıiuü]n)|[yn][ıiuüae]|n[ıiuü]n|n?[dt][ae](?:n|ki(?:ler)?)?|y?l[ae]"
    r"|l[ae]r(?:[ıiae]|[ıi]n|d[ae]n?)?|s[ıiuü](?:n[aeıi]n?|nd[ae]n?)?|[ıiuü]n(?:[aeıi]|d[ae]n?|c[ıiuü])"
    r"|l[ıiuü]|c[ae]|d[ıiuü]r)(?![\w'’-])"
)
_STEM = re.compile(r"(?:^|[\s(\[{\"“”«‘%,;:–—-])([^\W_][\w\u0300-\u036f]+|\d+(?:[.,]\d+)*)$")
_VOWELS = "aeıioöuüâîû"

_LONGEST = 24  # characters of a Korean word that are looked at: in NFD a syllable has up to three
_HANGUL = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff]")
_KOREAN_END = re.compile(r"[\uac00-\ud7a3\u1100-\u11ff](?!\w)")
_ADDRESS = re.compile(r"//|[@#]|www\.", re.IGNORECASE)
_RTL = re.compile(r"[\u05d0-\u05ea\u0620-\u06ff\u0750-\u077f]")
_LATIN = "A-Za-z0-9À-ɏḀ-ỿ"
_BESIDE_RTL = re.compile(
    rf"[\u05d0-\u05ea\u0620-\u065f\u066e-\u06d3\u06fa-\u06ff](?=[{_LATIN}])"
    rf"|[{_LATIN}][\u0300-\u036f]*(?=[\u05d0-\u05ea\u0620-\u064a\u066e-\u06d3\u06fa-\u06ff])"
)


def inner_starts(text: str) -> list[int]:
    """Return the places inside words of letters where a word of its own starts, in order."""
    places = _apostrophes(text)
    if not text.isascii():
        if _HANGUL.search(text):
            places += _particles(text)
        if _RTL.search(text):
            places += [match.end() for match in _BESIDE_RTL.finditer(text)]
    return sorted(places)


def cut_at(places: list[int], text: str, spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Yield the places of words, with those cut in which one of the `places` is; addresses and tags stay whole."""
    following = iter(places)
    place = next(following, None)
    for start, end in spans:
        while place is not None and place <= start:
            place = next(following, None)
        has_parts = place is not None and place < end and not _ADDRESS.search(text, start, end)
        while has_parts and place is not None and place < end:
            yield start, place
            start = place
            place = next(following, None)
        yield start, end


def _apostrophes(text: str) -> list[int]:
    """Return where a word starts after, or with, an apostrophe."""
    places = []
    for sign in "'’":
        at = text.find(sign)
        while at >= 0:
            if at and _is_elision(text, at):
                places.append(at + 1)
            elif at and _is_ending(text, at):
                places.append(at)
            at = text.find(sign, at + 1)
    return places


def _is_elision(text: str, at: int) -> bool:
    following = text[at + 1 : at + 2]
    vowel = following if following.isascii() else unicodedata.normalize("NFD", following)[:1]
    if not vowel or vowel not in "aeiouyhœæAEIOUYHŒÆ":
        return False
    found = _ELIDED.search(unicodedata.normalize("NFC", text[max(0, at - 9) : at]))
    if found is None:
        return False
    first = found[1]
    if (vowel in "hH" and first in "cC") or (first in ("D", "Dell") and following.isupper()):
        return False  # Breton; names such as D'Angelo and Dell'Orto
    before = text[max(0, at - _AROUND) : at].rpartition("\n")[2]
    around = before + text[at : at + _AROUND].partition("\n")[0]
    if _ENGLISH.search(around.lower()):  # İ is no i, as it would be for a pattern that ignores case
        return False
    return first[0].islower() or following.islower() or _ROMANCE.search(around) is not None


def _is_ending(text: str, at: int) -> bool:
    ending = _TURKISH.match(text, at)
    stem = ending and _STEM.search(unicodedata.normalize("NFC", text[max(0, at - 40) : at]))
    if not ending or not stem or unicodedata.category(text[ending.end() : ending.end() + 1] or " ")[0] == "M":
        return False
    word = stem[1]
    if word[-1].isdigit():
        return True
    if not word[0].isupper() and (ending["short"] or len(word) < 3):
        return False
    return not ending["short"] or word[-1].lower() not in _VOWELS


def _particles(text: str) -> list[int]:
    """Return where a particle starts that ends a Korean word."""
    places = []
    for match in _KOREAN_END.finditer(text):
        before = text[max(0, match.end() - _LONGEST) : match.end()]
        word = unicodedata.normalize("NFC", before)
        for particle, sound in PARTICLES:
            if word.endswith(particle) and fits(word[: -len(particle)], sound, len(particle)):
                is_composed = before.endswith(particle)
                n = len(particle) if is_composed else len(unicodedata.normalize("NFD", particle))
                places.append(match.end() - n)
                break
    return places
