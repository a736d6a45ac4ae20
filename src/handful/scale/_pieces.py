"""Pieces of texts, which one task reads each. A file of lines is cut anywhere; a line is of the piece it begins in."""

import gzip
import io
import os
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import IO, Any

from handful._util.files import expand, naming, replacing
from handful.errors import FileError, HandfulError
from handful.text import Document, ReadReport, stream

# Bytes of a piece: small ones keep all workers busy, many make much work for the scheduler and the file system. Six
# bytes are a word, so pieces have 10,000 to 300,000 words.
LEAST, MOST, MANY = 1 << 16, 1 << 21, 10_000
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class TextPiece:
    """The part of a file that one task reads: the whole file if `stop` is None."""

    name: str  # for messages
    path: str  # as fsspec takes it
    format: str  # as for `handful.text.stream`
    start: int = 0  # of the bytes in which its lines begin, or of the row groups of a Parquet file
    stop: int | None = None
    stamp: str = ""  # changes when the file does

    def to_dict(self) -> dict[str, Any]:
        """Return what tells it from other pieces; what the file was called is no part of it."""
        return {name: value for name, value in asdict(self).items() if name != "name"}

    @property
    def is_cut(self) -> bool:
        """Whether it is some lines of a file."""
        return self.stop is not None and self.format != "parquet"

    def __str__(self) -> str:
        if self.stop is None:
            return self.name
        return f"{self.name}, {'row groups' if self.format == 'parquet' else 'bytes'} {self.start} to {self.stop}"


