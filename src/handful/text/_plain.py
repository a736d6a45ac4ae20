"""Plain text (``text``), and text with its mentions marked (``inline``).

In plain text, each line is a document. Where lines are wrapped to a width, with blank lines between blocks, each block
is one. Documents are cut into sentences. A document of more than `LONGEST` characters comes in parts, so that one of
any size passes through in little memory.

In inline text, each line is a sentence, with its mentions marked as `handful.text._markup` says. The file may start
with a head, which describes its types, one on each line: ``# PER: people, with their titles``. The head ends at a blank
line, or at the first line that does not start with ``#``. In it, ``# domain: ...`` and ``# register: ...`` are about
the corpus, unless the file marks mentions of a type of that name.
"""

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from handful.errors import Advice, DataError, shorten

from ._document import Document
from ._labels import Mark
from ._markup import HEAD_LINE, MARK, marked_up, parse_marks, quoted, unquoted
from ._reading import FileReader
from ._sentences import Sentence
from ._words import to_sentence, to_sentences
from ._writing import Writing, note_changed_words, one_line, text_marks, with_words
from .types import ABOUT_CORPUS, EntityType, types_of

LONGEST = 100_000  # characters
WRAP_WIDTH = 100
_MARKS_LEFT = "marks such as [words](TYPE) were left in the text as they are ({} reads them as labels)"
_CUT = (
    f"parts were made of texts of more than {LONGEST:,} characters, cut after a sentence where there is one; the "
    "'offset' of a part is where it begins"
)


def read_text(reading: FileReader) -> Iterator[Document]:
    """Find out whether lines are wrapped; return an iterator of the documents of a file of plain text."""
    wrapped = reading.options.wrapped
    reading.is_by_line = not (_is_wrapped(reading.source.head) if wrapped is None else wrapped)
    return _documents(reading)


def _documents(reading: FileReader) -> Iterator[Document]:
    # Where the user named the format, marks are part of the text on purpose.
    is_counting_marks = reading.options.unlabelled and reading.options.format is None
    for text, offset, sentences in _parts(reading):
        if not sentences:
            if text.strip():
                reading.report.notes["lines without a word (invisible characters only) were passed over"] += 1
            continue
        if is_counting_marks and "](" in text and (marks := MARK.findall(text)):
            reading.report.notes[Advice.of(_MARKS_LEFT, ("format='inline'", "--from inline"))] += len(marks)
        if offset is not None:
            reading.report.notes[_CUT] += 1
        yield Document(text, tuple(sentences), meta={} if offset is None else {"offset": offset})


def _parts(reading: FileReader) -> Iterator[tuple[str, int | None, list[Sentence]]]:
    """Yield texts with their sentences; a long one in parts, each with its place in the whole.

    A part ends where a sentence does, with the white space after it. Its sentences are those of the whole text. Only
    where a sentence is as long as a part may be, it is cut at a space, or anywhere if there is none.
    """
    lines = reading.source.lines(LONGEST)
    pieces = ((line, line[-1:] == "\n") for line in lines) if reading.is_by_line else _blocks(lines)
    rest, offset = "", 0
    for piece, is_end in chain(pieces, [("", True)]):
        text = rest + piece
        while len(text) > LONGEST:
            start = text[:LONGEST]
            sentences = to_sentences(start)
            firsts = [sentence.offset for sentence in sentences]
            place = _end_of_part(start, firsts)
            whole = sentences[: firsts.index(place)] if place in firsts else to_sentences(start[:place])
            yield text[:place], offset, whole
            text, offset = text[place:], offset + place
        if is_end:
            text = text.rstrip("\r\n")
            if text:
                yield text, offset or None, to_sentences(text)
            text, offset = "", 0
        rest = text


def _end_of_part(start: str, firsts: list[int]) -> int:
    """Return where to cut the beginning of a text, given where its sentences start; the last one may not be whole."""
    after_space = [place for place in firsts if place and start[place - 1].isspace()]
    if after_space:
        return after_space[-1]
    if len(firsts) > 1:
        return firsts[-1]
    return max(start.rfind(" "), start.rfind("\n"), start.rfind("\t")) + 1 or len(start)


def _blocks(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Yield blocks between blank lines, each with True; the parts of a long one with False, but for the last."""
    block: list[str] = []
    n_characters = 0
    for line in lines:
        is_blank = not line.strip()
        block.append(line * (not is_blank))
        n_characters += len(line)
        if is_blank or n_characters > LONGEST:
            yield "".join(block), is_blank
            block, n_characters = [], 0
    yield "".join(block), True


def _is_wrapped(head: str) -> bool:
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


def read_inline(reading: FileReader) -> Iterator[Sentence]:
    """Read the head of a file of inline markup; return an iterator of its sentences."""
    lines = enumerate(reading.source.lines(), 1)
    number, line = next(lines, (1, ""))
    if is_head_line(line) and not MARK.search(line):
        while line.startswith("#"):
            _read_head_line(reading, number, line)
            number, line = next(lines, (number, ""))
        if n_types := sum(one.name not in ABOUT_CORPUS for one in reading.described):
            reading.report.notes["types are described at the head of the file"] += n_types
    return _sentences(reading, chain([(number, line)], lines))


def _sentences(reading: FileReader, lines: Iterable[tuple[int, str]]) -> Iterator[Sentence]:
    for number, line in lines:
        if line.strip():
            try:
                text, marks = parse_marks(line.rstrip("\r\n"))
                sentence = reading.from_marks(to_sentence(text), marks)
            except DataError as error:
                reading.malformed(number, error)
            else:
                yield sentence


def is_head_line(line: str) -> bool:
    """Whether a line describes a type: ``# NAME: description``."""
    return line.startswith("#") and HEAD_LINE.fullmatch(line.rstrip()) is not None


def _read_head_line(reading: FileReader, number: int, line: str) -> None:
    match = HEAD_LINE.fullmatch(line.rstrip())
    try:
        if match is None:
            raise DataError(
                f"found {shorten(line.strip())!r} in the head of the file, expected '# NAME: description' (a name with "
                "spaces in double quotes); a blank line ends the head"
            )
        reading.described = types_of([*reading.described, EntityType(unquoted(match["name"]), match["description"])])
    except DataError as error:
        reading.malformed(number, error)


def write_inline(sentences: Iterable[Sentence], writing: Writing) -> Iterator[str]:
    """Yield the head of a file of inline markup, if there is one, and its lines."""
    if writing.head:
        yield "".join(f"# {quoted(one.name)}: {one.description}\n" for one in writing.head) + "\n"
    is_first = not writing.head
    for sentence in sentences:
        sentence = sentence.with_text()
        text = one_line(sentence, writing)
        marks = text_marks(sentence, writing)
        line = marked_up(text, [Mark(0, len(text), "_")] if marks is None else marks)
        if is_first and is_head_line(line):
            yield "\n"  # so that it is not read as a head
        is_first = False
        yield line + "\n"
