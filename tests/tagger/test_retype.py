"""The types of a fitted tagger change, and its labels follow."""

import pytest

from handful import Tagger
from handful.errors import DataError
from handful.text import Allowed, EntityType

from .toy import UNLABELLED, NamedEncoder, ToyEncoder

TYPES = {"PER": "People", "LOC": "Locations"}
SUPPORT = ["[Paul](PER) went to [London](LOC)", "[Pia](PER) of [Lima](LOC) sleeps", "[Pim](PER) left"]


def fitted(support=SUPPORT, types=TYPES, encoder=None, **options):
    return Tagger(types, encoder=encoder or NamedEncoder(), cache=False, **options).fit(support, UNLABELLED)


def labels(tagger):
    return [sorted((span.start, span.type) for span in one.spans) for one in tagger.support_]


def judged(tagger):
    return [set(one.judged) for one in tagger.support_]


def found(tagger, text="We saw Pim at Lodz and Gus ."):
    return [(one["word"], one["entity_group"]) for one in tagger.predict(text)]


def test_a_type_is_added_and_open_everywhere():
    tagger = fitted()
    assert tagger.retype({**TYPES, "GOD": "Gods"}) is tagger
    assert [str(one) for one in tagger.types_] == ["GOD", "LOC", "PER"]
    assert judged(tagger) == [{"PER", "LOC"}] * 3
    assert labels(tagger) == labels(fitted())
    assert found(tagger) == [("Pim", "PER"), ("Lodz", "LOC"), ("Gus", "GOD")]
    assert "GOD is open in 3 labelled sentences: label some, or look at them again" in tagger.summary_.notes
    assert not any("is open in" in note for note in tagger.add(["[Pablo](PER) left"]).summary_.notes)


def test_the_text_is_kept():
    tagger = fitted()
    n_words = tagger.summary_.n_unlabelled_words
    assert n_words
    assert tagger.retype(rename={"PER": "PERSON"}).summary_.n_unlabelled_words == n_words


def test_a_type_is_renamed_with_its_description_labels_and_judgements():
    tagger = fitted().retype(rename={"PER": "PERSON"})
    assert tagger.types_ == [EntityType("LOC", "Locations"), EntityType("PERSON", "People")]
    assert labels(tagger)[0] == [(0, "PERSON"), (3, "LOC")]
    assert judged(tagger) == [{"PERSON", "LOC"}] * 3
    assert tagger.summary_.notes == fitted().summary_.notes


def test_the_names_of_two_types_can_be_exchanged():
    tagger = fitted().retype(rename={"PER": "LOC", "LOC": "PER"})
    assert labels(tagger)[0] == [(0, "LOC"), (3, "PER")]
    assert {one.name: one.description for one in tagger.types_} == {"LOC": "People", "PER": "Locations"}


def test_a_description_is_replaced_and_one_that_is_not_given_stays():
    tagger = fitted().retype({"PER": "Persons", "LOC": ""})
    assert {one.name: one.description for one in tagger.types_} == {"PER": "Persons", "LOC": "Locations"}
    assert tagger.types == tuple(tagger.types_[i] for i in (1, 0))


def test_a_type_is_dropped_and_does_not_come_back():
    tagger = fitted().retype({"PER": "People"})
    assert [str(one) for one in tagger.types_] == ["PER"]
    assert labels(tagger)[0] == [(0, "PER")]
    assert judged(tagger) == [{"PER"}] * 3
    assert [str(one) for one in tagger.add(["[Pablo](PER) left"]).types_] == ["PER"]
    tagger.retype({**TYPES})
    assert judged(tagger)[0] == {"PER"}  # nobody knows any more that somebody looked for it


