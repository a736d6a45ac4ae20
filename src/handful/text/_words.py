"""Raw text to words and sentences, with exact code-point offsets.

A word is never changed, and every visible character belongs to one. Between words there are only white space and
invisible characters (controls, direction marks, the zero-width space). The rules, in the order in which they are tried:

- URLs and e-mail addresses are words; so are ``@name`` and ``#tag``;
- ``U.N.``, ``e.g.``, a few titles (``Mr.``) and initials before a name (``George W. Bush``) keep their full
  stops;
- letters, digits and marks go together, also across ``-`` and ``'`` (``don't``, ``Jean-Luc``), across
  ``.,:/`` between digits (``3,000.50``, ``12:30``), across ``.`` in ``example.com`` and ``&`` in ``AT&T``;
  the ``'s`` at the end of a word is a word of its own, so that the name in ``Powell's`` can be marked;
- Chinese characters and Japanese kana are words one by one;
- anything else is a word by itself, with its combining marks; an emoji sequence is one word, as are ``...``
  and ``--``.

Sentences end at ``.``, ``!``, ``?`` and similar characters if the next word does not start in lower case, and at blank
lines. The titles and capital letters that this looks at are those of European languages.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from handful.errors import DataError, shorten

from ._sentences import Sentence

_CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_JOINERS = "\u00ad\u200c\u200d\u2060"  # inside a word they belong to it; elsewhere they are a gap
_GAP = (
    r"\s\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2061-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f"
)
_SKIN = "\U0001f3fb-\U0001f3ff"
_FLAG_TAGS = "\U000e0020-\U000e007f"
_CAPITAL = "[A-ZÀ-ÖØ-ÞΑ-ΩЀ-Я]"
_TITLES = "Mrs?|Ms|Dr|Prof|Gen|Col|Capt|Lt|Sgt|Rep|Sen|Gov|Rev|Hon|St|Mt|Jr|Sr|vs|Inc|Ltd|Corp|Co"
_NUMBERED = "No|Nos|pp?|[Vv]ol|Figs?|Art|Sec|Ch"

_TERMINATORS = ".!?…。！？｡؟۔।॥"
_FULL_WIDTH = "。！？｡"  # these end a sentence with no space after them
_CLOSERS = "\"'”’»)]}」』】）"

_BLANK = re.compile(f"[{_GAP}{_JOINERS}]*")


def is_blank(text: str) -> bool:
    """Whether there is no word in a text: white space and invisible characters at most."""
    return _BLANK.fullmatch(text) is not None


@cache
def _word_pattern() -> re.Pattern[str]:
    """Compile the rules on first use: the table of letters and marks takes some milliseconds."""
    letters, marks = _letters_and_marks()
    one = f"[{letters}]"
    run = f"{one}[{letters}{_JOINERS}]*"
    url_body = rf"[^{_GAP}<>\"“”«»\u3000-\u303f\uff00-\uff0f]"
    return re.compile(
        # The pattern passes over a space, so that the alternatives need not all fail there first.
        " ?+("
        + "|".join(
            [
                "[A-Za-z]++(?=[ ,;)\\n])",  # most words, quickly
                rf"(?:[hH][tT][tT][pP][sS]?://|[fF][tT][pP]://|[wW][wW][wW]\.){url_body}*"
                rf"[^{_GAP}<>\"“”«»\u3000-\u303f\uff00-\uff0f.,;:!?'’()\[\]{{}}…]",
                r"[\w.+%-]{1,64}+@[\w-]+(?:\.[\w-]+)+",
                rf"[@#][{letters}{_CJK}]+",
                rf"(?:[^\W\d_]\.){{2,}}(?:[^\W\d_](?!{one}))?|(?:[^\W\d_]\.)+[^\W\d_](?![{letters}.])",
                rf"(?:{_TITLES})\.(?=\s)|(?:{_NUMBERED})\.(?=\s*\d)|(?!I\.){_CAPITAL}\.(?=\s*{_CAPITAL})",
                rf"(?:(?<!\S)[+−-]?\.?(?=\d))?{run}"
                rf"(?:(?:[‐‑-]|['’](?![sS](?!{one}))|(?<=\d)[.,:/](?=\d)|(?<=[a-z\d])\.(?=[a-z])"
                rf"|(?<=[A-Z])&(?=[A-Z])|(?<=\d[eE])\+(?=\d)){run})*",
                rf"(?<={one})['’][sS](?!{one})",
                rf"[{_CJK}][{marks}{_JOINERS}]*",
                r"\.{2,}|-{2,}",
                r"[\U0001f1e6-\U0001f1ff]{2}",
                rf"[^{_GAP}{_JOINERS}](?:[{marks}{_SKIN}{_FLAG_TAGS}]|\u200d[^{_GAP}{_JOINERS}{letters}{_CJK}]?)*",
            ]
        )
        + ")"
    )


def _letters_and_marks() -> tuple[str, str]:
    """Return two bodies of a regular-expression set: what makes up a word (marks too), and marks alone."""
    marks = [c for c in range(0x300, 0x20000) if unicodedata.category(chr(c))[0] == "M"]
    marks += range(0xE0100, 0xE01F0)
    is_cjk = re.compile(f"[{_CJK}]").match
    letters = [c for c in range(0x20000) if (chr(c).isalnum() or c == 0x5F) and not is_cjk(chr(c))]
    return _ranges(letters + marks), _ranges(marks)


def _ranges(codes: list[int]) -> str:
    out: list[list[int]] = []
    for code in sorted(codes):
        if out and out[-1][1] == code - 1:
            out[-1][1] = code
        else:
            out.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in out)


def word_offsets(text: str) -> list[tuple[int, int]]:
    """Return the start and end of each word of a text, in code points, in order."""
    _check_text(text)
    return [match.span(1) for match in _word_pattern().finditer(text)]


def _check_text(text: object) -> None:
    """Refuse what is not a text, or not all characters."""
    if not isinstance(text, str):
        raise DataError(f"a text is a string, not {shorten(repr(text))}")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise DataError(
                f"the text has half of a surrogate pair at position {error.start}, which is not a character; "
                "decode the text again from its source"
            ) from None


def to_sentence(text: str) -> Sentence:
    """Make one unlabelled sentence of a text of any length."""
    offsets = word_offsets(text)
    if not offsets:
        raise DataError(f"there is no word in the text {shorten(repr(text))}")
    words = tuple([text[start:end] for start, end in offsets])
    return Sentence.trusted(words, text=text, starts=tuple([start for start, _ in offsets]))


def to_sentences(text: str) -> list[Sentence]:
    """Cut a text into unlabelled sentences.

    Parameters
    ----------
    text : str
        Any text, of any length.

    Returns
    -------
    list of Sentence
        Each with its own text, and the place of that in `text` as `Sentence.offset`. Empty for a text without
        words.

    Examples
    --------
    >>> [sentence.text for sentence in to_sentences("Dr. Ekeus left. He went to the U.N. office.")]
    ['Dr. Ekeus left.', 'He went to the U.N. office.']
    """
    _check_text(text)
    sentences = []
    for spans in _grouped(text, (match.span(1) for match in _word_pattern().finditer(text))):
        start, end = spans[0][0], spans[-1][1]
        words = tuple([text[a:b] for a, b in spans])
        starts = tuple([a - start for a, _ in spans])
        sentences.append(Sentence.trusted(words, text=text[start:end], starts=starts, offset=start))
    return sentences


def _grouped(text: str, offsets: Iterator[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield the words of each sentence, given by their places, holding one sentence at a time."""
    sentence: list[tuple[int, int]] = []
    following = next(offsets, None)
    while following is not None:
        start, end = following
        sentence.append(following)
        following = next(offsets, None)
        is_end = False
        if text[start] in _TERMINATORS and not text[start:end].strip(_TERMINATORS):
            is_full_width = text[start] in _FULL_WIDTH
            while following is not None and following[0] == end and text[end] in _TERMINATORS + _CLOSERS:
                sentence.append(following)
                end = following[1]
                following = next(offsets, None)
            is_end = following is None or is_full_width or (following[0] > end and not text[following[0]].islower())
        if is_end or following is None or (following[0] - end > 1 and text.count("\n", end, following[0]) > 1):
            yield sentence
            sentence = []
