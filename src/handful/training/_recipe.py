"""How to train and how to tune: everything that the weights depend on, besides texts, labels and the encoder."""

from collections.abc import Mapping
from dataclasses import dataclass

from handful._util.options import check_options, option
from handful.errors import DataError


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """How to train."""

    layers: int | None = option(None, least=1)  # keep only this many layers of the encoder, the first ones
    # also learn a vector for how a word is written, for an encoder whose tokenizer does not keep case
    shapes: bool = option(False)
    # new names of types, in all corpora; types that get the same name are merged
    rename: Mapping[str, str] = option({})
    epochs: int = option(3, least=1)  # passes over the corpora
    # tokens in a step, over several corpora; the texts of their types count too
    batch_tokens: int = option(8192, least=1)
    lr: float = option(1.4e-4, least=0)  # learning rate of the encoder after the warm-up; it falls to 0
    head_lr: float = option(1e-3, least=0)  # learning rate of prototypes after the warm-up; it falls to 0
    warmup: float = option(0.05, least=0, below=1)  # share of the steps in which the learning rates rise
    name_only: float = option(0.25, least=0)  # how often a type is read by its name alone, as a share
    # how often a type is read by its description alone, as a share; else by both
    description_only: float = option(0.25, least=0)
    parts: bool = option(True)  # what a description excludes is read by itself, and takes words away from its type
    # types of other corpora are wrong answers too: for a mention if their texts are among this share of the least
    # similar pairs, and for words that are O nearly everywhere. 0: never
    negatives: float = option(0.35, least=0, below=1)
    # weight of a second loss: a word is to be nearest to words with the same tag
    contrast: float = option(0.1, least=0)
    # how much of a corpus an epoch takes: 0.5 is half of it, 2 is all of it twice. 1 if not set. NAME may be a group:
    # web is for web/blogs and web/news, unless they have a number of their own.
    weights: Mapping[str, float] = option({}, least=0)
    # how much an O word of a corpus or a group counts in the loss: below 1 where the corpus does not mark all types.
    # 1 if not set
    o_weights: Mapping[str, float] = option({}, least=0)
    hold_out: float = option(0.0, least=0, below=1)  # share of each corpus that is not trained on, but measured on
    seed: int = option(0, least=0)  # where all randomness comes from

    def __post_init__(self) -> None:
        check_options(self)
        if nothing := [name for name, weight in self.weights.items() if not weight]:
            raise DataError(f"weights of {', '.join(nothing)} is 0; leave the corpus out instead")
        if self.name_only + self.description_only > 1:
            raise DataError(
                f"name_only and description_only are {self.name_only:g} and {self.description_only:g}, expected "
                "shares whose sum is at most 1"
            )


def group_of(name: str) -> str:
    """Return the group of a corpus: ``web`` for ``web/blogs``; a corpus without one is its own group."""
    return name.partition("/")[0]


def of_corpus(numbers: Mapping[str, float], name: str) -> float:
    """Return the number of a corpus: its own, that of its group, or 1."""
    return numbers.get(name, numbers.get(group_of(name), 1.0))


@dataclass(frozen=True, kw_only=True)
class TuneRecipe:
    """How to tune an encoder."""

    rank: int = option(16, least=1)  # columns of the thin matrices that are learned for each matrix of a layer
    epochs: int = option(20, least=1)  # passes over the labelled sentences
    least_steps: int = option(100, least=1)  # steps that are taken even if these passes need fewer
    batch: int = option(16, least=1)  # sentences in a step
    lr: float = option(1e-3, least=0)  # learning rate of the thin matrices after the warm-up; it falls to 0
    head_lr: float = option(5e-4, least=0)  # learning rate of what reads the names of types
    dropout: float = option(0.1, least=0, below=1)  # how much of each layer is left out while training
    warmup: float = option(0.1, least=0, below=1)  # share of the steps in which the learning rates rise
    folds: int = option(2, least=2)  # parts of the labelled sentences; each is held out once, to measure on
    # how far the encoder goes from what it was to what training made of it, 1 for all
    share: float = option(0.7, least=0)
    # by how many standard errors F1 on what was held out must rise, or the encoder stays as it was
    caution: float = option(0.5, least=0)
    seed: int = option(0, least=0)  # where all randomness comes from

    def __post_init__(self) -> None:
        check_options(self)

    def n_steps(self, n_sentences: int) -> int:
        """Return the number of steps for so many labelled sentences."""
        return max(self.least_steps, self.epochs * -(-n_sentences // self.batch))
