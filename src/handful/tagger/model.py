"""`Model`: what a fit learns, and all that a prediction needs besides the encoder."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful.cluster import tag_scores
from handful.text import EntityType, Sentence, Transitions

from .borders import Borders, without_loose_ends
from .decoding import viterbi
from .evidence import EVIDENCE, Evidence, NearestLabel, array_of
from .finding import found_by
from .known import KnownWords
from .seams import Seams

if TYPE_CHECKING:
    from .layers import Layer

BLOCK_ROWS = 192  # a multiple of 12 and of 16, the rows that kernels of BLAS take at a time: none is left over

Kind = TypeVar("Kind")

_KINDS = {kind: name for name, kind in EVIDENCE.items()}


@dataclass(frozen=True)
class Softmax:
    """The share of each tag: ``exp(logit / temperature)``, divided by the sum over tags."""

    temperature: float

    def scores(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each tag for each word, (n, n_tags)."""
        return tag_scores(-logits, self.temperature) if len(logits) else logits

    def points(self, odds: float) -> float:
        """Return by how much a logit rises if the odds of its tag become so many times as high."""
        return self.temperature * float(np.log(odds))


@dataclass(frozen=True)
class Lead:
    """The chance that a tag is right, by its lead over the best of the others: a logistic function of it."""

    at_zero: float
    by_logit: float

    def scores(self, logits: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the score of each tag for each word, (n, n_tags)."""
        if len(logits) == 0:
            return logits
        ordered = np.sort(logits, axis=1)
        best_other = np.where(logits == ordered[:, -1:], ordered[:, -2:-1], ordered[:, -1:])
        sure = self.at_zero + self.by_logit * (logits - best_other)
        return np.asarray(0.5 + 0.5 * np.tanh(0.5 * sure))  # the logistic function, without loading scipy for it

    def points(self, odds: float) -> float:
        """Return by how much a logit rises if the odds of its tag become so many times as high."""
        return float(np.log(odds)) / self.by_logit


Calibration = Softmax | Lead
"""From logits to scores between 0 and 1."""

#: The kinds of calibration, by the name that a saved model calls them.
CALIBRATIONS: dict[str, type[Any]] = {"softmax": Softmax, "lead": Lead}


class TagModel(Protocol):
    """All that a prediction needs besides the encoder: our model, and that of every baseline."""

    @property
    def types(self) -> tuple[EntityType, ...]:
        """The types; tag 0 is O, tag t is types[t - 1]."""

    def tag(self, features: Float, sentences: Sequence[Sentence]) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the scores (n, n_tags) of the words of sentences, and the tag of each, (n,)."""

    @property
    def seams(self) -> Seams | None:
        """The seams, which keep mentions of one type apart that are side by side; None, they are one."""


@dataclass(frozen=True)
class Model:
    """A weighted list of evidence, and how its sum becomes tags and scores.

    A model does not change after it is made, so threads can share it. Everything that decides a prediction is in it,
    and is saved with it: weights, transitions and calibration too.
    """

    types: tuple[EntityType, ...]  # tag 0 is O, tag t is types[t - 1]
    evidence: tuple[Evidence, ...]  # what speaks for a tag
    calibration: Calibration
    transitions: Transitions | None = None  # how tags follow each other; None, a word gets the tag of its highest logit
    without_prior: float = 0.0  # how much transitions count once more without the shares of tags; see `viterbi`
    known: KnownWords | None = None  # lists and patterns of types, which read the words, not their features
    borders: Borders | None = None  # what descriptions say of titles, articles and the like
    find: float = 1.0  # how many times as bad a missed mention is as a wrong one; see `found_by`
    seams: Seams | None = None  # what keeps mentions of one type apart that are side by side; None, they are one
    layers: "tuple[Layer, ...]" = ()  # what finds mentions that share words with others; see `handful.tagger.layers`

    def __post_init__(self) -> None:
        for piece in self.evidence:
            for array in piece.save().values():
                array.flags.writeable = False

    @property
    def tags(self) -> tuple[str, ...]:
        """The names of the tags, by number."""
        return ("O", *(one.name for one in self.types))

    def piece(self, kind: type[Kind]) -> Kind | None:
        """Return the evidence of one kind, or None."""
        return next((piece for piece in self.evidence if isinstance(piece, kind)), None)

    def logits(
        self, features: Float, sentences: Sequence[Sentence] = (), near: NDArray[np.float64] | None = None
    ) -> NDArray[np.float64]:
        """Return the weighted sum of all evidence, (n, n_tags); known words count where the sentences are given.

        `near` are the logits of the nearest labels, (n, n_tags), where they are known.

        Rows are taken in blocks of one size, the last one filled up, and in double precision: sums are then rounded
        alike, whatever else is tagged with a word, and wherever in a block it is.
        """
        total = np.zeros((len(features), len(self.tags)))
        for piece in self.evidence:
            if near is not None and isinstance(piece, NearestLabel):
                total += piece.weight * near
            else:
                total += piece.weight * self._logits_of(piece, features, sentences)
        if self.known is not None and sentences:
            total += self.known.logits(sentences)
        return total

    def _logits_of(self, piece: Evidence, features: Float, sentences: Sequence[Sentence]) -> NDArray[np.float64]:
        """Return the logits of a piece of evidence for the words of sentences, (n, n_tags)."""
        return in_blocks(piece.logits, features, len(self.tags))

    def scores(self, features: Float) -> NDArray[np.float64]:
        """Return the score of each tag for each word, (n, n_tags), from 0 to 1."""
        return self.calibration.scores(self.logits(features))

    def cosines(self, features: Float, sentences: Sequence[Sentence]) -> NDArray[np.float64] | None:
        """Return the cosine of each word to the nearest labelled word of each kind, (n, n_kinds), if there are any."""
        piece = self.piece(NearestLabel)
        return None if piece is None else in_blocks(piece.by_kind, features, len(piece.kinds[0]))

    def tag(
        self, features: Float, sentences: Sequence[Sentence], cosines: NDArray[np.float64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
        """Return the scores (n, n_tags) of the words of sentences, and the tag of each, (n,); cosines may be known."""
        piece = None if cosines is None else self.piece(NearestLabel)
        logits = self.logits(
            features, sentences, None if piece is None or cosines is None else piece.logits_by(cosines)
        )
        scores, tags = self.calibration.scores(logits), self.path(logits, [len(one.words) for one in sentences])
        return scores, self.bordered(tags, scores, sentences)

    def bordered(
        self, tags: NDArray[np.intp], scores: NDArray[np.float64], sentences: Sequence[Sentence]
    ) -> NDArray[np.intp]:
        """Return tags (n,) with the borders that language and descriptions ask for; words that join get scores."""
        tags = tags if self.transitions is None else without_loose_ends(tags, sentences)
        return tags if self.borders is None else self.borders.obey(tags, scores, sentences)

    def path(self, logits: NDArray[np.float64], n_words: Sequence[int]) -> NDArray[np.intp]:
        """Return the best tags of the words of sentences, (n,), given their logits."""
        tags = self._best(logits, n_words)
        points = self.calibration.points(self.find)
        return tags if points == 0 else found_by(points, tags, logits, n_words, self._best)

    def _best(self, logits: NDArray[np.float64], n_words: Sequence[int], by_mention: float = 0.0) -> NDArray[np.intp]:
        if self.transitions is None:
            return np.asarray(logits.argmax(axis=1))
        return viterbi(logits, n_words, self.transitions, self.without_prior, by_mention)

    def contributions(self, features: Float, sentence: Sentence) -> dict[str, NDArray[np.float64]]:
        """Return what each piece of evidence adds to the logits of a sentence's words, (n, n_tags), by its kind."""
        pieces = {_KINDS[type(piece)]: piece for piece in self.evidence}
        found = {kind: np.asarray(one.weight * one.logits(features), np.float64) for kind, one in pieces.items()}
        return found if self.known is None else found | {"known": self.known.logits([sentence])}

    def settings(self) -> dict[str, Any]:
        """Return what decides predictions besides arrays, in JSON's types."""
        calibrations = {kind: name for name, kind in CALIBRATIONS.items()}
        return {
            "evidence": [{"kind": _KINDS[type(piece)], "weight": piece.weight} for piece in self.evidence],
            "calibration": {"kind": calibrations[type(self.calibration)]} | asdict(self.calibration),
            "transitions": None if self.transitions is None else self.transitions.to_dict(),
            "without_prior": self.without_prior,
            **({} if self.find == 1 else {"find": self.find}),
            **({} if self.known is None else {"known": self.known.settings()}),
            **({} if self.seams is None else {"seams": {"shift": self.seams.shift}}),
            **({} if self.borders is None else {"overruled_borders": sorted(map(list, self.borders.overruled))}),
            **({} if not self.layers else {"layers": [one.settings() for one in self.layers]}),
        }


def in_blocks(function: Callable[[Float], Float], features: Float, n_columns: int) -> NDArray[np.float64]:
    """Return what a function gives for rows, (n, n_columns), in blocks of one size, the last one filled up."""
    n, dim = features.shape
    found = np.empty((n, n_columns))
    for start in range(0, n, BLOCK_ROWS):
        block = features[start : start + BLOCK_ROWS]
        m = len(block)
        if m < BLOCK_ROWS:
            block = np.concatenate([block, np.zeros((BLOCK_ROWS - m, dim), block.dtype)])
        found[start : start + m] = function(block)[:m]
    return found


@dataclass(frozen=True)
class Examples:
    """The labelled sentences, and where their words of a known tag lie in the projected space."""

    sentences: list[Sentence]
    places: NDArray[np.int64] = array_of(np.int64, "m", "pair")  # the sentence of each word, and its position there
    tags: NDArray[np.int64] = array_of(np.int64, "m")
    vectors: NDArray[np.float32] = array_of(np.float32, "m", "p")
