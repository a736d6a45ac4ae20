"""Parts of descriptions in a tagger: what is excluded takes words away from its type alone, also after saving."""

from dataclasses import replace

import numpy as np
import pytest

from handful import Tagger
from handful.encoders.names import PartVectors
from handful.errors import DataError
from handful.tagger.evidence import TypeNames
from handful.text import types_of
from handful.text.guidelines import guideline_of

from .toy import KINDS, NamedEncoder


class PartsEncoder(NamedEncoder):
    """A toy whose types have parts; a part is what it starts with, too."""

    def encode_types(self, types):
        read = [(owner, guideline_of(one.description)) for owner, one in enumerate(types_of(types))]
        parts = [(owner, part, False) for owner, each in read for part in each.includes]
        parts += [(owner, part, True) for owner, each in read for part in each.excludes]
        found = super().encode_types(types)
        if not parts:
            return found
        vectors = np.zeros((len(parts), self.dim), np.float32)
        for vector, (_, part, _) in zip(vectors, parts, strict=True):
            vector[KINDS.get(part.text[0], 0)] = 4
        is_excluded = np.array([out for _, _, out in parts])
        # what is excluded counts more, so that it leaves less than half of a word that is as near to it
        biases = (np.where(is_excluded, 20, 0.1) - 0.5 * (vectors**2).sum(axis=1)).astype(np.float32)
        return replace(
            found, parts=PartVectors(vectors, biases, np.array([owner for owner, _, _ in parts]), is_excluded)
        )


TEXT = "Pim met Gus in Lima ."


def found(types, **options):
    tagger = Tagger(types, encoder=PartsEncoder(), cache=False, **options).fit()
    return tagger, {one["word"]: one["entity_group"] for one in tagger.predict(TEXT)}


def test_what_is_included_belongs_and_what_is_excluded_does_not():
    assert found({"PER": "People"})[1] == {"Pim": "PER"}
    assert found({"PER": "People, including Gods"})[1] == {"Pim": "PER", "Gus": "PER"}
    assert found({"PER": "People, including Gods, not Peers"})[1] == {"Gus": "PER"}


def test_other_types_are_as_they_were():
    model = found({"PER": "People", "LOC": "Land"})[0].model_
    other = found({"PER": "People, not Land; including Gods", "LOC": "Land"})[0].model_
    words = np.stack([PartsEncoder().vector(word) for word in TEXT.split()]).astype(np.float32)
    place = [one.name for one in model.types].index("LOC")
    logits = [each.piece(TypeNames).logits(words) for each in (model, other)]
    np.testing.assert_array_equal(logits[0][:, 1 + place], logits[1][:, 1 + place])
    assert not np.array_equal(*(each[:, 2 - place] for each in logits))


def test_saved_and_loaded(tmp_path):
    tagger, mentions = found({"PER": "People, including Gods, not Peers", "LOC": "Land"})
    tagger.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model", encoder=PartsEncoder())
    assert {one["word"]: one["entity_group"] for one in loaded.predict(TEXT)} == mentions
    assert loaded.model_.piece(TypeNames).part_owners.tolist() == tagger.model_.piece(TypeNames).part_owners.tolist()
    names = loaded.model_.piece(TypeNames).save()
    with pytest.raises(DataError, match="some of the arrays of parts are missing"):
        TypeNames.load({name: names[name] for name in names if name != "part_owners"}, 1.0, 8, 3)
    with pytest.raises(DataError, match="part_owners are not all from 0 to 1"):
        TypeNames.load(names | {"part_owners": names["part_owners"] + 2}, 1.0, 8, 3)
