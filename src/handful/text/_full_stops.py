"""Full stops after which a sentence goes on, in all languages at once: ``am 3. März``, ``art. 5``, ``ул. Ленина``.

There is one list for all languages (``abbreviations.json``), and no option: a word is in it only if it hardly ever ends
a sentence in another language. So ``re.``, which is right in German notes, is not: it is a king in Italian. Nor is
``sig.``, a title in Italian and "himself" in Danish. Before a number more words are safe, since few sentences start
with one. In doubt a sentence goes on: two sentences in one cost little, but a mention that is cut in two is lost.

Words are compared as they are written. English titles are words together with their stop, and are not here.
"""

import json
import re
import unicodedata
from pathlib import Path

_LISTS = json.loads(Path(__file__).with_name("abbreviations.json").read_text(encoding="utf-8"))
# After these a sentence goes on, whatever follows; after these before a number; and after these if there is no number
# before them: «г. Москва», but «в 2009 г. Он», and "after 5 hr. The".
_ALWAYS = frozenset(" ".join(_LISTS["always"].values()).split())
_BEFORE_NUMBER = frozenset(_LISTS["before a number"].split())
_AFTER_NO_NUMBER = frozenset(_LISTS["with no number before"].split())
_AFTER_ORDINAL = frozenset(_LISTS["after an ordinal"].split())
_PAIRS = frozenset({"d h", "u a", "z B", "z T", "p ej", "т е", "т к", "т н"})
_ROMAN = re.compile("[IVX]+")
# In German a number after one of these is an ordinal, unless a sentence seems to start after it.
_BEFORE_ORDINAL = frozenset(str.split("vom zum beim im dem des der das den bis seit ab ins zur"))
_STARTS = re.compile("D(?:er|ie|as|ann|ort|och|a|en|em)|E[rs]|Sie|Wir|Ich|Ein(?:e[rmns]?)?|I[nm]|A[mn]|Bei|Nach|Auch")


def goes_on(text: str, sentence: list[tuple[int, int]], following: tuple[int, int]) -> bool:
    """Tell whether a sentence goes on after the full stop that is its last word so far, before the `following` word."""
    stop = sentence[-1][0]
    if len(sentence) < 2 or sentence[-2][1] != stop:
        return False
    word, after = text[sentence[-2][0] : stop], text[slice(*following)]
    before = text[slice(*sentence[-3])] if len(sentence) > 2 else ""
    if not (word.isascii() and after.isascii()):
        if "\u0e00" <= word[-1] <= "\u0eff":
            return True  # Thai and Lao have full stops in abbreviations alone
        word, after = unicodedata.normalize("NFC", word), unicodedata.normalize("NFC", after)
    is_pair = before == "." and len(sentence) > 3 and f"{text[slice(*sentence[-4])]} {word}" in _PAIRS
    if word in _ALWAYS or is_pair or after[0] in "%‰":
        return True
    if word in _AFTER_NO_NUMBER:
        return not before[-1:].isdigit() and before != "/"  # 5 г, мкг/г
    beyond = text[following[1] : following[1] + 1]
    if after[0].isdigit():
        is_date = word.isdigit() and len(word) < 3 and beyond == "." and "\n" not in text[stop : following[0]]  # 5. 3.
        return is_date or word in _BEFORE_NUMBER or word.endswith("str")
    if word.isdigit() or _ROMAN.fullmatch(word):
        is_german = word.isdigit() and before in _BEFORE_ORDINAL and not _STARTS.fullmatch(after)
        return len(word) <= 3 and (is_german or after in _AFTER_ORDINAL)
    is_letter = len(after.rstrip(".")) == 1 and after[0].isalpha() and (after + beyond)[1:2] == "."
    return is_letter and len(word) == 1 and word.isalpha()  # z. B., o. Ä., a. C.
