"""Sub-words to rows of a batch, and the vectors of a batch back to words: the same for every network.

The sub-words of a sentence are laid out in one or more `Piece` (rows of a batch), and the network's vectors are
gathered into one vector per word::

    vector[w] = sum over the contributions c with words[c] = w of 1/2 hidden[positions[c]]

A word has two contributions: its first and its last sub-word (the same one twice if it has only one). Nothing here
depends on a network, so training and inference lay words out alike.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .tokenizer import WordTokenizer

_BLOCK = 256  # words pooled at a time: what lies between stays in the processor's cache

Float32 = npt.NDArray[np.float32]

#: ``input_ids`` and ``attention_mask``, each of shape (n_rows, n_tokens).
Inputs = dict[str, npt.NDArray[np.int64]]


@dataclass(frozen=True, slots=True)
class Piece:
    """One row of a batch: a sentence, or a window of one that is too long."""

    ids: list[int]  # token ids, with the special tokens around them
    # The contributions: word number (ascending), position in `ids`
    words: list[int]
    positions: list[int]


def lay_out(
    subwords: Sequence[list[int]], tokenizer: WordTokenizer, *, window: int, first: int = 0, is_whole: bool = False
) -> Iterator[Piece]:
    """Lay a sentence's sub-words out in pieces of at most `window` tokens, special tokens included.

    A sentence that fits is one piece. A longer one becomes windows that overlap by half. A word is taken from
    the window that holds all of it and in which it is furthest from an edge (the first of equals). A word that
    no window holds whole is taken sub-word by sub-word, by the same rule. Each word has at least one sub-word;
    `first` is the number of the first word. With `is_whole`, all sub-words of a word contribute.
    """
    prefix, suffix = tokenizer.prefix, tokenizer.suffix
    ids = [token for word in subwords for token in word]
    if not ids:
        return
    room = window - len(prefix) - len(suffix)
    n_tokens = len(ids)
    last = n_tokens - room
    starts = [*range(0, last, max(1, room // 2)), max(0, last)]
    taken = _by_window(subwords, starts, room, first, is_whole)
    for start, contributions in zip(starts, taken, strict=True):
        if not contributions:
            continue
        offset = len(prefix) - start
        yield Piece(
            ids=[*prefix, *ids[start : start + room], *suffix],
            words=[word for word, _ in contributions],
            positions=[position + offset for _, position in contributions],
        )


def _by_window(
    subwords: Sequence[list[int]], starts: list[int], room: int, first: int, is_whole: bool
) -> list[list[tuple[int, int]]]:
    """Return the contributions of each window, as (word, position in the sentence)."""
    taken: list[list[tuple[int, int]]] = [[] for _ in starts]
    a = 0
    for number, word in enumerate(subwords, first):
        b = a + len(word)
        best = _best_window(starts, room, a, b) if len(starts) > 1 else 0
        for position in range(a, b) if is_whole else (a, b - 1):
            holder = _best_window(starts, room, position, position + 1) if best is None else best
            assert holder is not None  # windows cover every token
            taken[holder].append((number, position))
        a = b
    return taken


def _best_window(starts: list[int], room: int, a: int, b: int) -> int | None:
    """Find the window that holds a..b-1 furthest from its edges; None if none holds them all."""
    best, best_distance = None, -1
    step = max(1, room // 2)
    # Windows start every `step` tokens, but for the last: only these few can hold position a.
    first = max(0, (a - room) // step)
    for i in range(first, len(starts)):
        if starts[i] > a:
            break
        distance = min(a - starts[i], starts[i] + room - b)
        if distance > best_distance:
            best, best_distance = i, distance
    return best


def pool(
    hidden: Float32, words: npt.NDArray[np.intp], positions: npt.NDArray[np.intp]
) -> tuple[npt.NDArray[np.intp], Float32]:
    """Gather the contributions (n_contributions,) into one vector per word; those of a word are neighbours.

    `hidden` has the shape (n_tokens, dim). The result is the words present (n_words,) and their vectors (n_words, dim).
    """
    starts = np.flatnonzero(np.diff(words, prepend=-1))
    if len(words) != 2 * len(starts) or not np.array_equal(words[::2], words[1::2]):  # a word is in two windows
        return words[starts], np.add.reduceat(hidden[positions] * np.float32(0.5), starts, axis=0)
    vectors = np.empty((len(starts), hidden.shape[1]), np.float32)
    for a in range(0, len(starts), _BLOCK):  # faster than `reduceat`
        places = positions[2 * a : 2 * (a + _BLOCK)]
        np.multiply(hidden[places[::2]], np.float32(0.5), out=vectors[a : a + _BLOCK])
        vectors[a : a + _BLOCK] += hidden[places[1::2]] * np.float32(0.5)
    return words[starts], vectors
