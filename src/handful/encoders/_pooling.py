"""Words to sub-words and back: what every encoder shares, whatever runs its network.

A sentence's words are split into sub-words, the sub-words laid out in one or more `Piece` (rows of a batch),
and the network's vectors gathered into one vector a word::

    vector[w] = sum over the contributions c with words[c] = w of weights[c] * hidden[positions[c]]

With "first-last" every word has two contributions of 1/2: its first and its last sub-word (twice the same one
where it has only one). Nothing here knows of a network, so training and inference lay words out alike.
"""

import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from handful.errors import EncoderError

from ._shapes import word_shape

__all__ = ["POOLINGS", "Piece", "WordTokenizer", "lay_out", "pool"]

POOLINGS = ("first-last", "first", "last", "mean")
_REMEMBERED_WORDS = 2**18
_BLOCK = 256  # words pooled at a time: what lies between stays in the processor's cache

Float32 = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Piece:
    """One row of a batch: a sentence, or a window of one that is too long.

    Attributes
    ----------
    ids
        Token ids, with the special tokens around them.
    words, positions, weights
        The contributions: word number (ascending), position in `ids`, share in the word's vector.
    is_open
        Whether the last word is continued in the next piece, because it is longer than the window by itself.
    """

    ids: list[int]
    words: list[int]
    positions: list[int]
    weights: list[float]
    is_open: bool = False


class WordTokenizer:
    """Splits words into sub-word ids, one word at a time, and remembers what it split.

    Parameters
    ----------
    split
        Gives the sub-word ids of each of a list of words, without special tokens.
    prefix, suffix
        The special tokens before and after a sentence.
    pad_id
        Fills the rest of a row.
    unknown_id
        Stands for a word of which the tokenizer leaves nothing (a control character, an empty string).
    content
        Bytes that change whenever the splitting does; they go into the encoder's fingerprint.
    shape_stride
        Where not 0, ids carry the shape of their word, see `handful.encoders._shapes`.
    """

    def __init__(
        self,
        split: Callable[[list[str]], list[list[int]]],
        *,
        prefix: Sequence[int],
        suffix: Sequence[int],
        pad_id: int,
        unknown_id: int,
        content: bytes,
        shape_stride: int = 0,
    ) -> None:
        self.prefix = list(prefix)
        self.suffix = list(suffix)
        self.pad_id = pad_id
        self.unknown_id = unknown_id
        self.content = content if not shape_stride else content + b"\nword shapes 1 %d" % shape_stride
        self.shape_stride = shape_stride
        self._split = split
        self._known: dict[str, list[int]] = {}

    @classmethod
    def from_json(cls, text: str, *, pad_id: int, unknown_id: int, shape_stride: int = 0) -> "WordTokenizer":
        """Read the content of a ``tokenizer.json``; its truncation and padding are left aside."""
        from tokenizers import Tokenizer

        text = with_leading_space(text)
        lead = " " if _needs_a_space(json.loads(text)) else ""
        try:
            tokenizer = Tokenizer.from_str(text)
            tokenizer.no_truncation()
            tokenizer.no_padding()
            sample = tokenizer.encode(["a"], is_pretokenized=True, add_special_tokens=True)
        except Exception as error:  # the library raises bare exceptions
            raise EncoderError(f"tokenizer.json cannot be read by the tokenizers library: {error}") from None
        special = sample.special_tokens_mask
        start = special.index(0) if 0 in special else len(special)
        end = len(special) - special[::-1].index(0) if 0 in special else len(special)

        def split(words: list[str]) -> list[list[int]]:
            batch = [[lead + word if word.strip() else word] for word in words]
            try:
                encodings = tokenizer.encode_batch(batch, is_pretokenized=True, add_special_tokens=False)
            except Exception as error:
                raise EncoderError(f"the tokenizer cannot split a word: {error}") from None
            return [encoding.ids for encoding in encodings]

        return cls(
            split,
            prefix=sample.ids[:start],
            suffix=sample.ids[end:],
            pad_id=pad_id,
            unknown_id=unknown_id,
            content=f"{text}\n{pad_id} {unknown_id}{lead}".encode(),
            shape_stride=shape_stride,
        )

    @property
    def n_special(self) -> int:
        """How many special tokens a row holds."""
        return len(self.prefix) + len(self.suffix)

    def __call__(self, words: Sequence[str]) -> list[list[int]]:
        """Give the sub-word ids of each word, at least one a word."""
        try:
            return [self._known[word] for word in words]
        except (KeyError, TypeError):  # TypeError: a word that is no str
            pass
        for word in words:
            if not isinstance(word, str):
                raise EncoderError(f"words are str, found {word!r}")
        # Another thread may start a new memory at any time: this one is kept until the answer is there.
        known = self._known
        if len(known) > _REMEMBERED_WORDS:
            known = self._known = {}
        new = list(dict.fromkeys(word for word in words if word not in known))
        # A lone surrogate is no text; the tokenizer sees a replacement character in its place.
        texts = [word.encode("utf-16", "surrogatepass").decode("utf-16", "replace") for word in new]
        for word, ids in zip(new, self._split(texts), strict=True):
            shift = self.shape_stride * word_shape(word) if self.shape_stride else 0
            known[word] = [token + shift for token in ids or [self.unknown_id]]
        return [known[word] for word in words]


