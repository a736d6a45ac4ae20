"""What the protocols have in common."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from handful.errors import DataError

from ._targets import PathLike

__all__ = ["METHODS", "RATIOS", "SOURCE_METHODS", "Settings"]

METHODS = ("proto", "nnshot", "structshot", "regression", "hard", "soft", "handful")
SOURCE_METHODS = ("container-frozen", "container-frozen-viterbi")
RATIOS = ("none", "share", "over", "auto")


@dataclass(frozen=True)
class Settings:
    """How a comparison is run.

    Attributes
    ----------
    methods : by name, see `handful.bench.method_names`; None for `METHODS`, and with a source `SOURCE_METHODS` too
    ratios : for our own methods: none, auto, share, over, or numbers as text
    shots, sets, seed : so many mentions of each type, so many supports, drawn with this seed where none are given
    supports : a folder of supports, or, with several targets, of such folders named after them
    on : "test", or "dev" for choosing: the split that supports come from is cut in two, one half scored on
    most_words : with "dev", the most words of train to take as unlabelled text
    skip_unnamed : whether documents without any mention are left out; see `handful.text.read`
    layers, threads : as for `handful.encoders.load`
    published : whether published figures are printed beside
    plots : whether pictures are drawn
    command : what the report says of how it was made
    """

    methods: Sequence[str] | None = None
    ratios: Sequence[str] = RATIOS
    shots: Sequence[int] = (1, 5)
    sets: int = 10
    seed: int = 0
    supports: PathLike | None = None
    on: str = "test"
    most_words: int = 30_000
    skip_unnamed: bool = False
    layers: int | Sequence[int] = -1
    threads: int | None = None
    published: bool = False
    plots: bool = True
    command: str = ""

    def __post_init__(self) -> None:
        if not self.shots or any(type(n) is not int or n < 1 for n in self.shots):
            raise DataError(f"shots is {list(self.shots)!r}, expected whole numbers of at least 1")
        for name, least in (("sets", 1), ("seed", 0), ("most_words", 0)):
            value = getattr(self, name)
            if type(value) is not int or value < least:
                raise DataError(f"{name} is {value!r}, expected a whole number of at least {least}")
        if self.on not in ("test", "dev"):
            raise DataError(f"on is {self.on!r}, expected test or dev")
        if self.supports is not None and self.on == "dev":
            raise DataError("on='dev' draws its own supports, from one half of the dev file; leave supports out")

    def chosen_methods(self, *, has_source: bool) -> list[str]:
        """Return the methods to run."""
        if self.methods is not None:
            return list(self.methods)
        n_nearest = METHODS.index("hard")
        return [*METHODS[:n_nearest], *(SOURCE_METHODS if has_source else ()), *METHODS[n_nearest:]]

    def to_dict(self) -> dict[str, Any]:
        """Return it as dicts, lists, strings and numbers."""
        return asdict(self) | {"supports": None if self.supports is None else str(self.supports)}
