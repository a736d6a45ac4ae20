"""Borders: mentions obey what descriptions say of titles, articles, units and the like."""

import numpy as np
import pytest

from handful import Tagger
from handful.tagger.borders import Borders, without_loose_ends
from handful.text import Sentence, Span, types_of

from .toy import NamedEncoder


def obeyed(description, words, *mentions, other=()):
    """Return the mentions that come of these, which are pairs of words, and of those of another type."""
    types = types_of({"A": description, "B": "another type"})
    tags = np.zeros(len(words.split()), np.intp)
    for tag, places in ((1, mentions), (2, other)):
        for start, stop in places:
            tags[start:stop] = tag
    scores = np.full((len(tags), 3), 0.1)
    scores[np.arange(len(tags)), tags] = 0.8
    found = Borders.of(types, ()).obey(tags, scores, [Sentence(words.split())])
    assert (scores[np.arange(len(tags)), found][found > 0] > 0.7).all()
    return [
        " ".join(word if tag else "_" for word, tag in zip(words.split(), (found == t).tolist(), strict=True))
        for t in (1, 2)
    ]


CASES = [  # a description; words; where a mention is; and then
    ("person without title", "Mr John Smith came", (0, 3), "_ John Smith _"),
    ("person without title", "Dr . John came", (0, 3), "_ _ John _"),
    ("person without title", "the Mayor spoke", (1, 2), "_ Mayor _"),
    ("person without title", "Governor of Penang", (0, 3), "Governor of Penang"),
    ("person with title", "then Mr. John came", (2, 3), "_ Mr. John _"),
    ("person with title", "then Prof . Dr . John came", (5, 6), "_ Prof . Dr . John _"),
    ("sum with its currency", "paid $ 5 or 6 euros", (2, 3), "_ $ 5 _ _ _"),
    ("sum with its currency", "paid 6 euros and", (1, 2), "_ 6 euros _"),
    ("value with unit", "sodium 94 mg / L was", (1, 2), "_ 94 mg / L _"),
    ("value without unit", "sodium 94 mg / L was", (1, 5), "_ 94 _ _ _ _"),
    ("animal without article", "saw the cat", (1, 3), "_ _ cat"),
    ("animal without article", "saw the", (1, 2), "_ the"),
    ("time with the preposition", "came in the evening", (2, 4), "_ in the evening"),
    ("time with the preposition", "came in the evening", (3, 4), "_ in the evening"),
    ("loot without quantity", "took 400 cartons of gin", (1, 5), "_ _ _ _ gin"),
    ("loot without number", "took two cups", (1, 3), "_ _ cups"),
    ('time without "up to"', "for up to 3 days", (1, 5), "_ _ _ 3 days"),
]


@pytest.mark.parametrize(("description", "words", "mention", "then"), CASES)
def test_obeyed(description, words, mention, then):
    assert obeyed(description, words, mention)[0] == then


def test_other_mentions_keep_their_words():
    assert obeyed("person with title", "King Mr John", (2, 3), other=[(0, 1)]) == ["_ Mr John", "King _ _"]
    assert obeyed("value with unit", "5 mg mg", (0, 1), (2, 3))[0] == "5 mg mg"


def test_stays_within_its_sentence():
    types = types_of({"A": "person with title"})
    tags, scores = np.array([0, 1]), np.full((2, 2), 0.5)
    sentences = [Sentence(["Mr"]), Sentence(["John"])]
    assert Borders.of(types, ()).obey(tags, scores, sentences).tolist() == [0, 1]


def test_no_rules():
    assert Borders.of(types_of({"A": "person, not a pet"}), ()) is None


def test_labels_overrule():
    types = types_of({"A": "person without title; with its article"})
    words = ("Mr", "John", "came")
    breaks = Sentence(words, spans=(Span(0, 2, "A"),))
    keeps = Sentence(words, spans=(Span(1, 2, "A"),))
    assert Borders.of(types, [breaks]).overruled == {("A", "without title")}
    assert not Borders.of(types, [breaks, keeps]).overruled
    assert not Borders.of(types, [keeps]).overruled


TEXT = "then Mr Pim met Pam ."


def fitted(description, *labelled):
    return Tagger({"PER": description}, encoder=NamedEncoder(), cache=False).fit(list(labelled))


def words_of(tagger):
    return [one["word"] for one in tagger.predict(TEXT)]


def test_tagger_with_and_without(tmp_path):
    assert words_of(fitted("People"))[-1:] == ["Pam"]
    tagger = fitted("People, with title")
    assert words_of(tagger)[0] == "Mr Pim"
    tagger.save(tmp_path / "model")
    assert words_of(Tagger.load(tmp_path / "model", encoder=NamedEncoder()))[0] == "Mr Pim"
    (line,) = tagger.explain(TEXT)[0].known
    assert line == 'Mr belongs to it: "with title"'


def test_labels_that_break_a_rule_are_told_of(tmp_path):
    broken = Sentence(("Mr", "Pim", "met", "Pam"), spans=(Span(1, 2, "PER"), Span(3, 4, "PER")))
    tagger = fitted("People, with title", broken)
    assert "Mr Pim" not in words_of(tagger)
    assert any("with title" in note for note in tagger.summary_.notes)
    tagger.save(tmp_path / "model")
    again = Tagger.load(tmp_path / "model", encoder=NamedEncoder())
    assert again.model_.borders == tagger.model_.borders
    assert words_of(again) == words_of(tagger)


def test_evaluation_obeys():
    gold = [Sentence(("then", "Mr", "Pim", "met", "Pam"), spans=(Span(1, 3, "PER"), Span(4, 5, "PER")))]
    report = fitted("People, with title").evaluate(gold)
    assert report.f1 == 1
    assert {one.score.f1 for one in report.curve} >= {1.0}


def test_nothing_found():
    assert obeyed("person with title", "then Mr John came") == ["_ _ _ _", "_ _ _ _"]


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        ("broken spring in the bogie", "broken spring _ _ _"),
        ("ten years of service", "ten years _ _"),
        ("Bank of", "Bank _"),
        ("of the", "of _"),  # a word stays
        ("the hammer", "the hammer"),
        ("9 in", "9 in"),
        ("hepatitis a", "hepatitis a"),
        ("Lord of the Rings", "Lord of the Rings"),
    ],
)
def test_no_mention_ends_in_a_word_that_begins_what_follows(words, kept):
    words = words.split()
    inside = {"broken spring in the bogie": 4, "ten years of service": 3}.get(" ".join(words), len(words))
    tags = np.array([1] * inside + [0] * (len(words) - inside))
    found = without_loose_ends(tags, [Sentence(words)])
    assert " ".join(word if tag else "_" for word, tag in zip(words, found.tolist(), strict=True)) == kept


def test_predictions_have_no_loose_ends():
    types = {"PART": "a part of a vehicle", "FAULT": "what went wrong", "DURATION": "how long something took"}
    text = "railway: The broken spring in the bogie was found after ten years of service; wheelslip on the bank."
    tagger = Tagger(types).fit()
    for find in ("usual", "more", 10):
        found = [one["word"] for one in tagger.predict(text, find=find)]
        assert {"broken spring", "ten years", "wheelslip"} <= set(found)
    curve = tagger.evaluate([text.replace("broken spring", "[broken spring](FAULT)")]).curve
    assert [one.score.n_correct for one in curve[2:]] == [1, 1, 1]
