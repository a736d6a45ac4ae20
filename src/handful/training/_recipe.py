"""How to train and how to tune: everything that the weights depend on, besides texts, labels and the encoder."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from handful._util.options import check_options, documented, option
from handful.errors import DataError


@documented
@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to train."""

    layers: int | None = option(None, least=1, help="Keep only this many layers of the encoder, the first ones.")
    vocabulary: int | None = option(
        None,
        least=1,
        help="Keep only this many sub-words of a SentencePiece encoder: those that the corpora use most, in any of "
        "their languages, all characters, and bytes for characters that it never had.",
    )
    shapes: bool = option(
        False, help="Also learn a vector for how a word is written, for an encoder whose tokenizer does not keep case."
    )
    rename: Mapping[str, str] = option(
        {}, help="New names of types, in all corpora; types that get the same name are merged."
    )
    epochs: int = option(3, least=1, help="Passes over the corpora.")
    batch_tokens: int = option(
        8192, least=1, help="Tokens in a step, over several corpora; the texts of their types count too."
    )
    lr: float = option(1.4e-4, least=0, help="Learning rate of the encoder after the warm-up; it falls to 0.")
    head_lr: float = option(1e-3, least=0, help="Learning rate of prototypes after the warm-up; it falls to 0.")
    warmup: float = option(0.05, least=0, below=1, help="Share of the steps in which the learning rates rise.")
    name_only: float = option(0.25, least=0, help="How often a type is read by its name alone, as a share.")
    description_only: float = option(
        0.25, least=0, help="How often a type is read by its description alone, as a share; else by both."
    )
    parts: bool = option(
        True, help="What a description excludes is read by itself, and takes words away from its type."
    )
    negatives: float = option(
        0.35,
        least=0,
        below=1,
        help="Types of other corpora are wrong answers too: for a mention if their texts are among this "
        "share of the least similar pairs, and for words that are O nearly everywhere. 0: never.",
    )
    contrast: float = option(
        0.1, least=0, help="Weight of a second loss: a word is to be nearest to words with the same tag."
    )
    weights: Mapping[str, float] = option(
        {},
        least=0,
        help="How much of a corpus an epoch takes: 0.5 is half of it, 2 is all of it twice. 1 if not set. NAME may be "
        "a group: web is for web/blogs and web/news, unless they have a number of their own.",
    )
    o_weights: Mapping[str, float] = option(
        {},
        least=0,
        help="How much an O word of a corpus or a group counts in the loss: below 1 where the corpus does not mark "
        "all types. 1 if not set.",
    )
    hold_out: float = option(
        0.0, least=0, below=1, help="Share of each corpus that is not trained on, but measured on."
    )
    seed: int = option(0, least=0, help="Where all randomness comes from.")

    def __post_init__(self) -> None:
        check_options(self)
        if nothing := [name for name, weight in self.weights.items() if not weight]:
            raise DataError(f"weights of {', '.join(nothing)} is 0; leave the corpus out instead")
        if self.name_only + self.description_only > 1:
            raise DataError(
                f"name_only and description_only are {self.name_only:g} and {self.description_only:g}, expected "
                "shares whose sum is at most 1"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return all settings in a form that JSON does not change."""
        in_order = {name: dict(sorted(getattr(self, name).items())) for name in ("weights", "o_weights", "rename")}
        return asdict(self) | in_order


def group_of(name: str) -> str:
    """Return the group of a corpus: ``web`` for ``web/blogs``; a corpus without one is its own group."""
    return name.partition("/")[0]


def of_corpus(numbers: Mapping[str, float], name: str) -> float:
    """Return the number of a corpus: its own, that of its group, or 1."""
    return numbers.get(name, numbers.get(group_of(name), 1.0))


@documented
@dataclass(frozen=True, kw_only=True)
class TuneRecipe:
    """How to tune an encoder."""

    rank: int = option(16, least=1, help="Columns of the thin matrices that are learned for each matrix of a layer.")
    epochs: int = option(20, least=1, help="Passes over the labelled sentences.")
    least_steps: int = option(100, least=1, help="Steps that are taken even if these passes need fewer.")
    batch: int = option(16, least=1, help="Sentences in a step.")
    lr: float = option(1e-3, least=0, help="Learning rate of the thin matrices after the warm-up; it falls to 0.")
    head_lr: float = option(5e-4, least=0, help="Learning rate of what reads the names of types.")
    dropout: float = option(0.1, least=0, below=1, help="How much of each layer is left out while training.")
    warmup: float = option(0.1, least=0, below=1, help="Share of the steps in which the learning rates rise.")
    folds: int = option(2, least=2, help="Parts of the labelled sentences; each is held out once, to measure on.")
    share: float = option(
        0.7, least=0, help="How far the encoder goes from what it was to what training made of it, 1 for all."
    )
    caution: float = option(
        0.5,
        least=0,
        help="By how many standard errors F1 on what was held out must rise, or the encoder stays as it was.",
    )
    seed: int = option(0, least=0, help="Where all randomness comes from.")

    def __post_init__(self) -> None:
        check_options(self)

    def n_steps(self, n_sentences: int) -> int:
        """Return the number of steps for so many labelled sentences."""
        return max(self.least_steps, self.epochs * -(-n_sentences // self.batch))
