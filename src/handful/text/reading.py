"""What all readers share: the report, and how labels are put onto words."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from handful.errors import Advice, DataError, FormatError, HandfulError

from ._document import Document
from ._entity_types import EntityType
from ._schemes import TagReader
from ._source import Source
from .partial_labels import without_partial
from .sentences import UNKNOWN, Sentence, Span, shorten
from .type_choice import TypeChoice

if TYPE_CHECKING:
    from ._annotators import Annotator
    from ._options import ReadOptions

__all__ = ["Item", "Mark", "ReadReport", "Reading"]

Item = Sentence | Document | None
"""What a reader yields: a sentence, a document, or None where a new part of the file begins (``-DOCSTART-``).

A sentence is a document of its own. A sentence of words alone has no text yet; `Stream` adds it.
"""

KEPT_ERRORS = 10


class Mark(NamedTuple):
    """A label as characters of a text; the label may be a partial one."""

    start: int
    end: int
    label: str
    score: float | None = None


@dataclass
class ReadReport:
    """What reading a file found, with a count of everything that was not taken as it is.

    Parameters
    ----------
    name : str
        The file.
    format : str
        The format, named or recognised.
    scheme : str or None
        The tag scheme, named or recognised (see `handful.text._schemes`); None where there are no tags.
    n_sentences, n_words : int
        How much was read so far.
    n_broken : int
        Tags that the scheme does not allow in their place; they are read as conlleval does.
    n_widened : int
        Spans that were widened to the borders of words (with ``misaligned="widen"``).
    n_skipped : int
        Malformed lines or records that were left out (with ``malformed="skip"``): in CoNLL, the whole sentence.
    skipped : list of FormatError
        The errors of the first ten of them.
    notes : Counter of str or Advice
        What else was handled, and how often, such as ``-DOCSTART-`` lines. An `Advice` reads differently in Python and
        on the command line.
    """

    name: str
    format: str
    scheme: str | None = None
    n_sentences: int = 0
    n_words: int = 0
    n_broken: int = 0
    n_widened: int = 0
    n_skipped: int = 0
    skipped: list[FormatError] = field(default_factory=list)
    notes: Counter[str | Advice] = field(default_factory=Counter)

    @property
    def summary(self) -> str:
        """The file, its format and its size, in one line."""
        scheme = f", scheme {self.scheme}" if self.scheme else ""
        sentences = f"{self.n_sentences} sentence{'s' * (self.n_sentences != 1)}"
        return f"{self.name}: {self.format}{scheme}, {sentences}, {self.n_words} word{'s' * (self.n_words != 1)}"

    def handled(self, *, shell: bool = False) -> list[str]:
        """Return one line for each thing that was not taken as it is.

        Parameters
        ----------
        shell : bool
            Whether to name options of the command line instead of parameters in Python.
        """
        lines = []
        if self.n_broken:
            lines.append(f"{self.n_broken} tags break the scheme and were read as conlleval does")
        if self.n_widened:
            lines.append(f"{self.n_widened} spans were widened to whole words")
        if self.n_skipped:
            first = self.skipped[0].for_shell if shell else self.skipped[0]
            lines.append(f"{self.n_skipped} malformed places were skipped, the first: {first}")
        return lines + note_lines(self.notes, shell=shell)

    def __str__(self) -> str:
        """Return the summary, and below it the lines of `handled`."""
        return "\n".join([self.summary, *self.handled()])


def note_lines(notes: Counter[str | Advice], *, shell: bool) -> list[str]:
    """Return notes with their counts, one on each line."""
    return [f"{count} {note.shell if shell and isinstance(note, Advice) else note}" for note, count in notes.items()]


class Reading:
    """One file that is being read: its source, the options, the report and the reader of its tags.

    `described` holds the types that the head of the file describes, `annotators` those who were met with.
    """

    def __init__(self, source: Source, options: "ReadOptions", report: ReadReport) -> None:
        self.source = source
        self.options = options
        self.report = report
        self.tags = TagReader(options.scheme)
        self.described: tuple[EntityType, ...] = ()
        self.annotators: dict[Annotator, None] = {}
        self.types = TypeChoice(options.keep, options.drop, options.rename)
        self._is_unmarked_unknown = options.unmarked == "unknown"
        self._is_plain = not self.types and not self._is_unmarked_unknown

    def fail(self, place: int | str, message: str) -> NoReturn:
        """Raise an error for a line (its number) or another place, after which nothing more can be read."""
        raise FormatError(f"{self.source.name}{_where(place)}: {message}")

    def malformed(self, place: int | str, problem: str | HandfulError) -> None:
        """Raise an error for a line (its number) or another place, or count it where malformed ones are skipped."""
        advice = None if isinstance(problem, str) else problem.advice
        message = problem if isinstance(problem, str) else problem.message
        error = FormatError(f"{self.source.name}{_where(place)}: {message}", advice)
        if self.options.malformed == "error":
            raise error from None
        self.report.n_skipped += 1
        if len(self.report.skipped) < KEPT_ERRORS:
            self.report.skipped.append(error)

    def from_tags(self, words: Sequence[str], tags: Sequence[str]) -> Sentence:
        """Make a sentence from words, which are known to be non-empty strings, and tags."""
        spans, allowed = self.tags.read(tags)
        if allowed is None and self._is_plain:
            return Sentence.trusted(tuple(words), spans)
        return self.finish(Sentence(tuple(words), spans, allowed))

    def finish(self, sentence: Sentence) -> Sentence:
        """Rename types and leave some out, and open the labels of words that no mention covers, as options ask."""
        if self.types:
            sentence = self.types.sentence(sentence)
        if not self._is_unmarked_unknown:
            return sentence
        allowed = list(sentence.allowed or [None] * len(sentence.words))
        covered = {i for span in sentence.spans or () for i in range(span.start, span.end)}
        allowed = [entry or (None if i in covered else UNKNOWN) for i, entry in enumerate(allowed)]
        return Sentence(sentence.words, sentence.spans, tuple(allowed), sentence.text, sentence.starts, sentence.offset)

    def from_spans(self, sentence: Sentence, marks: Iterable[Mark]) -> Sentence:
        """Put labels onto a sentence with a text."""
        text, starts = sentence.text, sentence.starts
        if text is None or starts is None:
            raise DataError("spans of characters need a text")
        found: list[Span] = []
        previous = (0, 0, "")
        for start, end, label, score in sorted(marks, key=lambda mark: mark[:3]):
            first, last = self._place(sentence, text, starts, start, end, label)
            if found and start < previous[1]:
                raise DataError(
                    f"the spans {_show(text, *previous)} and {_show(text, start, end, label)} overlap; "
                    "a word can be in one mention only"
                )
            previous = (start, end, label)
            found.append(Span(first, last, label, score))
        for before, after in pairwise(found):
            if after.start < before.end:
                raise DataError(f"{before} and {after} overlap once widened to whole words")
        return self.labelled(sentence, found)

    def labelled(self, sentence: Sentence, found: Iterable[Span]) -> Sentence:
        """Put spans of words, some of which may be partial labels, onto a sentence."""
        spans, allowed = without_partial(found, len(sentence.words))
        return self.finish(Sentence(sentence.words, spans, allowed, sentence.text, sentence.starts, sentence.offset))

    def _place(
        self, sentence: Sentence, text: str, starts: tuple[int, ...], start: int, end: int, label: str
    ) -> tuple[int, int]:
        """Return the words that a span of characters covers: the first, and one past the last."""
        if not 0 <= start < end <= len(text):
            raise DataError(f"the span {start}:{end} ({label}) is not in the text, which has {len(text)} characters")
        words = sentence.words
        first = bisect_right(starts, start) - 1
        if first < 0 or starts[first] + len(words[first]) <= start:
            first += 1  # the span starts in a gap
        last = bisect_right(starts, end - 1)
        if first >= last:
            raise DataError(f"the span {_show(text, start, end, label)} covers no word")
        last_end = starts[last - 1] + len(words[last - 1])
        if starts[first] < start or last_end > end:
            if self.options.misaligned == "error":
                raise DataError(
                    f"the span {_show(text, start, end, label)} does not fall on word borders; the nearest "
                    f"words are {_show(text, starts[first], last_end)}",
                    Advice(
                        "mark whole words, or say misaligned='widen'",
                        "mark whole words, or say --widen",
                    ),
                )
            self.report.n_widened += 1
        elif starts[first] > start or last_end < end:
            self.report.notes["spans had white space at an end, which was left out"] += 1
        return first, last


def _where(place: int | str) -> str:
    return f":{place}" if isinstance(place, int) else place


def _show(text: str, start: int, end: int, label: str = "") -> str:
    return f"{start}:{end} {shorten(text[start:end])!r}" + (f" ({label})" if label else "")
