"""Tags in columns: CoNLL (``conll``).

There is one word per line, with its tag in the last column, and a blank line after each sentence. Columns are
separated by tabs (then a word or a type may hold spaces) or by white space. There are two or more, the same number in
every line. ``-DOCSTART-`` lines are passed over and counted. Tags follow any scheme. A word whose label is open has a
partial label: ``_``, ``LOC|ORG``, ``!O``. Where the first of three or more columns counts the words of each sentence,
as in CoNLL-U, the second column is the word, and lines that start with ``#`` before a sentence are comments.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain

from handful.errors import Advice, DataError, shorten

from ._reading import FileReader
from ._schemes import to_tags
from ._sentences import Sentence
from ._source import InputFile
from ._writing import Writing
from .types import type_names

DOCSTART = "-DOCSTART-"
_SPACES = re.compile("[ \t\r\n]+")
_SPACE_CHARACTERS = " \t\r\n"
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_RANGE = re.compile(r"\d+[-.]\d+")  # in CoNLL-U: several words written as one, or a word that is not written
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
    """The columns of the lines of a CoNLL file, learned from the first one; `word` is the column of the words."""

    def __init__(self, source: InputFile) -> None:
        self._first = 0  # the line that set the number of columns
        self._n = 0
        self._ways = [_by_tabs, split_columns]  # to split a line, the usual one first
        self.word = int(is_numbered(source))

    def split(self, line: str, number: int) -> list[str]:
        """Return the columns of a line."""
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


def read_conll(reading: FileReader) -> Iterator[Sentence]:
    """Yield the sentences of a file, which end at blank lines and marks; malformed ones are left out, or an error."""
    columns, notes = _Columns(reading.source), reading.report.notes
    words: list[str] = []
    tags: list[str] = []
    lines: list[int] = []
    is_spoiled = False
    for i, line in enumerate(chain(reading.source.lines(), [""]), 1):
        is_mark = line.startswith(DOCSTART) and not line[len(DOCSTART) :][:1].strip()
        if is_mark or not line.strip():
            if words and not is_spoiled:
                if columns.word == 1:
                    notes["sentences count their words in the first column; the second was taken for the words"] += 1
                sentence = _labelled(reading, words, tags, lines)
                if sentence is not None:
                    yield sentence
            words, tags, lines, is_spoiled = [], [], [], False
            if is_mark:
                notes[f"{DOCSTART} lines were passed over"] += 1
            continue
        if columns.word == 1 and not words and line.startswith("#"):
            notes["comment lines were passed over"] += 1
            continue
        try:
            row = columns.split(line, i)
        except DataError as error:
            reading.malformed(i, error)
            is_spoiled = True
            continue
        if columns.word == 1 and _RANGE.fullmatch(row[0]):
            notes["lines whose number is not that of a single word were passed over"] += 1
            continue
        words.append(row[columns.word].strip(" "))
        tags.append(row[-1].strip(_SPACE_CHARACTERS))
        lines.append(i)


def _labelled(reading: FileReader, words: list[str], tags: list[str], lines: list[int]) -> Sentence | None:
    """Return a sentence with its labels; None, or an error, if they are malformed."""
    try:
        return reading.from_tags(words, tags)
    except DataError as error:
        bad = 0  # or the first tag that cannot be read by itself
        for i in reversed(range(len(tags))):
            try:
                reading.tags.read([tags[i]])
            except DataError:
                bad = i
        where = f"{error.message} (the word is {shorten(words[bad])!r})"
        reading.malformed(lines[bad], DataError(where, error.advice))
        return None


def write_conll(sentences: Iterable[Sentence], writing: Writing) -> Iterator[str]:
    """Yield the text of a CoNLL file of two columns."""
    cannot = f"CoNLL cannot hold the {{}} {{!r}} (a tab, a line break, a space at an end or {DOCSTART})"
    for sentence in sentences:
        for name in type_names(sentence):
            if _NOT_IN_COLUMNS.search(name):
                raise DataError(cannot.format("type", name), _RENAME)
        for word in sentence.words:
            if _NOT_IN_COLUMNS.search(word):
                raise DataError(f"{cannot.format('word', word)}; write another format, such as prodigy")
        tags = to_tags(sentence, writing.scheme)
        yield "".join([f"{word}\t{tag}\n" for word, tag in zip(sentence.words, tags, strict=True)]) + "\n"
