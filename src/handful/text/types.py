"""Types: their names and descriptions, and files of them."""

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from handful._util.files import AnyFile
from handful._util.foreign import check_inside
from handful.errors import Advice, DataError, shorten

from ._labels import check_type
from ._markup import MARK
from ._patterns import LONGEST as LONGEST
from ._patterns import compiled as compiled
from ._sentences import Sentence
from ._sentences import converted as converted
from ._source import read_small
from .borders import borders_of

ABOUT_CORPUS = ("domain", "register")
"""Names at the head of a file that describe the corpus, not a type."""

PARTS = {"not": "not ", "such as": "such as ", "borders": ""}
"""Parts of a guideline that can be said in a field of their own, and the words that say them in a description."""

_AROUND = " \t\r\n#\ufeff"  # a name; the last one is the mark that some editors put before a text
_TAGGED = re.compile(r"\S+\s(?:.*\s)?(?:O|[BIESUL]-[^\W\d]\S*)")  # ends in a tag; a name may, too: blood group O
_INDENT = re.compile(r"\ufeff?(?:[ \t]*# ?)?([ \t]*)")
_FEW = 3  # lines that end in a tag, in a file of which they are half
_LONGEST = 10_000  # characters of a description
_LONG = 5  # words in a name; a line of more is a description or a sentence
_NO_COLON = re.compile(r"\s(?:[-\u2013\u2014]+>?|=>)\s|=")  # signs that people write for a colon
_ENDING = re.compile(r"\.(?:te?xt?|md|[ct]sv|jsonl?|ya?ml|toml|conll|gz|db|html?|docx?|xlsx?)\Z", re.IGNORECASE)
_NEXT = re.compile(r",\s*(?=([^\W\d][\w-]*):\s)")  # before the next NAME: of a line
_SECOND = re.compile(r",(?:[^,:]{1,40}:\s|\s*[^\W\da-z]{3,}\s*(?:,|\Z))")  # perhaps before one
_FIXED = re.compile(r"\d|(?<![^\W\d_])[^\W\d_]{1,3}(?![^\W\d_])")  # a slip in digits or short words is another type
_ALIKE = 0.83  # similarity of names, from which one may be the other misspelt: PRESON, PERSON


@dataclass(frozen=True, slots=True)
class EntityType:
    """A type of mention.

    Examples
    --------
    >>> EntityType("PEST", "insects, slugs and diseases that harm plants")
    EntityType(name='PEST', description='insects, slugs and diseases that harm plants')
    >>> EntityType("PART", words=["hex nut", "/[A-Z]{2}-[0-9]{4}/"]).words
    ('hex nut', '/[A-Z]{2}-[0-9]{4}/')
    """

    name: str  # what labels call it
    description: str = ""  # what it means, in one line, as an annotation guideline says it; may be empty
    # words and phrases that are often of this type, and regular expressions for them, written ``/pattern/``
    words: tuple[str, ...] = field(default=(), repr=False)
    weight: float = field(default=1.0, repr=False)  # how much these words count; 1 is what is usual

    def __post_init__(self) -> None:
        check_type(self.name)
        if not isinstance(self.description, str):
            raise DataError(f"the description of {self.name} is {self.description!r}, expected a string")
        if len(self.description) > _LONGEST:
            raise DataError(
                f"the description of {self.name} has {len(self.description):,} characters, but at most {_LONGEST:,} "
                "are read; say in some lines what the type means"
            )
        object.__setattr__(self, "description", " ".join(self.description.split()))
        if not isinstance(self.words, list | tuple) or not all(isinstance(one, str) for one in self.words):
            raise DataError(f"the words of {self.name} are {shorten(repr(self.words))}, expected a list of strings")
        words = tuple(dict.fromkeys(word for one in self.words if (word := " ".join(one.split()))))
        object.__setattr__(self, "words", words)
        if type(self.weight) not in (int, float) or not 0 <= self.weight <= 10:
            raise DataError(f"the weight of {self.name} is {self.weight!r:.50}, expected 0 to 10")
        for one in self.words:
            compiled(one)  # a pattern that cannot be used is refused here

    def to_dict(self) -> dict[str, Any]:
        """Return it as a dict of strings, a list and a number; words and their weight only if it has any."""
        said: dict[str, Any] = {"name": self.name, "description": self.description}
        return said | ({"words": list(self.words), "weight": self.weight} if self.words else {})

    def __str__(self) -> str:
        return self.name


