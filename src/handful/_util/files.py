"""Files and folders that appear when they are complete, or not at all.

A killed process may leave a temporary file or folder beside them. The next process that writes there removes it.
"""

import errno
import gzip
import io
import os
import platform
import re
import secrets
import shutil
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from functools import cache
from glob import escape, glob
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from handful._util.foreign import visible
from handful.errors import DataError, FileError, HandfulError

PathLike = str | os.PathLike[str]
AnyFile = PathLike | IO[str] | IO[bytes]
"""A path, ``-`` for standard input or output, or an open file, of text or bytes."""

_TEMPORARY = re.compile(r"\.(.+)\.([0-9a-f]{8})\.(\d{1,9})\.[0-9a-f]{16}\.(tmp|old)", re.DOTALL)
_STALE = 24 * 3600.0  # seconds after which nobody elsewhere is writing any more
_ADVICE = {
    os.strerror(errno.ENOSPC): "; make room on the disk, or write elsewhere",
    os.strerror(errno.EROFS): "; write elsewhere",
    os.strerror(errno.EACCES): "; write elsewhere, or change who may write there",
}
_SWAP = 2  # what RENAME_EXCHANGE of Linux and RENAME_SWAP of macOS are


@contextmanager
def replacing(path: PathLike, *, sync: bool = False) -> Iterator[Path]:
    """Give a temporary path beside `path`, which takes its place when all went well, and is removed otherwise.

    `sync` waits until the file is on the disk. After a `FileError`, the file that was there before is as it was.
    """
    target = Path(path)
    if not target.name:
        raise FileError(f"{os.fspath(path)!r} names no file")
    temporary = beside(target)
    try:
        # made here, and only if there is none: a link that somebody put there would be followed
        os.close(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), 0o666))
        yield temporary
        if sync:
            _sync(temporary)
        os.replace(temporary, target)
    except HandfulError:
        raise
    except OSError as error:
        raise failed(target, error) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: PathLike, *, check: Callable[[Path], None] | None = None) -> Iterator[Path]:
    """Give a new folder to fill, which takes the place of `path` when all went well, and is removed otherwise.

    `check` is called with a folder that is there already, and raises an error where it may not be replaced. Without
    it, only an empty folder may. After a `FileError`, the folder that was there before is as it was.
    """
    target = Path(os.path.realpath(path))
    check_folder(target, check)
    temporary = beside(target)
    old = temporary.with_suffix(".old")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        yield temporary
        for file in [*temporary.rglob("*"), temporary]:
            _sync(file)
        if not target.exists():
            os.rename(temporary, target)
        elif not _swap(temporary, target):
            _replace_in_two(temporary, target, old)
        _sync(target.parent)
    except FileError as error:  # the temporary name is nobody's business
        raise FileError(error.message.replace(str(temporary), str(target)), error.advice) from None
    except HandfulError:
        raise
    except (OSError, shutil.Error) as error:
        raise failed(target, error) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        if target.exists():
            shutil.rmtree(old, ignore_errors=True)


def check_folder(path: PathLike, check: Callable[[Path], None] | None = None) -> None:
    """Refuse a folder that `replacing_folder` could not write, before the work that leads up to it."""
    target = Path(os.path.realpath(path))
    if target.exists():
        (check or check_empty)(target)
    _check_inside(target.parent, target)


