"""How to tune an encoder: all that the result depends on, besides labels, text and the encoder."""

from dataclasses import dataclass

from handful._util.options import check_options, documented, option

__all__ = ["TuneRecipe"]


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
