"""Why a word was not found, against paths of tags that are all tried."""

import itertools
import json

import numpy as np
import pytest

from handful import Tagger
from handful.errors import DataError
from handful.tagger.decoding import path_total

from .toy import UNLABELLED, NamedEncoder, ToyEncoder, fitted

TEXT = "then Qim of Leiden saw us"


def model(**options):
    return fitted(method="handful", o_ratio=0.7, **options)


def totals(tagger, words):
    """Return the total of every path of tags."""
    inner = tagger.model_
    logits = inner.logits(ToyEncoder().encode([words]))
    paths = itertools.product(range(len(inner.tags)), repeat=len(words))
    return {p: path_total(logits, np.array(p), inner.transitions, inner.without_prior) for p in paths}


@pytest.mark.parametrize(("word", "start", "stop"), [("Qim", 1, 2), ("Leiden", 3, 4), ("of Leiden", 2, 4)])
def test_points_are_those_between_the_best_tags_and_the_best_with_the_mention(word, start, stop):
    tagger = model()
    (found,) = tagger.explain_word(TEXT, word)
    every = totals(tagger, TEXT.split())
    for tag, name in enumerate(tagger.model_.tags[1:], 1):
        with_mention = [
            total
            for path, total in every.items()
            if set(path[start:stop]) == {tag} and tag not in (path[start - 1], path[stop])
        ]
        assert found.points[name] == pytest.approx(max(every.values()) - max(with_mention), abs=1e-6)
        assert sum(found.evidence[name].values()) == pytest.approx(-found.points[name], abs=1e-4)
    assert list(found.points.values()) == sorted(found.points.values())
    assert TEXT[found.mention["start"] : found.mention["end"]] == found.mention["word"] == word
    assert json.loads(json.dumps(found.to_dict())) == found.to_dict()


def test_a_word_that_was_not_found():
    (found,) = model().explain_word(TEXT, "QIM")
    name = found.mention["entity_group"]
    assert found.tags == ["O"]
    lines = str(found).splitlines()
    assert lines[0] == f"Qim is O; to be {name} it lacks {found.points[name]:.1f} points"
    assert lines[1].split() == ["labels", "nearest", "label", "clusters", "neighbours", "sum"]
    assert lines[2].split()[0] == name
    assert any(line.startswith(f"  try: label one mention like it as {name}") for line in lines)
    assert {near.tag for near in found.nearest} == {"O", name}


def test_a_word_of_another_type_than_the_one_asked_for():
    (found,) = model().explain_word(TEXT, "Leiden", "PER")
    assert (found.tags, found.mention["entity_group"]) == (["LOC"], "PER")
    assert list(found.points) == ["PER", "LOC"]
    assert found.points["LOC"] == 0
    assert str(found).startswith("Leiden is LOC; to be PER it lacks ")


def test_a_mention_that_is_found_needs_no_remedy_but_a_lower_score():
    tagger = model()
    (found,) = tagger.explain_word(TEXT, "Leiden")
    assert [found.mention] == tagger.predict(TEXT)
    assert (found.points["LOC"], found.remedies) == (0, [])
    assert str(found).startswith("Leiden is found as LOC, ")
    (strict,) = tagger.explain_word(TEXT, "Leiden", min_score=1.0)
    assert strict.remedies == [
        f"ask for a lower score: {found.mention['score']:.2f} is below the least that you asked for"
    ]


def test_a_label_that_says_otherwise_is_shown():
    tagger = model().add(["the Qim of nobody"], UNLABELLED)
    (found,) = tagger.explain_word(TEXT, "Qim", "PER")
    assert found.remedies[0] == "correct this label, if it is a mistake: Qim is O in: the Qim of nobody"


def test_the_label_that_is_advised_brings_what_it_is_said_to():
    tagger = model()
    (before,) = tagger.explain_word(TEXT, "Qim", "PER")
    (brings,) = [float(line.split()[-2]) for line in before.remedies if "as the nearest label it brings" in line]
    tagger.add(["then [Qim](PER) of [Leiden](LOC) saw us"], UNLABELLED)
    (after,) = tagger.explain_word(TEXT, "Qim", "PER")
    assert after.points["PER"] < before.points["PER"] - brings
    assert "one is not enough" in after.remedies[0]
    assert after.remedies[1].startswith("label mentions among such words: Qim by itself would be PER")


def test_a_type_without_labels_and_a_name_that_speaks_against_the_word():
    tagger = Tagger({"GOD": "", "PER": ""}, encoder=NamedEncoder(), cache=False).fit()
    (found,) = tagger.explain_word("then Qim ran", "Qim", "GOD")
    assert "GOD has no label yet" in found.remedies[0]
    assert found.remedies[1].startswith("reword what GOD means, so that Qim belongs to it")
    assert found.nearest == []


def test_every_place_counts_and_a_word_that_is_not_there_has_none():
    places = [found.mention["start"] for found in model().explain_word("Qim saw a qim. Then Qim ran.", "Qim")]
    assert places == [0, 10, 20]
    assert model().explain_word(TEXT, "oven") == []


def test_an_unknown_type_is_refused():
    with pytest.raises(DataError, match="type is 'PERS', but the types are LOC, PER"):
        model().explain_word(TEXT, "Qim", "PERS")


def test_the_paper_has_no_neighbours():
    (found,) = fitted(o_ratio=0.7).explain_word(TEXT, "Qim", "PER")
    assert found.evidence["PER"]["neighbours"] == pytest.approx(0, abs=1e-6)


def test_a_word_within_a_longer_mention():
    (found,) = model().explain_word("then Pim Paul left", "Paul", "PER")
    lacking = f"{found.points['PER']:.1f}"
    assert (
        str(found).splitlines()[0]
        == f"Paul is part of a longer mention of PER; to be one by itself it lacks {lacking} points"
    )


def test_a_mention_beside_one_of_its_type_is_found():
    tagger = Tagger("FOOD: something to eat").fit()
    text = "We mixed flour brown sugar butter with a spoon"
    first, *_ = (one["word"] for one in tagger.predict(text))
    (found,) = tagger.explain_word(text, first)
    assert first == "flour"
    assert (found.points["FOOD"], found.remedies) == (0, [])
