"""The features of one encoder on disk: an SQLite file, which any number of processes read and write.

A sentence is found by its key. Sentences that were written together form a pack, which is removed as a whole when
room is needed. Each sentence has a checksum, which is verified whenever it is read.
"""

import contextlib
import os
import sqlite3
import time
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from handful.errors import HandfulWarning

KEY_BYTES = 16
SUFFIX = ".sqlite"
FLOAT = np.dtype("<f4")

_SCHEMA = Path(__file__).with_name("store.sql").read_text(encoding="utf-8")
_SECONDS = 60  # the longest wait for another process
_AT_ONCE = 500  # keys in one question
_CLOCKS_DIFFER_NS = 60 * 10**9

Features = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]


class Store:
    """The cached features of one encoder.

    No connection outlives a call. So a store can be copied to another process, and its file can be removed by another
    process at any time. The file is made when something is written. `head` says whose features these are: ``encoder``,
    ``fingerprint`` and ``dim``. A file with another head is damaged. None is for a file of unknown content.
    """

    def __init__(self, path: Path, head: Mapping[str, Any] | None = None) -> None:
        self.path = path
        self.head = head
        self._said: set[str] = set()

    def fetch(self, keys: Sequence[bytes], features: Features, at: Ints) -> Ints:
        """Copy the features of all sentences that are cached into an array, from the row `at` of each sentence on.

        No key comes twice. The result is the positions in `keys` of the sentences that are not cached, increasing.
        """
        assert self.head is not None
        dim = self.head["dim"]
        place = {key: i for i, key in enumerate(keys)}
        packs: set[int] = set()
        damaged: list[bytes] = []
        for key, pack, crc, content in self._found(keys):
            if not isinstance(content, bytes) or zlib.crc32(content) != crc or len(content) % (dim * FLOAT.itemsize):
                damaged.append(key)
                continue
            rows = np.frombuffer(content, FLOAT).reshape(-1, dim)
            start = at[place.pop(key)]
            features[start : start + len(rows)] = rows
            packs.add(pack)
        if damaged:
            self._warn_unusable("features do not match their checksum")
        with contextlib.suppress(sqlite3.Error):  # a cache that cannot be written to can still be read
            if packs or damaged:
                with self._connection("rw", seconds=0) as database:
                    database.executemany("DELETE FROM sentence WHERE key = ?", [(key,) for key in damaged])
                    now = time.time_ns()
                    database.executemany("UPDATE pack SET used = ? WHERE number = ?", [(now, pack) for pack in packs])
        return np.fromiter(place.values(), np.int64, len(place))

    def add(self, keys: Sequence[bytes], n_words: Sequence[int], features: Features) -> None:
        """Write the features of some sentences as one pack: all of them, or `sqlite3.Error` or OSError.

        A file that turns out to be damaged is begun anew.
        """
        stops = np.cumsum(n_words)
        parts = [features[stop - n : stop].tobytes() for stop, n in zip(stops, n_words, strict=True)]
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        is_new = not self.path.exists()
        try:
            self._write(keys, parts)
        except sqlite3.Error as error:
            if not _is_damage(error):
                if is_new and error.sqlite_errorname.startswith(("SQLITE_FULL", "SQLITE_IOERR")):
                    self.delete()  # the disk is full; whoever begins later finds no part of a file
                raise
            self.delete()
            self._write(keys, parts)

    def _write(self, keys: Sequence[bytes], parts: Sequence[bytes]) -> None:
        assert self.head is not None
        with self._connection("rwc") as database:
            if not database.execute("SELECT 1 FROM sqlite_master").fetchone():
                for statement in _SCHEMA.split(";"):
                    database.execute(statement)
                database.executemany("INSERT INTO head VALUES (?, ?)", self.head.items())
            used, n_bytes = time.time_ns(), sum(map(len, parts)) + 64 * len(parts)
            pack = database.execute("INSERT INTO pack (used, n_bytes) VALUES (?, ?)", (used, n_bytes)).lastrowid
            rows = ((key, pack, zlib.crc32(part), part) for key, part in zip(keys, parts, strict=True))
            database.executemany("INSERT OR REPLACE INTO sentence VALUES (?, ?, ?, ?)", rows)

    def contents(self) -> tuple[dict[str, Any], int, int, int] | None:
        """Return the head, how many sentences and bytes of features there are, and the last use; None for no store."""
        with contextlib.suppress(sqlite3.Error), self._connection("r") as database:
            head = dict(database.execute("SELECT name, value FROM head").fetchall())
            n, n_bytes = database.execute("SELECT count(*), total(length(content)) FROM sentence").fetchone()
            (used,) = database.execute("SELECT CAST(max(used) AS INTEGER) FROM pack").fetchone()
            is_head = head.keys() == {"encoder", "fingerprint", "dim"}
            if is_head and type(head["dim"]) is int and head["dim"] > 0:
                return head, n, int(n_bytes), used or 0
        return None

    def packs(self) -> list[tuple[int, int, int]]:
        """Return the time of last use in nanoseconds, the bytes and the number of each pack."""
        latest = time.time_ns() + _CLOCKS_DIFFER_NS  # a later time comes from a clock that was wrong
        with contextlib.suppress(sqlite3.Error), self._connection("r") as database:
            found = database.execute("SELECT CAST(used AS INT), CAST(n_bytes AS INT), number FROM pack").fetchall()
            return [(used if used < latest else 0, n_bytes, number) for used, n_bytes, number in found]
        return []

    def remove(self, pack: int) -> None:
        """Remove a pack, and give its space back."""
        with self._connection("rw") as database:
            database.execute("DELETE FROM sentence WHERE pack = ?", (pack,))
            database.execute("DELETE FROM pack WHERE number = ?", (pack,))

    def delete(self) -> None:
        """Remove the file."""
        for path in (self.path.with_name(f"{self.path.name}-journal"), self.path):
            path.unlink(missing_ok=True)

    def _found(self, keys: Sequence[bytes]) -> Iterator[Any]:
        """Yield the sentences with these keys; whatever cannot be read is not cached, and a damaged file is removed."""
        try:
            with self._connection("r") as database:
                if not database.execute("SELECT 1 FROM sqlite_master").fetchone():
                    return  # another process is about to write the first pack, or was killed before
                known = dict(database.execute("SELECT name, value FROM head").fetchall())
                if known | {"encoder": (self.head or {}).get("encoder")} != self.head:  # it may have been moved
                    raise sqlite3.DatabaseError("it has the features of another encoder")
                for i in range(0, len(keys), _AT_ONCE):
                    some = keys[i : i + _AT_ONCE]
                    marks = ",".join("?" * len(some))
                    what = "key, pack, crc, content"
                    yield from database.execute(f"SELECT {what} FROM sentence WHERE key IN ({marks})", some)
        except sqlite3.Error as error:
            cannot_open = getattr(error, "sqlite_errorname", "") == "SQLITE_CANTOPEN"
            if not self.path.exists() or (cannot_open and os.access(self.path, os.R_OK)):
                return  # nothing was cached, another is making the file now, or another has removed it
            if _is_damage(error):
                with contextlib.suppress(OSError):
                    self.delete()
            self._warn_unusable(str(error))

    @contextlib.contextmanager
    def _connection(self, mode: str, seconds: float = _SECONDS) -> Iterator[sqlite3.Connection]:
        """Give a connection with one transaction, which is ended and closed behind it."""
        if mode == "r":  # what a killed process left behind is tidied up by whoever reads next, if they may
            may_write = os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK)
            mode, begin = "rw" if may_write else "ro", "BEGIN"
        else:
            begin = "BEGIN IMMEDIATE"
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=seconds, isolation_level=None)) as database:
            database.execute("PRAGMA mmap_size = 4000000000")
            if mode == "rwc":
                database.execute("PRAGMA page_size = 8192")  # a sentence takes a few pages
                database.execute("PRAGMA auto_vacuum = FULL")  # what is removed gives its space back
            database.execute("PRAGMA trusted_schema = OFF")
            database.execute("PRAGMA synchronous = OFF")  # a power cut may damage the file: then it is encoded again
            database.execute(begin)
            try:
                yield database
                database.execute("COMMIT")
            except BaseException:
                with contextlib.suppress(sqlite3.Error):
                    database.execute("ROLLBACK")
                raise

    def _warn_unusable(self, reason: str) -> None:
        self.warn(f"cached features in {self.path} could not be used: {reason}. Their sentences are encoded again.")

    def warn(self, message: str) -> None:
        """Warn about something that the user should know, at most once."""
        if message not in self._said:
            self._said.add(message)
            warnings.warn(message, HandfulWarning, stacklevel=4)


def _is_damage(error: sqlite3.Error) -> bool:
    """Tell whether a file has to be begun anew; another error may be due to who else has it, who may be writing."""
    name = getattr(error, "sqlite_errorname", "SQLITE_CORRUPT")  # an error of ours has no name
    return name.startswith(("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR"))
