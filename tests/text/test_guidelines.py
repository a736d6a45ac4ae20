"""Guidelines in parts: what is excluded, in the wordings that people use."""

import doctest
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import grows_as
from handful.errors import DataError
from handful.text import EntityType, guidelines
from handful.text.guidelines import Guideline, guideline_of

CASES = [  # a description; its meaning; what it excludes
    ("sum (not postage)of money", "sum of money", "postage"),
    ("a sum of money, not postage", "a sum of money", "postage"),
    ("a sum of money, but not postage or tips", "a sum of money", "postage|tips"),
    ("a sum of money; no fees, tips, or postage", "a sum of money", "fees|tips|postage"),
    ("virus, not bacteria, parasites or toxins, by name", "virus, by name", "bacteria|parasites|toxins"),
    ("named storm; breezes, showers and fog do not count", "named storm", "breezes|showers|fog"),
    ("city or town; countries are not marked", "city or town", "countries"),
    ("name of a player, handles excluded", "name of a player", "handles"),
    ("prize by name; festivals and markets are left out", "prize by name", "festivals|markets"),
    ("disease except cancers", "disease", "cancers"),
    ("disease, except for the common cold", "disease", "common cold"),
    ("drug other than a vaccine", "drug", "vaccine"),
    ("person, never a pet", "person", "pet"),
    ("person (not pets)", "person", "pets"),
    ("person, titles such as Sir or Lady left out", "person", "titles such as Sir or Lady"),
    ("deer, including fawns; not elk, with its antlers", "deer, including fawns; with its antlers", "elk"),
    ("name; not what was said before, or later", "name", "what was said before, or later"),
    ("a sum of money not including postage", "a sum of money", "postage"),
    ("a sum of money (not counting tips)", "a sum of money", "tips"),
    ("price, it does not include postage or tips", "price", "postage|tips"),
    ("company; don't mark banks", "company", "banks"),
    ("company; banks don’t count", "company", "banks"),
    ("company, but banks are excluded", "company", "banks"),
    ("company with the exception of banks", "company", "banks"),
    ("named city, hashtags excepted", "named city", "hashtags"),
    ("person, as opposed to an animal", "person", "animal"),
    ("company; ignore banks", "company", "banks"),
]

PLAIN = [
    "a person who has not won",
    "",
    "not only cats",
    "a ring with a stone",
    "person, without title",
    "machine, together with its number",
    "song, no matter who sings it",
    "circumstance in which liability is excluded",
    "person, not it",
    "weight (in kilograms)",
    "a thing that does not count",
    "a loss that insurers don't include",
]


@pytest.mark.parametrize(("description", "meaning", "excludes"), CASES)
def test_wordings(description, meaning, excludes):
    found = guideline_of(description)
    assert (found.meaning, "|".join(part.text for part in found.excludes)) == (meaning, excludes)


INNER = [  # a description; its meaning; the words that ask for mentions inside others
    ("person, also inside other mentions", "person", "also inside other mentions"),
    ("company, including names inside names, not shops", "company", "including names inside names"),
    ("person; nested ones too", "person", "nested ones too"),
    ("place (even within others)", "place", "even within others"),
    ("place, inner mentions count", "place", "inner mentions count"),
    ("person, also those inside a longer name", "person", "also those inside a longer name"),
    ("person inside a house, with a door within another", "person inside a house, with a door within another", ""),
    ("also inside other mentions", "also inside other mentions", ""),
    ("person, not inside other mentions", "person", ""),
]


@pytest.mark.parametrize(("description", "meaning", "inner"), INNER)
def test_mentions_inside_others_are_asked_for(description, meaning, inner):
    found = guideline_of(description)
    assert (found.meaning, found.inner) == (meaning, inner)
    assert any("asks for mentions inside others" in line for line in guidelines.understood(description)) == bool(inner)


@pytest.mark.parametrize("description", PLAIN)
def test_descriptions_that_exclude_nothing_stay_as_they_are(description):
    assert guideline_of(description) == Guideline(description)


WORDS = (
    "a not no fee tips , ; ( ) . or and nor without with including also except never excluded do count is left out "
    "such as only - don't ignore exception of the it but mark counting"
)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=14).map(" ".join) | st.text(max_size=40))
def test_nothing_is_made_up(description):
    found = guideline_of(description)
    given_words = set(re.findall(r"\w+", description))
    for part in found.excludes:
        assert re.search(r"\w", part.text)
        assert set(re.findall(r"\w+", part.text)) <= set(re.findall(r"\w+", part.said)) <= given_words
    assert set(re.findall(r"\w+", found.meaning)) <= given_words
    # nothing is lost, either
    said = " ".join([found.meaning, *(part.said for part in found.excludes)])
    assert given_words <= set(re.findall(r"\w+", said))


def test_examples_of_the_docs():
    assert doctest.testmod(guidelines).attempted > 0
    assert doctest.testmod(guidelines).failed == 0


@pytest.mark.parametrize("piece", ["but not only ", "yet not a, ", "a and not a, ", "a but not a, ", "but not only a "])
@pytest.mark.parametrize("start", ["", "x, ", "x; "])
def test_a_description_is_read_in_linear_time(start, piece):
    assert grows_as(guideline_of.__wrapped__, lambda n: start + piece * n, 20) < 1.5


def test_a_description_that_is_no_description_is_refused():
    assert EntityType("FEE", "a" * 10_000).description == "a" * 10_000
    with pytest.raises(DataError, match="the description of FEE has 10,001 characters, but at most 10,000 are read"):
        EntityType("FEE", "a" * 10_001)
