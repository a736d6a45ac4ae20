"""Folders and texts that a stranger wrote: what is in them is looked at before it is read, copied or shown."""

import os
import re
import shutil
import stat
from collections.abc import Collection
from pathlib import Path

from handful.errors import FileError

# Control characters, and those that turn the direction of a text around; ends of lines and tabs may be shown.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def is_plain(text: str) -> bool:
    """Tell whether a text has no control characters, ends of lines and tabs among them."""
    return text.isprintable() or not _CONTROL.search(text)


def visible(text: str) -> str:
    """Return a text for a terminal: control characters, which could command it, are shown by their numbers."""
    return _HIDDEN.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def check_files(folder: Path) -> None:
    """Refuse a folder with a pipe, a device or a file that is larger than the memory in it.

    A pipe would be waited for without end, and a device has no end.
    """
    memory = _memory()
    for path in sorted(folder.iterdir()):
        try:
            found = os.stat(path)
        except OSError:
            continue  # a link that leads nowhere; whoever needs the file says so
        if not stat.S_ISREG(found.st_mode) and not stat.S_ISDIR(found.st_mode):
            raise FileError(f"{path}: is a pipe or a device, expected a file")
        if found.st_size > memory:
            raise FileError(f"{path}: has {found.st_size:,} bytes, more than this machine has memory")


def copy_files(source: Path, target: Path, endings: Collection[str]) -> None:
    """Copy the files of a folder whose names have one of some endings, as `copy_file` does."""
    check_files(source)
    target.mkdir()
    for path in sorted(source.iterdir()):
        if path.suffix in endings and path.is_file():
            copy_file(path, target / path.name)


def copy_file(path: Path, target: Path) -> None:
    """Copy a file of a folder; a link that leads out of the folder is refused.

    In the cache of the Hugging Face Hub, files are links to others in the folder of their repository.
    """
    folder = Path(os.path.realpath(path.parent))
    check_inside(path, folder.parents[1] if folder.parent.name == "snapshots" else folder)
    shutil.copyfile(path, target)


def check_inside(path: Path, folder: Path) -> None:
    """Refuse a file that is not in a folder, once links are followed: a stranger named it, who may not choose ours."""
    file = Path(os.path.realpath(path))
    if not file.is_relative_to(os.path.realpath(folder)):
        raise FileError(
            f"{path}: leads to {file}, which is outside of the folder; put the file itself "
            "there, if that is what you want"
        )
    if file.exists() and not file.is_file():
        raise FileError(f"{path}: is a folder, a pipe or a device, expected a file")


def _memory() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows
        return 1 << 46
