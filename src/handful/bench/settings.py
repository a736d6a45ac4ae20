"""The settings of a comparison."""

from collections.abc import Sequence
from dataclasses import dataclass

from handful._util.options import check_options, option
from handful.errors import DataError

#: The methods that are compared if none are named.
DEFAULT_METHODS = ("proto", "nnshot", "structshot", "regression", "hard", "soft", "handful")
#: The ratios at which our own methods run if none are named.
O_RATIOS = ("none", "share", "over", "auto")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a comparison is run."""

    methods: Sequence[str] = option(
        DEFAULT_METHODS, help="The methods to compare; handful.bench.method_names() and handful bench --help list them."
    )
    o_ratios: Sequence[str] = option(
        O_RATIOS,
        help="The shares of O words for our own methods: none, auto, share (that of the words where supports come "
        "from, rounded down to a multiple of 0.05), over (0.05 more than share), or numbers.",
    )
    shots: Sequence[int] = option(
        (1, 5),
        least=0,
        help="Mentions of each type in a support; 0: no labels, for methods that read the names of types.",
    )
    texts: Sequence[str] = option(
        ("all",),
        help="Unlabelled text for our own methods: all, none, or both.",
    )
    sets: int = option(10, least=1, help="Number of supports for each number of shots.")
    seed: int = option(0, least=0, help="Seed for drawing supports, and for the statistics.")
    fewer: bool = option(False, help="Draw what there is of a type with fewer mentions than a support should have.")
    on: str = option(
        "test",
        choices=("test", "dev"),
        help="What to score on: test; or dev, for making choices. Then the split that supports come from is cut in "
        "two: supports come from one half, the other half is scored on.",
    )
    most_words: int = option(
        30_000, least=0, help="When dev is scored on, the most words of train to take as unlabelled text."
    )
    threads: int | None = option(None, least=1, help="Threads for encoding; all cores if not set.")
    command: str = option("", help="What the report says about how it was made.")

    def __post_init__(self) -> None:
        check_options(self)
        if not self.shots:
            raise DataError("shots is empty, expected at least one number")