def types_of(given: Any) -> tuple[EntityType, ...]:
    """Return types that are given in one of several forms, each once, in the order given.

    A description that comes later fills in one that is missing, and so do words.

    Parameters
    ----------
    given : None, for no types; a str of names with commas between them, or of ``NAME: description`` with semicolons or
        line feeds between them; a dict from names to descriptions; or a list of such strs, of `EntityType`, and of
        dicts with a ``name`` and perhaps ``description``, ``not``, ``such as``, ``borders``, ``words``, ``weight``.
        `EntityType` and dicts with a ``name`` take any name.

    Raises
    ------
    DataError : something else, or a name that is likely a mistake: a file, a whole sentence, ``-`` or ``=`` for a
        colon, or the same name in two cases

    Examples
    --------
    >>> [str(one) for one in types_of("person, place")]
    ['person', 'place']
    >>> types_of({"PEST": "insects and slugs"})
    (EntityType(name='PEST', description='insects and slugs'),)
    >>> types_of("PEST: insects, slugs; TOOL: a thing held in the hand")[1]
    EntityType(name='TOOL', description='a thing held in the hand')
    """
    if given is None:
        return ()
    if isinstance(given, str) and looks_like_file(given):
        raise _file(given)
    if isinstance(given, Mapping):
        given = [_named(name, description or "") for name, description in given.items()]
        refuse_two_cases(one.name for one in given)
    elif isinstance(given, str | EntityType):
        given = [given] if given else []
    if not isinstance(given, Iterable):
        raise DataError(f"types are names, a dict of descriptions or a list of these, found {shorten(repr(given))}")
    given = list(given)
    found: dict[str, EntityType] = {}
    for one in (one for item in given for one in _types(item)):
        before = found.get(one.name)
        if before is not None and before.description and one.description not in ("", before.description):
            raise DataError(f"the type {one.name} has two descriptions: {before.description!r} and {one.description!r}")
        if before is not None:
            one = replace(before if before.words else one, description=before.description or one.description)
        found[one.name] = one
    if any(isinstance(item, str) for item in given):
        refuse_two_cases(found)
    return tuple(found.values())


def completed(types: Iterable[EntityType], others: Iterable[EntityType]) -> tuple[EntityType, ...]:
    """Return types and others; these fill in what a type does not say of itself."""
    own = tuple(types)
    has_description = {one.name for one in own if one.description}
    return types_of([*own, *(replace(one, description="") if one.name in has_description else one for one in others)])


def joined(name: str, types: Sequence[EntityType]) -> EntityType:
    """Return the type that others become: with its own description, or theirs, and with all words."""
    own = [one.description for one in types if one.name == name and one.description]
    description = "; ".join(own[:1] or [one.description for one in types if one.description])
    weight = max((one.weight for one in types if one.words), default=1.0)
    return EntityType(name, description, tuple(word for one in types for word in one.words), weight)


def _types(item: Any) -> list[EntityType]:
    """Return the types of a member of a list."""
    if isinstance(item, EntityType):
        return [item]
    if isinstance(item, Mapping):
        fields = {key: value for key, value in item.items() if value is not None and key not in PARTS}
        if "name" not in fields or set(fields) - set(EntityType.__dataclass_fields__):
            raise DataError(
                f"a type is a dict with name and perhaps description, {', '.join(PARTS)}, words and weight, "
                f"found {shorten(repr(item))}"
            )
        one = EntityType(**fields)
        for part in (part for part in PARTS if item.get(part)):
            one = _with_part(one, part, item[part])
        return [one]
    if not isinstance(item, str) or not item:
        return [EntityType(item)]
    is_upper = item.partition(":")[0].rpartition(",")[2].isupper()
    lines = _NEXT.sub(lambda cut: "\n" if cut[1].isupper() == is_upper else cut[0], item)
    found: list[EntityType] = []
    for part in filter(None, map(str.strip, re.split(r"[;\n]", lines))):
        head, colon, description = part.partition(":")
        if _SECOND.search(description):
            anyway = Advice("if it is one, give a dict of descriptions", "if it is one, name it in a file")
            raise DataError(f"{shorten(part)!r} may be two types: write a semicolon between types", anyway)
        *names, last = head.split(",")
        found += map(_type_of, filter(None, map(str.strip, [*names, f"{last}{colon}{description}"])))
    return found


