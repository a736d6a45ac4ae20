"""Raw text to words and sentences, with exact code-point offsets.

A word is never changed, and every visible character belongs to one. Between words there are only white space and
invisible characters (controls, direction marks, the zero-width space). The rules, in the order in which they are tried:

- URLs and e-mail addresses are words; so are ``@name`` and ``#tag``, in letters that are written with spaces;
- ``U.N.``, ``e.g.``, a few titles (``Mr.``) and initials before a name (``George W. Bush``) keep their full
  stops;
- letters, digits and marks go together, also across ``-`` and ``'`` (``don't``, ``Jean-Luc``), across
  ``.,:/`` between digits (``3,000.50``, ``12:30``), across ``.`` in ``example.com`` and ``&`` in ``AT&T``;
  the ``'s`` at the end of a word is a word of its own, so that the name in ``Powell's`` can be marked;
- Chinese characters and Japanese kana are words one by one; Thai, Lao, Khmer and Burmese letters are, with the vowels
  and marks that belong to them;
- some parts of words that have a mark are words (`_parts`): ``l'`` in ``l'école``, ``'da`` in ``Ankara'da``;
- anything else is a word by itself, with its combining marks; an emoji sequence is one word, as are ``...``
  and ``--``.

Sentences end at ``.``, ``!``, ``?`` and similar characters if the next word does not start in lower case, and at blank
lines. A full stop after an abbreviation or an ordinal does not end one (`_full_stops`). In Thai only a blank line
ends a sentence: its full stops are those of abbreviations.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from handful.errors import DataError, shorten

from ._full_stops import goes_on
from ._parts import cut_at, inner_starts
from ._sentences import Sentence

_CJK = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u3100-\u312f\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9f\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
# Thai, Lao, Khmer, Burmese: letters that carry others, vowels written before them, vowels after that are letters; signs
# that put a letter below the one before, and signs that make a letter the end of a syllable.
_BASES = (
    "\u0e01-\u0e2e\u0e81-\u0eae\u0edc-\u0edf\u1780-\u17b3\u1000-\u102a\u103f\u1050-\u1055\uaa60-\uaa6f\uaa71-\uaa76"
)
_BEFORE = "\u0e40-\u0e44\u0ec0-\u0ec4"
_AFTER = "\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3\u0ebd"
_BELOW = "\u1039\u17d2"
_CLOSING = "\u0e4c\u103a"
_UNSPACED = f"{_BASES}{_BEFORE}{_AFTER}\u0e2f\u0e46\u0eaf\u0ec6\u17d7\uaa70"
_INSIDE = "‐‑'’.,:/٫٬&+\"”״׳-"  # what may be inside a word, between certain letters or digits
_JOINERS = "\u00ad\u200c\u200d\u2060"  # inside a word they belong to it; elsewhere they are a gap
_GAP = (
    r"\s\x00-\x1f\x7f-\x9f\u200b\u200e\u200f\u202a-\u202e\u2061-\u206f\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f"
)
_SKIN = "\U0001f3fb-\U0001f3ff"
_FLAG_TAGS = "\U000e0020-\U000e007f"
_HEBREW = "\u05d0-\u05ea"
_GERESH = "עמ|רח|מס|גב|פרופ|שד|טל|וכו|חב|אונ|אינג|סע|ס|ר|מח"  # abbreviations that end with one
_TITLES = "Mrs?|Ms|Dr|Prof|Gen|Col|Capt|Lt|Sgt|Rep|Sen|Gov|Rev|Hon|St|Mt|Jr|Sr|vs|Inc|Ltd|Corp|Co"
_NUMBERED = "No|Nos|pp?|[Vv]ol|Figs?|Art|Sec|Ch"

_TERMINATORS = ".!?…。！？｡؟۔।॥։።፧។៕။"
_GREEK = ";\u037e"
_MAY_END = frozenset(_TERMINATORS + _GREEK)
_FULL_WIDTH = "。！？｡។။"  # these end a sentence with no space after them
_CLOSERS = "\"'”’»)]}」』】）"
_MAY_FOLLOW = frozenset(_TERMINATORS + _CLOSERS)

_BLANK = re.compile(f"[{_GAP}{_JOINERS}]*")


def is_blank(text: str) -> bool:
    """Whether there is no word in a text: white space and invisible characters at most."""
    return _BLANK.fullmatch(text) is not None


@cache
def _word_pattern() -> re.Pattern[str]:
    """Compile the rules on first use: the table of letters and marks takes some milliseconds."""
    letters, marks, capitals = _letters_marks_capitals()
    one = f"[{letters}]"
    run = f"{one}[{letters}{_JOINERS}]*"
    name = f"{letters}{_CJK}{_UNSPACED}"
    capital = f"[{capitals}][{marks}]*"
    letter = rf"[^\W\d_{_UNSPACED}\u1100-\u11ff\uac00-\ud7a3][{marks}]*"
    url_body = rf"[^{_GAP}<>\"“”«»\u3000-\u303f\uff00-\uff0f]"
    return re.compile(
        # The pattern passes over a space, so that the alternatives need not all fail there first.
        " ?+("
        + "|".join(
            [
                "[A-Za-z]++(?![^ ,;)\\n])|[.,;:)](?![^ \\n])",  # most words and signs, quickly
                rf"(?:[hH][tT][tT][pP][sS]?://|[fF][tT][pP]://|[wW][wW][wW]\.){url_body}*"
                rf"[^{_GAP}<>\"“”«»\u3000-\u303f\uff00-\uff0f.,;:!?'’()\[\]{{}}…]",
                rf"[\w{marks}.+%-]{{1,64}}+@[\w{marks}-]+(?:\.[\w{marks}-]+)+",
                rf"[@#][{letters}]+",
                rf"(?=\w[.{marks}])(?:(?:{letter}\.){{2,}}(?:{letter}(?!{one}))?|(?:{letter}\.)+{letter}(?![{letters}.]))",
                rf"(?<![{_BASES}])(?:[{_BASES}]\.){{2,}}",
                rf"(?:{_TITLES})\.(?=\s)|(?:{_NUMBERED})\.(?=\s*\d)"
                rf"|(?=[{capitals}][.{marks}])(?!I\.)(?<!°)(?<!\d )(?<!\d\u00a0){capital}\.(?=\s*[{capitals}])",
                rf"(?=[{_HEBREW}])(?<!{one})[{_HEBREW}]{{0,2}}(?:{_GERESH})['’](?!{one})",
                rf"(?:(?<!\S)[+−-]?\.?(?=\d))?{run}"
                rf"(?:(?=[{_INSIDE}])(?:[‐‑-](?:(?<![{_HEBREW}].)|(?=[{_HEBREW}]))|['’](?![sS](?!{one}))"
                rf"|[.,:/٫٬](?<=\d.)(?=\d)|\.(?<=[a-z\d].)(?=[a-z](?![{marks}]))|&(?<=[A-Z].)(?=[A-Z](?![{marks}]))"
                rf"|\+(?<=\d[eE].)(?=\d)|[\"”״׳](?:(?<=[{_HEBREW}].)(?=[{_HEBREW}](?!{one}))"
                rf"|(?<=[{_HEBREW}]{{2}}.)(?=[{_HEBREW}]))){run})*(?:׳(?<=[{_HEBREW}].))?",
                rf"(?<={one})['’][sS](?!{one})",
                rf"[{_CJK}][{marks}{_JOINERS}]*",
                rf"[{_BEFORE}]?[{_BASES}](?:[{marks}{_AFTER}{_JOINERS}]|(?<=[{_BELOW}])[{_BASES}])*"
                rf"(?:[{_BASES}](?=[\u1037\u0e34\u0e38]?[{_CLOSING}])(?:[{marks}]|(?<=[{_BELOW}])[{_BASES}])+)*",
                r"\.{2,}|-{2,}",
                r"[\U0001f1e6-\U0001f1ff]{2}",
                rf"[^{_GAP}{_JOINERS}](?:[{marks}{_SKIN}{_FLAG_TAGS}]|\u200d[^{_GAP}{_JOINERS}{name}]?)*",
            ]
        )
        + ")"
    )


def _letters_marks_capitals() -> tuple[str, str, str]:
    """Return three bodies of a regular-expression set: what makes up a word (marks too), marks alone, and capitals."""
    marks = [c for c in range(0x300, 0x20000) if unicodedata.category(chr(c))[0] == "M"]
    marks += range(0xE0100, 0xE01F0)
    is_other = re.compile(f"[{_CJK}{_UNSPACED}]").match
    letters = [c for c in range(0x20000) if (chr(c).isalnum() or c == 0x5F) and not is_other(chr(c))]
    capitals = [c for c in letters if c < 0x1F00 and chr(c).isupper()]
    return _ranges(letters + marks), _ranges(marks), _ranges(capitals)


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
    return list(_words_of(text))


def _words_of(text: str) -> Iterator[tuple[int, int]]:
    """Yield the places of words, one at a time."""
    spans = (match.span(1) for match in _word_pattern().finditer(text))
    places = inner_starts(text)
    return cut_at(places, text, spans) if places else spans  # nearly all English text has none


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
    """Cut a text of any length into unlabelled sentences, none for a text without words.

    Each has its own text, and the place of that in the whole text as `Sentence.offset`.

    Examples
    --------
    >>> [sentence.text for sentence in to_sentences("Dr. Ekeus left. He went to the U.N. office.")]
    ['Dr. Ekeus left.', 'He went to the U.N. office.']
    """
    return list(cut(text))


def cut(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a text, holding one at a time."""
    _check_text(text)
    for spans in _grouped(text, _words_of(text)):
        start, end = spans[0][0], spans[-1][1]
        words = tuple([text[a:b] for a, b in spans])
        starts = tuple([a - start for a, _ in spans])
        yield Sentence.trusted(words, text=text[start:end], starts=starts, offset=start)


