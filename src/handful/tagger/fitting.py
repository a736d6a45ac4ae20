"""A fit in two steps: `prepare` refuses what it can before the long wait, `fit_text` fits on text with features."""

import warnings
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from handful._util.parallel import several_threads
from handful._util.progress import Progress, ProgressCallback
from handful.errors import Advice, DataError, HandfulWarning, number_of
from handful.text import EntityType, Sentence, described, types_of
from handful.text.types import check_spelling, completed, misspelt, refuse_two_cases

from ._learning import AUTO, METHODS, Plan, check, learn, learn_layers, type_names
from ._learning import estimator_of as estimator_of
from ._summary import FitSummary, summarise
from ._surest import Surest as Surest
from ._surest import look as look
from ._surest import merged as merged
from ._watch import Watch as Watch
from .evidence import TypeNames
from .inputs import Given, gather_to_add
from .layers import flat, sharing
from .model import Examples, Model
from .retyping import TypeChange
from .training_text import (
    LabelledText,
    LabelledWords,
    TrainingText,
    Ways,
    by_words,
    check_sure,
    sentences_of,
    types_to_learn,
)

if TYPE_CHECKING:
    from handful.cluster import SubspaceKMeans

    from ._learning import Clusters
    from ._tagger import Tagger

# A ratio contradicts the labels if they have this many times the share of words in mentions that it leaves, in at least
# so many words. Sentences are labelled for their mentions, so their share is higher than that of the text: by a factor
# of 1.3 in the middle, and of 2.5 to 3 in one support of ten, where most sentences have no mention (tweets, contracts).
# benchmarks/support_share.py prints this, and how often the true ratio would be called a contradiction: over 3,894
# supports of 27 corpora, 3.5 % of those of one mention of each type, 1.1 % of those of five.
CONTRADICTION, FEWEST_WORDS = 4, 20


@dataclass(frozen=True)
class Fit:
    """A fit that is done."""

    model: Model
    examples: Examples  # the labelled sentences, to compare with
    summarise: Callable[[], FitSummary]  # finds out what was learned
    clusters: "SubspaceKMeans | None" = None  # fitted; None for a fit from disk, or where there was nothing but names
    text: TrainingText | None = None  # with features and labels; None for a fit from disk, or on text that is elsewhere
    notes: Sequence[str] = ()  # on what was handled on the way

    @cached_property
    def summary(self) -> FitSummary:
        """The summary, made when it is asked for: to find examples in the text takes a moment."""
        return self.summarise()

    def text_to_change(self, dim: int, *, has_more: bool) -> tuple[TrainingText, list[str]]:
        """Return the text; or its labels alone, with a note where it is missing and there is no more text instead."""
        if self.text is not None:
            return self.text, []
        n_words = 0 if has_more else self.summary.n_unlabelled_words
        note = (
            f"{number_of(n_words, 'unlabelled word')} of the fit before {'is' if n_words == 1 else 'are'} missing, for "
            "a saved tagger does not hold them: the clusters now come from the labelled sentences alone, and rare "
            "mentions may be missed; give the text again as unlabelled text, its features are still in the cache"
        )
        return TrainingText.empty(dim).with_labels(by_words(self.examples.sentences)), [note] if n_words else []


