"""The warning about a text that the encoder reads badly: once, while it passes."""

import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from handful.encoders import Encoder
from handful.encoders.languages import languages_of, not_known
from handful.errors import Advice, HandfulWarning, shorten
from handful.text import Sentence
from handful.text.languages import LanguageNotice

from .training_text import LabelledText, sentences_of

MANY = 0.1  # of all words: in English text hardly one word with letters in a thousand cannot be read
FEWEST = 3  # words with letters; with fewer, a text of a line would do
WINDOW = 1_000  # words after which counting begins anew, so that a stretch late in a long text is noticed
N_EXAMPLES = 3

_ADVICE = Advice(
    "fit with an encoder that knows its language (encoder=)",
    "fit with an encoder that knows its language (handful fit --encoder)",
)


class Watch:
    """Looks at words as they are tagged; warns once, of what is most to the point."""

    def __init__(self, encoder: Encoder) -> None:
        self._encoder = Path(encoder.name).name or "the encoder"
        known = languages_of(encoder)
        self._language = LanguageNotice(known) if known else None
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
        elif self._language is not None and (language := self._language(sentences)):
            self._warn(*not_known(language, self._encoder))
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
            self._warn(f"{self._encoder} cannot read {share}, {_such_as(lost)}: mentions like these will not be found")

    def _warn(self, message: str, advice: Advice = _ADVICE) -> None:
        self._is_done = True
        warnings.warn(HandfulWarning(message, advice), stacklevel=4)


def _such_as(words: Iterable[str]) -> str:
    return f"such as {', '.join(shorten(word, 40) for word in list(dict.fromkeys(words))[:N_EXAMPLES])}"