def _grouped(text: str, offsets: Iterator[tuple[int, int]]) -> Iterator[list[tuple[int, int]]]:
    """Yield the words of each sentence, given by their places, holding one sentence at a time."""
    sentence: list[tuple[int, int]] = []
    following = next(offsets, None)
    while following is not None:
        start, end = following
        sentence.append(following)
        following = next(offsets, None)
        is_end = False
        if text[start] in _MAY_END and _is_end(text, start, end):
            is_full_width = text[start] in _FULL_WIDTH
            is_stop = text[start:end] == "."
            while following is not None and following[0] == end and text[end] in _MAY_FOLLOW:
                sentence.append(following)
                end = following[1]
                is_stop = False
                following = next(offsets, None)
            is_end = following is None or is_full_width or (following[0] > end and not text[following[0]].islower())
            if is_end and is_stop and following is not None and goes_on(text, sentence, following):
                is_end = False
        if is_end or following is None or (following[0] - end > 1 and text.count("\n", end, following[0]) > 1):
            yield sentence
            sentence = []


def _is_end(text: str, start: int, end: int) -> bool:
    """Tell whether a word that begins with a sign that may end a sentence is one: in Greek a semicolon is."""
    if text[start] in _GREEK:
        before = unicodedata.normalize("NFC", text[max(0, start - 4) : start])[-1:]
        return "\u0370" <= unicodedata.normalize("NFD", before)[:1] <= "\u03ff"
    return not text[start:end].strip(_TERMINATORS)
