"""Steps of a training: sentences of several corpora and the texts of all their types, packed into rows.

Sentences and texts lie in a row one behind the other; each sees only itself, and its positions start anew. So little
is spent on padding. Which sentences form a step, and what is random in it, is a pure function of the seed, the epoch
and the number of the step.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ._texts import TypeTexts
from .batches import Ints, Rows, Taken, drawn, ranges, take

__all__ = ["Layout", "PlannedStep", "Source", "Step", "StepBuilder", "plan_steps"]

# Sentences of one corpus come in chunks of about this many tokens, so that the texts of its types are not read for a
# single sentence.
_CHUNK = 512
_ROW = 256  # tokens in a row, if all sentences fit
_CONTRAST = 1024  # the most words in the second loss, three quarters of them mentions


@dataclass(frozen=True)
class Source:
    """A corpus as steps need it.

    Attributes
    ----------
    rows : its sentences
    types : the numbers of its types, among those of all corpora
    share : how much of it an epoch takes
    o_weight : how much an O word counts
    is_plain : for each word, whether it is O nearly everywhere
    """

    rows: Rows
    types: Ints
    share: float
    o_weight: float
    is_plain: npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Layout:
    """How rows are made.

    Attributes
    ----------
    window : the most tokens of a sentence
    first_position : what the encoder calls the first position
    is_packed : whether several sentences may share a row
    """

    window: int
    first_position: int
    is_packed: bool


class PlannedStep(NamedTuple):
    """Which sentences form a step: pairs of a corpus and its sentences; a corpus may come more than once."""

    epoch: int
    number: int
    chunks: list[tuple[int, Ints]]


@dataclass(frozen=True)
class Step:
    """One step, as arrays or as tensors.

    Attributes
    ----------
    n_words
        The number of words.
    is_packed
        Whether several sentences share a row.
    ids, positions, sequences
        Shape (n_rows, n_tokens): token ids, positions, and the number of the sentence or text; -1 for padding.
    first, last
        Shape (n_words,): positions of a word's first and last sub-word in the flattened `ids`.
    tags
        Shape (n_words,): 0 for O, ``i + 1`` for the type of column i.
    corpora, sentences
        Shape (n_words,): where a word comes from.
    weights
        Shape (n_words,), float32: how much a word counts.
    is_plain
        Shape (n_words,): whether it is O nearly everywhere.
    types, type_corpora
        Shape (n_columns,): the types that are asked for, and their corpora.
    text_at, text_starts
        Positions of the texts' sub-words in the flattened `ids`; where those of each column start. Empty where types
        are not read.
    contrast
        Words that take part in the second loss.
    """

    n_words: int
    is_packed: bool
    ids: Any
    positions: Any
    sequences: Any
    first: Any
    last: Any
    tags: Any
    corpora: Any
    sentences: Any
    weights: Any
    is_plain: Any
    types: Any
    type_corpora: Any
    text_at: Any
    text_starts: Any
    contrast: Any


def plan_steps(
    sources: Sequence[Source], text_tokens: Sequence[int], *, batch_tokens: int, seed: int, epoch: int
) -> list[PlannedStep]:
    """Return the steps of an epoch.

    Parameters
    ----------
    sources
        The corpora.
    text_tokens
        For each corpus the tokens of the texts of its types.
    batch_tokens
        The most tokens of a step; a chunk of sentences that has more is a step of its own.
    seed, epoch
        What the order depends on.
    """
    chunks: list[tuple[int, Ints]] = []
    room = max(1, min(_CHUNK, batch_tokens // 4))
    for number, source in enumerate(sources):
        taken = drawn(source.rows, source.share, number=number, seed=seed, epoch=epoch)
        if len(taken):
            total = np.cumsum(np.diff(source.rows.tokens)[taken])
            n_chunks = max(1, round(total[-1] / room))
            cuts = np.searchsorted(total, total[-1] * np.arange(1, n_chunks) / n_chunks)
            chunks += [(number, part) for part in np.split(taken, cuts) if len(part)]
    steps: list[list[tuple[int, Ints]]] = []
    n_tokens = 0
    for i in np.random.default_rng([seed, 1, epoch]).permutation(len(chunks)):
        number, part = chunks[i]
        n_own = int(np.diff(sources[number].rows.tokens)[part].sum())
        is_new = not steps or all(other != number for other, _ in steps[-1])
        if not steps or n_tokens + n_own + is_new * text_tokens[number] > batch_tokens:
            steps.append([])
            n_tokens, is_new = 0, True
        steps[-1].append((number, part))
        n_tokens += n_own + is_new * text_tokens[number]
    return [PlannedStep(epoch, number, each) for number, each in enumerate(steps)]


class StepBuilder:
    """Makes steps of their plans.

    Parameters
    ----------
    sources
        The corpora.
    texts
        The texts of all types; None if types are not read.
    layout
        How rows are made.
    contrast
        Whether words are chosen for the second loss.
    seed
        What the choice of texts and words depends on, besides the plan.
    """

    def __init__(
        self, sources: Sequence[Source], texts: TypeTexts | None, layout: Layout, *, contrast: bool, seed: int
    ) -> None:
        self._sources = sources
        self._texts = texts
        self._layout = layout
        self._contrast = contrast
        self._seed = seed
        self._pad_id = sources[0].rows.pad_id

    def build(self, planned: PlannedStep) -> Step:
        """Make one step."""
        rng = np.random.default_rng([self._seed, 3, planned.epoch, planned.number])
        corpora = list(dict.fromkeys(number for number, _ in planned.chunks))
        types = np.concatenate([self._sources[number].types for number in corpora])
        n_types = np.array([len(self._sources[number].types) for number in corpora])
        parts = [take(self._sources[number].rows, sentences) for number, sentences in planned.chunks]
        if self._texts is not None:
            parts.append(take(self._texts.rows, self._texts.choose(types, rng)))
        ids, positions, sequences, firsts, lasts = self._lay_out(parts)
        text_at = text_starts = np.empty(0, np.int64)
        if self._texts is not None:
            n_each = parts.pop().n_words
            text_at, _, text_starts = firsts.pop(), lasts.pop(), np.cumsum(n_each) - n_each
        words = self._words(planned, parts, dict(zip(corpora, np.cumsum(n_types) - n_types, strict=True)))
        return Step(
            n_words=len(words["tags"]),
            is_packed=self._layout.is_packed,
            ids=ids,
            positions=positions,
            sequences=sequences,
            first=np.concatenate(firsts),
            last=np.concatenate(lasts),
            **words,
            types=types,
            type_corpora=np.repeat(corpora, n_types),
            text_at=text_at,
            text_starts=text_starts,
            contrast=_pick(words["tags"], words["weights"], rng) if self._contrast else np.empty(0, np.int64),
        )

    def _words(
        self, planned: PlannedStep, parts: Sequence[Taken], first_column: dict[int, int]
    ) -> dict[str, npt.NDArray[Any]]:
        """Return what a step says about each word; `first_column` is where the types of each corpus begin."""
        found: dict[str, list[npt.NDArray[Any]]] = {}
        for (number, sentences), part in zip(planned.chunks, parts, strict=True):
            source = self._sources[number]
            tags = source.rows.tags[part.word]
            own = {
                "tags": np.where(tags > 0, tags + first_column[number], 0),
                "corpora": np.full(len(tags), number),
                "sentences": np.repeat(sentences, part.n_words),
                "weights": np.where(tags > 0, 1.0, source.o_weight).astype(np.float32),
                "is_plain": source.is_plain[part.word],
            }
            for name, array in own.items():
                found.setdefault(name, []).append(array)
        return {name: np.concatenate(arrays) for name, arrays in found.items()}

    def _lay_out(self, parts: Sequence[Taken]) -> tuple[Ints, Ints, Ints, list[Ints], list[Ints]]:
        """Return ids, positions and sequences, and for each part where its words begin and end in them."""
        lengths = np.concatenate([part.lengths for part in parts])
        longest = int(lengths.max())
        if self._layout.is_packed:
            length = max(longest, min(self._layout.window, _ROW))
            offsets, n_rows = _first_fit(lengths, length)
        else:
            length, n_rows = longest, len(lengths)
            offsets = np.arange(n_rows) * length
        place = ranges(offsets, lengths)
        ids = np.full((n_rows, length), self._pad_id, np.int64)
        positions = np.full_like(ids, self._layout.first_position)
        sequences = np.full_like(ids, -1)
        ids.ravel()[place] = np.concatenate([part.ids for part in parts])
        positions.ravel()[place] += ranges(np.zeros_like(lengths), lengths)
        sequences.ravel()[place] = np.repeat(np.arange(len(lengths)), lengths)
        starts = np.cumsum([0, *(len(part.ids) for part in parts)])
        firsts = [place[part.first + start] for part, start in zip(parts, starts[:-1], strict=True)]
        lasts = [place[part.last + start] for part, start in zip(parts, starts[:-1], strict=True)]
        return ids, positions, sequences, firsts, lasts


def _first_fit(lengths: Ints, room: int) -> tuple[Ints, int]:
    """Put sentences into rows, the longest first, each into the first row with room for it.

    Returns
    -------
    tuple
        The place of each sentence in the flattened rows, and the number of rows.
    """
    offsets = np.empty(len(lengths), np.int64)
    free: list[int] = []
    order = np.argsort(-lengths, kind="stable")
    shortest = int(lengths.min())
    start = 0  # rows before it are full
    for i, n in zip(order.tolist(), lengths[order].tolist(), strict=True):
        row = next((row for row in range(start, len(free)) if free[row] >= n), len(free))
        if row == len(free):
            free.append(room)
        offsets[i] = row * room + room - free[row]
        free[row] -= n
        while start < len(free) and free[start] < shortest:
            start += 1
    return offsets, len(free)


def _pick(tags: Ints, weights: npt.NDArray[np.float32], rng: np.random.Generator) -> Ints:
    """Choose words for the second loss; no word of weight 0."""
    mentions, others = (rng.permutation(np.flatnonzero(kind & (weights > 0))) for kind in (tags > 0, tags == 0))
    mentions = mentions[: _CONTRAST * 3 // 4]
    return np.concatenate([mentions, others[: _CONTRAST - len(mentions)]])
