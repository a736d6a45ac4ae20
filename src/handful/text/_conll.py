"""Tags in columns and lines: CoNLL (``conll``), OntoNotes (``conll-2012``), and lines of words and tags (``lines``).

CoNLL has one word per line, with its tag in the last column, and a blank line after each sentence. Columns are
separated by tabs (then a word or a type may hold spaces) or by white space. There are two or more, the same number in
every line. ``-DOCSTART-`` lines are passed over and counted. Tags follow any scheme. A word whose label is open has a
partial label: ``_``, ``LOC|ORG``, ``!O``. Where the first of three or more columns counts the words of each sentence,
as in CoNLL-U, the second column is the word, and lines that start with ``#`` before a sentence are comments.

OntoNotes, as the CoNLL-2012 shared task wrote it, can be read only. Columns are separated by white space. The fourth is
the word. The eleventh opens and closes names, as in ``(ORG*``, ``*``, ``*)`` and ``(GPE)``. A document is between lines
that start with ``#begin document`` and ``#end document``.

In ``lines`` each sentence is two lines, words and tags, separated by spaces. ``X`` is an unknown tag. Blank lines
between the pairs are passed over.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from handful.errors import Advice, DataError, shorten

from ._reading import FileReader
from ._schemes import to_tags
from ._sentences import Sentence, Span
from ._source import InputFile
from ._writing import Writing
from .types import type_names

DOCSTART = "-DOCSTART-"
BEGIN, END = "#begin document", "#end document"
_SPACES = re.compile("[ \t\r\n]+")
_SPACE_CHARACTERS = " \t\r\n"
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_RANGE = re.compile(r"\d+[-.]\d+")  # in CoNLL-U: several words written as one, or a word that is not written
_BRACKETS = re.compile(r"(?:\(([^()*]+))?\*?(\))?")
_ENOUGH = 0.8  # of all sentences
_NOT_IN_COLUMNS = re.compile(rf"^ | $|[\t\r\n]|^{DOCSTART}$")
_RENAME = Advice(
    "write another format, such as jsonl, or read with rename={'GARDEN PEST': 'GARDEN_PEST'}",
    "write another format, such as jsonl, or rename it, as handful convert --rename 'GARDEN PEST=GARDEN_PEST' does",
)


def split_columns(line: str) -> list[str]:
    """Split at spaces and tabs only: a no-break space or a form feed is part of a word."""
    line = line.strip(_SPACE_CHARACTERS)
    return _SPACES.split(line) if line else []


def _by_tabs(line: str) -> list[str]:
    return line.rstrip(_SPACE_CHARACTERS).split("\t")


def is_numbered(source: InputFile) -> bool:
    """Whether the first of three or more columns counts the words of each sentence, from 0 or from 1."""
    blocks = _BLANK_LINE.split(source.head)
    if not source.is_whole and len(blocks) > 1:
        blocks.pop()  # it may be cut
    counts: list[list[str]] = []
    for block in blocks:
        lines = [line for line in block.split("\n") if line.strip() and not line.startswith(("#", DOCSTART))]
        rows = [split_columns(line) for line in lines]
        if count := [row[0] if len(row) > 2 else "" for row in rows if not _RANGE.fullmatch(row[0])]:
            counts.append(count)
            if counts[0][0] not in ("0", "1"):
                return False
    longest = max(map(len, counts), default=0)
    if longest < 2 or sum(map(len, counts)) < 3:
        return False
    right = [str(i) for i in range(int(counts[0][0]), longest + 1)]
    return sum(count == right[: len(count)] for count in counts) >= _ENOUGH * len(counts)


class _Columns:
    """The columns of the lines of a CoNLL file, learned from the first one; `word` and `tag` are their columns."""

    tag = -1

    def __init__(self, reading: FileReader) -> None:
        self._reading = reading
        self._first = 0  # the line that set the number of columns
        self._n = 0
        self._ways = [_by_tabs, split_columns]  # to split a line, the usual one first
        self.word = int(is_numbered(reading.source))

    def mark(self, line: str) -> str | None:
        """Return what a line that is between sentences is called; None for any other line."""
        is_mark = line.startswith(DOCSTART) and not line[len(DOCSTART) :][:1].strip()
        return DOCSTART if is_mark else None

    def sentences(self) -> Iterator[tuple[list[str], list[str], list[int]]]:
        """Yield the words, tags and line numbers of sentences, which end at blank lines and marks.

        The beginning of a document is yielded as a sentence without words. A sentence with a malformed line is left
        out, or an error.
        """
        words: list[str] = []
        tags: list[str] = []
        lines: list[int] = []
        is_spoiled = False
        notes = self._reading.report.notes
        for i, line in enumerate(chain(self._reading.source.lines(), [""]), 1):
            mark = self.mark(line)
            if mark is not None or not line.strip():
                if words and not is_spoiled:
                    if self.word == 1:
                        notes[
                            "sentences count their words in the first column; the second was taken for the words"
                        ] += 1
                    yield words, tags, lines
                words, tags, lines, is_spoiled = [], [], [], False
                if mark is not None and mark != END:
                    notes[f"{mark} lines were passed over"] += 1
                    yield words, tags, lines
                continue
            if self.word == 1 and not words and line.startswith("#"):
                notes["comment lines were passed over"] += 1
                continue
            try:
                row = self._split(line, i)
            except DataError as error:
                self._reading.malformed(i, error)
                is_spoiled = True
                continue
            if self.word == 1 and _RANGE.fullmatch(row[0]):
                notes["lines whose number is not that of a single word were passed over"] += 1
                continue
            words.append(row[self.word].strip(" "))
            tags.append(row[self.tag].strip(_SPACE_CHARACTERS))
            lines.append(i)

    def labelled(self, words: list[str], tags: list[str], lines: list[int]) -> Sentence | None:
        """Return a sentence with its labels; None, or an error, if they are malformed."""
        try:
            return self._reading.from_tags(words, tags)
        except DataError as error:
            bad = _first_bad(self._reading, tags)
            where = f"{error.message} (the word is {shorten(words[bad])!r})"
            self._reading.malformed(lines[bad], DataError(where, error.advice))
            return None

    def _split(self, line: str, number: int) -> list[str]:
        if not self._n:
            if len(_by_tabs(line)) == 1:
                self._ways.reverse()
            n = len(self._ways[0](line))
            if n < 2:
                raise DataError(
                    f"found {shorten(line.strip())!r}, expected a word and, after a tab or a space, its tag"
                )
            self._first, self._n = number, n
            self.word = self.word if n > 2 else 0
        for split in self._ways:
            row = split(line)
            if len(row) == self._n:
                if not row[self.word].strip(" "):
                    raise DataError(f"the word before the tag {row[-1]!r} is empty")
                return row
        n = len(self._ways[0](line))
        raise DataError(
            f"found {n} column{'s' * (n > 1)} in {shorten(line.strip())!r}, expected {self._n} as in line "
            f"{self._first}: a word first and its tag last"
        )


class OntoNotes(_Columns):
    """The columns of OntoNotes."""

    tag = 10

    def __init__(self, reading: FileReader) -> None:
        super().__init__(reading)
        self.word = 3

    def mark(self, line: str) -> str | None:
        return next((mark for mark in (BEGIN, END) if line.startswith(mark)), None)

    def _split(self, line: str, number: int) -> list[str]:
        row = split_columns(line)
        if len(row) <= self.tag:
            raise DataError(f"found {len(row)} columns, expected at least {self.tag + 1}")
        return row

    def labelled(self, words: list[str], tags: list[str], lines: list[int]) -> Sentence | None:
        reading, spans = self._reading, list[Span]()
        opened: tuple[int, str] | None = None
        for i, brackets in enumerate(tags):
            match = _BRACKETS.fullmatch(brackets)
            if match is None or (match[1] and opened) or (match[2] and not (opened or match[1])):
                state = "within a name" if opened else "outside any name"
                reading.malformed(lines[i], f"found {shorten(brackets)!r} in column {self.tag + 1}, {state}")
                return None
            if match[1]:
                opened = (i, match[1])
            if opened and (match[2] or "*" not in brackets):
                spans.append(Span(opened[0], i + 1, opened[1]))
                opened = None
        if opened:
            reading.malformed(lines[opened[0]], f"the name {opened[1]} is not closed before its sentence ends")
            return None
        try:
            return reading.finish(Sentence(tuple(words), tuple(spans)))
        except DataError as error:
            reading.malformed(lines[0], error)
            return None


def read_conll(reading: FileReader, columns: type[_Columns] = _Columns) -> Iterator[Sentence | None]:
    """Yield the sentences of a file with columns, and None where a document begins."""
    found = columns(reading)
    for words, tags, lines in found.sentences():
        sentence = found.labelled(words, tags, lines) if words else None
        if sentence is not None or not words:
            yield sentence


def _first_bad(reading: FileReader, tags: list[str]) -> int:
    for i, tag in enumerate(tags):
        try:
            reading.tags.read([tag])
        except DataError:
            return i
    return 0


def read_lines(reading: FileReader) -> Iterator[Sentence]:
    """Yield the sentences of a file of word lines and tag lines."""
    words: list[str] | None = None
    words_number = 0
    for number, line in enumerate(reading.source.lines(), 1):
        parts = split_columns(line)
        if words is None:
            if parts:
                words, words_number = parts, number
            continue
        tags = ["_" if tag == "X" else tag for tag in parts]
        if len(tags) != len(words):
            reading.malformed(
                number,
                f"found {len(tags)} tags, expected {len(words)}, one for each word of line {words_number}",
            )
        else:
            try:
                yield reading.from_tags(words, tags)
            except DataError as error:
                reading.malformed(number, error)
        words = None
    if words is not None:
        reading.malformed(words_number, "the file ends after a line of words, expected a line of their tags")


def write_conll(sentences: Iterable[Sentence], writing: Writing) -> Iterator[str]:
    """Yield the text of a CoNLL file of two columns."""
    cannot = f"CoNLL cannot hold the {{}} {{!r}} (a tab, a line break, a space at an end or {DOCSTART})"
    for sentence in sentences:
        tags = _tags(sentence, writing, _NOT_IN_COLUMNS, cannot)
        yield "".join([f"{word}\t{tag}\n" for word, tag in zip(sentence.words, tags, strict=True)]) + "\n"


def write_lines(sentences: Iterable[Sentence], writing: Writing) -> Iterator[str]:
    """Yield the text of a file of word lines and tag lines."""
    for sentence in sentences:
        tags = _tags(
            sentence, writing, _SPACES, "the lines format cannot hold the {} {!r}, which has white space in it"
        )
        if "X" in tags:
            raise DataError(
                "the lines format writes X for unknown, so no type can be called X",
                Advice.of("use {}", ("scheme='BIO'", "--scheme BIO")),
            )
        yield f"{' '.join(sentence.words)}\n{' '.join('X' if tag == '_' else tag for tag in tags)}\n\n"


def _tags(sentence: Sentence, writing: Writing, unwanted: re.Pattern[str], cannot: str) -> list[str]:
    """Return the tags of a sentence whose types and words the format can hold."""
    for name in type_names(sentence):
        if unwanted.search(name):
            raise DataError(cannot.format("type", name), _RENAME)
    for word in sentence.words:
        if unwanted.search(word):
            raise DataError(f"{cannot.format('word', word)}; write another format, such as prodigy")
    return to_tags(sentence, writing.scheme)
