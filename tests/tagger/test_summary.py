"""The summary of a fit as a table: printed, and in a notebook."""

from handful.errors import Advice
from handful.tagger import FitSummary
from handful.text import EntityType

from .toy import fitted


def summary(**changes):
    values = {
        "method": "handful",
        "types": [EntityType("LOC", "places & <sites>"), EntityType("PERSON")],
        "mentions": {"LOC": 2, "PERSON": 1_234},
        "n_support": 3,
        "n_support_words": 30,
        "n_unlabelled_words": 5_000,
        "has_names": True,
        "o_ratio": 0.9,
        "is_estimated": True,
        "o_share": 0.9,
        "rounds": 4,
        "objective": 1.5,
        "unlabelled_words": {"LOC": 12, "PERSON": 3},
        "examples": {"LOC": ["Lima", "<i>"], "PERSON": []},
        "advice": [Advice("label more & more", "label --more")],
        "notes": ["two sentences < three"],
    }
    return FitSummary(**values | changes)


def test_it_is_printed_as_a_table():
    assert str(summary()).splitlines() == [
        "the names of types; 3 labelled sentences, 1236 mentions; 5,000 unlabelled words",
        "ratio estimated 0.9, 0.9 of all words are O; 4 rounds, objective 1.5000",
        "type    mentions  unlabelled words  such as    what it means",
        "LOC            2                12  Lima; <i>  places & <sites>",
        "PERSON     1,234                 3",
        "note: two sentences < three",
        "try: label more & more",
    ]


def test_columns_that_say_nothing_are_left_out():
    bare = summary(types=[EntityType("LOC"), EntityType("PERSON")], examples={"LOC": [], "PERSON": []})
    assert "type    mentions  unlabelled words" in str(bare).splitlines()


def test_a_notebook_shows_a_table_and_all_is_escaped():
    shown = summary()._repr_html_()
    assert shown.count("<tr>") == 3
    assert "places &amp; &lt;sites&gt;" in shown
    assert "Lima; &lt;i&gt;" in shown
    assert "<i>" not in shown
    assert "<div>try: label more &amp; more</div>" in shown
    assert "<div>note: two sentences &lt; three</div>" in shown
    assert "3 labelled sentences" in shown


def test_that_of_a_fit():
    model = fitted()
    assert all(one.name in str(model.summary_) and one.name in model.summary_._repr_html_() for one in model.types_)
