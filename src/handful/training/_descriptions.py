"""A file that says in words what the types of several corpora mean.

::

    [litbank]
    FAC: building, room, street or other place made by people
    politicalparty = political party: name of a political party

A section is for the corpus of that name, and for ``group/name``; lines before the first section are for all corpora.
What stands behind ``=`` is how the name is read, where the label itself does not read well. Lines with ``#`` in front
and blank lines are passed over.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from handful._util.files import PathLike
from handful.errors import DataError, FileError
from handful.text import EntityType

__all__ = ["Description", "descriptions_of", "read_descriptions"]

_LINE = re.compile(r"(?P<name>[^:=]*[^:=\s])\s*(?:=\s*(?P<called>[^:]*[^:\s])\s*)?:\s*(?P<description>.*\S)")


class Description(NamedTuple):
    """What a type means, and how its name is read: "" if as the label says."""

    description: str
    called: str = ""


def read_descriptions(file: PathLike) -> dict[str, dict[str, Description]]:
    """Read a file of descriptions: by section ("" before the first one), then by type."""
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
        if match is None:
            raise DataError(f"{path}:{number}: found {line!r}, expected TYPE: description or [corpus]")
        types = found.setdefault(section, {})
        if match["name"] in types:
            raise DataError(f"{path}:{number}: the type {match['name']} is described twice")
        try:
            one = EntityType(match["name"], match["description"])
        except DataError as error:
            raise error.at(f"{path}:{number}") from None
        types[one.name] = Description(one.description, " ".join((match["called"] or "").split()))
    if not found:
        raise DataError(f"{path}: there is no type in it; write TYPE: description, one type on each line")
    return found


def descriptions_of(
    known: Mapping[str, Mapping[str, Description]], corpus: str, types: set[str]
) -> dict[str, Description]:
    """Return the descriptions of the types of one corpus.

    Parameters
    ----------
    known
        What `read_descriptions` found.
    corpus
        The name of the corpus.
    types
        Its types; a section of the corpus that describes another one is an error.
    """
    own: dict[str, Description] = {}
    for section in (corpus.rpartition("/")[2], corpus):
        own |= known.get(section, {})
    if strange := sorted(set(own) - types):
        raise DataError(
            f"{corpus} has no type {', '.join(strange)} that is described; types are {', '.join(sorted(types))}"
        )
    everywhere = {name: one for name, one in known.get("", {}).items() if name in types}
    return everywhere | own
