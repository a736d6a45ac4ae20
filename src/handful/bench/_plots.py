"""Pictures of a report (extra ``plots``)."""

import math
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from handful._util.files import replacing
from handful.errors import number_of

from ._board import Line

if TYPE_CHECKING:
    from ._report import Report

N_COLOURS, STYLES = 10, ("-", "--", ":")  # after ten curves the colours are repeated in another style


def draw(report: "Report") -> list[str]:
    """Draw all pictures that can be made from the rows, and return their names; without matplotlib, leave a note."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        report.notes.append("no pictures were drawn: matplotlib is missing; pip install 'handful[plots]'")
        return []
    names = []
    for name, make in (("ratios.png", _by_ratio), ("shots.png", _by_shots), ("amounts.png", _by_amount)):
        figure = Figure(figsize=(8, 4.5), layout="constrained")
        if make(figure, report):
            with replacing(report.folder / name) as temporary:
                figure.savefig(temporary, format="png", dpi=120, metadata={"Software": None})
            names.append(name)
    return names


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
    ratios = {(r["method"], r["o_ratio"], r["target"]): r["o_ratio_given"] for r in report.rows}
    for line in _run_lines(report, text="all"):
        for (shots, target), found in line.figures.items():
            ratio = ratios.get((line.variant.method, line.variant.o_ratio, target)) if line.variant else None
            if isinstance(ratio, float):
                curves[f"{line.section}, {target}, {number_of(shots, 'shot')}"].append((ratio, found.mean))
    return _series(figure, curves, "share of O words asked for")


def _by_shots(figure: Any, report: "Report") -> bool:
    """Draw the mean F1 over targets by shots, with a curve for each line with all text or none."""
    curves: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for line in _run_lines(report, text="all") + _run_lines(report, text="none"):
        for shots in report.board.shots:
            found = report.board.average(line, shots)
            if found is not None:
                curves[line.name].append((shots, found.mean))
    ticks = sorted(report.board.shots)
    return _series(figure, curves, "labels of each type", is_log=ticks[-1] > 10, ticks=ticks)


def _by_amount(figure: Any, report: "Report") -> bool:
    """Draw F1 by words of unlabelled text, with a curve for each variant, target and number of shots."""
    curves: dict[str, list[tuple[float, float]]] = defaultdict(list)
    for line in _run_lines(report, text=None):
        if line.variant is None or not line.variant.text.isdigit():
            continue
        for (shots, target), found in line.figures.items():
            label = f"{line.variant.method} {line.variant.o_ratio}, {target}, {number_of(shots, 'shot')}"
            curves[label].append((int(line.variant.text), found.mean))
    return _series(figure, curves, "words of unlabelled text", is_log=True)


def _run_lines(report: "Report", text: str | None) -> list[Line]:
    return [line for line in report.board.lines if line.variant and text in (None, line.variant.text)]
