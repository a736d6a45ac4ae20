"""Tags as text: CoNLL columns (``conll``), and a line of words above a line of tags (``lines``).

CoNLL has one word per line, with its tag in the last column, and a blank line after each sentence. Columns are
separated by tabs (then a word or a type may hold spaces) or by white space. There are two or more, the same number in
every line. ``-DOCSTART-`` lines are passed over and counted. Tags follow any scheme. A word whose label is open has a
partial label: ``_``, ``LOC|ORG``, ``!O``. Where the first of three or more columns counts the words of each sentence,
as in CoNLL-U, the second column is the word, and lines that start with ``#`` before a sentence are comments.

In ``lines`` each sentence is two lines, words and tags, separated by spaces. ``X`` is an unknown tag. Blank lines
between the pairs are passed over.
"""

import re
from collections.abc import Iterable, Iterator, Sequence

from handful.errors import Advice, DataError

from ._entity_types import type_names
from ._schemes import to_tags
from ._source import Source
from ._writing import Writing
from .reading import Reading
from .sentences import Sentence, shorten

__all__ = ["is_numbered", "read_conll", "read_lines", "split_columns", "write_conll", "write_lines"]

DOCSTART = "-DOCSTART-"
_SPACES = re.compile("[ \t\r\n]+")
_SPACE_CHARACTERS = " \t\r\n"
_BLANK_LINE = re.compile(r"\n[^\S\n]*\n")
_RANGE = re.compile(r"\d+[-.]\d+")  # in CoNLL-U: several words written as one, or a word that is not written
_ENOUGH = 0.8  # of all sentences
_RENAME = Advice(
    "write another format, such as jsonl, or read with rename={'GARDEN PEST': 'GARDEN_PEST'}",
    "write another format, such as jsonl, or rename it, as handful convert --rename 'GARDEN PEST=GARDEN_PEST' does",
)


def split_columns(line: str) -> list[str]:
    """Split at spaces and tabs only: a no-break space or a form feed is part of a word."""
    line = line.strip(_SPACE_CHARACTERS)
    return _SPACES.split(line) if line else []


def is_numbered(source: Source) -> bool:
    """Whether the first of three or more columns counts the words of each sentence, from 0 or from 1."""
    blocks = _BLANK_LINE.split(source.head)
    if not source.is_whole and len(blocks) > 1:
        blocks.pop()  # it may be cut
    counts = []
    for block in blocks:
        lines = [line for line in block.split("\n") if line.strip() and not line.startswith(("#", DOCSTART))]
        rows = [split_columns(line) for line in lines]
        counts.append([row[0] if len(row) > 2 else "" for row in rows if not _RANGE.fullmatch(row[0])])
    counts = [count for count in counts if count]
    longest = max(map(len, counts), default=0)
    if longest < 2 or sum(map(len, counts)) < 3 or counts[0][0] not in ("0", "1"):
        return False
    right = [str(i) for i in range(int(counts[0][0]), longest + 1)]
    return sum(count == right[: len(count)] for count in counts) >= _ENOUGH * len(counts)


def read_conll(reading: Reading) -> Iterator[Sentence | None]:
    """Yield the sentences of a CoNLL file, and None at each ``-DOCSTART-``."""
    columns = _Columns(reading)
    for number, block in reading.source.blocks():
        found = columns.split_alike(block)
        if found is not None:
            sentence = _sentence(reading, *found, range(number, number + len(found[0])))
            if sentence is not None:
                yield sentence
        else:
            for words, tags, lines in columns.split_each(block, number):
                sentence = _sentence(reading, words, tags, lines) if words else None
                if sentence is not None or not words:
                    yield sentence


