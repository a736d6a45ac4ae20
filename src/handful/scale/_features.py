"""Text to features: workers encode pieces of text into shards that a later run uses again.

A shard is a plain ``.npy`` file: rows can be read from any place of it without reading the rest, by mapping it into
memory, and nothing has to be unpacked. Beside it, a ``.json`` file has the words. After the array come the
checksums of both files; a process looks at them once.
"""

import json
import os
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful._util.files import PathLike, replacing
from handful._util.progress import Progress, reporting
from handful.encoders._opened import AnyEncoder, encode, is_object, open_encoder, unreadable
from handful.encoders._writing import new_mapped
from handful.errors import DataError, EncoderError, FileError
from handful.tagger._far import FarText, TextShard, encoder_here
from handful.tagger._tagging import MOST, batches
from handful.text import ReadReport

from ._folders import ShardFolder
from ._pieces import Piece, find_pieces, read_piece
from ._workers import call_all, encoder_threads

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["Features", "encode_texts", "open_features", "read_all"]

_MAGIC = b"handful\x02"
_CHECKSUMS = struct.Struct("<8sII")  # magic, and the crc32 of the array's file up to here and of the words' file


@dataclass(frozen=True)
class Features:
    """Encoded text in a folder.

    Attributes
    ----------
    path : the folder
    pieces : the pieces of text, one for each shard
    options : how they were read
    n_words, n_sentences : of each shard
    dim, dtype, fingerprint : of the encoder, and how its numbers are kept
    report : what reading met with, one thing on each line
    """

    path: Path
    pieces: Sequence[Piece]
    options: Mapping[str, Any]
    n_words: Sequence[int]
    n_sentences: Sequence[int]
    dim: int
    dtype: str
    fingerprint: str
    report: Sequence[str]

    def far_text(self) -> FarText:
        """Return the text as a fit takes it."""
        from handful._util.on_dask import StoredRows

        folder = ShardFolder(self.path, "features")
        paths = [str(folder.shard(number, ".npy")) for number in range(len(self.n_words))]
        starts = np.cumsum([0, *self.n_words])
        if not starts[-1]:
            raise DataError(f"{self.path}: there is no word in the text")
        rows = StoredRows(partial(_some, paths, starts, self.dtype), (int(starts[-1]), self.dim), self.dtype)
        shards = [StoredShard(path) for path in paths]
        return FarText(rows, shards, list(self.n_words), self.fingerprint, list(self.report))


@dataclass(frozen=True)
class StoredShard:
    """A shard in its files."""

    path: str

    def load(self) -> TextShard:
        """Read the words; the features are mapped into memory."""
        about = _about(Path(self.path))
        features = _mapped(self.path)
        lost = np.zeros(len(features), bool)
        lost[about["unreadable"]] = True
        return TextShard([tuple(words) for words in about["sentences"]], features, lost)


@dataclass(frozen=True)
class _Some:
    """Some rows in several files: which files, the rows at which they begin and the last one ends, and how many."""

    paths: Sequence[str]
    starts: NDArray[np.int64]
    n: int
    dtype: str

    def load(self) -> "_Rows":
        """Map the files into memory."""
        return _Rows([_mapped(path) for path in self.paths], self.starts, self.n, np.dtype(self.dtype))


def _some(paths: Sequence[str], starts: NDArray[np.int64], dtype: str, part: slice) -> _Some:
    first = int(np.searchsorted(starts, part.start, side="right")) - 1
    last = int(np.searchsorted(starts, part.stop, side="left"))
    return _Some(paths[first:last], starts[first : last + 1] - part.start, part.stop - part.start, dtype)


class _Rows:
    """Rows in several arrays, of which blocks are read: what is not asked for is not read.

    `starts` are the rows at which arrays begin, and the last one ends; the first may be below 0.
    """

    def __init__(self, arrays: Sequence[Float], starts: NDArray[np.int64], n: int, dtype: np.dtype[Any]) -> None:
        self._arrays = arrays
        self._starts = starts
        self._n = n
        self.dtype = dtype

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, wanted: slice | NDArray[np.integer]) -> Float:
        if isinstance(wanted, slice):
            start, stop = wanted.start, min(wanted.stop, self._n)
            pieces = [
                array[max(0, start - first) : max(0, stop - first)]
                for array, first in zip(self._arrays, self._starts, strict=False)
                if first < stop and first + len(array) > start
            ]
            return pieces[0] if len(pieces) == 1 else np.concatenate(pieces)
        of_array = np.searchsorted(self._starts, wanted, side="right") - 1
        taken = np.empty((len(wanted), self._arrays[0].shape[1]), self.dtype)
        for number in np.unique(of_array):
            here = of_array == number
            taken[here] = self._arrays[number][wanted[here] - self._starts[number]]
        return taken


