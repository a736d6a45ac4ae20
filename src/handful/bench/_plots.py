"""Pictures of a report (extra ``plots``)."""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from handful._util.files import replacing
from handful.training.corpora import io_tags

from ._board import MANY, Line
from ._differences import name_of
from ._runs import Bench, encoded
from ._tasks import Task

if TYPE_CHECKING:
    from ._report import Report

__all__ = ["draw"]

N_COLOURS, STYLES = 10, ("-", "--", ":")  # after ten curves the colours are repeated in another style
MOST_POINTS = 2_000  # O words in the picture of projected words


def draw(report: "Report", bench: Bench) -> tuple[list[str], list[str]]:
    """Draw all pictures that can be made from the rows.

    Returns
    -------
    names, notes
        The names of the pictures in the folder of the report; what could not be drawn.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return [], ["no pictures were drawn: matplotlib is missing; pip install 'handful[plots]'"]
    makers: dict[str, Callable[[Any], bool]] = {
        "ratios.png": lambda figure: _by_ratio(figure, report),
        "shots.png": lambda figure: _by_shots(figure, report),
        "amounts.png": lambda figure: _by_amount(figure, report),
    }
    has_each = len(bench.tasks) <= MANY
    for task in bench.tasks if has_each else ():
        fits = _Fits(task, bench)
        makers[f"convergence-{_safe(task.name)}.png"] = fits.convergence
        makers[f"words-{_safe(task.name)}.png"] = fits.words
    names = []
    for name, make in makers.items():
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        if make(figure):
            with replacing(report.folder / name) as temporary:
                figure.savefig(temporary, format="png", dpi=120, metadata={"Software": None})
            names.append(name)
    return names, [] if has_each else [f"there are no pictures of each target, since there are more than {MANY}"]


def _safe(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name)


def _series(
    figure: Any,
    curves: dict[str, list[tuple[float, float]]],
    x: str,
    *,
    is_log: bool = False,
    ticks: Sequence[int] | None = None,
) -> bool:
    """Draw the curves that have at least two points; return whether there are any. A log scale has 0 at the left."""
    curves = {label: sorted(points) for label, points in curves.items() if len({x for x, _ in points}) > 1}
    if not curves:
        return False
    axes = figure.subplots()
    for number, (label, points) in enumerate(curves.items()):
        style = STYLES[number // N_COLOURS % len(STYLES)]
        axes.plot(
            *zip(*points, strict=True), style, marker="o", markersize=4, color=f"C{number % N_COLOURS}", label=label
        )
    if is_log:
        has_zero = any(value == 0 for points in curves.values() for value, _ in points)
        axes.set_xscale("symlog", linthresh=1, linscale=0.4) if has_zero else axes.set_xscale("log")
    if ticks is not None:
        used = {value for points in curves.values() for value, _ in points}
        axes.set_xticks([tick for tick in ticks if tick in used], [str(tick) for tick in ticks if tick in used])
        axes.minorticks_off()
    axes.set_xlabel(x)
    axes.set_ylabel("strict F1")
    axes.grid(alpha=0.3)
    figure.set_figheight(figure.get_figheight() + 0.2 * math.ceil(len(curves) / 2))
    figure.legend(fontsize="small", loc="outside lower center", ncols=2)
    return True


def _by_ratio(figure: Any, report: "Report") -> bool:
    """Draw F1 by the ratio asked for, with a curve for each method, target and number of shots."""
    curves: dict[str, list[tuple[float, float]]] = defaultdict(list)
    ratios = {(r["method"], r["ratio"], r["target"]): r["o_ratio"] for r in report.rows}
    for line in _run_lines(report, text="all"):
        for (shots, target), found in line.figures.items():
            ratio = ratios.get((line.variant.method, line.variant.ratio, target)) if line.variant else None
            if isinstance(ratio, float):
                curves[f"{line.section}, {target}, {shots} shots"].append((ratio, found.mean))
    return _series(figure, curves, "share of O words asked for")


def _by_shots(figure: Any, report: "Report") -> bool:
    """Draw the mean F1 over targets by shots, with a curve for each line with all text or none."""
    curves: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for line in _run_lines(report, text="all") + _run_lines(report, text="none"):
        for shots in report.board.shots:
            found = report.board.average(line, shots)
            if found is not None:
                curves[name_of(line)].append((shots, found.mean))
    ticks = sorted(report.board.shots)
    return _series(figure, curves, "labels of each type", is_log=ticks[-1] > 10, ticks=ticks)


def _by_amount(figure: Any, report: "Report") -> bool:
    """Draw F1 by words of unlabelled text, with a curve for each variant, target and number of shots."""
    curves: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for line in _run_lines(report, text=None):
        if line.variant is None or not line.variant.text.isdigit():
            continue
        for (shots, target), found in line.figures.items():
            label = f"{line.variant.method} {line.variant.ratio}, {target}, {shots} shots"
            curves[label].append((int(line.variant.text), found.mean))
    return _series(figure, curves, "words of unlabelled text", is_log=True)


def _run_lines(report: "Report", text: str | None) -> list[Line]:
    return [
        line
        for line in report.board.lines
        if line.is_rated and line.variant is not None and text in (None, line.variant.text)
    ]


class _Fits:
    """Fits to the first supports of a task, made when a picture first needs them."""

    def __init__(self, task: Task, bench: Bench) -> None:
        self._task, self._bench = task, bench
        self._made: dict[int, Any] | None = None
        self._types: list[str] = []
        self._features: Any = None

    def _fits(self) -> dict[int, Any]:
        """Fit the paper's method, hard and without a ratio, to the first support of each number of shots."""
        if self._made is not None:
            return self._made
        from handful.cluster import SubspaceKMeans

        task = self._task
        text = task.pool + task.other
        self._features = encoded(task, self._bench.encoders[task.name]).encode(text)
        self._types = sorted({span.type for s in task.pool for span in s.spans or ()})
        starts = np.cumsum([0, *[len(sentence.words) for sentence in text]])
        self._made = {}
        for shots, supports in task.supports.items():
            if supports:
                labels = {sentence.words: sentence for sentence in supports[0].sentences}
                y = np.full(len(self._features), -1)
                for i, sentence in enumerate(text):
                    if sentence.words in labels:
                        y[starts[i] : starts[i + 1]] = io_tags([labels[sentence.words]], self._types)
                if len(set(y.tolist())) > 2:
                    self._made[shots] = SubspaceKMeans().fit(self._features, y)
        return self._made

    def convergence(self, figure: Any) -> bool:
        """Draw the objective after each round."""
        fits = self._fits()
        if not fits:
            return False
        axes = figure.subplots()
        for shots, fitted in fits.items():
            rounds = np.arange(1, len(fitted.objective_) + 1)
            axes.plot(rounds, fitted.objective_, marker="o", label=f"{shots} shots")
        axes.set_xlabel("round")
        axes.set_ylabel("objective")
        axes.set_title(f"{self._task.name}, first support, hard, no ratio")
        axes.legend()
        return True

    def words(self, figure: Any) -> bool:
        """Draw the words of the pool in the first two directions of the subspace, coloured by their gold types."""
        fits = {shots: fitted for shots, fitted in self._fits().items() if fitted.projection_.shape[1] > 1}
        if not fits:
            return False
        shots, fitted = max(fits.items())
        gold = np.array(io_tags(self._task.pool, self._types))
        points = fitted.transform(self._features[: len(gold)])[:, :2]
        axes = figure.subplots()
        for tag, name in enumerate(["O", *self._types]):
            rows = np.flatnonzero(gold == tag)
            rows = rows[:: max(1, len(rows) // MOST_POINTS)]
            colour = "lightgrey" if tag == 0 else f"C{(tag - 1) % 10}"
            axes.scatter(*points[rows].T, s=4 if tag == 0 else 10, color=colour, label=name, zorder=1 + (tag > 0))
        axes.set_title(f"{self._task.name}, {shots} shots, first support: the subspace's first two directions")
        axes.legend(fontsize="small", markerscale=2)
        return True
