"""How to train: everything that the weights depend on besides the corpora and the base encoder."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from handful.errors import DataError

__all__ = ["Recipe"]

_HEADS = ("prototypes", "linear")
_KEEP = ("last", "best")


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to train.

    Parameters
    ----------
    layers
        Keep only this many of the encoder's layers, the first ones; None, all.
    shapes
        Whether to add a learned vector for how a word is written (see `handful.encoders._shapes`): for encoders whose
        tokenizer forgets case.
    hide
        Types whose mentions become O.
    epochs
        Passes over the corpora.
    batch
        Sentences in a batch; a batch comes from one corpus.
    batch_words
        Words in a batch, at most, instead of a number of sentences.
    lr, head_lr
        Learning rates of the encoder and of the prototypes, after the warm-up; both fall to 0.
    warmup
        The share of all steps in which the learning rates rise.
    head
        "prototypes" (logits are distances) or "linear".
    dropout
        Dropout everywhere in the encoder; None, as its configuration says.
    weights
        How much of a corpus an epoch takes, by name: 0.5 is half of it, 2 all of it twice. 1 if not named.
    o_weights
        How much an O word counts in the loss, by corpus name; 1 if not named. Below 1 where words that are O
        may be mentions of types that the corpus does not mark.
    hold_out
        The share of each corpus' sentences that is not trained on but measured on.
    average
        The result is the mean of the weights over this last share of all steps; 0, the last weights.
    keep
        "last", or "best" of the ends of epochs by F1 on the dev sentences.
    seed
        What all randomness comes from.
    """

    layers: int | None = None
    shapes: bool = False
    hide: tuple[str, ...] = ()
    epochs: int = 3
    batch: int = 32
    batch_words: int | None = None
    lr: float = 5e-5
    head_lr: float = 1e-3
    warmup: float = 0.05
    head: str = "prototypes"
    dropout: float | None = None
    weights: Mapping[str, float] = field(default_factory=dict)
    o_weights: Mapping[str, float] = field(default_factory=dict)
    hold_out: float = 0.0
    average: float = 0.0
    keep: str = "last"
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.hide, str):
            raise DataError(f"hide is a list of types, found the str {self.hide!r}")
        object.__setattr__(self, "hide", tuple(self.hide))
        _whole("epochs", self.epochs, 1)
        _whole("batch", self.batch, 1)
        _whole("seed", self.seed, 0)
        if self.layers is not None:
            _whole("layers", self.layers, 1)
        if self.batch_words is not None:
            _whole("batch_words", self.batch_words, 1)
        _number("lr", self.lr, 0, None)
        _number("head_lr", self.head_lr, 0, None)
        _number("warmup", self.warmup, 0, 1)
        _number("average", self.average, 0, 1)
        _number("hold_out", self.hold_out, 0, 1)
        if self.dropout is not None:
            _number("dropout", self.dropout, 0, 1)
        for name, value in (("weights", self.weights), ("o_weights", self.o_weights)):
            if not isinstance(value, Mapping):
                raise DataError(f"{name} gives a number by corpus name, found {value!r}")
            for corpus, number in value.items():
                _number(f"{name} of {corpus}", number, 0, None)
                if name == "weights" and not number:
                    raise DataError(f"weights of {corpus} is 0: leave the corpus out instead")
        if self.head not in _HEADS:
            raise DataError(f"head is one of {', '.join(_HEADS)}; found {self.head!r}")
        if self.keep not in _KEEP:
            raise DataError(f"keep is one of {', '.join(_KEEP)}; found {self.keep!r}")

    def as_dict(self) -> dict[str, Any]:
        """Give all settings in a form that JSON keeps as it is."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            **found,
            "hide": sorted(self.hide),
            "weights": dict(sorted(self.weights.items())),
            "o_weights": dict(sorted(self.o_weights.items())),
        }


def _whole(name: str, value: object, least: int) -> None:
    if not isinstance(value, int) or isinstance(value, bool) or value < least:
        raise DataError(f"{name} is a whole number, at least {least}; found {value!r}")


def _number(name: str, value: object, least: float, below: float | None) -> None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or not least <= value < (float("inf") if below is None else below):  # type: ignore[operator]
        limit = "" if below is None else f" and below {below}"
        raise DataError(f"{name} is a number, at least {least}{limit}; found {value!r}")
