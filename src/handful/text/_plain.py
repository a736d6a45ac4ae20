"""Plain text (``text``).

Each line is a document. Where lines are wrapped to a width, with blank lines between blocks, each block is one.
Documents are cut into sentences.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise

from handful.errors import Advice

from ._document import Document
from ._inline import MARK
from ._reading import Reading
from ._words import to_sentences
from ._writing import Writing, note_changed_words, one_line, with_words

__all__ = ["read_text", "write_text_lines"]

WRAP_WIDTH = 100
_MARKS_LEFT = "marks such as [words](TYPE) were left in the text as they are ({} reads them as labels)"


def read_text(reading: Reading) -> Iterator[Document]:
    """Yield the documents of a file of plain text."""
    # Where the user named the format, marks are part of the text on purpose.
    is_counting_marks = reading.options.unlabelled and reading.options.format is None
    for piece in _blocks(reading) if is_wrapped(reading.source.head) else reading.source.lines():
        text = piece.rstrip("\r\n")
        sentences = to_sentences(text)
        if not sentences:
            if text.strip():
                reading.report.notes["lines without a word (invisible characters only) were passed over"] += 1
            continue
        if is_counting_marks and "](" in text and (marks := MARK.findall(text)):
            note = Advice(_MARKS_LEFT.format("format='inline'"), _MARKS_LEFT.format("--from inline"))
            reading.report.notes[note] += len(marks)
        yield Document(text, tuple(sentences))


def _blocks(reading: Reading) -> Iterator[str]:
    block: list[str] = []
    for line in reading.source.lines():
        if line.strip():
            block.append(line)
        elif block:
            yield "".join(block)
            block = []
    if block:
        yield "".join(block)


def is_wrapped(head: str) -> bool:
    """Whether lines are cut to a width.

    There are blocks between blank lines, no line is long, and lines are full: hardly any would have room for the first
    word of the next one.
    """
    lines = [line.rstrip() for line in head.split("\n")]
    longest = max(map(len, lines))
    if longest > WRAP_WIDTH or "" not in "\n".join(lines).strip().split("\n"):
        return False
    full = [
        len(line) + 1 + len(following.split(maxsplit=1)[0]) > longest
        for line, following in pairwise(lines)
        if line and following
    ]
    return len(full) > 1 and sum(full) >= 0.8 * len(full)


def write_text_lines(documents: Iterable[Document], writing: Writing) -> Iterator[str]:
    """Yield the text of each document on one line; labels are not written."""
    for _, sentence in with_words(documents, writing):
        if sentence.spans:
            writing.notes["mentions were not written: plain text has no labels"] += len(sentence.spans)
        note_changed_words(sentence, writing)
        yield one_line(sentence, writing) + "\n"
