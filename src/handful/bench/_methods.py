"""Methods by name: the baselines, our own variants, and anything with ``fit`` and ``predict_sentences``."""

import hashlib
import importlib
import inspect
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from handful import baselines
from handful.encoders._opened import WordEncoder
from handful.errors import DataError
from handful.tagger import Tagger
from handful.text import Sentence

__all__ = ["OURS", "Method", "Variant", "build", "method_names", "own_digest", "variants"]

#: Our own variants, by name, and how each differs from a tagger as it is; all but the last are the paper's.
OURS: dict[str, dict[str, Any]] = {
    "hard": {"method": "paper", "assignment": "hard"},
    "soft": {"method": "paper", "assignment": "soft"},
    "hard-nosubspace": {"method": "paper", "assignment": "hard", "subspace": False},
    "soft-nosubspace": {"method": "paper", "assignment": "soft", "subspace": False},
    "handful": {},
}
TRAINERS = ("container", "container-viterbi")  # what cannot work on features that stay as they are
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
    ratio : none, auto, share, over or a number; empty where the method has none
    text : the unlabelled text: all, dev, none, or a number of words
    """

    method: str
    ratio: str = ""
    text: str = "all"

    @property
    def is_ours(self) -> bool:
        """Whether this is one of our own."""
        return self.method in OURS


def method_names() -> list[str]:
    """Return the names of all methods."""
    return [*baselines.METHODS, *OURS]


def variants(methods: Sequence[str], ratios: Sequence[str], texts: Sequence[str] = ("all",)) -> list[Variant]:
    """Return what is to be run, in order, each once.

    Our own variants run at every ratio; ``handful`` at "auto" alone, where that is one of them. With no unlabelled
    text a ratio has nothing to say.
    """
    for method in methods:
        _check_method(method)
    for ratio in ratios:
        _check_ratio(ratio)
    if not methods:
        raise DataError(f"no method is named; give some of {', '.join(method_names())}")
    found = []
    for text in texts:
        for method in methods:
            if method not in OURS:
                wanted: Sequence[str] = [""]
            elif text == "none":
                wanted = ["none"]
            elif method == "handful" and "auto" in ratios:
                wanted = ["auto"]
            else:
                wanted = ratios
            if not wanted:
                raise DataError(f"the method {method} needs a ratio: {', '.join(RATIO_WORDS)}, or numbers")
            found += [Variant(method, ratio, text) for ratio in wanted]
    return list(dict.fromkeys(found))


def build(
    variant: Variant,
    encoder: WordEncoder,
    ratio: float | str | None,
    source: Any = None,
    folder: str | os.PathLike[str] | None = None,
) -> Method:
    """Make a method that is not fitted yet.

    Parameters
    ----------
    variant
        Which.
    encoder
        What gives its features.
    ratio
        The share of O words, for our own.
    source
        The source corpora, for methods that learn from them.
    folder
        The encoder's name or path, for methods that train the encoder itself.
    """
    if variant.method in OURS:
        options = dict(OURS[variant.method])
        if variant.text == "none" and variant.method != "handful":
            options["max_iter"] = 1  # every word is labelled: a second round would change nothing
        return Tagger(encoder, o_ratio=ratio, cache=False, **options)
    if ":" in variant.method:
        return _import(variant.method)(encoder)  # type: ignore[no-any-return]
    given = encoder if folder is None or variant.method not in TRAINERS else folder
    return baselines.build(variant.method, given, source=source)


def own_digest(method: str) -> str:
    """Return a hash of the file that a method of the user's own is in; empty for ours."""
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
