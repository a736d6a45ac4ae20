"""Greedy k-shot supports: the one random step in this room, and seeded."""

import random
from collections import Counter
from collections.abc import Sequence

from handful.errors import DataError
from handful.text import Sentence


def sample_support(
    sentences: Sequence[Sentence], shots: int, seed: int, *, sets: int = 1, fewer: bool = False
) -> list[list[Sentence]]:
    """Draw supports: sentences that hold at least `shots` mentions of every type, in the order drawn.

    Types are taken in increasing order of their mentions, ties by name. For each, sentences that hold it
    are drawn, uniformly and without putting back, until the support has `shots` mentions of it, those that
    came along with other types included (Yang and Katiyar, 2020).

    The draw uses nothing but ``random.Random(seed).random()``, whose numbers Python promises to keep: a
    seed gives the same support on any machine and version.

    Parameters
    ----------
    sentences : the corpus, wholly labelled
    shots : the least number of mentions of each type
    seed : zero or more
    sets : how many supports to draw one after the other, each from the whole corpus
    fewer : what to do with a type that has fewer than `shots` mentions: True takes all of them, False is an error that
        names all such types
    """
    for name, value, least in (("shots", shots, 1), ("seed", seed, 0), ("sets", sets, 1)):
        if type(value) is not int or value < least:
            raise DataError(f"{name} is {value!r}, expected a whole number of at least {least}")
    sentences = list(sentences)
    mentions: list[Counter[str]] = []
    for i, sentence in enumerate(sentences):
        if not sentence.is_labelled:
            raise DataError(f"sentence {i} is not wholly labelled, so its mentions cannot be counted: {sentence}")
        mentions.append(Counter(span.type for span in sentence.spans or ()))
    frequency = sum(mentions, Counter[str]())
    if not frequency:
        raise DataError("there is no mention in the sentences, so there is nothing to sample")
    rare = [f"{label} ({n})" for label, n in sorted(frequency.items()) if n < shots]
    if rare and not fewer:
        raise DataError(
            f"{shots} shots need as many mentions of each type; too few of {', '.join(rare)}; fewer=True takes what "
            "there is of them"
        )
    types = sorted(frequency, key=lambda label: (frequency[label], label))
    holders = {label: [i for i, counts in enumerate(mentions) if label in counts] for label in types}
    draw = random.Random(seed).random
    supports = []
    for _ in range(sets):
        chosen: dict[int, None] = {}  # a set that keeps its order
        count: Counter[str] = Counter()
        for label in types:
            candidates = [i for i in holders[label] if i not in chosen]
            while candidates and count[label] < shots:
                i = candidates.pop(int(draw() * len(candidates)))
                chosen[i] = None
                count.update(mentions[i])
        supports.append([sentences[i] for i in chosen])
    return supports
