"""Segments: files of features that are written once and never changed.

The layout, little-endian::

    prefix    magic, length of the head, number of sentences, crc32 of head and index
    head      JSON: whose features these are
    index     for each sentence: its key, its number of words, the crc32 of its features
    padding   to a multiple of 4096 bytes
    features  one row per word

A segment appears under its name whole or not at all: it is written to a temporary name, synced to the disk,
and renamed. Its name is a hash of head and index: the same features written by two processes become one file, and a
file with other content never gets its name.
"""

import contextlib
import json
import os
import secrets
import struct
import zlib
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from handful.errors import DataError

__all__ = ["KEY_BYTES", "DamagedError", "Segment", "is_segment", "is_temporary", "put", "write_segment"]

KEY_BYTES = 16
_MAGIC = b"handful\x01"
_PREFIX = struct.Struct("<8sIII")
_ENTRY = np.dtype([("key", f"V{KEY_BYTES}"), ("n_words", "<u4"), ("crc", "<u4")])
_PAGE = 4096
_SUFFIX = ".features"
_TEMPORARY = ".tmp"

Features = npt.NDArray[np.floating[Any]]
Ints = npt.NDArray[np.int64]


class DamagedError(Exception):
    """A segment whose bytes are not those that were written; never leaves the cache."""


def is_segment(name: str) -> bool:
    """Tell whether a file of this name is a segment."""
    return name.endswith(_SUFFIX)


def is_temporary(name: str) -> bool:
    """Tell whether a file of this name is a segment that is being written, or one that a killed process left."""
    return name.endswith(_TEMPORARY)


