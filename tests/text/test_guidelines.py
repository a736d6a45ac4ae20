"""Guidelines in parts: what belongs, what does not, and borders, in the wordings that people use."""

import doctest
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.text import guidelines
from handful.text.guidelines import guideline_of

CASES = [  # a description; its meaning; what it includes and excludes; * is before what is about borders
    ("a sum of money, not postage", "a sum of money", "", "postage"),
    ("a sum of money, but not postage or tips", "a sum of money", "", "postage|tips"),
    ("a sum of money; no fees, tips, or postage", "a sum of money", "", "fees|tips|postage"),
    (
        "virus that causes disease, not bacteria, parasites or toxins, by name",
        "virus that causes disease, by name",
        "",
        "bacteria|parasites|toxins",
    ),
    ("named storm; breezes, showers and fog do not count", "named storm", "", "breezes|showers|fog"),
    ("city or town; countries are not marked", "city or town", "", "countries"),
    ("name of a player, handles excluded", "name of a player", "", "handles"),
    ("prize by name; festivals and markets are left out", "prize by name", "", "festivals|markets"),
    ("disease except cancers", "disease", "", "cancers"),
    ("disease, except for the common cold", "disease", "", "common cold"),
    ("drug other than a vaccine", "drug", "", "vaccine"),
    ("person, never a pet", "person", "", "pet"),
    ("person (not pets)", "person", "", "pets"),
    ("person, without title", "person", "", "*title"),
    ("person, without Mr, Mrs or Dr", "person", "", "*Mr|*Mrs|*Dr"),
    ("person without title, office or rank", "person", "", "*title|*office|*rank"),
    ("person, titles such as Sir or Lady left out", "person", "", "titles such as Sir or Lady"),
    ("person, with title if given", "person, with title if given", "*title", ""),
    ("machine, together with its number", "machine, together with its number", "*number", ""),
    ("deer, including fawns and hinds", "deer, including fawns and hinds", "fawns|hinds", ""),
    ("deer; fawns included", "deer; fawns included", "fawns", ""),
    ("weapon, also its scabbard", "weapon, also its scabbard", "scabbard", ""),
    (
        "cook or waiter; also the owner; not guests, without title",
        "cook or waiter; also the owner",
        "owner",
        "guests|*title",
    ),
]

PLAIN = [
    "a person who has not won",
    "",
    "not only cats",
    "a ring with a stone",
    "song, no matter who sings it",
    "name, with or without title",
    "circumstance in which liability is excluded",
    "entry without knowing the price",
    "weight (in kilograms)",
]


def shown(parts):
    return "|".join("*" * part.is_border + part.text for part in parts)


@pytest.mark.parametrize(("description", "meaning", "includes", "excludes"), CASES)
def test_wordings(description, meaning, includes, excludes):
    found = guideline_of(description)
    assert (found.meaning, shown(found.includes), shown(found.excludes)) == (meaning, includes, excludes)


@pytest.mark.parametrize("description", PLAIN)
def test_descriptions_without_parts_stay_as_they_are(description):
    found = guideline_of(description)
    assert (found.meaning, found.includes, found.excludes) == (description, (), ())


WORDS = (
    "a not no fee tips , ; ( ) . or and nor without with including also except never excluded do count is left out "
    "such as only -"
)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join) | st.text(max_size=40))
def test_nothing_is_made_up(description):
    found = guideline_of(description)
    given_words = set(re.findall(r"\w+", description))
    for part in (*found.includes, *found.excludes):
        assert re.search(r"\w", part.text)
        assert set(re.findall(r"\w+", part.text)) <= set(re.findall(r"\w+", part.said)) <= given_words
    assert set(re.findall(r"\w+", found.meaning)) <= given_words
    # nothing is lost, either
    said = " ".join([found.meaning, *(part.said for part in (*found.includes, *found.excludes))])
    assert given_words <= set(re.findall(r"\w+", said))


def test_examples_of_the_docs():
    assert doctest.testmod(guidelines).attempted > 0
    assert doctest.testmod(guidelines).failed == 0
