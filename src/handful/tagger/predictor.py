"""`Predictor`: the ways to predict, for the tagger and for every baseline."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, overload

import numpy as np

from handful._util.progress import Progress, reporting
from handful.encoders import Encoder
from handful.encoders.card import count_seen
from handful.errors import DataError
from handful.evaluate import Evaluation, evaluate
from handful.text import Document, EntityType, Prediction, PredictionsOfTexts, Sentence

from .decoding import decode
from .finding import CURVE, Find, odds_of
from .inputs import Texts, document_of
from .layers import Layered
from .model import Model, TagModel
from .tagging import MinScore, Notice, TaggedWords, tag_documents, tag_sentences

CURVE_WORDS = 8_192  # that wait to be decided on at several settings at once

Curve = dict[float, list[Sentence]]
"""Sentences with the mentions that are found, by the setting of how much to find."""

AnyText = str | Sentence | Document
"""One text: a str, a `Sentence` or a `Document`."""


class Predictor(ABC):
    """Something that was fitted, and finds mentions."""

    types_: list[EntityType]  # the types, sorted by name
    notice_: Notice | None = None  # looks at sentences that are tagged, and warns once if the encoder reads them badly

    @property
    @abstractmethod
    def model_(self) -> TagModel:
        """The model, which tags words by their features; an error where nothing is fitted."""

    def finding(self, find: Find | None) -> TagModel:
        """Return what tags words with this setting of how much to find; None, the usual one."""
        if find is not None and odds_of(find) != 1:
            raise DataError("find is a setting of a Tagger; this method has none")
        return self.model_

    @abstractmethod
    def _reading(self) -> Encoder:
        """Return the encoder that gives the features of text to predict."""

    @overload
    def predict(  # type: ignore[overload-overlap]
        self, texts: AnyText, *, min_score: MinScore = 0.0, find: Find | None = None, progress: Progress = None
    ) -> list[Prediction]: ...
    @overload
    def predict(
        self,
        texts: Iterable[AnyText | Sequence[str]],
        *,
        min_score: MinScore = 0.0,
        find: Find | None = None,
        progress: Progress = None,
    ) -> list[list[Prediction]]: ...
    def predict(
        self,
        texts: AnyText | Iterable[AnyText | Sequence[str]],
        *,
        min_score: MinScore = 0.0,
        find: Find | None = None,
        progress: Progress = None,
    ) -> list[Prediction] | list[list[Prediction]]:
        """Find mentions.

        For one text they are a list of dicts, each with ``entity_group``, ``score`` (the mean of the words' scores for
        the type), ``word`` and the code-point positions ``start`` and ``end``: ``text[start:end] == word``. For a list
        there is one such list for each text. The text of a list of words is the words joined by single spaces. A
        notebook shows mentions as texts with marks.

        Parameters
        ----------
        texts : a text (str), a `Sentence` or a `Document`; or a list of these, or of lists of words. A column of a data
            set of Hugging Face or of a data frame of pandas can be given where a list can.
        min_score : mentions with a lower score are left out; a dict has a score for some types, by name
        find : how much to find, see `Tagger`; None, as the tagger says
        progress : as for `handful.encoders.Encoder.encode`. The words in all are an estimate, from the share of the
            texts that are done; they are 0 where it is not known how many texts there are.
        """
        if isinstance(texts, str | Sentence | Document):
            (found,) = self.predict_iter([texts], min_score=min_score, find=find, progress=progress)
            return found
        return PredictionsOfTexts(self.predict_iter(texts, min_score=min_score, find=find, progress=progress))

    def predict_iter(
        self,
        texts: Iterable[AnyText | Sequence[str]],
        *,
        min_score: MinScore = 0.0,
        find: Find | None = None,
        progress: Progress = False,
    ) -> Iterator[list[Prediction]]:
        """Yield the mentions of each text, in order, holding few texts at a time.

        Parameters
        ----------
        texts : an iterable of texts, of `Sentence` or `Document`, or of lists of words
        min_score, find, progress : as for `predict`; no progress is shown by default
        """
        found = self.tag(Texts(texts), min_score=min_score, find=find, progress=progress)
        return (document.predictions() for document in found)

    def tag(
        self,
        documents: Iterable[Document],
        *,
        min_score: MinScore = 0.0,
        find: Find | None = None,
        progress: Progress = False,
    ) -> Iterator[Document]:
        """Yield documents with the mentions found in them, in order, holding few documents at a time.

        Parameters
        ----------
        documents : as `handful.text.stream` gives them. Labels that they have are replaced.
        min_score, find, progress : as for `predict`; no progress is shown by default
        """
        model = self.finding(find)
        check_min_score(min_score, model.types)
        return tag_documents(self._reading(), model, documents, min_score, progress, self.notice_)

    def predict_sentences(
        self,
        sentences: Iterable[Sentence | Sequence[str]],
        *,
        min_score: MinScore = 0.0,
        find: Find | None = None,
        progress: Progress = None,
    ) -> list[Sentence]:
        """Return sentences with the mentions found in them; their words and texts stay as they are.

        Parameters
        ----------
        sentences : `Sentence` objects or lists of words
        min_score, find, progress : as for `predict`
        """
        given = _sentences(sentences)
        found = self.tag(Texts(given), min_score=min_score, find=find, progress=progress)
        return [
            replace(sentence, spans=document.sentences[0].spans, allowed=None)
            for sentence, document in zip(given, found, strict=True)
        ]


def check_min_score(min_score: object, types: Iterable[EntityType] | None = None) -> None:
    """Refuse what is not a share, or a dict of shares by the names of types; None, any types."""
    shares = min_score if isinstance(min_score, Mapping) else {"": min_score}
    for name, share in shares.items():
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            of_type = f" of {name}" if name else ""
            raise DataError(f"min_score{of_type} is {share!r}, expected a number from 0 to 1")
    known = {one.name for one in types} if types is not None else shares.keys()
    if isinstance(min_score, Mapping) and (strange := sorted(set(min_score) - known)):
        raise DataError(f"min_score names {', '.join(map(str, strange))}, but the types are {', '.join(sorted(known))}")


def check_whole(name: str, value: object, least: int) -> None:
    """Refuse what is not a whole number, or less than the least."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise DataError(f"{name} is {value!r}, expected a whole number of at least {least}")


