"""Source corpora: files to tagged sentences, checked before any training starts.

A corpus has a name and its own tag set, in the IO scheme: tag 0 is O, the others are its types, sorted.
``NAME=PATH`` names a corpus; a plain path is named after its folder or file.
"""

import hashlib
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from handful._util.files import PathLike
from handful.errors import DataError, FileError
from handful.text import EntityType, Sentence, described, read, types_in

__all__ = ["SourceCorpus", "io_tags", "read_corpora"]


@dataclass(frozen=True)
class SourceCorpus:
    """Labelled sentences with one tag set.

    Attributes
    ----------
    name
        What options and reports call it.
    types
        All types, sorted by name, with descriptions where a file has them. The tag of ``types[i]`` is ``i + 1``.
    train, dev
        Sentences to train on, and to measure on (may be empty). Mentions of hidden types are removed from both.
    files
        The files that were read, with sizes and digests, for the card.
    """

    name: str
    types: tuple[EntityType, ...]
    train: list[Sentence]
    dev: list[Sentence]
    files: list[dict[str, Any]]

    @property
    def type_names(self) -> list[str]:
        """The names of the types, in order."""
        return [one.name for one in self.types]

    def summary(self) -> dict[str, Any]:
        """Return what the corpus holds, for the card."""
        descriptions = {one.name: one.description for one in self.types if one.description}
        return {
            "name": self.name,
            "files": self.files,
            "types": self.type_names,
            **({"descriptions": descriptions} if descriptions else {}),
            "train": _sizes(self.train),
            "dev": _sizes(self.dev),
        }


def io_tags(sentences: Iterable[Sentence], types: Sequence[str]) -> list[int]:
    """Return one tag per word, over all sentences: 0 for O, ``i + 1`` for ``types[i]``."""
    number = {name: i for i, name in enumerate(types, 1)}
    tags: list[int] = []
    for sentence in sentences:
        first = len(tags)
        tags += [0] * len(sentence.words)
        for span in sentence.spans or ():
            tags[first + span.start : first + span.end] = [number[span.type]] * (span.end - span.start)
    return tags


@dataclass
class _Paths:
    """The files of a corpus, before they are read."""

    train: list[Path] = field(default_factory=list)
    dev: list[Path] = field(default_factory=list)
    is_named: bool = True


def read_corpora(
    corpora: Sequence[PathLike],
    dev: Sequence[PathLike] = (),
    *,
    hide: Iterable[str] = (),
    hold_out: float = 0.0,
) -> list[SourceCorpus]:
    """Read source corpora, and check them.

    Parameters
    ----------
    corpora
        Each is a file, a folder with ``train.txt`` (and ``dev.txt``), or ``NAME=`` and one of these. Repeating a name
        adds files to that corpus.
    dev
        Files to measure on: ``NAME=PATH``, or a path alone where there is one corpus.
    hide
        Types whose mentions become O, in all corpora that have them.
    hold_out
        This share of the training sentences of each corpus is moved to dev. Which ones depends only on their words,
        so it is the same for every run and every corpus.

    Returns
    -------
    list of SourceCorpus
        In the order in which their names first appear.
    """
    if isinstance(corpora, str | os.PathLike) or not corpora:
        raise DataError(f"corpora is {corpora!r}, expected a list of at least one path or NAME=PATH")
    found: dict[str, _Paths] = {}
    for given in corpora:
        name, path = _split(given)
        paths = _files_of(path)
        paths.is_named = name is not None
        name = name if name is not None else _name_of(path)
        if name not in found:
            found[name] = paths
        elif paths.is_named and found[name].is_named:
            found[name].train += paths.train
            found[name].dev += paths.dev
        else:
            raise DataError(
                f"two corpora would be called {name!r}: name them, for example first={path} "
                "(the same name for both makes them one corpus)"
            )
    for given in dev:
        name, path = _split(given)
        if name is None and len(found) == 1:
            name = next(iter(found))
        if name not in found:
            problem = f"names no corpus: {name!r}" if name else "does not say its corpus"
            raise DataError(f"the dev file {path} {problem}; write NAME={path} with one of {', '.join(found)}")
        found[name].dev.append(path)
    hidden = set(hide)
    made = [_read_corpus(name, paths, hidden, hold_out) for name, paths in found.items()]
    known = set().union(*(types for _, types in made))
    if missing := sorted(hidden - known):
        raise DataError(
            f"no corpus has the type {', '.join(missing)} that is to be hidden; types are {', '.join(sorted(known))}"
        )
    return [corpus for corpus, _ in made]


