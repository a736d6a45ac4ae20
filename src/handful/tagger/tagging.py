"""Documents in, the same documents with their mentions out: the one place where text is cut into batches."""

import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful._util.parallel import one_blas_thread
from handful._util.progress import Progress, reporting
from handful.encoders import Encoder
from handful.errors import HandfulError
from handful.text import Document, Sentence, Span

from .decoding import decode
from .layers import Layered
from .model import Model, TagModel

FIRST, MOST = 256, 8192  # words in a batch: few at first, so that answers come soon, then more, which is faster
PATIENCE = 0.05  # seconds that a text waits for others to share its batch, where texts come as they are written
REPORTED = 1_000  # words after which progress is reported

Item = TypeVar("Item")

MinScore = float | Mapping[str, float]
"""The least score of a mention: of all types, or by the names of some."""

Notice = Callable[[Sequence[Sentence], NDArray[np.bool_]], None]
"""Called with the sentences of a batch, and for each of their words whether the encoder cannot read it."""


@dataclass(frozen=True)
class TaggedWords:
    """A sentence, and what was found for its words."""

    sentence: Sentence  # with its mentions, which have scores
    features: Float  # (n_words, dim)
    scores: NDArray[np.float64]  # (n_words, n_tags)
    tags: NDArray[np.intp]  # (n_words,)


def tag_documents(
    encoder: Encoder,
    model: TagModel,
    documents: Iterable[Document],
    min_score: MinScore = 0.0,
    progress: Progress = False,
    notice: Notice | None = None,
) -> Iterator[Document]:
    """Yield documents with the mentions found in them, in order, holding few at a time; see `_tag_documents`."""
    sentences: list[Sentence] = []
    for found in _tag_documents(encoder, model, documents, progress, notice):
        if isinstance(found, TaggedWords):
            sentences.append(_at_least(found.sentence, min_score))
        else:
            yield found.with_sentences(sentences)
            sentences = []


def tag_words(
    encoder: Encoder, model: TagModel, documents: Iterable[Document], progress: Progress = False
) -> Iterator[TaggedWords]:
    """Yield the sentences of documents, tagged, one after the other; see `_tag_documents`."""
    found = _tag_documents(encoder, model, documents, progress)
    return (one for one in found if isinstance(one, TaggedWords))


def _tag_documents(
    encoder: Encoder,
    model: TagModel,
    documents: Iterable[Document],
    progress: Progress,
    notice: Notice | None = None,
) -> Iterator[TaggedWords | Document]:
    """Yield the sentences of documents, tagged, and each document after its sentences.

    `documents` may have ``is_ready(seconds)`` and ``share``, as `handful.text.Stream` has: texts that have come are
    then tagged before others are waited for, and progress knows how much is left.
    """
    parts = _Parts(documents)
    n_done = n_reported = 0
    with reporting(progress, None, "tagging") as report:
        for found in _tag(encoder, model, parts, FIRST, notice):
            yield found
            n_done += len(found.tags) if isinstance(found, TaggedWords) else 0
            if n_done - n_reported >= REPORTED:
                n_reported = n_done
                report(n_done, parts.n_words_in_all())
        report(n_done, n_done)


def tag_sentences(
    encoder: Encoder, model: TagModel, sentences: Iterable[Sentence], notice: Notice | None = None
) -> Iterator[TaggedWords]:
    """Yield sentences with their mentions, and the features, scores and tags of their words."""
    return _tag(encoder, model, sentences, MOST, notice)  # type: ignore[return-value]  # there is no document


class _Parts:
    """The sentences of documents, and each document after its last sentence."""

    def __init__(self, documents: Iterable[Document]) -> None:
        self._documents = iter(documents)
        self._left: deque[Sentence | Document] = deque()
        self._n_words = 0

    def __iter__(self) -> Iterator[Sentence | Document]:
        return self

    def __next__(self) -> Sentence | Document:
        if not self._left:
            document = next(self._documents)
            self._n_words += document.n_words
            self._left.extend([*document.sentences, document])
        return self._left.popleft()

    def is_ready(self, seconds: float) -> bool:
        """Tell whether there is something that needs not be waited for, or will be within seconds."""
        return bool(self._left) or _is_ready(self._documents, seconds)

    def n_words_in_all(self) -> int:
        """Return how many words there are in all, as far as can be said; 0 where nothing can."""
        share = getattr(self._documents, "share", None)
        return round(self._n_words / share) if share else 0


