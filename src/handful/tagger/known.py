"""Known words: the lists and patterns of types, as evidence beside names and labels."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handful.text import EntityType, Sentence
from handful.text.types import LONGEST, compiled

if TYPE_CHECKING:
    from .training_text import LabelledWords

MOST_WORDS = 16  # of a match


Match = tuple[int, int, int, str]  # the first word and the one after the last, the tag, and the entry


@dataclass(frozen=True)
class KnownWords:
    """The words of types: a run of words that is among them gets a higher logit for the type.

    Phrases are compared without spaces. One in small letters is found in any case, and one with a capital as it is
    written or all in capitals. A pattern has to match from the beginning of a word to the end of one.
    """

    weight: float  # what a match adds to the logit of a type whose own weight is 1
    types: tuple[EntityType, ...]
    overruled: frozenset[tuple[str, str]] = frozenset()  # types and entries that do not count: labels contradict them

    @classmethod
    def of(
        cls, types: tuple[EntityType, ...], weight: float, sentences: Sequence[Sentence], labelled: "LabelledWords"
    ) -> "KnownWords | None":
        """Return the known words of types, if there are any, without the entries that labels contradict.

        `labelled` are the words of sentences whose tags are known. An entry is contradicted if at least as many of its
        matches have another tag as have its own. Sentences in which nobody looked for the type say nothing.
        """
        if not weight or not any(one.words for one in types):
            return None
        found, votes = cls(weight, types), Counter[tuple[str, str]]()
        rows = {(number, place): row for row, (number, place) in enumerate(labelled.places.tolist())}
        for number, sentence in enumerate(sentences):
            for start, end, tag, entry in found._matches(sentence):
                here = [rows[number, place] for place in range(start, end) if (number, place) in rows]
                tags = {int(labelled.tags[row]) for row in here if labelled.tags[row] or not labelled.is_open[row, tag]}
                if tags:
                    votes[types[tag - 1].name, entry] += 1 if tags == {tag} else -1
        return replace(found, overruled=frozenset(entry for entry, n in votes.items() if n <= 0))

    def logits(self, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """Return one logit per tag for each word of sentences, (n, n_tags)."""
        logits = np.zeros((sum(len(one.words) for one in sentences), 1 + len(self.types)))
        first = 0
        for sentence in sentences:
            for start, end, tag, _ in self._matches(sentence):
                logits[first + start : first + end, tag] = self.weight * self.types[tag - 1].weight
            first += len(sentence.words)
        return logits

    def settings(self) -> dict[str, Any]:
        """Return what decides predictions besides the types, in JSON's types."""
        return {"weight": self.weight, "overruled": sorted(map(list, self.overruled))}

    def said_of(self, sentence: Sentence) -> list[tuple[range, str]]:
        """Return the words of each match in a sentence, and a line on it, also where it does not count."""
        lines = []
        for start, end, tag, entry in replace(self, overruled=frozenset())._matches(sentence):
            name = self.types[tag - 1].name
            but = ", but labels say otherwise, so it does not count" if (name, entry) in self.overruled else ""
            line = f"{' '.join(sentence.words[start:end])} is {entry}, a known word of {name}{but}"
            lines.append((range(start, end), line))
        return lines

    @cached_property
    def _entries(self) -> tuple[dict[str, list[tuple[int, str]]], list[tuple[int, str, re.Pattern[str]]]]:
        """The entries that count: phrases by the words that they are found as, without spaces; and patterns."""
        entries = [(tag, word) for tag, one in enumerate(self.types, 1) for word in one.words]
        entries = [(tag, word) for tag, word in entries if (self.types[tag - 1].name, word) not in self.overruled]
        phrases: dict[str, list[tuple[int, str]]] = {}
        for tag, word in entries:
            key = word.replace(" ", "")
            for form in {key.casefold()} if key == key.lower() else {key, key.upper()}:
                phrases.setdefault(form, []).append((tag, word))
        return phrases, [(tag, word, pattern) for tag, word in entries if (pattern := compiled(word))]

    def _matches(self, sentence: Sentence) -> list[Match]:
        """Return the matches in a sentence, the longest first. Where matches overlap, the longest of them counts."""
        found: list[Match] = []
        phrases, patterns = self._entries
        whole = sentence.with_text()
        ends = {end: j for j, (_, end) in enumerate(whole.offsets or (), 1)}
        for i, (start, _) in enumerate(whole.offsets or ()):
            key = ""
            for j in range(i + 1, min(i + MOST_WORDS, len(sentence.words)) + 1):
                key += sentence.words[j - 1]
                forms = dict.fromkeys((key, key.casefold()))
                found += [(i, j, *entry) for form in forms for entry in phrases.get(form, ())]
            for tag, entry, pattern in patterns:
                match = pattern.match(whole.text or "", start, start + LONGEST)
                if match and ends.get(match.end(), 0) > i:
                    found.append((i, ends[match.end()], tag, entry))
        kept: list[Match] = []
        taken: dict[int, tuple[int, int]] = {}  # words, and the run that each belongs to
        for one in sorted(found, key=lambda one: (one[0] - one[1], *one)):
            words, run = range(*one[:2]), one[:2]
            if all(taken.get(word, run) == run for word in words):
                kept.append(one)
                taken |= dict.fromkeys(words, run)
        return kept
