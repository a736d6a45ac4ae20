r"""Text as people type it: with its mentions marked (``inline``), or plain (``text``).

Inline is one sentence a line: ``[Ekeus](PER) heads for [Baghdad](LOC)``. A label may be a partial one:
``[Baghdad](LOC|ORG)``, ``[heads](_)``. A backslash before ``[``, ``]`` or ``\`` makes it an ordinary
character; what has ``://`` in its round brackets is a link, and stays in the text as it is. What is nearly
a mark, such as ``[Ekeus] (PER)`` or ``[Ekeus](PER``, is an error.

Plain text is one document a line, or, where lines are wrapped to a width and blank lines stand between
blocks, one document a block. Documents are cut into sentences.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise

from handful.errors import DataError

from ._reading import Reading
from ._types import Allowed, Sentence, shorten
from ._words import to_sentence, to_sentences, word_offsets

__all__ = [
    "label_marks",
    "note_changed_words",
    "read_inline",
    "read_text",
    "write_inline",
    "write_text_lines",
]

_INNER = r"(?:\\[\[\]\\]|\\(?![\[\]\\])|[^\[\]\\])"
_MARKUP = re.compile(
    r"\\([\[\]\\])"  # an escape
    rf"|\[({_INNER}+)\]\(((?:(?!://)[^()\s])+)\)"  # a mark
    rf"|(?P<near>\[(?P<words>{_INNER}*)\](?P<gap>\s*)\((?![^()]*://)(?P<label>[^()\[\]]*)(?P<close>\))?)"
    r"|(?P<stray>\]\()(?![^()]*://)"
)
_ESCAPE = re.compile(r"\\([\[\]\\])")
_LINE_BREAKS = str.maketrans("\r\n", "  ")
MARK = re.compile(r"\[[^\[\]\n]+\]\(!?\w[\w-]*(?:\|\w[\w-]*)*\)")  # what is hardly anything else
WRAP_WIDTH = 100


def read_inline(reading: Reading) -> Iterator[Sentence]:
    """Yield the sentences of a file of inline markup."""
    for number, line in enumerate(reading.source.lines(), 1):
        if not line.strip():
            continue
        try:
            text, marks = parse_inline(line.rstrip("\r\n"))
            yield reading.from_spans(to_sentence(text), marks)
        except DataError as error:
            reading.malformed(number, error)


def parse_inline(line: str) -> tuple[str, list[tuple[int, int, str]]]:
    """Take the markup out of a line: return the text, and the marks as character positions and labels."""
    pieces: list[str] = []
    marks = []
    length = position = n_escaped = 0
    for match in _MARKUP.finditer(line):
        before = line[position : match.start()]
        escaped, inner, label = match.groups()[:3]
        if match["near"] is not None:
            raise DataError(_near(match))
        if match["stray"] is not None:
            if not n_escaped:
                raise DataError(
                    f"{shorten(line[match.start() :], 30)!r} ends a mark that does not begin, or has brackets in it; "
                    r"write \[ and \] for brackets in the text"
                )
            n_escaped -= 1
            continue
        n_escaped += escaped == "["
        inside = escaped if escaped is not None else _ESCAPE.sub(r"\1", inner)
        pieces += [before, inside]
        length += len(before)
        if escaped is None:
            marks.append((length, length + len(inside), label))
        length += len(inside)
        position = match.end()
    pieces.append(line[position:])
    return "".join(pieces), marks


def _near(match: re.Match[str]) -> str:
    """Say what is wrong with what is nearly a mark, and what to write."""
    words, label = match["words"].strip(), "_".join(match["label"].split())
    if match.string.startswith("(", match.end()):
        fault = "has a round bracket in its type"
    elif not match["close"]:
        label = label.partition("_")[0]
        fault = "has no closing round bracket after its type"
    elif not label:
        fault = "has no type"
    elif not words:
        fault = "has no words"
    elif match["gap"]:
        fault = "has white space between its brackets"
    else:
        fault = "has white space in its type"
    right = f"[{words or 'words'}]({label or 'TYPE'})"
    return (
        f"{shorten(match['near'])!r} {fault}; write {shorten(right)} to mark a mention, or \\[ for a bracket that is "
        "part of the text"
    )


def write_inline(sentences: Iterable[Sentence], notes: Counter[str]) -> Iterator[str]:
    """Yield lines of inline markup."""
    for sentence in sentences:
        sentence = sentence.with_text()
        text = _one_line(sentence, notes)
        note_changed_words(sentence, notes)
        marks = label_marks(sentence)
        if marks is None:
            marks = [(0, len(text), "_")]
        pieces, position = [], 0
        for start, end, label in marks:
            if not re.fullmatch(r"[^()\s]+", label) or "://" in label:
                raise DataError(f"inline markup cannot hold the label {label!r} (white space, brackets, ://)")
            pieces.append(f"{_escape(text[position:start])}[{_escape(text[start:end])}]({label})")
            position = end
        pieces.append(_escape(text[position:]))
        yield "".join(pieces) + "\n"


def read_text(reading: Reading) -> Iterator[Sentence]:
    """Yield the sentences of a file of plain text."""
    for document in _blocks(reading) if is_wrapped(reading.source.head) else reading.source.lines():
        sentences = to_sentences(document.rstrip("\r\n"), is_whole=reading.is_whole)
        if not sentences and document.strip():
            reading.report.notes["lines without a word (invisible characters only) were passed over"] += 1
        if reading.is_counting_marks and "](" in document and (marks := MARK.findall(document)):
            reading.report.notes[
                "marks such as [words](TYPE) were left in the text as they stand (format='inline' reads them as labels)"
            ] += len(marks)
        yield from sentences


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
    """Whether lines are cut for their width.

    There are blocks between blank lines, no line is long, and lines are full: with the first word of the
    next one added, hardly any would be within the longest.
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


def write_text_lines(sentences: Iterable[Sentence], notes: Counter[str]) -> Iterator[str]:
    """Yield the sentences' text, one a line; labels are not written."""
    for sentence in sentences:
        if sentence.spans:
            notes["mentions were not written: plain text has no labels"] += len(sentence.spans)
        sentence = sentence.with_text()
        note_changed_words(sentence, notes)
        yield _one_line(sentence, notes) + "\n"


def label_marks(sentence: Sentence) -> list[tuple[int, int, str]] | None:
    """Return a sentence's labels, partial ones too, as character positions and labels; None if unlabelled."""
    offsets = sentence.offsets
    if sentence.spans is None or offsets is None:
        return None
    marks = [(offsets[span.start][0], offsets[span.end - 1][1], span.type) for span in sentence.spans]
    previous: Allowed | None = None
    for (start, end), entry in zip(offsets, sentence.allowed or (), strict=False):
        if entry is not None:
            if entry == previous:
                start = marks.pop()[0]
            marks.append((start, end, str(entry)))
        previous = entry
    return sorted(marks)


def note_changed_words(sentence: Sentence, notes: Counter[str]) -> None:
    """Count a sentence whose words are not those that reading its text would find."""
    if word_offsets(sentence.text or "") != list(sentence.offsets or ()):
        notes["sentences will be read with other words: the format holds the text, not the words"] += 1


def _one_line(sentence: Sentence, notes: Counter[str]) -> str:
    text = sentence.text or ""
    line = text.translate(_LINE_BREAKS)
    if line != text:
        notes["line breaks were written as spaces"] += sum(text.count(c) for c in "\r\n")
    return line


def _escape(text: str) -> str:
    return re.sub(r"([\[\]\\])", r"\\\1", text)
