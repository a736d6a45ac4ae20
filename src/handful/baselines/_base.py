"""The common part of the baselines: a support becomes labelled words, scores of tags become mentions."""

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from handful._util.arrays import Float
from handful._util.progress import Progress
from handful.encoders import Encoder
from handful.encoders.opened import AnyEncoder, is_object, open_encoder
from handful.errors import DataError
from handful.tagger import Predictor
from handful.tagger.decoding import viterbi
from handful.tagger.inputs import gather_for_fit
from handful.tagger.training_text import TrainingText, by_words, check_sure, sentences_of, types_to_learn
from handful.text import EntityType, Sentence, Transitions, described


@dataclass(frozen=True)
class LabelledSupport:
    """Labelled sentences, each once for every way in which it is labelled."""

    types: tuple[EntityType, ...]  # the types, sorted by name
    sentences: list[Sentence]  # those with the same words stand together

    @property
    def n_tags(self) -> int:
        return 1 + len(self.types)

    def tags(self) -> NDArray[np.intp]:
        """Return the tag of each word, 0 for O, t for the type t - 1, and -1 where it is not certain, (n_words,)."""
        names = [one.name for one in self.types]
        text = TrainingText.empty(0).with_more(self.sentences).with_labels(by_words(self.sentences))
        labelled = text.labelled_words(names)
        check_sure(labelled, ("O", *names))
        return np.where(labelled.is_sure, labelled.tags, -1)

    def words(self, encoder: Encoder, progress: Progress = None) -> tuple[Float, NDArray[np.intp]]:
        """Return the features (m, d) and the tags (m,) of the words whose tag is certain; 0 is O, t the type t - 1."""
        tags = self.tags()
        features = encoder.encode(self.sentences, progress=progress)
        return features[tags >= 0], tags[tags >= 0]


@dataclass(frozen=True)
class FittedBaseline:
    """A baseline after its fit, as a prediction needs it."""

    encoder: Encoder  # gives the features of words
    types: tuple[EntityType, ...]  # tag 0 is O, tag t is types[t - 1]
    # Features (n, d) to logarithms of the scores of tags (n, n_tags), whose exponentials sum to 1
    log_scores: Callable[[Float], NDArray[np.float64]]
    transitions: Transitions | None = None  # for Viterbi; None, each word gets the tag of its highest score
    seams: None = None  # mentions of one type side by side are one

    def tag(self, features: Float, sentences: Sequence[Sentence]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the scores (n, n_tags) of the words of sentences, and the tag of each, (n,)."""
        found, n_words = self.log_scores(features), [len(one.words) for one in sentences]
        tags = found.argmax(axis=1) if self.transitions is None else viterbi(found, n_words, self.transitions)
        return np.exp(found), tags


def read_support(support: Any) -> LabelledSupport:
    """Read labelled sentences, in any form that `handful.Tagger.fit` takes; those without labels are left out."""
    given, labels = gather_for_fit(support, None)
    if not labels:
        raise DataError("the support has no labels; mark mentions, as in [Baghdad](LOC), or give a file with tags")
    sentences = sentences_of(labels)
    return LabelledSupport(described(types_to_learn(sentences), given.types), sentences)


def tag_log_scores(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``log softmax(-distance)`` over tags, (n, n_tags)."""
    return np.asarray(log_softmax(-distances, axis=1)) if len(distances) else distances


class Baseline(Predictor):
    """A method with the `fit` and `predict` of `handful.Tagger`; what it learns is up to `_learn`.

    Words whose tag is not certain (partial labels, "some entity") are not used, and no unlabelled text is: `fit`
    accepts it so that methods can be exchanged, and does not look at it.

    Parameters
    ----------
    encoder : as for `handful.Tagger`

    Attributes
    ----------
    types_ : the types, sorted by name
    """

    def __init__(self, encoder: AnyEncoder = "handful-en") -> None:
        self.encoder = encoder
        self._opened: Encoder | None = None
        self._fitted: FittedBaseline | None = None

    def __repr__(self) -> str:
        encoder = type(self.encoder).__name__ if is_object(self.encoder) else repr(self.encoder)
        fitted = "not fitted" if self._fitted is None else f"fitted to {', '.join(map(str, self.types_))}"
        return f"<{type(self).__name__}(encoder={encoder}), {fitted}>"

    def fit(self, support: Any, unlabelled: Any = None, *, progress: Progress = None) -> Self:
        """Learn from labelled sentences.

        Parameters
        ----------
        support : as for `handful.Tagger.fit`; sentences without labels are not used
        unlabelled : not used
        progress : as for `handful.encoders.Encoder.encode`
        """
        read = read_support(support)
        self._fitted = self._learn(read, progress)
        self.types_ = list(read.types)
        return self

    @abstractmethod
    def _learn(self, support: LabelledSupport, progress: Progress) -> FittedBaseline:
        """Learn from a support."""

    def _open(self) -> Encoder:
        if self._opened is None:
            self._opened = open_encoder(self.encoder)
        return self._opened

    @property
    def model_(self) -> FittedBaseline:
        """The result of the fit, as predictions need it."""
        if self._fitted is None:
            raise DataError(f"this {type(self).__name__} is not fitted: call fit first")
        return self._fitted

    def _reading(self) -> Encoder:
        return self.model_.encoder
