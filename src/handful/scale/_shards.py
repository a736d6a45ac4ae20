"""Shards of features: an array and its words, with checksums; read on workers, by blocks.

A shard is a plain ``.npy`` file: rows can be read from any place of it without reading the rest, by mapping it into
memory, and nothing has to be unpacked. Beside it, a ``.json`` file has the words. After the array come the
checksums of both files; a process looks at them once.
"""

import json
import os
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float, Part, Rows
from handful.errors import FileError
from handful.tagger.evidence import LARGEST

from ._fit import TextShard
from .folders import checked, is_count, is_counts, is_lines

_MAGIC = b"handful\x02"
_CHECKSUMS = struct.Struct("<8sII")  # magic, and the crc32 of the array's file up to here and of the words' file
_NPY = b"\x93NUMPY\x01\x00"


@dataclass(frozen=True)
class StoredShard:
    """A shard in its files.

    Attributes
    ----------
    path : of the array
    shape, dtype : of the array
    """

    path: str
    shape: tuple[int, int]
    dtype: str

    def load(self) -> TextShard:
        """Read the words; the features are mapped into memory."""
        path, n = Path(self.path).with_suffix(".json"), self.shape[0]
        about = about_shard(Path(self.path))
        features = _mapped(self.path, self.shape, self.dtype)
        sentences = checked(path, about, "sentences", _are_sentences, "lists of words")
        rows = checked(path, about, "unreadable", is_counts, "a list of row numbers")
        if sum(map(len, sentences)) != n or max(rows, default=-1) >= n:
            raise FileError(f"{path}: its words are not the {n} of index.json; {_again(path)}")
        lost = np.zeros(n, bool)
        lost[rows] = True
        return TextShard([tuple(words) for words in sentences], features, lost)


@dataclass(frozen=True)
class SomeRows:
    """Some rows in several files, on their way to a worker.

    Attributes
    ----------
    paths : the files
    starts : the rows at which they begin, and the last one ends; the first may be below 0
    n, dim, dtype : how many rows are wanted, and what they are
    """

    paths: Sequence[str]
    starts: NDArray[np.int64]
    n: int
    dim: int
    dtype: str

    @classmethod
    def within(cls, paths: Sequence[str], starts: NDArray[np.int64], dim: int, dtype: str, part: slice) -> "SomeRows":
        """Take those rows of all files that a slice says."""
        first = int(np.searchsorted(starts, part.start, side="right")) - 1
        last = int(np.searchsorted(starts, part.stop, side="left"))
        return cls(paths[first:last], starts[first : last + 1] - part.start, part.stop - part.start, dim, dtype)

    def load(self) -> Rows:
        """Map the files into memory."""
        sizes = np.diff(self.starts).tolist()
        arrays = [_mapped(path, (n, self.dim), self.dtype) for path, n in zip(self.paths, sizes, strict=True)]
        wanted = [
            array[max(0, -start) : max(0, self.n - start)] for array, start in zip(arrays, self.starts, strict=False)
        ]
        return Rows([Part(array) for array in wanted])


