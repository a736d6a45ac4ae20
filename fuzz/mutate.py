"""Changes to inputs: to bytes, and to what files hold that are JSON, safetensors, arrays, Parquet, SQLite and others.

A mutator is a function of a random generator and bytes, which returns other bytes. One that knows a format falls back
to changing bytes where they are not of that format.
"""

import gzip
import json
import re
import sqlite3
import struct
import zlib
from collections.abc import Callable
from random import Random
from typing import Any
from urllib.parse import quote

__all__ = [
    "Mutator",
    "change_bytes",
    "change_docbin",
    "change_gzip",
    "change_json",
    "change_json_lines",
    "change_lines",
    "change_npy",
    "change_onnx",
    "change_parquet",
    "change_query",
    "change_safetensors",
    "change_sqlite",
]

Mutator = Callable[[Random, bytes], bytes]

# fmt: off
WORDS = [
    "O", "_", "X", "B-", "I-", "E-PER", "S-", "U-", "PER", "LOC|ORG", "!O", "!PER|", "|", "-DOCSTART-",
    "#begin document", "[x](PER)", "[a", "](", ')"', '("A B")', "](PER", "[[", "]]", "\\[", "\\", "://", "# A: b\n",
    "# ", "a: b: c", "\t", "\n", "\r", "\r\n", "\n\n", " ", "  ", "\x00", "\x0b", "\x0c", "\x1c", "\x85", "\u2028",
    "\ufeff", "\u00a0", '"', "'", ",", ";", ":", "{", "}", "[", "]", "[]", "{}", "null", "true", "NaN", "Infinity",
    "-1", "1e9", "1e999", "9" * 20, "9" * 5000, "[" * 3000, '{"a":' * 2000, "\\ud800", '"id": 1,', '"text": "', "&lt;",
    "<!", "<b/>", "%s", "é", "e\u0301", "\u0301", "\u200b", "\u200d", "👍🏽", "🇫🇷", "東京", "שלום", "مرحبا\u200f",
    "\u202eabc", "don't", "U.N.",
]
BYTES = [*(word.encode() for word in WORDS), b"\xff", b"\xfe\xff", b"\xc3", b"\xed\xa0\x80", b"\x1f\x8b", b"\x78\x9c"]
VALUES: list[Any] = [
    None, True, False, 0, 1, -1, 2, 0.5, -0.0, 1.5, 1e308, -1e308, 1e-320, 2**31, 2**32, 2**63, 2**64, -(2**63), 10**30,
    float("nan"), float("inf"), -float("inf"), "", " ", "O", "_", "B-PER", "LOC|ORG", "!O", "\ud800", "\x00", "\ufeff",
    "1", "a" * 300, "../x", "9" * 30, [], {}, [[]], [None], [1, 2], ["a"], {"": ""}, {"text": "a"}, {"name": "PER"},
    [[0, 1, "PER"]],
]
INTS = [
    0, 1, 2, 3, 7, 8, 127, 128, 255, 256, 1 << 15, (1 << 16) - 1, 1 << 31, (1 << 32) - 1, 1 << 62, (1 << 63) - 1,
    (1 << 64) - 1,
]
# fmt: on


def change_bytes(rng: Random, data: bytes) -> bytes:
    """Cut, double, replace, insert, move and flip."""
    start = rng.randrange(len(data) + 1)
    end = min(len(data), start + rng.choice((0, 1, 1, 2, 4, 8, 16, 64)))
    kind = rng.randrange(9)
    if rng.random() < 0.005:
        middle = (data[start:end] or rng.choice(BYTES))[:100] * rng.choice((100, 1000, 5000))
        return data[:start] + middle[: 1 << 16] + data[end:]
    if kind == 0:
        middle = b""
    elif kind <= 3:
        middle = rng.choice(BYTES)
    elif kind == 4:
        middle = rng.randbytes(rng.choice((1, 1, 2, 4)))
    elif kind == 5:
        middle = data[start:end] * 2
    elif kind == 6 and start < len(data):
        middle, end = bytes([data[start] ^ 1 << rng.randrange(8)]), start + 1
    elif kind == 7:
        place = rng.randrange(len(data) + 1)
        middle = data[place : place + rng.choice((1, 4, 16, 64))]
    else:
        return data[:start]
    return data[:start] + middle + data[end:]


