"""Files and folders that appear when they are complete, or not at all."""

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from handful.errors import FileError, HandfulError

__all__ = ["PathLike", "check_empty", "check_file", "check_folder", "check_into", "replacing", "replacing_folder"]

PathLike = str | os.PathLike[str]


@contextmanager
def replacing(path: PathLike, *, sync: bool = False) -> Iterator[Path]:
    """Give a temporary path beside `path`, which takes its place when all went well, and is removed otherwise.

    Parameters
    ----------
    path
        The file to write; it must name one.
    sync
        Whether to wait until the file is on the disk.

    Raises
    ------
    FileError
        The file cannot be written; what was there before is as it was.
    """
    target = Path(path)
    if not target.name:
        raise FileError(f"{os.fspath(path)!r} names no file")
    temporary = _beside(target, "tmp")
    try:
        yield temporary
        if sync:
            _sync(temporary)
        os.replace(temporary, target)
    except HandfulError:
        raise
    except OSError as error:
        raise _failed(target, error) from None
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: PathLike, *, check: Callable[[Path], None] | None = None) -> Iterator[Path]:
    """Give a new folder to fill, which takes the place of `path` when all went well, and is removed otherwise.

    Parameters
    ----------
    path
        The folder to write.
    check
        Called with a folder that is there already; it raises an error where the folder may not be replaced. Without
        it, only an empty folder may.

    Raises
    ------
    FileError
        The folder cannot be written, or may not be replaced; what was there before is as it was.
    """
    target = Path(os.path.realpath(path))
    check_folder(target, check)
    temporary, old = _beside(target, "tmp"), _beside(target, "old")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        yield temporary
        for file in [*temporary.rglob("*"), temporary]:
            _sync(file)
        if target.exists():
            os.rename(target, old)
        try:
            os.rename(temporary, target)
        except BaseException:
            if old.exists():
                os.rename(old, target)
            raise
        _sync(target.parent)
    except FileError as error:  # the temporary name is nobody's business
        raise FileError(error.message.replace(str(temporary), str(target)), error.advice) from None
    except HandfulError:
        raise
    except (OSError, shutil.Error) as error:
        raise _failed(target, error) from None
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def check_folder(path: PathLike, check: Callable[[Path], None] | None = None) -> None:
    """Refuse a folder that `replacing_folder` could not write, before the work that leads up to it."""
    target = Path(os.path.realpath(path))
    if target.exists():
        (check or check_empty)(target)
    _check_inside(next(folder for folder in target.parents if folder.exists()), target)


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
    _check_inside(next(folder for folder in (target, *target.parents) if folder.exists()), target)


def _check_inside(folder: Path, target: Path) -> None:
    """Refuse a place into which nothing can be written."""
    if not folder.is_dir():
        raise FileError(f"{target}: cannot be written: {folder} is a file")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileError(f"{target}: cannot be written: nothing can be written into {folder}")


def check_empty(folder: Path) -> None:
    """Refuse a file, or a folder with anything in it."""
    if not folder.is_dir():
        raise FileError(f"{folder}: is a file; give the name of a new folder")
    if any(folder.iterdir()):
        raise FileError(f"{folder}: is a folder with files in it; give the name of a new or empty one")


def _beside(target: Path, ending: str) -> Path:
    return target.with_name(f".{target.name[:100]}.{os.getpid()}.{ending}")


def _sync(path: Path) -> None:
    """Wait until a file or folder is on the disk, where the system can do that."""
    if path.is_dir() and os.name == "nt":
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _failed(target: Path, error: Exception) -> FileError:
    return FileError(f"{target}: cannot be written: {getattr(error, 'strerror', None) or error}")
