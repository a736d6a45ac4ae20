"""Text in shards: sentences with the features of their words, in files.

The file of a shard is a plain ``.npy`` file: a worker maps it into memory, and reads rows from any place of it without
reading the rest. Beside it, a ``.json`` file has the words. After the array come the checksums of both files; a process
looks at them once.
"""

import os
import struct
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import FarRows, Float, Part, Rows
from handful._util.files import naming
from handful.errors import FileError
from handful.tagger.evidence import LARGEST
from handful.tagger.training_text import Words

from ._folders import ShardFolder, checked

_MAGIC = b"handful\x02"
_CHECKSUMS = struct.Struct("<8sII")  # magic, and the crc32 of the array's file up to here and of the words' file
_NPY = b"\x93NUMPY\x01\x00"


@dataclass(frozen=True)
class TextShard:
    """Sentences, one after the other: their words, the features (n_words, dim) of these, and which are unreadable."""

    words: Sequence[Words]
    features: Float
    unreadable: NDArray[np.bool_]


@dataclass(frozen=True)
class StoredShard:
    """A shard in its files: `path` is that of the array, which has this `shape` and `dtype`."""

    path: str
    shape: tuple[int, int]
    dtype: str

    def load(self) -> TextShard:
        """Read the words; the features are mapped into memory."""
        path, n = Path(self.path).with_suffix(".json"), self.shape[0]
        about = about_shard(Path(self.path))
        sentences = checked(path, about, "sentences", list)
        are_words = all(isinstance(one, list) and one and all(type(word) is str for word in one) for one in sentences)
        rows = checked(path, about, "unreadable", Sequence[int], least=0)
        if not are_words or sum(map(len, sentences)) != n or max(rows, default=-1) >= n:
            raise FileError(f"{path}: its words are not the {n} of index.json; {_again(path)}")
        lost = np.zeros(n, bool)
        lost[rows] = True
        return TextShard([tuple(words) for words in sentences], self.rows(), lost)

    def check(self) -> int:
        """Refuse a file that does not begin and end as one of this shape does; return where its rows begin."""
        path, kind = Path(self.path), np.dtype(self.dtype)
        with naming(path, advice=f"; {_again(path)}"), open(path, "rb") as file:
            magic, n = file.read(len(_NPY)), int.from_bytes(file.read(2), "little")
            head, offset = file.read(n), file.tell()
            n_bytes = os.fstat(file.fileno()).st_size
        expected = f"{{'descr': {kind.str!r}, 'fortran_order': False, 'shape': {self.shape}, }}"
        end = offset + self.shape[0] * self.shape[1] * kind.itemsize
        if magic != _NPY or head.strip() != expected.encode() or n_bytes != end + _CHECKSUMS.size:
            raise FileError(
                f"{path}: is not an array of {self.shape[0]:,} rows of {self.shape[1]:,} numbers ({self.dtype}) with "
                f"checksums, as plan.json and index.json say, or was cut off; {_again(path)}"
            )
        return offset

    def rows(self) -> Float:
        """Map the array into memory, for one task: what stays mapped counts as memory of the worker."""
        offset = self.check()
        with naming(self.path):
            status = os.stat(self.path)
            check_rows(self.path, status.st_mtime_ns, status.st_size, offset, self.dtype)
            if not self.shape[0]:  # nothing cannot be mapped
                return np.empty(self.shape, self.dtype)
            array: Float = np.memmap(self.path, self.dtype, "r", offset, self.shape)
        return array


@dataclass(frozen=True)
class SomeRows:
    """Rows of neighbouring shards, on their way to a worker: `n` of them, from row `first` of the first shard on."""

    shards: Sequence[StoredShard]
    first: int
    n: int

    @classmethod
    def within(cls, shards: Sequence[StoredShard], starts: NDArray[np.int64], part: slice) -> "SomeRows":
        """Take a slice of the rows of all shards, which begin at `starts`."""
        first = int(np.searchsorted(starts, part.start, side="right")) - 1
        last = int(np.searchsorted(starts, part.stop, side="left"))
        return cls(shards[first:last], part.start - int(starts[first]), part.stop - part.start)

    def load(self) -> Rows:
        """Map the files into memory."""
        parts, first = [], self.first
        stop = self.first + self.n
        for shard in self.shards:
            parts.append(Part(shard.rows()[max(0, first) : max(0, stop)]))
            first, stop = first - shard.shape[0], stop - shard.shape[0]
        return Rows(parts)


@dataclass(frozen=True)
class FarText:
    """Unlabelled text: the features of all words, and shards with so many words each."""

    rows: FarRows
    shards: Sequence[StoredShard]
    n_words: Sequence[int]

    def find(self, wanted: Iterable[Words]) -> list[tuple[int, Words]]:
        """Return where the sentences with these words begin among all words, in order."""
        found = on_shards(_find, self.shards, shared=[frozenset(wanted)])
        firsts = np.cumsum([0, *self.n_words]).tolist()
        return [(first + row, words) for first, here in zip(firsts, found, strict=False) for row, words in here]


def on_shards(
    function: Callable[..., Any], shards: Sequence[StoredShard], *along: Sequence[Any], shared: Sequence[Any] = ()
) -> Sequence[Any]:
    """Return ``function(loaded shard, *its items of `along`, *shared)`` for each shard, computed by the workers."""
    import dask

    run, same = dask.delayed(_on_shard), [dask.delayed(one, traverse=False) for one in shared]
    found: Sequence[Any] = dask.compute(*(run(function, *one, *same) for one in zip(shards, *along, strict=True)))
    return found


def _on_shard(function: Callable[..., Any], shard: StoredShard, *along: Any) -> Any:
    return function(shard.load(), *along)


def _find(shard: TextShard, wanted: frozenset[Words]) -> list[tuple[int, Words]]:
    starts = np.cumsum([0, *map(len, shard.words)]).tolist()
    return [(row, words) for row, words in zip(starts, shard.words, strict=False) if words in wanted]


def about_shard(path: Path) -> dict[str, Any]:
    """Read the JSON beside an array: its words, their counts, and the report of reading."""
    beside = path.with_suffix(".json")
    with naming(beside):
        content, (_, written) = beside.read_bytes(), _checksums(path)
    if zlib.crc32(content) != written:
        raise _damaged(beside)
    return ShardFolder(path.parent, "features").about(beside, content)


def seal(path: Path, about: bytes) -> None:
    """Put checksums after an array: those of its file, and of the words that go with it."""
    with open(path, "r+b") as file:
        crc = 0
        while some := file.read(1 << 20):
            crc = zlib.crc32(some, crc)
        file.write(_CHECKSUMS.pack(_MAGIC, crc, zlib.crc32(about)))


def are_usual(features: Float) -> bool:
    """Whether numbers are finite, and not so large that sums of their squares are not."""
    most = min(LARGEST, float(np.finfo(features.dtype).max))
    return bool(np.all(np.abs(features) <= most))  # NaN is not


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


def _damaged(path: Path) -> FileError:
    return FileError(
        f"{path}: does not match its checksum, it was damaged or changed since it was written; {_again(path)}"
    )


def _again(path: Path) -> str:
    return f"remove the folder {path.parent} and encode the texts again"
