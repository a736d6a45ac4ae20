"""`Fitted`: what a tagger is once it is fitted. It answers questions, and is saved and loaded."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from handful._util.files import PathLike
from handful._util.parallel import several_threads
from handful._util.progress import Progress
from handful.encoders import Encoder
from handful.encoders.opened import AnyEncoder, encoder_folder, is_object, is_path, open_encoder, open_saved
from handful.errors import DataError, ModelError
from handful.evaluate import Evaluation
from handful.text import EntityType, Sentence, types_of

from ._evaluating import evaluate_on
from ._summary import FitSummary
from ._watch import Watch
from .explaining import Explanation, check_n_nearest, explain
from .inputs import documents_of, gather, one_text
from .model import Examples, Model
from .predictor import check_min_score
from .saving import Saved, read_folder, saved_encoder, write_folder
from .suggesting import suggest
from .tagging import MinScore, tag_batches, tag_sentences
from .training_text import TrainingText

if TYPE_CHECKING:
    from handful.cluster import SubspaceKMeans
    from handful.encoders import CachedEncoder

__all__ = ["Fitted"]


class Fitted:
    """An encoder, and what was learned on its features; `Tagger` describes the parameters."""

    encoder: AnyEncoder
    types: Any
    names: bool
    method: str
    o_ratio: float | str | None
    layers: int | Sequence[int]
    threads: int | None
    cache: bool | str
    types_: list[EntityType]
    _clusters: "SubspaceKMeans | None"

    def __init__(self) -> None:
        self._saved_clusters: dict[str, Any] | None = None
        self._opened: Encoder | None = None
        self._cached: CachedEncoder | None = None
        self._text: TrainingText | None = None
        self._notes: list[str] = []
        self._summary: FitSummary | Callable[[], FitSummary] | None = None
        self._model: Model | None = None
        self._examples: Examples | None = None
        self._encoder_is_inside = False
        self._watch: Watch | None = None

    @property
    def summary_(self) -> FitSummary:
        """What the fit learned; to find examples in the text takes a moment, so it is made when it is asked for."""
        if self._summary is None:
            raise AttributeError("this tagger is not fitted, so it has no summary_")
        if not isinstance(self._summary, FitSummary):
            with several_threads():
                self._summary = self._summary()
        return self._summary

    @property
    def encoder_(self) -> Encoder:
        """The opened encoder."""
        return self._open()

    @property
    def model_(self) -> Model:
        """The model that the fit made; an error if there is none."""
        return self._fitted()[0]

    @property
    def text_(self) -> TrainingText | None:
        """The sentences of the fit, with their features; None for a tagger from disk."""
        return self._text

    def explain(self, text: Any, *, min_score: MinScore = 0.0, n_nearest: int = 3) -> list[Explanation]:
        """Return for each mention why it was found.

        Parameters
        ----------
        text
            One text: a str, a `Sentence`, a `Document` or a list of words.
        min_score : float or dict
            Mentions with a lower score are left out; a dict has a score for some types, by name.
        n_nearest : int
            How many labelled words to show for each.
        """
        model, examples = self._fitted()
        check_min_score(min_score, model.types)
        check_n_nearest(n_nearest)
        document = one_text(text, "the text")
        words = tag_sentences(self._looking_up(), model, document.sentences, self._notice)
        return explain(document, words, model, examples, min_score, n_nearest)

    def suggest(self, texts: Any, n: int = 20, *, progress: Progress = None) -> list[Sentence]:
        """Choose sentences to label next: doubtful ones, unlike those that are labelled, for every type in turn.

        Parameters
        ----------
        texts : path or iterable
            Unlabelled text, as for `fit`, of any size: a file, which is read as it goes; or texts (documents),
            `Sentence`, `Document` and lists of words. Sentences that are labelled already are passed over.
        n : int
            How many sentences.
        progress
            As for `predict`.

        Returns
        -------
        list of Sentence
            With the mentions that are found in them now, the most useful first; fewer where there are no more. The
            same every time. Correct them, and give them to `add`.
        """
        model, examples = self._fitted()
        if isinstance(n, bool) or not isinstance(n, int) or n < 1:
            raise DataError(f"n is {n!r}, expected a whole number of at least 1")
        encoder = self._looking_up()
        known = tag_sentences(encoder, model, examples.sentences)
        documents = documents_of(texts, "the texts to choose from")
        found = (words for _, tagged in tag_batches(encoder, model, documents, progress) for words in tagged)
        return suggest(found, known, [self.summary_.mentions.get(one.name, 0) for one in model.types], n)

    def evaluate(self, sentences: Any, *, progress: Progress = None) -> Evaluation:
        """Predict labelled sentences, and compare.

        Parameters
        ----------
        sentences : path or list
            Labelled sentences, in any form that `fit` takes, all of them wholly labelled.
        progress
            As for `handful.encoders.Encoder.encode`.

        Returns
        -------
        Evaluation
            Its ``notes`` say if sentences were labelled in the fit, or were in the training of the encoder.
        """
        model, examples = self._fitted()
        gold = gather(sentences, "the sentences to evaluate on", is_inline=True).sentences
        return evaluate_on(gold, self._caching(), model, examples.sentences, self._notice, progress)

    def save(self, path: PathLike, *, include_encoder: bool | str = False) -> None:
        """Write the fitted tagger to a folder, all of it or nothing.

        Parameters
        ----------
        path
            The folder. One that holds a saved tagger is replaced; one with anything else is left alone.
        include_encoder : bool or "auto"
            Put a copy of the encoder into the folder. Else only its name is kept, or the absolute path of its folder.
            "auto" puts one there if the encoder was given by its path, so that other machines can read the folder.
            A tagger that was loaded with its encoder inside is saved with it.
        """
        saved, encoder = self._to_save(include_encoder)
        write_folder(Path(path), saved, encoder)

    @classmethod
    def load(
        cls, path: PathLike, *, encoder: AnyEncoder | None = None, threads: int | None = None, cache: bool | str = True
    ) -> Self:
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
            given = {name: saved.parameters[name] for name in ("types", "names", "method", "o_ratio", "layers")}
            make: Any = cls
            tagger: Self = make(chosen, **given | {"types": types_of(given["types"])}, threads=threads, cache=cache)
            tagger._saved_clusters = saved.parameters["clusters"]
            if not isinstance(tagger._saved_clusters, dict | None):
                raise DataError("clusters are not those of a clustering")
        except (KeyError, DataError):
            raise ModelError(f"{folder}: its parameters are not those of a tagger: {saved.parameters}") from None
        tagger._opened = opened
        tagger._model, tagger._examples, tagger._summary = saved.model, saved.examples, saved.summary
        tagger.types_ = list(saved.model.types)
        tagger._encoder_is_inside = encoder is None and bool(saved.encoder.get("is_inside"))
        return tagger

    def _to_save(self, include_encoder: bool | str) -> tuple[Saved, Path | None]:
        """Return what `save` writes, and the folder of the encoder if that is to be inside."""
        model, examples = self._fitted()
        encoder = self._open()
        reference = None if is_object(self.encoder) else encoder.reference
        if include_encoder == "auto":
            include_encoder = reference is not None and is_path(reference)
        is_inside = bool(include_encoder) or self._encoder_is_inside
        saved = Saved(
            parameters={
                "types": [{"name": one.name, "description": one.description} for one in types_of(self.types)],
                "names": self.names,
                "method": self.method,
                "o_ratio": self.o_ratio,
                "clusters": self._saved_clusters or _parameters(self._clusters),
                "layers": self.layers,
            },
            encoder=saved_encoder(encoder, reference, is_inside=is_inside),
            model=model,
            examples=examples,
            summary=self.summary_,
        )
        return saved, encoder_folder(reference) if is_inside else None

    def _reads_names(self) -> bool:
        return self.names and self._open().has_names

    def _fitted(self) -> tuple[Model, Examples]:
        if self._model is None or self._examples is None:
            raise DataError("this tagger is not fitted: call fit, or load one that is")
        return self._model, self._examples

    def _ready(self) -> tuple[Encoder, Model]:
        model, _ = self._fitted()
        return self._looking_up(), model

    def _open(self) -> Encoder:
        if self._opened is None:
            self._opened = open_encoder(self.encoder, self.layers, self.threads)
        return self._opened

    def _caching(self) -> Encoder:
        """Return the encoder with its cache, if features are to be kept."""
        return self._with_cache() or self._open()

    def _looking_up(self) -> Encoder:
        """Return the encoder for text to predict: with what is cached, and keeping more of it only if asked to."""
        cached = self._with_cache()
        if cached is None:
            return self._open()
        return cached if self.cache == "all" else cached.looking_up()

    def _with_cache(self) -> "CachedEncoder | None":
        if self.cache and self._cached is None:
            from handful.encoders import CachedEncoder

            self._cached = CachedEncoder(self._open())
        return self._cached if self.cache else None

    def _notice(self, sentences: Sequence[Sentence], unreadable: NDArray[np.bool_]) -> None:
        if self._watch is None:
            self._watch = Watch(self._open())
        self._watch(sentences, unreadable)


def _parameters(clusters: "SubspaceKMeans | None") -> dict[str, Any] | None:
    return None if clusters is None else dict(clusters.get_params())