def check_file(path: PathLike) -> None:
    """Refuse a file that could not be written, before the work that leads up to it; a device may be written to."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise FileError(f"{target}: is a folder; a file name is needed")
    if target.exists() and not target.is_file():
        return
    if not target.parent.exists():
        raise FileError(f"{target}: cannot be written: there is no folder {target.parent}")
    _check_inside(target.parent, target)


def check_into(path: PathLike) -> None:
    """Refuse a folder, there already or not, into which no file could be written."""
    target = Path(os.path.realpath(path))
    _check_inside(target, target)


def _check_inside(folder: Path, target: Path) -> None:
    folder = next(one for one in (folder, *folder.parents) if one.exists())
    if not folder.is_dir():
        raise FileError(f"{target}: cannot be written: {folder} is a file")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileError(f"{target}: cannot be written: nothing can be written into {folder}; give another place")


def check_empty(folder: Path) -> None:
    """Refuse a file, or a folder with anything in it."""
    if not folder.is_dir():
        raise FileError(f"{folder}: is a file; give the name of a new folder")
    if any(folder.iterdir()):
        raise FileError(f"{folder}: is a folder with files in it; give the name of a new or empty one")


def beside(target: Path) -> Path:
    """Return a temporary path beside a file or folder, for this process alone; what killed processes left is removed.

    A folder that one of them had put aside, in order to put another in its place, is put back.
    """
    start = target.name.encode("utf-8", "surrogatepass")[:100].decode("utf-8", "ignore")  # names end at 255 bytes
    with suppress(OSError):
        for name in [name for name in os.listdir(target.parent) if name.startswith(f".{start}.")]:
            found = _TEMPORARY.fullmatch(name)
            left = target.with_name(name)
            if not found or found[1] != start or not _is_left(left, found[2], int(found[3])):
                continue
            if left.suffix == ".old" and not target.exists():
                os.rename(left, target)
            elif left.is_dir():
                shutil.rmtree(left, ignore_errors=True)
            else:
                left.unlink(missing_ok=True)
    return target.with_name(f".{start}.{_here()}.{os.getpid()}.{secrets.token_hex(8)}.tmp")


def is_temporary(name: str) -> bool:
    """Tell whether a file of this name is one that is being written, or one that a killed process left."""
    return _TEMPORARY.fullmatch(name) is not None


@cache
def _here() -> str:
    """Return a name for where a process has its number: a machine, or a container on it."""
    try:
        space = os.readlink("/proc/self/ns/pid")
    except OSError:  # not Linux
        space = ""
    return blake2b(f"{platform.node()} {space}".encode(), digest_size=4).hexdigest()


def _is_left(path: Path, place: str, pid: int) -> bool:
    """Tell whether nobody is writing a temporary file or folder any more."""
    if place != _here() or os.name == "nt":  # the process cannot be asked for
        with suppress(OSError):
            return time.time() - path.stat().st_mtime > _STALE
        return False
    try:
        os.kill(pid, 0)
    except OSError as error:  # otherwise it is somebody else's
        return isinstance(error, ProcessLookupError)
    return False


def _swap(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; return whether the system could do that."""
    import ctypes

    first, second = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None)
        if sys.platform == "darwin":
            return bool(library.renamex_np(first, second, _SWAP) == 0)
        return bool(library.renameat2(-100, first, -100, second, _SWAP) == 0)  # -100: paths as they are everywhere else
    except (AttributeError, OSError, TypeError):  # no such call; Windows
        return False


def _replace_in_two(temporary: Path, target: Path, old: Path) -> None:
    """Put a folder in the place of another where that takes two steps; `beside` mends it if they are torn apart."""
    try:
        os.rename(target, old)
        os.rename(temporary, target)
    except BaseException:
        if not target.exists():
            os.rename(old, target)
        raise


