"""How far people agree who answered the same sentences, each alone."""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from handful.evaluate import score
from handful.text import Span
from handful.text.projects import State, answers, database_errors, open_project

_LABELS = ("labelled", "none")


@dataclass(frozen=True)
class Agreement:
    """How far two people agree, about types that there were for both of them."""

    people: tuple[str, str]
    n_sentences: int  # that both have labelled as a whole
    n_same: int  # of these, with the same mentions
    n_words: int  # in them
    f1: float | None  # strict span F1 of one against the other; None where nobody has marked a mention
    kappa: float | None  # Cohen's kappa of the types of words, O among them; None where all words have one type
    n_aside: int  # sentences that one of them, or both, put aside


def compare(given: Mapping[int, Mapping[str, State]], n_words: Callable[[int], int]) -> list[Agreement]:
    """Return the agreement of each two people, from the answers to each sentence by their names."""
    pairs: dict[tuple[str, str], list[tuple[int, State, State]]] = {}
    for id, theirs in sorted(given.items()):
        for one, other in combinations(sorted(name for name, state in theirs.items() if state.is_answer), 2):
            pairs.setdefault((one, other), []).append((id, theirs[one], theirs[other]))
    found = []
    for people, both in sorted(pairs.items()):
        known = [(id, one, other) for id, one, other in both if {one.status, other.status} <= set(_LABELS)]
        spans = [(_common(one, other), _common(other, one)) for _, one, other in known]
        lengths = [n_words(id) for id, *_ in known]
        words = Counter(
            tags
            for (one, other), n in zip(spans, lengths, strict=True)
            for tags in zip(_tags(one, n), _tags(other, n), strict=True)
        )
        f1 = score([one for one, _ in spans], [other for _, other in spans]).micro.f1
        is_marked = any(one or other for one, other in spans)
        n_same = sum(set(one) == set(other) for one, other in spans)
        figures = len(known), n_same, sum(lengths), f1 if is_marked else None, kappa(words), len(both) - len(known)
        found.append(Agreement(people, *figures))
    return found


def kappa(counts: Mapping[tuple[str, str], int]) -> float | None:
    """Return Cohen's kappa, (p - e) / (1 - e), from how often one said this and the other that.

    p is the share of words on which they agree, and e the share on which they would if each of them gave the same
    tags as often, but to any words.
    """
    n = sum(counts.values())
    rows, columns = Counter[str](), Counter[str]()
    for (one, other), times in counts.items():
        rows[one] += times
        columns[other] += times
    by_chance = sum(rows[tag] * columns[tag] for tag in rows)
    if by_chance == n * n:
        return None
    return (n * sum(times for (one, other), times in counts.items() if one == other) - by_chance) / (n * n - by_chance)


def agreement(path: str | os.PathLike[str]) -> list[Agreement]:
    """Say how far people agree in a project of `handful label`, each two of them who answered the same sentences."""
    with database_errors(path):
        connection = open_project(path)
        try:
            lengths = dict(connection.execute("SELECT id, json_array_length(words) / 2 FROM sentences"))
            return compare(answers(connection), lengths.__getitem__)
        finally:
            connection.close()


def _common(one: State, other: State) -> list[Span]:
    """Return the mentions of an answer that are of types that the other answer is about, too."""
    return [span for span in one.spans if other.judged is None or span.type in other.judged]


def _tags(spans: Iterable[Span], n: int) -> Sequence[str]:
    """Return the types of each word, or O."""
    types: list[set[str]] = [set() for _ in range(n)]
    for span in spans:
        for of_word in types[span.start : span.end]:
            of_word.add(span.type)
    return ["|".join(sorted(of_word)) or "O" for of_word in types]
