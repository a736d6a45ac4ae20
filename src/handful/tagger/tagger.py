"""`Tagger`: an encoder that stays as it is, prototypes learned from a handful of labels, and decoding."""

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from handful.decode import Mention, decode
from handful.encoders import EMBEDDED
from handful.errors import DataError, HandfulError, HandfulWarning, ModelError
from handful.text import Sentence

from .encoder import AnyEncoder, WordEncoder, encode, encoder_folder, is_object, open_encoder
from .inputs import document, gather
from .language import LanguageWatch
from .model import Examples, Model
from .saving import ENCODER, Saved, read_folder, write_folder
from .summary import FitSummary, summarise
from .training import TrainingText, by_words, types_to_learn

__all__ = ["Tagger"]

FIRST_BATCH, BATCH = 256, 8192  # words that prediction takes at once, at first and at most

Progress = Any  # None, bool, or a function of the words done and the words in all
Prediction = dict[str, Any]


class Tagger:
    """Finds mentions of the types in a handful of labelled sentences.

    Parameters
    ----------
    encoder : str, path or object, default="handful-en"
        The name of an embedded encoder, the path of one (see `handful.encoders.load`), or any object with ``dim``,
        ``fingerprint`` and ``encode``.
    o_ratio : float or None
        The share of words, of all that are given to `fit`, that are in no mention; None for no such constraint.
    assignment, subspace, o_prototypes, type_prototypes, scaling, shrinkage, temperature, max_iter
        See `handful.cluster.SubspaceKMeans`.
    layers : int or sequence of int, default=-1
        Which hidden layer of the encoder to use, or which to take the mean of.
    threads : int or None
        How many threads the encoder uses; None, as many as this process may.
    cache : bool, default=True
        Whether the features of the text to fit on are kept on disk, so that no sentence is encoded twice. Those of
        text to predict never are.

    Attributes
    ----------
    types_ : list of str
        The types, sorted.
    summary_ : FitSummary
        What the fit learned, and what to try next.

    Examples
    --------
    >>> tagger = Tagger(o_ratio=0.9)
    >>> tagger.fit(["[Ekeus](PER) heads for [Baghdad](LOC)"], unlabelled=["Rao left for Delhi"])  # doctest: +SKIP
    >>> tagger.predict("Ekeus heads for Baghdad")  # doctest: +SKIP
    """

    types_: list[str]
    summary_: FitSummary

    def __init__(
        self,
        encoder: AnyEncoder = "handful-en",
        *,
        o_ratio: float | None = None,
        assignment: str = "hard",
        subspace: bool = True,
        o_prototypes: int = 10,
        type_prototypes: int = 1,
        scaling: str = "within",
        shrinkage: str | float | None = "oas",
        temperature: float = 1.0,
        max_iter: int = 10,
        layers: int | Sequence[int] = -1,
        threads: int | None = None,
        cache: bool = True,
    ) -> None:
        self.encoder = encoder
        self.o_ratio = o_ratio
        self.assignment = assignment
        self.subspace = subspace
        self.o_prototypes = o_prototypes
        self.type_prototypes = type_prototypes
        self.scaling = scaling
        self.shrinkage = shrinkage
        self.temperature = temperature
        self.max_iter = max_iter
        self.layers = layers
        self.threads = threads
        self.cache = cache
        self._opened: WordEncoder | None = None
        self._stored: WordEncoder | None = None
        self._text: TrainingText | None = None
        self._notes: list[str] = []
        self._model: Model | None = None
        self._examples: Examples | None = None
        self._encoder_is_inside = False
        self._watch = LanguageWatch()

    def __repr__(self) -> str:
        encoder = type(self.encoder).__name__ if is_object(self.encoder) else repr(self.encoder)
        fitted = f"fitted to {', '.join(self.types_)}" if self._model is not None else "not fitted"
        return f"<Tagger(encoder={encoder}, o_ratio={self.o_ratio}), {fitted}>"

    def fit(self, support: Any, unlabelled: Any = None, *, progress: Progress = None) -> "Tagger":
        """Learn from labelled sentences and unlabelled text.

        The labels are written onto unlabelled sentences with the same words; a labelled sentence that is not there is
        added to them.

        Parameters
        ----------
        support : path or list
            Labelled sentences, wholly or in part: a file; or a list of `Sentence`, of texts with their mentions
            marked, as in ``[Ekeus](PER) heads for [Baghdad](LOC)``, and of dicts as annotation tools write them.
            Sentences among them without labels count as unlabelled text.
        unlabelled : path or list, optional
            Text of the kind to be tagged: a file; or a list of texts (documents), of `Sentence`, lists of words, and
            dicts. Labels that it has are not used.
        progress
            As for `handful.encoders.Encoder.encode`.

        Returns
        -------
        Tagger
            This one.
        """
        given, notes = gather(support, "the support", is_inline=True)
        labels = by_words(sentence for sentence in given if not sentence.is_unlabelled)
        if not labels:
            raise DataError(
                f"the support has no labels: none of its {len(given)} sentences is labelled; mark mentions, as in "
                "[Baghdad](LOC), or give a file with tags"
            )
        if n_open := sum(sentence.is_unlabelled for sentence in given):
            notes.append(f"{n_open} sentences of the support have no labels and count as unlabelled text")
        texts: list[Sentence] = []
        if unlabelled is not None:
            texts, more = gather(unlabelled, "the unlabelled text", is_inline=False)
            notes += more
            if n_labelled := sum(not sentence.is_unlabelled for sentence in texts):
                notes.append(f"labels in the unlabelled text are not used: {n_labelled} sentences have them")
        sentences = texts + [sentence for sentence in given if sentence.is_unlabelled]
        known = {sentence.words for sentence in sentences}
        sentences += [sentence for words, sentence in labels.items() if words not in known]
        self._estimator()._check_parameters()  # before the long wait
        types_to_learn(labels.values())
        encoder = self._encoder_for_fit()
        text = TrainingText.empty(encoder.dim).grown(sentences, encode(encoder, sentences, progress))
        self._learn(text.labelled(labels), notes)
        self._warn_if_foreign(sentences)
        return self

    def add(self, sentences: Any, *, progress: Progress = None) -> "Tagger":
        """Add labelled sentences, and fit again; what was encoded before is not encoded again.

        Parameters
        ----------
        sentences : path or list
            As the support of `fit`. One with the words of a sentence that is labelled already gives it new labels.
        progress
            As for `handful.encoders.Encoder.encode`.

        Returns
        -------
        Tagger
            This one. If the fit fails, it is as it was before.
        """
        self._fitted()
        if self._text is None:
            raise ModelError(
                "a tagger from disk does not hold the text it was fitted on: fit again, with all sentences"
            )
        given, notes = gather(sentences, "the sentences to add", is_inline=True)
        labels = by_words(sentence for sentence in given if not sentence.is_unlabelled)
        new: dict[tuple[str, ...], Sentence] = {}
        for sentence in given:
            if sentence.words not in self._text.places:
                new.setdefault(sentence.words, sentence)
        if n_changed := sum(
            before.spans != labels[words].spans or before.allowed != labels[words].allowed
            for words, before in self._text.labels.items()
            if words in labels
        ):
            notes.append(f"{n_changed} sentences got new labels")
        text = self._text
        if new:
            text = text.grown(list(new.values()), encode(self._encoder_for_fit(), list(new.values()), progress))
        self._learn(text.labelled({**text.labels, **labels}), self._notes + notes)
        return self

    def predict(self, texts: Any, *, min_score: float = 0.0) -> Any:
        """Find mentions.

        Parameters
        ----------
        texts
            A text (str) or a `Sentence`; or a list of texts, of `Sentence`, or of lists of words.
        min_score : float
            Mentions of a lower score are left out.

        Returns
        -------
        list of dict, or list of lists of them
            For a text or a `Sentence` the mentions in it, with ``entity_group``, ``score`` (the mean of the words'
            scores for the type), ``word`` and the code-point positions ``start`` and ``end``: ``text[start:end] ==
            word``. For a list, one such list each. The text of words is the words joined by single spaces.
        """
        if isinstance(texts, str | Sentence):
            return next(self.predict_iter([texts], min_score=min_score))
        return list(self.predict_iter(texts, min_score=min_score))

    def predict_iter(self, texts: Iterable[Any], *, min_score: float = 0.0) -> Iterator[list[Prediction]]:
        """Yield the mentions of each text, in order, holding few texts at a time.

        Parameters
        ----------
        texts
            An iterable of texts, of `Sentence`, or of lists of words.
        min_score : float
            Mentions of a lower score are left out.
        """
        self._fitted()
        _check_min_score(min_score)
        if isinstance(texts, str | Sentence | Mapping) or not isinstance(texts, Iterable):
            raise DataError(f"texts must be a list of texts, Sentences or lists of words, found {type(texts).__name__}")
        documents = (document(item, f"text {number}") for number, item in enumerate(texts))
        return self._predict_documents(documents, min_score)

    def _predict_documents(self, documents: Iterator[list[Sentence]], min_score: float) -> Iterator[list[Prediction]]:
        for batch in _batches(documents):
            sentences = [sentence for sentences in batch for sentence in sentences]
            found = iter(self._mentions(sentences, min_score))
            for document_sentences in batch:
                yield [as_prediction(sentence, mention) for sentence in document_sentences for mention in next(found)]

    def predict_sentences(self, sentences: Iterable[Any], *, min_score: float = 0.0) -> list[Sentence]:
        """Return sentences with the mentions found in them; their words and texts stay as they are.

        Parameters
        ----------
        sentences
            `Sentence` objects or lists of words.
        min_score : float
            Mentions of a lower score are left out.
        """
        self._fitted()
        _check_min_score(min_score)
        given = []
        for number, item in enumerate(sentences):
            if isinstance(item, str) or not item:
                raise DataError(f"sentence {number} is {item!r}, expected a Sentence or a list of words")
            given += document(item, f"sentence {number}")
        found = self._mentions(given, min_score)
        return [
            replace(sentence, spans=tuple(mention.span for mention in mentions), allowed=None)
            for sentence, mentions in zip(given, found, strict=True)
        ]

    def save(self, path: str | os.PathLike[str], *, include_encoder: bool = False) -> None:
        """Write the fitted tagger to a folder, all of it or nothing.

        Parameters
        ----------
        path
            The folder. One that holds a saved tagger is replaced; one with anything else is left alone.
        include_encoder
            Put a copy of the encoder into the folder. Else only its name or path is kept, as it was given. A tagger
            that was loaded with its encoder inside is saved with it.
        """
        from .card import model_card

        model, examples = self._fitted()
        is_inside = include_encoder or self._encoder_is_inside
        folder = encoder_folder(self.encoder) if is_inside else None
        encoder = self._open()
        reference = None if is_object(self.encoder) else os.fspath(self.encoder)  # type: ignore[arg-type]
        layers = list(self.layers) if isinstance(self.layers, Sequence) else self.layers
        saved = Saved(
            parameters={
                "o_ratio": None if self.o_ratio is None else float(self.o_ratio),
                "assignment": self.assignment,
                "subspace": bool(self.subspace),
                "o_prototypes": int(self.o_prototypes),
                "type_prototypes": int(self.type_prototypes),
                "scaling": self.scaling,
                "shrinkage": self.shrinkage if isinstance(self.shrinkage, str | None) else float(self.shrinkage),
                "temperature": model.temperature,
                "max_iter": int(self.max_iter),
                "layers": layers,
            },
            encoder={
                "reference": ENCODER if is_inside else reference,
                "is_inside": is_inside,
                "fingerprint": encoder.fingerprint,
                "dim": int(encoder.dim),
            },
            model=model,
            examples=examples,
            summary=self.summary_,
        )
        write_folder(Path(path), saved, model_card(saved), folder)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        encoder: AnyEncoder | None = None,
        threads: int | None = None,
        cache: bool = True,
    ) -> "Tagger":
        """Read a tagger from a folder that `save` wrote.

        Parameters
        ----------
        path
            The folder.
        encoder
            The encoder, if it is no longer where it was, or was given to `Tagger` as an object. It must be the one
            that the tagger was fitted with.
        threads, cache
            As for `Tagger`.
        """
        folder = Path(path)
        saved = read_folder(folder)
        reference = saved.encoder.get("reference")
        is_inside = saved.encoder.get("is_inside") is True and encoder is None
        if encoder is None:
            if not isinstance(reference, str):
                raise ModelError(f"{folder}: its encoder was given as an object; give it again: load(..., encoder=)")
            encoder = folder / ENCODER if is_inside else reference
        try:
            tagger = cls(encoder, **saved.parameters, threads=threads, cache=cache)
        except TypeError:
            raise ModelError(f"{folder}: its parameters are not those of a tagger: {saved.parameters}") from None
        if is_object(encoder):
            tagger.layers = -1  # the fingerprint tells whether they are the right ones
        try:
            opened = tagger._open()
        except HandfulError as error:
            raise ModelError(f"{folder}: its encoder cannot be loaded: {error}") from None
        wanted = saved.encoder["fingerprint"]
        if opened.fingerprint != wanted or opened.dim != saved.encoder["dim"]:
            raise ModelError(
                f"{folder}: was fitted with another encoder: {reference or 'an object'} with fingerprint {wanted[:16]} "
                f"and {saved.encoder['dim']} numbers a word; found is {encoder} with "
                f"fingerprint {opened.fingerprint[:16]} and {opened.dim}. Give the one it was fitted with "
                "(encoder=), or fit again"
            )
        tagger._model, tagger._examples, tagger.summary_ = saved.model, saved.examples, saved.summary
        tagger.types_ = list(saved.model.types)
        tagger._encoder_is_inside = is_inside
        return tagger

    def _estimator(self) -> Any:
        from handful.cluster import SubspaceKMeans

        return SubspaceKMeans(
            self.o_ratio,
            assignment=self.assignment,
            subspace=self.subspace,
            o_prototypes=self.o_prototypes,
            type_prototypes=self.type_prototypes,
            scaling=self.scaling,
            shrinkage=self.shrinkage,
            temperature=self.temperature,
            max_iter=self.max_iter,
        )

    def _learn(self, text: TrainingText, notes: list[str]) -> None:
        """Fit, and only when all went well take the result over."""
        types = types_to_learn(text.labels.values())
        allowed = text.allowed(types)
        fitted = self._estimator().fit(text.features, allowed)
        model = Model(
            tuple(types),
            fitted.prototypes_,
            fitted.prototype_tags_.astype(np.int64),
            fitted._learned_projection(),
            float(self.temperature),
        )
        summary = summarise(text, model, fitted, allowed, notes)
        self._examples = text.examples(model, allowed)
        self._text, self._model, self._notes = text, model, notes
        self.types_, self.summary_ = types, summary

    def _fitted(self) -> tuple[Model, Examples]:
        if self._model is None or self._examples is None:
            raise DataError("this tagger is not fitted: call fit, or load one that is")
        return self._model, self._examples

    def _open(self) -> WordEncoder:
        if self._opened is None:
            self._opened = open_encoder(self.encoder, self.layers, self.threads)
        return self._opened

    def _encoder_for_fit(self) -> WordEncoder:
        """Return the encoder with its store, if features are to be kept."""
        if not self.cache:
            return self._open()
        if self._stored is None:
            from handful.encoders.stored import StoredEncoder

            self._stored = StoredEncoder(self._open())
        return self._stored

    def _scores(self, sentences: Sequence[Sentence], *, is_stored: bool = False) -> Iterator[Any]:
        """Yield batches of sentences with their features and tag scores; one after the other, so memory is bounded."""
        model, _ = self._fitted()
        self._warn_if_foreign(sentences)
        encoder = self._encoder_for_fit() if is_stored else self._open()
        for batch in _batches(([sentence] for sentence in sentences), BATCH):
            flat = [sentence for (sentence,) in batch]
            features = encode(encoder, flat, progress=False)
            yield flat, features, model.scores(features)

    def _mentions(self, sentences: Sequence[Sentence], min_score: float) -> Iterator[list[Mention]]:
        """Yield the mentions of each sentence."""
        model, _ = self._fitted()
        for batch, _, scores in self._scores(sentences):
            for mentions in decode(scores, [len(sentence.words) for sentence in batch], model.types):
                yield [mention for mention in mentions if mention.score >= min_score]

    def _warn_if_foreign(self, sentences: Iterable[Sentence]) -> None:
        is_english = isinstance(self.encoder, str) and self.encoder in EMBEDDED
        if is_english and self._watch.is_hardly_english(sentences):
            warnings.warn(
                f"the text is hardly English, and {self.encoder} knows English only: expect little, or use an encoder "
                "for its language (encoder=)",
                HandfulWarning,
                stacklevel=3,
            )


def as_prediction(sentence: Sentence, mention: Mention) -> Prediction:
    """Return a mention in the shape of Hugging Face; positions are those in the document."""
    sentence = sentence.with_text()
    text, starts, span = sentence.text or "", sentence.starts or (), mention.span
    start, last = starts[span.start], span.end - 1
    end = starts[last] + len(sentence.words[last])
    return {
        "entity_group": span.label,
        "score": mention.score,
        "word": text[start:end],
        "start": sentence.offset + start,
        "end": sentence.offset + end,
    }


def _batches(documents: Iterator[list[Sentence]], size: int = FIRST_BATCH) -> Iterator[list[list[Sentence]]]:
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
        n_words += sum(len(sentence.words) for sentence in sentences)
        if n_words >= size:
            yield batch
            batch, n_words, size = [], 0, min(2 * size, BATCH)
    if batch:
        yield batch


def _check_min_score(min_score: object) -> None:
    if isinstance(min_score, bool) or not isinstance(min_score, int | float) or not 0 <= min_score <= 1:
        raise DataError(f"min_score is {min_score!r}, expected a number from 0 to 1")
