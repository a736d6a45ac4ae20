"""Words that have no space before them."""

import unicodedata
from pathlib import Path

import pytest

from handful.encoders.gluing import glued
from handful.text import read

CORPORA = Path(__file__).parents[2] / "corpora/mosaic_languages"

# Texts as they are written, with a bar between words that no space separates.
WRITTEN = [
    "Il a vu l'|or (|Au|)|, hier|.",
    "She|'s not in Paris|; is|n't she|?",
    "¿|Dónde está|? Costó $|5|.",
    "|于|1926|年|毕业|于|东南|大学|。",
    "|นาย|ประสิทธิ์|แก้ว|กลาง",
    "في ألمانيا|، كان",
    "Сказал «|да|»|, ушёл|…",
    "박태호|는 서울|에서 사진|을 찍었다|.",
    "박순덕 씨|(|71|)|는 이 사진|을",
    "בר|־|אילן ב|־|14:22",
    "ב|-|1998 נסע ל|-|NATO",
    "פגש את ה|NBA ו|3 אנשים בן 64",
    "و|IBM في 1998",
    "Ankara|'da 5|'te %|3,5",
    "12 km|/|h|, 5|%|, 21 °|C|, R|$ 1.200",
    "20|–|30 och – som – 5",
    'Er sagte „|Nein|“ und "|ja|" dazu|!|!',
    "|มี 2 แก้|ว KT ฝา",
]


@pytest.mark.parametrize("text", WRITTEN)
def test_a_word_is_glued_where_the_text_has_no_space(text):
    words, expected = [], []
    for part in text.split(" "):
        first, *others = part.split("|")
        if first:
            words.append(first)
            expected.append(False)
        words += others
        expected += [True] * len(others)
    assert glued(words) == expected


def test_a_word_that_is_no_text_is_not_glued():
    assert glued(["", "\x00", " "]) == [False, False, False]
    assert glued([]) == []


def test_a_dash_at_the_end_is_glued_to_nothing():
    assert glued(("in", "2019", "-")) == glued(["in", "2019", "-"]) == [False, False, False]


def test_decomposed_korean_is_glued_as_composed_is():
    words = [unicodedata.normalize("NFD", word) for word in ("서울", "에서", "사진", "을")]
    assert glued(words) == [False, True, False, True]


def languages():
    return sorted({path.name[:2] for path in CORPORA.glob("*/*.txt")})


def test_the_small_corpora_are_in_32_languages():
    assert len(languages()) == 32


@pytest.mark.parametrize("language", languages())
def test_spaces_of_texts_are_told_from_their_words(language):
    n, n_wrong = 0, 0
    for path in CORPORA.glob(f"*/{language}_*.txt"):
        for sentence in read(path):
            ends = [start + len(word) for start, word in zip(sentence.starts, sentence.words, strict=True)]
            written = [False] + [start == end for start, end in zip(sentence.starts[1:], ends, strict=False)]
            n += len(written)
            n_wrong += sum(a != b for a, b in zip(glued(sentence.words)[1:], written[1:], strict=True))
    # Spaces between Thai phrases cannot be told; the dash between Norwegian ferry ports is written in two ways.
    assert 1 - n_wrong / n >= {"th": 0.95, "nb": 0.98}.get(language, 0.99)