def change_lines(rng: Random, data: bytes) -> bytes:
    """Drop, double, swap and join lines."""
    lines = data.split(b"\n")
    i, j = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(5)
    if kind == 0:
        del lines[i]
    elif kind == 1:
        lines.insert(j, lines[i])
    elif kind == 2:
        lines[i], lines[j] = lines[j], lines[i]
    elif kind == 3:
        lines[i : i + 2] = [rng.choice((b" ", b"\t", b"")).join(lines[i : i + 2])]
    else:
        fields = lines[i].split(b"\t" if b"\t" in lines[i] else b" ")
        place = rng.randrange(len(fields))
        fields[place] = rng.choice(BYTES)
        lines[i] = (b"\t" if b"\t" in lines[i] else b" ").join(fields)
    return b"\n".join(lines)


def change_query(rng: Random, data: bytes) -> bytes:
    """Put another value, plain or quoted, in the place of one of a query."""
    places = list(re.finditer(rb"(?<==)[^&\n]*", data))
    if not places:
        return change_bytes(rng, data)
    found = rng.choice(places)
    value = str(rng.choice([*VALUES, *WORDS, *INTS]))
    middle = quote(value, errors="replace").encode() if rng.random() < 0.7 else value.encode("utf-8", "replace")
    return data[: found.start()] + middle + data[found.end() :]


def change_json(rng: Random, data: bytes) -> bytes:
    """Change a value somewhere in a JSON tree."""
    try:
        tree = json.loads(data)
        return json.dumps(change_tree(rng, tree), ensure_ascii=rng.random() < 0.8).encode()
    except (ValueError, RecursionError):
        return change_bytes(rng, data)


def change_json_lines(rng: Random, data: bytes) -> bytes:
    """Change a JSON tree on one of the lines."""
    lines = data.split(b"\n")
    i = rng.randrange(len(lines))
    lines[i] = change_json(rng, lines[i])
    return b"\n".join(lines)


def change_tree(rng: Random, tree: Any) -> Any:
    """Return a tree of lists and dicts with one place in it changed."""
    places: list[tuple[Any, Any]] = [([tree], 0)]
    for parent, key in places:  # it grows while it is gone through
        value = parent[key]
        if isinstance(value, dict | list) and len(places) < 5000:
            places += [(value, one) for one in (value if isinstance(value, dict) else range(len(value)))]
    parent, key = rng.choice(places)
    other = rng.choice(places)
    root = places[0][0]
    kind = rng.randrange(10)
    value = parent[key]
    if kind <= 2:
        parent[key] = rng.choice(VALUES)
    elif kind == 3:
        parent[key] = json.loads(json.dumps(other[0][other[1]]))
    elif kind == 4 and parent is not root:
        del parent[key]
    elif kind == 5 and isinstance(parent, dict):
        names = [one for _, one in places if isinstance(one, str)]
        parent[rng.choice([*names, "", "\ud800", "x"])] = parent.pop(key)
    elif kind == 6 and isinstance(parent, list) and parent is not root:
        parent.insert(rng.randrange(len(parent) + 1), rng.choice([value, rng.choice(VALUES)]))
    elif kind == 7:
        parent[key] = [value]
    elif isinstance(value, str):
        parent[key] = change_bytes(rng, value.encode("utf-8", "surrogatepass")).decode("utf-8", "replace")
    elif isinstance(value, int | float):
        near = [value + 1, value - 1, -value, value * 2, str(value), value + 1000]
        parent[key] = rng.choice(near if abs(value) > 1e300 else [*near, float(value), value + 0.5])
    elif isinstance(value, dict):
        value[rng.choice(["", "id", "text", "x"])] = rng.choice(VALUES)
    elif isinstance(value, list):
        value.append(rng.choice(VALUES))
    return root[0]


def change_safetensors(rng: Random, data: bytes) -> bytes:
    """Change the head of a safetensors file, which then fits its length; or the numbers."""
    n = int.from_bytes(data[:8], "little")
    head, rest = data[8 : 8 + n], data[8 + n :]
    if rng.random() < 0.7:
        head = change_json(rng, head)
        return len(head).to_bytes(8, "little") + head + rest
    if rest and rng.random() < 0.8:
        return data[: 8 + n] + _change_number(rng, rest)
    return change_bytes(rng, data)


