"""`Tagger`: an encoder that stays as it is, evidence learned from a handful of labels, and decoding."""

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from handful._util.parallel import several_threads
from handful._util.progress import Progress, ProgressCallback, reporting
from handful.encoders.opened import AnyEncoder, is_object
from handful.errors import Advice, DataError, ModelError
from handful.text import EntityType, Sentence, types_of

from ._fitted import Fitted
from ._hub import OnHub
from ._learning import METHODS, check, check_labels, learn, most_rounds, type_names
from ._parameters import Parameters
from ._ratio import AUTO, check_ratio
from ._summary import summarise
from ._types import types_to_find
from ._watch import Watch
from .far_text import FarTrainingText, is_far, text_of, training_text
from .inputs import Given, gather_for_fit, gather_to_add
from .predictor import Predictor
from .training_text import TrainingText, Ways, by_words, sentences_of

if TYPE_CHECKING:
    from handful.cluster import SubspaceKMeans

__all__ = ["Tagger"]


class Tagger(Fitted, Parameters, OnHub, Predictor):
    """Finds mentions of a user's own types, from what they mean, a handful of labels, and unlabelled text.

    Parameters
    ----------
    encoder : str, path or object, default="handful-en"
        The name of an embedded encoder, the path of one (see `handful.encoders.load`), or any object with ``dim``,
        ``fingerprint`` and ``encode``.
    types : dict, list or str, optional
        The types to find and what they mean, as ``{"PEST": "insects, slugs and diseases that harm plants"}``; see
        `handful.text.types_of`. Types that are only in labels need not be named.
    names : bool, default=True
        Whether to read the names and descriptions of types, if the encoder can. Without labels this is needed.
    method : {"handful", "paper"}, default="handful"
        "paper" is the published method: a word gets the tag of the nearest prototype. "handful" adds what the labels
        alone say, and how tags follow each other.
    o_ratio : "auto", float or None, default="auto"
        The share of words, of all that are given to `fit`, that are in no mention. "auto" estimates it where each type
        has at least three mentions; None sets no such constraint.
    clusters : SubspaceKMeans, optional
        The clustering with its parameters, such as ``SubspaceKMeans(assignment="soft")``.
    layers : int or sequence of int, default=-1
        Which hidden layer of the encoder to use, or which to take the mean of.
    threads : int or None
        How many threads the encoder uses; None, as many as this process may.
    cache : {True, False, "all"}, default=True
        Whether the features of text given to `fit`, `add` and `evaluate` are kept on disk, so that no sentence is
        encoded twice. What is there is used for prediction, too. With "all", the features of text to predict are also
        kept. See docs/cache.md.

    Attributes
    ----------
    types_ : list of EntityType
        The types, sorted by name.
    summary_ : FitSummary
        What the fit learned, and what to try next; it is made when it is first asked for.

    Examples
    --------
    >>> tagger = Tagger(types={"PER": "names of people", "LOC": "names of places"}).fit()  # doctest: +SKIP
    >>> tagger.predict("Ekeus heads for Baghdad")  # doctest: +SKIP
    >>> tagger = Tagger().fit(["[Ekeus](PER) heads for [Baghdad](LOC)"], "corpus.txt")  # doctest: +SKIP
    """

    def __init__(
        self,
        encoder: AnyEncoder = "handful-en",
        *,
        types: Any = None,
        names: bool = True,
        method: str = "handful",
        o_ratio: float | str | None = AUTO,
        clusters: "SubspaceKMeans | None" = None,
        layers: int | Sequence[int] = -1,
        threads: int | None = None,
        cache: bool | str = True,
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.types = list(types) if isinstance(types, Iterator) else types
        types_of(self.types)  # a mistake is said at once
        self.names = names
        self.method = method
        self.o_ratio = o_ratio
        self._clusters = clusters
        self.layers = layers
        self.threads = threads
        if cache not in (True, False, "all"):
            raise DataError(f"cache is {cache!r}, expected True, False or 'all'")
        self.cache = cache

    def __repr__(self) -> str:
        encoder = type(self.encoder).__name__ if is_object(self.encoder) else repr(self.encoder)
        fitted = f"fitted to {', '.join(map(str, self.types_))}" if self._model is not None else "not fitted"
        return f"<Tagger(encoder={encoder}, method={self.method!r}, o_ratio={self.o_ratio!r}), {fitted}>"

    @property
    def clusters(self) -> "SubspaceKMeans | None":
        """The clustering with its parameters, or None for the default; a loaded tagger makes it when it is needed."""
        if self._saved_clusters is not None:
            from handful.cluster import SubspaceKMeans  # and scikit-learn with it, which prediction does without

            try:
                self._clusters, self._saved_clusters = SubspaceKMeans(**self._saved_clusters), None
            except TypeError:
                what = f"its parameters of the clustering are not possible: {self._saved_clusters}"
                raise ModelError(what) from None
        return self._clusters

    @clusters.setter
    def clusters(self, clusters: "SubspaceKMeans | None") -> None:
        self._clusters, self._saved_clusters = clusters, None

    def set_params(self, **parameters: Any) -> "Tagger":
        """Set parameters by name, for the next fit; ``clusters__max_iter=5`` sets one of the clustering.

        Another encoder, or other layers of it, make the fit void: what was learned holds for its vectors alone.
        """
        super().set_params(**parameters)
        if parameters.keys() & {"encoder", "layers", "threads"}:
            self._opened = self._cached = None
        if parameters.keys() & {"encoder", "layers"}:
            self._model = self._examples = self._text = None
            self._encoder_is_inside = False
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cached": None}  # files in use; a copy opens them for itself

    def fit(self, support: Any = None, unlabelled: Any = None, *, progress: Progress = None) -> "Tagger":
        """Learn from what types mean, labelled sentences and unlabelled text: any of them, or all.

        Labels also count for unlabelled sentences with the same words. A labelled sentence that is not in the
        unlabelled text is added to it. Where the same words are labelled in several ways, each way counts for its own
        sentence, and unlabelled copies may be what any of them says.

        Parameters
        ----------
        support : path or list, optional
            Labelled sentences, wholly or in part: a file; or a list of `Sentence`, of texts with their mentions
            marked, as in ``[Ekeus](PER) heads for [Baghdad](LOC)``, of dicts as annotation tools write them, and of
            spaCy's pairs, as in ``("To Baghdad", {"entities": [(3, 10, "LOC")]})``. Sentences among them without labels
            count as unlabelled text. A type of `types` without labels is found by its name; words that are not marked
            may then be of such a type.
        unlabelled : path or list, optional
            Text of the kind to be tagged: a file; or a list of texts (documents), of `Sentence`, lists of words, and
            dicts. Labels that it has are not used. It may also be a `dask.bag` or a column of a `dask.dataframe` of
            these, or what `handful.scale.encode_texts` returns: then Dask's workers encode it and fit on it, with the
            same result (docs/scale.md).
        progress
            As for `handful.encoders.Encoder.encode`. With text on Dask, it is about the rounds of the fit instead of
            words: a function is called with the rounds done and the most that there can be.

        Returns
        -------
        Tagger
            This one.
        """
        given, labels = gather_for_fit(support, None if is_far(unlabelled) else unlabelled)
        check(
            self.method, self.o_ratio, self._clusters if self._model is None else self.clusters
        )  # before the long wait
        text = TrainingText.empty(self._open().dim)
        if is_far(unlabelled):
            return self._fit_far(unlabelled, text, given, labels, progress)
        return self._fit_on(text, given, labels, given.notes, progress)

    def add(self, sentences: Any, unlabelled: Any = None, *, progress: Progress = None) -> "Tagger":
        """Add labelled sentences, and fit again; the result is that of a fit with all sentences, to the last bit.

        What was encoded before is not encoded again, and what depends on the text alone is not computed again: the
        scatter of its words, which takes 8 dim^2 bytes, and a number for each word and tag.

        Parameters
        ----------
        sentences : path or list
            As the support of `fit`. A sentence with the words of one that is labelled already gives it new labels.
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
        if isinstance(text, FarTrainingText) or is_far(unlabelled):
            raise DataError("nothing can be added to a fit on text that is on Dask; fit again with all labels")
        if text is None:
            if unlabelled is None and self.summary_.n_unlabelled_words:
                n_words = f"{self.summary_.n_unlabelled_words:,} unlabelled words"
                raise ModelError(
                    f"a saved tagger does not hold the {n_words} of its fit",
                    Advice("give them again (unlabelled=)", "give them again (--unlabelled)"),
                )
            text = TrainingText.empty(self._open().dim).with_labels(by_words(examples.sentences))
        given, labels = gather_to_add(sentences, unlabelled, text)
        return self._fit_on(text, given, labels, self._notes + given.notes, progress)

    def relabel(self, sentences: Any, *, progress: Progress = None) -> "Tagger":
        """Take these labelled sentences instead of all there were, and fit again; the text stays as it is.

        Parameters
        ----------
        sentences : path or list
            As the support of `fit`; it may be empty if names of types are read.
        progress
            As for `handful.encoders.Encoder.encode`.

        Returns
        -------
        Tagger
            This one. If the fit fails, it is as it was before.
        """
        self._fitted()
        if isinstance(self._text, FarTrainingText):
            raise DataError("a fit on text that is on Dask does not take other labels; fit again with them")
        if self._text is None:
            raise ModelError("a saved tagger does not hold the text of its fit; fit again with the new labels")
        text = self._text.with_labels({})
        given, labels = gather_to_add(sentences, None, text)
        return self._fit_on(text, given, labels, given.notes, progress)

    def _check_labels(self, text: TrainingText, known: Sequence[EntityType]) -> None:
        """Refuse what cannot be learned from, before the long wait; the text has no features yet."""
        types, _ = self._types_to_find(text.labels, known)
        check_labels(text, types, METHODS[self.method], self.o_ratio, self.clusters, has_names=self._reads_names())

    def _fit_on(self, text: TrainingText, given: Given, labels: Ways, notes: list[str], progress: Progress) -> "Tagger":
        """Fit on a text and what is given besides, with these labels; what can be refused is refused first."""
        self._check_labels(text.with_blank(given.sentences, given.n_text).with_labels(labels), given.types)
        check_ratio(self.o_ratio, [*text.sentences, *given.sentences], labels)
        watch = Watch(self._open())
        if given.sentences:
            encoder = self._caching()
            features, lost = encoder.encode(given.sentences, progress=progress), encoder.unreadable(given.sentences)
            watch(given.sentences, lost)
            text = text.with_more(given.sentences, features, given.n_text, lost)
        self._learn(text.with_labels(labels), given.types, notes, watch)
        return self

    def _fit_far(self, unlabelled: Any, text: TrainingText, given: Given, labels: Ways, progress: Progress) -> "Tagger":
        """Fit on text that is on Dask, with these labels."""
        self._check_labels(text.with_blank(given.sentences, given.n_text).with_labels(labels), given.types)
        check_ratio(self.o_ratio, [*given.sentences, Sentence(("text",))], labels)
        encoder = self._open()
        watch = Watch(encoder)
        with reporting(progress, most_rounds(self.clusters), "fitting", "rounds", patience=0) as report:
            far = text_of(unlabelled, self.encoder, self.layers, self.threads, encoder)
            first = far.first()
            watch([Sentence(words) for words in first.words], first.unreadable)
            whole = training_text(far, given, labels, encoder)
            self._learn(whole, given.types, [*given.notes, *far.notes], watch, report)
        return self

    @several_threads()
    def _learn(
        self,
        text: TrainingText,
        known: Sequence[EntityType],
        notes: list[str],
        watch: Watch,
        report: ProgressCallback | None = None,
    ) -> None:
        """Fit, and only when all went well take the result over."""
        types, unused = self._types_to_find(text.labels, known)
        if unused:
            what = f"{', '.join(unused)} will not be found: no mention is labelled, and names of types are not read"
            notes = [*notes, what]
        encoder = self._open()
        learned = learn(
            text,
            types,
            METHODS[self.method],
            self.o_ratio,
            self.clusters,
            encoder.transitions,
            type_names(encoder, types, self._model) if self._reads_names() else None,
            report,
        )
        self._text, self._model, self._examples, self._notes = text, learned.model, learned.examples, notes
        self._summary = partial(summarise, text, learned, self.method, self.o_ratio == AUTO, notes)
        self.types_ = list(types)
        self._watch = None  # predictions are watched anew
        watch.labels(text)

    def _types_to_find(self, labels: Ways, known: Sequence[EntityType]) -> tuple[tuple[EntityType, ...], list[str]]:
        """Return the types to find, sorted by name, and the names of those that cannot be found."""
        before = self.types_ if self._model is not None else []
        return types_to_find(
            types_of(self.types), [*known, *before], sentences_of(labels), self._reads_names(), self.names
        )
