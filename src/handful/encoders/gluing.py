"""Which words have no space before them, for encoders whose sub-words know of spaces.

An encoder is given words, not the text between them. SentencePiece writes the space before a word into its first
sub-word ("▁word"), so it matters where there is none: before Chinese words and commas, behind an opening bracket.
The rule looks at a word and the one before alone, so that the same words always give the same vectors, also where
no text is known.
"""

import re
from collections.abc import Sequence

# Chinese and Japanese, with their marks and wide forms; whatever follows them has no space either: 于1926年
_CJK = (
    "\u2e80-\u2fdf\u3000-\u312f\u31a0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef"
    "\U00020000-\U0003ffff"
)
# Thai, Lao, Burmese and Khmer
_NO_SPACES = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u19e0-\u19ff\ua9e0-\ua9ff\uaa60-\uaa7f"

_ENDS_OPEN = re.compile(rf"[(\[{{«“„‘‚‹¿¡#@$€£]+|.*(?:[{_CJK}]|\w['’])", re.DOTALL)
_STARTS_GLUED = re.compile(
    rf"[{_CJK}{_NO_SPACES}]|[.,;:!?…%)\]}}»”’›،؛؟।۔]+$|['’][^\W\d_]|n['’]t$",
    re.IGNORECASE,
)


def glued(words: Sequence[str]) -> list[bool]:
    """Tell for each word whether it is written without a space before it.

    >>> glued(["In", "2019", ",", "l'", "or", "(", "Au", ")", "于", "1926", "年", "毕业"])
    [False, False, True, False, True, False, True, True, True, True, True, True]
    """
    found: list[bool] = []
    is_open = False
    for word in words:
        found.append(is_open or _STARTS_GLUED.match(word) is not None)
        is_open = _ENDS_OPEN.fullmatch(word) is not None
    return found
