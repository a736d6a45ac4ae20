"""How tags follow each other, for types of any name."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, fields
from itertools import pairwise

from handful.errors import DataError

from ._sentences import Sentence

__all__ = ["Transitions"]

_RAREST = 1e-12  # a chance of 0 has no logarithm, and no count gives one: every count starts at one


@dataclass(frozen=True, slots=True)
class Transitions:
    """How likely one tag follows another.

    Only O, the same type and another type are told apart. The counts of one corpus therefore hold for the types of
    another. The rest up to 1 is for O at the start and after O, and for the same type after a type.

    Parameters
    ----------
    start_type : float
        The chance that a sentence starts with a type.
    o_type : float
        That a type follows O.
    type_o : float
        That O follows a type.
    type_other : float
        That another type follows a type.
    """

    start_type: float
    o_type: float
    type_o: float
    type_other: float

    @classmethod
    def count(cls, sentences: Iterable[Sentence]) -> "Transitions":
        """Count neighbouring words of wholly labelled sentences; every count starts at one."""
        starts, after_o, after_type = [1, 1], [1, 1], [1, 1, 1]
        for sentence in sentences:
            tags = [""] * len(sentence.words)
            for span in sentence.spans or ():
                tags[span.start : span.end] = [span.type] * (span.end - span.start)
            if tags:
                starts[tags[0] != ""] += 1
            for before, tag in pairwise(tags):
                if before == "":
                    after_o[tag != ""] += 1
                else:
                    after_type[0 if tag == "" else 1 if tag == before else 2] += 1
        n_after_type = sum(after_type)
        return cls(
            starts[1] / sum(starts),
            after_o[1] / sum(after_o),
            after_type[0] / n_after_type,
            after_type[2] / n_after_type,
        )

    def to_dict(self) -> dict[str, float]:
        """Return the four chances by name, as JSON keeps them."""
        return asdict(self)

    @classmethod
    def from_dict(cls, chances: object) -> "Transitions":
        """Read what `to_dict` wrote."""
        names = [field.name for field in fields(cls)]
        if not isinstance(chances, Mapping) or set(chances) != set(names):
            raise DataError(f"transitions are {chances!r}, expected numbers for {', '.join(names)}")
        for name, chance in chances.items():
            if not isinstance(chance, float) or not _RAREST <= chance <= 1 - _RAREST:
                raise DataError(f"transitions: {name} is {chance!r:.50}, expected a number above 0 and below 1")
        return cls(**{name: float(chances[name]) for name in names})
