"""The records of a JSON file: one per line, in an array, or one after the other over several lines."""

import json
from collections.abc import Iterator
from typing import Any

from handful.errors import DataError

from ._reading import Reading
from ._types import shorten

__all__ = ["is_pair", "records", "refuse_half_pairs"]


def records(reading: Reading) -> Iterator[tuple[int, str, Any]]:
    """Yield the line number, the text and the value of each record."""
    head = reading.source.head.lstrip()
    if not _is_one_a_line(head):
        yield from _values(reading, is_array=head.startswith("["))
        return
    for number, line in enumerate(reading.source.lines(), 1):
        if line.strip():
            try:
                value = json.loads(line)
            except (ValueError, RecursionError) as error:
                reading.malformed(number, f"{shorten(line.strip())!r} is not a JSON record: {error}")
                continue
            yield number, line, value


def _is_one_a_line(head: str) -> bool:
    is_array = head.startswith("[")
    try:
        value, end = json.JSONDecoder().raw_decode(head.split("\n", 1)[0] if is_array else head)
    except (ValueError, RecursionError):
        return not is_array
    return is_pair(value) if is_array else "\n" not in head[:end]


def is_pair(value: Any) -> bool:
    """Whether this is ``["text", {"entities": ...}]``."""
    return isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], dict)


def _values(reading: Reading, *, is_array: bool) -> Iterator[tuple[int, str, Any]]:
    """Yield the members of an array, or records that go over several lines, holding one at a time."""
    cursor = _Cursor(reading.source.chunks())
    if is_array:
        cursor.skip()
        cursor.position += 1
    is_first = True
    while following := cursor.skip():
        if is_array and following == "]":
            cursor.position += 1
            if cursor.skip():
                reading.fail(cursor.line, f"found {cursor.show()} after the end of the array")
            return
        if is_array and not is_first:
            if following != ",":
                reading.fail(cursor.line, f"found {cursor.show()}, expected a comma or ] after a record")
            cursor.position += 1
            cursor.skip()
        line = cursor.line
        try:
            raw, value = cursor.decode()
        except (ValueError, RecursionError) as error:
            reading.fail(line, f"{cursor.show()} is not a JSON record: {error}")
        yield line, raw, value
        is_first = False
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


def refuse_half_pairs(raw: str, value: Any) -> None:
    """JSON can escape half of a surrogate pair, which is not a character and cannot be written."""
    if "\\ud" in raw or "\\uD" in raw:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise DataError("the record has half of a surrogate pair (\\ud800 to \\udfff by itself)") from None
