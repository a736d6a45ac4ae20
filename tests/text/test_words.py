"""Raw text to words and sentences."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.errors import DataError
from handful.text import to_sentence, to_sentences
from handful.text._words import word_offsets

from .strategies import characters, modest, strange_texts


def words(text):
    return [text[start:end] for start, end in word_offsets(text)]


@pytest.mark.parametrize(
    "word",
    [
        *(
            "U.N.",
            "U.S.A.",
            "e.g.",
            "don't",
            "don’t",
            "O'Brien",
            "rock'n'roll",
            "Jean-Luc",
            "COVID-19",
            "#tag",
            "@name",
        ),
        *(
            "http://example.org/a?b=1&c=2",
            "https://x.org/(a",
            "www.example.com",
            "first.last@mail.example.org",
        ),
        *(
            "3,000.50",
            "12:30",
            "1/2",
            "2020-01-31",
            "-3.5",
            ".5",
            "1e-5",
            "6.02e+23",
            "AT&T",
            "example.com",
            "snake_case",
        ),
        *(
            "4th",
            "10km",
            "e\u0301te\u0301",
            "नमस्ते",
            "שָׁלוֹם",
            "می\u200cخواهم",
            "한국어",
            "👍🏽",
            "👩\u200d⚕️",
            "🇫🇷",
            "1️⃣",
            "...",
            "--",
        ),
    ],
)
def test_stays_in_one_piece(word):
    assert words(word) == [word]
    assert words(f"so {word} it is") == ["so", word, "it", "is"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("#北京马拉松 #Berlin2024", ["#", "北", "京", "马", "拉", "松", "#Berlin2024"]),
        ("Powell's and Powell’s", ["Powell", "'s", "and", "Powell", "’s"]),
        ("東京へ行く。", ["東", "京", "へ", "行", "く", "。"]),
        ("Tokyo東京", ["Tokyo", "東", "京"]),
        ("(see http://x.org/a.)", ["(", "see", "http://x.org/a", ".", ")"]),
        ("and/or, 100% $5!", ["and", "/", "or", ",", "100", "%", "$", "5", "!"]),
        ("“Hi,” he said.", ["“", "Hi", ",", "”", "he", "said", "."]),
        ("Mr. W. Bush", ["Mr.", "W.", "Bush"]),
        ("He is ill. end.Start", ["He", "is", "ill", ".", "end", ".", "Start"]),
        ("🇫🇷🇩🇪", ["🇫🇷", "🇩🇪"]),
        ("a\u200bb\u200f c", ["a", "b", "c"]),
        (" \t\u200b\u200d ", []),
        ("", []),
    ],
)
def test_is_split(text, expected):
    assert words(text) == expected


@given(st.one_of(strange_texts, st.text(characters)))
@modest
def test_words_and_gaps_give_back_the_text(text):
    position, pieces = 0, []
    for start, end in word_offsets(text):
        assert position <= start < end
        pieces += [text[position:start], text[start:end]]
        position = end
    gaps = [*pieces[::2], text[position:]]
    assert "".join(pieces) + text[position:] == text
    # Only what does not show is outside words.
    for character in "".join(gaps):
        assert character.isspace() or unicodedata.category(character) in ("Cc", "Cf", "Cn")


@given(strange_texts)
@modest
def test_sentences_stand_where_they_say(text):
    found = to_sentences(text)
    offsets = [(s.offset + start, s.offset + end) for s in found for start, end in s.offsets]
    assert offsets == word_offsets(text)
    for sentence in found:
        assert text[sentence.offset : sentence.offset + len(sentence.text)] == sentence.text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "He left. She stayed! Why? (No one knows.) End",
            ["He left.", "She stayed!", "Why?", "(No one knows.)", "End"],
        ),
        ("Dr. Ekeus of the U.N. office left.", ["Dr. Ekeus of the U.N. office left."]),
        ("It cost 3.5 m. and more.", ["It cost 3.5 m. and more."]),
        ("今日は。東京！はい", ["今日は。", "東京！", "はい"]),
        ('"Go." She went.', ['"Go."', "She went."]),
        ("A title\n\nwrapped\nline", ["A title", "wrapped\nline"]),
        ("See No. 5 there.", ["See No. 5 there."]),
        ("  \n ", []),
    ],
)
def test_sentences_end_where_they_should(text, expected):
    assert [sentence.text for sentence in to_sentences(text)] == expected


def test_texts_that_are_none_are_refused():
    with pytest.raises(DataError, match="no word") as caught:
        to_sentence(" \u200b ")
    assert str(caught.value.at("file:3")).startswith("file:3: there is no word in the text")
    with pytest.raises(DataError, match="string"):
        word_offsets(b"bytes")
    with pytest.raises(DataError, match="surrogate pair at position 2"):
        word_offsets("ab\ud800")
