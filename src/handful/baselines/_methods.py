"""The baselines by name."""

from collections.abc import Sequence
from typing import Any

from handful.encoders.opened import AnyEncoder
from handful.errors import DataError
from handful.text import Sentence

from ._base import Baseline
from ._container import Container
from ._finetuned import FineTuned, SetFit
from ._nearest import NNShot, Proto, StructShot
from ._regression import RegressionBaseline
from ._source import Source

#: The class and the options of each method.
BASELINES: dict[str, tuple[type[Baseline], dict[str, Any]]] = {
    "proto": (Proto, {}),
    "nnshot": (NNShot, {}),
    "structshot": (StructShot, {}),
    "regression": (RegressionBaseline, {}),
    "container": (Container, {}),
    "container-viterbi": (Container, {"viterbi": True}),
    "finetuned": (FineTuned, {}),
    "setfit": (SetFit, {}),
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
    kind, options = BASELINES[name]
    if issubclass(kind, Container):
        if source is None:
            raise DataError("CONTaiNER trains on labelled corpora first: give source=, a list of lists of Sentence")
        options = options | {"source": source}
    elif issubclass(kind, StructShot) and source is not None:
        options = options | {"transitions": source.transitions}
    return kind(encoder, **options)
