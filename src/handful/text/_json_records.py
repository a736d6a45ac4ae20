"""The records of a JSON file, and their spans and tokens in the shapes that annotation tools give them.

Records are one per line, in an array, or one after the other over several lines.
"""

import json
import sys
from collections.abc import Iterator
from typing import Any

from handful.errors import DataError, shorten

from ._document import Document
from ._labels import Mark
from ._reading import FileReader
from ._sentences import Sentence


class Record(dict[str, Any]):
    """The fields of a record. Those that were not read by `take` go with the document."""

    def __init__(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise DataError(f"found {shorten(repr(value))}, expected a JSON object")
        super().__init__(value)
        self._taken: set[str] = set()
        self.more: dict[str, Any] = {}  # what goes with the document besides fields of the record

    def take(self, key: str) -> Any:
        """Return the value of a field, which does not go with the document as it is."""
        self._taken.add(key)
        return self.get(key)

    def show(self) -> str:
        """Return the names of the fields, for a message."""
        return shorten(", ".join(map(repr, self)) or "nothing")

    def document(self, text: str, sentences: tuple[Sentence, ...], text_field: str = "text") -> Document:
        """Make a document, with what was not taken from the record."""
        identifier = self.get("id")
        is_id = isinstance(identifier, str | int) and not isinstance(identifier, bool)
        taken = self._taken | {"id"} if is_id else self._taken
        judged = self.get("judged")
        if isinstance(judged, list) and all(isinstance(name, str) for name in judged):
            taken = taken | {"judged"}
            sentences = tuple(one if one.is_unlabelled else one.judged_for(judged) for one in sentences)
        meta = {key: item for key, item in self.items() if key not in taken}
        return Document(text, sentences, identifier if is_id else None, meta | self.more, text_field)


def records(reading: FileReader) -> Iterator[tuple[str, str, Any]]:
    """Yield the place, the text and the value of each record.

    The place of a record in an array is its number and its id, after its line where the array has several.
    """
    if not is_one_a_line(reading.source.head):
        yield from _values(reading, is_array=reading.source.head.lstrip().startswith("["))
        return
    for number, line in enumerate(reading.source.lines(), 1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                reading.malformed(number, f"{shorten(line.strip())!r} is not a JSON record: {error}")
                continue
            yield f":{number}", line, value


def is_one_a_line(head: str) -> bool:
    """Whether each line of a file is a record, by its beginning."""
    head = head.lstrip()
    is_array = head.startswith("[")
    try:
        value, end = json.JSONDecoder().raw_decode(head.split("\n", 1)[0] if is_array else head)
    except (ValueError, RecursionError):
        return not is_array
    return is_pair(value) if is_array else "\n" not in head[:end]


def is_pair(value: Any) -> bool:
    """Whether this is ``["text", {"entities": ...}]``."""
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], dict)


def _values(reading: FileReader, *, is_array: bool) -> Iterator[tuple[str, str, Any]]:
    """Yield the members of an array, or records that go over several lines, holding one at a time."""
    cursor = _Cursor(reading.source.chunks())
    if is_array:
        cursor.skip()
        cursor.position += 1
    number = 0
    while following := cursor.skip():
        if is_array and following == "]":
            cursor.position += 1
            if cursor.skip():
                reading.fail(cursor.line, f"found {cursor.show()} after the end of the array")
            return
        if is_array and number:
            if following != ",":
                reading.fail(cursor.line, f"found {cursor.show()}, expected a comma or ] after a record")
            cursor.position += 1
            cursor.skip()
        number += 1
        place = f":{cursor.line}"
        if is_array:
            place = f"{place if cursor.line > 1 else ''}: record {number}"
        try:
            raw, value = cursor.decode()
        except (ValueError, RecursionError) as error:
            reading.fail(place, f"{cursor.show()} is not a JSON record: {getattr(error, 'msg', error)}")
        identifier = value.get("id") if is_array and isinstance(value, dict) else None
        yield place if identifier is None else f"{place} (id {shorten(identifier, 40)})", raw, value
    if is_array:
        reading.fail(cursor.line, "the array is not closed, expected ] at the end of the file")


class _Cursor:
    """A place in a text that comes in chunks."""

    def __init__(self, chunks: Iterator[str]) -> None:
        self._chunks = chunks
        self._buffer = ""
        self._raw_decode = json.JSONDecoder().raw_decode
        self.position = 0
        self.line = 1

    def _more(self) -> bool:
        chunk = next(self._chunks, "")
        self._buffer = self._buffer[self.position :] + chunk
        self.position = 0
        return bool(chunk)

    def skip(self) -> str:
        """Go past white space; return the character there, or nothing at the end."""
        while True:
            while self.position < len(self._buffer):
                character = self._buffer[self.position]
                if not character.isspace():
                    return character
                self.line += character == "\n"
                self.position += 1
            if not self._more():
                return ""

    def decode(self) -> tuple[str, Any]:
        """Decode the value here and go past it; return its text and itself."""
        while True:
            try:
                value, end = self._raw_decode(self._buffer, self.position)
            except (ValueError, RecursionError):
                if not self._more():
                    raise
                continue
            raw = self._buffer[self.position : end]
            self.line += raw.count("\n")
            self.position = end
            return raw, value

    def show(self) -> str:
        return repr(shorten(self._buffer[self.position : self.position + 100]))