def _tag(
    encoder: Encoder,
    model: TagModel,
    parts: Iterable[Sentence | Document],
    size: int,
    notice: Notice | None,
) -> Iterator[TaggedWords | Document]:
    """Yield sentences, tagged, and documents as they are.

    A word that the encoder cannot read is O: nothing that was learned holds for its vector.
    """
    names = [one.name for one in model.types]
    with closing(_encode(encoder, parts, size)) as encoded:  # an error ends its thread, too
        for batch, features, lost in encoded:
            sentences = _sentences(batch)
            if not sentences:
                yield from batch  # type: ignore[misc]  # documents
                continue
            if notice is not None:
                notice(sentences, lost)
            n_words = [len(sentence.words) for sentence in sentences]
            layered = model if isinstance(model, Model) and model.layers else None
            with one_blas_thread(with_scipy=False):  # its threads would get in the way of the encoder's
                known = None if layered is None else layered.cosines(features, sentences)
                if layered is None:
                    scores, tags = model.tag(features, sentences)
                else:
                    scores, tags = layered.tag(features, sentences, known)
            tags[lost] = 0
            cuts = np.cumsum(n_words)[:-1]
            arrays = zip(*(np.split(array, cuts) for array in (features, scores, tags)), strict=True)
            begins = None if model.seams is None else model.seams.begins(features, tags, n_words)
            found = decode(scores, n_words, names, tags, begins)
            if layered is not None:
                found = Layered(layered, features, sentences, lost, known).spans(found, layered.find)
            spans = iter(found)
            for part in batch:
                if isinstance(part, Document):
                    yield part
                else:
                    yield TaggedWords(replace(part, spans=next(spans), allowed=None), *next(arrays))


def _encode(
    encoder: Encoder, parts: Iterable[Sentence | Document], size: int
) -> Generator[tuple[list[Sentence | Document], Float, NDArray[np.bool_]]]:
    """Yield batches, with the features of their words, and for each word whether the encoder cannot read it.

    A thread encodes a batch while the one before it is tagged and the one after it is read. The first batch is
    answered before more is read, and so is every batch after which text has to be waited for. The thread ends with the
    generator.
    """
    from concurrent.futures import Future, ThreadPoolExecutor

    is_over, is_first = False, True

    def watch(done: int, total: int) -> None:
        if is_over:
            raise InterruptedError  # nobody wants the rest

    def encode(sentences: list[Sentence]) -> tuple[Float, NDArray[np.bool_]]:
        if not sentences:
            return np.empty((0, encoder.dim), np.float32), np.empty(0, bool)
        return encoder.encode(sentences, progress=watch), encoder.unreadable(sentences)

    parts = iter(parts)
    grouped = batches(parts, lambda part: 1 if isinstance(part, Document) else len(part.words), size)
    running: list[tuple[list[Sentence | Document], Future[tuple[Float, NDArray[np.bool_]]]]] = []  # one, or none
    with ThreadPoolExecutor(1, "handful-encode") as pool:
        try:
            while True:
                batch = fault = None
                is_due = bool(running) and (is_first or not _is_ready(parts, 0))
                try:
                    batch = None if is_due else next(grouped, None)
                except Exception as error:  # it is raised after the answers to what came before
                    fault = error
                done = [(before, future.result()) for before, future in running]
                running = [] if batch is None else [(batch, pool.submit(encode, _sentences(batch)))]
                for before, encoded in done:
                    yield before, *encoded
                if fault is not None:
                    raise fault
                is_first = not is_due and is_first
                if batch is None and not is_due:
                    return
        finally:
            is_over = True


def _sentences(batch: Iterable[Sentence | Document]) -> list[Sentence]:
    return [part for part in batch if isinstance(part, Sentence)]


def _is_ready(items: Iterator[Any], seconds: float) -> bool:
    """Tell whether the next item needs not be waited for, or will be there within seconds; most cannot say."""
    is_ready: Callable[[float], bool] | None = getattr(items, "is_ready", None)
    return is_ready is None or is_ready(seconds)


def batches(items: Iterable[Item], size_of: Callable[[Item], int], size: int) -> Iterator[list[Item]]:
    """Group items until they have `size` words, and twice as many each time, up to `MOST`.

    Where the next item is not there yet (``items.is_ready``), those that are do not wait for it.
    """
    batch: list[Item] = []
    n_words, until = 0, 0.0
    items = iter(items)
    while True:
        try:
            is_whole = bool(batch) and not _is_ready(items, until - time.monotonic())
            if not is_whole:
                item = next(items)
        except StopIteration:
            break
        except HandfulError:
            if batch:
                yield batch  # what came before the fault is not lost
            raise
        if is_whole:
            yield batch
            batch, n_words = [], 0
            continue
        if not batch:
            until = time.monotonic() + PATIENCE
        batch.append(item)
        n_words += size_of(item)
        if n_words >= size:
            yield batch
            batch, n_words, size = [], 0, min(2 * size, MOST)
    if batch:
        yield batch


def is_sure(span: Span, min_score: MinScore) -> bool:
    """Whether a mention has at least the score that is asked for, of all types or of its own."""
    least = min_score.get(span.type, 0.0) if isinstance(min_score, Mapping) else min_score
    return (span.score or 0.0) >= least


def _at_least(sentence: Sentence, min_score: MinScore) -> Sentence:
    """Return a sentence without the mentions of a lower score."""
    kept: tuple[Span, ...] = tuple(span for span in sentence.spans or () if is_sure(span, min_score))
    return sentence if len(kept) == len(sentence.spans or ()) else replace(sentence, spans=kept)