def find_pieces(
    files: Sequence[str], format: str | None, options: Mapping[str, Any], spool: Path, size: int | None = None
) -> list[TextPiece]:
    """Return the pieces of files, in order; a pattern stands for files by name, a folder for a Parquet dataset.

    Files are local, or as fsspec takes them (``s3://...``). `format` None recognises each by its content. `options` are
    those of `handful.text.stream`. `spool` is a folder for the content of compressed files of lines, so that they can
    be cut. `size` is that of a piece of lines, in bytes; None chooses it by how much there is.
    """
    found = [one for file in files for one in _matching(file)]
    infos = [fs.info(inside) for fs, inside in (_file_system(path) for _, path in found)]
    if size is None:
        size = min(max(LEAST, sum(int(about["size"] or 0) for about in infos) // MANY), MOST)
    pieces = []
    for (name, path), about in zip(found, infos, strict=True):
        stamp = f"{about['size']}-{about.get('mtime') or about.get('ETag') or about.get('LastModified') or ''}"
        pieces += _cut(TextPiece(name, path, format or "", stamp=stamp), int(about["size"] or 0), options, spool, size)
    return pieces


def _matching(file: str) -> list[tuple[str, str]]:
    """Return the names and paths of the files that a path, a pattern or a folder stands for."""
    if file == "-":
        raise FileError("several workers cannot read standard input; write it to a file")
    fs, path = _file_system(file)
    if _is_local(fs):
        names = expand([file.removeprefix("file://")])
        missing = next((name for name in names if not os.path.exists(name)), None)
        if missing is not None:
            raise FileError(f"{missing}: there is no such file")
        return [(name, os.path.abspath(name)) for name in names]
    is_pattern = any(sign in path for sign in "*?[") and not fs.exists(path)
    found = sorted(filter(fs.isfile, fs.glob(path))) if is_pattern else [path]
    if fs.isdir(path):
        found = sorted(fs.glob(f"{path}/**/*.parquet"))
    if not found or not fs.exists(found[0]):
        raise FileError(f"{file}: there is no such file, or no file that matches, or a folder without Parquet files")
    return [(one, one) for one in map(fs.unstrip_protocol, found)]


def _cut(whole: TextPiece, n_bytes: int, options: Mapping[str, Any], spool: Path, size: int) -> list[TextPiece]:
    """Return the pieces of a whole file; its format is recognised if the piece has none."""
    with _opened(whole) as file, stream(file, whole.format or None, **options) as opened:
        whole = replace(whole, format=opened.report.format)
    if opened.n_row_groups is not None:
        return [replace(whole, start=i, stop=i + 1) for i in range(opened.n_row_groups)]
    encoding = str(options.get("encoding", "utf-8"))
    has_plain_ends = "\n".encode(encoding) == b"\n" == "\u0141\n".encode(encoding, "replace")[-1:]
    if not opened.is_by_line or not has_plain_ends:  # the byte of a line feed is not always one
        return [whole]
    fs, inside = _file_system(whole.path)
    with fs.open(inside, "rb") as file:
        is_gzip = file.read(len(_GZIP)) == _GZIP
    if is_gzip:
        if n_bytes <= size // 4:
            return [whole]
        whole = replace(whole, path=_unzipped(whole, spool))
        n_bytes = os.path.getsize(whole.path)
    return [replace(whole, start=start, stop=min(start + size, n_bytes)) for start in range(0, max(n_bytes, 1), size)]


class PieceReader(Iterable[Document]):
    """The documents of a piece, read as they are asked for. The `report` is complete at the end."""

    def __init__(self, piece: TextPiece, options: Mapping[str, Any]) -> None:
        self._piece, self._options = piece, options
        self.report = ReadReport(str(piece), piece.format)

    @property
    def lines(self) -> list[str]:
        """The report, one line for each thing that was not taken as it is."""
        return [f"{self.report.name}: {line}" for line in self.report.handled(shell=True)]

    def __iter__(self) -> Iterator[Document]:
        piece, options = self._piece, dict(self._options)
        if piece.format == "parquet":
            options["row_groups"] = (piece.start, piece.stop)
        elif piece.format == "text" and piece.is_cut:
            options["wrapped"] = False
        with _opened(piece) as file:
            try:
                with stream(file, piece.format, **options) as found:
                    self.report = found.report
                    yield from found
            except HandfulError as error:
                raise self._placed(error) from None

    def _placed(self, error: HandfulError) -> HandfulError:
        """Return an error with the number of the line in the whole file."""
        found = re.match(re.escape(str(self._piece)) + r":(\d+)", error.message)
        if found is None or not self._piece.is_cut:
            return error
        fs, path = _file_system(self._piece.path)
        n_before = 0
        with fs.open(path, "rb") as file:
            left = _start_of(file, self._piece.start)
            file.seek(0)
            while left > 0 and (chunk := file.read(min(left, 1 << 24))):
                n_before, left = n_before + chunk.count(b"\n"), left - len(chunk)
        line = n_before + int(found[1])
        return type(error)(f"{self._piece.name}:{line}{error.message[found.end() :]}", error.advice)


def _lines(file: IO[bytes], start: int, stop: int) -> bytes:
    """Return the lines that begin between two places of a file."""
    first, stop = _start_of(file, start), min(stop, file.seek(0, os.SEEK_END))
    if first >= stop:
        return b""
    file.seek(first)
    content = file.read(stop - first)
    return content if content.endswith(b"\n") else content + file.readline()


def _start_of(file: IO[bytes], start: int) -> int:
    """Return where the first line begins that does not begin before a place."""
    if start == 0:
        return 0
    file.seek(start - 1)
    file.readline()
    return file.tell()


def _unzipped(whole: TextPiece, spool: Path) -> str:
    """Write what a compressed file holds into the spool, if it is not there; return where it is."""
    target = spool / f"{Path(whole.path).name}-{re.sub('[/:]', '_', whole.stamp)}.txt"
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        fs, inside = _file_system(whole.path)
        with (
            naming(whole.name),
            replacing(target) as temporary,
            fs.open(inside, "rb") as file,
            gzip.open(file) as opened,
            open(temporary, "wb") as out,
        ):
            shutil.copyfileobj(opened, out, 1 << 22)
    return str(target)


@contextmanager
def _opened(piece: TextPiece) -> Iterator[Any]:
    """Yield a piece as `handful.text.stream` takes it: a local path, an open file from elsewhere, or some lines."""
    fs, inside = _file_system(piece.path)
    if _is_local(fs) and not piece.is_cut:
        yield inside
        return
    with naming(piece.name), fs.open(inside, "rb") as whole:
        file = io.BytesIO(_lines(whole, piece.start, piece.stop or 0)) if piece.is_cut else whole
        file.name = str(piece) if piece.is_cut else piece.name
        yield file


def _file_system(path: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    try:
        if "\0" in os.fsdecode(os.fsencode(path)):
            raise ValueError("a path has no null character")
        fs, inside = url_to_fs(path)
    except (ImportError, ValueError) as error:
        raise FileError(f"{path}: cannot be read: {error}") from None
    return fs, inside


def _is_local(fs: Any) -> bool:
    return "file" in ((fs.protocol,) if isinstance(fs.protocol, str) else fs.protocol)
