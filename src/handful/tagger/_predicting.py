"""Sentences to mentions, a batch at a time, and the shape of what is predicted."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful.cluster._statistics import Float
from handful.encoders._opened import WordEncoder, encode
from handful.errors import DataError, HandfulError
from handful.text import Sentence

from ._decode import Mention, decode
from ._model import Model

__all__ = ["Prediction", "Scored", "as_prediction", "batches", "check_min_score", "mentions", "scored"]

FIRST_BATCH, BATCH = 256, 8192  # words, at first and at most

Prediction = dict[str, Any]

#: Some sentences, and the features (n_words, dim), tag scores (n_words, n_tags) and tags (n_words,) of their words.
Scored = tuple[list[Sentence], Float, NDArray[np.float64], NDArray[np.intp]]


def scored(encoder: WordEncoder, model: Model, sentences: Sequence[Sentence]) -> Iterator[Scored]:
    """Yield sentences, few at a time, with the features, tag scores and tags of their words."""
    for batch in batches(([sentence] for sentence in sentences), BATCH):
        flat = [sentence for (sentence,) in batch]
        features = encode(encoder, flat, progress=False)
        yield flat, features, *model.tag(features, [len(sentence.words) for sentence in flat])


def mentions(
    encoder: WordEncoder, model: Model, sentences: Sequence[Sentence], min_score: float
) -> Iterator[list[Mention]]:
    """Yield the mentions of each sentence."""
    for batch, _, scores, tags in scored(encoder, model, sentences):
        for found in decode(scores, [len(sentence.words) for sentence in batch], model.types, tags):
            yield [mention for mention in found if mention.score >= min_score]


def as_prediction(sentence: Sentence, mention: Mention) -> Prediction:
    """Return a mention in the shape of Hugging Face; positions are those in the document."""
    sentence = sentence.with_text()
    text, starts, span = sentence.text or "", sentence.starts or (), mention.span
    start, last = starts[span.start], span.end - 1
    end = starts[last] + len(sentence.words[last])
    return {
        "entity_group": span.type,
        "score": mention.score,
        "word": text[start:end],
        "start": sentence.offset + start,
        "end": sentence.offset + end,
    }


def batches(documents: Iterator[list[Sentence]], size: int = FIRST_BATCH) -> Iterator[list[list[Sentence]]]:
    """Group documents, few words at first, so that the first answers come soon; more later, which is faster."""
    batch: list[list[Sentence]] = []
    n_words = 0
    while True:
        try:
            sentences = next(documents)
        except StopIteration:
            break
        except HandfulError:
            if batch:
                yield batch  # what came before the fault is not lost
            raise
        batch.append(sentences)
        n_words += sum(len(sentence.words) for sentence in sentences) + 1  # empty documents count too
        if n_words >= size:
            yield batch
            batch, n_words, size = [], 0, min(2 * size, BATCH)
    if batch:
        yield batch


def check_min_score(min_score: object) -> None:
    """Refuse what is no share."""
    if isinstance(min_score, bool) or not isinstance(min_score, int | float) or not 0 <= min_score <= 1:
        raise DataError(f"min_score is {min_score!r}, expected a number from 0 to 1")