def _split(given: PathLike) -> tuple[str | None, Path]:
    text = os.fspath(given)
    name, equals, path = text.partition("=")
    if isinstance(given, str) and equals and not os.path.exists(text):
        if not name or not path:
            raise DataError(f"a corpus is PATH or NAME=PATH, found {text!r}")
        return name, Path(path)
    return None, Path(text)


def _files_of(path: Path) -> _Paths:
    if not path.exists():
        raise FileError(f"{path}: there is no such file or folder")
    if not path.is_dir():
        return _Paths([path])
    train, dev = path / "train.txt", path / "dev.txt"
    if not train.is_file():
        there = ", ".join(sorted(child.name for child in path.iterdir())[:5]) or "nothing"
        raise FileError(f"{path}: the folder has no train.txt (it has {there}); give files, as NAME=PATH")
    return _Paths([train], [dev] if dev.is_file() else [])


def _name_of(path: Path) -> str:
    return path.resolve().name if path.is_dir() else path.name.split(".")[0] or path.name


def _read_corpus(name: str, paths: _Paths, hidden: set[str], hold_out: float) -> tuple[SourceCorpus, set[str]]:
    """Return a corpus, and the types that it had before any were hidden."""
    files: list[dict[str, Any]] = []
    known: list[EntityType] = []
    train, dev = (_read_files(each, files, known) for each in (paths.train, paths.dev))
    if not types_in(train):
        raise DataError(f"{name}: {_list(paths.train)} has no mention, only O: there is nothing to learn")
    all_types = types_in([*train, *dev])
    held = [_is_held_out(sentence.words, hold_out) for sentence in train]
    dev += [sentence for sentence, is_held in zip(train, held, strict=True) if is_held]
    train = [sentence for sentence, is_held in zip(train, held, strict=True) if not is_held]
    train, dev = ([_hide(sentence, hidden) for sentence in each] for each in (train, dev))
    if not types_in(train):
        done = [f"holding out {hold_out:g}"] if hold_out else []
        done += [f"hiding {', '.join(sorted(hidden))}"] if hidden else []
        raise DataError(
            f"{name}: after {' and '.join(done)}, the {len(train)} sentences that are left to train on have no "
            "mention: there is nothing to learn"
        )
    types = described((one for one in all_types if one not in hidden), known)
    return SourceCorpus(name, types, train, dev, files), set(all_types)


def _read_files(paths: Sequence[Path], files: list[dict[str, Any]], known: list[EntityType]) -> list[Sentence]:
    """Return the sentences of files; add to `files` what was read, and to `known` the types that are described."""
    sentences: list[Sentence] = []
    for path in paths:
        if path.is_dir():
            raise FileError(f"{path}: is a folder; a file is needed here")
        content = read(path)
        for number, sentence in enumerate(content, 1):
            if not sentence.is_labelled:
                state = "partly labelled" if sentence.is_partly_labelled else "unlabelled"
                raise DataError(f"{path}: sentence {number} is {state}; training needs the label of every word")
        if not content:
            raise DataError(f"{path}: the file has no sentence")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        files.append({"path": path.as_posix(), "sha256": digest, **_sizes(content)})
        known += [one for one in content.types if one.description]
        sentences += content
    return sentences


def _hide(sentence: Sentence, hidden: set[str]) -> Sentence:
    if not any(span.type in hidden for span in sentence.spans or ()):
        return sentence
    spans = tuple(span for span in sentence.spans or () if span.type not in hidden)
    return replace(sentence, spans=spans)


def _is_held_out(words: Sequence[str], share: float) -> bool:
    if not share:
        return False
    digest = hashlib.sha256("\n".join(words).encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8], "big") < share * 2**64


def _sizes(sentences: Sequence[Sentence]) -> Mapping[str, int]:
    return {
        "sentences": len(sentences),
        "words": sum(len(sentence.words) for sentence in sentences),
        "mentions": sum(len(sentence.spans or ()) for sentence in sentences),
    }


def _list(paths: Sequence[Path]) -> str:
    return ", ".join(map(str, paths))
