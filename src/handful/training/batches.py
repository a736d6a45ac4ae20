"""Sentences to batches: split into sub-words once, put in a new order each epoch, padded as late as possible.

Which sentences form a batch, and the order of the batches, is a pure function of the seed and the epoch.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, replace
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from handful.encoders.pooling import lay_out
from handful.encoders.tokenizer import WordTokenizer
from handful.errors import EncoderError
from handful.text import Sentence

Ints = npt.NDArray[np.int64]

_Entry = TypeVar("_Entry")
_Built = TypeVar("_Built")

# Sentences are shuffled, then sorted by length within blocks of this many batches: little padding, much randomness.
_POOL_BATCHES = 50
_AHEAD = 8


@dataclass(frozen=True)
class TokenRows:
    """Sentences as sub-word ids, all in flat arrays."""

    ids: Ints  # all tokens, including special ones
    # Where each row of tokens ends in `ids`. A sentence has one row, or more if it is longer than the window.
    piece_ends: Ints
    # Where each sentence starts among the rows, the tokens and the words; the last entry is the end of all
    pieces: Ints
    tokens: Ints
    words: Ints
    # For each word, the positions of its first and its last sub-word in `ids`
    first: Ints
    last: Ints
    tags: Ints  # the tag of each word, as `io_tags` has them; empty for texts
    pad_id: int  # the token that fills rows up

    def __len__(self) -> int:
        return len(self.words) - 1


@dataclass(frozen=True)
class Batch:
    """Padded rows of one corpus, as arrays or as tensors."""

    n_words: int  # the number of words
    # Shape (n_rows, longest): token ids; 1 for tokens and 0 for padding
    ids: Any
    mask: Any
    # Shape (n_words,): positions in the flattened `ids`, and tags
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
    is_whole: bool = False,
) -> TokenRows:
    """Lay sentences out as encoding does, with one tag per word; error messages call the corpus by its name."""
    ids: list[int] = []
    piece_ends: list[int] = []
    positions: list[int] = []  # in the order of words: the first sub-word of each, then its last one; or each once
    n_each = 1 if is_whole else 2
    starts: list[tuple[int, int, int]] = [(0, 0, 0)]
    for number, sentence in enumerate(sentences, 1):
        try:
            subwords = tokenizer(sentence.words)
        except EncoderError as error:
            raise error.at(f"{name}, sentence {number}") from None
        for piece in lay_out(subwords, tokenizer, window=window, is_whole=is_whole):
            positions += [len(ids) + position for position in piece.positions]
            ids += piece.ids
            piece_ends.append(len(ids))
        starts.append((len(piece_ends), len(ids), len(positions) // n_each))
    pieces, tokens, words = np.array(starts, np.int64).T
    ends = np.array(positions, np.int64).reshape(-1, n_each)
    return TokenRows(
        np.array(ids, np.int64),
        np.array(piece_ends, np.int64),
        pieces,
        tokens,
        words,
        ends[:, 0],
        ends[:, -1],
        np.array(tags, np.int64),
        tokenizer.pad_id,
    )


def lay_out_texts(texts: Sequence[Sequence[str]], tokenizer: WordTokenizer, window: int) -> TokenRows:
    """Lay out texts, each given by its words, whose vector is the mean over all sub-words.

    In the result each sub-word counts as a word of its own: `first` and `last` are both its position.
    """
    return lay_out_corpus(
        [Sentence(tuple(text)) for text in texts], (), tokenizer, window, name="the texts of types", is_whole=True
    )


class Taken(NamedTuple):
    """Some sentences of `TokenRows`, one behind the other."""

    ids: Ints  # all tokens
    lengths: Ints  # the number of tokens of each row
    # For each word, the positions of its first and last sub-word in `ids`
    first: Ints
    last: Ints
    word: Ints  # the numbers of the words, among those of all sentences
    n_words: Ints  # the number of words of each sentence


def take(rows: TokenRows, sentences: Ints) -> Taken:
    """Return some sentences."""
    n_pieces = rows.pieces[sentences + 1] - rows.pieces[sentences]
    n_tokens = rows.tokens[sentences + 1] - rows.tokens[sentences]
    n_words = rows.words[sentences + 1] - rows.words[sentences]
    piece = ranges(rows.pieces[sentences], n_pieces)
    lengths = rows.piece_ends[piece] - np.where(piece > 0, rows.piece_ends[piece - 1], 0)
    token = ranges(rows.tokens[sentences], n_tokens)
    word = ranges(rows.words[sentences], n_words)
    moved = np.repeat(np.cumsum(n_tokens) - n_tokens - rows.tokens[sentences], n_words)
    return Taken(rows.ids[token], lengths, rows.first[word] + moved, rows.last[word] + moved, word, n_words)


def collate(rows: TokenRows, sentences: Ints) -> Batch:
    """Put sentences into one padded batch."""
    taken = take(rows, sentences)
    shape = len(taken.lengths), int(taken.lengths.max())
    place = ranges(np.arange(shape[0]) * shape[1], taken.lengths)
    ids = np.full(shape, rows.pad_id, np.int64)
    mask = np.zeros_like(ids)
    ids.ravel()[place] = taken.ids
    mask.ravel()[place] = 1
    tags = rows.tags[taken.word] if len(rows.tags) else np.zeros(len(taken.word), np.int64)
    return Batch(len(taken.word), ids, mask, place[taken.first], place[taken.last], tags)


def ranges(starts: Ints, lengths: Ints) -> Ints:
    """Concatenate ``arange(start, start + length)``."""
    ends = np.cumsum(lengths)
    return np.repeat(starts - ends + lengths, lengths) + np.arange(ends[-1] if len(ends) else 0)


def drawn(rows: TokenRows, share: float, *, number: int, seed: int, epoch: int) -> Ints:
    """Return the sentences of a corpus, by its number, that an epoch takes, in random order.

    The sentences of a corpus come in an endless series of random orders, each of which has every sentence once. An
    epoch takes the next ``share`` of a whole order from it, so that all sentences are seen equally often, even with a
    share below 1.
    """
    n = len(rows)
    begin, end = (int(np.floor((epoch + i) * share * n + 0.5)) for i in (0, 1))
    if begin == end:
        return np.empty(0, np.int64)
    orders = range(begin // n, -(-end // n))
    series = np.concatenate([np.random.default_rng([seed, 0, number, order]).permutation(n) for order in orders])
    return series[begin - orders[0] * n : end - orders[0] * n]


def plan_epoch(rows: TokenRows, *, batch: int, seed: int, epoch: int) -> list[Ints]:
    """Return the sentences of each batch of an epoch, which has every sentence once."""
    batches: list[Ints] = []
    taken = drawn(rows, 1.0, number=0, seed=seed, epoch=epoch)
    lengths, pool = np.diff(rows.tokens), _POOL_BATCHES * batch
    for i in range(0, len(taken), pool):
        block = taken[i : i + pool]
        block = block[np.argsort(lengths[block], kind="stable")]
        batches += [block[j : j + batch] for j in range(0, len(block), batch)]
    return [batches[i] for i in np.random.default_rng([seed, 1, epoch]).permutation(len(batches))]


def ahead(build: Callable[[_Entry], _Built], entries: Iterable[_Entry]) -> Iterator[_Built]:
    """Yield what `build` makes of each entry; a thread builds some ahead."""
    with ThreadPoolExecutor(1) as thread:
        left = iter(entries)
        waiting = [thread.submit(build, entry) for entry in islice(left, _AHEAD)]
        while waiting:
            done = waiting.pop(0).result()
            waiting += [thread.submit(build, entry) for entry in islice(left, 1)]
            yield done


def on_device(batch: _Built, device: Any) -> _Built:
    """Return a batch with tensors on a device instead of its arrays; each kind of numbers goes there in one copy."""
    import torch

    arrays = {each.name: getattr(batch, each.name) for each in fields(batch)}  # type: ignore[arg-type]
    arrays = {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}
    tensors: dict[str, Any] = {}
    for kind in sorted({array.dtype.str for array in arrays.values()}):
        own = {name: array for name, array in arrays.items() if array.dtype.str == kind}
        flat = torch.from_numpy(np.concatenate([array.ravel() for array in own.values()]))
        if device.type == "cuda":
            flat = flat.pin_memory().to(device, non_blocking=True)
        views = torch.split(flat, [array.size for array in own.values()])
        tensors |= {name: view.view(own[name].shape) for name, view in zip(own, views, strict=True)}
    return replace(batch, **tensors)  # type: ignore[type-var]
