"""What the baselines share: a support becomes labelled words, scores of tags become mentions."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from handful.encoders._opened import AnyEncoder, WordEncoder, encode, is_object, open_encoder
from handful.errors import DataError
from handful.tagger._decode import Mention, Transitions, decode, runs, viterbi
from handful.tagger._inputs import document, gather_for_fit, text_to_tag
from handful.tagger._predicting import BATCH, Prediction, as_prediction, batches, check_min_score
from handful.tagger._training import TrainingText, Words, types_to_learn
from handful.text import Sentence

__all__ = ["Baseline", "Fitted", "LabelledWords", "Support", "read_support", "tag_log_scores"]

Float = NDArray[np.floating[Any]]
Progress = Any  # None, bool, or a function of the words done and the words in all


@dataclass(frozen=True)
class LabelledWords:
    """The words of a support whose tag is certain.

    Attributes
    ----------
    features : (m, d)
    tags : (m,) 0 is O, t is the type t - 1
    """

    features: Float
    tags: NDArray[np.intp]


@dataclass(frozen=True)
class Support:
    """Labelled sentences, each once.

    Attributes
    ----------
    types : their names, sorted
    labels : the sentences, by their words
    """

    types: tuple[str, ...]
    labels: dict[Words, Sentence]

    @property
    def n_tags(self) -> int:
        """How many tags there are, O among them."""
        return 1 + len(self.types)

    @property
    def shots(self) -> int:
        """How many mentions, as runs of words whose tag is certain, the type with the fewest has."""
        tags = np.maximum(self.tags(), 0)
        found = [int(tags[start]) for _, start, _, _ in runs(tags, [len(words) for words in self.labels])]
        return min(found.count(tag) for tag in range(1, self.n_tags))

    @property
    def sentences(self) -> list[Sentence]:
        """The sentences, in order."""
        return list(self.labels.values())

    def tags(self) -> NDArray[np.intp]:
        """Return the tag of each word, 0 for O, t for the type t - 1, and -1 where it is not certain, (n_words,)."""
        no_features = np.empty((sum(map(len, self.labels)), 0), np.float32)
        text = TrainingText.empty(0).grown(self.sentences, no_features).labelled(self.labels)
        allowed = text.allowed(self.types)
        return np.where(allowed.sum(axis=1) == 1, allowed.argmax(axis=1), -1)

    def words(self, encoder: WordEncoder, progress: Progress = None) -> LabelledWords:
        """Encode the sentences, and keep the words whose tag is certain."""
        tags = self.tags()
        features = encode(encoder, self.sentences, progress)
        return LabelledWords(features[tags >= 0], tags[tags >= 0])


@dataclass(frozen=True)
class Fitted:
    """All that a prediction needs.

    Attributes
    ----------
    encoder : gives the words' features
    types : their names
    log_scores : features (n, d) to logarithms of the tags' scores (n, n_tags), whose exponentials sum to 1
    transitions : for Viterbi; None, each word gets the tag of its highest score
    """

    encoder: WordEncoder
    types: tuple[str, ...]
    log_scores: Callable[[Float], NDArray[np.float64]]
    transitions: Transitions | None = None

    def mentions(self, sentences: Sequence[Sentence], min_score: float) -> Iterator[list[Mention]]:
        """Yield the mentions of each sentence, a batch at a time."""
        for batch in batches(([sentence] for sentence in sentences), BATCH):
            flat = [sentence for (sentence,) in batch]
            log_scores = self.log_scores(encode(self.encoder, flat, progress=False))
            n_words = [len(sentence.words) for sentence in flat]
            tags = None if self.transitions is None else viterbi(log_scores, n_words, self.transitions)
            for found in decode(np.exp(log_scores), n_words, self.types, tags):
                yield [mention for mention in found if mention.score >= min_score]


def read_support(support: Any) -> Support:
    """Read labelled sentences, in whatever shape `handful.Tagger.fit` takes them; those without labels are left."""
    _, labels, _ = gather_for_fit(support, None)
    return Support(tuple(types_to_learn(labels.values())), labels)


def tag_log_scores(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``log softmax(-distance)`` over tags, (n, n_tags)."""
    return np.asarray(log_softmax(-distances, axis=1)) if len(distances) else distances


class Baseline(ABC):
    """A method with the `fit` and `predict` of `handful.Tagger`; what it learns is up to `_learn`.

    Words whose tag is not certain (partial labels, "some entity") are not used, and no unlabelled text is: `fit`
    accepts it so that methods can be exchanged, and does not look at it.
    """

    types_: list[str]

    def __init__(self, encoder: AnyEncoder = "handful-en") -> None:
        self.encoder = encoder
        self._opened: WordEncoder | None = None
        self._fitted: Fitted | None = None

    def __repr__(self) -> str:
        encoder = type(self.encoder).__name__ if is_object(self.encoder) else repr(self.encoder)
        fitted = "not fitted" if self._fitted is None else f"fitted to {', '.join(self.types_)}"
        return f"<{type(self).__name__}(encoder={encoder}), {fitted}>"

    def fit(self, support: Any, unlabelled: Any = None, *, progress: Progress = None) -> Self:
        """Learn from labelled sentences.

        Parameters
        ----------
        support : path or list
            As for `handful.Tagger.fit`; sentences without labels are not used.
        unlabelled
            Not used.
        progress
            As for `handful.encoders.Encoder.encode`.
        """
        read = read_support(support)
        self._fitted = self._learn(read, progress)
        self.types_ = list(read.types)
        return self

    def predict(self, texts: Any, *, min_score: float = 0.0) -> Any:
        """Find mentions; texts and what comes back are as in `handful.Tagger.predict`."""
        fitted = self._checked(min_score)
        if isinstance(texts, str | Sentence):
            return self._predict(fitted, [texts], min_score)[0]
        if isinstance(texts, bytes | Mapping) or not isinstance(texts, Iterable):
            raise DataError(f"texts must be a list of texts, Sentences or lists of words, found {type(texts).__name__}")
        return self._predict(fitted, texts, min_score)

    def predict_sentences(self, sentences: Iterable[Any], *, min_score: float = 0.0) -> list[Sentence]:
        """Return sentences (`Sentence` or lists of words) with the mentions found in them."""
        fitted = self._checked(min_score)
        given: list[Sentence] = []
        for number, item in enumerate(sentences):
            if isinstance(item, str) or not item:
                raise DataError(f"sentence {number} is {item!r}, expected a Sentence or a list of words")
            given += document(item, f"sentence {number}")
        found = fitted.mentions(given, min_score)
        return [
            replace(sentence, spans=tuple(mention.span for mention in mentions), allowed=None)
            for sentence, mentions in zip(given, found, strict=True)
        ]

    @abstractmethod
    def _learn(self, support: Support, progress: Progress) -> Fitted:
        """Learn from a support."""

    def _open(self) -> WordEncoder:
        if self._opened is None:
            self._opened = open_encoder(self.encoder, -1, None)
        return self._opened

    def _checked(self, min_score: float) -> Fitted:
        check_min_score(min_score)
        if self._fitted is None:
            raise DataError(f"this {type(self).__name__} is not fitted: call fit first")
        return self._fitted

    @staticmethod
    def _predict(fitted: Fitted, texts: Iterable[Any], min_score: float) -> list[list[Prediction]]:
        documents = [text_to_tag(text, f"text {number} (from 0)") for number, text in enumerate(texts)]
        found = fitted.mentions([sentence for sentences in documents for sentence in sentences], min_score)
        return [
            [as_prediction(sentence, mention) for sentence in sentences for mention in next(found)]
            for sentences in documents
        ]
