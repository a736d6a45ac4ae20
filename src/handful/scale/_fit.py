"""`fit`: a tagger on unlabelled text whose features are in files that the workers of Dask read.

A fit asks little of such text. The clustering reads its features in chunks. Sentences with the words of labelled ones
are looked for shard by shard, and so are examples for the summary. Little comes back.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float, Part, Rows
from handful._util.progress import Progress, reporting
from handful.encoders import Encoder
from handful.errors import DataError
from handful.tagger import Tagger
from handful.tagger.fitting import Surest, Watch, estimator_of, fit_text, look, merged, prepare
from handful.tagger.inputs import Given, gather_for_fit
from handful.tagger.model import Model
from handful.tagger.training_text import LabelledText, LabelledWords, TrainingText, Ways, Words
from handful.text import Sentence

from ._features import Features
from ._shards import FarText, TextShard, on_shards


@dataclass(frozen=True)
class _LabelledFarText(LabelledText):
    """A text that is `far`, and labelled sentences: those that it has, and others after it.

    `others` (n, dim) are the features of the other sentences. `lost` says for the words of labelled sentences whether
    each cannot be read.
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
        rows, ends = np.sort(labelled.rows), np.cumsum([0, *self.far.n_words]).tolist()
        places = [slice(*place) for place in pairwise(ends)]
        known = [rows[slice(*np.searchsorted(rows, [here.start, here.stop]))] - here.start for here in places]
        found = on_shards(_look, self.far.shards, [tags[here] for here in places], known, shared=[model])
        return np.sum([counts for counts, _ in found], axis=0), merged([surest for _, surest in found])


def fit(
    tagger: Tagger, support: Any = None, unlabelled: Features | None = None, *, progress: Progress = None
) -> Tagger:
    """Fit a tagger on text that Dask's workers have encoded; the result is that of `Tagger.fit`, to the byte.

    The tagger does not hold the text afterwards: nothing can be added to the fit.

    Parameters
    ----------
    tagger : the tagger
    support : labelled sentences, as for `Tagger.fit`
    unlabelled : what `encode_texts` returned
    progress : about the rounds of the fit: a function is called with the rounds done and the most that there can
        be
    """
    if not isinstance(unlabelled, Features):
        raise DataError(
            f"the unlabelled text is {unlabelled!r:.100}, expected what encode_texts returns; Tagger.fit takes text "
            "that is here"
        )
    given, labels = gather_for_fit(support, None)
    encoder = tagger.encoder_
    unlabelled.check_encoder(encoder)
    near = TrainingText.empty(encoder.dim).with_more(given.sentences, given.n_text).with_labels(labels)
    prepare(tagger, near, given.types)  # what can be refused is refused before the long wait
    most_rounds = int(estimator_of(tagger.clusters, None).max_iter)
    with reporting(progress, most_rounds, "fitting", "rounds", patience=0) as report:
        far = unlabelled.far_text()
        watch = Watch(encoder)
        ((words, lost),) = on_shards(attrgetter("words", "unreadable"), far.shards[:1])
        watch(list(map(Sentence, words)), lost)
        text = _labelled(far, given, labels, encoder)
        planned = prepare(tagger, text, given.types, warns=False)
        return fit_text(tagger, text, planned, watch, [*given.notes, *unlabelled.report], report)


def _labelled(far: FarText, given: Given, labels: Ways, encoder: Encoder) -> _LabelledFarText:
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


# The rest is run by workers.


def _look(
    shard: TextShard, tags: NDArray[np.int64], labelled: NDArray[np.int64], model: Model
) -> tuple[NDArray[np.int64], Surest]:
    is_free = np.ones(len(tags), bool)
    is_free[labelled] = False
    return look(shard.words, lambda rows: np.asarray(shard.features[rows]), shard.unreadable, model, tags, is_free)