def looks_like_file(name: str) -> bool:
    """Whether what is given for types is more likely a file: it has a slash, or an ending such as ``.txt``."""
    is_path = any(sign in name for sign in "/\\") and not re.search(r"\s", name)
    return is_path or (_ENDING.search(name) is not None and not re.search(r":\s|[;\n]", name))


def _file(name: str) -> DataError:
    python = f"read_types({name!r}) reads one"
    return DataError(f"the type {name!r} looks like a file", Advice(python, "there is no such file; mind its name"))


def _named(name: Any, description: str = "") -> EntityType:
    """Return a type that somebody named; a name that is likely a mistake is refused."""
    one = EntityType(name, description)
    n_words = len(name.split())
    if (sign := _NO_COLON.search(name)) and len(name[: sign.start()].split()) <= _LONG:
        meant = f"{name[: sign.start()].strip()}: {f'{name[sign.end() :]} {description}'.strip()}"
        raise DataError(f"{shorten(name)!r} has no colon after the name of a type; write {shorten(meant)!r}")
    if n_words > _LONG or (n_words > 2 and name[-1] in ".!?"):
        raise _corpus(f"{shorten(name)!r} is a whole line, not the name of a type; write NAME: description")
    if "," in name:
        raise DataError(
            f"{shorten(name)!r} is not one name; write NAME: description for each type, with ; between them"
        )
    if _ENDING.search(name):
        raise _file(name)
    return one


def check_spelling(named: Iterable[str], marked: Iterable[str]) -> None:
    """Refuse a type that labels mark and nobody named, if its name is nearly that of another type."""
    named, marked = sorted(named), sorted(marked)
    first: dict[str, str] = {}
    for name in marked:
        if (other := first.setdefault(name.casefold(), name)) != name and not {name, other} <= {*named}:
            said, meant, anyway = f"labels mark the types {other!r} and {name!r}, which differ in case alone", other, ""
        elif name not in named and (meant := misspelt(name, named) or ""):
            said = f"labels mark the type {name!r}, which nobody named; did you mean {meant!r}?"
            anyway = ", or, if it is another type, name it in "
        else:
            continue
        python, shell = f"read(..., rename={{{name!r}: {meant!r}}})", f"handful convert --rename {name}={meant}"
        where = ("types", "--types") if anyway else ("", "")
        raise DataError(said, Advice(f"say {python}{anyway}{where[0]}", f"say {shell}{anyway}{where[1]}"))


def misspelt(name: str, known: Iterable[str]) -> str | None:
    """Return the known type of which a name is another case or a misspelling; None for another type."""
    others = [one for one in known if one != name]
    near = {one.casefold(): one for one in others if _FIXED.findall(one) == _FIXED.findall(name)}
    near |= {one.casefold(): one for one in others if one.casefold() == name.casefold()}
    return next((near[one] for one in get_close_matches(name.casefold(), near, 1, _ALIKE)), None)


def refuse_two_cases(names: Iterable[str]) -> None:
    """Refuse names that differ in case alone."""
    first: dict[str, str] = {}
    for name in names:
        if (other := first.setdefault(name.casefold(), name)) != name:
            raise DataError(f"the types {other!r} and {name!r} differ in case alone; name one of them")


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


def judged_together(
    sentences: Sequence[Sentence], types: Iterable[str] = (), known: Iterable[str] = ()
) -> list[Sentence]:
    """Return sentences that come together, with the types that they were judged for where they do not say so.

    These are `types`, and all types that the sentences mark. They are also the types that are `known` where the
    sentences come, unless all that they mark are others: then somebody looked for these alone.
    """
    names, others = {*types, *types_in(sentences)}, set(known)
    judged = frozenset(names if names and names.isdisjoint(others) else names | others) or None
    return [one if one.is_unlabelled or one.judged is not None else replace(one, judged=judged) for one in sentences]


def described(names: Iterable[str], known: Iterable[EntityType]) -> tuple[EntityType, ...]:
    """Return types by their names, each with its description and words where they are known."""
    by_name = {one.name: one for one in known}
    return tuple(by_name.get(name) or EntityType(name) for name in names)


