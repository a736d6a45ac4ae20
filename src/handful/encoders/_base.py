"""`load` an encoder; `Encoder` turns sentences into one vector a word.

What runs the network (`onnx`, `transformers`) gives one function, token ids to hidden vectors. All else is
here and the same for both: splitting, windows, packing by length, pooling, writing.
"""

import hashlib
import operator
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from handful._util.progress import ProgressCallback, reporting
from handful.errors import DataError, EncoderError

from ._pooling import POOLINGS, Float32, Piece, WordTokenizer, lay_out, pool
from ._writing import check_out, fill, write

__all__ = ["EMBEDDED", "Encoder", "load"]

#: The encoders inside the package, by name, and where their files lie.
EMBEDDED = {"handful-en": Path(__file__).parent / "en"}

#: Part of every fingerprint: to be raised when the same files begin to give other vectors.
_SCHEME = "handful features 1"

# Sentences are sorted by length within a chunk of as many words as this many batches have tokens: enough that little
# is padding, and memory does not grow with the corpus.
_CHUNK_BATCHES = 8

# Where Linux tells a container how much of the processors it may use.
_QUOTA = Path("/sys/fs/cgroup/cpu.max")

#: Named inputs of a network, each of shape (n_rows, n_tokens), to hidden vectors (n_rows, n_tokens, dim).
Network = Callable[[dict[str, npt.NDArray[np.int64]]], Float32]


