"""`Explanation`: why a mention was found, in terms of the labelled words."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from handful._util.arrays import Float
from handful.text import Document, Prediction

from .evidence import Prototypes
from .inner import said_of as said_of_inner
from .layers import layer_of
from .model import Examples, Model
from .tagging import MinScore, TaggedWords, is_sure

Logits = NDArray[np.float64]

#: The name that people read for each kind of evidence.
SHOWN = {"names": "name", "regression": "labels", "nearest": "nearest label", "prototypes": "clusters"}
SHOWN["known"] = "known words"


@dataclass(frozen=True)
class NearWord:
    """A labelled word near a mention."""

    word: str  # the word
    tag: str  # a type or "O"
    distance: float  # from the nearest word of the mention, in the projected space
    sentence: str  # the words of its sentence, joined by spaces
    position: int  # which word of the sentence it is, from 0

    def __str__(self) -> str:
        return f"  near {self.word} ({self.tag}), {self.distance:.2f} away, in: {self.sentence}"


@dataclass(frozen=True)
class NearPrototype:
    """A prototype near a mention."""

    tag: str  # its type
    number: int  # which of the type's prototypes it is, from 1
    distance: float  # from the mention's words, in the projected space (root of the mean square)


@dataclass(frozen=True)
class WordEvidence:
    """The evidence for the type of one word of a mention."""

    word: str  # the word
    score: float  # of the mention's type
    evidence: dict[str, float]  # by kind, how much it speaks for the type and against the one that came second


@dataclass(frozen=True, repr=False)
class Explanation:
    """Why a mention was found; ``print`` shows it as a table."""

    mention: Prediction  # as `Tagger.predict` gives it
    nearest: list[NearWord]  # the labelled words nearest to one of its words, nearest first
    prototype: NearPrototype | None  # the nearest prototype of its type; None where nothing was clustered
    # by kind, how much it speaks for the type and against the one that came second: the difference of their logits,
    # the mean over the mention's words
    evidence: dict[str, float]
    words: list[WordEvidence]  # the same for each word of the mention
    runner_up: str  # the tag with the second highest score, a type or "O"
    runner_up_score: float  # that score, the mean over the mention's words
    # which of its words are among the known words of a type, and what its description says of its borders
    known: list[str] = field(default_factory=list)

    def __repr__(self) -> str:
        by_kind = ", ".join(f"{SHOWN[kind]} {points:+.1f}" for kind, points in self.evidence.items())
        return f"<Explanation: {self._claim()}: {by_kind}>"

    def __str__(self) -> str:
        """Show what each piece of evidence contributed, for each word and for the mention, and what is near."""
        rows = [["", *(SHOWN[kind] for kind in self.evidence), "sum", "score"]]
        for one in self.words:
            rows.append([one.word, *_points(one.evidence), f"{one.score:.3f}"])
        if len(self.words) > 1:
            rows.append(["mean", *_points(self.evidence), f"{self.mention['score']:.3f}"])
        lines = [f"{self._claim()}; second comes {self.runner_up}, {self.runner_up_score:.3f}", *table_lines(rows)]
        lines += [f"  {line}" for line in self.known]
        if self.prototype is not None:
            lines.append(
                f"  like prototype {self.prototype.number} of {self.prototype.tag}, {self.prototype.distance:.2f} away"
            )
        return "\n".join([*lines, *map(str, self.nearest)])

    def _claim(self) -> str:
        return f"{self.mention['word']} is {self.mention['entity_group']}, {self.mention['score']:.3f}"

    def to_dict(self) -> dict[str, Any]:
        """Return it as dicts, lists, strings and numbers."""
        return asdict(self)


def table_lines(rows: list[list[str]]) -> list[str]:
    """Return the lines of a table: a column of words, and columns of numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return ["  " + "  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]) for first, *others in rows]


def _points(evidence: dict[str, float]) -> list[str]:
    """Return the points of each piece of evidence, and their sum."""
    return [f"{points:+.1f}" for points in (*evidence.values(), sum(evidence.values()))]


def explain(
    document: Document,
    words: Iterable[TaggedWords],
    model: Model,
    examples: Examples,
    min_score: MinScore,
    n_nearest: int,
) -> list[Explanation]:
    """Explain the mentions of a document, given its sentences with what was found for their words."""
    prototypes = model.piece(Prototypes)
    found = list(words)
    tagged = document.with_sentences([one.sentence for one in found])
    places = [(number, span) for number, one in enumerate(found) for span in one.sentence.spans or ()]

    @cache
    def said_of(number: int, layer: int | None) -> tuple[Model, Logits, dict[str, Logits], list[tuple[range, str]]]:
        """Return what a sentence's mentions are explained by: by tags, or by a layer."""
        one = found[number]
        own = model if layer is None else model.layers[layer].model
        known = [] if own.known is None else own.known.said_of(one.sentence)
        scores = one.scores if layer is None else own.calibration.scores(own.logits(one.features, [one.sentence]))
        return own, scores, own.contributions(one.features, one.sentence), known

    explained = []
    for prediction, (number, span) in zip(tagged.predictions(), places, strict=True):
        if not is_sure(span, min_score):
            continue
        one = found[number]
        rows = slice(span.start, span.end)
        own, scores, contributions, known = said_of(number, layer_of(model, one.tags, one.sentence, span))
        tag = own.tags.index(span.type)
        features = one.features[rows]
        mean_scores = scores[rows].mean(axis=0)
        mean_scores[tag] = -1
        runner_up = int(mean_scores.argmax())
        near = None
        if prototypes is not None and own is model:
            to_own = prototypes.squared_distances(features)[:, prototypes.tags == tag].mean(axis=0)
            number = int(to_own.argmin())
            near = NearPrototype(span.type, number + 1, float(np.sqrt(to_own[number])))
        points = {kind: logits[rows, tag] - logits[rows, runner_up] for kind, logits in contributions.items()}
        by_word = zip(one.sentence.words[rows], scores[rows, tag].tolist(), strict=True)
        explained.append(
            Explanation(
                mention=prediction,
                nearest=near_words(model, features, examples, n_nearest, span.type),
                prototype=near,
                evidence={kind: float(some.mean()) for kind, some in points.items()},
                words=[
                    WordEvidence(word, score, {kind: float(some[i]) for kind, some in points.items()})
                    for i, (word, score) in enumerate(by_word)
                ],
                runner_up=own.tags[runner_up],
                runner_up_score=float(mean_scores[runner_up]),
                known=[
                    *(line for words, line in known if words.start < span.end and words.stop > span.start),
                    *([] if model.borders is None else model.borders.said_of(one.sentence, span)),
                    *said_of_inner(model, one.sentence, span),
                ],
            )
        )
    return explained


def near_words(model: Model, features: Float, examples: Examples, n_nearest: int, asked: str) -> list[NearWord]:
    """Return the labelled words nearest to one of these words, nearest first.

    O words of sentences in which nobody looked for the type that is asked for are left out.
    """
    prototypes = model.piece(Prototypes)
    points = np.asarray(features if prototypes is None else prototypes.project(features), np.float64)
    vectors = examples.vectors.astype(np.float64)
    squares = (points**2).sum(axis=1)[:, None] + (vectors**2).sum(axis=1) - 2 * points @ vectors.T
    distances = np.sqrt(np.maximum(squares, 0).min(axis=0))  # (m,)
    found: list[NearWord] = []
    for i in np.argsort(distances, kind="stable").tolist():
        if len(found) == n_nearest:
            break
        number, position = examples.places[i].tolist()
        sentence = examples.sentences[number]
        words, judged = sentence.words, sentence.judged
        types = {span.type for span in sentence.spans or () if span.start <= position < span.end}
        name = asked if asked in types else model.tags[int(examples.tags[i])]  # it may be of several types
        if name == "O" and judged is not None and asked not in judged:
            continue
        found.append(NearWord(words[position], name, float(distances[i]), " ".join(words), position))
    return found
