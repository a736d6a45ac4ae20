"""Groups of types for tag-set extension."""

import json
from collections.abc import Mapping
from pathlib import Path

from handful.errors import DataError, FileError

__all__ = ["GROUPS", "Groups", "parse_groups"]

Groups = dict[str, tuple[str, ...]]

#: The paper's groups, by the name of the corpus.
GROUPS: dict[str, Groups] = {
    "ontonotes": {
        "A": ("ORG", "NORP", "ORDINAL", "WORK_OF_ART", "QUANTITY", "LAW"),
        "B": ("GPE", "CARDINAL", "PERCENT", "TIME", "EVENT", "LANGUAGE"),
        "C": ("PERSON", "DATE", "MONEY", "LOC", "FAC", "PRODUCT"),
    }
}


def parse_groups(given: str) -> Groups:
    """Read groups: a name of `GROUPS`, a JSON file of lists by name, or ``A=TYPE1,TYPE2;B=TYPE3``."""
    if given in GROUPS:
        return GROUPS[given]
    if "=" in given and not Path(given).exists():
        parts = (part.partition("=") for part in given.split(";") if part.strip())
        return _checked({name.strip(): types.split(",") for name, _, types in parts}, given)
    try:
        content = json.loads(Path(given).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise FileError(
            f"there are no groups {given!r}: give {', '.join(GROUPS)}, a JSON file, or A=TYPE1,TYPE2;B=TYPE3"
        ) from None
    except OSError as error:
        raise FileError(f"{given}: cannot be read: {error.strerror or error}") from None
    except ValueError as error:
        raise DataError(f"{given}: is not JSON: {error}") from None
    if not isinstance(content, Mapping):
        raise DataError(f'{given}: expected lists of types by group, as in {{"A": ["ORG", "LAW"]}}')
    return _checked(content, given)


def _checked(groups: Mapping[str, object], where: str) -> Groups:
    found: Groups = {}
    for name, types in groups.items():
        if not isinstance(types, list) or not all(isinstance(one, str) for one in types):
            raise DataError(f"{where}: the group {name!r} is {types!r}, expected a list of types")
        cleaned = tuple(dict.fromkeys(one.strip() for one in types if one.strip()))
        if not name or not cleaned:
            raise DataError(f"{where}: the group {name!r} has no types, or no name")
        found[name] = cleaned
    if not found:
        raise DataError(f"{where}: there are no groups")
    return found