@pytest.mark.parametrize("new", ["NAME", "PER", "LOC"])
def test_a_merged_type_is_judged_where_all_its_parts_were(new):
    sentences = [
        one.judged_for(types)
        for one, types in zip(fitted().support_, ({"PER", "LOC"}, {"PER", "LOC"}, {"PER"}), strict=True)
    ]
    tagger = fitted(sentences).retype(rename={old: new for old in TYPES if old != new})
    assert labels(tagger) == [[(0, new), (3, new)], [(0, new), (2, new)], [(0, new)]]
    assert judged(tagger) == [{new}, {new}, set()]
    assert f"{new} is open in 1 labelled sentence: label some, or look at them again" in tagger.summary_.notes


def test_mentions_of_a_split_type_are_either_part():
    tagger = fitted().retype(split={"LOC": ["LAKE", "GOD"]})
    first = tagger.support_[0]
    assert first.allowed == (None, None, None, Allowed.parse("GOD|LAKE"))
    assert [span.type for span in first.spans] == ["PER"]
    assert judged(tagger) == [{"PER", "LAKE", "GOD"}] * 3
    assert "LAKE is open in 2 labelled sentences: label some, or look at them again" in tagger.summary_.notes


def test_a_type_can_be_a_part_of_itself():
    tagger = fitted().retype({"PER": "People", "LOC": "", "LAKE": "Lakes"}, split={"LOC": ["LOC", "LAKE"]})
    assert tagger.support_[0].allowed[3] == Allowed.parse("LAKE|LOC")


def test_partial_labels_follow():
    partial = fitted().support_[2].with_labels((), (Allowed.parse("PER|LOC"), Allowed.parse("!PER")))
    support = [*fitted().support_[:2], partial.judged_for({"PER", "LOC"})]
    renamed = fitted(support).retype(rename={"PER": "PERSON"}).support_[2]
    assert list(map(str, renamed.allowed)) == ["LOC|PERSON", "!PERSON"]
    parts = fitted(support).retype(split={"PER": ["MAN", "WOMAN"]}).support_[2]
    assert list(map(str, parts.allowed)) == ["LOC|MAN|WOMAN", "!MAN|WOMAN"]
    merged = fitted(support).retype(rename={"PER": "NAME", "LOC": "NAME"}).support_[2]
    assert [(span.start, span.type) for span in merged.spans] == [(0, "NAME")]
    assert str(merged.allowed[1]) == "_"  # it may be what LOC was
    dropped = fitted(support).retype({"LOC": ""}).support_[2]
    assert list(map(str, dropped.allowed)) == ["LOC|O", "_"]


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"rename": {"PERR": "PERSON"}}, r"there is no type PERR to rename or split \(.*\); did you mean PER\?"),
        ({"split": {"PER": "MAN, WOMAN"}}, "PER is split into 'MAN, WOMAN', expected a list of two types or more"),
        ({"split": {"PER": ["MAN"]}}, "expected a list of two types or more"),
        ({"rename": {"PER": "A"}, "split": {"PER": ["B", "C"]}}, "PER is both renamed and split"),
        ({"types": "PER, LOC", "rename": {"PER": "A"}}, "A is the new name of a type, but not among the types"),
        ({"types": "A, PER, LOC", "rename": {"PER": "A"}}, "PER becomes A, but is still among the types: leave it out"),
    ],
)
def test_a_change_that_cannot_be_is_refused_and_nothing_changes(how, message):
    tagger = fitted()
    before = labels(tagger), tagger.types_, tagger.types
    with pytest.raises(DataError, match=message):
        tagger.retype(**how)
    assert (labels(tagger), tagger.types_, tagger.types) == before


def test_parts_that_no_label_tells_apart_need_names():
    tagger = fitted(encoder=ToyEncoder(), types=None)
    with pytest.raises(DataError, match="no mention is labelled as GOD alone"):
        tagger.retype(split={"LOC": ["LAKE", "GOD"]})
    assert [str(one) for one in tagger.types_] == ["LOC", "PER"]


