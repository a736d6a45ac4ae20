"""Tasks: what supports are drawn from, what is unlabelled text, what is scored, and the supports."""

import hashlib
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from handful.errors import Advice, DataError, number_of
from handful.evaluate import sample_support
from handful.text import EntityType, Sentence, describe, types_in, types_of

from ._targets import Target, digest
from .settings import Settings


@dataclass(frozen=True)
class Support:
    """A few labelled sentences."""

    shots: int  # the mentions of each type that it should have
    name: str  # its number
    origin: str  # where it came from
    sentences: list[Sentence]  # as they were given or drawn

    @cached_property
    def digest(self) -> str:
        return digest(self.sentences)


#: A run without labels has this in place of a support.
NO_LABELS = Support(0, "-", "no labels", [])


@dataclass(frozen=True)
class Task:
    """One target, ready to run."""

    name: str  # the target
    pool: list[Sentence]  # the split that supports come from
    other: list[Sentence]  # the rest of the unlabelled text
    scored: list[Sentence]  # labelled sentences to score on
    supports: dict[int, list[Support]]  # by shots; empty for shots that the pool has too few mentions for
    notes: list[str]  # what was handled on the way
    types: tuple[EntityType, ...] = ()  # those of the target, described where a file describes them
    # By shots, the note that the pool has too few mentions for them
    scarce: dict[int, str] = field(default_factory=dict)

    @cached_property
    def o_share(self) -> float:
        return describe(self.pool).o_share or 0.0

    @cached_property
    def digests(self) -> dict[str, str]:
        """Hashes of everything that results depend on besides the support."""
        blank = ([sentence.without_labels() for sentence in part] for part in (self.pool, self.other))
        pool, other = map(digest, blank)
        return {"pool": pool, "other": other, "scored": digest(self.scored)}

    def o_ratio(self, word: str) -> float | str | None:
        """Return the ratio that a word stands for here: none, auto, share, over, or a number."""
        share = math.floor(20 * self.o_share + 1e-9) / 20
        named: dict[str, float | str | None] = {
            "": None, "none": None, "auto": "auto", "share": share, "over": round(share + 0.05, 2),
        }  # fmt: skip
        return named[word] if word in named else float(word)

    def text(self, which: str) -> list[Sentence] | None:
        """Return unlabelled text: "all" or "none"."""
        return None if which == "none" else [sentence.without_labels() for sentence in self.pool + self.other]


def make_task(target: Target, settings: Settings) -> Task:
    """Make the task of a target.

    Supports come from dev, or from train where there is no dev; both are unlabelled text. When dev is scored on, the
    split that supports come from is cut in two by a hash of the words of each sentence: supports come from one half,
    the other half is scored on, and given supports are not used.
    """
    notes = [f"{target.name}: {note}" for note in target.notes]
    pool, other = (target.dev, target.train) if target.dev else (target.train, [])
    scored = target.test
    given = target.supports
    if settings.on == "dev":
        pool, scored = [s for s in pool if half(s) == 0], [s for s in pool if half(s) == 1]
        other, given = at_most(other, settings.most_words), {}
    elif target.is_file:
        raise DataError(
            f"{target.name}: one file has no test split",
            Advice("say on='dev' to score on one half of it", "say --on dev to score on one half of it"),
        )
    for what, sentences in (("scored on", scored), ("sampled from", pool)):
        if not sentences:
            raise DataError(
                f"{target.name}: there are no sentences to be {what}; a test file, and dev or train, are needed"
            )
        for i, one in enumerate(sentences):
            if not one.is_labelled:
                raise DataError(f"{target.name}: sentence {i} (from 0) of those to be {what} is not labelled: {one}")
        if not types_in(sentences):
            raise DataError(f"{target.name}: there is no mention in the sentences to be {what}")
    types = _types(target, notes)
    scarce: dict[int, str] = {}
    drawn = {
        n: _supports(target.name, pool, n, settings, given.get(n, ()), notes, scarce)
        for n in dict.fromkeys(settings.shots)
    }
    if not any(drawn.values()):
        raise DataError(f"{target.name}: there is no support to run; {notes[-1]}")
    seen = {span.type for some in drawn.values() for one in some for s in one.sentences for span in s.spans or ()}
    if seen and (missing := sorted(set(types_in(scored)) - seen)):
        notes.append(
            f"{target.name}: no support has {', '.join(missing)}: its mentions count as missed, unless names are read"
        )
    return Task(target.name, pool, other, scored, drawn, notes, types, scarce)


def _types(target: Target, notes: list[str]) -> tuple[EntityType, ...]:
    """Return the types that a file describes, then those that only labels have; note where the two differ."""
    found = types_in(target.train + target.dev + target.test)
    known = [one.name for one in target.types]
    if unused := [name for name in known if name not in found]:
        notes.append(f"{target.name}: described, but not in any label: {', '.join(unused)}")
    if known and (others := [name for name in found if name not in known]):
        notes.append(f"{target.name}: not described, so that the name alone is read: {', '.join(others)}")
    return types_of([*target.types, *map(EntityType, found)])


def half(sentence: Sentence) -> int:
    """Return 0 or 1 by a hash of the words alone."""
    return hashlib.sha256("\x1f".join(sentence.words).encode("utf-8", "surrogatepass")).digest()[0] % 2


def at_most(sentences: Iterable[Sentence], n_words: int) -> list[Sentence]:
    """Return the first sentences that together have at most this many words."""
    kept = []
    for sentence in sentences:
        n_words -= len(sentence.words)
        if n_words < 0:
            break
        kept.append(sentence)
    return kept


def _supports(
    name: str,
    pool: list[Sentence],
    shots: int,
    settings: Settings,
    given: Sequence[tuple[str, list[Sentence]]],
    notes: list[str],
    scarce: dict[int, str],
) -> list[Support]:
    if shots == 0:
        return [NO_LABELS]
    sets, seed = settings.sets, settings.seed
    if given:
        if len(given) < sets:
            notes.append(f"{name}: {number_of(len(given), 'given support')} of {number_of(shots, 'shot')}, not {sets}")
        return [Support(shots, number, "given", sentences) for number, sentences in given[:sets]]
    mentions = Counter(describe(pool).mentions)
    if rare := [f"{label} ({n})" for label, n in sorted(mentions.items()) if n < shots]:
        shown = "all of them are drawn" if settings.fewer else "shown as -"
        note = f"{name}: too few mentions for {number_of(shots, 'shot')}, {shown}: {', '.join(rare)}"
        notes.append(note)
        if not settings.fewer:
            scarce[shots] = note
            return []
    drawn = sample_support(pool, shots, seed, sets=sets, fewer=settings.fewer)
    return [Support(shots, str(i), f"drawn with seed {seed}", one) for i, one in enumerate(drawn)]
