"""Methods by name: the baselines, our own variants, and anything with ``fit`` and ``predict_sentences``."""

import hashlib
import importlib
import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from handful._util.files import PathLike
from handful.baselines import BASELINES, make_baseline
from handful.cluster import SubspaceKMeans
from handful.encoders import WordEncoder
from handful.errors import Advice, DataError
from handful.tagger import Tagger
from handful.text import Sentence

__all__ = ["OURS", "Method", "Variant", "fit_figures", "make_method", "method_names", "own_digest", "variants"]

Ratio = float | str | None

TRAINERS = ("container", "container-viterbi")  # they train the encoder itself, and need its folder
RATIO_WORDS = ("none", "auto", "share", "over")


class Method(Protocol):
    """What can be compared."""

    def fit(self, support: Any, unlabelled: Any = None) -> Any:
        """Learn from labelled sentences and unlabelled ones."""

    def predict_sentences(self, sentences: Iterable[Any]) -> list[Sentence]:
        """Return the sentences with the mentions found in them."""


@dataclass(frozen=True, order=True)
class Variant:
    """A method as it is run: one line of a table.

    Attributes
    ----------
    method : its name, or ``module:Class``
    ratio : none, auto, share, over or a number; empty where the method has no ratio
    text : the unlabelled text: all, dev, none, or a number of words
    """

    method: str
    ratio: str = ""
    text: str = "all"

    @property
    def is_ours(self) -> bool:
        """Whether this is one of our own."""
        return self.method in OURS


def _paper(
    encoder: WordEncoder, o_ratio: Ratio, has_text: bool, *, assignment: str = "hard", subspace: bool = True
) -> Tagger:
    clusters = SubspaceKMeans(assignment=assignment, subspace=subspace)
    if not has_text:  # every word is labelled: a second round would change nothing
        clusters.set_params(max_iter=1)
    return Tagger(encoder, method="paper", o_ratio=o_ratio, clusters=clusters, cache=False)


def _handful(encoder: WordEncoder, o_ratio: Ratio, has_text: bool) -> Tagger:
    return Tagger(encoder, o_ratio=o_ratio, cache=False)


#: Our own variants: from an encoder, a ratio, and whether there is unlabelled text, to a tagger. All but the last are
#: the paper's.
OURS: dict[str, Callable[[WordEncoder, Ratio, bool], Tagger]] = {
    "hard": _paper,
    "soft": partial(_paper, assignment="soft"),
    "hard-nosubspace": partial(_paper, subspace=False),
    "soft-nosubspace": partial(_paper, assignment="soft", subspace=False),
    "handful": _handful,
}


def method_names() -> list[str]:
    """Return the names of all methods."""
    return [*BASELINES, *OURS]


def variants(methods: Sequence[str], ratios: Sequence[str], texts: Sequence[str] = ("all",)) -> list[Variant]:
    """Return what is to be run, in order, each once.

    Our own variants run at every ratio; ``handful`` runs only at "auto", where that is one of them. Without unlabelled
    text, a ratio has no effect.
    """
    for method in methods:
        _check_method(method)
    for ratio in ratios:
        _check_ratio(ratio)
    if not methods:
        raise DataError(f"no method is named; give some of {', '.join(method_names())}")
    found = [
        Variant(method, ratio, text) for text in texts for method in methods for ratio in _ratios(method, ratios, text)
    ]
    return list(dict.fromkeys(found))


def _ratios(method: str, ratios: Sequence[str], text: str) -> Sequence[str]:
    """Return the ratios at which a method runs."""
    if method not in OURS:
        return [""]
    if text == "none":
        return ["none"]
    if not ratios:
        raise DataError(
            f"the method {method} needs a ratio: {', '.join(RATIO_WORDS)}, or numbers",
            Advice("give them as ratios=", "give them as --ratios"),
        )
    return ["auto"] if method == "handful" and "auto" in ratios else ratios


def make_method(
    variant: Variant,
    encoder: WordEncoder,
    o_ratio: Ratio,
    source: Any = None,
    folder: PathLike | None = None,
) -> Method:
    """Make a method that is not fitted yet.

    Parameters
    ----------
    variant
        Which method.
    encoder
        What gives its features.
    o_ratio
        The share of O words, for our own.
    source
        The source corpora, for methods that learn from them.
    folder
        The name or path of the encoder, for methods that train the encoder itself.
    """
    if variant.method in OURS:
        return OURS[variant.method](encoder, o_ratio, variant.text != "none")
    if ":" in variant.method:
        return _import(variant.method)(encoder)  # type: ignore[no-any-return]
    given = encoder if folder is None or variant.method not in TRAINERS else folder
    return make_baseline(variant.method, given, source=source)


def fit_figures(method: Method) -> dict[str, Any]:
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


def _check_method(name: str) -> None:
    if ":" in name:
        _import(name)
    elif name not in method_names():
        raise DataError(
            f"there is no method {name!r}; there are {', '.join(method_names())}, and your own as module:Class"
        )


def _check_ratio(ratio: str) -> None:
    try:
        is_right = ratio in RATIO_WORDS or 0 <= float(ratio) <= 1
    except ValueError:
        is_right = False
    if not is_right:
        raise DataError(f"a ratio is {', '.join(RATIO_WORDS)} or a number from 0 to 1, found {ratio!r}")


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
