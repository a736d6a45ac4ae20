"""`Tagger`: an encoder that stays as it is, prototypes learned from a handful of labels, and decoding."""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from handful._util.progress import reporting
from handful.encoders import EMBEDDED
from handful.encoders._opened import (
    AnyEncoder,
    OpenedEncoder,
    WordEncoder,
    encode,
    encoder_folder,
    is_object,
    open_encoder,
    open_saved,
)
from handful.errors import DataError, ModelError
from handful.evaluate._evaluation import Evaluation, evaluate
from handful.text import Sentence

from ._decode import Mention
from ._explanation import Explanation, check_n_nearest, explain
from ._inputs import gather, gather_for_fit, gather_to_add, sentences_to_tag, text_to_explain, text_to_tag
from ._language import LanguageWatch
from ._learning import ESTIMATOR, check, learn
from ._model import Examples, Model
from ._predicting import Prediction, as_prediction, batches, check_min_score, mentions, scored
from ._ratio import AUTO
from ._saving import ENCODER, Saved, read_folder, write_folder
from ._summary import FitSummary, summarise
from ._training import TrainingText, by_words, types_to_learn

__all__ = ["Tagger"]

Progress = Any  # None, bool, or a function of the words done and the words in all


class Tagger:
    """Finds mentions of the types in a handful of labelled sentences.

    Parameters
    ----------
    encoder : str, path or object, default="handful-en"
        The name of an embedded encoder, the path of one (see `handful.encoders.load`), or any object with ``dim``,
        ``fingerprint`` and ``encode``.
    method : {"handful", "paper"}, default="handful"
        "paper" is the published method: a word gets the tag of the nearest prototype. "handful" adds what the labels
        alone say, and how tags follow each other.
    o_ratio : "auto", float or None, default="auto"
        The share of words, of all that are given to `fit`, that are in no mention; "auto" estimates it from three
        mentions of each type on, None is for no such constraint.
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
    >>> tagger = Tagger(o_ratio=0.9).fit(["[Ekeus](PER) heads for [Baghdad](LOC)"], "corpus.txt")  # doctest: +SKIP
    >>> tagger.predict("Ekeus heads for Baghdad")  # doctest: +SKIP
    """

    types_: list[str]
    summary_: FitSummary

    def __init__(
        self,
        encoder: AnyEncoder = "handful-en",
        *,
        method: str = "handful",
        o_ratio: float | str | None = AUTO,
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
        self.method = method
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
        return f"<Tagger(encoder={encoder}, method={self.method!r}, o_ratio={self.o_ratio!r}), {fitted}>"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_stored": None}  # files in use; a copy opens them for itself

    def fit(self, support: Any, unlabelled: Any = None, *, progress: Progress = None) -> "Tagger":
        """Learn from labelled sentences and unlabelled text.

        The labels are written onto unlabelled sentences with the same words; a labelled sentence that is not there is
        added to them.

        Parameters
        ----------
        support : path or list
            Labelled sentences, wholly or in part: a file; or a list of `Sentence`, of texts with their mentions
            marked, as in ``[Ekeus](PER) heads for [Baghdad](LOC)``, of dicts as annotation tools write them, and of
            spaCy's pairs, as in ``("To Baghdad", {"entities": [(3, 10, "LOC")]})``. Sentences among them without labels
            count as unlabelled text.
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
        sentences, labels, notes = gather_for_fit(support, unlabelled)
        types_to_learn(labels.values())  # these two before the long wait
        check(self.method, self.o_ratio, self._parameters())
        encoder = self._encoder_for_fit()
        text = TrainingText.empty(encoder.dim).grown(sentences, encode(encoder, sentences, progress))
        self._learn(text.labelled(labels), notes)
        self._warn_if_foreign(sentences)
        return self

    def add(self, sentences: Any, unlabelled: Any = None, *, progress: Progress = None) -> "Tagger":
        """Add labelled sentences, and fit again; what was encoded before is not encoded again.

        Parameters
        ----------
        sentences : path or list
            As the support of `fit`. One with the words of a sentence that is labelled already gives it new labels.
        unlabelled : path or list, optional
            More text, as in `fit`. A tagger from disk lacks the text it was fitted with, if any: give that again.
        progress
            As for `handful.encoders.Encoder.encode`.

        Returns
        -------
        Tagger
            This one. If the fit fails, it is as it was before.
        """
        _, examples = self._fitted()
        text = self._text
        if text is None:
            if unlabelled is None and self.summary_.n_unlabelled_words:
                n_words = f"{self.summary_.n_unlabelled_words:,} unlabelled words"
                raise ModelError(
                    f"a saved tagger does not hold the {n_words} of its fit: give them again (unlabelled=)"
                )
            text = TrainingText.empty(self._open().dim).labelled(by_words(examples.sentences))
        new, labels, notes = gather_to_add(sentences, unlabelled, text.labels, text.places)
        if new:
            text = text.grown(new, encode(self._encoder_for_fit(), new, progress))
        self._learn(text.labelled(labels), self._notes + notes)
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
        check_min_score(min_score)
        if isinstance(texts, str | bytes | Sentence | Mapping) or not isinstance(texts, Iterable):
            raise DataError(f"texts must be a list of texts, Sentences or lists of words, found {type(texts).__name__}")
        return self._predict_documents(
            (text_to_tag(text, f"text {number} (from 0)") for number, text in enumerate(texts)), min_score
        )

    def _predict_documents(self, documents: Iterator[list[Sentence]], min_score: float) -> Iterator[list[Prediction]]:
        for batch in batches(documents):
            found = self._mentions([sentence for sentences in batch for sentence in sentences], min_score)
            for sentences in batch:
                yield [as_prediction(sentence, mention) for sentence in sentences for mention in next(found)]

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
        check_min_score(min_score)
        given = sentences_to_tag(sentences)
        found = self._mentions(given, min_score)
        return [
            replace(sentence, spans=tuple(mention.span for mention in spans), allowed=None)
            for sentence, spans in zip(given, found, strict=True)
        ]

    def explain(self, text: Any, *, min_score: float = 0.0, n_nearest: int = 3) -> list[Explanation]:
        """Say for each mention why it was found.

        Parameters
        ----------
        text
            One text: a str, a `Sentence` or a list of words.
        min_score : float
            Mentions of a lower score are left out.
        n_nearest : int
            How many labelled words to show for each.
        """
        model, examples = self._fitted()
        check_min_score(min_score)
        check_n_nearest(n_nearest)
        sentences = text_to_explain(text, "the text")
        self._warn_if_foreign(sentences)
        return explain(model, examples, scored(self._encoder_for_fit(), model, sentences), min_score, n_nearest)

    def evaluate(self, sentences: Any, *, progress: Progress = None) -> Evaluation:
        """Predict labelled sentences, and compare.

        Parameters
        ----------
        sentences : path or list
            Labelled sentences, in what shape `fit` takes them, all of them wholly labelled.
        progress
            As for `handful.encoders.Encoder.encode`.
        """
        model, _ = self._fitted()
        gold, _ = gather(sentences, "the sentences to evaluate on", is_inline=True)
        for number, sentence in enumerate(gold):
            if not sentence.is_labelled:
                raise DataError(
                    f"sentence {number} (from 0) is not wholly labelled, so nothing can be compared; label it or "
                    f"leave it out: {sentence}"
                )
        self._warn_if_foreign(gold)
        with reporting(progress, sum(len(sentence.words) for sentence in gold)) as report:
            return evaluate(gold, scored(self._encoder_for_fit(), model, gold), model.types, report)

    def save(self, path: str | os.PathLike[str], *, include_encoder: bool = False) -> None:
        """Write the fitted tagger to a folder, all of it or nothing.

        Parameters
        ----------
        path
            The folder. One that holds a saved tagger is replaced; one with anything else is left alone.
        include_encoder
            Put a copy of the encoder into the folder. Else only its name is kept, or the absolute path of its folder.
            A tagger that was loaded with its encoder inside is saved with it.
        """
        model, examples = self._fitted()
        is_inside = include_encoder or self._encoder_is_inside
        encoder = self._open()
        reference = encoder.reference if isinstance(encoder, OpenedEncoder) else None
        folder = encoder_folder(reference) if is_inside else None
        precision = getattr(encoder, "precision", None)
        saved = Saved(
            parameters={"method": self.method, "o_ratio": self.o_ratio, "layers": self.layers}
            | self._parameters()
            | {"temperature": model.temperature},
            encoder={
                "reference": ENCODER if is_inside else reference,
                "is_inside": is_inside,
                "fingerprint": encoder.fingerprint,
                "dim": int(encoder.dim),
                "precision": precision if isinstance(precision, str) else None,
            },
            model=model,
            examples=examples,
            summary=self.summary_,
        )
        write_folder(Path(path), saved, folder)

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
        chosen, opened = open_saved(folder, saved.encoder, encoder, saved.parameters.get("layers", -1), threads)
        try:
            tagger = cls(chosen, **saved.parameters, threads=threads, cache=cache)
        except TypeError:
            raise ModelError(f"{folder}: its parameters are not those of a tagger: {saved.parameters}") from None
        tagger._opened = opened
        tagger._model, tagger._examples, tagger.summary_ = saved.model, saved.examples, saved.summary
        tagger.types_ = list(saved.model.types)
        tagger._encoder_is_inside = encoder is None and bool(saved.encoder.get("is_inside"))
        return tagger

    def _parameters(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ESTIMATOR}

    def _learn(self, text: TrainingText, notes: list[str]) -> None:
        """Fit, and only when all went well take the result over."""
        types = types_to_learn(text.labels.values())
        learned = learn(text, types, self.method, self.o_ratio, self._parameters())
        summary = summarise(text, learned, self.method, self.o_ratio == AUTO, notes)
        self._examples = text.examples(learned.model, learned.allowed)
        self._text, self._model, self._notes = text, learned.model, notes
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
            from handful.encoders.cache._stored import StoredEncoder

            self._stored = StoredEncoder(self._open())
        return self._stored

    def _mentions(self, sentences: Sequence[Sentence], min_score: float) -> Iterator[list[Mention]]:
        """Return the mentions of each sentence."""
        model, _ = self._fitted()
        self._warn_if_foreign(sentences)
        return mentions(self._open(), model, sentences, min_score)

    def _warn_if_foreign(self, sentences: Iterable[Sentence]) -> None:
        if isinstance(self.encoder, str) and self.encoder in EMBEDDED:
            self._watch.warn(sentences, self.encoder)
