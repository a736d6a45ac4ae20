"""Methods by name: the baselines, our own variants, and anything with ``fit`` and ``predict_sentences``."""

import hashlib
import importlib
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from handful._util.files import PathLike
from handful.baselines import BASELINES, make_baseline
from handful.cluster import SubspaceKMeans
from handful.encoders import Encoder
from handful.errors import Advice, DataError
from handful.tagger import Tagger
from handful.text import EntityType, Sentence
from handful.training import TuneRecipe, Tuning, tune
from handful.training.tuning import FEWEST

ORatio = float | str | None
Types = Sequence[EntityType]

NAMES = "names"  # the method that has nothing but the names of types
DEFAULTS = ("handful", "handful-nonames", "tuned")  # our default; where names are not read; with a tuned encoder

O_RATIO_WORDS = ("none", "auto", "share", "over")
TEXT_WORDS = ("all", "none")


class ComparedMethod(Protocol):
    """A method that can be compared."""

    def fit(self, support: Any, unlabelled: Any = None) -> Any:
        """Learn from labelled sentences and unlabelled ones; either may be None."""

    def predict_sentences(self, sentences: Iterable[Any]) -> list[Sentence]:
        """Return the sentences with the mentions found in them."""


@dataclass(frozen=True, order=True)
class Variant:
    """A method as it is run: one line of a table."""

    method: str  # its name, or ``module:Class``
    o_ratio: str = ""  # none, auto, share, over or a number; empty where the method has no ratio
    text: str = "all"  # the unlabelled text: all or none

    @property
    def is_ours(self) -> bool:
        return self.method in OURS


def _paper(encoder: Encoder, o_ratio: ORatio, has_text: bool, types: Types, **clustering: Any) -> Tagger:
    clusters = SubspaceKMeans(**clustering)
    if not has_text:  # every word is labelled: a second round would change nothing
        clusters.set_params(max_iter=1)
    return Tagger(encoder=encoder, method="paper", names=False, o_ratio=o_ratio, clusters=clusters, cache=False)


def _handful(encoder: Encoder, o_ratio: ORatio, has_text: bool, types: Types, *, names: bool = True) -> Tagger:
    return Tagger(encoder=encoder, types=types if names else None, names=names, o_ratio=o_ratio, cache=False)


class TunedTagger:
    """Our default with a tuned encoder; with too few labelled sentences for that, it is only fitted."""

    def __init__(
        self, encoder: PathLike, o_ratio: ORatio, has_text: bool, types: Types, recipe: TuneRecipe | None = None
    ) -> None:
        self._tagger, self._recipe = Tagger(types, encoder=encoder, o_ratio=o_ratio), recipe
        self.tuning: Tuning | None = None  # its figures; None if the tagger was only fitted

    def fit(self, support: Any, unlabelled: Any = None) -> "TunedTagger":
        """Learn from labelled sentences and unlabelled text."""
        fitted = self._tagger.fit(support, unlabelled, progress=False)
        if fitted.summary_.n_support >= FEWEST:
            with TemporaryDirectory() as folder:  # what is in it is loaded
                self.tuning = tune(fitted, out=Path(folder) / "tuned", recipe=self._recipe, progress=False)
                self._tagger = self.tuning.tagger
        return self

    def predict_sentences(self, sentences: Iterable[Any]) -> list[Sentence]:
        """Return the sentences with the mentions found in them."""
        return self._tagger.predict_sentences(sentences)


#: Our own variants: from an encoder, a ratio, whether there is unlabelled text, and the types, to a tagger. The first
#: four are the paper's.
OURS: dict[str, Callable[[Any, ORatio, bool, Types], ComparedMethod]] = {
    "hard": _paper,
    "soft": partial(_paper, assignment="soft"),
    "hard-nosubspace": partial(_paper, subspace=False),
    "soft-nosubspace": partial(_paper, assignment="soft", subspace=False),
    "handful": _handful,
    "handful-nonames": partial(_handful, names=False),
    NAMES: _handful,
    "tuned": TunedTagger,
}


def method_names() -> list[str]:
    """Return the names of all methods."""
    return [*BASELINES, *OURS]


