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
import torch

from handful.encoders.hugging_face import first_position

from ._texts import TypeTexts
from .batches import Ints, Taken, TokenRows, drawn, ranges, take

# Sentences of one corpus come in chunks of about this many tokens, so that the texts of its types are not read for a
# single sentence.
_CHUNK = 512
_ROW = 256  # tokens in a row, if all sentences fit
_TOLERANCE = 1e-3  # of the length of the vectors, in float32, between a sentence that is packed and alone
_LONGEST = 256  # tokens to try that with
_CONTRAST = 1024  # the most words in the second loss, three quarters of them mentions


@dataclass(frozen=True)
class StepCorpus:
    """A corpus as steps need it."""

    rows: TokenRows
    types: Ints  # the numbers of its types, among those of all corpora
    share: float  # how much of it an epoch takes
    o_weight: float  # how much an O word counts
    is_plain: npt.NDArray[np.bool_]  # for each word, whether it is O nearly everywhere
    twin: int | None = None  # the number of an earlier corpus with the same sentences and other types


@dataclass(frozen=True)
class Layout:
    """How rows are made."""

    window: int  # the most tokens of a sentence
    first_position: int  # what the encoder calls the first position
    is_packed: bool  # whether several sentences may share a row


class PlannedStep(NamedTuple):
    """Which sentences form a step: pairs of a corpus and its sentences; a corpus may come more than once."""

    epoch: int
    number: int
    chunks: list[tuple[int, Ints]]


@dataclass(frozen=True)
class Step:
    """One step, as arrays or as tensors."""

    n_words: int  # the number of words
    is_packed: bool  # whether several sentences share a row
    # Shape (n_rows, n_tokens): token ids, positions, and the number of the sentence or text; -1 for padding
    ids: Any
    positions: Any
    sequences: Any
    # Shape (n_words,): positions of a word's first and last sub-word in the flattened `ids`
    first: Any
    last: Any
    tags: Any  # shape (n_words,): 0 for O, ``i + 1`` for the type of column i
    # Shape (n_words,): where a word comes from
    corpora: Any
    sentences: Any
    weights: Any  # shape (n_words,), float32: how much a word counts
    is_plain: Any  # shape (n_words,): whether it is O nearly everywhere
    # Shape (n_columns,): the types that are asked for, and their corpora
    types: Any
    type_corpora: Any
    # Positions of the texts' sub-words in the flattened `ids`; where those of each column start
    text_at: Any
    text_starts: Any
    owners: Any  # texts after the first n_columns are what types exclude: the column of each
    contrast: Any  # words that take part in the second loss
    # Words whose type is that of the word before, shape (n,), and whether a new mention begins there, float32
    follows: Any
    begins: Any


