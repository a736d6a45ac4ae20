"""Rows to the lines of a table: one line per variant, with its F1 on each support, by shots and target."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from statistics import fmean, pstdev

from handful.errors import number_of

from ._methods import DEFAULTS, NAMES, OURS, Variant
from ._results import Row

Place = tuple[int, str]  # shots and target

MANY = 8  # with more targets than this, tables have no column for each, but their mean
AVERAGE = "Avg."  # the column of the mean over targets
_TITLES = {
    "hard": "Hard clustering",
    "soft": "Soft clustering",
    "hard-nosubspace": "Hard clustering without subspace",
    "soft-nosubspace": "Soft clustering without subspace",
    "handful": "Default",
    "handful-nonames": "Default, names of types not read",
    NAMES: "Names of types alone",
}


@dataclass(frozen=True)
class Figure:
    """A mean over supports, times 100, and the standard deviation (of the population) where there is one."""

    mean: float
    std: float | None = None

    def __str__(self) -> str:
        return f"{self.mean:.1f}" if self.std is None else f"{self.mean:.1f} ±{self.std:.1f}"


@dataclass
class Line:
    """A line of a table."""

    # Where it is in the table, and its name there
    section: str
    label: str
    variant: Variant  # what was run
    # F1 from 0 to 1 on each support, by shots and target
    values: dict[Place, dict[str, float]] = field(default_factory=dict)
    figures: dict[Place, Figure] = field(default_factory=dict)  # the means

    @property
    def name(self) -> str:
        """Its name outside its section."""
        if not self.variant.is_ours or self.variant.method == NAMES:
            return self.label
        if self.variant.method in DEFAULTS:
            return self.label + _text_suffix(self.variant)
        return f"{self.section}, {self.label}"

    def __post_init__(self) -> None:
        for place, values in self.values.items():
            percents = [100 * value for value in values.values()]
            self.figures[place] = Figure(fmean(percents), pstdev(percents) if len(percents) > 1 else None)


@dataclass
class Board:
    """All lines."""

    lines: list[Line]  # in order
    # The columns
    shots: list[int]
    targets: list[str]
    notes: list[str]  # what a reader of the figures must know

    def figure(self, line: Line, place: Place) -> Figure | None:
        """Return the figure of a line for a target, or its `average`."""
        shots, name = place
        return self.average(line, shots) if name == AVERAGE else line.figures.get(place)

    def average(self, line: Line, shots: int) -> Figure | None:
        """Return the mean over the targets for which anything was run with these shots; None if one is missing."""
        found = [line.figures.get((shots, name)) for name in self.targets_run(shots)]
        return Figure(fmean(one.mean for one in found if one is not None)) if found and None not in found else None

    def targets_run(self, shots: int) -> list[str]:
        """Return the targets with a run at these shots; names alone count only where nothing else was run."""
        for lines in ([line for line in self.lines if line.variant.method != NAMES], self.lines):
            if found := [name for name in self.targets if any((shots, name) in line.figures for line in lines)]:
                return found
        return []


def make_board(rows: Iterable[Row], variants: Sequence[Variant], shots: Sequence[int], targets: Sequence[str]) -> Board:
    """Gather rows into lines.

    Where a support failed there is no figure, since a mean over the other supports could not be compared. The notes
    say so. Names alone are run once, and have the same figure for all shots.
    """
    values: dict[Variant, dict[Place, dict[str, float]]] = defaultdict(lambda: defaultdict(dict))
    failed: dict[tuple[Variant, Place], list[str]] = defaultdict(list)
    ratios: dict[tuple[Variant, str], object] = {}
    warned: dict[str, set[Variant]] = defaultdict(set)
    for row in rows:
        variant = Variant(row["method"], row["o_ratio"], row["text"])
        places = [(n, row["target"]) for n in (shots if variant.method == NAMES else [row["shots"]])]
        ratios[variant, row["target"]] = row["o_ratio_given"]
        for warning in row.get("warnings", ()):
            warned[warning].add(variant)
        for place in places:
            if row["f1"] is None:
                failed[variant, place].append(row["error"])
            else:
                values[variant][place][row["support"]] = row["f1"]
    lines = {}
    for variant in (one for one in variants if any((one, target) in ratios for target in targets)):
        kept = {place: found for place, found in values[variant].items() if (variant, place) not in failed}
        section = _TITLES.get(variant.method, "Baselines") + _text_suffix(variant)
        label = _label(variant, [ratios.get((variant, target)) for target in targets])
        lines[variant] = Line(section, label, variant, kept)
    notes = list(dict.fromkeys(_failure(lines[one], place, errors) for (one, place), errors in failed.items()))
    for warning, who in sorted(warned.items()):
        notes.append(f"{'; '.join(sorted(lines[one].name for one in who))}: {warning}")
    return Board([*lines.values()], list(shots), list(targets), notes)


def _failure(line: Line, place: Place, errors: Sequence[str]) -> str:
    shots, target = place
    if line.label == NAMES:
        where = target
    elif shots == 0:
        where = f"{target}, no labels"
    else:
        where = f"{target}, {number_of(shots, 'shot')}, {number_of(len(errors), 'support')}"
    return f"{line.name} on {where}: failed, shown as -: {errors[0]}"


def _text_suffix(variant: Variant) -> str:
    """Return which unlabelled text there was, to go after a name; empty where there was all of it."""
    return ", no unlabelled text" if variant.text == "none" and variant.method != NAMES else ""


def _label(variant: Variant, ratios: Sequence[object]) -> str:
    if variant.method not in OURS or variant.method == NAMES:
        return variant.method
    if variant.o_ratio in ("share", "over"):
        shown = [f"{ratio:.2f}" for ratio in ratios if isinstance(ratio, float)]
        many = f"{min(shown)} to {max(shown)}" if len(shown) > MANY else ", ".join(shown)
        ratio = shown[0] if len(set(shown)) == 1 else many
        return f"r_O = {ratio} ({variant.o_ratio})"
    name = f"{variant.method}, " if variant.method in DEFAULTS else ""
    return f"{name}r_O = {'NA' if variant.o_ratio == 'none' else variant.o_ratio}"
