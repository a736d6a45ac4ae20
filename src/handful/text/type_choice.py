"""`TypeChoice`: which types are kept, left out, renamed or merged."""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from handful.errors import Advice

from ._sentences import Allowed, Sentence, relabelled
from .types import ABOUT_CORPUS, EntityType, joined


class TypeChoice:
    """What becomes of each type: types are renamed first; then those that are not kept, or are dropped, become O.

    With None, all types are kept. Types that get the same name become one.
    """

    def __init__(
        self, keep: Iterable[str] | None = None, drop: Iterable[str] = (), rename: Mapping[str, str] | None = None
    ) -> None:
        self._keep = None if keep is None else frozenset(keep)
        self._drop = frozenset(drop)
        self._rename = dict(rename or {})
        self._seen: dict[str, str | None] = {}  # what became of each type that was met with
        self._entries: dict[Allowed, Allowed] = {}

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
        renamed = ((span, self.name(span.type)) for span in sentence.spans)
        spans = [replace(span, type=name) for span, name in renamed if name is not None]
        entries = [None if entry is None else self._entry(entry) for entry in sentence.allowed or ()]
        changed = relabelled(sentence, spans, entries)
        if sentence.judged is None:
            return changed
        names = {self.name(old) for old in sentence.judged} - {None}
        return changed.judged_for(name for name in names if name and self._sources(name) <= sentence.judged | {name})

    def _entry(self, entry: Allowed) -> Allowed:
        """Return what a partial label says of the new names.

        A tag may be a new one if some old one that became it was allowed. O also comes from types that do not stay.
        """
        if entry not in self._entries:
            new = {old: "O" if old == "O" else self.name(old) or "O" for old in entry.names}
            if entry.is_excluded:
                names = {name for name in new.values() if self._sources(name) <= entry.names}
            else:
                names = set(new.values())
            self._entries[entry] = Allowed(frozenset(names), entry.is_excluded)
        return self._entries[entry]

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
