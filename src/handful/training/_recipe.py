"""How to train: everything that the weights depend on, besides the corpora and the base encoder."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from handful._util.options import check_options, documented, option
from handful.errors import DataError

__all__ = ["Recipe"]


@documented
@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to train."""

    layers: int | None = option(None, least=1, help="Keep only this many layers of the encoder, the first ones.")
    shapes: bool = option(
        False,
        help="Also learn a vector for how a word is written, for an encoder whose tokenizer does not keep case.",
    )
    hide: tuple[str, ...] = option((), metavar="TYPE,...", help="Types whose mentions become O, in all corpora.")
    epochs: int = option(3, least=1, help="Passes over the corpora.")
    batch: int = option(32, least=1, help="Sentences in a batch. A batch comes from one corpus.")
    batch_words: int | None = option(None, least=1, help="The most words in a batch, instead of a number of sentences.")
    lr: float = option(5e-5, least=0, help="Learning rate of the encoder after the warm-up; it falls to 0.")
    head_lr: float = option(1e-3, least=0, help="Learning rate of the prototypes after the warm-up; it falls to 0.")
    warmup: float = option(0.05, least=0, below=1, help="Share of the steps in which the learning rates rise.")
    head: str = option(
        "prototypes",
        choices=("prototypes", "linear"),
        help="With prototypes, logits are distances; linear is an ordinary output layer.",
    )
    dropout: float | None = option(
        None, least=0, below=1, help="Dropout in the encoder; if not set, as its configuration says."
    )
    weights: Mapping[str, float] = option(
        {},
        flag="--weight",
        metavar="NAME=NUMBER",
        example="--weight news=0.5",
        least=0,
        help="How much of a corpus an epoch takes: 0.5 is half of it, 2 is all of it twice. 1 if not set.",
    )
    o_weights: Mapping[str, float] = option(
        {},
        flag="--o-weight",
        metavar="NAME=NUMBER",
        example="--o-weight news=0.5",
        least=0,
        help="How much an O word of a corpus counts in the loss: below 1 where the corpus does not mark all types. "
        "1 if not set.",
    )
    hold_out: float = option(
        0.0, least=0, below=1, help="Share of each corpus that is not trained on, but measured on."
    )
    average: float = option(
        0.0, least=0, below=1, help="The result is the mean of the weights over this last share of the steps."
    )
    keep: str = option(
        "last",
        choices=("last", "best"),
        help="Which epoch to keep: the last one, or the one with the highest F1 on the dev sentences.",
    )
    seed: int = option(0, least=0, help="Where all randomness comes from.")

    def __post_init__(self) -> None:
        check_options(self)
        object.__setattr__(self, "hide", tuple(self.hide))
        if nothing := [name for name, weight in self.weights.items() if not weight]:
            raise DataError(f"weights of {', '.join(nothing)} is 0; leave the corpus out instead")

    def to_dict(self) -> dict[str, Any]:
        """Return all settings in a form that JSON does not change."""
        in_order = {name: dict(sorted(getattr(self, name).items())) for name in ("weights", "o_weights")}
        return asdict(self) | in_order | {"hide": sorted(self.hide)}