def _sync(path: Path) -> None:
    """Wait until a file or folder is on the disk, where the system can do that."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def expand(files: Iterable[str]) -> list[str]:
    """Return the files that paths, patterns such as ``news/*.txt``, and folders of Parquet files stand for, in order.

    A path that exists is no pattern. One that is neither is returned as it is: to read it will say what is wrong.
    """
    found: list[str] = []
    for file in files:
        if os.path.isdir(file):
            inside = sorted(glob(os.path.join(escape(file), "**", "*.parquet"), recursive=True))
            if not inside:
                raise FileError(f"{file}: is a folder without Parquet files (*.parquet); name files, or use a pattern")
            found += inside
        elif any(sign in file for sign in "*?[") and not os.path.exists(file):
            matching = sorted(filter(os.path.isfile, glob(file, recursive=True)))
            if not matching:
                raise FileError(f"{file}: no file matches this pattern")
            found += matching
        else:
            found.append(file)
    return found


@contextmanager
def naming(path: PathLike, what: str = "cannot be read", advice: str = "") -> Iterator[None]:
    """Turn an error of the system into one that names the file, and says what it is about."""
    try:
        yield
    except HandfulError:
        raise
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or error
        raise FileError(f"{os.fspath(path)}: {what}: {reason}{advice}") from None


def failed(target: PathLike, error: Exception) -> FileError:
    """Return an error that says why a file or folder could not be written, and what to do."""
    reason = getattr(error, "strerror", None) or str(error)
    advice = next((advice for said, advice in _ADVICE.items() if said in reason), "")
    return FileError(f"{os.fspath(target)}: cannot be written: {reason}{advice}")


def write_text(file: AnyFile, pieces: Iterable[str] | Iterable[bytes]) -> None:
    """Write pieces of text in UTF-8, or bytes; a file appears, or is replaced, when it is complete.

    A path that ends in ``.gz`` is compressed. Text for anything but a plain file (standard output, a pipe, an open
    file) goes there directly.
    """
    name = "standard output" if file == "-" else file_name(file)
    guarded = _guard_bom(pieces)
    try:
        if file == "-":
            target: Any = getattr(sys.stdout, "buffer", sys.stdout)
            if sys.stdout.isatty():
                guarded = (visible(one) if isinstance(one, str) else one for one in guarded)
            _pour(guarded, target)
            target.flush()
        elif isinstance(file, str | os.PathLike):
            _replace(Path(os.path.realpath(file)), guarded, is_gzip=os.fspath(file).endswith(".gz"))
        else:
            _pour(guarded, file)
    except UnicodeEncodeError as error:
        raise DataError(
            f"{name}: a word or label has half of a surrogate pair ({error.object[error.start]!r}), which is "
            "not a character; nothing can be written"
        ) from None
    except (FileError, BrokenPipeError):  # where a reader stopped reading, the file is not to blame
        raise
    except OSError as error:
        raise failed(name, error) from None


def file_name(file: AnyFile) -> str:
    """Name a file for messages."""
    if isinstance(file, str | os.PathLike):
        if "\0" in os.fspath(file):
            raise FileError(f"{os.fspath(file)!r} is not a file name: it has a NUL character")
        return os.fspath(file)
    if not hasattr(file, "read") and not hasattr(file, "write"):
        raise DataError(f"a path or an open file is needed, not {file!r}")
    if getattr(file, "closed", False):
        raise FileError(f"{file!r} is closed")
    name = getattr(file, "name", None)
    return name if isinstance(name, str) else "the open file"


def _replace(path: Path, pieces: Iterable[str | bytes], *, is_gzip: bool) -> None:
    if path.exists() and not path.is_file():
        if path.is_dir():
            raise FileError(f"{path}: is a folder; a file name is needed")
        with open(path, "wb") as device:
            _pour(pieces, device)
        return
    with replacing(path) as temporary, ExitStack() as stack:
        target: Any = stack.enter_context(open(temporary, "wb"))
        if is_gzip:
            target = stack.enter_context(gzip.GzipFile("", "wb", fileobj=target, mtime=0))
        _pour(pieces, target)


def _pour(pieces: Iterable[str | bytes], target: Any) -> None:
    if isinstance(target, io.TextIOBase):
        for piece in pieces:
            if isinstance(piece, bytes):
                raise DataError("the format is one of bytes; open the file for bytes, not for text")
            target.write(piece)
    else:
        for piece in pieces:
            target.write(piece if isinstance(piece, bytes) else piece.encode())


def _guard_bom(pieces: Iterable[str | bytes]) -> Iterator[str | bytes]:
    """Put a byte-order mark before a text that starts with one: reading takes only the first away."""
    rest = iter(pieces)
    first = next((piece for piece in rest if piece), "")
    if first[:1] == "\ufeff":
        yield "\ufeff"
    yield first
    yield from rest
