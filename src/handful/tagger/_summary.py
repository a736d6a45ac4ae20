"""`FitSummary`: what a fit learned, in words, and what to try next."""

from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from handful._util.html import table
from handful.errors import Advice
from handful.text import EntityType

from ._learning import FEWEST_MENTIONS, Learned
from .evidence import TypeNames
from .training_text import LabelledText, sentences_of

if TYPE_CHECKING:
    pass

FEW_MENTIONS = 5
LITTLE_TEXT = 5_000  # words
_HEAD = ("type", "mentions", "unlabelled words", "such as", "what it means")


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 63


def _are_counts(value: Any) -> bool:
    return isinstance(value, dict) and all(map(_is_count, value.values()))


def _is_number(value: Any) -> bool:
    return type(value) is float or _is_count(value)


def _are_lines(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


# What the fields of a summary are, in JSON's types.
_KINDS: dict[str, Callable[[Any], bool]] = {
    "method": lambda value: isinstance(value, str),
    "types": lambda value: isinstance(value, list),
    **dict.fromkeys(("n_support", "n_support_words", "n_unlabelled_words", "rounds"), _is_count),
    **dict.fromkeys(("has_names", "is_estimated"), lambda value: isinstance(value, bool)),
    **dict.fromkeys(("o_share", "objective"), _is_number),
    "o_ratio": lambda value: value is None or _is_number(value),
    **dict.fromkeys(("mentions", "unlabelled_words"), _are_counts),
    "examples": lambda value: isinstance(value, dict) and all(map(_are_lines, value.values())),
    "advice": lambda value: isinstance(value, list) and all(_are_lines([*one.values()]) for one in value),
    "notes": _are_lines,
}


@dataclass(frozen=True)
class FitSummary:
    """What a fit learned.

    Attributes
    ----------
    method : "handful" or "paper"
    types : the types, sorted by name
    mentions : labelled mentions by type
    n_support, n_support_words : labelled sentences, and their words
    n_unlabelled_words : words of sentences with no label
    has_names : whether the names and descriptions of types were read
    o_ratio : the share of O words that was asked for or estimated; None where it was left open
    is_estimated : whether it was estimated, not given
    o_share : the share of O words in the last assignment, of all words
    rounds : how many were done
    objective : after the last round; see `handful.cluster.SubspaceKMeans`
    unlabelled_words : for each type, how many unlabelled words the last round gave it
    examples : for each type three mentions found in the unlabelled text, the surest first
    advice : what to try next
    notes : what was handled on the way, such as what reading the files met with
    """

    method: str
    types: list[EntityType]
    mentions: dict[str, int]
    n_support: int
    n_support_words: int
    n_unlabelled_words: int
    has_names: bool
    o_ratio: float | None
    is_estimated: bool
    o_share: float
    rounds: int
    objective: float
    unlabelled_words: dict[str, int]
    examples: dict[str, list[str]]
    advice: list[Advice] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Return it as dicts, lists, strings and numbers."""
        return asdict(self)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "FitSummary":
        """Read what `to_dict` returned; a TypeError, KeyError or ValueError where it is something else."""
        for name, is_right in _KINDS.items():
            if not is_right(content[name]):
                raise ValueError(f"{name} is {content[name]!r:.100}")
        types = [EntityType(**one) for one in content["types"]]
        names = {one.name for one in types}
        if any(content[name].keys() != names for name in ("mentions", "unlabelled_words", "examples")):
            raise ValueError("mentions, unlabelled_words and examples are not those of its types")
        return cls(**content | {"types": types, "advice": [Advice(**one) for one in content["advice"]]})

    def __str__(self) -> str:
        """Say it in a few lines, with a table of the types."""
        verb = "estimated" if self.is_estimated else "asked"
        asked = "no ratio" if self.o_ratio is None else f"ratio {verb} {self.o_ratio:.4g}"
        names = "the names of types; " if self.has_names else ""
        lines = [
            f"{names}{self.n_support} labelled sentences, {sum(self.mentions.values())} mentions; "
            f"{self.n_unlabelled_words:,} unlabelled words",
        ]
        if self.rounds:
            lines.append(
                f"{asked}, {self.o_share:.4g} of all words are O; {self.rounds} rounds, objective {self.objective:.4f}"
            )
        shown = [i for i, column in enumerate(zip(*self._rows(), strict=True)) if any(column)]
        rows = [[row[i] for i in shown] for row in (_HEAD, *self._rows())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            cells = (
                f"{one:>{n}}" if i in (1, 2) else f"{one:<{n}}"
                for i, (one, n) in enumerate(zip(row, widths, strict=True))
            )
            lines.append("  ".join(cells).rstrip())
        return "\n".join([*lines, *(f"note: {note}" for note in self.notes), *(f"try: {a}" for a in self.advice)])

    def _repr_html_(self) -> str:
        """Return the types as a table, and the rest in a line each, for notebooks."""
        first, *_ = str(self).split("\n", 1)
        lines = [first, *(f"note: {note}" for note in self.notes), *(f"try: {advice}" for advice in self.advice)]
        said = [f"<div>{escape(line)}</div>" for line in lines]
        return said[0] + table(_HEAD, self._rows()) + "".join(said[1:])

    def _rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return a row of the table for each type."""
        meanings = {one.name: one.description for one in self.types}
        return [
            (
                name,
                f"{n:,}",
                f"{self.unlabelled_words[name]:,}",
                "; ".join(self.examples[name]),
                meanings.get(name, ""),
            )
            for name, n in self.mentions.items()
        ]


def summarise(text: LabelledText, learned: Learned, method: str, is_auto: bool, notes: list[str]) -> FitSummary:
    """Return what a fit learned; `is_auto` is whether the ratio was to be estimated."""
    model, fitted, labelled = learned.model, learned.clusters, learned.labelled
    names = [one.name for one in model.types]
    tags = np.zeros(0, np.int64) if fitted is None else fitted.tags_
    counts, examples = text.look(model, tags, labelled)
    support = sentences_of(text.labels)
    mentions = Counter(span.type for sentence in support for span in sentence.spans or ())
    summary = FitSummary(
        method=method,
        types=list(model.types),
        mentions={name: mentions[name] for name in names},
        n_support=len(support),
        n_support_words=sum(map(len, support)),
        n_unlabelled_words=labelled.n_words - len(labelled.rows),
        has_names=model.piece(TypeNames) is not None,
        o_ratio=None if fitted is None or fitted.o_ratio is None else float(fitted.o_ratio),
        is_estimated=is_auto and fitted is not None and fitted.o_ratio is not None,
        o_share=0.0 if fitted is None else float(fitted.o_share_),
        rounds=0 if fitted is None else int(fitted.n_iter_),
        objective=0.0 if fitted is None else float(fitted.objective_[-1]),
        unlabelled_words={name: int(n) for name, n in zip(names, counts[1:], strict=True)},
        examples={name: [mention for _, mention in found] for name, found in examples.items()},
        notes=list(notes),
    )
    if n_several := sum(len(ways) > 1 for ways in text.labels.values()):
        are = "sentence is" if n_several == 1 else "sentences are"
        summary.notes.append(
            f"{n_several:,} {are} labelled in more than one way: each way counts for its own sentence, and an "
            "unlabelled copy may be what any of them says"
        )
    piece = model.piece(TypeNames)
    if piece is not None and (doubted := [names[t] for t in np.flatnonzero(piece.weights < 1)]):
        summary.notes.append(
            f"what {', '.join(doubted)} is said to mean does not fit the words that are labelled so: it counts less"
        )
    sure_o = labelled.is_sure & labelled.allowed[:, 0]
    summary.advice.extend(_advice(summary, is_auto, float(sure_o.mean()) if len(sure_o) else 0.0))
    return summary


def _advice(summary: FitSummary, is_auto: bool, o_share: float) -> list[Advice]:
    advice = []
    if summary.has_names and (bare := [one.name for one in summary.types if not one.description]):
        advice.append(
            Advice(
                f"say in a line what types mean (types={{...}}): {', '.join(bare)} has no description",
                f"say in a line what types mean (--types): {', '.join(bare)} has no description",
            )
        )
    if summary.n_unlabelled_words == 0:
        advice.append(
            _in_both(
                "give unlabelled text of the kind you want to tag ({unlabelled}): prototypes then come "
                "from all of it, not from the labelled words alone"
            )
        )
    elif summary.n_unlabelled_words < LITTLE_TEXT:
        advice.append(
            _in_both(f"give more unlabelled text: {summary.n_unlabelled_words:,} words are few, tens of thousands help")
        )
    if summary.n_unlabelled_words and summary.o_ratio is None:
        estimate = (
            f"label {FEWEST_MENTIONS} mentions of each type, for the share of words in no mention to be estimated,"
            if is_auto
            else "let the share of words in no mention be estimated ({auto})"
        )
        advice.append(
            _in_both(
                estimate
                + f" or say it ({{o_ratio}}, often 0.85 to 0.97): in the support it is {o_share:.2f}, which is "
                "lower than in other text, because its sentences were picked for their mentions"
            )
        )
    few = {name: n for name, n in summary.mentions.items() if n < FEW_MENTIONS}
    if few:
        shown = ", ".join(f"{name} ({n})" for name, n in few.items())
        advice.append(_plain(f"label more mentions, {FEW_MENTIONS} of each type are a good number: {shown}"))
    absent = [name for name, n in summary.unlabelled_words.items() if n == 0]
    if summary.n_unlabelled_words and absent:
        advice.append(
            _plain(
                f"no unlabelled word was taken for {', '.join(absent)}: check that the text has such mentions, or "
                "lower the ratio"
            )
        )
    return advice


def _in_both(template: str) -> Advice:
    """Return advice with parameters as they are written in Python and on the command line."""
    return Advice(
        template.format(unlabelled="unlabelled=", auto="o_ratio='auto'", o_ratio="o_ratio="),
        template.format(unlabelled="--unlabelled", auto="--o-ratio auto", o_ratio="--o-ratio"),
    )


def _plain(text: str) -> Advice:
    """Return advice that reads the same everywhere."""
    return Advice(text, text)