def test_a_tagger_from_disk_is_fitted_again_without_its_text_after_a_note(tmp_path):
    tagger = fitted()
    n_words = tagger.summary_.n_unlabelled_words
    tagger.save(tmp_path / "model")
    load = lambda: Tagger.load(tmp_path / "model", encoder=NamedEncoder(), cache=False)  # noqa: E731
    for again in (load().retype(rename={"PER": "PERSON"}), load().add(["[Pablo](PER) left"])):
        (note,) = [note for note in again.summary_.notes if "are missing" in note]
        assert note.startswith(f"{n_words} unlabelled words of the fit before are missing")
    with_text = load().retype(rename={"PER": "PERSON"}, unlabelled=UNLABELLED)
    assert with_text.summary_.n_unlabelled_words == n_words
    assert found(with_text) == found(tagger.retype(rename={"PER": "PERSON"}))


def test_a_type_that_labels_misspell_is_refused():
    with pytest.raises(DataError, match=r"mark the type 'PERSN', which nobody named; did you mean 'PERSON'\?"):
        fitted(["[Paul](PERSN) left", "[Pia](PERSON) left"], types="PERSON, LOC")
    with pytest.raises(DataError, match=r"'PER' and 'per', which differ in case alone; say read\(.*\)$"):
        fitted(["[Paul](PER) left", "[Pia](per) left"], types=None)
    tagger = fitted(["[Paul](PERSN) left", "[Pia](PERSON) left"], types="PERSON, PERSN")
    assert [str(one) for one in tagger.types_] == ["PERSN", "PERSON"]
    fitted(["[Paul](LOCATION) left", "[Pia](GROUP_A) left"], types="LOC, GROUP_B")


def test_a_type_that_is_spelt_anew_is_to_be_renamed():
    tagger = fitted(["[Paul](PERSN) left", "[Pia](LOC) left"], types={"PERSN": "People", "LOC": "Locations"})
    with pytest.raises(DataError, match=r"'PERSON' is new, and 'PERSN' is left out; .*rename=\{'PERSN': 'PERSON'\}"):
        tagger.retype({"PERSON": "People", "LOC": "Locations"})
    with pytest.raises(DataError, match="differ in case alone"):
        tagger.retype("Loc, LOC")


def test_values_that_are_missing_are_empty_texts():
    pandas = pytest.importorskip("pandas")
    tagger = fitted()
    column = pandas.Series(["Pim left", None, float("nan"), pandas.NA])
    assert [len(one) for one in tagger.predict(column)][1:] == [0, 0, 0]
    assert tagger.predict([None, ""]) == [[], []]


def test_an_evaluation_has_its_strict_scores():
    result = fitted().evaluate(SUPPORT)
    assert (result.precision, result.recall, result.f1) == (
        result.strict.micro.precision,
        result.strict.micro.recall,
        result.strict.micro.f1,
    )


def test_types_are_added_without_a_sentence():
    tagger = fitted(["[Paul](PER) left"], types="PER").add(types={"LOC": "Locations", "PER": "People"})
    assert [(one.name, one.description) for one in tagger.types_] == [("LOC", "Locations"), ("PER", "People")]
    assert found(tagger) == [("Pim", "PER"), ("Lodz", "LOC")]
    (sentence,) = tagger.support_
    assert "LOC" not in sentence.judged
    with pytest.raises(DataError, match="which nobody named"):
        tagger.add(["[Gus](GODESS) left"], types="GODDESS")
    with pytest.raises(DataError, match="'loc' and 'LOC' differ in case alone"):
        tagger.add(types="loc")
    assert [one.name for one in tagger.types] == [one.name for one in tagger.types_] == ["LOC", "PER"]


def test_types_of_nearly_the_same_name_in_labels_are_noted_once():
    tagger = fitted(["[Paul](PERSN) met [Pia](PERSON)"], types=None)
    note = "PERSON and PERSN are two types: if they are meant to be one, give them one name"
    for again in (tagger, tagger.add(["[Pim](PERSON) left"])):
        assert [one for one in again.summary_.notes if "two types" in one] == [note]