def prepare(
    tagger: "Tagger",
    text: LabelledText,
    known: Sequence[EntityType],
    *,
    before: Sequence[EntityType] = (),
    has_text: bool = True,
    warns: bool = True,
) -> Plan:
    """Plan the fit of a tagger, which stays as it is. Impossible fits are refused, a doubtful ratio is warned of.

    The text needs no features yet. `known` are types that files describe, `before` those that the tagger has and keeps.
    `has_text` says whether there are unlabelled sentences: without any, a ratio that was given has nothing to decide.
    """
    check(tagger.method, tagger.o_ratio, tagger.clusters)
    if tagger.overlap and tagger.method == "paper":
        raise DataError("overlap=True is not possible with method='paper': its clusters give each word one tag")
    labels = sentences_of(text.labels)
    reads_names = tagger.names and tagger.encoder_.has_names
    named = types_of(tagger.types)
    everything = completed(named, (*known, *before))  # what the tagger was given counts most
    in_labels = types_to_learn(labels)
    check_spelling([one.name for one in (*named, *before)], in_labels)
    others = [one.name for one in everything if one.name not in in_labels]
    names = sorted({*in_labels, *(others if reads_names else ())})
    if not names:
        raise _no_types(bool(others), tagger.names)
    method = METHODS[tagger.method]
    has_names = reads_names and not (method.with_names is None and text.labels)  # the paper starts from labels
    labelled = (replace(text, labels=flat(text.labels)) if tagger.overlap else text).labelled_words(names)
    check_sure(labelled, ("O", *names), has_names=has_names)
    o_ratio, clusters = tagger.o_ratio, tagger.clusters
    if isinstance(o_ratio, float | int) and not has_text:
        _warn_of_no_text(o_ratio)
        o_ratio = None
    elif isinstance(o_ratio, float | int):
        _check_ratio(o_ratio, labelled.opened(), clusters)
        if warns:
            _warn_of_ratio(o_ratio, labels)
    method = (method.with_names or method) if has_names else method
    pairs = [pair for sentence in labels for pair in pairwise(sentence.spans or ())]
    n_beside = sum(one.end == other.start and one.type == other.type for one, other in pairs)
    is_one = n_beside > 0 and (tagger.encoder_.border is None or not method.has_transitions)
    notes = [f"{number_of(n_beside, 'mention')} beside one of the same type: learned as one with it"] * is_one
    for i, name in enumerate(every := [*in_labels, *others]):
        if meant := misspelt(name, every[:i]):
            notes.append(f"{name} and {meant} are two types: if they are meant to be one, give them one name")
    if others and not reads_names:
        notes += [f"{', '.join(others)} will not be found: no mention is labelled, and names of types are not read"]
    return Plan(described(names, everything), method, has_names, o_ratio, clusters, labelled, notes)


def fit_text(
    tagger: "Tagger",
    text: LabelledText,
    planned: Plan,
    watch: Watch,
    notes: Sequence[str] = (),
    report: ProgressCallback | None = None,
    kept: "SubspaceKMeans | None" = None,
) -> "Tagger":
    """Fit a tagger to text with its features; if that fails, it is as it was before.

    `planned` is what `prepare` returned for the same sentences. `watch` has looked at the text; it looks at the labels,
    too. `notes` are those of reading. `report` and `kept` are as for `learn`.
    """
    encoder, before = tagger.encoder_, None if tagger._fit is None else tagger._fit.model
    with several_threads() if len(text.features) else nullcontext():  # names alone need none, nor scipy
        names = type_names(encoder, planned.types, before) if planned.has_names else None
        border = encoder.border if planned.method.has_transitions else None
        own = replace(text, labels=flat(text.labels)) if tagger.overlap else text
        learned = learn(own, planned, names, encoder.transitions, border, report, kept)
        if tagger.overlap:
            trusted, seams = learned.model.piece(TypeNames), learned.model.seams
            layers = sharing(learned.model, learn_layers(text, planned, trusted, encoder.transitions, seams))
            examples = replace(learned.examples, sentences=sentences_of(text.labels))
            learned = replace(learned, model=replace(learned.model, layers=layers), examples=examples)
    every = [*notes, *planned.notes]
    summary = partial(summarise, text, learned, encoder, tagger.method, tagger.o_ratio == AUTO, every)
    watch.labels(text)
    held = text if isinstance(text, TrainingText) else None
    return tagger._take(Fit(learned.model, learned.examples, summary, learned.clusters, held, notes))


def fit_on(
    tagger: "Tagger",
    text: TrainingText,
    given: Given,
    labels: Ways,
    notes: Sequence[str],
    progress: Progress,
    *,
    keeps_types: bool = True,
    keeps_clusters: bool = False,
) -> "Tagger":
    """Fit a tagger on a text and the sentences given besides, with these labels; what can be refused is refused first.

    `notes` are for the summary; `keeps_types` says whether the types of the fit before stay, and `keeps_clusters`
    whether its clusters do, if they are of the same types, and labels count beside them.
    """
    before = tagger._fit.model.types if keeps_types and tagger._fit is not None else ()
    text = text.with_more(given.sentences, given.n_text).with_labels(labels)
    planned = prepare(tagger, text, given.types, before=before, has_text=not text.places.keys() <= labels.keys())
    watch = Watch(tagger.encoder_)
    if given.sentences:
        encoder = tagger._with_cache()
        features, lost = encoder.encode(given.sentences, progress=progress), encoder.unreadable(given.sentences)
        watch(given.sentences, lost)
        text = text.with_features(features, lost)
    kept, fit = None, tagger._fit
    if keeps_clusters and fit is not None and fit.model.types == planned.types:
        # the paper's method learns labels by its clusters alone
        kept = None if planned.method.calibration is None else fit.clusters
    return fit_text(tagger, text, planned, watch, notes, kept=kept)


