"""Rules of borders: the wordings that are understood, and those that say nothing of borders."""

import doctest

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import grows_as
from handful.errors import DataError
from handful.text import borders, read_types, types_of
from handful.text.borders import FIGURES, borders_of
from handful.text.guidelines import guideline_of

CASES = [  # a description; whether words belong; some that are meant first, and last; what says it
    ("person, without title", False, "mr dr", "", "without title"),
    ("person, with his or her title where given", True, "mr dr", "", "with his or her title"),
    ("officer with the rank before the name", True, "captain", "", "with the rank"),
    ("name; titles left out", False, "mr", "", "titles left out"),
    ("name, title included", True, "mr", "", "title included"),
    ("person, with Mr, Mrs or Mme but without job words", True, "mr mrs mme", "", "with Mr, Mrs or Mme"),
    ("sum of money with its currency if given", True, "$", "$ euros", "with its currency"),
    ("number with unit", True, "", "km %", "with unit"),
    ("figures, leaving out the unit", False, "", "km", "leaving out the unit"),
    ("thing, without article or possessive", False, "the my", "", "without article or possessive"),
    ("thing, the left out", False, "the", "", "the left out"),
    ("relative, with article or possessive word", True, "a her", "", "with article or possessive word"),
    ("time, with the preposition before it", True, "in at", "", "with the preposition"),
    ("loot, without its number, weight or packing", False, f"{FIGURES} two", "two", "without its number"),
    ("goods without quantity", False, f"{FIGURES} kg of", "", "without quantity"),
    ('time, without "up to"; dates do not count', False, "up to", "up to", 'without "up to"'),
    ("term, including words like most, all or few before it", True, "most few", "", "including words like most, all"),
    (
        "judge, including Prof., Dame or Capt. before it",
        True,
        "prof capt",
        "",
        "including Prof., Dame or Capt. before it",
    ),
    ("play, quotation marks left out", False, '" “', '" ”', "quotation marks left out"),
]

PLAIN = [
    "",
    "tweet with hashtags",
    "a person with a king or queen",
    "payment without delay",
    "sum with or without currency",
    "hair, with A or B sample",
    "the unit of a troop, with unit cost",
    "metal, including iron and zinc",
    "a mayor who left out a page",
]


@pytest.mark.parametrize(("description", "belongs", "first", "last", "said"), CASES)
def test_understood(description, belongs, first, last, said):
    (rule,) = borders_of(description)
    assert rule.belongs is belongs
    assert rule.said.startswith(said)
    assert set(first.split()) <= rule.first
    assert set(last.split()) <= rule.last
    assert bool(last) == bool(rule.last)


@pytest.mark.parametrize("description", PLAIN)
def test_says_nothing_of_borders(description):
    assert borders_of(description) == ()


def test_two_rules():
    found = borders_of("sum, with the currency if given and without about; with units or not; with title or not")
    assert [(one.belongs, one.said) for one in found] == [(True, "with the currency"), (False, "without about")]


PIECES = [
    "with",
    "without",
    "the",
    "title",
    "or",
    ",",
    ";",
    "unit",
    '"up to"',
    "left out",
    "before it",
    "a",
    "cat",
    "included",
    ".",
]


@given(st.lists(st.sampled_from(PIECES), max_size=40).map(" ".join))
def test_what_it_says_is_in_the_description(description):
    for rule in borders_of(description):
        assert rule.said in description
        assert all(word == word.lower() and word.split() == [word] for word in rule.first | rule.last)


FEE = "a sum of money; not postage, tips; such as a fee, a fare; with its currency; without article"


def test_parts_in_fields(tmp_path):
    file = tmp_path / "types.txt"
    lines = "not: postage, tips", "such as: a fee, a fare", "borders: with its currency", "borders: without article"
    file.write_text("\n  ".join(("FEE: a sum of money", *lines)) + "\nPERSON: somebody\n", encoding="utf-8")
    found = read_types(file)
    assert [one.description for one in found] == [FEE, "somebody"]
    assert [part.text for part in guideline_of(found[0].description).excludes] == ["postage", "tips"]
    assert [rule.belongs for rule in borders_of(found[0].description)] == [True, False]


def test_parts_of_a_dict():
    said = {"name": "FEE", "description": "a sum of money", "borders": "with its currency; without article"}
    assert types_of([said | {"not": ["postage", "tips"], "such as": ["a fee", "a fare"]}])[0].description == FEE
    assert types_of([{"name": "FEE", "not": "tips."}])[0].description == "not tips"
    assert types_of([{"name": "FEE", "description": "money", "not": None}])[0].description == "money"


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ({"borders": "with care"}, "the borders of FEE are 'with care', which is no rule .* 'without title'"),
        ({"not": 3}, "not of FEE is 3, expected a string or a list of strings"),
        ({"note": "x"}, "a type is a dict with name and perhaps description, not, such as, borders, words and weight"),
    ],
)
def test_parts_that_are_refused(said, message):
    with pytest.raises(DataError, match=message):
        types_of([{"name": "FEE"} | said])


def test_examples_of_the_docs():
    assert doctest.testmod(borders).failed == 0


@pytest.mark.parametrize("piece", ["his or her title, ", "'a', ", "'a' or 'b' or "])
def test_a_list_is_read_in_one_way(piece):
    """With two ways for each item, sixteen items took thousands of times as long as one."""
    assert grows_as(borders_of.__wrapped__, lambda n: "x, " + piece * n + "x", 1) < 1.5


def test_words_in_single_quotes_may_have_an_apostrophe():
    (rule,) = borders_of("hour, without 'o'clock' or 'don't'")
    assert rule.first == {"o'clock", "don't"}
