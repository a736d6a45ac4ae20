"""Which words have no space before them, for encoders whose sub-words know of spaces.

An encoder is given words, not the text between them. SentencePiece writes the space before a word into its first
sub-word ("▁word"), so it matters where there is none: before Chinese words and commas, behind an opening bracket,
between a Korean word and its particle. The rules look at the words of a sentence alone, so that the same words always
give the same vectors, also where no text is known. They are those of how most texts are written, not of each.
"""

import re
from collections.abc import Sequence
from unicodedata import normalize

from handful.text.particles import is_particle

# Chinese and Japanese, with their marks and wide forms; whatever follows them has no space either: 于1926年
_CJK = (
    "\u2e80-\u2fdf\u3000-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
    "\U00020000-\U0003ffff"
)
# Thai, Lao, Burmese and Khmer
_NO_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f"

_ENDS_OPEN = re.compile(rf"[(\[{{«“„‘‚‹¿¡#@$€£\u05be]+|.*(?:[{_CJK}]|\w['’])", re.DOTALL)
_STARTS_GLUED = re.compile(rf"[{_CJK}]|[.,;:!?…)\]}}»”’›،؛؟।۔\u05be]+$|['’][^\W\d_]|n['’]t$", re.IGNORECASE)
# The end of a word, a line break, the start of the next
_PAIR = re.compile(
    rf"(?:^|[^0-9A-Za-z])\n[{_NO_SPACES}]"  # the words of a phrase; there is a space behind a number or a Latin word
    r"|\d\n%|\w\n/|/\n\w|°\n[CF]$|[^\W\d]\n°|[A-Z]\n\$"  # 5%, km/h, °C, n°, US$
    r"|^[בהוכלמש]{1,3}\n-|^[בהוכלמש]\n[0-9A-Za-z]"  # ב-1998, הNBA
    r"|^[وفبلك]\n[0-9A-Za-z]"  # وIBM
    r"|[가-힣]\n\("  # 남편(
)
_HANGUL = re.compile("[\uac00-\ud7a3\u1100-\u11ff]")
_DASHES = frozenset("-–—~")


def glued(words: Sequence[str]) -> list[bool]:
    """Tell for each word whether it is written without a space before it.

    >>> glued(["In", "2019", ",", "l'", "or", "(", "Au", ")", "于", "1926", "年", "毕业"])
    [False, False, True, False, True, False, True, True, True, True, True, True]
    """
    found: list[bool] = []
    before = ""
    is_open = False  # whether the next word is glued, whatever it is
    quotes: set[str] = set()  # that are open
    for i, word in enumerate(words):
        is_glued = (
            is_open
            or _STARTS_GLUED.match(word) is not None
            or _PAIR.search(f"{before}\n{word}") is not None
            or (word == before and word.strip() != "" and not word[0].isalnum())
            or (_HANGUL.match(word) is not None and is_particle(*(normalize("NFC", one) for one in (word, before))))
        )
        is_open = _ENDS_OPEN.fullmatch(word) is not None
        if word in _DASHES:
            after = words[i + 1] if i + 1 < len(words) else ""
            is_glued |= before[-1:].isdigit() and after[:1].isdigit()  # 20–30
            is_open = is_glued
        elif word == "%":
            is_open = not is_glued  # %5
        elif word == "$":
            is_open = not is_glued  # $5, but US$ 5
        elif word == '"' or (word == "“" and "„" in quotes):
            opened = '"' if word == '"' else "„"
            is_glued |= opened in quotes
            is_open = opened not in quotes
            quotes ^= {opened}
        elif word == "„":
            quotes.add(word)
        found.append(is_glued)
        before = word
    return found