def read_types(file: AnyFile, *, encoding: str = "utf-8") -> tuple[EntityType, ...]:
    """Read a file of types: ``NAME: description`` on each line, or the name alone.

    Lines that are indented under a type say its words: ``words: Paris, New York``, ``words: cities.txt`` (a file beside
    this one, with a phrase on each line), ``words: /[A-Z]{2}-[0-9]{4}/`` (a regular expression); and ``weight: 0.5``,
    how much they count. They also say parts of its description: ``not: postage, tips``, ``such as: a fee, a fare``,
    ``borders: with the currency``. Blank lines are passed over, and so are ``#`` and spaces before a name. A line that
    does not say a type, and a file that is a corpus (inline marks, tags, JSON records, sentences), is a `DataError`.
    """
    name, text = read_small(file, encoding)
    found: dict[str, EntityType] = {}
    folder = Path(file).parent if isinstance(file, str | os.PathLike) else Path()
    words: dict[str, dict[str, None]] = {}  # of each type, which gets them at the end: there may be many lines
    one, margin = None, 0
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip(_AROUND):
            try:
                indent = len(_INDENT.findall(line)[0])
                if one is not None and indent > margin:
                    said = _with_field(found[one.name], line.lstrip(_AROUND).rstrip(), folder)
                    words.setdefault(one.name, {}).update(dict.fromkeys(said.words))
                    found[one.name] = replace(said, words=())
                    continue
                one, margin = _type_of(line.lstrip(_AROUND).rstrip()), indent
                (found[one.name],) = types_of([found.get(one.name, one), one])
            except DataError as error:
                raise error.at(f"{name}:{number}") from None
    if not found:
        raise DataError(f"{name}: there is no type in it; write NAME: description, one type on each line")
    _check_names(name, list(found))
    return tuple(replace(one, words=tuple(words.get(one.name, ()))) for one in found.values())


def _with_field(one: EntityType, line: str, folder: Path) -> EntityType:
    """Return a type with what an indented line says of it."""
    name, _, value = (part.strip() for part in line.partition(":"))
    if name == "weight" and re.fullmatch(r"\d+(\.\d+)?", value):
        return replace(one, weight=float(value))
    if name in PARTS and value:
        return _with_part(one, name, value)
    if name != "words" or not value:
        expected = ", ".join(f"'{part}: ...'" for part in (*PARTS, "words"))
        raise DataError(f"found {shorten(line)!r}, indented under {one.name}, expected {expected} or 'weight: 0.5'")
    words = [value] if compiled(value) else value.split(",")
    if value.endswith(".txt"):
        check_inside(folder / value, folder)
        _, text = read_small(folder / value, "utf-8")
        words = [line for line in text.lstrip("\ufeff").split("\n") if line.strip() and not line.startswith("#")]
    if not words:
        raise DataError(f"the words of {one.name} are in {value}, which has none; write one phrase on each line")
    return replace(one, words=tuple(words))


def _with_part(one: EntityType, part: str, said: Any) -> EntityType:
    """Return a type whose description says a part of its guideline, too."""
    if isinstance(said, list | tuple) and all(isinstance(each, str) for each in said):
        said = ", ".join(said)
    if not isinstance(said, str):
        raise DataError(f"{part} of {one.name} is {shorten(repr(said))}, expected a string or a list of strings")
    if part == "borders" and not borders_of(said):
        raise DataError(
            f"the borders of {one.name} are {shorten(said)!r}, which is no rule that is known; write 'without title', "
            "'with its unit', 'with the article before it' or the like"
        )
    return replace(one, description="; ".join(filter(None, [one.description, f"{PARTS[part]}{said}".strip(" .;")])))


def _type_of(line: str) -> EntityType:
    name, colon, description = (part.strip() for part in line.partition(":"))
    if not name or line[0].isspace() or (colon and not description):
        raise DataError(f"found {shorten(line)!r}, expected NAME: description")
    is_tabbed = "\t" in name
    if is_tabbed or MARK.search(name) or line.startswith('{"'):
        raise _corpus(f"found {shorten(line)!r}{', with a tab' * is_tabbed}, expected NAME: description")
    return _named(name, description)


def _check_names(file: str, names: Sequence[str]) -> None:
    """Refuse names that are lines of a corpus, which no line alone could tell."""
    tagged = [name for name in names if _TAGGED.fullmatch(name)]
    if len(tagged) >= _FEW and 2 * len(tagged) >= len(names):
        raise _corpus(f"{file}: {len(tagged)} of {len(names)} types end in a tag, such as {shorten(tagged[0])!r}")
    try:
        refuse_two_cases(names)
    except DataError as error:
        raise error.at(file) from None


def _corpus(message: str) -> DataError:
    python = "if this is a corpus, give it to `fit` as labelled sentences or as unlabelled text"
    shell = "if this is a corpus, give it without --types if it is labelled, and with --unlabelled if not"
    return DataError(message, Advice(python, shell))
