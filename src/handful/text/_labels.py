"""`Span`, `Allowed` and `Mark`: mentions, partial labels, and labels as characters of a text."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from handful._util.foreign import is_plain
from handful.errors import Advice, DataError, shorten


class Mark(NamedTuple):
    """A label as characters of a text; the label may be a partial one."""

    start: int
    end: int
    label: str
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A mention: the words ``start`` to ``end`` (exclusive) of a sentence, and their type."""

    # word positions; ``end`` is one past the last word. `Sentence.characters` gives positions in the text.
    start: int
    end: int
    type: str  # the name of its type
    # how sure a tagger is of it; None for a label. Not compared.
    score: float | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        score = "" if self.score is None else f", score={self.score:.4g}"
        return f"Span({self.start}, {self.end}, {self.type!r}{score})"


@dataclass(frozen=True, slots=True)
class Allowed:
    """Which tags a word may have, where its label is only partly known.

    Examples
    --------
    The written form is the same in every file format:

    >>> str(Allowed.parse("LOC|ORG")), "LOC" in Allowed.parse("LOC|ORG")
    ('LOC|ORG', True)
    >>> Allowed.parse("_") == UNKNOWN, Allowed.parse("!O") == SOME_ENTITY
    (True, True)
    >>> Allowed.parse("!PER").among(["O", "PER", "LOC"])
    (True, False, True)
    """

    names: frozenset[str]  # types; "O" means "in no mention"
    is_excluded: bool = False  # whether `names` are the tags that are ruled out, instead of those that are allowed

    def __post_init__(self) -> None:
        if type(self.names) is not frozenset:
            object.__setattr__(self, "names", frozenset(sequence_of(self.names, "names", "strings")))
        if not self.names and not self.is_excluded:
            raise DataError("Allowed(): no tag is left; a word needs at least one (UNKNOWN allows all)")
        for name in self.names:
            if name != "O":
                check_type(name)

    def __contains__(self, tag: object) -> bool:
        return (tag in self.names) != self.is_excluded

    def __or__(self, other: "Allowed") -> "Allowed":
        """Allow every tag that one of the two allows."""
        if self.is_excluded == other.is_excluded:
            return Allowed(self.names & other.names if self.is_excluded else self.names | other.names, self.is_excluded)
        excluded, allowed = (self, other) if self.is_excluded else (other, self)
        return Allowed(excluded.names - allowed.names, is_excluded=True)

    def __str__(self) -> str:
        """Return the written form: ``_``, ``LOC|ORG``, ``!O`` (some entity), ``!LOC|ORG`` (neither)."""
        if not self.names:
            return "_"
        return "!" * self.is_excluded + "|".join(sorted(self.names))

    def __repr__(self) -> str:
        return f"Allowed({str(self)!r})"

    @property
    def is_single(self) -> bool:
        """Whether only one tag is left, so that nothing is open."""
        return len(self.names) == 1 and not self.is_excluded

    @classmethod
    def parse(cls, written: str) -> "Allowed":
        """Read the written form; the inverse of ``str``."""
        if written == "_":
            return UNKNOWN
        is_excluded = written.startswith("!")
        names = written[is_excluded:].split("|")
        if "" in names:
            raise DataError(f"{written!r} has an empty name; write for example LOC|ORG, !O, !LOC or _")
        return cls(frozenset(names), is_excluded)

    def among(self, tags: Iterable[str]) -> tuple[bool, ...]:
        """Return for each of `tags` whether it is allowed: a row of the matrix that a fit needs."""
        return tuple((tag in self.names) != self.is_excluded for tag in tags)


def check_type(name: object) -> None:
    """Refuse a type that could not be told from a tag or a partial label."""
    if not isinstance(name, str) or not name:
        raise DataError(f"a type is a non-empty string, not {name!r}")
    if not is_plain(name):
        raise DataError(f"a type cannot be called {name!r:.100}: it has control characters")
    if name in ("O", "_") or name[0] == "!" or "|" in name:
        raise DataError(
            f"a type cannot be called {name!r}: O is for words outside mentions, "
            "_ and ! and | write partial labels (unknown, not, either)"
        )


UNKNOWN = Allowed(frozenset(), is_excluded=True)
"""Any tag: the word is unlabelled."""

OUTSIDE = Allowed(frozenset({"O"}))
"""In no mention."""

SOME_ENTITY = Allowed(frozenset({"O"}), is_excluded=True)
"""In a mention of any type."""


def by_place(span: Span) -> tuple[int, int, str]:
    """Return what spans are ordered by: the first words, the longest first of those, and the name of the type."""
    return span.start, -span.end, span.type


def overlap(spans: Iterable[Span]) -> tuple[Span, Span] | None:
    """Return two mentions, of those in order, that share a word; None if there are none."""
    before: Span | None = None
    for span in spans:
        if before is not None and span.start < before.end:
            return before, span
        before = span
    return None


def overlap_error(one: Span, other: Span, words: Sequence[str]) -> DataError:
    """Return the error that two mentions share words where each word has one tag."""
    shown = (f"{' '.join(words[span.start : span.end])!r} ({span.type})" for span in (one, other))
    return DataError(
        f"{' and '.join(map(shorten, shown))} share a word, and here a word has one tag",
        Advice(
            "use Tagger(overlap=True) or a format that holds spans, such as jsonl; or keep one layer: "
            "handful.text.flattened(sentence, 'outermost')",
            "use --overlap (of handful fit and label) or a format that holds spans, such as jsonl; or keep one layer: "
            "handful convert --layer outermost",
        ),
    )


def sequence_of(value: object, name: str, of: str) -> tuple[Any, ...]:
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise DataError(f"{name} must be a sequence of {of}, not {shorten(repr(value))}")
    return tuple(value)
