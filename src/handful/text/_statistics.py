"""Figures about a corpus, and how its tags follow each other."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from itertools import pairwise

from handful.errors import DataError

from ._document import Document, sentences_of
from ._schemes import count_adjacent
from ._sentences import Sentence

_RAREST = 1e-12  # a chance of 0 has no logarithm, and no count gives one: every count starts at one


@dataclass
class Statistics:
    """Figures about a corpus."""

    # all of them
    n_sentences: int = 0
    n_words: int = 0
    # sentences of each kind
    n_labelled: int = 0
    n_partly_labelled: int = 0
    n_unlabelled: int = 0
    n_known: int = 0  # words whose label is known
    n_outside: int = 0  # words whose label is known to be O
    mentions: dict[str, int] = field(default_factory=dict)  # mentions by type, sorted by name
    n_adjacent: int = 0  # mentions directly after one of the same type, which IO tags cannot keep apart

    @property
    def n_mentions(self) -> int:
        """All mentions."""
        return sum(self.mentions.values())

    @property
    def o_share(self) -> float | None:
        """The share of O among words whose label is known; None if there is no such word."""
        return self.n_outside / self.n_known if self.n_known else None


def describe(items: Iterable[Sentence | Document]) -> Statistics:
    """Count what a corpus holds; documents and streams count by their sentences."""
    result = Statistics()
    mentions: Counter[str] = Counter()
    for sentence in (one for item in items for one in sentences_of(item)):
        n = len(sentence.words)
        result.n_sentences += 1
        result.n_words += n
        if sentence.spans is None:
            result.n_unlabelled += 1
            continue
        if sentence.allowed is None:
            result.n_labelled += 1
            n_known = n
        else:
            result.n_partly_labelled += 1
            n_known = sentence.allowed.count(None)
        result.n_known += n_known
        result.n_outside += n_known - len({i for span in sentence.spans for i in range(span.start, span.end)})
        result.n_adjacent += count_adjacent(sentence.spans)
        mentions.update(span.type for span in sentence.spans)
    result.mentions = dict(sorted(mentions.items()))
    return result


@dataclass(frozen=True, slots=True)
class Transitions:
    """How likely one tag follows another.

    Only O, the same type and another type are told apart. The counts of one corpus therefore hold for the types of
    another. The rest up to 1 is for O at the start and after O, and for the same type after a type.
    """

    start_type: float  # the chance that a sentence starts with a type
    o_type: float  # that a type follows O
    type_o: float  # that O follows a type
    type_other: float  # that another type follows a type

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
