"""The baselines by name."""

from collections.abc import Callable, Sequence
from functools import partial

from handful.encoders.opened import AnyEncoder
from handful.errors import DataError
from handful.text import Sentence

from ._base import Baseline
from ._container import Container
from ._finetuned import FineTuned, SetFit
from ._frozen import FrozenContainer
from ._nearest import NNShot, Proto, StructShot
from ._regression import RegressionBaseline
from ._source import Source

__all__ = ["BASELINES", "make_baseline"]


def _structshot(encoder: AnyEncoder, source: Source | None) -> Baseline:
    return StructShot(encoder, transitions=None if source is None else source.transitions)


def _frozen(encoder: AnyEncoder, source: Source | None, *, viterbi: bool = False) -> Baseline:
    return FrozenContainer(encoder, source=_given(source), viterbi=viterbi)


def _container(encoder: AnyEncoder, source: Source | None, *, viterbi: bool = False) -> Baseline:
    return Container(encoder, source=_given(source), viterbi=viterbi)


def _given(source: Source | None) -> Source:
    if source is None:
        raise DataError("CONTaiNER trains on labelled corpora first: give source=, a list of lists of Sentence")
    return source


#: From an encoder and a source (or None) to a method.
BASELINES: dict[str, Callable[[AnyEncoder, Source | None], Baseline]] = {
    "proto": lambda encoder, source: Proto(encoder),
    "nnshot": lambda encoder, source: NNShot(encoder),
    "structshot": _structshot,
    "regression": lambda encoder, source: RegressionBaseline(encoder),
    "container-frozen": _frozen,
    "container-frozen-viterbi": partial(_frozen, viterbi=True),
    "container": _container,
    "container-viterbi": partial(_container, viterbi=True),
    "finetuned": lambda encoder, source: FineTuned(encoder),
    "setfit": lambda encoder, source: SetFit(encoder),
}


def make_baseline(
    name: str, encoder: AnyEncoder, *, source: Source | Sequence[Sequence[Sentence]] | None = None
) -> Baseline:
    """Make a method by its name.

    Parameters
    ----------
    name
        One of `BASELINES`.
    encoder : str, path or object
        As for `handful.Tagger`.
    source
        Labelled source corpora, for the methods that learn from them: a `Source`, which learns once for all methods
        that it is given to, or a list of lists of `Sentence`. StructShot counts its transitions there, and without
        one takes those that come with the encoder.
    """
    if name not in BASELINES:
        raise DataError(f"there is no method {name!r}; methods are {', '.join(BASELINES)}")
    if source is not None and not isinstance(source, Source):
        source = Source(source, encoder)
    return BASELINES[name](encoder, source)
