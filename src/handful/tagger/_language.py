"""Telling that a text is hardly English, at little cost and without false alarms."""

from collections.abc import Iterable

from handful.text import Sentence

__all__ = ["LanguageWatch"]

# Words that make up nearly half of running English text. Those that are as common elsewhere (in, so, as, me) are left
# out.
_ENGLISH = frozenset(
    "the of and to that for is was on with it he be at by his are this have from or had not but they you which were "  # noqa: SIM905
    "she her their has been who its there when would will if more out about up what your than them my into could "
    "only other our i'm it's don't just like how all can get we do".split()
)
ENOUGH_WORDS = 100  # that begin in lower case: lists of names have few
ENOUGH_LETTERS = 60
WINDOW = 600  # words after which counting begins anew
LEAST_ENGLISH = 0.06  # of such words; in running English they are a third, in other languages hardly any
MOST_FOREIGN = 0.5  # of letters outside the Latin alphabet


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
            self._n_lower >= ENOUGH_WORDS and self._n_english < LEAST_ENGLISH * self._n_lower
        )
        if self._n_lower >= WINDOW or self._n_letters >= 10 * WINDOW:
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