def plan_steps(
    sources: Sequence[StepCorpus], text_tokens: Sequence[int], *, batch_tokens: int, seed: int, epoch: int
) -> list[PlannedStep]:
    """Return the steps of an epoch, of at most `batch_tokens`; a chunk of sentences that has more is a step of its own.

    `text_tokens` has for each corpus the tokens of the texts of its types; the order depends on `seed` and `epoch`.
    """
    chunks: list[tuple[int, Ints]] = []
    room = max(1, min(_CHUNK, batch_tokens // 4))
    twins: dict[int, list[int]] = {}
    for number, source in enumerate(sources):
        if source.twin is not None:
            twins.setdefault(source.twin, []).append(number)
            continue
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
        group = [number]
        for twin in twins.get(number, ()):  # as often as its share of that of the corpus says
            share = min(1.0, sources[twin].share / sources[number].share)
            group += [twin] if int((i + 1) * share) > int(i * share) else []
        n_own = int(np.diff(sources[number].rows.tokens)[part].sum()) * len(group)
        new = group if not steps else [one for one in group if all(other != one for other, _ in steps[-1])]
        if not steps or n_tokens + n_own + sum(text_tokens[one] for one in new) > batch_tokens:
            steps.append([])
            n_tokens, new = 0, group
        steps[-1] += [(one, part) for one in group]
        n_tokens += n_own + sum(text_tokens[one] for one in new)
    return [PlannedStep(epoch, number, each) for number, each in enumerate(steps)]


class StepBuilder:
    """Makes steps of their plans; with `contrast`, words are chosen for the second loss.

    `texts` are those of all types. The choice of texts and words depends on `seed` and the plan.
    """

    def __init__(
        self, sources: Sequence[StepCorpus], texts: TypeTexts, layout: Layout, *, contrast: bool, seed: int
    ) -> None:
        self._sources = sources
        self._texts = texts
        self._layout = layout
        self._contrast = contrast
        self._seed = seed
        self._pad_id = sources[0].rows.pad_id

    def build(self, planned: PlannedStep) -> Step:
        rng = np.random.default_rng([self._seed, 3, planned.epoch, planned.number])
        corpora = list(dict.fromkeys(number for number, _ in planned.chunks))
        types = np.concatenate([self._sources[number].types for number in corpora])
        n_types = np.array([len(self._sources[number].types) for number in corpora])
        parts = [take(self._sources[number].rows, sentences) for number, sentences in planned.chunks]
        texts, owners = self._texts.choose(types, rng)
        parts.append(take(self._texts.rows, texts))
        laid_out, firsts, lasts = self._lay_out(parts)
        n_each = parts.pop().n_words
        text_at, _, text_starts = firsts.pop(), lasts.pop(), np.cumsum(n_each) - n_each
        words = self._words(planned, parts, dict(zip(corpora, np.cumsum(n_types) - n_types, strict=True)))
        begins, tags, of_sentence = words.pop("begins"), words["tags"], words["sentences"]
        is_same = (tags[1:] == tags[:-1]) & (of_sentence[1:] == of_sentence[:-1])
        follows = 1 + np.flatnonzero(is_same & (tags[1:] > 0))
        contrast = np.empty(0, np.int64)
        if self._contrast:  # no word of weight 0
            kinds = (kind & (words["weights"] > 0) for kind in (tags > 0, tags == 0))
            mentions, others = (rng.permutation(np.flatnonzero(kind)) for kind in kinds)
            mentions = mentions[: _CONTRAST * 3 // 4]
            contrast = np.concatenate([mentions, others[: _CONTRAST - len(mentions)]])
        return Step(
            n_words=len(tags),
            is_packed=self._layout.is_packed,
            **laid_out,
            first=np.concatenate(firsts),
            last=np.concatenate(lasts),
            **words,
            types=types,
            type_corpora=np.repeat(corpora, n_types),
            text_at=text_at,
            text_starts=text_starts,
            owners=owners,
            follows=follows,
            begins=begins[follows].astype(np.float32),
            contrast=contrast,
        )

    def _words(
        self, planned: PlannedStep, parts: Sequence[Taken], first_column: dict[int, int]
    ) -> dict[str, npt.NDArray[Any]]:
        """Return what a step says about each word; `first_column` is where the types of each corpus begin."""
        found: dict[str, list[npt.NDArray[Any]]] = {}
        for (number, sentences), part in zip(planned.chunks, parts, strict=True):
            source = self._sources[number]
            of_rows = source.rows.tags[part.word]
            tags = np.abs(of_rows)
            own = {
                "begins": of_rows < 0,
                "tags": np.where(tags > 0, tags + first_column[number], 0),
                "corpora": np.full(len(tags), number),
                "sentences": np.repeat(sentences, part.n_words),
                "weights": np.where(tags > 0, 1.0, source.o_weight).astype(np.float32),
                "is_plain": source.is_plain[part.word],
            }
            for name, array in own.items():
                found.setdefault(name, []).append(array)
        return {name: np.concatenate(arrays) for name, arrays in found.items()}

    def _lay_out(self, parts: Sequence[Taken]) -> tuple[dict[str, Ints], list[Ints], list[Ints]]:
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
        return {"ids": ids, "positions": positions, "sequences": sequences}, firsts, lasts


def _first_fit(lengths: Ints, room: int) -> tuple[Ints, int]:
    """Put sentences into rows, the longest first, each into the first row with room for it.

    The result is the place of each sentence in the flattened rows, and the number of rows.
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


def layout_of(model: Any, window: int) -> Layout:
    """Return how sentences are laid out for a model, which is on the CPU; it is tried out.

    Sentences are not packed if the model has no use for positions and masks that are given to it, if it reads its
    neighbours (convolutions), or if it makes masks of its own (windows of attention).
    """
    first = first_position(model)
    was_training = model.training
    model.eval()
    try:
        is_packed = _is_same(model, window, first)
    except (TypeError, ValueError, RuntimeError, IndexError):
        is_packed = False
    model.train(was_training)
    return Layout(window, first, is_packed)


def _is_same(model: Any, window: int, first: int) -> bool:
    length = min(window, _LONGEST)
    long, short = length - length // 4, length // 4
    n_ids = min(2000, int(model.config.vocab_size))
    ids = torch.randint(n_ids // 2, n_ids, (1, length), generator=torch.Generator().manual_seed(0))
    sequences = torch.tensor([[0] * long + [1] * short])
    mask = torch.zeros(1, 1, length, length).masked_fill_(sequences[0, :, None] != sequences[0], -1e9)
    positions = torch.cat((torch.arange(long), torch.arange(short)))[None] + first
    with torch.inference_mode():
        packed = model(input_ids=ids, attention_mask=mask, position_ids=positions).last_hidden_state[0]
        alone = torch.cat(
            [
                model(input_ids=part, attention_mask=torch.ones_like(part)).last_hidden_state[0]
                for part in (ids[:, :long], ids[:, long:])
            ]
        )
    return packed.shape == alone.shape and bool((packed - alone).norm() <= _TOLERANCE * alone.norm())