def _sentences(sentences: Any) -> list[Sentence]:
    """Return one `Sentence` for each `Sentence` or list of words."""
    if isinstance(sentences, str | bytes | Sentence | Mapping) or not isinstance(sentences, Iterable):
        raise DataError(f"sentences must be a list of Sentences or of lists of words, found {type(sentences).__name__}")
    given = []
    for number, item in enumerate(sentences):
        if isinstance(item, str) or not item:
            raise DataError(f"sentence {number} is {item!r}, expected a Sentence or a list of words")
        if not isinstance(item, Sentence):
            (item,) = document_of(item, f"sentence {number}").sentences
            item = Sentence(item.words)
        given.append(item)
    return given


def evaluate_on(
    gold: Sequence[Sentence],
    encoder: Encoder,
    model: Model,
    fitted_on: Iterable[Sentence],
    notice: Notice | None,
    progress: Progress,
) -> Evaluation:
    """Tag sentences, which must be wholly labelled, and compare; `fitted_on` are the labelled ones of the fit."""
    for number, sentence in enumerate(gold):
        if not sentence.is_labelled:
            raise DataError(
                f"sentence {number} (from 0) is not wholly labelled, so nothing can be compared; label it or "
                f"leave it out: {sentence}"
            )
    found: list[Sentence] = []
    confidences: list[Sequence[float]] = []
    curve: Curve = {find: [] for find in sorted({*CURVE, model.find})}
    waiting: list[TaggedWords] = []
    n_words, n_done = sum(len(sentence.words) for sentence in gold), 0
    with reporting(progress, n_words) as report:
        for words in tag_sentences(encoder, model, gold, notice):
            found.append(words.sentence)
            confidences.append(words.scores[range(len(words.tags)), words.tags].tolist())
            waiting.append(words)
            n_done += len(words.tags)
            if n_done == n_words or sum(len(one.tags) for one in waiting) >= CURVE_WORDS:
                _tag_at_settings(encoder, model, waiting, curve)
                waiting = []
            report(n_done, n_words)
    known = {sentence.words for sentence in fitted_on}
    return replace(
        evaluate(gold, found, types=model.types, confidences=confidences, curve=curve),
        n_fitted=sum(sentence.words in known for sentence in gold),
        n_trained=count_seen(encoder, gold),
        find=model.find,
    )


def _tag_at_settings(encoder: Encoder, model: Model, tagged: Sequence[TaggedWords], curve: Curve) -> None:
    """Add sentences with the mentions that are found at each setting of how much to find."""
    sentences = [one.sentence for one in tagged]
    n_words = [len(one.words) for one in sentences]
    lost = encoder.unreadable(sentences)
    features = np.concatenate([one.features for one in tagged])
    logits = model.logits(features, sentences)
    layered = Layered(model, features, sentences, lost) if model.layers else None
    for find, found in curve.items():
        tags, scores = replace(model, find=find).path(logits, n_words), np.zeros_like(logits)
        tags = model.bordered(tags, scores, sentences)
        tags[lost] = 0
        begins = None if model.seams is None else model.seams.begins(features, tags, n_words)
        spans = decode(scores, n_words, model.tags[1:], tags, begins)
        spans = spans if layered is None else layered.spans(spans, find)
        found += [replace(one, spans=some) for one, some in zip(sentences, spans, strict=True)]