def variants(methods: Sequence[str], o_ratios: Sequence[str], texts: Sequence[str] = ("all",)) -> list[Variant]:
    """Return what is to be run, in order, each once.

    Our own variants run at every ratio and with every text; our default runs only at "auto", where that is one of the
    ratios. Without unlabelled text, the ratio has no effect on the others. Methods that are not ours do not read
    unlabelled text, and ``names`` has neither text nor ratio: these run once.
    """
    _check(methods, o_ratios, texts)
    if not methods:
        raise DataError(f"no method is named; give some of {', '.join(method_names())}")
    found = [
        Variant(method, o_ratio, _text(method, text))
        for text in texts
        for method in methods
        for o_ratio in _o_ratios(method, o_ratios, text)
    ]
    return list(dict.fromkeys(found))


def _text(method: str, text: str) -> str:
    """Return the text that a method gets where this one is asked for."""
    if method == NAMES:
        return "none"
    return "all" if method in BASELINES else text


def _o_ratios(method: str, o_ratios: Sequence[str], text: str) -> Sequence[str]:
    if method not in OURS or method == NAMES:
        return [""]
    if method in DEFAULTS and "auto" in o_ratios:
        return ["auto"]
    if text == "none":
        return ["none"]
    if not o_ratios:
        raise DataError(
            f"the method {method} needs a ratio: {', '.join(O_RATIO_WORDS)}, or numbers",
            Advice("give them as o_ratios=", "give them as --o-ratios"),
        )
    return o_ratios


def takes_types(method: str) -> bool:
    """Return whether a method is given the types of the target, and so can do without labels.

    One of the user's own is given them if it can be made with ``types=``.
    """
    if ":" in method:
        return "types" in inspect.signature(_import(method)).parameters
    return method in ("handful", NAMES, "tuned")


def make_method(
    variant: Variant, encoder: Encoder, o_ratio: ORatio, folder: PathLike | None = None, types: Types = ()
) -> ComparedMethod:
    """Make a method that is not fitted yet.

    `folder` is the name or path of the encoder, for `TunedTagger`; `types` are those of the target, for methods that
    read names.
    """
    if variant.method in OURS:
        given = encoder if folder is None or variant.method != "tuned" else folder
        return OURS[variant.method](given, o_ratio, variant.text != "none", types)
    if ":" in variant.method:
        more = {"types": types} if takes_types(variant.method) else {}
        return _import(variant.method)(encoder, **more)  # type: ignore[no-any-return]
    return make_baseline(variant.method, encoder)


def fit_figures(method: ComparedMethod) -> dict[str, Any]:
    """Return what a row says about the fit of a tagger; nothing for other methods."""
    if not isinstance(method, Tagger):
        return {}
    summary = method.summary_
    return {
        "o_ratio_used": summary.o_ratio,
        "o_share": summary.o_share,
        "rounds": summary.rounds,
        "objective": summary.objective,
    }


def own_digest(method: str) -> str:
    """Return a hash of the file that holds a method of the user's own; empty for ours."""
    if ":" not in method:
        return ""
    file = inspect.getsourcefile(_import(method))
    return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""


def _check(methods: Sequence[str], o_ratios: Sequence[str], texts: Sequence[str]) -> None:
    for name in methods:
        if ":" in name:
            _import(name)
        elif name not in method_names():
            known = ", ".join(method_names())
            raise DataError(f"there is no method {name!r}; there are {known}, and your own as module:Class")
    for ratio in o_ratios:
        try:
            is_right = ratio in O_RATIO_WORDS or 0 <= float(ratio) <= 1
        except ValueError:
            is_right = False
        if not is_right:
            raise DataError(f"a ratio is {', '.join(O_RATIO_WORDS)} or a number from 0 to 1, found {ratio!r}")
    for text in texts:
        if text not in TEXT_WORDS:
            raise DataError(f"a text is {' or '.join(TEXT_WORDS)}, found {text!r}")


def _import(name: str) -> Any:
    module, _, attribute = name.partition(":")
    try:
        found = getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise DataError(f"the method {name!r} cannot be imported: {error}; write module:Class") from None
    lacking = [part for part in ("fit", "predict_sentences") if not hasattr(found, part)]
    if lacking:
        raise DataError(f"the method {name!r} has no {' and no '.join(lacking)}")
    return found
