"""The summary of a fit as a table: printed, and in a notebook."""

from handful import Tagger
from handful.errors import Advice
from handful.tagger import FitSummary
from handful.text import EntityType

from .toy import ToyEncoder, fitted


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
        "the names of types; 3 labelled sentences, 1,236 mentions; 5,000 unlabelled words",
        "ratio estimated 0.9, 0.9 of all words are O; 4 rounds, objective 1.5000",
        "type    mentions  unlabelled words  such as",
        "LOC            2                12  Lima; <i>",
        "PERSON     1,234                 3",
        "note: two sentences < three",
        "try: label more & more",
    ]


def test_one_of_a_kind_is_singular_and_advice_is_for_the_shell():
    shown = summary(n_support=1, mentions={"LOC": 1, "PERSON": 0}, n_unlabelled_words=1, rounds=1).text(shell=True)
    assert "1 labelled sentence, 1 mention; 1 unlabelled word\n" in shown
    assert "; 1 round, objective" in shown
    assert shown.endswith("try: label --more")


def test_a_notebook_shows_a_table_and_all_is_escaped():
    shown = summary()._repr_html_()
    assert shown.count("<tr>") == 3
    assert "Lima; &lt;i&gt;" in shown
    assert "<i>" not in shown
    assert "<div>try: label more &amp; more</div>" in shown
    assert "<div>note: two sentences &lt; three</div>" in shown
    assert "3 labelled sentences" in shown


def test_that_of_a_fit():
    model = fitted()
    assert all(one.name in str(model.summary_) and one.name in model.summary_._repr_html_() for one in model.types_)


def test_mentions_side_by_side_are_said_to_be_learned_as_one():
    tagger = Tagger(encoder=ToyEncoder(), cache=False)
    notes = tagger.fit(["[Paul](PER) [Peter](PER) saw [Lima](LOC) today", "[Pia](PER) [Leeds](LOC)"]).summary_.notes
    assert notes[:1] == ["1 mention beside one of the same type: learned as one with it"]
    assert not any(
        "beside" in note for note in tagger.fit(["[Pia](PER) [Leeds](LOC) and [Pam](PER) came"]).summary_.notes
    )