def _mapped(path: str) -> Float:
    """Map an array into memory, for one task: what stays mapped counts as memory of the worker."""
    try:
        status = os.stat(path)
        _check_rows(path, status.st_mtime_ns, status.st_size)
        with open(path, "rb") as file:
            np.lib.format.read_magic(file)
            (n, *_), *_ = np.lib.format.read_array_header_1_0(file)
        array: Float = np.load(path, mmap_mode="r" if n else None)  # nothing cannot be mapped
    except FileError:
        raise
    except (OSError, ValueError) as error:
        raise FileError(f"{path}: cannot be read: {error}") from None
    return array


def _seal(path: Path, about: bytes) -> None:
    """Put checksums after an array: those of its file, and of the words that go with it."""
    with open(path, "r+b") as file:
        crc = 0
        while some := file.read(1 << 20):
            crc = zlib.crc32(some, crc)
        file.write(_CHECKSUMS.pack(_MAGIC, crc, zlib.crc32(about)))


def _checksums(path: Path) -> tuple[int, int] | None:
    """Return the checksums after an array; None where there are none, as in what earlier versions wrote."""
    with open(path, "rb") as file:
        file.seek(max(0, os.fstat(file.fileno()).st_size - _CHECKSUMS.size))
        end = file.read()
    if not end.startswith(_MAGIC):
        return None
    _, rows, about = _CHECKSUMS.unpack(end)
    return rows, about


@lru_cache(maxsize=1 << 16)
def _check_rows(path: str, time_ns: int, n_bytes: int) -> None:
    """Refuse an array that is not as it was written; one that was looked at and has not changed since is not read."""
    written = _checksums(Path(path))
    if written is None:
        return
    crc, left = 0, n_bytes - _CHECKSUMS.size
    with open(path, "rb") as file:
        while left and (some := file.read(min(left, 1 << 20))):
            crc, left = zlib.crc32(some, crc), left - len(some)
    if crc != written[0]:
        raise _damaged(Path(path))


def _about(path: Path) -> dict[str, Any]:
    """Read what is beside an array: its words, and what was met with when they were read."""
    beside = path.with_suffix(".json")
    try:
        content, written = beside.read_bytes(), _checksums(path)
    except OSError as error:
        raise FileError(f"{beside}: cannot be read: {error.strerror or error}") from None
    if written is not None and zlib.crc32(content) != written[1]:
        raise _damaged(beside)
    about: dict[str, Any] = json.loads(content.decode("utf-8", "surrogatepass"))
    return about


def _damaged(path: Path) -> FileError:
    return FileError(
        f"{path}: does not match its checksum, it was damaged or changed since it was written; remove the folder "
        f"{path.parent} and encode the texts again"
    )


def encode_texts(
    client: "Client",
    files: Sequence[str],
    out: PathLike,
    *,
    encoder: AnyEncoder = "handful-en",
    layers: Any = -1,
    threads: int | None = None,
    dtype: str = "float32",
    format: str | None = None,
    options: Mapping[str, Any] | None = None,
    progress: Progress = None,
) -> Features:
    """Encode texts on workers, into a folder of shards; what is there already is not encoded again.

    Parameters
    ----------
    client : of the workers, which see the same files and the same folder
    files : paths and patterns of texts in any format, and Parquet datasets; local, or as fsspec takes them
    out : the folder
    encoder, layers : as for `Tagger`
    threads : of the encoder of each worker; None, its share of the machine
    dtype : "float32", or "float16", which takes half of the room and rounds
    format, options : as for `handful.text.stream`
    progress : as for `handful.encoders.Encoder.encode`
    """
    if dtype not in ("float32", "float16"):
        raise DataError(f"dtype is {dtype!r}, expected 'float32' or 'float16'")
    folder = ShardFolder(out, "features")
    folder.check()
    options = {"unlabelled": True} | dict(options or {})
    pieces = find_pieces(files, format, options, folder.path / "texts")
    opened = open_encoder(encoder, layers, threads)
    plan = {
        "encoder": opened.fingerprint,
        "dim": opened.dim,
        "dtype": dtype,
        "options": options,
        "pieces": [piece.to_dict() for piece in pieces],
    }
    folder.check(plan)
    if (folder.path / "index.json").exists():
        return open_features(folder.path)
    n_words = read_all(client, pieces, options)
    if not sum(n_words):
        raise DataError(f"{', '.join(files)}: there is no word in the text")
    folder.start(plan)
    chosen = encoder if is_object(encoder) else str(encoder)
    opening = (chosen, layers, encoder_threads(client, threads), getattr(opened, "precision", None))
    with reporting(progress, sum(n_words)) as report:
        n_done = 0

        def done(number: int, _: Any) -> None:
            nonlocal n_done
            n_done += n_words[number]
            report(n_done, sum(n_words))

        found = call_all(
            client, _encode_piece, list(enumerate(pieces)), str(folder.path), options, opening, dtype, done=done
        )
    folder.finish(
        {
            "n_words": [one["n_words"] for one in found],
            "n_sentences": [one["n_sentences"] for one in found],
            "report": [line for one in found for line in one["report"]],
        }
    )
    return open_features(folder.path)


