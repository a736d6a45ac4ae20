"""Words that have no space before them."""

import pytest

from handful.encoders.gluing import glued

# Texts as they are written, with a bar between words that no space separates.
WRITTEN = [
    "Il a vu l'|or (|Au|)|, hier|.",
    "She|'s not in Paris|; is|n't she|?",
    "¿|Dónde está|? Costó $|5|.",
    "|于|1926|年|毕业|于|东南|大学|。",
    "|นาย|ประสิทธิ์|แก้ว|กลาง",
    "في ألمانيا|، كان",
    "Сказал «|да|»|, ушёл|…",
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
