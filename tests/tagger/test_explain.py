"""Explanations, against distances computed by hand."""

import json

import numpy as np
import pytest

from growth import grows_as
from handful import EntityType, Sentence, Tagger
from handful.errors import DataError
from handful.tagger.evidence import Prototypes

from .toy import SUPPORT, ToyEncoder, fitted

TEXT = "Pim Pam went to Leiden"


def place(model, words):
    """Project words with the model's own arrays."""
    return ToyEncoder().encode([words]).astype(float) @ model.model_.piece(Prototypes).projection


def test_nearest_words_prototype_and_runner_up():
    model = fitted(o_ratio=0.7, type_prototypes=2)
    person, town = model.explain(TEXT, n_nearest=2)
    assert [person.mention, town.mention] == model.predict(TEXT)
    assert person.mention["word"] == "Pim Pam"

    support = ["Paul", "went", "to", "London", "with", "me", "the", "Peter", "of", "Lima", "sleeps", "all", "day"]
    apart = np.linalg.norm(place(model, ["Pim", "Pam"])[:, None] - place(model, support)[None], axis=2).min(axis=0)
    order = np.argsort(apart)[:2]
    assert [near.word for near in person.nearest] == [support[i] for i in order]
    assert [near.distance for near in person.nearest] == pytest.approx(apart[order].tolist(), rel=1e-4)
    assert {near.tag for near in person.nearest} == {"PER"}
    near = town.nearest[0]
    assert near.tag == "LOC"
    assert near.sentence.split()[near.position] == near.word

    clusters = model.model_.piece(Prototypes)
    prototypes = clusters.prototypes @ clusters.projection
    squares = ((place(model, ["Leiden"])[:, None] - prototypes[None]) ** 2).sum(axis=2)[0]
    own = [squares[j] for j, tag in enumerate(clusters.tags) if model.model_.tags[tag] == "LOC"]
    assert town.prototype.tag == "LOC"
    assert town.prototype.number == 1 + int(np.argmin(own))
    assert town.prototype.distance == pytest.approx(np.sqrt(min(own)), rel=1e-4)

    scores = np.mean([model.model_.scores(ToyEncoder().encode([[word]]))[0] for word in ("Pim", "Pam")], axis=0)
    assert person.mention["score"] == pytest.approx(scores.max())
    assert person.runner_up == model.model_.tags[np.argsort(scores)[-2]]
    assert person.runner_up_score == pytest.approx(np.sort(scores)[-2])
    assert json.loads(json.dumps(person.to_dict())) == person.to_dict()


def test_the_evidence_of_words_is_what_the_model_adds_up():
    model = fitted(method="handful", o_ratio=0.7)
    (person, town) = model.explain(TEXT)
    assert [one.word for one in person.words] == ["Pim", "Pam"]
    tags = model.model_.tags
    pair = tags.index("PER"), tags.index(person.runner_up)
    for one in person.words:
        (logits,) = model.model_.logits(ToyEncoder().encode([[one.word]]))
        assert sum(one.evidence.values()) == pytest.approx(logits[pair[0]] - logits[pair[1]], rel=1e-5)
        (scores,) = model.model_.scores(ToyEncoder().encode([[one.word]]))
        assert one.score == pytest.approx(scores[pair[0]])
    for kind, mean in person.evidence.items():
        assert mean == pytest.approx(np.mean([one.evidence[kind] for one in person.words]))
    assert town.words[0].evidence == pytest.approx(town.evidence)


def test_the_time_of_explanations_is_linear_in_the_mentions_of_a_sentence():
    types = [EntityType("PER", words=["Pim", "Pam"]), "LOC"]
    model = Tagger(types, encoder=ToyEncoder(), cache=False).fit(SUPPORT)
    assert len(model.explain(f"{TEXT} " * 20)) == 40
    assert grows_as(model.explain, lambda n: f"{TEXT} " * n, 10) < 1.5


def test_an_explanation_is_printed_as_a_table():
    person, town = fitted(method="handful", o_ratio=0.7).explain(TEXT, n_nearest=1)
    first, head, *rows = str(person).splitlines()
    score = f"{person.mention['score']:.3f}"
    assert first == f"Pim Pam is PER, {score}; second comes {person.runner_up}, {person.runner_up_score:.3f}"
    assert head.split() == ["labels", "nearest", "label", "clusters", "sum", "score"]
    assert [row.split()[0] for row in rows] == ["Pim", "Pam", "mean", "like", "near"]
    mean = rows[2].split()[1:]
    assert mean == [f"{points:+.1f}" for points in (*person.evidence.values(), sum(person.evidence.values()))] + [score]
    assert {len(row) for row in rows[:3]} == {len(head)}
    assert rows[4].endswith(f"in: {person.nearest[0].sentence}")
    assert [row.split()[0] for row in str(town).splitlines()[2:]] == ["Leiden", "like", "near"]
    assert (
        repr(person)
        == f"<Explanation: Pim Pam is PER, {score}: labels {mean[0]}, nearest label {mean[1]}, clusters {mean[2]}>"
    )


def test_min_score_and_words_go_in_too():
    model = fitted(o_ratio=0.7, temperature=20.0)
    scores = [mention["score"] for mention in model.predict(TEXT)]
    assert [found.mention["score"] for found in model.explain(TEXT, min_score=max(scores))] == [max(scores)]
    assert [found.mention for found in model.explain(TEXT.split())] == model.predict([TEXT.split()])[0]


def test_several_texts_are_not_taken_for_words():
    model = fitted()
    with pytest.raises(DataError, match=r"members are words, but str 'Pim went home' has white space.*at a time"):
        model.explain(["Pim went home", "see Lima"])
    assert model.explain(Sentence(("Pim Pam", "sat")))[0].mention["word"] == "Pim Pam"


@pytest.mark.parametrize("n_nearest", ["a", -1, None, 1.5, True])
def test_a_number_of_words_is_asked_for(n_nearest):
    with pytest.raises(DataError, match=r"n_nearest is .*, expected a whole number"):
        fitted().explain(TEXT, n_nearest=n_nearest)


def test_a_word_of_the_support_is_nearest_to_itself():
    (found,) = fitted(o_ratio=0.7).explain("see Lima", n_nearest=1)
    assert found.nearest[0].word == "Lima"
    assert found.nearest[0].distance == pytest.approx(0, abs=1e-3)
