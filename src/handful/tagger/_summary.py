"""`FitSummary`: what a fit learned, in words, and what to try next."""

from collections import Counter
from dataclasses import asdict, dataclass, field
from html import escape
from typing import Any, get_type_hints

import numpy as np

from handful._util.html import table
from handful._util.options import is_possible
from handful._util.parallel import several_threads
from handful.encoders import Encoder
from handful.errors import Advice, number_of
from handful.text import EntityType, types_of

from ._guidelines import N_WORDS, CheckedGuideline, check_guidelines
from ._learning import FEWEST_MENTIONS, Learned
from .evidence import TypeNames
from .training_text import LabelledText, sentences_of

FEW_MENTIONS = 5
LITTLE_TEXT = 5_000  # words
_PARAMETERS = {
    "types": ("types={...}", "--types"),
    "retype": ("tagger.retype", "handful types MODEL --set TYPES"),
    "unlabelled": ("unlabelled=", "--unlabelled"),
    "auto": ("o_ratio='auto'", "--o-ratio auto"),
    "o_ratio": ("o_ratio=", "--o-ratio"),
}
_HEAD = ("type", "mentions", "unlabelled words", "such as")


@dataclass(frozen=True)
class FitSummary:
    """The summary of a fit."""

    method: str  # "handful" or "paper"
    types: list[EntityType]  # the types, sorted by name
    mentions: dict[str, int]  # labelled mentions by type
    n_support: int  # labelled sentences
    n_support_words: int  # their words
    n_unlabelled_words: int  # words of sentences with no label
    has_names: bool  # whether the names and descriptions of types were read
    o_ratio: float | None  # the share of O words that was asked for or estimated; None where it was left open
    is_estimated: bool  # whether it was estimated, not given
    o_share: float  # the share of O words in the last assignment, of all words
    rounds: int  # how many were done
    objective: float  # after the last round; see `handful.cluster.SubspaceKMeans`
    unlabelled_words: dict[str, int]  # for each type, how many unlabelled words the last round gave it
    examples: dict[str, list[str]]  # for each type three mentions found in the unlabelled text, the surest first
    advice: list[Advice] = field(default_factory=list)  # what to try next
    # what was handled on the way, such as what reading the files met with
    notes: list[str] = field(default_factory=list)
    # for types with labels, how well the name and the description fit them
    guidelines: dict[str, CheckedGuideline] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return it as dicts, lists, strings and numbers."""
        return asdict(self) | {"types": [one.to_dict() for one in self.types]}

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> "FitSummary":
        """Read what `to_dict` returned; a TypeError, KeyError or ValueError where it is something else."""
        for name, hint in get_type_hints(cls).items():
            if not is_possible(content[name], hint):
                raise ValueError(f"{name} is {content[name]!r:.100}")
        types = list(types_of([EntityType(**one) for one in content["types"]]))
        names = {one.name for one in types}
        if not types or len(types) != len(content["types"]):
            raise ValueError(f"types is {content['types']}")
        counts = [n for name in ("mentions", "unlabelled_words") for n in content[name].values()]
        if min(content["n_support"], content["n_support_words"], content["n_unlabelled_words"], *counts) < 0:
            raise ValueError("there is a count below 0")
        if any(content[name].keys() != names for name in ("mentions", "unlabelled_words", "examples")):
            raise ValueError("mentions, unlabelled_words and examples are not those of its types")
        guidelines = {name: CheckedGuideline(**one) for name, one in content["guidelines"].items()}
        advice = [Advice(**one) for one in content["advice"]]
        return cls(**content | {"types": types, "advice": advice, "guidelines": guidelines})

    def __str__(self) -> str:
        return self.text()

    def text(self, *, shell: bool = False) -> str:
        """Say it in a few lines, with a table of the types; with `shell`, advice names options of the command line."""
        sentences, mentions = number_of(self.n_support, "labelled sentence"), sum(self.mentions.values())
        counts = (
            f"{sentences}, {number_of(mentions, 'mention')}; {number_of(self.n_unlabelled_words, 'unlabelled word')}"
        )
        lines = [f"the names of types; {counts}" if self.has_names else counts]
        if self.rounds:
            verb = "estimated" if self.is_estimated else "asked"
            asked = "no ratio" if self.o_ratio is None else f"ratio {verb} {self.o_ratio:.4g}"
            rounds = f"{number_of(self.rounds, 'round')}, objective {self.objective:.4f}"
            lines.append(f"{asked}, {self.o_share:.4g} of all words are O; {rounds}")
        rows = [_HEAD, *self._rows()]
        name, n, n_words, _ = (max(map(len, column)) for column in zip(*rows, strict=True))
        lines += [f"{row[0]:<{name}}  {row[1]:>{n}}  {row[2]:>{n_words}}  {row[3]}".rstrip() for row in rows]
        return "\n".join([*lines, *self._last_lines(shell)])

    def _repr_html_(self) -> str:
        """Return the types as a table, and the rest in a line each, for notebooks."""
        first, *last = (f"<div>{escape(line)}</div>" for line in (str(self).split("\n")[0], *self._last_lines(False)))
        meanings = {one.name: one.description for one in self.types}
        rows = [(*row, meanings[row[0]]) for row in self._rows()]
        return first + table((*_HEAD, "what it means"), rows) + "".join(last)

    def _last_lines(self, shell: bool) -> list[str]:
        advice = [one.shell if shell else one.python for one in self.advice]
        return [*(f"note: {note}" for note in self.notes), *(f"try: {one}" for one in advice)]

    def _rows(self) -> list[tuple[str, ...]]:
        """Return a row of the table for each type."""
        return [
            (name, f"{n:,}", f"{self.unlabelled_words[name]:,}", "; ".join(self.examples[name]))
            for name, n in self.mentions.items()
        ]


@several_threads()
def summarise(
    text: LabelledText, learned: Learned, encoder: Encoder, method: str, is_auto: bool, notes: list[str]
) -> FitSummary:
    """Return what a fit learned; `is_auto` is whether the ratio was to be estimated."""
    model, fitted, labelled = learned.model, learned.clusters, learned.labelled
    names = [one.name for one in model.types]
    tags = np.zeros(0, np.int64) if fitted is None else fitted.tags_
    if fitted is not None:  # labelled sentences that came to clusters that stay are at the end
        tags = np.pad(tags, (0, labelled.n_words - len(tags)))
    counts, examples = text.look(model, tags, labelled)
    support = sentences_of(text.labels)
    mentions = Counter(span.type for sentence in support for span in sentence.spans or ())
    piece, known = model.piece(TypeNames), labelled.examples
    guidelines: dict[str, CheckedGuideline] = {}
    if piece is not None and len(known.rows):
        words = np.asarray(text.features[known.rows])
        guidelines = check_guidelines(encoder, piece, model.types, words, known, learned.examples)
    summary = FitSummary(
        method=method,
        types=list(model.types),
        mentions={name: mentions[name] for name in names},
        n_support=len(support),
        n_support_words=sum(map(len, support)),
        n_unlabelled_words=labelled.n_words - len(labelled.rows),
        has_names=piece is not None,
        o_ratio=None if fitted is None or fitted.o_ratio is None else float(fitted.o_ratio),
        is_estimated=is_auto and fitted is not None and fitted.o_ratio is not None,
        o_share=0.0 if fitted is None else float(fitted.o_share_),
        rounds=0 if fitted is None else int(fitted.n_iter_),
        objective=0.0 if fitted is None else float(fitted.objective_[-1]),
        unlabelled_words={name: int(n) for name, n in zip(names, counts[1:], strict=True)},
        examples={name: [mention for _, mention in found] for name, found in examples.items()},
        notes=list(notes),
        guidelines=guidelines,
    )
    if n_several := sum(len(ways) > 1 for ways in text.labels.values()):
        are = "sentence is" if n_several == 1 else "sentences are"
        summary.notes.append(
            f"{n_several:,} {are} labelled in more than one way: each way counts for its own sentence, and an "
            "unlabelled copy may be what any of them says"
        )
    if piece is not None and (doubted := [names[t] for t in np.flatnonzero(piece.weights < 0.5)]):
        summary.notes.append(
            f"name and description do not fit the labelled words, as the encoder reads them, and count less: "
            f"{', '.join(doubted)}"
        )
    if model.known is not None and model.known.overruled:
        overruled = ", ".join(f"{entry} ({name})" for name, entry in sorted(model.known.overruled))
        summary.notes.append(f"labels contradict known words, which do not count: {overruled}")
    if model.borders is not None and model.borders.overruled:
        overruled = ", ".join(f'"{said}" ({name})' for name, said in sorted(model.borders.overruled))
        summary.notes.append(f"labels contradict rules of borders, which do not count: {overruled}")
    sure_o = labelled.is_sure & labelled.allowed[:, 0]
    summary.advice.extend(_advice(summary, is_auto, float(sure_o.mean()) if len(sure_o) else 0.0))
    return summary


def _advice(summary: FitSummary, is_auto: bool, o_share: float) -> list[Advice]:
    lines = []
    if summary.has_names and (bare := [one.name for one in summary.types if not one.description]):
        have = "has" if len(bare) == 1 else "have"
        lines.append(f"say in a line what types mean ({{types}}): {', '.join(bare)} {have} no description")
    for name, one in summary.guidelines.items():
        if one.best:
            remedy = "drop it, or reword it" if one.best == "name" else "take a name that says more"
            against = ", ".join([*one.misses, *one.claims][:N_WORDS])
            lines.append(
                f"the {one.best} of {name} alone fits the labels better than name and description (F1 of words "
                f"{100 * one.f1[one.best]:.0f}, not {100 * one.f1['both']:.0f}; against it: {against}): {remedy} "
                "({retype})"
            )
    n_words = summary.n_unlabelled_words
    if n_words == 0:
        lines.append(
            "give unlabelled text of the kind you want to tag ({unlabelled}): prototypes then come from all of it, not "
            "from the labelled words alone"
        )
    elif n_words < LITTLE_TEXT:
        lines.append(f"give more unlabelled text: {n_words:,} words are few; it helps most where names say little")
    if n_words and summary.o_ratio is None:
        estimate = (
            f"label {FEWEST_MENTIONS} mentions of each type, for the share of words in no mention to be estimated,"
            if is_auto
            else "let the share of words in no mention be estimated ({auto})"
        )
        lines.append(
            f"{estimate} or say it ({{o_ratio}}, often 0.85 to 0.97): in the support it is {o_share:.2f}, which is "
            "lower than in other text, because its sentences were picked for their mentions"
        )
    if few := [f"{name} ({n})" for name, n in summary.mentions.items() if n < FEW_MENTIONS]:
        lines.append(f"label more mentions, {FEW_MENTIONS} of each type are a good number: {', '.join(few)}")
    absent = [name for name, n in summary.unlabelled_words.items() if n == 0]
    if n_words and absent:
        lines.append(
            f"no unlabelled word was taken for {', '.join(absent)}: check that the text has such mentions, and that "
            "name and description say what you mean"
        )
    return [Advice(_written(line, 0), _written(line, 1)) for line in lines]


def _written(line: str, place: int) -> str:
    """Return advice with parameters as they are written in Python (0) or on the command line (1)."""
    for name, written in _PARAMETERS.items():
        line = line.replace(f"{{{name}}}", written[place])
    return line
