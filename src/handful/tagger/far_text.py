"""Text that is not in the memory of this process: its words and features are in files, or on the workers of Dask.

A fit asks little of it. `Rows` reads the features by chunks. Sentences with the words of labelled ones are looked for
shard by shard, and so are examples for the summary. What comes back is small.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import FarRows, Float, Part
from handful.encoders import Encoder
from handful.encoders.opened import AnyEncoder, is_object, open_encoder
from handful.errors import DataError
from handful.text import Sentence

from ._surest import Surest, merged, surest
from .inputs import Given, gather
from .model import Model
from .training_text import LabelledWords, TrainingText, Ways, Words

if TYPE_CHECKING:
    from handful.cluster import SubspaceKMeans

__all__ = [
    "FarText",
    "FarTrainingText",
    "TextShard",
    "encoder_here",
    "is_far",
    "look_through",
    "text_of",
    "training_text",
]


@dataclass(frozen=True)
class TextShard:
    """Some sentences, one after the other, with the features of their words.

    Attributes
    ----------
    words : of each sentence
    features : (n_words, dim); they may be mapped into memory
    unreadable : (n_words,) whether the encoder cannot read the word
    """

    words: Sequence[Words]
    features: Float
    unreadable: NDArray[np.bool_]


@dataclass(frozen=True)
class FarText:
    """Unlabelled text in shards, with features.

    Attributes
    ----------
    rows : the features of all words
    shards : each a `TextShard`, something with ``load()`` that returns one, or the promise of either
    n_words : of each shard
    fingerprint : that of the encoder
    notes : what reading met with
    """

    rows: FarRows
    shards: Sequence[Any]
    n_words: Sequence[int]
    fingerprint: str
    notes: list[str] = field(default_factory=list)

    def find(self, wanted: Iterable[Words]) -> list[tuple[int, Words]]:
        """Return where the sentences with these words begin among all words, in order."""
        import dask

        chosen = dask.delayed(frozenset(wanted), traverse=False)
        found = dask.compute(*(dask.delayed(_find)(shard, chosen) for shard in self.shards))
        firsts = np.cumsum([0, *self.n_words]).tolist()
        return [(first + row, words) for first, here in zip(firsts, found, strict=False) for row, words in here]

    def first(self) -> TextShard:
        """Return the words of the first shard; its features stay where they are."""
        import dask

        found: TextShard = dask.delayed(_without_features)(self.shards[0]).compute()
        return found


@dataclass(frozen=True)
class FarTrainingText(TrainingText):
    """A text that is far, and what is known of its labels.

    Of the sentences of the text, there are only those with the words of labelled ones.

    Attributes
    ----------
    far : the text
    lost : for labelled sentences, whether each word cannot be read
    """

    far: FarText
    lost: Mapping[Words, NDArray[np.bool_]]

    def unreadable_words(self, words: Words) -> NDArray[np.bool_]:
        """Return for each word of a labelled sentence whether it cannot be read."""
        return self.lost[words]


def is_far(unlabelled: object) -> bool:
    """Whether this is text on Dask: encoded text, a `dask.bag`, or a column of a `dask.dataframe`."""
    return hasattr(unlabelled, "far_text") or (hasattr(unlabelled, "to_delayed") and hasattr(unlabelled, "dask"))


def text_of(unlabelled: Any, encoder: AnyEncoder, layers: Any, threads: int | None, opened: Encoder) -> FarText:
    """Return text on Dask with its features; those of a bag or a column are encoded by the workers, which keep them.

    Parameters
    ----------
    unlabelled : encoded text (with ``far_text()``), or a collection of texts, sentences, lists of words or records
    encoder, layers, threads : as for `Tagger`; each worker opens it once
    opened : the same encoder in this process
    """
    if hasattr(unlabelled, "far_text"):
        text: FarText = unlabelled.far_text()
        if text.fingerprint != opened.fingerprint:
            raise DataError(
                f"the features of the text come from another encoder (fingerprint {text.fingerprint[:16]}, that of the "
                f"tagger is {opened.fingerprint[:16]}); encode the text again"
            )
        return text
    import dask
    import dask.array as da

    from handful._util.on_dask import dask_rows, persisted

    chosen = encoder if is_object(encoder) else str(encoder)
    encoded, size, features = dask.delayed(_encoded), dask.delayed(_size), dask.delayed(_features)
    partitions = np.ravel(unlabelled.to_delayed())
    opening = (chosen, layers, threads, opened.precision)
    shards = persisted([encoded(part, i, *opening) for i, part in enumerate(partitions)])
    n_words = list(dask.compute(*map(size, shards)))
    if not sum(n_words):
        raise DataError("the unlabelled text has no word")
    arrays = [
        da.from_delayed(features(shard), (n, opened.dim), np.float32) for shard, n in zip(shards, n_words, strict=True)
    ]
    return FarText(dask_rows(da.concatenate(arrays)), shards, n_words, opened.fingerprint)


def training_text(far: FarText, given: Given, labels: Ways, encoder: Encoder) -> FarTrainingText:
    """Return the text of a fit: what is far, and the labelled sentences that it does not have."""
    found = far.find(labels) if labels else []
    known = {words for _, words in found}
    others = [s for s in given.sentences if s.is_unlabelled or s.words not in known or len(labels[s.words]) > 1]
    features, lost = encoder.encode(others, progress=False), encoder.unreadable(others)
    sentences = [
        *(Sentence(words) for _, words in found),
        *(s if s.is_unlabelled else s.without_labels() for s in others),
    ]
    places: dict[Words, list[int]] = {}
    for number, sentence in enumerate(sentences):
        places.setdefault(sentence.words, []).append(number)
    starts = len(far.rows) + np.cumsum([0, *(len(sentence.words) for sentence in others)])
    return FarTrainingText(
        sentences=sentences,
        n_text=len(found),
        starts=np.array([*(row for row, _ in found), *starts], np.int64),
        text=Part(far.rows),
        others=features,
        unreadable=lost,
        places=places,
        own=frozenset(len(found) + i for i, sentence in enumerate(others) if not sentence.is_unlabelled),
        labels=labels,
        far=far,
        lost={words: encoder.unreadable([Sentence(words)]) for words in labels},
    )


def look_through(
    text: FarTrainingText, model: Model, fitted: "SubspaceKMeans | None", labelled: LabelledWords
) -> tuple[NDArray[np.int64], Surest]:
    """Count the unlabelled words of each tag, and find the surest mentions among them."""
    import dask

    assert fitted is not None, "there is text"
    shared, rows, look = dask.delayed(model, traverse=False), np.sort(labelled.rows), dask.delayed(_look)
    calls, first = [], 0
    for shard, n in zip(text.far.shards, text.far.n_words, strict=True):
        inside = slice(*np.searchsorted(rows, [first, first + n]))
        calls.append(look(shard, shared, fitted.tags_[first : first + n], rows[inside] - first))
        first += n
    found = dask.compute(*calls)
    counts = np.sum([here for here, _ in found], axis=0)
    return counts, merged([here for _, here in found])


@lru_cache(maxsize=4)
def _opened(reference: str, layers: Any, threads: int | None, precision: str | None) -> Encoder:
    return open_encoder(reference, layers, threads, precision)


def encoder_here(encoder: Any, layers: Any, threads: int | None, precision: str | None) -> Encoder:
    """Return the encoder of this worker: it is opened once."""
    if is_object(encoder):
        return open_encoder(encoder)
    return _opened(str(encoder), tuple(layers) if isinstance(layers, list) else layers, threads, precision)


# What follows is run by workers.


def _loaded(shard: Any) -> TextShard:
    found: TextShard = shard.load() if hasattr(shard, "load") else shard
    return found


def _encoded(
    part: Any, number: int, encoder: Any, layers: Any, threads: int | None, precision: str | None
) -> TextShard:
    texts = part.tolist() if hasattr(part, "tolist") else list(part)
    sentences = gather(texts, f"the unlabelled text, partition {number}", is_inline=False).sentences
    opened = encoder_here(encoder, layers, threads, precision)
    words = [sentence.words for sentence in sentences]
    return TextShard(words, opened.encode(sentences, progress=False), opened.unreadable(sentences))


def _size(shard: Any) -> int:
    return sum(map(len, _loaded(shard).words))


def _features(shard: TextShard) -> Float:
    return shard.features


def _without_features(shard: Any) -> TextShard:
    whole = _loaded(shard)
    return TextShard(whole.words, np.empty((0, 0), np.float32), whole.unreadable)


def _find(shard: Any, wanted: frozenset[Words]) -> list[tuple[int, Words]]:
    found, row = [], 0
    for words in _loaded(shard).words:
        if words in wanted:
            found.append((row, words))
        row += len(words)
    return found


def _look(
    shard: Any, model: Model, tags: NDArray[np.int64], labelled: NDArray[np.int64]
) -> tuple[NDArray[np.int64], Surest]:
    whole = _loaded(shard)
    tags = np.where(whole.unreadable, 0, tags)
    is_free = np.ones(len(tags), bool)
    is_free[labelled] = False
    counts = np.bincount(tags[is_free], minlength=len(model.tags))
    tags = np.where(is_free, tags, 0)
    return counts, surest(whole.words, lambda rows: np.asarray(whole.features[rows]), model, tags)
