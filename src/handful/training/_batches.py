"""Sentences to batches: split into sub-words once, put in a new order each epoch, padded as late as possible.

Which sentences form a batch, and the order of the batches, is a pure function of the seed and the epoch.
"""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
import numpy.typing as npt

from handful.encoders._pooling import lay_out
from handful.encoders._tokenizer import WordTokenizer
from handful.errors import EncoderError
from handful.text import Sentence

__all__ = ["Batch", "Rows", "lay_out_corpus", "plan_epoch", "prefetch"]

Ints = npt.NDArray[np.int64]

# Sentences are shuffled, then sorted by length within blocks of this many batches: little padding, much randomness.
_POOL_BATCHES = 50
_AHEAD = 8


@dataclass(frozen=True)
class Rows:
    """Sentences as sub-word ids, all in flat arrays.

    Attributes
    ----------
    ids
        All tokens, including special ones.
    piece_ends
        Where each row of tokens ends in `ids`. A sentence has one row, or more if it is longer than the window.
    pieces, tokens, words
        Where each sentence starts among the rows, the tokens and the words; the last entry is the end of all.
    first, last
        For each word, the positions of its first and its last sub-word in `ids`.
    tags
        The tag of each word.
    pad_id
        The token that fills rows up.
    """

    ids: Ints
    piece_ends: Ints
    pieces: Ints
    tokens: Ints
    words: Ints
    first: Ints
    last: Ints
    tags: Ints
    pad_id: int

    def __len__(self) -> int:
        return len(self.words) - 1


@dataclass(frozen=True)
class Batch:
    """Padded rows of one corpus, as arrays or as tensors.

    Attributes
    ----------
    corpus
        The number of the corpus.
    n_words
        The number of words.
    ids, mask
        Shape (n_rows, longest): token ids; 1 for tokens and 0 for padding.
    first, last, tags
        Shape (n_words,): positions in the flattened `ids`, and tags.
    """

    corpus: int
    n_words: int
    ids: Any
    mask: Any
    first: Any
    last: Any
    tags: Any


def lay_out_corpus(
    sentences: Sequence[Sentence],
    tags: Sequence[int] | Ints,
    tokenizer: WordTokenizer,
    window: int,
    *,
    name: str = "the corpus",
) -> Rows:
    """Lay sentences out as encoding does, with their tags.

    Parameters
    ----------
    sentences
        The sentences of one corpus.
    tags
        One tag per word of all sentences, in order.
    tokenizer, window
        Splits words into sub-words; the most tokens in a row.
    name
        What error messages call the corpus.
    """
    ids: list[int] = []
    piece_ends: list[int] = []
    n_words = 0
    starts: list[tuple[int, int, int]] = [(0, 0, 0)]
    ends: list[int] = []  # the first sub-word of each word, then its last one
    for number, sentence in enumerate(sentences, 1):
        try:
            subwords = tokenizer(sentence.words)
        except EncoderError as error:
            raise error.at(f"{name}, sentence {number}") from None
        for piece in lay_out(subwords, tokenizer, window=window, pooling="first-last"):
            ends += [len(ids) + position for position in piece.positions]
            ids += piece.ids
            piece_ends.append(len(ids))
        n_words += len(sentence.words)
        starts.append((len(piece_ends), len(ids), n_words))
    pieces, tokens, words = np.array(starts, np.int64).T
    both = np.array(ends, np.int64).reshape(-1, 2)
    return Rows(
        np.array(ids, np.int64),
        np.array(piece_ends, np.int64),
        pieces,
        tokens,
        words,
        both[:, 0],
        both[:, 1],
        np.array(tags, np.int64),
        tokenizer.pad_id,
    )


def collate(rows: Rows, sentences: Ints, corpus: int = 0) -> Batch:
    """Put sentences into one padded batch."""
    n_pieces = rows.pieces[sentences + 1] - rows.pieces[sentences]
    n_tokens = rows.tokens[sentences + 1] - rows.tokens[sentences]
    n_words = rows.words[sentences + 1] - rows.words[sentences]
    piece = _ranges(rows.pieces[sentences], n_pieces)
    ends = rows.piece_ends[piece]
    lengths = ends - np.where(piece > 0, rows.piece_ends[piece - 1], 0)
    longest = int(lengths.max())
    # The place of each token in the flattened batch, and how far the tokens of each sentence moved to get there.
    place = _ranges(np.arange(len(piece)) * longest, lengths)
    token = _ranges(rows.tokens[sentences], n_tokens)
    ids = np.full(len(piece) * longest, rows.pad_id, np.int64)
    mask = np.zeros_like(ids)
    ids[place] = rows.ids[token]
    mask[place] = 1
    word = _ranges(rows.words[sentences], n_words)
    moved = np.repeat(np.cumsum(n_tokens) - n_tokens - rows.tokens[sentences], n_words)
    shape = (len(piece), longest)
    return Batch(
        corpus,
        len(word),
        ids.reshape(shape),
        mask.reshape(shape),
        place[rows.first[word] + moved],
        place[rows.last[word] + moved],
        rows.tags[word],
    )