def open_features(path: PathLike) -> Features:
    """Return what is in a folder that `encode_texts` made; an error where it is not complete."""
    folder = ShardFolder(path, "features")
    index, plan = folder.index(), folder.plan()
    return Features(
        path=folder.path.resolve(),
        pieces=[Piece.from_dict(piece) for piece in plan["pieces"]],
        options=plan["options"],
        n_words=index["n_words"],
        n_sentences=index["n_sentences"],
        dim=plan["dim"],
        dtype=plan["dtype"],
        fingerprint=plan["encoder"],
        report=index["report"],
    )


def read_all(client: "Client", pieces: Sequence[Piece], options: Mapping[str, Any]) -> list[int]:
    """Read all pieces once, and return the words of each: what is malformed is known before anything is written."""
    return call_all(client, _count_words, pieces, dict(options))


# What follows is run by workers.


def _count_words(piece: Piece, options: Mapping[str, Any]) -> int:
    return sum(document.n_words for document in read_piece(piece, options))


def _encode_piece(
    numbered: tuple[int, Piece], out: str, options: Mapping[str, Any], opening: tuple[Any, ...], dtype: str
) -> dict[str, Any]:
    """Write the shard of a piece, unless it is there; return what it holds."""
    number, piece = numbered
    folder = ShardFolder(out, "features")
    rows, words = folder.shard(number, ".npy"), folder.shard(number, ".json")
    if not rows.exists():  # it comes last
        reader = read_piece(piece, options)
        sentences = [sentence for document in reader for sentence in document.sentences]
        n_words = sum(len(sentence.words) for sentence in sentences)
        encoder = encoder_here(*opening)
        lost: list[NDArray[np.bool_]] = [np.empty(0, bool)]
        with replacing(rows) as temporary:
            features = _new(temporary, (n_words, encoder.dim), dtype)
            row = 0
            for batch in batches(sentences, lambda sentence: len(sentence.words), MOST):
                found = encode(encoder, batch, progress=False)
                features[row : row + len(found)] = _rounded(found, dtype)
                lost.append(unreadable(encoder, batch))
                row += len(found)
            if isinstance(features, np.memmap):
                features.flush()
            del features
            about = {
                "n_words": n_words,
                "n_sentences": len(sentences),
                "report": _lines_of(reader.report),
                "sentences": [sentence.words for sentence in sentences],
                "unreadable": np.flatnonzero(np.concatenate(lost)).tolist(),
            }
            content = json.dumps(about, ensure_ascii=False).encode("utf-8", "surrogatepass")
            with replacing(words) as beside:
                beside.write_bytes(content)
            _seal(temporary, content)
    known = _about(rows)
    return {name: known[name] for name in ("n_words", "n_sentences", "report")}


def _new(path: Path, shape: tuple[int, int], dtype: str) -> Any:
    """Return an array in a new file, to be filled; one without rows cannot be mapped into memory."""
    if shape[0]:
        return new_mapped(path, shape, dtype)
    with open(path, "wb") as file:
        np.save(file, np.empty(shape, dtype))
    return np.empty(shape, dtype)


def _rounded(features: Float, dtype: str) -> Float:
    if dtype == "float32":
        return features
    with np.errstate(over="ignore"):
        rounded = features.astype(np.float16)
    if not np.array_equal(np.isfinite(rounded), np.isfinite(features)):
        raise EncoderError("the encoder gives features too large for float16; keep them as float32")
    return rounded


def _lines_of(report: ReadReport) -> list[str]:
    return [f"{report.name}: {line}" for line in report.handled(shell=True)]
