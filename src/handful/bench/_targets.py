"""Targets on disk: a folder with train, dev and test, and perhaps supports and types; or one labelled file."""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handful._util.files import PathLike
from handful.errors import Advice, DataError, FileError
from handful.text import EntityType, Sentence, read, read_types
from handful.training.paths import split_name

#: Given supports by shots, each with its name.
Supports = dict[int, list[tuple[str, list[Sentence]]]]

# Names of the three splits: one part of a file name between dots, as in eng.testa or dev.conll.gz.
_SPLITS = {
    "train": ("train",),
    "dev": ("dev", "testa", "valid", "validation", "development"),
    "test": ("test", "testb"),
}
TYPES_FILE = "types.txt"
_USED = "types are described at the head of the file"  # a note of the reader; here the descriptions are used
_SHOTS = re.compile(r"(\d+)[-_ ]?shots?")


@dataclass(frozen=True)
class Target:
    """A labelled corpus that methods are compared on."""

    name: str  # what tables call it
    # The sentences; a split that is missing is empty
    train: list[Sentence] = field(default_factory=list)
    dev: list[Sentence] = field(default_factory=list)
    test: list[Sentence] = field(default_factory=list)
    # Given supports by shots, each with its name, in the order of their numbers
    supports: Supports = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)  # what was handled when the files were read
    types: tuple[EntityType, ...] = ()  # those that a file describes
    is_file: bool = False  # whether it is one file, which has no splits: its sentences are in `dev`


def read_target(given: PathLike) -> Target:
    """Read a folder with train, dev and test (dev may be missing), or one file.

    A split is a file, or a folder of files, with one of the words in `_SPLITS` as a part of its name. The types are
    described by ``types.txt`` in the folder, or by the head of the first file that has one.
    """
    name, folder = split_name(given, "a target is FOLDER or NAME=FOLDER (or a file)")
    if not folder.exists():
        raise FileError(f"{folder}: does not exist; a folder with train, dev and test files is needed, or a file")
    types = folder / TYPES_FILE
    reading = _Reading(read_types(types) if types.is_file() else ())
    if folder.is_file():
        sentences = reading.split("dev", [folder])
        stem = folder.name.split(".")[0]
        return Target(name or stem, dev=sentences, notes=reading.notes, types=reading.types, is_file=True)
    splits = {split: reading.split(split, _places(folder, split, names)) for split, names in _SPLITS.items()}
    if not splits["train"] and not splits["dev"]:
        there = ", ".join(sorted(child.name for child in folder.iterdir())[:8]) or "nothing"
        raise FileError(f"{folder}: the folder has neither a train nor a dev file (it has {there})")
    supports = read_supports(folder / "supports") if (folder / "supports").is_dir() else {}
    found: dict[str, Any] = {**splits, "supports": supports, "notes": reading.notes, "types": reading.types}
    return Target(name or folder.resolve().name, **found)


def read_supports(folder: Path) -> Supports:
    """Read supports, by shots, from folders named after these, such as ``5shot``.

    Each has its name and its sentences; they are in the order of the numbers in the names of the files.
    """
    found: Supports = {}
    for child in folder.iterdir():
        match = _SHOTS.fullmatch(child.name)
        if match and child.is_dir():
            files = sorted(_files(child), key=lambda path: ([*map(int, re.findall(r"\d+", path.name))], path.name))
            found[int(match[1])] = [(path.name.split(".")[0], list(read(path))) for path in files]
    if not found:
        there = ", ".join(sorted(child.name for child in folder.iterdir())[:8]) or "nothing"
        raise FileError(
            f"{folder}: there are no supports (it has {there}); put them in folders such as 1shot and 5shot"
        )
    return dict(sorted(found.items()))


def digest(sentences: Iterable[Sentence]) -> str:
    """Return a hash of words and labels, which does not depend on where a file is."""
    total = hashlib.sha256()
    for sentence in sentences:
        spans = None if sentence.spans is None else [(span.start, span.end, span.type) for span in sentence.spans]
        allowed = None if sentence.allowed is None else [entry and str(entry) for entry in sentence.allowed]
        total.update(json.dumps([sentence.words, spans, allowed]).encode() + b"\n")
    return total.hexdigest()


def _places(folder: Path, split: str, names: Sequence[str]) -> list[Path]:
    """Return the file or folder of a split, if it is there."""
    places = sorted(path for path in folder.iterdir() if set(path.name.lower().split(".")) & set(names))
    if len(places) > 1:
        shown = ", ".join(path.name for path in places)
        raise FileError(f"{folder}: more than one could be the {split} split ({shown}); leave one there")
    return places


@dataclass
class _Reading:
    """Reading the files of a target."""

    types: tuple[EntityType, ...]  # those described; none until a file describes some
    notes: list[str] = field(default_factory=list)  # what was handled

    def split(self, split: str, places: Sequence[Path]) -> list[Sentence]:
        sentences: list[Sentence] = []
        counts: Counter[str | Advice] = Counter()
        for path in places:
            for file in [path] if path.is_file() else sorted(_files(path)):
                corpus = read(file)
                sentences += corpus
                self.types = self.types or tuple(one for one in corpus.types if one.description)
                counts.update({str(note): n for note, n in corpus.report.notes.items() if note != _USED})
                counts["tags break the scheme and were read as conlleval does"] += corpus.report.n_broken
        self.notes += [f"{split}: {count} {what}" for what, count in counts.items() if count]
        if places and not sentences:
            raise DataError(f"{places[0]}: there is no sentence in it")
        return sentences


def _files(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file() and not path.name.startswith(".")]
