"""What descriptions exclude, in a tagger: it takes words away from its type alone, also after saving."""

from dataclasses import replace

import numpy as np
import pytest

from handful import Tagger
from handful.encoders.names import ExcludedVectors
from handful.errors import DataError
from handful.tagger.evidence import TypeNames
from handful.text import types_of
from handful.text.guidelines import guideline_of

from .toy import KINDS, NamedEncoder


class PartsEncoder(NamedEncoder):
    """A toy that reads what types exclude, which is what it starts with, too."""

    def encode_types(self, types):
        types = types_of(types)
        excluded = [(n, part.text) for n, one in enumerate(types) for part in guideline_of(one.description).excludes]
        found = super().encode_types(types)
        if not excluded:
            return found
        vectors = np.zeros((len(excluded), self.dim), np.float32)
        for vector, (_, text) in zip(vectors, excluded, strict=True):
            vector[KINDS.get(text[0], 0)] = 4
        biases = (20 - 0.5 * (vectors**2).sum(axis=1)).astype(np.float32)
        return replace(found, excluded=ExcludedVectors(vectors, biases, np.array([owner for owner, _ in excluded])))


TEXT = "Pim met Gus in Lima ."


def found(types, **options):
    tagger = Tagger(types, encoder=PartsEncoder(), cache=False, **options).fit()
    return tagger, {one["word"]: one["entity_group"] for one in tagger.predict(TEXT)}


def test_what_is_excluded_does_not_belong():
    assert found({"PER": "People"})[1] == {"Pim": "PER"}
    assert found({"PER": "People, not Land"})[1] == {"Pim": "PER"}
    assert found({"PER": "People, not Peers"})[1] == {}
    assert found({"PER": "People, not Peers", "LOC": "Land"})[1] == {"Lima": "LOC"}


def test_other_types_are_as_they_were():
    model = found({"PER": "People", "LOC": "Land"})[0].model_
    other = found({"PER": "People, not Land", "LOC": "Land"})[0].model_
    words = np.stack([PartsEncoder().vector(word) for word in TEXT.split()]).astype(np.float32)
    place = [one.name for one in model.types].index("LOC")
    logits = [each.piece(TypeNames).logits(words) for each in (model, other)]
    np.testing.assert_array_equal(logits[0][:, 1 + place], logits[1][:, 1 + place])
    assert not np.array_equal(*(each[:, 2 - place] for each in logits))


def test_saved_and_loaded(tmp_path):
    tagger, mentions = found({"PER": "People, not Land or Peers", "LOC": "Land"})
    tagger.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model", encoder=PartsEncoder())
    assert {one["word"]: one["entity_group"] for one in loaded.predict(TEXT)} == mentions
    assert (
        loaded.model_.piece(TypeNames).excluded_owners.tolist()
        == tagger.model_.piece(TypeNames).excluded_owners.tolist()
    )
    names = loaded.model_.piece(TypeNames).save()
    with pytest.raises(DataError, match="excluded_owners are missing"):
        TypeNames.load({name: names[name] for name in names if name != "excluded_owners"}, 1.0, 8, 3)
    with pytest.raises(DataError, match="excluded_owners are not all from 0 to 1"):
        TypeNames.load(names | {"excluded_owners": names["excluded_owners"] + 2}, 1.0, 8, 3)


def test_a_word_that_is_excluded_says_by_what():
    tagger, mentions = found({"PER": "People, not Land; Peers and Pets do not count"})
    assert mentions == {}
    (answer,) = tagger.explain_word(TEXT, "Pim", "PER")
    assert len(answer.known) == 1
    assert answer.known[0].startswith("excluded by 'Peers and Pets do not count' in the description of PER: -")
    assert answer.known[0] in str(answer)
    assert found({"PER": "People"})[0].explain_word(TEXT, "Pim", "PER")[0].known == []
