"""Documents in, the same documents with their mentions out: the one place where text is cut into batches."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful._util.progress import Progress, ProgressCallback, reporting
from handful.encoders import Encoder
from handful.errors import HandfulError
from handful.text import Document, Sentence, Span

from .decoding import decode
from .model import TagModel

__all__ = ["MinScore", "Notice", "TaggedWords", "is_sure", "tag_batches", "tag_documents", "tag_sentences"]

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
    """A sentence, and what was found for its words.

    Attributes
    ----------
    sentence : with its mentions, which have scores
    features : (n_words, dim)
    scores : (n_words, n_tags)
    tags : (n_words,)
    """

    sentence: Sentence
    features: Float
    scores: NDArray[np.float64]
    tags: NDArray[np.intp]


def tag_documents(
    encoder: Encoder,
    model: TagModel,
    documents: Iterable[Document],
    min_score: MinScore = 0.0,
    progress: Progress = False,
    notice: Notice | None = None,
) -> Iterator[Document]:
    """Yield documents with the mentions found in them, in order, holding few at a time; see `tag_batches`."""
    for batch, found in tag_batches(encoder, model, documents, progress, notice):
        for document in batch:
            yield document.with_sentences([_at_least(next(found).sentence, min_score) for _ in document.sentences])


def tag_batches(
    encoder: Encoder,
    model: TagModel,
    documents: Iterable[Document],
    progress: Progress = False,
    notice: Notice | None = None,
) -> Iterator[tuple[list[Document], Iterator[TaggedWords]]]:
    """Yield some documents at a time, and their sentences, tagged, one after the other.

    What `documents` is may have ``is_ready(seconds)`` and ``share``, as `handful.text.Stream` has: texts that have
    come are then tagged before others are waited for, and progress knows how much is left.
    """
    documents = iter(documents)
    n_words = 0
    with reporting(progress, None, "tagging") as report:
        for batch in batches(documents, lambda document: document.n_words + 1, FIRST):  # empty documents count too
            n_done = n_words
            n_words += sum(document.n_words for document in batch)
            total = _estimate(n_words, getattr(documents, "share", None))
            sentences = [sentence for document in batch for sentence in document.sentences]
            yield batch, _reported(tag_sentences(encoder, model, sentences, notice), report, n_done, total)
        report(n_words, n_words)


def tag_sentences(
    encoder: Encoder, model: TagModel, sentences: Sequence[Sentence], notice: Notice | None = None
) -> Iterator[TaggedWords]:
    """Yield sentences with their mentions, and the features, scores and tags of their words.

    A word that the encoder cannot read is O: nothing that was learned holds for its vector.
    """
    names = [one.name for one in model.types]
    for batch in batches(sentences, lambda sentence: len(sentence.words), MOST):
        n_words = [len(sentence.words) for sentence in batch]
        features = encoder.encode(batch, progress=False)
        lost = encoder.unreadable(batch)
        if notice is not None:
            notice(batch, lost)
        scores, tags = model.tag(features, n_words)
        tags[lost] = 0
        parts = np.cumsum(n_words)[:-1]
        by_sentence = (np.split(array, parts) for array in (features, scores, tags))
        for sentence, spans, *arrays in zip(batch, decode(scores, n_words, names, tags), *by_sentence, strict=True):
            yield TaggedWords(replace(sentence, spans=spans, allowed=None), *arrays)


def batches(items: Iterable[Item], size_of: Callable[[Item], int], size: int) -> Iterator[list[Item]]:
    """Group items until they have `size` words, and twice as many each time, up to `MOST`.

    Where the next item is not there yet (``items.is_ready``), those that are do not wait for it.
    """
    batch: list[Item] = []
    n_words, until = 0, 0.0
    items = iter(items)
    is_ready: Callable[[float], bool] = getattr(items, "is_ready", lambda seconds: True)
    while True:
        try:
            is_whole = bool(batch) and not is_ready(until - time.monotonic())
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


def _reported(
    tagged: Iterator[TaggedWords], report: ProgressCallback, n_done: int, total: int
) -> Iterator[TaggedWords]:
    """Pass sentences on, and report the words done so far."""
    n_reported = n_done
    for words in tagged:
        yield words
        n_done += len(words.tags)
        if n_done - n_reported >= REPORTED:
            n_reported = n_done
            report(n_done, total)


def _estimate(n_words: int, share: float | None) -> int:
    """Return how many words there are in all, given how many make up a share of them; 0 where that is not known."""
    return round(n_words / share) if share else 0
