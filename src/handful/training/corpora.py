"""Source corpora: files to tagged sentences, checked before any training starts.

A corpus has a name and its own tag set, in the IO scheme: tag 0 is O, the others are its types, sorted.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from handful._util.files import PathLike
from handful.errors import DataError, FileError
from handful.text import EntityType, Sentence, described, read, types_in
from handful.text.layers import overlap, overlap_error
from handful.text.type_choice import TypeChoice

from .paths import Paths, find_paths

_LINE = re.compile(r"(?P<name>[^:=]*[^:=\s])\s*(?:=\s*(?P<called>[^:]*[^:\s])\s*)?(?::\s*(?P<description>.*\S))?")


class Description(NamedTuple):
    """The meaning of a type, and how its name is read: "" if as the label says."""

    description: str
    called: str = ""


@dataclass(frozen=True)
class SourceCorpus:
    """Labelled sentences with one tag set."""

    name: str  # what options and reports call it
    # All types, sorted by name, with descriptions where a file has them. The tag of ``types[i]`` is ``i + 1``.
    types: tuple[EntityType, ...]
    # Sentences to train on, and to measure on; one of them may be empty
    train: list[Sentence]
    dev: list[Sentence]
    files: list[dict[str, Any]]  # the files that were read, with sizes and digests, for the card
    # How the names of types are read, where a file of descriptions says so
    called: Mapping[str, str] = field(default_factory=dict)

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
            **({"called": dict(self.called)} if self.called else {}),
            "train": _sizes(self.train),
            "dev": _sizes(self.dev),
        }


def io_tags(sentences: Iterable[Sentence], types: Sequence[str]) -> list[int]:
    """Return one tag per word, over all sentences: 0 for O, ``i + 1`` for ``types[i]``.

    It is below 0, ``-(i + 1)``, where a mention begins right behind one of its own type.
    """
    number = {name: i for i, name in enumerate(types, 1)}
    tags: list[int] = []
    for sentence in sentences:
        if found := overlap(sentence.spans or ()):
            raise overlap_error(*found, sentence.words)
        first = len(tags)
        tags += [0] * len(sentence.words)
        for span in sentence.spans or ():
            at, tag = first + span.start, number[span.type]
            is_beside = span.start > 0 and abs(tags[at - 1]) == tag
            tags[at : first + span.end] = [tag] * (span.end - span.start)
            tags[at] = -tag if is_beside else tag
    return tags


def read_corpora(
    corpora: Sequence[PathLike],
    dev: Sequence[PathLike] = (),
    *,
    rename: Mapping[str, str] | None = None,
    hold_out: float = 0.0,
    types: PathLike | None = None,
) -> list[SourceCorpus]:
    """Read source corpora, and check them, in the order in which their names first appear.

    `handful.training.pretrain` and `Recipe` say what the parameters are. New names of types (`rename`) come first:
    `types` is about these. Which sentences are moved to dev (`hold_out`) depends only on their words, so it is the same
    for every run and every corpus.
    """
    found = find_paths(corpora, dev)
    known = {} if types is None else read_descriptions(types)
    choice = TypeChoice(rename=rename)
    made = [_read_corpus(name, paths, choice, hold_out, known) for name, paths in found.items()]
    if lost := choice.not_found():
        all_types = sorted({name for corpus in made for name in corpus.type_names})
        raise DataError(
            f"no corpus has the type {', '.join(lost)} that is to be renamed; types are {', '.join(all_types)}"
        )
    return made


def _read_corpus(
    name: str,
    paths: Paths,
    choice: TypeChoice,
    hold_out: float,
    descriptions: Mapping[str, Mapping[str, Description]],
) -> SourceCorpus:
    files: list[dict[str, Any]] = []
    known: list[EntityType] = []
    train, dev = (_read_files(each, files, known) for each in (paths.train, paths.dev))
    if paths.types is not None:
        others = read_descriptions(paths.types).get("", {})  # of the types that the heads of the corpus describe
        if set(others) != {one.name for one in known}:
            names = ", ".join(dict.fromkeys(one.name for one in known))
            raise DataError(f"{paths.types}: describes {', '.join(others)}, but its corpus has {names}")
        descriptions, known = {**descriptions, name: others}, []
    if not types_in(train or dev):
        where = ", ".join(map(str, paths.train or paths.dev))
        raise DataError(f"{name}: {where} has no mention, only O: there is nothing to learn")
    if choice:
        train, dev = ([choice.sentence(sentence) for sentence in each] for each in (train, dev))
        known = list(choice.types(known))
    texts = ("\n".join(sentence.words).encode("utf-8", "surrogatepass") for sentence in train if hold_out)
    hashes = (int.from_bytes(hashlib.sha256(text).digest()[:8], "big") for text in texts)
    held = [one < hold_out * 2**64 for one in hashes] or [False] * len(train)
    dev += [sentence for sentence, is_held in zip(train, held, strict=True) if is_held]
    train = [sentence for sentence, is_held in zip(train, held, strict=True) if not is_held]
    if paths.train and not types_in(train):
        raise DataError(
            f"{name}: after holding out {hold_out:g}, the {len(train)} sentences that are left have no mention: there "
            "is nothing to learn"
        )
    types = types_in([*train, *dev])
    own: dict[str, Description] = {}
    for section in (name.rpartition("/")[2], name):
        own |= descriptions.get(section, {})
    if strange := sorted(set(own) - set(types)):
        raise DataError(f"{name} has no type {', '.join(strange)} that is described; types are {', '.join(types)}")
    ours = {one: said for one, said in descriptions.get("", {}).items() if one in types} | own
    known += [EntityType(one, said.description) for one, said in ours.items()]
    called = {one: said.called for one, said in sorted(ours.items()) if said.called and one in types}
    return SourceCorpus(name, described(types, known), train, dev, files, called)


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


def _sizes(sentences: Sequence[Sentence]) -> Mapping[str, int]:
    return {
        "sentences": len(sentences),
        "words": sum(len(sentence.words) for sentence in sentences),
        "mentions": sum(len(sentence.spans or ()) for sentence in sentences),
    }


def read_descriptions(file: PathLike) -> dict[str, dict[str, Description]]:
    """Read a file that says what the types of several corpora mean: by section ("" before the first), then by type.

    ::

        [litbank]
        FAC: building, room, street or other place made by people
        politicalparty = political party: name of a political party
        GPE = country or city

    A section is for the corpus of that name, and for ``group/name``; lines before the first section are for all
    corpora. The words behind ``=`` are how the name is read, where the label itself does not read well; they need no
    description. Blank lines and lines with ``#`` in front are passed over.
    """
    path = Path(file)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{path}: cannot be read: {error}") from None
    found: dict[str, dict[str, Description]] = {}
    section = ""
    for number, line in enumerate(map(str.strip, lines), 1):
        if not line or line.startswith("#"):
            continue
        if line.startswith("[") and line.endswith("]"):
            section = line[1:-1].strip()
            continue
        match = _LINE.fullmatch(line)
        if match is None or not (match["called"] or match["description"]):
            raise DataError(f"{path}:{number}: found {line!r}, expected TYPE: description or [corpus]")
        types = found.setdefault(section, {})
        if match["name"] in types:
            raise DataError(f"{path}:{number}: the type {match['name']} is described twice")
        try:
            one = EntityType(match["name"], match["description"] or "")
        except DataError as error:
            raise error.at(f"{path}:{number}") from None
        types[one.name] = Description(one.description, " ".join((match["called"] or "").split()))
    if not found:
        raise DataError(f"{path}: there is no type in it; write TYPE: description, one type on each line")
    return found