class Segment:
    """One segment, its index in memory and its features on disk.

    Parameters
    ----------
    path
        The file. Its head and index are read and checked now, each sentence's features when first read.

    Attributes
    ----------
    head : dict
        What `write_segment` was given.
    keys : list of bytes
        One per sentence.
    starts : array of shape (n_sentences + 1,)
        Sentence i has the rows ``starts[i]`` to ``starts[i + 1]``.
    n_bytes : int
        The size of the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            self.n_bytes = os.fstat(file.fileno()).st_size
            prefix = file.read(_PREFIX.size)
            if len(prefix) < _PREFIX.size:
                raise DamagedError(f"{path} is cut short")
            magic, head_bytes, n_sentences, crc = _PREFIX.unpack(prefix)
            index_bytes = n_sentences * _ENTRY.itemsize
            if magic != _MAGIC or _PREFIX.size + head_bytes + index_bytes > self.n_bytes:
                raise DamagedError(f"{path} does not start like a segment")
            content = file.read(head_bytes + index_bytes)
        if zlib.crc32(content) != crc:
            raise DamagedError(f"{path} has an index that does not match its checksum")
        self.head = _read_head(path, content[:head_bytes])
        entries = np.frombuffer(content[head_bytes:], _ENTRY)
        self.keys: list[bytes] = entries["key"].tolist()
        self.starts: Ints = np.concatenate([[0], np.cumsum(entries["n_words"], dtype=np.int64)])
        self._crcs: list[int] = entries["crc"].tolist()
        self._is_checked = np.zeros(n_sentences, bool)
        self._dtype = _dtype(self.head)
        self._row_bytes = self.head["dim"] * self._dtype.itemsize
        self._offset = _padded(_PREFIX.size + len(content))
        if self._offset + int(self.starts[-1]) * self._row_bytes != self.n_bytes:
            raise DamagedError(f"{path} does not have the size that its index says")

    def read_into(self, sentences: Ints, features: Features, at: Ints) -> None:
        """Read the features of some sentences; `DamagedError` if any of them is not as it was written.

        Parameters
        ----------
        sentences
            Which ones, of this segment.
        features
            The array to write into.
        at
            The row of `features` where each of them begins.
        """
        order = np.argsort(sentences, kind="stable")
        sentences, at = sentences[order], at[order]
        begin, end = self.starts[sentences], self.starts[sentences + 1]
        # One read for each run of sentences that are neighbours both here and in `features`.
        breaks = np.flatnonzero((begin[1:] != end[:-1]) | (at[1:] != at[:-1] + (end - begin)[:-1])) + 1
        with self.path.open("rb", buffering=0) as file:
            for run in np.split(np.arange(len(sentences)), breaks):
                if not len(run):
                    continue
                first, last = run[0], run[-1]
                n_rows = int(end[last] - begin[first])
                target = features[at[first] : at[first] + n_rows]
                is_direct = target.dtype == self._dtype and target.flags.c_contiguous
                rows = target if is_direct else np.empty(target.shape, self._dtype)
                file.seek(self._offset + int(begin[first]) * self._row_bytes)
                _read_exactly(file, rows, self.path)
                self._check(int(sentences[first]), int(sentences[last]) + 1, rows)
                if not is_direct:
                    put(target, rows)

    def view(self, first: int, stop: int) -> Features:
        """Map sentences `first` to `stop` into memory, read-only; `DamagedError` as in `read_into`."""
        begin, end = int(self.starts[first]), int(self.starts[stop])
        offset = self._offset + begin * self._row_bytes
        try:
            mapped = np.memmap(self.path, self._dtype, "r", offset, (end - begin, self.head["dim"]))
        except ValueError as error:  # the file has become shorter since its index was read
            raise DamagedError(f"{self.path} is cut short") from error
        rows = mapped.view(np.ndarray)
        self._check(first, stop, rows)
        return rows

    def intact(self) -> tuple[Ints, Features]:
        """Read everything; return the sentences whose features are as they were written, and all features."""
        features = np.empty((int(self.starts[-1]), self.head["dim"]), self._dtype)
        with self.path.open("rb", buffering=0) as file:
            file.seek(self._offset)
            _read_exactly(file, features, self.path)
        sentences = [i for i in range(len(self.keys)) if self._crc_holds(i, features, 0)]
        return np.array(sentences, np.int64), features

    def _check(self, first: int, stop: int, rows: Features) -> None:
        for sentence in (first + np.flatnonzero(~self._is_checked[first:stop])).tolist():
            if not self._crc_holds(sentence, rows, int(self.starts[first])):
                raise DamagedError(f"{self.path} has features that do not match their checksum")
        self._is_checked[first:stop] = True

    def _crc_holds(self, sentence: int, rows: Features, offset: int) -> bool:
        part = rows[self.starts[sentence] - offset : self.starts[sentence + 1] - offset]
        return zlib.crc32(part.data) == self._crcs[sentence]


def write_segment(
    folder: Path,
    head: Mapping[str, Any],
    keys: Sequence[bytes],
    n_words: Sequence[int],
    features: Features,
    *,
    used_ns: int,
) -> Path:
    """Write a segment; on any failure nothing is left behind.

    Parameters
    ----------
    folder
        The folder to write to; must exist.
    head
        Whose features these are; must have ``dim`` and ``precision`` ("float32" or "float16").
    keys, n_words
        The key and the number of words of each sentence.
    features : array of shape (sum(n_words), dim)
        The rows of all sentences in order.
    used_ns
        The time to note as that of the last use.
    """
    rows = np.ascontiguousarray(features, _dtype(head))
    stops = np.cumsum(n_words)
    entries = np.empty(len(keys), _ENTRY)
    entries["key"] = np.frombuffer(b"".join(keys), f"V{KEY_BYTES}")
    entries["n_words"] = n_words
    entries["crc"] = [zlib.crc32(rows[stop - n : stop].data) for stop, n in zip(stops, n_words, strict=True)]
    index = entries.tobytes()
    content = json.dumps(dict(head), sort_keys=True).encode()
    content, head_bytes = content + index, len(content)
    prefix = _PREFIX.pack(_MAGIC, head_bytes, len(keys), zlib.crc32(content))
    path = folder / (blake2b(content, digest_size=16).hexdigest() + _SUFFIX)
    # Not `_util.files.replacing`: threads of one process may write the same segment at once, so the process id is not
    # enough for a name; the time of last use is set before the segment appears; and the rename may find that another
    # process was first. The caller needs the OSError itself.
    temporary = path.with_suffix(f".{secrets.token_hex(4)}{_TEMPORARY}")
    try:
        with temporary.open("xb") as file:
            file.write((prefix + content).ljust(_padded(len(prefix) + len(content)), b"\0"))
            file.write(rows.data)
            file.flush()
            os.fsync(file.fileno())
        os.utime(temporary, ns=(used_ns, used_ns))
        try:
            os.replace(temporary, path)
        except PermissionError:  # Windows, while another process has the same segment mapped
            if not path.exists():
                raise
            temporary.unlink()
    except BaseException:
        with contextlib.suppress(OSError):
            temporary.unlink(missing_ok=True)
        raise
    _sync_folder(folder)
    return path


def put(target: Features, rows: Features) -> None:
    """Copy rows into an array of any precision that can hold them."""
    try:
        with np.errstate(over="raise"):
            target[:] = rows
    except FloatingPointError as error:
        raise DataError(f"out is {target.dtype}, and a feature is too large for that; use float32") from error


def _read_head(path: Path, content: bytes) -> dict[str, Any]:
    """Read a head, which says how long a row is, in which precision, and whose features these are."""
    try:
        head = json.loads(content)
    except (ValueError, RecursionError):
        head = None
    if (
        not isinstance(head, dict)
        or head.get("precision") not in ("float32", "float16")
        or type(head.get("dim")) is not int
        or not 0 < head["dim"] < 1 << 31
        or not all(isinstance(head.get(name), str) for name in ("encoder", "fingerprint"))
    ):
        raise DamagedError(f"{path} does not say whose features it has")
    return head


def _dtype(head: Mapping[str, Any]) -> np.dtype[np.floating[Any]]:
    return np.dtype({"float32": "<f4", "float16": "<f2"}[head["precision"]])


def _padded(n_bytes: int) -> int:
    return -(-n_bytes // _PAGE) * _PAGE


def _read_exactly(file: Any, rows: Features, path: Path) -> None:
    left = rows.reshape(-1).data.cast("B")
    while left:
        n_read = file.readinto(left)
        if not n_read:
            raise DamagedError(f"{path} is cut short")
        left = left[n_read:]


def _sync_folder(folder: Path) -> None:
    """Make a rename survive a power cut, if the system can sync a folder."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
