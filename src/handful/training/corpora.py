"""Source corpora: files to tagged sentences, checked before any training starts.

A corpus has a name and its own tag set, in the IO scheme: tag 0 is O, the others are its types, sorted.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from handful._util.files import PathLike
from handful.errors import DataError, FileError
from handful.text import EntityType, Sentence, described, read, types_in
from handful.text.types import TypeChoice

from ._descriptions import Description, descriptions_of, read_descriptions
from .paths import Paths, find_paths

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
        Sentences to train on, and to measure on; one of them may be empty. Mentions of hidden types are removed.
    files
        The files that were read, with sizes and digests, for the card.
    called
        How the names of types are read, where a file of descriptions says so.
    """

    name: str
    types: tuple[EntityType, ...]
    train: list[Sentence]
    dev: list[Sentence]
    files: list[dict[str, Any]]
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
    """Return one tag per word, over all sentences: 0 for O, ``i + 1`` for ``types[i]``."""
    number = {name: i for i, name in enumerate(types, 1)}
    tags: list[int] = []
    for sentence in sentences:
        first = len(tags)
        tags += [0] * len(sentence.words)
        for span in sentence.spans or ():
            tags[first + span.start : first + span.end] = [number[span.type]] * (span.end - span.start)
    return tags


def read_corpora(
    corpora: Sequence[PathLike],
    dev: Sequence[PathLike] = (),
    *,
    hide: Iterable[str] = (),
    rename: Mapping[str, str] | None = None,
    hold_out: float = 0.0,
    types: PathLike | None = None,
    measure_others: bool = False,
) -> list[SourceCorpus]:
    """Read source corpora, and check them.

    Parameters
    ----------
    corpora
        Each is a file, a folder, or ``NAME=`` and one of these. A folder has ``train.txt`` (and ``dev.txt``), or it
        has nothing but small corpora whose heads describe their types; each is then a corpus ``NAME/file``.
        Repeating a name adds files to that corpus.
    dev
        Files to measure on: ``NAME=PATH``, or a path alone where there is one corpus.
    hide
        Types whose mentions become O, in all corpora that have them.
    rename
        New names of types, in all corpora that have them; types that get the same name are merged. This comes first:
        `hide` and `types` are about the new names.
    hold_out
        This share of the training sentences of each corpus is moved to dev. Which ones depends only on their words,
        so it is the same for every run and every corpus.
    types
        A file of descriptions, see `handful.training._descriptions`; they replace those of the corpora's own files.
    measure_others
        Whether `dev` may also have corpora, and folders of corpora, that are not trained on.

    Returns
    -------
    list of SourceCorpus
        In the order in which their names first appear.
    """
    found = find_paths(corpora, dev, measure_others=measure_others)
    known = {} if types is None else read_descriptions(types)
    hidden, choice = set(hide), TypeChoice(rename=rename)
    made = [_read_corpus(name, paths, choice, hidden, hold_out, known) for name, paths in found.items()]
    if lost := choice.not_found():
        raise DataError(f"no corpus has the type {', '.join(lost)} that is to be renamed")
    all_types = set().union(*(each for _, each in made))
    if missing := sorted(hidden - all_types):
        raise DataError(
            f"no corpus has the type {', '.join(missing)} that is to be hidden; "
            f"types are {', '.join(sorted(all_types))}"
        )
    return [corpus for corpus, _ in made]


def _read_corpus(
    name: str,
    paths: Paths,
    choice: TypeChoice,
    hidden: set[str],
    hold_out: float,
    descriptions: Mapping[str, Mapping[str, Description]],
) -> tuple[SourceCorpus, set[str]]:
    """Return a corpus, and the types that it had before any were hidden."""
    files: list[dict[str, Any]] = []
    known: list[EntityType] = []
    train, dev = (_read_files(each, files, known) for each in (paths.train, paths.dev))
    if choice:
        train, dev = ([choice.sentence(sentence) for sentence in each] for each in (train, dev))
        known = list(choice.types(known))
    if not types_in(train or dev):
        raise DataError(f"{name}: {_list(paths.train or paths.dev)} has no mention, only O: there is nothing to learn")
    all_types = types_in([*train, *dev])
    held = [_is_held_out(sentence.words, hold_out) for sentence in train]
    dev += [sentence for sentence, is_held in zip(train, held, strict=True) if is_held]
    train = [sentence for sentence, is_held in zip(train, held, strict=True) if not is_held]
    train, dev = ([_hide(sentence, hidden) for sentence in each] for each in (train, dev))
    if not types_in(train if paths.train else dev):
        done = [f"holding out {hold_out:g}"] if hold_out else []
        done += [f"hiding {', '.join(sorted(hidden))}"] if hidden else []
        raise DataError(
            f"{name}: after {' and '.join(done)}, the {len(train if paths.train else dev)} sentences that are left "
            "have no mention: there is nothing to learn"
        )
    ours = descriptions_of(descriptions, name, set(all_types))
    known += [EntityType(one, said.description) for one, said in ours.items()]
    types = described((one for one in all_types if one not in hidden), known)
    called = {one: said.called for one, said in sorted(ours.items()) if said.called and one not in hidden}
    return SourceCorpus(name, types, train, dev, files, called), set(all_types)


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
