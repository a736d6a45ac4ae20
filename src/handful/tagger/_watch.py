"""The warning about a text that the encoder reads badly: once, while it passes."""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from handful.encoders import EMBEDDED, Encoder
from handful.errors import Advice, HandfulWarning
from handful.text import Sentence

from .training_text import LabelledText, sentences_of

MANY = 0.1  # of all words: in English text hardly one word with letters in a thousand cannot be read
FEWEST = 3  # words with letters; with fewer, a text of a line would do
WINDOW = 1_000  # words after which counting begins anew, so that a stretch late in a long text is noticed
N_EXAMPLES = 3

# Words that make up nearly half of running English text. Those that are as common elsewhere (in, so, as, me) are left
# out.
_ENGLISH = frozenset(
    "the of and to that for is was on with it he be at by his are this have from or had not but they you which were "  # noqa: SIM905
    "she her their has been who its there when would will if more out about up what your than them my into could "
    "only other our i'm it's don't just like how all can get we do".split()
)
ENOUGH_LOWER = 100  # that begin in lower case: lists of names have few
ENOUGH_LETTERS = 60
ENGLISH_WINDOW = 600  # words after which counting English ones begins anew
LEAST_ENGLISH = 0.06  # of such words; in running English they are a third, in other languages hardly any
MOST_FOREIGN = 0.5  # of letters outside the Latin alphabet

_ADVICE = Advice(
    "fit with an encoder that knows its language (encoder=)",
    "fit with an encoder that knows its language (handful fit --encoder)",
)


class Watch:
    """Looks at words as they are tagged; warns once, of what is most to the point."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = Path(encoder.name).name or "the encoder"
        self._language = LanguageWatch() if encoder.reference in EMBEDDED else None  # they know English only
        self._is_done = False
        self._reset()

    def _reset(self) -> None:
        self._n_words = 0
        self._lost: list[str] = []

    def __call__(self, sentences: Sequence[Sentence], unreadable: NDArray[np.bool_]) -> None:
        """Take note of sentences, and of which of their words the encoder cannot read."""
        if self._is_done:
            return
        self._n_words += len(unreadable)
        if unreadable.any():
            words = [word for sentence in sentences for word in sentence.words]
            self._lost += [words[i] for i in np.flatnonzero(unreadable) if any(map(str.isalpha, words[i]))]
        if len(self._lost) >= max(FEWEST, MANY * self._n_words):
            share = len(self._lost) / self._n_words
            such = _such_as(self._lost)
            self._warn(f"{self._encoder} cannot read {share:.0%} of the words, {such}: they are taken for O")
        elif self._language is not None and self._language.is_hardly_english(sentences):
            self._warn(f"the text is hardly English, and {self._encoder} knows English only: expect little")
        if self._n_words >= WINDOW:
            self._reset()

    def labels(self, text: LabelledText) -> None:
        """Take note of the labels of a text: mentions with a word that cannot be read."""
        if self._is_done:
            return
        n_mentions, lost = 0, []
        for sentence in sentences_of(text.labels):
            unreadable = text.unreadable_words(sentence.words)
            for span in sentence.spans or ():
                n_mentions += 1
                if unreadable[span.start : span.end].any():
                    lost.append(sentence.span_text(span))
        if lost:
            share = f"{len(lost):,} of the {n_mentions:,} labelled mentions"
            self._warn(f"{self._encoder} cannot read {share}, {_such_as(lost)}: the like will not be found")

    def _warn(self, message: str) -> None:
        self._is_done = True
        warnings.warn(HandfulWarning(message, _ADVICE), stacklevel=4)


def _such_as(words: Iterable[str]) -> str:
    return f"such as {', '.join(list(dict.fromkeys(words))[:N_EXAMPLES])}"


class LanguageWatch:
    """Counts words as they pass; says once, when there is enough text to tell, that it is hardly English."""

    def __init__(self) -> None:
        self.is_done = False
        self._reset()

    def _reset(self) -> None:
        self._n_lower = self._n_english = self._n_letters = self._n_foreign = 0

    def is_hardly_english(self, sentences: Iterable[Sentence]) -> bool:
        """Take note of sentences; True the first time that the text so far is hardly English."""
        if self.is_done:
            return False
        for sentence in sentences:
            for word in sentence.words:
                self._count(word)
        self.is_done = (self._n_letters >= ENOUGH_LETTERS and self._n_foreign > MOST_FOREIGN * self._n_letters) or (
            self._n_lower >= ENOUGH_LOWER and self._n_english < LEAST_ENGLISH * self._n_lower
        )
        if self._n_lower >= ENGLISH_WINDOW or self._n_letters >= 10 * ENGLISH_WINDOW:
            self._reset()
        return self.is_done

    def _count(self, word: str) -> None:
        if word.isascii():
            if word.isalpha() or "'" in word:
                self._n_letters += len(word)
                if word[0].islower():
                    self._n_lower += 1
                    self._n_english += word in _ENGLISH
            return
        letters = [letter for letter in word if letter.isalpha()]
        self._n_letters += len(letters)
        self._n_foreign += sum(letter > "\u024f" and not "\u1e00" <= letter <= "\u1eff" for letter in letters)
        if letters and word[0].islower():
            self._n_lower += 1
