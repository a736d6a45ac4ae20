"""What all readers share: options, the report, and how labels are put onto words."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, pairwise
from types import TracebackType
from typing import Any, NoReturn

from handful.errors import DataError, FormatError

from ._files import Source
from ._schemes import TagReader
from ._types import UNKNOWN, Allowed, Sentence, Span, shorten

__all__ = ["Corpus", "ReadReport", "Reading", "Stream", "named_documents"]

KEPT_MESSAGES = 10


@dataclass
class ReadReport:
    """What reading a file met with: whatever was not simply taken as it stood is counted here.

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
        Malformed lines or records left out (with ``malformed="skip"``): in CoNLL, the whole sentence.
    skipped : list of str
        The messages for the first ten of them.
    notes : Counter of str
        Whatever else was handled, and how often, such as ``-DOCSTART-`` lines.
    """

    name: str
    format: str
    scheme: str | None = None
    n_sentences: int = 0
    n_words: int = 0
    n_broken: int = 0
    n_widened: int = 0
    n_skipped: int = 0
    skipped: list[str] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        """Say it in one line, and one more for each thing that was handled."""
        scheme = f", scheme {self.scheme}" if self.scheme else ""
        sentences = f"{self.n_sentences} sentence{'s' * (self.n_sentences != 1)}"
        lines = [f"{self.name}: {self.format}{scheme}, {sentences}, {self.n_words} word{'s' * (self.n_words != 1)}"]
        if self.n_broken:
            lines.append(f"{self.n_broken} tags break the scheme and were read as conlleval does")
        if self.n_widened:
            lines.append(f"{self.n_widened} spans were widened to whole words")
        if self.n_skipped:
            lines.append(f"{self.n_skipped} malformed places were skipped, the first: {self.skipped[0]}")
        lines += [f"{count} {what}" for what, count in self.notes.items()]
        return "\n".join(lines)


class Reading:
    """One file being read: its source, the options and the report."""

    def __init__(
        self,
        source: Source,
        report: ReadReport,
        *,
        scheme: str | None,
        is_unmarked_unknown: bool,
        is_widening: bool,
        is_skipping: bool,
        is_whole: bool,
        names: Sequence[str] | None,
        is_by_document: bool = False,
        is_unlabelled: bool = False,
        is_counting_marks: bool = False,
    ) -> None:
        self.source = source
        self.report = report
        self.tags = TagReader(scheme)
        self.names = names
        self.is_by_document = is_by_document  # whether readers that know documents yield None where one begins
        self.is_whole = is_whole
        self.is_unlabelled = is_unlabelled  # whether no labels are looked for
        self.is_counting_marks = is_counting_marks  # whether marks in plain text are worth a note
        self.is_text = report.format == "text"  # whether the words of what is read were found, not given
        self.rest: dict[str, Any] = {}  # of the last JSON record: what is neither text nor labels
        self._is_unmarked_unknown = is_unmarked_unknown
        self._is_widening = is_widening
        self._is_skipping = is_skipping

    def fail(self, line: int, message: object) -> NoReturn:
        """Raise an error for a line after which nothing more can be read."""
        raise FormatError(f"{self.source.name}:{line}: {message}")

    def malformed(self, line: int, message: object) -> None:
        """Raise an error for a line, or count it when malformed lines are to be skipped."""
        text = f"{self.source.name}:{line}: {message}"
        if not self._is_skipping:
            raise FormatError(text)
        self.report.n_skipped += 1
        if len(self.report.skipped) < KEPT_MESSAGES:
            self.report.skipped.append(text)

    def from_tags(self, words: Sequence[str], tags: Sequence[str]) -> Sentence:
        """Make a sentence from words, which are known to be non-empty strings, and tags."""
        spans, allowed = self.tags.read(tags)
        if allowed is None and not self._is_unmarked_unknown:
            return Sentence.trusted(tuple(words), spans)
        sentence = Sentence(tuple(words), spans, allowed)
        return self._open_unmarked(sentence) if self._is_unmarked_unknown else sentence

    def finish(self, sentence: Sentence) -> Sentence:
        """Open the labels of words that no mention covers, if that is asked for."""
        return self._open_unmarked(sentence) if self._is_unmarked_unknown else sentence

    def without_words(self, text: str) -> Sentence | None:
        """Give a document without a word, which only texts to tag can be; other unlabelled ones are passed over."""
        if self.is_whole:
            return Sentence.trusted((), text=text, starts=())
        self.report.notes["records without a word were passed over"] += 1
        return None

    def from_spans(self, sentence: Sentence, marks: Iterable[tuple[int, int, str]] | None) -> Sentence:
        """Put labels onto a sentence with a text; each mark is two character positions and a label.

        A label may be a partial one. ``None`` for all marks leaves the sentence unlabelled.
        """
        if marks is None:
            return sentence
        text, starts = sentence.text, sentence.starts
        if text is None or starts is None:
            raise DataError("spans of characters need a text")
        spans: list[Span] = []
        allowed: list[Allowed | None] | None = None
        previous = (0, 0, "")
        for start, end, label in sorted(marks):
            first, last = self._place(sentence, text, starts, start, end, label)
            if spans and start < previous[1]:
                raise DataError(
                    f"the spans {_show(text, *previous)} and {_show(text, start, end, label)} overlap; "
                    "a word can be in one mention only"
                )
            previous = (start, end, label)
            spans.append(Span(first, last, label))
        for before, after in pairwise(spans):
            if after.start < before.end:
                raise DataError(f"{before} and {after} overlap once widened to whole words")
        whole = []
        for span in spans:
            if span.type == "_" or span.type[:1] == "!" or "|" in span.type:
                allowed = allowed or [None] * len(starts)
                allowed[span.start : span.end] = [Allowed.parse(span.type)] * (span.end - span.start)
            else:
                whole.append(span)
        labelled = Sentence(
            sentence.words, tuple(whole), tuple(allowed) if allowed else None, text, starts, sentence.offset
        )
        return self._open_unmarked(labelled) if self._is_unmarked_unknown else labelled

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
            if not self._is_widening:
                raise DataError(
                    f"the span {_show(text, start, end, label)} does not fall on word borders; the nearest "
                    f"words are {_show(text, starts[first], last_end)}; mark whole words, or say "
                    "misaligned='widen'"
                )
            self.report.n_widened += 1
        elif starts[first] > start or last_end < end:
            self.report.notes["spans had white space at an end, which was left out"] += 1
        return first, last

    def _open_unmarked(self, sentence: Sentence) -> Sentence:
        allowed = list(sentence.allowed or [None] * len(sentence.words))
        covered = {i for span in sentence.spans or () for i in range(span.start, span.end)}
        allowed = [entry or (None if i in covered else UNKNOWN) for i, entry in enumerate(allowed)]
        return Sentence(sentence.words, sentence.spans, tuple(allowed), sentence.text, sentence.starts, sentence.offset)


def named_documents(reading: Reading, sentences: Iterable[Sentence | None]) -> Iterator[Sentence]:
    """Yield the sentences of documents that have a mention at all; None stands where a document begins."""
    document: list[Sentence] = []
    for sentence in chain(sentences, [None]):
        if sentence is not None:
            document.append(sentence)
            continue
        if any(one.spans for one in document):
            yield from document
        elif document:
            reading.report.notes["documents without any mention were left out"] += 1
        document = []


class Stream(Iterator[Sentence]):
    """The sentences of a file, one after the other, in little memory.

    It closes the file at its end, when it is used in a ``with`` statement, and when it is thrown away.

    Attributes
    ----------
    report : ReadReport
        Complete once the stream is at its end.
    """

    def __init__(self, reading: Reading, sentences: Iterator[Sentence]) -> None:
        self.report = reading.report
        self._reading = reading
        self._run = _counted(reading, sentences)  # knows nothing of this object, which can so be thrown away

    def __next__(self) -> Sentence:
        return next(self._run)

    @property
    def is_text(self) -> bool:
        """Whether the last sentence is a plain text, whose words were not given."""
        return self._reading.is_text

    @property
    def rest(self) -> dict[str, Any]:
        """Give what stood in the last sentence's record besides its text and its labels, in JSON read as unlabelled."""
        return self._reading.rest

    def close(self) -> None:
        """Close the file."""
        self._reading.source.close()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def _counted(reading: Reading, sentences: Iterator[Sentence]) -> Iterator[Sentence]:
    report = reading.report
    try:
        with reading.source.errors():
            for sentence in sentences:
                report.n_sentences += 1
                report.n_words += len(sentence.words)
                yield sentence
    finally:
        report.scheme, report.n_broken = reading.tags.scheme, reading.tags.n_broken
        reading.source.close()


class Corpus(list[Sentence]):
    """A list of sentences that came from a file, with the `report` of its reading."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        self.report = stream.report


def _show(text: str, start: int, end: int, label: str = "") -> str:
    return f"{start}:{end} {shorten(text[start:end])!r}" + (f" ({label})" if label else "")
