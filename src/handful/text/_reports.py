"""`ReadReport` and `WriteReport`: counts of everything that was not taken as it is."""

import re
from collections import Counter
from dataclasses import dataclass, field

from handful.errors import Advice, FormatError, number_of

_SINGULAR = {"were": "was", "are": "is", "have": "has"}
_SAID_OF_ONE = {
    "their scores": "its score",
    "their ": "its ",
    " and count ": " and counts ",
    " as they are": " as it is",
}


@dataclass
class ReadReport:
    """The result of reading a file, with a count of everything that was not taken as it is."""

    name: str  # the file
    format: str  # the format, named or recognised
    scheme: str | None = None  # the tag scheme, named or recognised (see `SCHEMES`); None where there are no tags
    # how much was read so far
    n_sentences: int = 0
    n_words: int = 0
    n_broken: int = 0  # tags that the scheme does not allow in their place; they are read as conlleval does
    n_widened: int = 0  # spans that were widened to the borders of words (with ``misaligned="widen"``)
    # malformed lines or records that were left out (with ``malformed="skip"``): in CoNLL, the whole sentence
    n_skipped: int = 0
    skipped: list[FormatError] = field(default_factory=list)  # the errors of the first ten of them
    # what else was handled, and how often, such as ``-DOCSTART-`` lines. An `Advice` reads differently in Python and
    # on the command line.
    notes: Counter[str | Advice] = field(default_factory=Counter)

    @property
    def summary(self) -> str:
        """The file, its format and its size, in one line."""
        scheme = f", scheme {self.scheme}" if self.scheme else ""
        size = f"{number_of(self.n_sentences, 'sentence')}, {number_of(self.n_words, 'word')}"
        return f"{self.name}: {self.format}{scheme}, {size}"

    def handled(self, *, shell: bool = False) -> list[str]:
        """Return one line for each thing that was not taken as it is.

        Parameters
        ----------
        shell : whether to name options of the command line instead of parameters in Python
        """
        lines = []
        if self.n_broken:
            verbs = "breaks the scheme and was" if self.n_broken == 1 else "break the scheme and were"
            lines.append(f"{number_of(self.n_broken, 'tag')} {verbs} read as conlleval does")
        if self.n_widened:
            lines.append(f"{number_of(self.n_widened, 'span')} {_was(self.n_widened)} widened to whole words")
        if self.n_skipped:
            first = self.skipped[0].for_shell if shell else self.skipped[0]
            places = number_of(self.n_skipped, "malformed place")
            lines.append(f"{places} {_was(self.n_skipped)} skipped, the first: {first}")
        return lines + _note_lines(self.notes, shell=shell)

    def __str__(self) -> str:
        """Return the summary, and below it the lines of `handled`."""
        return "\n".join([self.summary, *self.handled()])


@dataclass
class WriteReport:
    """The result of writing a file, with a count of everything that the format could not hold."""

    # how many were written
    n_documents: int = 0
    n_sentences: int = 0
    n_merged: int = 0  # mentions that the scheme (IO, types) could not keep apart from the one before them
    notes: Counter[str | Advice] = field(default_factory=Counter)  # what else was changed or left out, and how often

    def handled(self, *, shell: bool = False) -> list[str]:
        """Return one line for each thing that was not written as it is, as `ReadReport.handled` does."""
        lines = []
        if self.n_merged:
            before = f"{_was(self.n_merged)} merged with the one before {'it' if self.n_merged == 1 else 'them'}"
            lines.append(f"{number_of(self.n_merged, 'mention')} {before}: the scheme has no borders")
        return lines + _note_lines(self.notes, shell=shell)


def _note_lines(notes: Counter[str | Advice], *, shell: bool) -> list[str]:
    texts = {note: note.shell if shell and isinstance(note, Advice) else str(note) for note in notes}
    return [f"{count} {_of_one(texts[note]) if count == 1 else texts[note]}" for note, count in notes.items()]


def _of_one(note: str) -> str:
    """Return a note that speaks of several things, as in ``mentions were written ...``, as it is of one."""
    note = re.sub(r"\b([a-z]+[a-rt-z])s\b", r"\1", note, count=1)
    note = re.sub(r"(?<!which) (were|are|have)\b", lambda verb: f" {_SINGULAR[verb[1]]}", note, count=1)
    for several, one in _SAID_OF_ONE.items():
        note = note.replace(several, one)
    return note


def _was(n: int) -> str:
    return "was" if n == 1 else "were"