def change_npy(rng: Random, data: bytes) -> bytes:
    """Change the head of an array of NumPy, which then fits its length; or the numbers."""
    n = 10 + int.from_bytes(data[8:10], "little")
    head, rest = data[10:n], data[n:]
    if rng.random() < 0.5:
        return data[:n] + _change_number(rng, rest)
    head = change_bytes(rng, head) if rng.random() < 0.3 else _change_digits(rng, head)
    return data[:8] + (len(head) & 0xFFFF).to_bytes(2, "little") + head + rest


def change_parquet(rng: Random, data: bytes) -> bytes:
    """Change the foot of a Parquet file, which then fits its length; or a page."""
    n = min(int.from_bytes(data[-8:-4], "little"), max(0, len(data) - 8))
    pages, foot = data[: len(data) - 8 - n], data[len(data) - 8 - n : -8]
    if rng.random() < 0.5:
        foot = change_bytes(rng, foot)
    else:
        pages = change_bytes(rng, pages)
    return pages + foot + len(foot).to_bytes(4, "little") + b"PAR1"


def _change_digits(rng: Random, data: bytes) -> bytes:
    """Put another number in the place of one that is written in digits."""
    places = list(re.finditer(rb"\d+", data))
    if not places:
        return change_bytes(rng, data)
    found = rng.choice(places)
    return data[: found.start()] + str(rng.choice([*INTS, int(found[0][:9]) + 1])).encode() + data[found.end() :]


