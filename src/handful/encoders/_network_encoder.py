"""`NetworkEncoder`: an encoder on any network that turns token ids into hidden vectors.

A `Network` turns token ids into hidden vectors: `handful.encoders._onnx` and `handful.encoders.hugging_face` have one
each. The rest is here and the same for both: splitting, windows, packing by length, pooling, writing.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from handful._util.progress import Progress, reporting
from handful.errors import DataError, EncoderError, ModelError
from handful.text import Transitions, to_sentence, types_of
from handful.text.guidelines import guideline_of

from .encoder import Encoder, words_of
from .names import NameHead, TypeVectors, no_names, text_of
from .pooling import Float32, Inputs, Piece, lay_out, pool
from .tokenizer import WordTokenizer

#: Part of every fingerprint. It must be raised when the same files begin to give other vectors.
_SCHEME = "handful features 1"

# Sentences are sorted by length within a chunk of as many words as this many batches have tokens: enough that little
# is padding, and memory does not grow with the corpus.
_CHUNK_BATCHES = 8

# The share of unknown words in a sentence from which nothing of it can be read. In English text hardly one word with
# letters in a thousand is unknown; in Chinese more than half are: the vocabulary of handful-en has 244 characters.
_UNREADABLE = 1 / 3


class Network(Protocol):
    """A network that turns tokens into hidden vectors."""

    def run(self, inputs: Inputs) -> Float32:
        """Return hidden vectors of shape (n_rows, n_tokens, dim)."""

    def identity(self) -> bytes:
        """Return bytes that change with the weights and settings of the network."""


class NetworkEncoder(Encoder):
    """One vector per word, with any network; `load` makes it.

    The network takes at most `window` tokens, special tokens included. Batches have at most `batch_tokens`, padding
    included: speed depends on it, results do not. If the network `reads_padding`, as with convolutions, only rows of
    one length share a batch. `names` turns the texts of types into vectors, if the encoder was trained for that.
    """

    def __init__(
        self,
        network: Network,
        tokenizer: WordTokenizer,
        *,
        dim: int,
        window: int,
        batch_tokens: int = 1024,
        precision: str | None = None,
        reads_padding: bool = False,
        transitions: Transitions | None = None,
        names: NameHead | None = None,
        languages: Sequence[str] = (),
    ) -> None:
        if window <= len(tokenizer.prefix) + len(tokenizer.suffix):
            raise EncoderError(f"a window of {window} tokens leaves no room for words")
        self.threads: int | None = None  # as `load` was asked for
        self.dim = dim
        self.window = window
        self.batch_tokens = batch_tokens
        self.precision = precision
        self.reads_padding = reads_padding
        self.transitions = transitions
        self.has_names = names is not None
        self.languages = tuple(languages)
        self._parts = network, tokenizer, names

    @property
    def network(self) -> Network:
        """The network that turns tokens into hidden vectors."""
        return self._parts[0]

    @property
    def tokenizer(self) -> WordTokenizer:
        """The tokenizer, which splits words into sub-words."""
        return self._parts[1]

    @property
    def names(self) -> NameHead | None:
        """The head that turns the texts of types into vectors."""
        return self._parts[2]

    @property
    def border(self) -> Float32 | None:  # type: ignore[override]
        """The vector that tells two mentions of one type, side by side, from one."""
        return None if self.names is None else self.names.border

    @cached_property
    def _parts(self) -> tuple[Network, WordTokenizer, NameHead | None]:
        """Network, tokenizer and head, which `__init__` sets; a copy, which comes without them, opens them here."""
        from .opened import load

        assert self.reference is not None  # otherwise `__getstate__` keeps them
        opened = load(self.reference, threads=self.threads, precision=self.precision)
        if opened.fingerprint != self.fingerprint:
            raise ModelError(f"the encoder {self.reference} is no longer the one that this copy was made from")
        return opened._parts

    @cached_property
    def fingerprint(self) -> str:  # type: ignore[override]
        """Digest of all that the vectors depend on: weights, tokenizer, window, scheme, names."""
        digest = hashlib.sha256()
        parts = [
            _SCHEME.encode(),
            self.network.identity(),
            self.tokenizer.content,
            b"first-last",  # how sub-words become a word
            b"%d" % self.window,
        ]
        if self.names is not None:
            parts.append(self.names.identity())
        for part in parts:
            digest.update(hashlib.sha256(part).digest())
        return digest.hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        """Return what a copy needs to find its files again; without a reference, everything."""
        state = {**self.__dict__, "fingerprint": self.fingerprint}
        if self.reference is not None:
            state.pop("_parts", None)
        return state

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dim={self.dim}, window={self.window})"

    def encode(self, sentences: Sequence[Any], *, progress: Progress = None) -> Float32:
        """Encode sentences, as `Encoder.encode` describes."""
        sentences = sentences if isinstance(sentences, Sequence) else list(sentences)
        total = sum(len(words_of(sentence, i)) for i, sentence in enumerate(sentences))
        vectors = np.zeros((total, self.dim), np.float32)
        n_done = 0
        with reporting(progress, total) as report:
            for chunk in _chunks(self._pieces(sentences), _CHUNK_BATCHES * self.batch_tokens):
                for batch in _batches(chunk, self.batch_tokens, is_even=self.reads_padding):
                    words, found = self._run(batch)
                    vectors[words] += found
                    if not np.isfinite(found).all():
                        raise EncoderError(
                            "the encoder gave values that are not finite: its weights are damaged or overflow"
                        )
                    n_done += len(words)
                    report(min(n_done, total), total)
        return vectors

    def unreadable(self, sentences: Sequence[Any]) -> npt.NDArray[np.bool_]:
        """Return for each word whether the encoder cannot read it.

        It cannot read a word that is made of unknown sub-words alone, such as an emoji or a word in a script that is
        not in its vocabulary. Where a third of the words with letters in a sentence are such words, it can read none
        of the sentence: the few letters of a foreign script that are in a vocabulary say nothing. Words that were
        encoded before are not split again.
        """
        found: list[bool] = []
        for i, sentence in enumerate(sentences):
            words = words_of(sentence, i)
            unknown = self.tokenizer.are_unknown(words)
            if any(unknown):
                of_letters = [lost for word, lost in zip(words, unknown, strict=True) if any(map(str.isalpha, word))]
                if any(of_letters) and sum(of_letters) >= _UNREADABLE * len(of_letters):
                    unknown = [True] * len(words)
            found += unknown
        return np.array(found, bool)

    def encode_types(self, types: Any) -> TypeVectors:
        """Encode types by their names and descriptions.

        The row of a type depends on its name and its description alone, to the last bit: the other types and their
        order do not matter.
        """
        if self.names is None:
            raise no_names(self.name)
        types, has_parts = types_of(types), self.names.exclusion is not None
        excluded = [
            (number, part.text)
            for number, one in enumerate(types)
            for part in (guideline_of(one.description).excludes if has_parts else ())
        ]
        texts = [text_of(one, has_parts=has_parts) for one in types] + [text for _, text in excluded]
        owners = [*types, *(types[number] for number, _ in excluded)]
        means = np.empty((len(texts), self.dim))
        for mean, text, one in zip(means, texts, owners, strict=True):
            try:
                words = to_sentence(text).words
            except DataError as error:  # the name has no visible character
                raise error.at(f"the type {one.name!r}") from None
            mean[:] = self._text_mean(words)
        with np.errstate(over="ignore", invalid="ignore"):
            found = TypeVectors.of(self.names, types, means, [number for number, _ in excluded])
        if not np.isfinite(means).all() or not np.isfinite(found.biases).all():  # the latter are squares
            raise EncoderError("the encoder gave values that are not finite: its weights are damaged or overflow")
        return found

    def _text_mean(self, words: Sequence[str]) -> npt.NDArray[np.float64]:
        """Return the mean over all sub-words of a text, each from its window; a batch would round differently."""
        pieces = list(lay_out(self.tokenizer(words), self.tokenizer, window=self.window, is_whole=True))
        hidden = [self._hidden([piece])[0, piece.positions] for piece in pieces]
        mean: npt.NDArray[np.float64] = np.concatenate(hidden).mean(axis=0, dtype=np.float64)
        return mean

    def _pieces(self, sentences: Iterable[Any]) -> Iterator[Piece]:
        """Yield the pieces of all sentences; words are numbered across sentences."""
        tokenizer = self.tokenizer
        n_before = 0
        for i, sentence in enumerate(sentences):
            words = words_of(sentence, i)
            try:
                subwords = tokenizer(words)
            except EncoderError as error:
                raise error.at(f"sentence {i}") from None
            yield from lay_out(subwords, tokenizer, window=self.window, first=n_before)
            n_before += len(words)

    def _run(self, pieces: list[Piece]) -> tuple[npt.NDArray[np.intp], Float32]:
        """Run the network on one batch; return the numbers of its words and their vectors."""
        hidden = self._hidden(pieces)
        rows = np.repeat(np.arange(len(pieces)) * hidden.shape[1], [len(piece.words) for piece in pieces])
        words = np.array([word for piece in pieces for word in piece.words], np.intp)
        positions = np.array([position for piece in pieces for position in piece.positions], np.intp)
        return pool(hidden.reshape(-1, self.dim), words, positions + rows)

    def _hidden(self, pieces: list[Piece]) -> Float32:
        """Run the network on one batch; return its vectors, of shape (n_rows, n_tokens, dim)."""
        lengths = [len(piece.ids) for piece in pieces]
        longest = max(lengths)
        ids = np.full((len(pieces), longest), self.tokenizer.pad_id, np.int64)
        mask = np.zeros_like(ids)
        for row, piece in enumerate(pieces):
            ids[row, : lengths[row]] = piece.ids
            mask[row, : lengths[row]] = 1
        hidden = self.network.run({"input_ids": ids, "attention_mask": mask})
        if hidden.shape != (*ids.shape, self.dim):
            raise EncoderError(
                f"the network gives an array of shape {hidden.shape} for {ids.shape[0]} rows of {ids.shape[1]} tokens, "
                f"where {self.dim} numbers per token were expected: its configuration or card is wrong"
            )
        return hidden


def _chunks(pieces: Iterable[Piece], chunk_words: int) -> Iterator[list[Piece]]:
    """Group consecutive pieces."""
    chunk: list[Piece] = []
    n_words = n_tokens = 0
    for piece in pieces:
        chunk.append(piece)
        n_words += piece.words[-1] + 1 - piece.words[0]
        n_tokens += len(piece.ids)
        if n_words >= chunk_words or n_tokens >= 4 * chunk_words:
            yield chunk
            chunk, n_words, n_tokens = [], 0, 0
    if chunk:
        yield chunk


def _batches(pieces: list[Piece], batch_tokens: int, *, is_even: bool) -> Iterator[list[Piece]]:
    """Yield pieces of like length together, longest first: there is little padding, or none with `is_even`."""
    batch: list[Piece] = []
    for piece in sorted(pieces, key=lambda piece: -len(piece.ids)):
        is_uneven = is_even and batch and len(piece.ids) != len(batch[0].ids)
        if batch and (is_uneven or (len(batch) + 1) * len(batch[0].ids) > batch_tokens):
            yield batch
            batch = []
        batch.append(piece)
    if batch:
        yield batch