class _Columns:
    """What the lines of a CoNLL file look like, learned from the first one."""

    def __init__(self, reading: Reading) -> None:
        self._reading = reading
        self._first = 0  # the line that set the number of columns
        self._n = 0
        self._is_tabbed = False
        self._word = int(is_numbered(reading.source))  # its column

    def split_alike(self, block: str) -> tuple[list[str], list[str]] | None:
        """Return the words and tags of a block in which nothing is out of the ordinary, quickly; or None.

        A separator is put after every line feed. Splitting at separators then leaves each line feed at the end of the
        last column of a line. These are the columns n - 1, 2n - 1, ... of the whole block if and only if each line has
        n columns.
        """
        n, separator, other = self._n, "\t", " "
        if not self._is_tabbed:
            separator, other = other, separator
        if not n or other in block or "\r" in block or DOCSTART in block:
            return None
        flat = block.replace("\n", f"\n{separator}").split(separator)
        tags = "".join(flat[n - 1 :: n]).split("\n")
        if len(flat) != n * len(tags) or len(tags) != block.count("\n") + 1 or "" in flat or "" in tags:
            return None
        if self._word:
            if block.startswith("#") or any(map(_RANGE.fullmatch, flat[::n])):
                return None
            self._note_number()
        return flat[self._word :: n], tags

    def _note_number(self) -> None:
        self._reading.report.notes[
            "sentences count their words in the first column; the second was taken for the words"
        ] += 1

    def split_each(self, block: str, number: int) -> Iterator[tuple[list[str], list[str], list[int]]]:
        """Yield the words, tags and line numbers of the sentences of a block, looking at every line by itself.

        Blank lines and ``-DOCSTART-`` end a sentence. ``-DOCSTART-`` itself is yielded as a sentence without words. A
        sentence with a malformed line is left out, or an error.
        """
        words: list[str] = []
        tags: list[str] = []
        lines: list[int] = []
        is_spoiled = False
        for i, line in enumerate([*block.split("\n"), ""], number):
            is_document = line.startswith(DOCSTART) and not line[len(DOCSTART) :][:1].strip()
            if is_document or not line.strip():
                if words and not is_spoiled:
                    if self._word:
                        self._note_number()
                    yield words, tags, lines
                words, tags, lines, is_spoiled = [], [], [], False
                if is_document:
                    self._reading.report.notes[f"{DOCSTART} lines were passed over"] += 1
                    yield words, tags, lines
                continue
            if self._word and not words and line.startswith("#"):
                self._reading.report.notes["comment lines were passed over"] += 1
                continue
            try:
                row = self._split(line, i)
            except DataError as error:
                self._reading.malformed(i, error)
                is_spoiled = True
                continue
            if self._word and _RANGE.fullmatch(row[0]):
                self._reading.report.notes["lines whose number is not that of a single word were passed over"] += 1
                continue
            words.append(row[self._word].strip(" "))
            tags.append(row[-1].strip(_SPACE_CHARACTERS))
            lines.append(i)

    def _split(self, line: str, number: int) -> list[str]:
        by_tabs, by_spaces = line.rstrip(_SPACE_CHARACTERS).split("\t"), split_columns(line)
        if not self._n:
            is_tabbed = len(by_tabs) > 1
            n = len(by_tabs if is_tabbed else by_spaces)
            if n < 2:
                raise DataError(
                    f"found {shorten(line.strip())!r}, expected a word and, after a tab or a space, its tag"
                )
            self._first, self._n, self._is_tabbed = number, n, is_tabbed
            self._word = self._word if n > 2 else 0
        rows = [by_tabs, by_spaces] if self._is_tabbed else [by_spaces, by_tabs]
        for row in rows:
            if len(row) == self._n:
                if not row[self._word].strip(" "):
                    raise DataError(f"the word before the tag {row[-1]!r} is empty")
                return row
        n = len(rows[0])
        raise DataError(
            f"found {n} column{'s' * (n > 1)} in {shorten(line.strip())!r}, expected {self._n} as in line "
            f"{self._first}: a word first and its tag last"
        )


def _sentence(reading: Reading, words: Sequence[str], tags: list[str], lines: Sequence[int]) -> Sentence | None:
    try:
        return reading.from_tags(words, tags)
    except DataError as error:
        bad = _first_bad(reading, tags)
        where = f"{error.message} (the word is {shorten(words[bad])!r})"
        reading.malformed(lines[bad], DataError(where, error.advice))
        return None


def _first_bad(reading: Reading, tags: list[str]) -> int:
    for i, tag in enumerate(tags):
        try:
            reading.tags.read([tag])
        except DataError:
            return i
    return 0


def read_lines(reading: Reading) -> Iterator[Sentence]:
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
    for sentence in sentences:
        tags = to_tags(sentence, writing.scheme)
        for name in type_names(sentence):
            if name.strip(" ") != name or any(c in name for c in "\t\r\n"):
                what = "a tab, a line break or a space at an end"
                raise DataError(f"CoNLL cannot hold the type {name!r} ({what})", _RENAME)
        for word in sentence.words:
            if word == DOCSTART or word.strip(" ") != word or any(c in word for c in "\t\r\n"):
                raise DataError(
                    f"CoNLL cannot hold the word {word!r} (a tab, a line break, a space at an end or "
                    f"{DOCSTART}); write another format, such as prodigy"
                )
        yield "".join([f"{word}\t{tag}\n" for word, tag in zip(sentence.words, tags, strict=True)]) + "\n"


def write_lines(sentences: Iterable[Sentence], writing: Writing) -> Iterator[str]:
    """Yield the text of a file of word lines and tag lines."""
    for sentence in sentences:
        tags = to_tags(sentence, writing.scheme)
        for name in type_names(sentence):
            if name.split() != [name]:
                raise DataError(f"the lines format cannot hold the type {name!r}, which has white space in it", _RENAME)
        if "X" in tags:
            raise DataError(
                "the lines format writes X for unknown, so no type can be called X",
                Advice("use scheme='BIO'", "use --scheme BIO"),
            )
        for word in sentence.words:
            if any(c in word for c in _SPACE_CHARACTERS):
                raise DataError(f"the lines format cannot hold the word {word!r}, which has white space in it")
        yield f"{' '.join(sentence.words)}\n{' '.join('X' if tag == '_' else tag for tag in tags)}\n\n"
