"""Which files belong to which corpus.

``NAME=PATH`` names a corpus; a plain path is named after its folder or file. A folder of small corpora makes a group:
``web=PATH`` with the files ``blogs.txt`` and ``news.txt`` are the corpora ``web/blogs`` and ``web/news``. A file
``blogs.en.types`` beside them describes the types of ``blogs.txt`` in other words: ``web/blogs.en`` is then a corpus
with the same sentences.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from handful._util.files import PathLike
from handful.errors import DataError, FileError


@dataclass
class Paths:
    """The files of a corpus, before they are read."""

    train: list[Path] = field(default_factory=list)
    dev: list[Path] = field(default_factory=list)
    is_named: bool = True
    types: Path | None = None  # describes the types, instead of the heads of files


def find_paths(corpora: Sequence[PathLike], dev: Sequence[PathLike] = ()) -> dict[str, Paths]:
    """Return the files of each corpus, by its name; see `handful.training.corpora.read_corpora`."""
    if isinstance(corpora, str | os.PathLike) or not corpora:
        raise DataError(f"corpora is {corpora!r}, expected a list of at least one path or NAME=PATH")
    found: dict[str, Paths] = {}
    for given in corpora:
        name, path = split_name(given)
        for own, paths in _corpora_of(name, path).items():
            before = found.setdefault(own, paths)
            if before is not paths:
                if not (paths.is_named and before.is_named):
                    raise DataError(
                        f"two corpora would be called {own!r}: name them, for example first={path} "
                        "(the same name for both makes them one corpus)"
                    )
                before.train += paths.train
                before.dev += paths.dev
    for given in dev:
        name, path = split_name(given)
        if path.is_dir() and (files := _small_corpora(path)):
            for own, file, types in files:
                found.setdefault(f"{name or _name_of(path)}/{own}", Paths(types=types)).dev.append(file)
            continue
        if name is None:
            name = next(iter(found)) if len(found) == 1 else _name_of(path)
        found.setdefault(name, Paths()).dev.append(path)
    return found


def split_name(given: PathLike, what: str = "a corpus is PATH or NAME=PATH") -> tuple[str | None, Path]:
    """Return the name, if there is one, and the path of ``NAME=PATH`` or of a path alone."""
    text = os.fspath(given)
    name, equals, path = text.partition("=")
    if isinstance(given, str) and equals and not os.path.exists(text):
        if not name or not path:
            raise DataError(f"{what}, found {text!r}")
        return name, Path(path)
    return None, Path(text)


def _corpora_of(name: str | None, path: Path) -> dict[str, Paths]:
    """Return the corpora that one argument means."""
    if not path.exists():
        raise FileError(f"{path}: there is no such file or folder")
    whole, is_named = name or _name_of(path), name is not None
    if not path.is_dir():
        return {whole: Paths([path], is_named=is_named)}
    train, dev = path / "train.txt", path / "dev.txt"
    if train.is_file():
        return {whole: Paths([train], [dev] if dev.is_file() else [], is_named)}
    if files := _small_corpora(path):
        return {f"{whole}/{own}": Paths([file], is_named=is_named, types=types) for own, file, types in files}
    there = ", ".join(sorted(child.name for child in path.iterdir())[:5]) or "nothing"
    raise FileError(
        f"{path}: the folder has no train.txt (it has {there}), nor are all its files corpora that begin with "
        '"# TYPE: description"; give files, as NAME=PATH'
    )


def _small_corpora(folder: Path) -> list[tuple[str, Path, Path | None]]:
    """Return the small corpora of a folder: their names, their files, and who describes the types if not these.

    Each file is a text file that begins with descriptions of types, or describes the types of one of them in other
    words (``NAME.en.types`` those of ``NAME.txt``). An empty list if the folder has anything else.
    """
    files = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    texts = {_name_of(path): path for path in files if path.suffix != ".types"}
    for path in texts.values():
        if path.suffix != ".txt" or not path.is_file():
            return []
        with path.open("rb") as file:
            if not file.readline(4096).lstrip(b"\xef\xbb\xbf").startswith(b"# "):
                return []
    found: list[tuple[str, Path, Path | None]] = [(name, path, None) for name, path in texts.items()]
    for path in files:
        if path.suffix == ".types":
            if _name_of(path) not in texts:
                raise FileError(f"{path}: describes the types of {_name_of(path)}.txt, which is not beside it")
            found.append((path.name.removesuffix(".types"), texts[_name_of(path)], path))
    return sorted(found, key=lambda one: one[0])


def _name_of(path: Path) -> str:
    return path.resolve().name if path.is_dir() else path.name.split(".")[0] or path.name
