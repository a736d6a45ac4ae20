"""Which types a tagger looks for: those in the labels, and those that are named."""

from collections.abc import Iterable, Sequence

from handful.errors import Advice, DataError
from handful.text import EntityType, Sentence, described, types_of

from .training_text import types_to_learn

__all__ = ["types_to_find"]


def types_to_find(
    own: Sequence[EntityType],
    known: Sequence[EntityType],
    labels: Iterable[Sentence],
    reads_names: bool,
    is_asked: bool,
) -> tuple[tuple[EntityType, ...], list[str]]:
    """Return the types to find, sorted by name, and the names of those that cannot be found.

    They are those in the labels, and those that the tagger or a file describes, if names are read.

    Parameters
    ----------
    own
        The types that the tagger was given; what they say counts most.
    known
        Types that files describe, or that a fit before this one had.
    labels
        The labelled sentences.
    reads_names
        Whether the encoder reads names, and is asked to.
    is_asked
        Whether it is asked to.
    """
    described_there = {one.name for one in own if one.description}
    everything = types_of([*own, *(one for one in known if one.name not in described_there)])
    in_labels = types_to_learn(labels)
    others = [one.name for one in everything if one.name not in in_labels]
    names = sorted({*in_labels, *(others if reads_names else ())})
    if not names and others:
        raise DataError(
            "there are no labels, and this encoder does not read the names of types"
            if is_asked
            else "there are no labels, and names=False says that the names of types are not read",
            Advice(
                "label at least one mention of each type, or use encoder='handful-en'",
                "label at least one mention of each type, or use --encoder handful-en",
            ),
        )
    if not names:
        raise DataError(
            "there is no type to find: no mention is marked, and no type is named",
            Advice(
                "name types (types={'PER': 'names of people'}), or mark mentions, as in [Baghdad](LOC)",
                "name types (--types 'person, place'), or mark mentions, as in [Baghdad](LOC)",
            ),
        )
    return described(names, everything), [] if reads_names else others
