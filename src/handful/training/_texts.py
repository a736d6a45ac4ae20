"""The texts that an encoder reads for a type: name and description, one of them alone, and parts of the description."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from handful.encoders.names import is_word, readable, text_of
from handful.encoders.tokenizer import WordTokenizer
from handful.text import EntityType, to_sentence
from handful.text.guidelines import guideline_of

from ._recipe import Recipe
from .batches import Ints, TokenRows, lay_out_texts, ranges
from .corpora import SourceCorpus

_N_FORMS = 3
_WHOLE = Recipe(name_only=0.0, description_only=0.0, parts=False)  # name and whole description together


class Chosen(NamedTuple):
    """The texts that a step reads."""

    texts: Ints  # of the types, in order, and then of what they exclude
    owners: Ints  # for each of the latter the place of its type, among those of the step


@dataclass(frozen=True)
class TypeTexts:
    """The texts of the types of all corpora."""

    # Three texts for each type, in the order of `forms_of`: those of type t are 3 t, 3 t + 1 and 3 t + 2. Then
    # what types exclude: that of type t are ends[t] to ends[t + 1] of these.
    rows: TokenRows
    ends: Ints
    is_alone: npt.NDArray[np.bool_]  # whether a type may be read by its name alone
    recipe: Recipe  # how often a type is read in the second and in the third form; else it is in the first

    @property
    def n_types(self) -> int:
        return len(self.ends) - 1

    def full(self, types: Ints) -> Chosen:
        """Return the texts with name and description, and what is excluded."""
        return self._chosen(types, np.zeros(len(types), np.int64))

    def choose(self, types: Ints, rng: np.random.Generator) -> Chosen:
        """Return the texts to read, at random; a type that is read by its name alone excludes nothing."""
        chance = rng.random(len(types))
        is_name = chance < self.recipe.name_only
        is_description = ~is_name & (chance < self.recipe.name_only + self.recipe.description_only)
        return self._chosen(types, (is_name & self.is_alone[types]) + 2 * is_description)

    def lengths(self, types: Ints) -> Ints:
        """Return the number of tokens of the longest text of each type, and of what it excludes."""
        n = np.diff(self.rows.tokens)
        n_forms = _N_FORMS * self.n_types
        excluded = np.concatenate([[0], np.cumsum(n[n_forms:])])
        longest: Ints = n[:n_forms].reshape(-1, _N_FORMS).max(axis=1) + np.diff(excluded[self.ends])
        return longest[types]

    def _chosen(self, types: Ints, forms: Ints) -> Chosen:
        n_excluded = np.where(forms == 1, 0, self.ends[types + 1] - self.ends[types])
        excluded = _N_FORMS * self.n_types + ranges(self.ends[types], n_excluded)
        texts = np.concatenate([_N_FORMS * types + forms, excluded])
        return Chosen(texts, np.repeat(np.arange(len(types)), n_excluded))


def forms_of(one: EntityType, called: str = "", *, has_parts: bool = False) -> tuple[str, str, str]:
    """Return the texts of a type: name and description, name, description.

    A type without a description is read by its name each time. With parts, what a description excludes is left out.

    >>> forms_of(EntityType("PEST", "insects and slugs"))
    ('pest: insects and slugs', 'pest', 'insects and slugs')
    >>> forms_of(EntityType("T1", "insects and slugs"))
    ('insects and slugs', 't1', 'insects and slugs')
    >>> forms_of(EntityType("politicalparty"), "political party")
    ('political party', 'political party', 'political party')
    """
    name = called or readable(one.name)
    description = guideline_of(one.description).meaning if has_parts else one.description
    return text_of(one, called, has_parts=has_parts), name, description or name


def lay_out_types(
    corpora: Sequence[SourceCorpus],
    tokenizer: WordTokenizer,
    window: int,
    recipe: Recipe = _WHOLE,
    twins: Mapping[int, int] | None = None,
) -> TypeTexts:
    """Lay out the texts of the types of all corpora, in order, as a recipe wants them read.

    `twins` has corpora with the same sentences, by the number of the later one. Where the two describe a name in
    different ways, the later one does not have it alone. Nor is a name that is no word read alone if it is described.
    """
    texts: list[str] = []
    excluded: list[str] = []
    ends = [0]
    is_alone: list[bool] = []
    for number, corpus in enumerate(corpora):
        other = corpora[twins[number]] if twins and number in twins else corpus
        others = {one.name: one.description for one in other.types}
        for one in corpus.types:
            forms = forms_of(one, corpus.called.get(one.name, ""), has_parts=recipe.parts)
            texts += forms
            excluded += [part.text for part in guideline_of(one.description).excludes] if recipe.parts else []
            ends.append(len(excluded))
            is_same = others.get(one.name, one.description) == one.description
            is_alone.append(is_same and (is_word(forms[1]) or not one.description))
    words = [to_sentence(text).words for text in [*texts, *excluded]]
    return TypeTexts(lay_out_texts(words, tokenizer, window), np.array(ends), np.array(is_alone, bool), recipe)
