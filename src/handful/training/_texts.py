"""The text that an encoder reads for a type: its name and its description, the name alone, or the description alone."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from handful.encoders.names import readable
from handful.encoders.tokenizer import WordTokenizer
from handful.text import EntityType, to_sentence

from .batches import Ints, TokenRows, lay_out_texts
from .corpora import SourceCorpus

_N_FORMS = 3


@dataclass(frozen=True)
class TypeTexts:
    """The texts of the types of all corpora."""

    rows: TokenRows  # three texts per type, in the order of `forms_of`: those of type t are 3 t, 3 t + 1 and 3 t + 2
    # How often a type is read in the second and in the third form; else it is in the first
    name_only: float
    description_only: float

    def full(self, types: Ints) -> Ints:
        """Return the numbers of the texts with name and description."""
        return _N_FORMS * types

    def choose(self, types: Ints, rng: np.random.Generator) -> Ints:
        """Return the numbers of the texts to read, one for each type, at random."""
        chance = rng.random(len(types))
        is_name = chance < self.name_only
        is_description = ~is_name & (chance < self.name_only + self.description_only)
        return _N_FORMS * types + is_name + 2 * is_description

    def lengths(self, types: Ints) -> Ints:
        """Return the number of tokens of the longest text of each type."""
        longest: Ints = np.diff(self.rows.tokens).reshape(-1, _N_FORMS).max(axis=1)
        return longest[types]


def forms_of(one: EntityType, called: str = "") -> tuple[str, str, str]:
    """Return the texts of a type: name and description, name, description.

    A type without a description is read by its name each time.

    >>> forms_of(EntityType("PEST", "insects and slugs"))
    ('pest: insects and slugs', 'pest', 'insects and slugs')
    >>> forms_of(EntityType("politicalparty"), "political party")
    ('political party', 'political party', 'political party')
    """
    name = called or readable(one.name)
    if not one.description:
        return name, name, name
    return f"{name}: {one.description}", name, one.description


def lay_out_types(
    corpora: Sequence[SourceCorpus],
    tokenizer: WordTokenizer,
    window: int,
    *,
    name_only: float = 0.0,
    description_only: float = 0.0,
) -> TypeTexts:
    """Lay out the texts of the types of all corpora, in order."""
    texts = [
        to_sentence(text).words
        for corpus in corpora
        for one in corpus.types
        for text in forms_of(one, corpus.called.get(one.name, ""))
    ]
    return TypeTexts(lay_out_texts(texts, tokenizer, window), name_only, description_only)
