"""Which language a text is in, as far as its letters and its commonest words say.

Each language has a script and, where others share it, its commonest words of small letters with their shares, and its
letters beyond a to z. For sentences s and languages l::

    evidence(s, l) = sum over words w of   log(share of w in l / FLOOR)        if w is among the commonest
                                         + log(share of words with marked letters in l / RARE)   if l has all of w's
                                         + SCRIPT                              if w is in the script of l

The tables are in ``languages.json``: common words with their shares in thousandths of the words in small letters; and
the share of words, in thousandths, that have one of a language's own letters. These are, in Latin script, all beyond a
to z, and in other scripts those that no other language of the script has. They were counted in `corpora`:
``python benchmarks/language_guess.py --write``, which also measures.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from math import log

from ._sentences import Sentence

_KNOWN = json.loads((files(__package__) / "language_names.json").read_text(encoding="utf-8"))
#: The names of the languages that can be told, by their codes.
NAMES: dict[str, str] = _KNOWN["names"]
# The first and the last letter of each script that is not Latin, and the languages that it speaks for.
_RANGES: list[tuple[str, str, str]] = _KNOWN["ranges"]
FLOOR, RARE = 0.0004, 0.004  # shares of a word, and of words with marked letters, in a language that does not have them
SCRIPT = 2.0
ENOUGH = 22.0  # more evidence than for a known language: two or three sentences
_LONGEST = 50  # letters of a word; what is longer is an address or the like, and is not to be remembered
MOST = 30.0  # what one sentence counts at most
CREDIT = 15.0  # how much more it takes after text in a known language: more than one sentence
_SHORT = 0.4  # what a letter counts that is a word of its own in scripts without spaces; kana and Han count twice

_LATIN = tuple(str.split("cs da de en es fi fr hu id it nb nl pl pt ro sv sw tr vi"))
_ASCII = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
Evidence = tuple[tuple[str, float], ...]


@cache
def _tables() -> tuple[dict[str, Evidence], dict[str, tuple[float, str]]]:
    """Return what common words say, and for each language the evidence of a letter of its own, and these letters."""
    tables = json.loads((files(__package__) / "languages.json").read_text(encoding="utf-8"))
    common: dict[str, Evidence] = {}
    for language, listed in tables["common"].items():
        parts = listed.split()
        for word, share in zip(parts[::2], parts[1::2], strict=True):
            common[word] = (*common.get(word, ()), (language, log(int(share) / 1000 / FLOOR)))
    pairs = ((language, listed.split()) for language, listed in tables["letters"].items())
    return common, {language: (log(int(share) / 1000 / RARE), letters) for language, (share, letters) in pairs}


@lru_cache(100_000)
def evidence(word: str) -> Evidence:
    """Return what a word says for each language that it says anything for; "" is every language in Latin letters."""
    letters = [letter for letter in word if letter.isalpha()]
    if not letters:
        return ()
    common, own_letters = _tables()
    found = dict(common.get(word, ()))
    if letters[0] < "\u0250" or "\u1e00" <= letters[0] <= "\u1eff":
        found[""] = SCRIPT if len(letters) > 1 else 0.0
        marked = set(letters) - _ASCII
        if marked and word[0].islower():
            for language, (more, alphabet) in own_letters.items():
                if language in _LATIN and marked <= set(alphabet):
                    found[language] = found.get(language, 0.0) + more
        return tuple(found.items())
    is_spaced = letters[0] < "\u0e00" or "\uac00" <= letters[0] <= "\ud7a3"
    of_script = _SHORT if not is_spaced else SCRIPT if len(letters) > 1 else 0.0
    for first, last, languages in _RANGES:
        if first <= letters[0] <= last:
            for language in languages.split():
                found[language] = found.get(language, 0.0) + of_script
                more, alphabet = own_letters.get(language, (0.0, ""))
                if set(alphabet) & set(letters):
                    found[language] += more
    return tuple(found.items())


class LanguageNotice:
    """Says once, as sentences pass, which language they are in, if it is none of the known ones.

    The evidence for another language counts from where it is largest, so that a stretch late in a text is noticed. Text
    that is known gives credit, and a sentence counts for so much at most: one alone among known ones is no language of
    the text.
    """

    def __init__(self, known: Iterable[str]) -> None:
        self._known = frozenset(known)
        self._credit = 0.0  # the least lead: that of a language without any evidence so far
        self._lead: dict[str, float] = {}

    def __call__(self, sentences: Iterable[Sentence]) -> str | None:
        """Take note of sentences; return the code of a language that is not known, once there is enough evidence."""
        for sentence in sentences:
            sums = _sums([sentence])
            best_known = max([sums.get(one, 0.0) for one in self._known], default=0.0)
            best_known = max(best_known, max(sums.values(), default=0.0) - MOST)
            for language in (sums.keys() | self._lead.keys()) - self._known:
                more = sums.get(language, 0.0) - best_known
                self._lead[language] = max(-CREDIT, self._lead.get(language, self._credit) + more)
            self._credit = max(-CREDIT, self._credit - best_known)
            language = max(self._lead, key=lambda one: self._lead[one], default="")
            if language and self._lead[language] > ENOUGH:
                self._lead = {}
                return language
        return None


def guess_language(sentences: Sequence[Sentence]) -> str | None:
    """Return the code of the language that the words of sentences have the most evidence for; None if there is none."""
    sums = {one: total for one, total in _sums(sentences).items() if total > 0}
    return max(sorted(sums), key=lambda one: sums[one], default=None)


def _sums(sentences: Iterable[Sentence]) -> dict[str, float]:
    """Return the evidence for each language that there is any for."""
    sums: dict[str, float] = {}
    for sentence in sentences:
        words = [word for word in sentence.words if len(word) <= _LONGEST]
        for word in dict.fromkeys(words):  # a word that is repeated, as in a table, says no more
            for language, more in evidence(word):
                sums[language] = sums.get(language, 0.0) + more
    latin = sums.pop("", 0.0)
    if latin:
        for language in _LATIN:
            sums[language] = sums.get(language, 0.0) + latin
    return sums
