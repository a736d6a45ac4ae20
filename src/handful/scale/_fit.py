"""`fit`: a tagger on unlabelled text that is on the workers of Dask, or in files that they read.

A fit asks little of such text. The clustering reads its features in chunks. Sentences with the words of labelled ones
are looked for shard by shard, and so are examples for the summary. What comes back is small.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import FarRows, Float, Part, Rows
from handful._util.progress import Progress, reporting
from handful.errors import DataError
from handful.tagger import Tagger
from handful.tagger.fitting import Surest, Watch, fit_text, look, merged, most_rounds, prepare
from handful.tagger.inputs import Given, gather, gather_for_fit
from handful.tagger.model import Model
from handful.tagger.training_text import LabelledText, LabelledWords, TrainingText, Ways, Words
from handful.text import Sentence

from ._workers import Opening

if TYPE_CHECKING:
    from handful.encoders import Encoder


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


@dataclass(frozen=True)
class _LabelledFarText(LabelledText):
    """A text that is far, and labelled sentences: those that it has, and others after it.

    Attributes
    ----------
    far : the text
    others : (n, dim) the features of the other sentences
    lost : for the words of labelled sentences, whether each cannot be read
    """

    far: FarText
    others: Float
    lost: Mapping[Words, NDArray[np.bool_]]

    @property
    def features(self) -> Rows:
        return Rows([Part(self.far.rows), Part(self.others)])

    def unreadable_words(self, words: Words) -> NDArray[np.bool_]:
        return self.lost[words]

    def look(self, model: Model, tags: Any, labelled: LabelledWords) -> tuple[NDArray[np.int64], Surest]:
        import dask

        shared, rows, run = dask.delayed(model, traverse=False), np.sort(labelled.rows), dask.delayed(_look)
        calls, first = [], 0
        for shard, n in zip(self.far.shards, self.far.n_words, strict=True):
            inside = slice(*np.searchsorted(rows, [first, first + n]))
            calls.append(run(shard, shared, tags[first : first + n], rows[inside] - first))
            first += n
        found = dask.compute(*calls)
        return np.sum([counts for counts, _ in found], axis=0), merged([surest for _, surest in found])


def fit(tagger: Tagger, support: Any = None, unlabelled: Any = None, *, progress: Progress = None) -> Tagger:
    """Fit a tagger on text that Dask's workers encode; the result is that of `Tagger.fit`, to the byte.

    The tagger does not hold the text afterwards: nothing can be added to the fit.

    Parameters
    ----------
    tagger : the tagger
    support : path or list, optional
        Labelled sentences, as for `Tagger.fit`.
    unlabelled : Features, dask.bag, or column of a dask.dataframe
        What `encode_texts` returned; or texts (documents), `Sentence`, lists of words, and dicts.
    progress
        It is about the rounds of the fit: a function is called with the rounds done and the most that there can be.

    Returns
    -------
    Tagger
        The same one.
    """
    if not hasattr(unlabelled, "far_text") and not (hasattr(unlabelled, "to_delayed") and hasattr(unlabelled, "dask")):
        raise DataError(
            f"the unlabelled text is {unlabelled!r:.100}, expected what encode_texts returns, a dask.bag, or a column "
            "of a dask.dataframe; Tagger.fit takes text that is here"
        )
    given, labels = gather_for_fit(support, None)
    encoder = tagger.encoder_
    near = TrainingText.empty(encoder.dim).with_more(given.sentences, given.n_text).with_labels(labels)
    prepare(tagger, near, given.types, has_text=True)  # what can be refused is refused before the long wait
    with reporting(progress, most_rounds(tagger.clusters), "fitting", "rounds", patience=0) as report:
        far = _far_text(unlabelled, Opening.of_tagger(tagger, tagger.threads), encoder)
        watch = Watch(encoder)
        watch(*_beginning(far))
        text = _labelled(far, given, labels, encoder)
        planned = prepare(tagger, text, given.types, has_text=False)
        return fit_text(tagger, text, planned, watch, [*given.notes, *far.notes], report)


def _far_text(unlabelled: Any, opening: Opening, encoder: "Encoder") -> FarText:
    """Return text on Dask with its features; those of a bag or a column are encoded by the workers, which keep them."""
    if hasattr(unlabelled, "far_text"):
        text: FarText = unlabelled.far_text()
        if text.fingerprint != encoder.fingerprint:
            raise DataError(
                f"the features of the text come from another encoder (fingerprint {text.fingerprint[:16]}, that of the "
                f"tagger is {encoder.fingerprint[:16]}); encode the text again"
            )
        return text
    import dask
    import dask.array as da

    from handful._util.on_dask import dask_rows, persisted

    encoded, size, features = dask.delayed(_encoded), dask.delayed(_size), dask.delayed(_features)
    shards = persisted([encoded(part, i, opening) for i, part in enumerate(np.ravel(unlabelled.to_delayed()))])
    n_words = list(dask.compute(*map(size, shards)))
    if not sum(n_words):
        raise DataError("the unlabelled text has no word")
    arrays = [
        da.from_delayed(features(shard), (n, encoder.dim), np.float32) for shard, n in zip(shards, n_words, strict=True)
    ]
    return FarText(dask_rows(da.concatenate(arrays)), shards, n_words, encoder.fingerprint)


def _beginning(far: FarText) -> tuple[list[Sentence], NDArray[np.bool_]]:
    """Return the sentences of the first shard, and which of their words cannot be read."""
    import dask

    words, lost = dask.delayed(_words)(far.shards[0]).compute()
    return list(map(Sentence, words)), lost


def _labelled(far: FarText, given: Given, labels: Ways, encoder: "Encoder") -> _LabelledFarText:
    """Return the text with its labels, and with the labelled sentences that it does not have."""
    found = far.find(labels) if labels else []
    known = {words for _, words in found}
    others = [s for s in given.sentences if s.is_unlabelled or s.words not in known or len(labels[s.words]) > 1]
    places: dict[Words, list[int]] = {}
    for number, words in enumerate([*(words for _, words in found), *(one.words for one in others)]):
        places.setdefault(words, []).append(number)
    starts = len(far.rows) + np.cumsum([0, *(len(sentence.words) for sentence in others)])
    return _LabelledFarText(
        starts=np.array([*(row for row, _ in found), *starts], np.int64),
        places=places,
        own=frozenset(len(found) + i for i, sentence in enumerate(others) if not sentence.is_unlabelled),
        labels=labels,
        far=far,
        others=encoder.encode(others, progress=False),
        lost={words: encoder.unreadable([Sentence(words)]) for words in labels},
    )


# What follows is run by workers.


def _loaded(shard: Any) -> TextShard:
    found: TextShard = shard.load() if hasattr(shard, "load") else shard
    return found


def _encoded(part: Any, number: int, opening: Opening) -> TextShard:
    texts = part.tolist() if hasattr(part, "tolist") else list(part)
    sentences = gather(texts, f"the unlabelled text, partition {number}", is_inline=False).sentences
    encoder = opening.encoder()
    words = [sentence.words for sentence in sentences]
    return TextShard(words, encoder.encode(sentences, progress=False), encoder.unreadable(sentences))


def _size(shard: Any) -> int:
    return sum(map(len, _loaded(shard).words))


def _features(shard: TextShard) -> Float:
    return shard.features


def _words(shard: Any) -> tuple[Sequence[Words], NDArray[np.bool_]]:
    whole = _loaded(shard)
    return whole.words, whole.unreadable


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
    is_free = np.ones(len(tags), bool)
    is_free[labelled] = False
    return look(whole.words, lambda rows: np.asarray(whole.features[rows]), whole.unreadable, model, tags, is_free)
