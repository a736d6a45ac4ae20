"""`EntityType`: the name of a type, and what it means."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from handful.errors import DataError

from .sentences import Sentence, check_type, shorten

__all__ = ["ABOUT_CORPUS", "EntityType", "described", "type_names", "types_in", "types_of"]

ABOUT_CORPUS = ("domain", "register")
"""Names at the head of a file that describe the corpus, not a type (see `handful.text.inline`)."""


@dataclass(frozen=True, slots=True)
class EntityType:
    """A type of mention.

    Parameters
    ----------
    name : str
        What labels call it.
    description : str
        What it means, in one line, as an annotation guideline says it; may be empty.

    Examples
    --------
    >>> EntityType("PEST", "insects, slugs and diseases that harm plants")
    EntityType(name='PEST', description='insects, slugs and diseases that harm plants')
    """

    name: str
    description: str = ""

    def __post_init__(self) -> None:
        check_type(self.name)
        if not isinstance(self.description, str):
            raise DataError(f"the description of {self.name} is {self.description!r}, expected a string")
        object.__setattr__(self, "description", " ".join(self.description.split()))

    def __str__(self) -> str:
        return self.name


def types_of(given: Any) -> tuple[EntityType, ...]:
    """Return types that are given in one of several forms.

    Parameters
    ----------
    given
        None, for no types; a str of names with commas between them; a dict from names to descriptions; or a list of
        names, of `EntityType`, and of dicts with a ``name`` and perhaps a ``description``.

    Returns
    -------
    tuple of EntityType
        In the order given, each once. A description that comes later fills in one that is missing.

    Examples
    --------
    >>> [str(one) for one in types_of("person, place")]
    ['person', 'place']
    >>> types_of({"PEST": "insects and slugs"})
    (EntityType(name='PEST', description='insects and slugs'),)
    """
    if given is None:
        return ()
    if isinstance(given, str):
        given = [name.strip() for name in given.split(",") if name.strip()]
    elif isinstance(given, EntityType):
        given = [given]
    elif isinstance(given, Mapping):
        given = [EntityType(name, description or "") for name, description in given.items()]
    if not isinstance(given, Iterable):
        raise DataError(f"types are names, a dict of descriptions or a list of these, found {shorten(repr(given))}")
    found: dict[str, EntityType] = {}
    for item in given:
        one = _type(item)
        before = found.get(one.name)
        if before is not None and before.description and one.description not in ("", before.description):
            raise DataError(f"the type {one.name} has two descriptions: {before.description!r} and {one.description!r}")
        if before is None or not before.description:
            found[one.name] = one
    return tuple(found.values())


def _type(item: Any) -> EntityType:
    if isinstance(item, EntityType):
        return item
    if isinstance(item, Mapping):
        if "name" not in item or set(item) - {"name", "description"}:
            raise DataError(f"a type is a dict with a name and perhaps a description, found {shorten(repr(item))}")
        return EntityType(item["name"], item.get("description") or "")
    return EntityType(item)


def types_in(sentences: Iterable[Sentence]) -> list[str]:
    """Return the name of every type that the labels use, sorted; partial labels count too, O does not."""
    return sorted(set().union(*map(type_names, sentences)))


def type_names(sentence: Sentence) -> set[str]:
    """Return the names of the types that the labels of a sentence use, partial ones too."""
    found = {span.type for span in sentence.spans or ()}
    for entry in sentence.allowed or ():
        if entry is not None:
            found |= entry.names
    return found - {"O"}


def described(names: Iterable[str], known: Iterable[EntityType]) -> tuple[EntityType, ...]:
    """Return types by their names, each with its description where one is known."""
    descriptions = {one.name: one.description for one in known}
    return tuple(EntityType(name, descriptions.get(name, "")) for name in names)