def fit_again(
    tagger: "Tagger",
    sentences: Any,
    unlabelled: Any,
    progress: Progress,
    *,
    types: Any = None,
    change: TypeChange | None = None,
) -> Fit:
    """Fit a copy of a tagger again, with more sentences, text and types, or with other types, which the tagger gets."""
    fit, opened = tagger._fitted(), list[str]()
    text, notes = fit.text_to_change(tagger.encoder_.dim, has_more=unlabelled is not None)
    changed = copy(tagger)
    if change is not None:
        before = sentences_of(text.labels)
        after = change.sentences(before)
        changed.types, text, opened = change.types, text.with_labels(by_words(after)), change.notes(before, after)
    elif types is not None:
        changed.types = completed(types_of(types), types_of(tagger.types))
        refuse_two_cases(map(str, completed(changed.types, fit.model.types)))
    given, labels = gather_to_add(sentences, unlabelled, text, map(str, fit.model.types))
    kept = [*fit.notes, *given.notes, *notes]
    fit_on(changed, text, given, labels, [*kept, *opened], progress, keeps_types=change is None)
    tagger.types = changed.types
    return replace(changed._fitted(), notes=kept)


def _no_types(is_named: bool, is_asked: bool) -> DataError:
    """Return the error that there is no type to find; `is_asked`: whether names are to be read, if the encoder can."""
    if not is_named:
        return DataError(
            "there is no type to find: no mention is marked, and no type is named",
            Advice(
                "name types (types={'PER': 'names of people'}), or mark mentions, as in [Baghdad](LOC)",
                "name types (--types 'person, place'), or mark mentions, as in [Baghdad](LOC)",
            ),
        )
    return DataError(
        "there are no labels, and this encoder does not read the names of types"
        if is_asked
        else "there are no labels, and names=False says that the names of types are not read",
        Advice(
            "label at least one mention of each type, or use encoder='handful-en'",
            "label at least one mention of each type, or use --encoder handful-en",
        ),
    )


def _check_ratio(o_ratio: float, labelled: LabelledWords, clusters: "Clusters") -> None:
    """Refuse a ratio that the labels make impossible; where a type has no label, names say which words may have it."""
    from handful.cluster.checks import wanted_o

    n_only_o, n_only_entity = labelled.labels().count_forced(0)
    if labelled.counts.all() and n_only_o + n_only_entity < labelled.n_words:
        is_soft = estimator_of(clusters, None).assignment == "soft"
        wanted_o(o_ratio, labelled.n_words, n_only_o, n_only_entity, is_soft=is_soft)


def _warn_of_no_text(o_ratio: float) -> None:
    """Warn that a ratio is not used, because there are labelled sentences alone."""
    warnings.warn(
        HandfulWarning(
            f"o_ratio={o_ratio:g} is ignored: it is about unlabelled text, and there is none",
            Advice("give some (unlabelled=), or o_ratio=None", "give some (--unlabelled), or leave out --o-ratio"),
        ),
        stacklevel=5,
    )


def _warn_of_ratio(o_ratio: float, labels: Sequence[Sentence]) -> None:
    """Warn of a ratio that leaves far fewer words to mentions than the labelled sentences have."""
    n_inside = sum(span.end - span.start for sentence in labels for span in sentence.spans or ())
    n_words = sum(len(s.words) - sum(entry is not None for entry in s.allowed or ()) for s in labels)
    if not n_inside or n_words < FEWEST_WORDS or n_inside < CONTRADICTION * (1 - o_ratio) * n_words - 1e-9:
        return
    left, share = 1 - o_ratio, n_inside / n_words
    warnings.warn(
        HandfulWarning(
            f"a ratio of {o_ratio:g} leaves {left:.2g} of all words to mentions, but {share:.2g} of the labelled words "
            f"are in mentions: it is right only if {1 - left / share:.0%} of the sentences have no mention, and "
            "otherwise mentions will be missed",
            Advice("give a lower o_ratio, or o_ratio='auto'", "give a lower --o-ratio, or --o-ratio auto"),
        ),
        stacklevel=5,
    )