def with_leading_space(text: str) -> str:
    """Make a ``tokenizer.json`` split every word as it stands inside a sentence: after a space.

    Byte-level BPE and SentencePiece write the space into the sub-word ("Ġword", "▁word"); some files ask for
    it only between words of one text, but words are split one at a time here.
    """
    try:
        settings = json.loads(text)
        steps = settings["pre_tokenizer"]
        if not isinstance(settings["model"], dict):
            raise TypeError
        for number, step in enumerate(_steps(steps, "pretokenizers")):
            # After a step that cuts words up, each part would get its own space: see `_needs_a_space`.
            if step["type"] == "ByteLevel" and number == 0:
                step["add_prefix_space"] = True
            elif step["type"] == "Metaspace":
                step["prepend_scheme"] = "always"
                step.pop("add_prefix_space", None)
        _needs_a_space(settings)  # for its errors: it is asked again when the file is used
    except (ValueError, KeyError, TypeError, AttributeError):
        raise EncoderError("tokenizer.json is not JSON of the tokenizers library") from None
    return json.dumps(settings, ensure_ascii=False)


def _steps(setting: Any, name: str) -> list[dict[str, Any]]:
    """Give the steps of a pre-tokenizer or normalizer, which may be none, one, or a sequence."""
    return list(setting.get(name, [setting])) if setting else []


def _needs_a_space(settings: dict[str, Any]) -> bool:
    """Tell whether a word must be given with the space before it, because no step of the file can add it.

    So it is where bytes are taken after another step has cut the word, and where a space is replaced by "▁" but none is
    put before.
    """
    cuts = [step["type"] for step in _steps(settings.get("pre_tokenizer"), "pretokenizers")]
    changes = _steps(settings.get("normalizer"), "normalizers")
    kinds = {step["type"] for step in changes}
    is_replaced = any(step["type"] == "Replace" and step.get("content") == "▁" for step in changes)
    return "ByteLevel" in cuts[1:] or (is_replaced and "Prepend" not in kinds and "Metaspace" not in cuts)


def lay_out(
    subwords: Sequence[list[int]], tokenizer: WordTokenizer, *, window: int, pooling: str, first: int = 0
) -> Iterator[Piece]:
    """Lay a sentence's sub-words out in pieces of at most `window` tokens, special tokens included.

    A sentence that fits is one piece. A longer one becomes windows that overlap by half; a word is taken from
    the window that holds all of it and where it is furthest from an edge (the first of equals). A word that
    no window holds whole is taken sub-word by sub-word, by the same rule.

    Parameters
    ----------
    subwords
        The sub-word ids of each word, at least one a word.
    tokenizer
        Gives the special tokens.
    window
        The most tokens that the network takes.
    pooling
        One of `POOLINGS`.
    first
        The number of the first word.

    Yields
    ------
    Piece
        In the order of the words they hold.
    """
    prefix, suffix = tokenizer.prefix, tokenizer.suffix
    ids = [token for word in subwords for token in word]
    if not ids:
        return
    room = window - len(prefix) - len(suffix)
    n_tokens = len(ids)
    if n_tokens <= room:
        starts = [0]
    else:
        step = max(1, room // 2)
        starts = [*range(0, n_tokens - room, step), n_tokens - room]
    # Contributions of each window, as (word, position in the sentence, weight).
    taken: list[list[tuple[int, int, float]]] = [[] for _ in starts]
    a = 0
    for number, word in enumerate(subwords, first):
        b = a + len(word)
        wanted = _contributions(a, b, pooling)
        best = _best_window(starts, room, a, b) if len(starts) > 1 else 0
        for position, weight in wanted:
            if best is None:
                holder = _best_window(starts, room, position, position + 1)
                assert holder is not None  # windows cover every token
            else:
                holder = best
            taken[holder].append((number, position, weight))
        a = b
    taking = [i for i, contributions in enumerate(taken) if contributions]
    for i, following in zip(taking, [*taking[1:], None], strict=True):
        start, contributions = starts[i], taken[i]
        offset = len(prefix) - start
        yield Piece(
            ids=[*prefix, *ids[start : start + room], *suffix],
            words=[word for word, _, _ in contributions],
            positions=[position + offset for _, position, _ in contributions],
            weights=[weight for _, _, weight in contributions],
            is_open=following is not None and taken[following][0][0] == contributions[-1][0],
        )


def _contributions(a: int, b: int, pooling: str) -> list[tuple[int, float]]:
    """Which of the sub-words a..b-1 make up a word's vector, and with what weight."""
    if pooling == "first-last":
        return [(a, 0.5), (b - 1, 0.5)]
    if pooling == "first":
        return [(a, 1.0)]
    if pooling == "last":
        return [(b - 1, 1.0)]
    return [(position, 1 / (b - a)) for position in range(a, b)]


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
    hidden: Float32, words: npt.NDArray[np.intp], positions: npt.NDArray[np.intp], weights: Float32
) -> tuple[npt.NDArray[np.intp], Float32]:
    """Gather the contributions into one vector a word.

    Parameters
    ----------
    hidden
        Shape (n_tokens, dim).
    words, positions, weights
        Shape (n_contributions,): a word's contributions stand side by side.

    Returns
    -------
    tuple
        The words present, shape (n_words,), and their vectors, shape (n_words, dim).
    """
    starts = np.flatnonzero(np.diff(words, prepend=-1))
    n_each = len(words) // max(1, len(starts))
    if n_each * len(starts) == len(words) and np.array_equal(words, np.repeat(words[starts], n_each)):
        # As many contributions for every word (all poolings but "mean"): no need to walk the segments.
        vectors = np.empty((len(starts), hidden.shape[1]), np.float32)
        for a in range(0, len(starts), _BLOCK):
            block = vectors[a : a + _BLOCK]
            own = slice(a * n_each, (a + len(block)) * n_each)
            places, shares = positions[own], weights[own, None]
            np.multiply(hidden[places[::n_each]], shares[::n_each], out=block)
            for i in range(1, n_each):
                block += hidden[places[i::n_each]] * shares[i::n_each]
        return words[starts], vectors
    return words[starts], np.add.reduceat(hidden[positions] * weights[:, None], starts, axis=0)
