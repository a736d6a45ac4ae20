"""A file of types: ``NAME: description`` on each line. A corpus in its place is refused: each line would be a type."""

import re
from collections.abc import Sequence
from statistics import median

from handful.errors import Advice, DataError

from ._entity_types import EntityType, types_of
from ._source import Source
from .files import AnyFile
from .inline import MARK
from .sentences import shorten

__all__ = ["read_types"]

_AROUND = " \t\r\n#\ufeff"  # a name; the last one is the mark that some editors put before a text
_TAGGED = re.compile(r"\S+\s(?:.*\s)?(?:O|[BIESUL]-[^\W\d]\S*)")  # ends in a tag; a name may, too: blood group O
_FEW = 3  # lines that end in a tag, in a file of which they are half
_MANY, _LONG = 100, 5  # types, and words in the names of half of them: text


def read_types(file: AnyFile, *, encoding: str = "utf-8") -> tuple[EntityType, ...]:
    """Read a file of types: ``NAME: description`` on each line, or the name alone.

    Blank lines are passed over, and so are ``#`` and spaces before a name.

    Raises
    ------
    DataError
        A line that does not say a type, or a file that is a corpus: one with inline marks or tags, JSON records, or a
        hundred sentences.
    """
    source = Source(file, encoding)
    found: dict[str, EntityType] = {}
    try:
        with source.errors():
            for number, line in enumerate(source.lines(), 1):
                if line.strip(_AROUND):
                    try:
                        one = _type_of(line.strip(_AROUND))
                        before = [found[one.name]] if one.name in found else []
                        (found[one.name],) = types_of([*before, one])
                    except DataError as error:
                        raise error.at(f"{source.name}:{number}") from None
    finally:
        source.close()
    if not found:
        raise DataError(f"{source.name}: there is no type in it; write NAME: description, one type on each line")
    _check_names(source.name, list(found))
    return tuple(found.values())


def _type_of(line: str) -> EntityType:
    name, colon, description = (part.strip() for part in line.partition(":"))
    if not name or line[0].isspace() or (colon and not description):
        raise DataError(f"found {shorten(line)!r}, expected NAME: description")
    if MARK.search(name) or line.startswith('{"'):
        raise _corpus(f"found {shorten(line)!r}, expected NAME: description")
    if "\t" in name:
        raise _corpus(f"found {shorten(line)!r}, with a tab, expected NAME: description")
    return EntityType(name, description)


def _check_names(file: str, names: Sequence[str]) -> None:
    """Refuse names that are lines of a corpus, which no line alone could tell."""
    tagged = [name for name in names if _TAGGED.fullmatch(name)]
    if len(tagged) >= _FEW and 2 * len(tagged) >= len(names):
        raise _corpus(f"{file}: {len(tagged)} of {len(names)} types end in a tag, such as {shorten(tagged[0])!r}")
    if len(names) > _MANY and median(len(name.split()) for name in names) >= _LONG:
        raise _corpus(f"{file}: has {len(names)} types, most of which are sentences, such as {shorten(names[0])!r}")


def _corpus(message: str) -> DataError:
    python = "if this is a corpus, give it to `fit` as labelled sentences or as unlabelled text"
    shell = "if this is a corpus, give it without --types if it is labelled, and with --unlabelled if not"
    return DataError(message, Advice(python, shell))
