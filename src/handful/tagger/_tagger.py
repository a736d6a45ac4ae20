"""`Tagger`: an encoder that stays as it is, evidence learned from a handful of labels, and decoding."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any

from handful._util.files import PathLike
from handful._util.progress import Progress
from handful.encoders import Encoder
from handful.encoders.languages import AUTO as AUTO_ENCODER
from handful.encoders.languages import choose
from handful.encoders.opened import AnyEncoder, encoder_folder, is_object, is_path, open_encoder, open_saved
from handful.errors import DataError, ModelError
from handful.evaluate import Evaluation
from handful.text import Sentence, to_sentences, types_of

from ._learning import AUTO
from ._summary import FitSummary
from ._watch import Watch
from .explaining import Explanation, explain
from .finding import Find, odds_of
from .fitting import Fit, fit_again, fit_on
from .inputs import documents_of, gather, gather_for_fit, gather_to_add, one_text, spelt_either_way
from .model import Model
from .predictor import Predictor, check_min_score, check_whole, evaluate_on
from .retyping import TypeChange
from .saving import Saved, about_encoder, read_folder, refusing, write_folder
from .suggesting import suggest
from .tagging import MinScore, tag_sentences, tag_words
from .training_text import TrainingText
from .why_not import WhyNot, why_not

if TYPE_CHECKING:
    from handful.encoders import CachedEncoder

    from ._learning import Clusters


class Tagger(Predictor):
    """Finds mentions of a user's own types, from what they mean, a handful of labels, and unlabelled text.

    Parameters
    ----------
    types : the types to find and what they mean, a dict such as ``{"PEST": "insects, slugs and diseases"}``, a list or
        a str; see `handful.text.types_of`. Types that are only in labels need not be named.
    encoder : the name of an embedded encoder, the path of one (see `handful.encoders.load`), "auto" for the installed
        one that knows the language of the text of the fit (without any: of what types mean), or any object with
        ``dim``, ``fingerprint`` and ``encode``
    names : whether to read the names and descriptions of types, if the encoder can. Without labels this is needed.
    method : "paper" is the published method: a word gets the tag of the nearest prototype. "handful" adds what the
        labels alone say, and how tags follow each other.
    o_ratio : the share of words, of all that are given to `fit`, that are in no mention. "auto" estimates it where each
        type has at least three mentions; None sets no such constraint.
    find : "sure", "usual", "more" or a number: how many times as bad a missed mention is as a wrong one. "more" is 3,
        "sure" is 1/3. It may be changed after a fit, and is saved with it; nothing is fitted again for it.
    overlap : whether mentions may share words: a word may then be in mentions of several types, and a mention inside
        another of its own type where labels have such mentions. See docs/overlap.md.
    clusters : the clustering with its parameters, such as ``SubspaceKMeans(assignment="soft")``, or a dict of these
        alone. A tagger that was loaded has the latter.
    threads : how many threads the encoder uses; None, as many as this process may
    cache : whether the features of text given to `fit`, `add` and `evaluate` are kept on disk, so that no sentence is
        encoded twice. Prediction uses the features that are there, too. With "all", the features of text to predict
        are also kept. See docs/cache.md.

    Examples
    --------
    >>> tagger = Tagger({"PER": "names of people", "LOC": "names of places"}).fit()  # doctest: +SKIP
    >>> tagger.predict("Ekeus heads for Baghdad")  # doctest: +SKIP
    >>> tagger = Tagger().fit(["[Ekeus](PER) heads for [Baghdad](LOC)"], "corpus.txt")  # doctest: +SKIP
    """

    def __init__(
        self,
        types: Any = None,
        *,
        encoder: AnyEncoder = "handful-en",
        names: bool = True,
        method: str = "handful",
        o_ratio: float | str | None = AUTO,
        find: Find = "usual",
        overlap: bool = False,
        clusters: "Clusters" = None,
        threads: int | None = None,
        cache: bool | str = True,
    ) -> None:
        self.encoder, self.threads, self.cache = encoder, threads, cache
        self.types = list(types) if isinstance(types, Iterator) else types
        self.names, self.method, self.o_ratio = names, method, o_ratio
        self.find, self.overlap, self.clusters = find, overlap, clusters
        types_of(self.types)  # a mistake is said at once
        odds_of(find)
        if not isinstance(overlap, bool):
            raise DataError(f"overlap is {overlap!r:.50}, expected True or False")
        if cache not in (True, False, "all"):
            raise DataError(f"cache is {cache!r}, expected True, False or 'all'")
        self._opened: Encoder | None = None
        self._cached: CachedEncoder | None = None
        self._encoder_is_inside = False  # the folder that this tagger was loaded from
        self._fit: Fit | None = None
        self._moved: dict[float, Model] = {}  # the model of the fit, by how much it finds

    def __repr__(self) -> str:
        encoder = type(self.encoder).__name__ if is_object(self.encoder) else repr(self.encoder)
        fitted = f"fitted to {', '.join(map(str, self.types_))}" if self._fit is not None else "not fitted"
        return f"<Tagger(encoder={encoder}, method={self.method!r}, o_ratio={self.o_ratio!r}), {fitted}>"

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cached": None}  # files in use; a copy opens them for itself

    @property
    def encoder_(self) -> Encoder:
        """The encoder, opened."""
        return self._open() if self._opened is None else self._opened

    @property
    def model_(self) -> Model:
        """The model that the fit learned, as predictions need it."""
        return self.finding(None)

    @property
    def text_(self) -> TrainingText | None:
        """The text of the fit, with its features and labels; None for a tagger from disk, which does not hold it."""
        return self._fitted().text

    @property
    def support_(self) -> list[Sentence]:
        """The labelled sentences of the fit."""
        return self._fitted().examples.sentences

    @property
    def summary_(self) -> FitSummary:
        """The summary of the fit; it is made when it is first asked for."""
        return self._fitted().summary

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters by name; `deep` changes nothing, it is there for scikit-learn."""
        return {name: getattr(self, name) for name in sorted(signature(Tagger).parameters)}

    def set_params(self, **parameters: Any) -> "Tagger":
        """Set parameters by name, for the next fit.

        Another encoder makes the fit void: what was learned holds for the vectors of one encoder alone.
        """
        known = self.get_params()
        if strange := sorted(parameters.keys() - known.keys()):
            raise DataError(f"Tagger has no parameter {strange[0]}; it has {', '.join(known)}")
        vars(self).update(parameters)
        if parameters.keys() & {"encoder", "threads"}:
            self._opened = self._cached = None
        if "encoder" in parameters:
            self._fit, self._encoder_is_inside = None, False
        return self

    @spelt_either_way
    def fit(self, support: Any = None, unlabelled: Any = None, *, progress: Progress = None) -> "Tagger":
        """Learn from what types mean, labelled sentences and unlabelled text, or some of these; return this tagger.

        Labels also count for unlabelled sentences with the same words. A labelled sentence that is not in the
        unlabelled text is added to it. Where the same words are labelled in several ways, each way counts for its own
        sentence, and unlabelled copies may be what any of them says.

        Parameters
        ----------
        support : labelled sentences, wholly or in part: a file; or a list of `Sentence`, of texts with their mentions
            marked, as in ``[Ekeus](PER) heads for [Baghdad](LOC)``, of dicts as annotation tools write them, and of
            spaCy's pairs, as in ``("To Baghdad", {"entities": [(3, 10, "LOC")]})``. Sentences among them without labels
            count as unlabelled text. A type of `types` without labels is found by its name; words that are not marked
            may then be of such a type.
        unlabelled : text of the kind to be tagged: a file; or a list of texts (documents), of `Sentence`, lists of
            words, and dicts. Labels that it has are not used. `handful.scale.fit` takes text that is on other machines.
        progress : as for `handful.encoders.Encoder.encode`
        """
        given, labels = gather_for_fit(support, unlabelled)
        text = TrainingText.empty(self._open(given.sentences).dim)
        return fit_on(self, text, given, labels, given.notes, progress, keeps_types=False)

    @spelt_either_way
    def add(
        self, sentences: Any = (), unlabelled: Any = None, *, types: Any = None, progress: Progress = None
    ) -> "Tagger":
        """Add labelled sentences, and fit again; return this tagger, as it was before if that fails.

        The result is that of a fit with all sentences, judged for the same types, to the last bit. Nothing is encoded
        again, nor is what depends on the text alone computed again.

        Parameters
        ----------
        sentences : as the support of `fit`. A sentence with the words of one that is labelled already gives it new
            labels.
        unlabelled : more text, as in `fit`. A tagger from disk lacks the text it was fitted with, if any: give that
            again. Else a note of the summary says how much is missing.
        types : more types, or other descriptions, as for `Tagger`; no sentence is needed for them
        progress : as for `fit`
        """
        return self._take(fit_again(self, sentences, unlabelled, progress, types=types))

    @spelt_either_way
    def retype(
        self,
        types: Any = None,
        *,
        rename: Mapping[str, str] | None = None,
        split: Mapping[str, Sequence[str]] | None = None,
        unlabelled: Any = None,
        progress: Progress = None,
    ) -> "Tagger":
        """Change the types, and fit again; return this tagger, as it was before if that fails.

        Labels follow where they can, and the text of the fit is kept. Notes of the summary say which types are open
        now.

        Parameters
        ----------
        types : the types to find from now on, as for `Tagger`. Types that are left out are dropped: their mentions
            become O. New ones are added: nobody has looked for them in the labelled sentences. A description replaces
            the one before; without one, that stays. None, the types so far, under their new names.
        rename : new names of types. Types with the same new name become one. Somebody has looked for it in the
            sentences in which somebody looked for all of them.
        split : as ``{"DRUG": ["BRAND", "GENERIC"]}``: mentions of DRUG get the partial label ``BRAND|GENERIC``
        unlabelled, progress : as for `add`

        Examples
        --------
        >>> tagger.retype(rename={"PERSN": "PERSON"})  # doctest: +SKIP
        >>> tagger.retype({"PEST": "insects and slugs", "TOOL": "spades and hoes"})  # doctest: +SKIP
        """
        change = TypeChange(self._fitted().model.types, types, rename, split)
        return self._take(fit_again(self, [], unlabelled, progress, change=change))

    def relabel(self, sentences: Any, *, progress: Progress = None, keeps_clusters: bool = False) -> "Tagger":
        """Take these labelled sentences instead of all there were, and fit again; the text stays as it is.

        Return this tagger, as it was before if that fails.

        Parameters
        ----------
        sentences : as the support of `fit`; it may be empty if names of types are read
        progress : as for `fit`
        keeps_clusters : whether the clusters of the text stay as they are, which takes a fraction of the time
        """
        text = self.text_
        if text is None:
            raise ModelError("this tagger does not hold the text of its fit; fit again with the new labels")
        text = text.with_labels({})
        given, labels = gather_to_add(sentences, None, text)
        return fit_on(self, text, given, labels, given.notes, progress, keeps_clusters=keeps_clusters)

    def explain(self, text: Any, *, min_score: MinScore = 0.0, n_nearest: int = 3) -> list[Explanation]:
        """Return for each mention why it was found.

        Parameters
        ----------
        text : one text: a str, a `Sentence`, a `Document` or a list of words
        min_score : as for `predict`
        n_nearest : how many labelled words to show for each
        """
        fit, model = self._fitted(), self.model_
        check_min_score(min_score, model.types)
        check_whole("n_nearest", n_nearest, 0)
        document = one_text(text, "the text")
        words = tag_sentences(self._reading(), model, document.sentences, self.notice_)
        return explain(document, words, model, fit.examples, min_score, n_nearest)

    def explain_word(self, text: Any, word: str, type: str | None = None, *, min_score: MinScore = 0.0) -> list[WhyNot]:
        """Say why a word was not found, or was given another type, and what would change it.

        Parameters
        ----------
        text, min_score : as for `explain`
        word : a word, or several in a row that should be one mention; case does not count. Each place has its answer.
        type : the type that it should have; if not given, the nearest. Where mentions may share words, the answer is
            about the tag that a word would have without that.
        """
        fit = self._fitted()
        check_min_score(min_score, fit.model.types)
        document, words = one_text(text, "the text"), one_text(word, "the word")
        flat, model = (replace(one, layers=()) for one in (fit.model, self.model_))
        tagged = tag_sentences(self._reading(), flat, document.sentences, self.notice_)
        answers = why_not(document, words, type, tagged, model, fit.examples, min_score)
        for found in self.predict(document, min_score=min_score, progress=False) if self.overlap else []:
            for answer in answers:  # they are about the tags of words alone
                if (found["start"], found["end"]) == (answer.mention["start"], answer.mention["end"]):
                    answer.known.append(f"it is found as {found['entity_group']}, {found['score']:.3f}, see explain")
        return answers

    def suggest(self, texts: Any, n: int = 20, *, progress: Progress = None) -> list[Sentence]:
        """Choose sentences to label next: doubtful ones, unlike those that are labelled, for every type in turn.

        They come with the mentions that are found in them now, the most useful first, and are the same every time;
        fewer where there are no more. Correct them, and give them to `add`.

        Parameters
        ----------
        texts : unlabelled text, as for `fit`, of any size: a file, which is read as it goes; or an iterable of texts
            (documents), `Sentence`, `Document` and lists of words. Sentences that are labelled already are passed over.
        n : how many sentences
        progress : as for `predict`
        """
        fit = self._fitted()
        check_whole("n", n, 1)
        encoder = self._reading()
        known = tag_sentences(encoder, fit.model, fit.examples.sentences)
        documents = documents_of(texts, "the texts to choose from")
        found = tag_words(encoder, self.model_, documents, progress)
        return suggest(found, known, [self.summary_.mentions.get(one.name, 0) for one in fit.model.types], n)

    def evaluate(self, sentences: Any, *, progress: Progress = None) -> Evaluation:
        """Predict labelled sentences, and compare.

        The ``notes`` of the result say if sentences were labelled in the fit, or were in the training of the encoder.

        Parameters
        ----------
        sentences : labelled sentences, in any form that `fit` takes, all of them wholly labelled
        progress : as for `fit`
        """
        types = map(str, self.model_.types)
        gold = gather(sentences, "the sentences to evaluate on", is_inline=True, known=types).sentences
        return evaluate_on(gold, self._with_cache(), self.model_, self.support_, self.notice_, progress)

    def save(self, path: PathLike, *, include_encoder: bool | str = False) -> None:
        """Write the fitted tagger to a folder, all of it or nothing.

        Parameters
        ----------
        path : the folder. One that holds a saved tagger is replaced; one with anything else is left alone.
        include_encoder : put a copy of the encoder into the folder. Else only its name is kept, or the absolute path of
            its folder. "auto" puts one there if the encoder was given by its path, so that other machines can read the
            folder. A tagger that was loaded with its encoder inside is saved with it.
        """
        encoder = self.encoder_
        reference = None if is_object(self.encoder) else encoder.reference
        if include_encoder == "auto":
            include_encoder = reference is not None and is_path(reference)
        is_inside = bool(include_encoder) or self._encoder_is_inside
        fit, about = self._fitted(), about_encoder(encoder, reference, is_inside=is_inside)
        saved = Saved(self.get_params(), about, fit.model, fit.examples, fit.summary)
        write_folder(Path(path), saved, encoder_folder(reference) if is_inside else None)

    @classmethod
    def load(
        cls, path: PathLike, *, encoder: AnyEncoder | None = None, threads: int | None = None, cache: bool | str = True
    ) -> "Tagger":
        """Read a tagger from a folder that `save` wrote.

        Parameters
        ----------
        path : the folder
        encoder : the encoder, if it is no longer where it was, or was given to `Tagger` as an object. It must be the
            one that the tagger was fitted with.
        threads, cache : as for `Tagger`
        """
        folder = Path(path)
        saved = read_folder(folder)
        chosen, opened = open_saved(folder, saved.encoder, encoder, threads)
        with refusing(f"{folder}: its parameters are not those of a tagger"):
            tagger = cls(encoder=chosen, **saved.parameters, threads=threads, cache=cache)
        tagger._opened = opened
        tagger._encoder_is_inside = encoder is None and bool(saved.encoder.get("is_inside"))
        return tagger._take(Fit(saved.model, saved.examples, partial(getattr, saved, "summary")))

    def finding(self, find: Find | None) -> Model:
        """Return what tags words with this setting of how much to find; None, that of the tagger."""
        model, odds = self._fitted().model, odds_of(self.find if find is None else find)
        if odds == 1:
            return model
        if (moved := self._moved.get(odds)) is None:  # the same object each time: servers predict its requests together
            moved = replace(model, find=odds)
            self._moved = dict([*self._moved.items()][-7:]) | {odds: moved}
        return moved

    def _take(self, fit: Fit) -> "Tagger":
        """Take over a fit that is done."""
        self._moved = {}
        self._fit, self.types_ = fit, list(fit.model.types)
        self.notice_ = Watch(self.encoder_)
        return self

    def _fitted(self) -> Fit:
        if self._fit is None:
            raise DataError("this tagger is not fitted: call fit, or load one that is")
        return self._fit

    def _open(self, sentences: Sequence[Sentence] = ()) -> Encoder:
        """Return the encoder, opened; "auto" is the one that knows the language of sentences, or of what types mean."""
        chosen = self.encoder
        if chosen == AUTO_ENCODER:
            chosen = choose(sentences or to_sentences("\n\n".join(one.description for one in types_of(self.types))))
        if self._opened is None or (chosen != self.encoder and chosen != self._opened.reference):
            self._opened, self._cached = open_encoder(chosen, threads=self.threads), None
        return self._opened

    def _reading(self) -> Encoder:
        """Return the encoder for text to predict: with what is cached, and keeping more of it only if asked to."""
        return self._with_cache(keep=self.cache == "all")

    def _with_cache(self, *, keep: bool = True) -> Encoder:
        """Return the encoder with its cache, if there is to be one."""
        if not self.cache:
            return self.encoder_
        if self._cached is None:
            from handful.encoders import CachedEncoder

            self._cached = CachedEncoder(self.encoder_)
        return self._cached if keep else self._cached.looking_up()