class Encoder:
    """One vector a word, whatever runs the network.

    Made by `load`. The vector of a word depends on its sentence only, not on what else is encoded with it.

    Parameters
    ----------
    network
        Gives hidden vectors for ``input_ids`` and ``attention_mask``.
    tokenizer
        Splits words into sub-words.
    dim
        The length of a vector.
    window
        The most tokens that the network takes, special tokens included.
    pooling
        One of `POOLINGS`.
    identity
        Gives bytes that change with the network's weights and settings; called once, when the fingerprint is
        wanted.
    batch_tokens
        The most tokens in a batch, padding included. Speed depends on it, results do not.
    precision
        What `load` must be asked for to give the same vectors on another machine; None where the folder decides.
    reads_padding
        Whether padding changes the vectors of the tokens before it, as with convolutions; then only rows of one length
        share a batch.
    """

    name = ""  # what whoever loaded it calls it, for ``handful cache``

    def __init__(
        self,
        network: Network,
        tokenizer: WordTokenizer,
        *,
        dim: int,
        window: int,
        pooling: str,
        identity: Callable[[], bytes],
        batch_tokens: int = 1024,
        precision: str | None = None,
        reads_padding: bool = False,
    ) -> None:
        if pooling not in POOLINGS:
            raise EncoderError(f"pooling is one of {', '.join(POOLINGS)}; found {pooling!r}")
        if window <= tokenizer.n_special:
            raise EncoderError(f"a window of {window} tokens leaves no room for words")
        self.name = ""  # `load` says how it was asked for
        self.dim = dim
        self.window = window
        self.pooling = pooling
        self.batch_tokens = batch_tokens
        self.precision = precision
        self.reads_padding = reads_padding
        self.tokenizer = tokenizer
        self._network = network
        self._identity = identity

    @cached_property
    def fingerprint(self) -> str:
        """Digest of all that the vectors depend on: weights, layers, tokenizer, pooling, window, scheme."""
        digest = hashlib.sha256()
        parts = (
            _SCHEME.encode(),
            self._identity(),
            self.tokenizer.content,
            self.pooling.encode(),
            b"%d" % self.window,
        )
        for part in parts:
            digest.update(hashlib.sha256(part).digest())
        return digest.hexdigest()

    def __repr__(self) -> str:
        return f"{type(self).__name__}(dim={self.dim}, window={self.window}, pooling={self.pooling!r})"

    def encode(
        self,
        sentences: Sequence[Any],
        *,
        out: str | os.PathLike[str] | npt.NDArray[Any] | None = None,
        progress: bool | ProgressCallback | None = None,
    ) -> npt.NDArray[Any]:
        """Encode sentences.

        Parameters
        ----------
        sentences
            Objects with a ``words`` attribute (`handful.Sentence`), or sequences of words (str).
        out
            None: the vectors come back in memory, as float32. An array of shape (number of words, dim),
            float16 or float32, usually memory-mapped: they are written into it. A path: they are written to a
            ``.npy`` file there, as float32, which appears when it is complete, and comes back memory-mapped.
            With a path, memory does not grow with the number of words.
        progress
            True, a bar on standard error; False, none; None, a bar if standard error is a terminal and it
            takes long; a function, called with the words done and the words in all.

        Returns
        -------
        ndarray of shape (number of words, dim)
            One row a word, in the order of the input.
        """
        if isinstance(sentences, str):
            raise EncoderError("sentences are lists of words, found one str; split it into words first")
        sentences = sentences if isinstance(sentences, Sequence) else list(sentences)
        total = sum(len(_words(sentence, i)) for i, sentence in enumerate(sentences))
        if out is not None and not isinstance(out, str | os.PathLike | np.ndarray):
            raise DataError(f"out must be an array, a path or None, found {type(out).__name__}")
        if isinstance(out, np.ndarray):
            check_out(out, (total, self.dim))
        with reporting(progress, total) as report:
            vectors = self._vectors(sentences, total, report)
            if out is None:
                out = np.empty((total, self.dim), np.float32)
            if isinstance(out, np.ndarray):
                return fill(out, vectors)
            return write(Path(out), vectors, (total, self.dim))

    def _vectors(self, sentences: Iterable[Any], total: int, report: ProgressCallback) -> Iterator[Float32]:
        """Vectors of all words, in order, a chunk at a time."""
        done = 0
        for chunk in _chunks(self._pieces(sentences), _CHUNK_BATCHES * self.batch_tokens):
            n_words = chunk[-1].words[-1] + 1 - done
            vectors = np.zeros((n_words, self.dim), np.float32)
            n_seen = 0
            for batch in _batches(chunk, self.batch_tokens, is_even=self.reads_padding):
                words, found = self._run(batch)
                vectors[words - done] += found
                n_seen += len(words)
                report(done + min(n_seen, n_words), total)
            if not np.isfinite(vectors).all():
                raise EncoderError("the encoder gave values that are not finite: its weights are damaged or overflow")
            done += n_words
            yield vectors
            del chunk, vectors  # before the next ones are made

    def _pieces(self, sentences: Iterable[Any]) -> Iterator[Piece]:
        """Pieces of all sentences, with words numbered through."""
        n_before = 0
        for i, sentence in enumerate(sentences):
            words = _words(sentence, i)
            try:
                subwords = self.tokenizer(words)
            except EncoderError as error:
                raise EncoderError(f"sentence {i}: {error}") from None
            yield from lay_out(subwords, self.tokenizer, window=self.window, pooling=self.pooling, first=n_before)
            n_before += len(words)

    def _run(self, pieces: list[Piece]) -> tuple[npt.NDArray[np.intp], Float32]:
        """Run the network on one batch; give the numbers of its words and their vectors."""
        lengths = [len(piece.ids) for piece in pieces]
        longest = max(lengths)
        ids = np.full((len(pieces), longest), self.tokenizer.pad_id, np.int64)
        mask = np.zeros_like(ids)
        for row, piece in enumerate(pieces):
            ids[row, : lengths[row]] = piece.ids
            mask[row, : lengths[row]] = 1
        hidden = self._network({"input_ids": ids, "attention_mask": mask})
        if hidden.shape != (*ids.shape, self.dim):
            raise EncoderError(
                f"the network gives an array of shape {hidden.shape} for {ids.shape[0]} rows of {ids.shape[1]} tokens, "
                f"where {self.dim} numbers a token were expected: its configuration or card is wrong"
            )
        rows = np.repeat(np.arange(len(pieces)) * longest, [len(piece.words) for piece in pieces])
        words = np.array([word for piece in pieces for word in piece.words], np.intp)
        positions = np.array([position for piece in pieces for position in piece.positions], np.intp)
        weights = np.array([weight for piece in pieces for weight in piece.weights], np.float32)
        return pool(hidden.reshape(-1, self.dim), words, positions + rows, weights)