def _change_number(rng: Random, data: bytes) -> bytes:
    """Put another number in the place of a float among others."""
    size = rng.choice((4, 8))
    place = rng.randrange(max(1, len(data) // size)) * size
    number = rng.choice((float("nan"), float("inf"), 1e30, -1e30, 0.0, 1e300))
    try:
        packed = struct.pack("<f" if size == 4 else "<d", number)
    except OverflowError:
        packed = rng.choice(INTS).to_bytes(8, "little")[:size]
    return (data[:place] + packed + data[place + size :])[: len(data)]


def change_onnx(rng: Random, data: bytes) -> bytes:
    """Change a field somewhere in a message of protocol buffers; lengths are made to fit."""
    fields = _fields(data)
    if fields is None or not fields:
        return change_bytes(rng, data)
    i = rng.randrange(len(fields))
    number, kind, value = fields[i]
    if kind == 2 and isinstance(value, bytes) and len(value) > 1 and rng.random() < 0.85 and _fields(value):
        fields[i] = (number, kind, change_onnx(rng, value))
    elif (what := rng.randrange(6)) == 0:
        del fields[i]
    elif what == 1:
        fields.insert(rng.randrange(len(fields) + 1), fields[i])
    elif what == 2:
        fields[i] = (rng.randrange(1, 20), kind, value)
    elif kind == 2:
        strings = [other for _, which, other in fields if which == 2]
        fields[i] = (number, kind, rng.choice([rng.choice(strings), change_bytes(rng, value), b""]))
    elif kind == 0:
        fields[i] = (number, kind, rng.choice([*INTS, value + 1, max(0, value - 1)]))
    else:
        fields[i] = (number, kind, rng.randbytes(len(value)))
    return b"".join(map(_field, fields))


def _fields(data: bytes) -> list[tuple[int, int, Any]] | None:
    """Take a message apart: the number, the wire type and the value of each field; None if it is no message."""
    fields: list[tuple[int, int, Any]] = []
    place = 0
    while place < len(data):
        key, place = _varint(data, place)
        number, kind = key >> 3, key & 7
        if number == 0 or place < 0 or kind not in (0, 1, 2, 5):
            return None
        if kind == 0:
            value, place = _varint(data, place)
            if place < 0:
                return None
            fields.append((number, kind, value))
            continue
        size = {1: 8, 5: 4}.get(kind, 0)
        if kind == 2:
            size, place = _varint(data, place)
        if place < 0 or place + size > len(data):
            return None
        fields.append((number, kind, data[place : place + size]))
        place += size
    return fields


def _varint(data: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(data) and shift < 70:
        byte = data[place]
        value |= (byte & 127) << shift
        place, shift = place + 1, shift + 7
        if byte < 128:
            return value, place
    return 0, -1


def _field(field: tuple[int, int, Any]) -> bytes:
    number, kind, value = field
    head = _packed(number << 3 | kind)
    if kind == 0:
        return head + _packed(value & (1 << 64) - 1)
    return b"".join([head, _packed(len(value)) if kind == 2 else b"", value])


def _packed(value: int) -> bytes:
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes([*found, value])


def change_gzip(rng: Random, data: bytes) -> bytes:
    """Pack a file with gzip, and then perhaps damage it."""
    packed = gzip.compress(data, 1, mtime=0)
    return change_bytes(rng, packed) if rng.random() < 0.5 else packed


def change_docbin(rng: Random, data: bytes) -> bytes:
    """Change what spaCy's DocBin packs: msgpack within zlib."""
    try:
        import srsly

        tree = srsly.msgpack_loads(zlib.decompress(data))
        place = rng.choice(list(tree))
        value = tree[place]
        if isinstance(value, bytes):
            tree[place] = change_bytes(rng, value)
        elif isinstance(value, list) and value and isinstance(value[0], bytes) and rng.random() < 0.8:
            value[0] = change_bytes(rng, value[0])
        else:
            tree = change_tree(rng, tree)
        packed: bytes = srsly.msgpack_dumps(tree)
        return zlib.compress(packed)
    except Exception:  # what was changed before may be no longer a DocBin, or cannot be packed
        return change_bytes(rng, data)


def change_sqlite(rng: Random, data: bytes) -> bytes:
    """Change cells, rows and tables of a database with SQL; or its pages."""
    if rng.random() < 0.25:
        place = rng.randrange(max(1, len(data)))
        return data[:place] + rng.choice([rng.randbytes(1), rng.randbytes(4), b""]) + data[place + rng.choice((1, 4)) :]
    connection = sqlite3.connect(":memory:")
    try:
        connection.deserialize(data)
        triggers = connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'trigger'").fetchall()
        for name, _ in triggers:  # they keep rows from being changed
            connection.execute(f'DROP TRIGGER "{name}"')
        _change_rows(rng, connection)
        for _, sql in triggers:
            connection.execute(sql)
        connection.commit()
        return connection.serialize()
    except (sqlite3.Error, UnicodeError, OverflowError, MemoryError, IndexError):  # the last two if nothing is in it
        return change_bytes(rng, data)
    finally:
        connection.close()


def _change_rows(rng: Random, connection: sqlite3.Connection) -> None:
    tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    table = rng.choice(tables)
    kind = rng.randrange(12)
    if kind == 0:
        rows = connection.execute(f'SELECT rowid FROM "{table}"').fetchall()
        connection.execute(f'DELETE FROM "{table}" WHERE rowid = ?', rng.choice(rows or [(0,)]))
    elif kind == 1:
        connection.execute(f"PRAGMA {rng.choice(['user_version', 'application_id'])} = {rng.choice((0, 1, 2, -1))}")
    elif kind == 2 and rng.random() < 0.2:
        connection.execute(
            rng.choice([f'DROP TABLE "{table}"', f'ALTER TABLE "{table}" RENAME TO other', f'DELETE FROM "{table}"'])
        )
    else:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
        column = rng.choice(columns)
        rows = connection.execute(f'SELECT rowid, CAST("{column}" AS BLOB), "{column}" FROM "{table}"').fetchall()
        row, old, now = rng.choice(rows or [(0, b"", None)])
        values: list[Any] = [None, 0, -1, 1, 2, 10**6, 2**62, 1.5, "", "x", "{}", "[]", "null", b"\xff", b"", old]
        if isinstance(now, str):
            values += [_as_text(change_json(rng, now.encode())) for _ in range(len(values))]
        elif isinstance(now, int):
            values += [now + 1, now - 1, -now] * 3
        connection.execute(f'UPDATE OR REPLACE "{table}" SET "{column}" = ? WHERE rowid = ?', (rng.choice(values), row))


def _as_text(data: bytes) -> str:
    return data.decode("utf-8", "replace")
