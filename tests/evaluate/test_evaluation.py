"""Evaluation: scores are those of the scoring room, and each mistake is named for what it is."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful import Sentence, Span
from handful.errors import DataError
from handful.evaluate import score
from handful.evaluate._evaluation import mistakes
from tagger.toy import SUPPORT, fitted

GOLD = [
    "[Pim](PER) ran",
    "[Pim](LOC) ran",  # wrong type
    "he ran to [Lima](LOC)",
    "he ran to Lima",  # spurious
    "[he](PER) ran off",  # missed
    "saw [Pim and](PER) more",  # wrong boundary
    "saw [all of Lima Leeds](PER)",  # wrong type, other boundary
    "[who](GOD) knows",  # missed, of a type not known
]


def test_kinds_of_mistakes_and_scores():
    model = fitted(o_ratio=0.7, temperature=5.0)
    found = model.evaluate(GOLD)
    kinds = {mistake.number: mistake.kind for mistake in found.mistakes}
    assert kinds == {1: "wrong type", 3: "spurious", 4: "missed", 5: "wrong boundary", 6: "wrong type", 7: "missed"}
    assert found.unknown_types == ["GOD"]
    gold = [mistake.sentence for mistake in found.mistakes if mistake.number == 6]
    assert gold[0].spans == (Span(1, 5, "PER"),)
    assert (found.n_sentences, found.n_words) == (8, 26)
    confidences = [mistake.confidence for mistake in found.mistakes]
    assert confidences == sorted(confidences, reverse=True)
    assert len(set(confidences)) > 3
    spurious = next(mistake for mistake in found.mistakes if mistake.kind == "spurious")
    assert spurious.context == "he ran to «Lima»"
    assert spurious.confidence == model.predict("he ran to Lima")[0]["score"]
    assert found.strict.micro.n_correct == 2
    assert found.strict.confusion == {
        ("PER", "PER"): 1, ("LOC", "PER"): 1, ("LOC", "LOC"): 1, ("O", "LOC"): 2, ("PER", "O"): 3, ("O", "PER"): 1,
        ("GOD", "O"): 1,
    }  # fmt: skip


def test_scores_are_those_of_the_scoring_room():
    model = fitted(o_ratio=0.7)
    found = model.evaluate(GOLD)
    gold = [mistake.sentence for mistake in sorted(found.mistakes, key=lambda mistake: mistake.number)]
    again = model.evaluate(gold)
    predicted = model.predict_sentences(gold)
    assert again.strict == score(gold, predicted)


def test_sentences_of_the_fit_are_counted_and_said():
    model = fitted(o_ratio=0.7)
    found = model.evaluate([*SUPPORT, "Paul went to London with [me](PER)", *GOLD])
    assert (found.n_fitted, found.n_trained) == (3, None)
    note = "3 of 11 sentences were labelled in the fit: scores on other text will be lower"
    assert found.notes == [note]
    assert str(found).endswith(f"\nnote: {note}")
    assert model.evaluate(GOLD).notes == []


def test_a_few_sentences_of_the_training_are_not_worth_a_note():
    found = fitted(o_ratio=0.7).evaluate(GOLD * 5)
    assert [len(replace(found, n_trained=n).notes) for n in (None, 0, 1, 2)] == [0, 0, 0, 1]
    assert replace(found, n_trained=2).to_dict()["n_trained"] == 2


def test_as_json():
    found = fitted(o_ratio=0.7).evaluate(GOLD).to_dict(n_mistakes=2)
    assert json.loads(json.dumps(found)) == found
    assert len(found["mistakes"]) == 2
    assert found["n_mistakes"] == {"missed": 2, "spurious": 1, "wrong type": 2, "wrong boundary": 1}
    assert found["scores"]["strict"]["micro"]["n_correct"] == 2
    assert found["scores"]["strict"]["micro"]["f1"] == pytest.approx(2 * 2 / (7 + 6))
    assert set(found["scores"]["strict"]["by_type"]) == {"GOD", "LOC", "PER"}


def test_sentences_that_are_not_wholly_labelled_are_refused():
    model = fitted(o_ratio=0.7)
    for sentence in (Sentence(("Pim", "ran")), "[Pim](PER|LOC) ran"):
        with pytest.raises(DataError, match=r"sentence 1 .*not wholly labelled"):
            model.evaluate(["[Pim](PER) ran", sentence])


def test_nothing_to_evaluate_gives_noughts():
    found = fitted(o_ratio=0.7).evaluate([])
    assert found.strict.micro.f1 == 0
    assert found.mistakes == []


def test_progress_counts_words():
    seen = []
    fitted(o_ratio=0.7).evaluate(
        ["he ran to [Lima](LOC)"] * 5000, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (20_000, 20_000)
    assert len(seen) > 1


@st.composite
def spans(draw):
    cuts = sorted(draw(st.sets(st.integers(0, 8), max_size=8)))
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    return tuple(Span(start, end, draw(st.sampled_from("AB"))) for start, end in pairs)


@given(spans(), spans())
def test_every_mention_that_is_wrong_is_in_one_mistake(gold, guessed):
    sentence = Sentence(tuple("abcdefgh"), gold)
    found = mistakes(sentence, guessed, [1.0] * 8, 0)
    golds = [mistake.gold for mistake in found if mistake.gold is not None]
    guesses = [mistake.predicted for mistake in found if mistake.predicted is not None]
    assert sorted(golds, key=repr) == sorted(set(gold) - set(guessed), key=repr)
    assert sorted(guesses, key=repr) == sorted(set(guessed) - set(gold), key=repr)
    for mistake in found:
        if mistake.gold and mistake.predicted:
            assert mistake.gold.start < mistake.predicted.end
            assert mistake.predicted.start < mistake.gold.end
            assert (mistake.gold.type == mistake.predicted.type) == (mistake.kind == "wrong boundary")
        else:
            assert mistake.kind == ("missed" if mistake.gold else "spurious")