def _ranges(starts: Ints, lengths: Ints) -> Ints:
    """Concatenate ``arange(start, start + length)``."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1] if len(ends) else 0)


def plan_epoch(
    corpora: Sequence[Rows],
    shares: Sequence[float],
    *,
    batch: int,
    batch_words: int | None,
    seed: int,
    epoch: int,
) -> list[tuple[int, Ints]]:
    """Return the batches of an epoch.

    The sentences of a corpus come in an endless series of random orders, each of which has every sentence once. An
    epoch takes the next ``share`` of a whole order from it, so that all sentences are seen equally often, even with a
    share below 1.

    Parameters
    ----------
    corpora
        The rows of each corpus.
    shares
        How much of each corpus an epoch takes: 1 is all of it, once.
    batch
        Sentences in a batch.
    batch_words
        If given, the most words in a batch, instead of `batch`. A longer sentence is a batch of its own.
    seed, epoch
        What the order depends on.

    Returns
    -------
    list of tuple
        For each batch, the number of its corpus and its sentences.
    """
    batches: list[tuple[int, Ints]] = []
    for number, (rows, share) in enumerate(zip(corpora, shares, strict=True)):
        n = len(rows)
        begin, end = (int(np.floor((epoch + i) * share * n + 0.5)) for i in (0, 1))
        orders = range(begin // n, -(-end // n))
        drawn = [np.random.default_rng([seed, 0, number, order]).permutation(n) for order in orders]
        if not drawn:
            continue
        taken = np.concatenate(drawn)[begin - orders[0] * n : end - orders[0] * n]
        lengths = np.diff(rows.tokens)
        pool = _POOL_BATCHES * batch
        if batch_words is not None:
            pool = max(1, int(_POOL_BATCHES * batch_words / max(1.0, float(np.diff(rows.words).mean()))))
        for i in range(0, len(taken), pool):
            block = taken[i : i + pool]
            block = block[np.argsort(lengths[block], kind="stable")]
            batches += [(number, part) for part in _cut(block, rows, batch, batch_words)]
    order = np.random.default_rng([seed, 1, epoch]).permutation(len(batches))
    return [batches[i] for i in order]


def _cut(block: Ints, rows: Rows, batch: int, batch_words: int | None) -> Iterator[Ints]:
    if batch_words is None:
        for i in range(0, len(block), batch):
            yield block[i : i + batch]
        return
    n_words = np.diff(rows.words)[block]
    start = total = 0
    for i, n in enumerate(n_words):
        if i > start and total + n > batch_words:
            yield block[start:i]
            start, total = i, 0
        total += n
    yield block[start:]


def prefetch(corpora: Sequence[Rows], plan: Sequence[tuple[int, Ints]], device: Any) -> Iterator[Batch]:
    """Yield the batches of a plan as tensors on a device; a thread builds some batches ahead."""
    import torch

    is_cuda = device.type == "cuda"

    def build(entry: tuple[int, Ints]) -> Batch:
        number, sentences = entry
        made = collate(corpora[number], sentences, number)
        parts = (made.ids, made.mask, made.first, made.last, made.tags)
        # All parts go to the device in one copy, and are views of it there.
        flat = torch.from_numpy(np.concatenate([part.ravel() for part in parts]))
        if is_cuda:
            flat = flat.pin_memory().to(device, non_blocking=True)
        views = torch.split(flat, [part.size for part in parts])
        return Batch(number, made.n_words, *(v.view(p.shape) for v, p in zip(views, parts, strict=True)))

    with ThreadPoolExecutor(1) as thread:
        entries = iter(plan)
        waiting = [thread.submit(build, entry) for entry in islice(entries, _AHEAD)]
        while waiting:
            done = waiting.pop(0).result()
            waiting += [thread.submit(build, entry) for entry in islice(entries, 1)]
            yield done