def about_shard(path: Path) -> dict[str, Any]:
    """Read what is beside an array: its words, and what was met with when they were read."""
    beside = path.with_suffix(".json")
    try:
        content, (_, written) = beside.read_bytes(), _checksums(path)
    except OSError as error:
        raise FileError(f"{beside}: cannot be read: {error.strerror or error}") from None
    if zlib.crc32(content) != written:
        raise _damaged(beside)
    try:
        about = json.loads(content.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise FileError(f"{beside}: is not JSON: {error}; {_again(beside)}") from None
    about = about if isinstance(about, dict) else {}
    for name in ("n_words", "n_sentences"):
        checked(beside, about, name, is_count, "a number from 0")
    checked(beside, about, "report", is_lines, "a list of lines")
    return about


def check_size(path: Path, shape: tuple[int, int], dtype: str) -> None:
    """Refuse an array that is not there or too short, before anything is asked of it."""
    try:
        n_bytes = os.path.getsize(path)
    except OSError as error:
        raise FileError(f"{path}: cannot be read: {error.strerror or error}; {_again(path)}") from None
    if n_bytes < shape[0] * shape[1] * np.dtype(dtype).itemsize:
        raise FileError(f"{path}: is too short for {shape[0]:,} rows of {shape[1]:,} numbers; {_again(path)}")


def seal(path: Path, about: bytes) -> None:
    """Put checksums after an array: those of its file, and of the words that go with it."""
    with open(path, "r+b") as file:
        crc = 0
        while some := file.read(1 << 20):
            crc = zlib.crc32(some, crc)
        file.write(_CHECKSUMS.pack(_MAGIC, crc, zlib.crc32(about)))


def are_usual(features: Float) -> bool:
    """Whether numbers are finite, and not so large that sums of their squares are not."""
    kind: Any = np.uint16 if features.dtype == np.float16 else np.uint32
    most = np.array(min(LARGEST, float(np.finfo(features.dtype).max)), features.dtype).view(kind)
    without_sign = np.iinfo(kind).max >> 1
    bits: NDArray[Any] = features.view(kind) & without_sign  # larger numbers have larger bits, and NaN has the largest
    return bool(bits.max(initial=0) <= most)


def _mapped(path: str, shape: tuple[int, int], dtype: str) -> Float:
    """Map an array into memory, for one task: what stays mapped counts as memory of the worker."""
    try:
        status = os.stat(path)
        offset = _check_head(path, shape, dtype, status.st_size)
        check_rows(path, status.st_mtime_ns, status.st_size, offset, dtype)
        if not shape[0]:  # nothing cannot be mapped
            return np.empty(shape, dtype)
        array: Float = np.memmap(path, dtype, "r", offset, shape)
    except FileError:
        raise
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read: {error}") from None
    return array


def _check_head(path: str, shape: tuple[int, int], dtype: str, n_bytes: int) -> int:
    """Refuse a file that does not begin and end as one of this shape does; return where its rows begin."""
    with open(path, "rb") as file:
        magic, n = file.read(len(_NPY)), int.from_bytes(file.read(2), "little")
        head, offset = file.read(n), file.tell()
    expected = f"{{'descr': {np.dtype(dtype).str!r}, 'fortran_order': False, 'shape': {shape}, }}"
    end = offset + shape[0] * shape[1] * np.dtype(dtype).itemsize
    if magic != _NPY or head.strip() != expected.encode() or n_bytes != end + _CHECKSUMS.size:
        rows = f"{shape[0]:,} rows of {shape[1]:,} numbers ({dtype})"
        raise FileError(f"{path}: is not an array of {rows}, as plan.json and index.json say; {_again(Path(path))}")
    return offset


def _checksums(path: Path) -> tuple[int, int]:
    """Return the checksums after an array: of what is before them, and of the words."""
    with open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _CHECKSUMS.size))
        end = file.read()
    if len(end) < _CHECKSUMS.size or not end.startswith(_MAGIC):
        raise FileError(f"{path}: has no checksums at its end, it was cut off or damaged; {_again(path)}")
    _, rows, about = _CHECKSUMS.unpack(end)
    return rows, about


@lru_cache(maxsize=1 << 16)
def check_rows(path: str, time_ns: int, n_bytes: int, offset: int, dtype: str) -> None:
    """Refuse an array that is not as it was written; one that was looked at and has not changed since is not read."""
    written, _ = _checksums(Path(path))
    with open(path, "rb") as file:
        crc, left, is_usual = zlib.crc32(file.read(offset)), n_bytes - _CHECKSUMS.size - offset, True
        while left > 0 and (some := file.read(min(left, 1 << 20))):
            crc, left = zlib.crc32(some, crc), left - len(some)
            whole = len(some) - len(some) % np.dtype(dtype).itemsize
            is_usual = is_usual and are_usual(np.frombuffer(some[:whole], dtype))
    if crc != written:
        raise _damaged(Path(path))
    if not is_usual:
        raise FileError(f"{path}: has numbers that are not finite, or above {LARGEST:g}; {_again(Path(path))}")


def _are_sentences(value: Any) -> bool:
    return isinstance(value, list) and all(is_lines(words) and words for words in value)


def _damaged(path: Path) -> FileError:
    return FileError(
        f"{path}: does not match its checksum, it was damaged or changed since it was written; {_again(path)}"
    )


def _again(path: Path) -> str:
    return f"remove the folder {path.parent} and encode the texts again"
