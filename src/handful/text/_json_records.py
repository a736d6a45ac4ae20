"""The records of a JSON file: one per line, in an array, or one after the other over several lines."""

import json
from collections.abc import Iterator
from typing import Any

from handful.errors import DataError, shorten

from ._document import Document
from ._reading import FileReader
from ._sentences import Sentence


class Record:
    """The fields of a record, of which `take` notes those that were read."""

    def __init__(self, value: Any) -> None:
        if not isinstance(value, dict):
            raise DataError(f"found {shorten(repr(value))}, expected a JSON object")
        self._value = value
        self._taken: set[str] = set()
        self.more: dict[str, Any] = {}  # what goes with the document besides fields of the record

    def __contains__(self, key: str) -> bool:
        return key in self._value

    def __iter__(self) -> Iterator[str]:
        return iter(self._value)

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a field, which still goes with the document."""
        return self._value.get(key, default)

    def take(self, key: str) -> Any:
        """Return the value of a field, which does not go with the document as it is."""
        self._taken.add(key)
        return self._value.get(key)

    def show(self) -> str:
        """Return the names of the fields, for a message."""
        return shorten(", ".join(map(repr, self._value)) or "nothing")

    def document(self, text: str, sentences: tuple[Sentence, ...], text_field: str = "text") -> Document:
        """Make a document, with what was not taken from the record."""
        identifier = self._value.get("id")
        is_id = isinstance(identifier, str | int) and not isinstance(identifier, bool)
        taken = self._taken | {"id"} if is_id else self._taken
        meta = {key: item for key, item in self._value.items() if key not in taken}
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
