"""Other types for labels that are there: which tags each old one may be from now on, and what follows for sentences."""

from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any

from handful.errors import Advice, DataError, number_of
from handful.text import OUTSIDE, EntityType, Sentence, types_of
from handful.text.types import completed, converted, joined, misspelt, type_names


class TypeChange:
    """The change from old types of labelled sentences to new ones; the arguments are those of `Tagger.retype`.

    A type becomes another one (renamed, or merged with others), one of several (split), itself, or O (dropped). Types
    that come from nothing are added: nobody has looked for them yet.
    """

    def __init__(
        self,
        before: Sequence[EntityType],
        types: Any = None,
        rename: Mapping[str, str] | None = None,
        split: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        known = [one.name for one in before]
        changed = {old: [new] for old, new in (rename or {}).items()}
        for old, parts in (split or {}).items():
            if isinstance(parts, str) or len(set(parts)) < 2:
                raise DataError(f"{old} is split into {parts!r}, expected a list of two types or more")
            if old in changed:
                raise DataError(f"{old} is both renamed and split; one of the two is enough")
            changed[old] = list(parts)
        for old in changed:
            if old not in known:
                near = get_close_matches(old, known, 1)
                meant = f"; did you mean {near[0]}?" if near else ""
                raise DataError(f"there is no type {old} to rename or split (there are {', '.join(known)}){meant}")
        targets = {new for news in changed.values() for new in news}
        followed = [EntityType(new) for old in known for new in changed.get(old, [old])]
        wanted = types_of(followed if types is None else types)
        names = {one.name for one in wanted}
        dropped = [old for old in known if old not in names and old not in changed]
        for new in sorted(names - {*known, *targets}):
            if left := misspelt(new, dropped):
                raise DataError(
                    f"the type {new!r} is new, and {left!r} is left out; if they are one type, rename it, else drop "
                    f"{left!r} first",
                    Advice(f"say rename={{{left!r}: {new!r}}}", f"say --rename {left}={new}"),
                )
        if lost := sorted(targets - names):
            raise DataError(f"{lost[0]} is the new name of a type, but not among the types: add it to them")
        if kept := sorted(set(changed) & names - targets):
            raise DataError(
                f"{kept[0]} becomes {' or '.join(changed[kept[0]])}, but is still among the types: leave it out there"
            )
        self._becomes = {old: frozenset(changed.get(old, [old] if old in names else ["O"])) for old in known}
        # what a type does not say stays as it was, or comes from the types that became this one alone
        were = (joined(new, [one for one in before if self._becomes[one.name] == {new}]) for new in sorted(names))
        self.types = completed(wanted, were)

    def sentences(self, sentences: Sequence[Sentence]) -> list[Sentence]:
        """Return labelled sentences with what their labels say of the new types."""
        names = {one.name for one in self.types}
        for one in sentences:  # types that the tagger does not know: a label that rules one out, a judged one
            for old in type_names(one) | (one.judged or frozenset()):
                self._becomes.setdefault(old, frozenset([old] if old in names else ["O"]))
        self._becomes["O"] = OUTSIDE.names
        sources: dict[str, set[str]] = {}
        for old, news in self._becomes.items():
            for new in news:
                sources.setdefault(new, set()).add(old)
        return [converted(one, self._becomes.__getitem__, lambda new: frozenset(sources[new])) for one in sentences]

    def notes(self, before: Sequence[Sentence], after: Sequence[Sentence]) -> list[str]:
        """Return a line for each type that is now open in labelled sentences in which it was not open before."""

        def n_open(name: str, sentences: Sequence[Sentence]) -> int:  # where nobody has looked, or a word may be of it
            labels = ((one.judged or (), [entry for entry in one.allowed or () if entry]) for one in sentences)
            return sum(name not in judged or any(name in entry for entry in some) for judged, some in labels)

        sources = Counter(new for news in self._becomes.values() for new in news)
        found = {one.name: n_open(one.name, after) for one in self.types}
        return [
            f"{name} is open in {number_of(n, 'labelled sentence')}: label some, or look at them again"
            for name, n in found.items()
            if n > (n_open(name, before) if self._becomes.get(name) == frozenset([name]) and sources[name] == 1 else 0)
        ]
