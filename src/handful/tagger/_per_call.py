"""Mentions of types that are named with each call: no tagger to make, to fit or to keep."""

from functools import lru_cache
from typing import Any

from handful._util.progress import Progress
from handful.encoders import Encoder, load
from handful.text import EntityType, types_of

from ._tagger import Tagger
from .finding import Find
from .tagging import MinScore

N_TAGGERS = 8  # kept at a time; they share one encoder, and are small


def predict(
    texts: Any, types: Any, *, min_score: MinScore = 0.0, find: Find = "usual", progress: Progress = None
) -> Any:
    """Find mentions of types by what they mean, without a fit; they are returned as by `handful.Tagger.predict`.

    The types of the last few calls are remembered: to ask for the same ones again costs nothing.

    Parameters
    ----------
    texts, min_score, find, progress : as for `handful.Tagger.predict`
    types : the types to find and what they mean, as for `handful.Tagger`

    Examples
    --------
    >>> handful.predict("Ekeus heads for Baghdad", {"PER": "names of people"})  # doctest: +SKIP
    """
    return _tagger(types_of(types)).predict(texts, min_score=min_score, find=find, progress=progress)


@lru_cache(N_TAGGERS)
def _tagger(types: tuple[EntityType, ...]) -> Tagger:
    return Tagger(types, encoder=_encoder()).fit()


@lru_cache(1)
def _encoder() -> Encoder:
    return load("handful-en")
