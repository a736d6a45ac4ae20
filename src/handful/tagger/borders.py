"""Borders: mentions obey what descriptions say of titles, articles, units and the like."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from handful.text import EntityType, Sentence, Span
from handful.text.borders import FIGURES, Border, borders_of

from .decoding import runs

_JOINS = {"/", "^", "."}  # within units and after titles
_ARTICLES = {"the", "a", "an"}
_NUMBER = re.compile(r"[<>~≈±+-]?\d[\d.,:/×-]*")


#: No English phrase ends in these, nor in a preposition before them: "broken spring in the", "ten years of".
_LOOSE = {"the", "of", "its", "their", "our", "your"}
_BEFORE_LOOSE = {*_LOOSE, "in", "on", "at", "to", "from", "for", "with", "by", "into", "onto", "near", "under", "over"}


def without_loose_ends(tags: NDArray[np.intp], sentences: Sequence[Sentence]) -> NDArray[np.intp]:
    """Return the tags of words (n,) where no mention of several words ends in one that only begins what follows."""
    result, words = tags.copy(), [word.lower() for one in sentences for word in one.words]
    for _, start, stop, _ in runs(tags, [len(one.words) for one in sentences]):
        last = stop - 1
        while last > start and words[last] in (_LOOSE if last == stop - 1 else _BEFORE_LOOSE):
            result[last] = 0
            last -= 1
    return result


@dataclass(frozen=True)
class Borders:
    """The rules of borders of types.

    Words that do not belong to a mention leave it, as long as one word stays; words that do join it where they are O.
    """

    types: tuple[EntityType, ...]
    overruled: frozenset[tuple[str, str]] = frozenset()  # types and rules that do not count: labels contradict them

    @classmethod
    def of(cls, types: tuple[EntityType, ...], sentences: Iterable[Sentence]) -> "Borders | None":
        """Return the rules of types, if there are any, without those that more labelled mentions break than keep."""
        found = cls(types)
        if not found.rules:
            return None
        votes = dict.fromkeys(((name, rule.said) for name, rules in found.rules.items() for rule in rules), 0)
        for sentence in sentences:
            for span in sentence.spans or ():
                for rule in found.rules.get(span.type, ()):
                    votes[span.type, rule.said] += _vote(rule, sentence.words, span)
        return cls(types, frozenset(one for one, n in votes.items() if n < 0))

    @cached_property
    def rules(self) -> dict[str, list[Border]]:
        """The rules that count, by the names of types; what has to leave comes first."""
        found = {one.name: sorted(borders_of(one.description), key=lambda rule: rule.belongs) for one in self.types}
        kept = {name: [one for one in rules if (name, one.said) not in self.overruled] for name, rules in found.items()}
        return {name: rules for name, rules in kept.items() if rules}

    def obey(
        self, tags: NDArray[np.intp], scores: NDArray[np.float64], sentences: Sequence[Sentence]
    ) -> NDArray[np.intp]:
        """Return the tags of words (n,) with other borders; words that join a mention get its score, in place."""
        result = tags.copy()
        words = [word.lower() for one in sentences for word in one.words]
        n_words = [len(one.words) for one in sentences]
        found = list(runs(tags, n_words))
        free = 0  # the words up to here belong to mentions before
        for mention, after in zip(found, [*found[1:], None], strict=False):
            number, start, stop, first = mention
            high = after[1] if after and after[0] == number else first + n_words[number]
            tag, begin, end = int(tags[start]), start, stop
            for rule in self.rules.get(self.types[tag - 1].name, ()):
                begin, end = (_grown if rule.belongs else _shrunk)(rule, words, begin, end, max(first, free), high)
            result[start:stop] = 0
            result[begin:end] = tag
            score = scores[start:stop, tag].mean()
            scores[begin:start, tag] = scores[stop:end, tag] = score
            free = end
        return result

    def said_of(self, sentence: Sentence, span: Span) -> list[str]:
        """Return a line for each rule that decided a border of a mention."""
        words, lines = [word.lower() for word in sentence.words], []
        for rule in self.rules.get(span.type, ()):
            change = _shrunk if rule.belongs else _grown
            start, stop = change(rule, words, span.start, span.end, 0, len(words))
            edges = [*range(*sorted((start, span.start))), *range(*sorted((stop, span.end)))]
            if edges:
                spoken = ", ".join(sentence.words[place] for place in edges)
                lines.append(f'{spoken} {"belongs" if rule.belongs else "does not belong"} to it: "{rule.said}"')
        return lines


def _vote(rule: Border, words: Sequence[str], span: Span) -> int:
    """Return 1 where a labelled mention keeps a rule, -1 where it breaks it, 0 where it says nothing."""
    words = [word.lower() for word in words]
    place = span.start, span.end
    has_inside = _shrunk(rule, words, *place) != place
    has_beside = _grown(rule, words, *place, 0, len(words)) != place
    return (has_inside - has_beside) * (1 if rule.belongs else -1)


def _is_of(word: str, words: frozenset[str]) -> bool:
    return word in words or word.rstrip(".") in words or (FIGURES in words and bool(_NUMBER.fullmatch(word)))


def _shrunk(rule: Border, words: Sequence[str], start: int, stop: int, *_: int) -> tuple[int, int]:
    """Return a mention without the words of a rule at its borders; as it is, where nothing else is in it."""
    begin, end = start, stop
    while begin < stop and (_is_of(words[begin], rule.first) or (words[begin] == "." and begin > start)):
        begin += 1
    while end > begin and (_is_of(words[end - 1], rule.last) or (words[end - 1] in _JOINS and end < stop)):
        end -= 1
    if begin > start and begin < stop and words[begin] == "of":  # "Governor of Penang" has no title before a name
        begin = start
    return (begin, end) if begin < end else (start, stop)


def _grown(rule: Border, words: Sequence[str], start: int, stop: int, low: int, high: int) -> tuple[int, int]:
    """Return a mention with the words of a rule beside it, from low to high."""
    between = _ARTICLES if "in" in rule.first else _JOINS  # "in the evening", "Dr . Smith"
    while start > low:
        if _is_of(words[start - 1], rule.first):
            start -= 1
        elif start - 1 > low and words[start - 1] in between and _is_of(words[start - 2], rule.first):
            start -= 2
        else:
            break
    while stop < high:
        if _is_of(words[stop], rule.last):
            stop += 1
        elif stop + 1 < high and words[stop] in _JOINS and _is_of(words[stop + 1], rule.last):
            stop += 2
        else:
            break
    return start, stop