def load(
    name_or_path: str | os.PathLike[str],
    *,
    layers: int | Sequence[int] = -1,
    pooling: str = "first-last",
    threads: int | None = None,
    precision: str | None = None,
) -> Encoder:
    """Load an encoder.

    Parameters
    ----------
    name_or_path
        The name of an embedded encoder (see `EMBEDDED`); a folder that ``handful export-encoder`` wrote; or,
        with the extra ``transformers``, a folder in the Hugging Face layout or a name on its hub.
    layers
        Which hidden layer, or which layers to take the mean of: 0 is the embeddings, -1 the last layer.
    pooling
        How a word's sub-words become one vector: "first-last" (the mean of the two), "first", "last" or
        "mean".
    threads
        How many threads to use; None, as many as this process may use.
    precision
        "float32" or "int8" for exported folders: a check of what the folder holds. "float32", "bfloat16" or
        "float16" for Hugging Face encoders; None, bfloat16 on a GPU and float32 elsewhere.

    Returns
    -------
    Encoder
        With ``dim``, ``fingerprint`` and ``encode``.
    """
    try:
        wanted = tuple(map(_whole, layers if isinstance(layers, Sequence | np.ndarray) else [layers]))
    except TypeError:
        wanted = ()
    if not wanted:
        raise EncoderError(f"layers is a whole number or a list of them, found {layers!r}")
    if pooling not in POOLINGS:
        raise EncoderError(f"pooling is one of {', '.join(POOLINGS)}; found {pooling!r}")
    if threads is not None and not (isinstance(threads, int | np.integer) and threads >= 1):
        raise EncoderError(f"threads is a whole number of at least 1, found {threads!r}")
    name = os.fspath(name_or_path)
    path = EMBEDDED.get(name, Path(name))
    if name in EMBEDDED and not path.is_dir():
        raise EncoderError(f"the encoder {name!r} is not in this build of handful: {path} is missing; {_CHOICES}")
    if (path / "encoder.json").is_file() or (path / "model.onnx").is_file():
        from ._onnx import load_onnx

        encoder = load_onnx(path, layers=wanted, pooling=pooling, threads=threads, precision=precision)
        encoder.name = name
        return encoder
    if path.is_dir() and not (path / "config.json").is_file():
        raise EncoderError(f"the folder {path} holds neither encoder.json nor config.json; {_CHOICES}")
    if not path.is_dir() and (path.exists() or path.is_absolute() or name.startswith(".") or name.count("/") > 1):
        found = "is a file" if path.exists() else "does not exist"
        raise EncoderError(f"no encoder at {path}: it {found}; {_CHOICES}")
    from ._transformers import load_transformers

    encoder = load_transformers(name, layers=wanted, pooling=pooling, threads=threads, precision=precision)
    encoder.name = name
    return encoder


_CHOICES = (
    f"give an embedded name ({', '.join(EMBEDDED)}), a folder written by `handful export-encoder` "
    "(encoder.json, model.onnx, tokenizer.json), or, after `pip install 'handful[transformers]'`, "
    "a Hugging Face folder (config.json, model.safetensors, tokenizer.json, tokenizer_config.json) or hub name"
)


def _whole(number: Any) -> int:
    """Give a whole number as an int; a TypeError for anything else."""
    if isinstance(number, bool):
        raise TypeError
    return operator.index(number)


def usable_threads() -> int:
    """How many processors this process may use: its affinity, and a container's quota where there is one."""
    affinity = getattr(os, "sched_getaffinity", None)
    n = len(affinity(0)) if affinity else os.cpu_count() or 1
    try:
        quota, period = _QUOTA.read_text(encoding="ascii").split()
        return max(1, min(n, round(int(quota) / int(period))))
    except (OSError, ValueError):  # no such file, or no quota ("max")
        return n


def absolute_layers(layers: Sequence[int], n_layers: int) -> tuple[int, ...]:
    """Give layers as numbers from 0 (the embeddings) to `n_layers` (the last), in order, each once."""
    for layer in layers:
        if not -n_layers - 1 <= layer <= n_layers:
            raise EncoderError(f"layer {layer} does not exist: layers go from 0 (the embeddings) to {n_layers}")
    return tuple(sorted({layer % (n_layers + 1) for layer in layers}))


def _words(sentence: Any, number: int) -> Sequence[str]:
    words = getattr(sentence, "words", sentence)
    if isinstance(words, str) or not isinstance(words, Sequence):
        found = f"a str ({words[:40]!r})" if isinstance(words, str) else f"{type(words).__name__}"
        raise EncoderError(f"sentence {number} must be a list of words, found {found}; split texts into words first")
    return words


def _chunks(pieces: Iterable[Piece], chunk_words: int) -> Iterator[list[Piece]]:
    """Group consecutive pieces; a chunk never ends inside a word."""
    chunk: list[Piece] = []
    n_words = n_tokens = 0
    for piece in pieces:
        chunk.append(piece)
        n_words += piece.words[-1] + 1 - piece.words[0]
        n_tokens += len(piece.ids)
        if (n_words >= chunk_words or n_tokens >= 4 * chunk_words) and not piece.is_open:
            yield chunk
            chunk, n_words, n_tokens = [], 0, 0
    if chunk:
        yield chunk


def _batches(pieces: list[Piece], batch_tokens: int, *, is_even: bool) -> Iterator[list[Piece]]:
    """Pieces of like length together, longest first, so that little is padding, or nothing with `is_even`."""
    batch: list[Piece] = []
    for piece in sorted(pieces, key=lambda piece: -len(piece.ids)):
        is_uneven = is_even and batch and len(piece.ids) != len(batch[0].ids)
        if batch and (is_uneven or (len(batch) + 1) * len(batch[0].ids) > batch_tokens):
            yield batch
            batch = []
        batch.append(piece)
    if batch:
        yield batch
