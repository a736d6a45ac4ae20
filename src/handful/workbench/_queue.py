"""What to ask next: the sentences whose labels teach most."""

from collections.abc import Iterable, Mapping, Sequence

from handful.tagger._suggest import suggest
from handful.tagger._tagging import TaggedWords

__all__ = ["most_teaching"]


def most_teaching(
    found: Mapping[int, TaggedWords], labelled: Iterable[TaggedWords], mentions: Sequence[int], n: int
) -> list[int]:
    """Return the ids of n sentences, best first; see `handful.tagger._suggest`.

    Parameters
    ----------
    found : what the tagger says about the candidates, by their ids
    labelled : what it says about the labelled sentences
    mentions : how many labels each type has
    n : how many are wanted
    """
    ids = {words.sentence.words: id for id, words in found.items()}
    return [ids[sentence.words] for sentence in suggest(found.values(), labelled, mentions, n)]
