"""Guidelines against labels: whether a type's name, its description, or both fit its labelled words best."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from handful._util.arrays import Float
from handful.errors import DataError
from handful.text import EntityType

from .evidence import TypeNames
from .model import Examples
from .training_text import LabelledWords

N_WORDS = 5  # that contradict a type, at most


@dataclass(frozen=True)
class CheckedGuideline:
    """How well the texts of a type fit its labels, by the encoder's scores of names alone."""

    # of the labelled words, by the text that is read: "name", "description" and "both"; "name" alone where the type has
    # no description
    f1: dict[str, float]
    best: str  # the text that fits better than the one in use, by more than chance; "" where there is none
    misses: list[str]  # words of the type that the text in use does not find, the worst first
    claims: list[str]  # words that it takes for the type, though they are labelled otherwise, the worst first
    n_words: int = 0  # labelled words of the type
    found: dict[str, int] = field(default_factory=dict)  # how many of them each text finds


def check_guidelines(
    encoder: Any, names: TypeNames, types: Sequence[EntityType], words: Float, known: LabelledWords, examples: Examples
) -> dict[str, CheckedGuideline]:
    """Compare the texts of types that have labels, given the features of the labelled words whose tags are known.

    A text claims a word if its score is higher than those of O and of the other types, as they are described. Words of
    sentences in which nobody looked for a type say nothing about it.
    """
    scores = replace(names, doubts=np.zeros_like(names.doubts)).scores(words)
    spoken = [examples.sentences[number].words[position] for number, position in known.places.tolist()]
    found = {}
    for tag, one in enumerate(types, 1):
        asked = np.flatnonzero(~known.is_open[:, tag])
        is_type = known.tags[asked] == tag
        if not is_type.any():
            continue
        by_text = {"both" if one.description else "name": scores[asked, tag]}
        if one.description:
            name = EntityType(one.name)
            try:
                read = encoder.encode_types([name, EntityType(one.description.replace("|", "/"))])
            except DataError:  # such as a description that is all signs: it cannot stand in the place of a name
                read = encoder.encode_types([name])
            of_texts = read.scores(words[asked])[:, 1:]
            by_text |= dict(zip(("name", "description"), of_texts.T, strict=False))
        others = np.delete(scores[asked], tag, axis=1).max(axis=1)
        leads = {text: some - others for text, some in by_text.items()}
        is_right = {text: (lead > 0) == is_type for text, lead in leads.items()}
        f1 = {
            text: 2 * float((is_type & (lead > 0)).sum()) / float(is_type.sum() + (lead > 0).sum())
            for text, lead in leads.items()
        }
        used, best = next(iter(leads)), max(f1, key=lambda text: f1[text])
        gained, lost = (is_right[best] & ~is_right[used]).sum(), (is_right[used] & ~is_right[best]).sum()
        is_real = gained > lost and (gained - lost) ** 2 >= 4 * (gained + lost)  # McNemar's test, at 5 %
        wrong = [i for i in np.argsort(-np.abs(leads[used]), kind="stable") if not is_right[used][i]]
        misses = dict.fromkeys(spoken[asked[i]] for i in wrong if is_type[i])
        claims = dict.fromkeys(spoken[asked[i]] for i in wrong if not is_type[i])
        n_found = {text: int((is_type & (lead > 0)).sum()) for text, lead in leads.items()}
        words_against = [*misses][:N_WORDS], [*claims][:N_WORDS]
        found[one.name] = CheckedGuideline(f1, best if is_real else "", *words_against, int(is_type.sum()), n_found)
    return found
