"""`TypeChoice`: which types are kept, left out, renamed or merged."""

from collections.abc import Iterable, Mapping

from handful.errors import Advice

from ._sentences import Sentence, converted
from .types import ABOUT_CORPUS, EntityType, joined


class TypeChoice:
    """The fate of each type: types are renamed first; then those that are not kept, or are dropped, become O.

    With None, all types are kept. Types that get the same name become one.
    """

    def __init__(
        self, keep: Iterable[str] | None = None, drop: Iterable[str] = (), rename: Mapping[str, str] | None = None
    ) -> None:
        self._keep = None if keep is None else frozenset(keep)
        self._drop = frozenset(drop)
        self._rename = dict(rename or {})
        self._seen: dict[str, str | None] = {}  # what became of each type that was met with

    def __bool__(self) -> bool:
        return self._keep is not None or bool(self._drop) or bool(self._rename)

    def name(self, name: str) -> str | None:
        """Return the new name of a type; None if its mentions become O."""
        if name not in self._seen:
            self._seen[name] = self._new(name)
        return self._seen[name]

    def _new(self, name: str) -> str | None:
        new = self._rename.get(name, name)
        return new if new not in self._drop and (self._keep is None or new in self._keep) else None

    def sentence(self, sentence: Sentence) -> Sentence:
        """Return a sentence with its labels renamed, and without those that do not stay."""
        if sentence.spans is None:
            return sentence
        return converted(sentence, self._becomes, self._sources, may_be_new=True)

    def _becomes(self, old: str) -> frozenset[str]:
        return frozenset({"O" if old == "O" else self.name(old) or "O"})

    def _sources(self, name: str) -> frozenset[str]:
        """Return the old tags that become this one; for O, the empty name stands for all types that are not kept."""
        known = {*self._rename, *self._rename.values(), *self._drop}
        if name == "O":
            others = set() if self._keep is None else {""}
            return frozenset({"O", *others, *(old for old in known if self._new(old) is None)})
        return frozenset(old for old in {name, *known} if self._new(old) == name)

    def types(self, described: Iterable[EntityType]) -> tuple[EntityType, ...]:
        """Return described types under their new names.

        A type that others were merged into keeps its own description; else theirs are joined.
        """
        found: dict[str, list[EntityType]] = {}
        for one in described:
            name = one.name if one.name in ABOUT_CORPUS else self.name(one.name)
            if name is not None:
                found.setdefault(name, []).append(one)
        return tuple(joined(name, all_) for name, all_ in found.items())

    def not_found(self) -> list[str]:
        """Return the names that were given for types that no sentence had so far."""
        new = {self._rename.get(name, name) for name in self._seen}
        lost = [name for name in self._rename if name not in self._seen]
        return lost + sorted(name for name in (self._keep or frozenset()) | self._drop if name not in new)

    def unused(self) -> dict[Advice, int]:
        """Return a note, with a count, on names that were given for types that are not in the file."""
        lost = self.not_found()
        if not lost or not self._seen:
            return {}
        found = f"are not in the file: {', '.join(lost)} (it has {', '.join(sorted(self._seen))})"
        note = Advice(f"types of keep, drop and rename {found}", f"types of --keep, --drop and --rename {found}")
        return {note: len(lost)}
