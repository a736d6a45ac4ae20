"""Names and descriptions against labels. The toy encoder reads the first letter of a description, or else of a name."""

import json

import pytest

from handful import Sentence, Tagger
from handful.tagger import FitSummary
from handful.text import Span

from .toy import NamedEncoder

PEOPLE = [
    "[Paul](PLANET) met [Pia](PLANET) and us",
    "so [Pat](PLANET) ran from [Pam](PLANET)",
    "we saw [Pim](PLANET) , and [Pedro](PLANET) did not",
]


def summary(types, support, **options):
    return Tagger(types, encoder=NamedEncoder(), cache=False, **options).fit(support).summary_


def test_a_description_that_misleads_is_said_to():
    found = summary({"PLANET": "Gods and men"}, PEOPLE)
    one = found.guidelines["PLANET"]
    assert one.f1 == {"both": 0.0, "name": 1.0, "description": 0.0}
    assert one.best == "name"
    assert set(one.misses) <= {"Paul", "Pia", "Pat", "Pam", "Pim", "Pedro"}
    assert len(one.misses) == 5
    (line,) = [advice for advice in found.advice if "PLANET alone" in advice.python]
    start = "the name of PLANET alone fits the labels better than name and description (F1 of words 100, not 0; "
    assert line.python.startswith(f"{start}against it: {', '.join(one.misses)}")
    assert line.python.endswith("): drop it, or reword it (tagger.retype)")
    assert line.shell.endswith("): drop it, or reword it (handful types MODEL --set TYPES)")


def test_words_that_are_claimed_but_labelled_otherwise():
    one = summary({"PLANET": "People"}, [*PEOPLE, "a Pear and the Plum"]).guidelines["PLANET"]
    assert one.misses == []
    assert sorted(one.claims) == ["Pear", "Plum"]
    assert one.f1["both"] == pytest.approx(2 * 6 / (6 + 8))


def test_few_labels_say_nothing_but_the_figure_is_there():
    found = summary({"PLANET": "Gods and men"}, PEOPLE[:1])
    assert found.guidelines["PLANET"].f1["name"] == 1
    assert found.guidelines["PLANET"].best == ""
    assert not any("fits the labels better" in advice.python for advice in found.advice)


def test_a_type_without_a_description_has_its_name_and_one_without_labels_nothing():
    found = summary({"PLANET": "", "GOD": "Gods"}, PEOPLE).guidelines
    assert list(found) == ["PLANET"]
    assert found["PLANET"].f1 == {"name": 1.0}
    assert found["PLANET"].best == ""


def test_sentences_that_were_not_judged_for_a_type_do_not_speak_of_it():
    words = ("a", "Pear", "and", "the", "Plum", "of", "Lima")
    other = Sentence(words, spans=(Span(6, 7, "LOC"),))
    tagger = Tagger({"PLANET": "People", "LOC": "Lands"}, encoder=NamedEncoder(), cache=False)
    tagger.fit([*PEOPLE, other.judged_for(["LOC"])])
    found = tagger.summary_.guidelines
    assert found["PLANET"].claims == []
    assert found["LOC"].f1["both"] == 1
    assert sorted(tagger.fit([*PEOPLE, other.judged_for(["LOC", "PLANET"])]).summary_.guidelines["PLANET"].claims) == [
        "Pear",
        "Plum",
    ]


def test_without_names_there_is_nothing_to_check():
    assert summary({"PLANET": "Gods"}, PEOPLE, names=False).guidelines == {}


@pytest.mark.parametrize(
    ("description", "texts"),
    [("G|d", 3), ("!G", 2), ("_", 2), ("PLANET", 2), ("Gods, and all that they made from it", 3)],
)
def test_a_description_is_read_alone_if_it_can_be_a_name(description, texts):
    assert len(summary({"PLANET": description}, PEOPLE).guidelines["PLANET"].f1) == texts


def test_it_is_saved_and_damage_is_noticed():
    found = summary({"PLANET": "Gods and men"}, PEOPLE)
    content = json.loads(json.dumps(found.to_dict()))
    assert FitSummary.from_dict(content) == found
    content["guidelines"]["PLANET"]["f1"] = {"name": "high"}
    with pytest.raises(ValueError, match="guidelines is"):
        FitSummary.from_dict(content)