def token_offsets(text: str, tokens: Any) -> list[tuple[int, int]]:
    """Return where tokens with a ``start`` and an ``end`` are in a text."""
    if not isinstance(tokens, list):
        raise DataError(f"'tokens' is {shorten(repr(tokens))}, expected a list")
    offsets: list[tuple[int, int]] = []
    for token in tokens:
        if not isinstance(token, dict):
            raise DataError(f"found the token {shorten(repr(token))}, expected an object with start and end")
        start, end = token.get("start"), token.get("end")
        if type(start) is not int or type(end) is not int or not 0 <= start < end <= len(text):
            raise DataError(f"the token {shorten(repr(token))} has no start and end in the text")
        if token.get("text", text[start:end]) != text[start:end]:
            raise DataError(f"the token {shorten(repr(token))} is {text[start:end]!r} in the text")
        if offsets and start < offsets[-1][1]:
            raise DataError(f"the token {shorten(repr(token))} overlaps the one before it")
        offsets.append((start, end))
    return offsets


def sentence_of_tokens(reading: FileReader, text: str, tokens: list[tuple[int, int]]) -> Sentence | None:
    """Make an unlabelled sentence of tokens; those of white space are no words. None where there are no words."""
    offsets = [(start, end) for start, end in tokens if text[start:end].strip()]
    if len(offsets) < len(tokens):
        reading.report.notes["tokens of white space were not taken as words"] += len(tokens) - len(offsets)
    if not offsets:
        return None
    words = tuple([text[start:end] for start, end in offsets])
    return Sentence(words, text=text, starts=tuple([start for start, _ in offsets]))


def read_mark(reading: FileReader, text: str, tokens: list[tuple[int, int]] | None, item: Any) -> Mark:
    """Read a span in any of its shapes."""
    if isinstance(item, list) and len(item) == 3:
        start, end, label = item
        item = {}
    elif isinstance(item, dict):
        start = item.get("start", item.get("start_offset"))
        end = item.get("end", item.get("end_offset"))
        label = item.get("label", item.get("entity_group"))
        if isinstance(labels := item.get("labels"), list) and len(labels) == 1:
            label = labels[0]
    else:
        raise DataError(f"found {shorten(repr(item))}, expected [start, end, label] or an object")
    first, last = item.get("token_start"), item.get("token_end")
    if tokens is not None and first is not None and last is not None:
        if type(first) is not int or type(last) is not int or not 0 <= first <= last < len(tokens):
            raise DataError(f"the span {shorten(repr(item))} is not in the {len(tokens)} tokens")
        by_token = tokens[first][0], tokens[last][1]
        if (start, end) != (None, None) and (start, end) != by_token:
            raise DataError(
                f"the span {shorten(repr(item))} is at {start}:{end}, but its tokens are at "
                f"{by_token[0]}:{by_token[1]} (token_end is the last token, not the one after)"
            )
        start, end = by_token
    if type(start) is not int or type(end) is not int:
        raise DataError(f"the span {shorten(repr(item))} has no whole numbers for its start and end")
    if not isinstance(label, str) or not label:
        raise DataError(f"the span {start}:{end} has no single label: {shorten(repr(item or label))}")
    quoted = item.get("text")
    if isinstance(quoted, str) and text[max(start, 0) : max(end, 0)] != quoted:
        start, end = _from_utf16(reading, text, start, end, quoted)
    return Mark(start, end, label, read_score(item))


def read_score(item: dict[str, Any]) -> float | None:
    """Return the score of a span, if it has one."""
    score = item.get("score")
    if score is None:
        return None
    if not isinstance(score, int | float) or isinstance(score, bool) or not abs(score) <= sys.float_info.max:
        raise DataError(f"the score of {shorten(repr(item))} is {shorten(repr(score))}, expected a number")
    return float(score)


def _from_utf16(reading: FileReader, text: str, start: int, end: int, quoted: str) -> tuple[int, int]:
    """Turn positions that a browser counted, with two for a character such as an emoji, into code points."""
    if 0 <= start <= end:
        units = text.encode("utf-16-le")
        before = len(units[: 2 * start].decode("utf-16-le", "ignore"))
        after = before + len(quoted)
        if units[2 * start : 2 * end] == quoted.encode("utf-16-le") and text[before:after] == quoted:
            reading.report.notes["spans had positions in UTF-16 units, which were converted"] += 1
            return before, after
    found = text[max(start, 0) : max(end, 0)]
    raise DataError(f"the span {start}:{end} is {shorten(found)!r} in the text, but says {shorten(quoted)!r}")
