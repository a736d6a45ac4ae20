"""`FileReader`: what the readers of all formats share, above all how labels are put onto words."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, NoReturn

from handful.errors import Advice, DataError, FormatError, HandfulError, shorten

from ._document import Document
from ._labels import UNKNOWN, Allowed, Mark, Span, by_place
from ._reports import ReadReport
from ._schemes import TagReader
from ._sentences import Sentence
from ._source import InputFile
from .layers import flattened
from .type_choice import TypeChoice
from .types import EntityType

if TYPE_CHECKING:
    from ._annotators import Annotator
    from ._options import ReadOptions

Item = Sentence | Document
"""A reader yields these. A sentence is a document of its own; one of words alone has no text yet: `Stream` adds it."""

KEPT_ERRORS = 10


class FileReader:
    """One file that is being read: the file, the options, the report and the reader of its tags."""

    def __init__(self, source: InputFile, options: "ReadOptions", report: ReadReport) -> None:
        self.source = source
        self.options = options
        self.report = report
        self.tags = TagReader(options.scheme)
        self.described: tuple[EntityType, ...] = ()  # at the head of the file
        self.annotators: dict[Annotator, None] = {}  # who were met with, in order
        self.is_by_line = False  # whether each line is a document, whatever is before and after it
        self.n_row_groups: int | None = None  # parts of a Parquet file that can be read one by one
        self.types = TypeChoice(options.keep, options.drop, options.rename)
        self._is_unmarked_unknown = options.unmarked == "unknown"
        self._is_plain = not self.types and not self._is_unmarked_unknown

    def fail(self, place: int | str, message: str) -> NoReturn:
        """Raise an error for a line (its number) or another place, after which nothing more can be read."""
        raise self._error(place, DataError(message))

    def malformed(self, place: int | str, problem: str | HandfulError) -> None:
        """Raise an error for a line (its number) or another place, or count it where malformed ones are skipped."""
        error = self._error(place, DataError(problem) if isinstance(problem, str) else problem)
        if self.options.malformed == "error":
            raise error from None
        self.report.n_skipped += 1
        if len(self.report.skipped) < KEPT_ERRORS:
            self.report.skipped.append(error)

    def _error(self, place: int | str, problem: HandfulError) -> FormatError:
        where = f":{place}" if isinstance(place, int) else place
        return FormatError(f"{self.source.name}{where}: {problem.message}", problem.advice)

    def check_words(self, text: str, sentences: Sequence[Sentence]) -> tuple[Sentence, ...]:
        """Return the sentences of a text; a text without a word is an error, unless it is to be tagged."""
        if not sentences and not self.options.unlabelled:
            raise DataError(f"there is no word in the text {shorten(repr(text))}")
        return tuple(sentences)

    def from_tags(self, words: Sequence[str], tags: Sequence[str]) -> Sentence:
        """Make a sentence from words, which are known to be non-empty strings, and tags."""
        spans, allowed = self.tags.read(tags)
        if allowed is None and self._is_plain:
            return Sentence.trusted(tuple(words), spans)
        return self.finish(Sentence(tuple(words), spans, allowed))

    def from_marks(self, sentence: Sentence, marks: Iterable[Mark]) -> Sentence:
        """Put labels onto a sentence with a text."""
        marks = self.once(sorted(marks, key=lambda mark: mark[:3]))
        found = [Span(*self._place(sentence, mark), mark.label, mark.score) for mark in marks]
        for (one, before), (other, after) in pairwise(zip(marks, found, strict=True)):
            if one.end <= other.start and after.start < before.end:
                raise DataError(f"{before} and {after} overlap once widened to whole words")
        return self.from_spans(sentence, found)

    def once(self, marks: Sequence[Mark]) -> list[Mark]:
        """Return marks without those that say again what another one says."""
        found = {mark[:3]: mark for mark in reversed(marks)}
        if len(found) < len(marks):
            self.report.notes["spans were given twice and count once"] += len(marks) - len(found)
        return [*reversed(found.values())]

    def from_spans(self, sentence: Sentence, found: Iterable[Span]) -> Sentence:
        """Put spans of words, some of which may be partial labels, onto a sentence."""
        spans: list[Span] = []
        allowed: list[Allowed | None] = []
        for span in found:
            if span.type == "_" or span.type[:1] == "!" or "|" in span.type:
                allowed = allowed or [None] * len(sentence.words)
                if any(allowed[span.start : span.end]):
                    raise DataError(f"{span} shares a word with another partial label")
                allowed[span.start : span.end] = [Allowed.parse(span.type)] * (span.end - span.start)
            else:
                spans.append(span)
        spans = sorted(dict.fromkeys(spans), key=by_place)  # those widened to the same words are one
        return self.finish(sentence.with_labels(tuple(spans), tuple(allowed) or None))

    def finish(self, sentence: Sentence) -> Sentence:
        """Rename types and leave some out, and open the labels of words that no mention covers, as options ask."""
        if self.types:
            sentence = self.types.sentence(sentence)
        if self.options.layer is not None:
            sentence = flattened(sentence, self.options.layer)
        if not self._is_unmarked_unknown:
            return sentence
        opened: list[Allowed | None] = [entry or UNKNOWN for entry in sentence.allowed or [None] * len(sentence.words)]
        for span in sentence.spans or ():
            opened[span.start : span.end] = [None] * (span.end - span.start)
        return sentence.with_labels(sentence.spans, tuple(opened))

    def _place(self, sentence: Sentence, mark: Mark) -> tuple[int, int]:
        """Return the words that a mark covers: the first, and one past the last."""
        start, end, label, _ = mark
        text, words, starts = sentence.text, sentence.words, sentence.starts
        if text is None or starts is None:
            raise DataError("spans of characters need a text")
        if not 0 <= start < end <= len(text):
            raise DataError(f"the span {start}:{end} ({label}) is not in the text, which has {len(text)} characters")
        first = bisect_right(starts, start) - 1
        if first < 0 or starts[first] + len(words[first]) <= start:
            first += 1  # the span starts in a gap
        last = bisect_right(starts, end - 1)
        if first >= last:
            raise DataError(f"the span {_show(text, mark)} covers no word")
        last_end = starts[last - 1] + len(words[last - 1])
        if starts[first] < start or last_end > end:
            if self.options.misaligned == "error":
                raise DataError(
                    f"the span {_show(text, mark)} does not fall on word borders; the nearest words are "
                    f"{_show(text, Mark(starts[first], last_end, ''))}",
                    Advice.of("mark whole words, or say {}", ("misaligned='widen'", "handful convert --widen")),
                )
            self.report.n_widened += 1
        elif starts[first] > start or last_end < end:
            self.report.notes["spans had white space at an end, which was left out"] += 1
        return first, last


def _show(text: str, mark: Mark) -> str:
    return f"{mark.start}:{mark.end} {shorten(text[mark.start : mark.end])!r}" + (
        f" ({mark.label})" * (mark.label != "")
    )
