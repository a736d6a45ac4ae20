"""Tables in the paper's layout: for the terminal and in Markdown."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ._board import MANY, Board, Figure, Line
from ._differences import Difference, name_of

if TYPE_CHECKING:
    from rich.table import Table

__all__ = [
    "all_columns",
    "columns",
    "difference_table",
    "markdown",
    "markdown_by_target",
    "markdown_differences",
    "table",
]

AVERAGE, RANGE = "Avg.", "range"


def columns(board: Board) -> list[tuple[int, str]]:
    """Return the columns: for each of the shots the targets and their average; with many targets, average and range."""
    if len(board.targets) <= MANY:
        return all_columns(board)
    return [(shots, name) for shots in board.shots for name in (AVERAGE, RANGE)]


def all_columns(board: Board) -> list[tuple[int, str]]:
    """Return a column for each of the shots and targets, and for their average where there are several."""
    averages = [AVERAGE] if len(board.targets) > 1 else []
    return [(shots, name) for shots in board.shots for name in [*board.targets, *averages]]


def cell(board: Board, line: Line, column: tuple[int, str]) -> tuple[str, bool]:
    """Return the text of a cell, and whether it is the best of its column."""
    shots, name = column
    if name == RANGE and RANGE not in board.targets:
        found = board.range(line, shots)
        return ("-", False) if found is None else (f"{found[0]:.1f}–{found[1]:.1f}", False)
    figure = board.average(line, shots) if name == AVERAGE else line.figures.get(column)
    if figure is None:
        return "-", False
    return str(figure), line.is_rated and _is_best(board, line, column, figure)


def _is_best(board: Board, line: Line, column: tuple[int, str], figure: Figure) -> bool:
    shots, name = column
    if name != AVERAGE:
        return round(figure.mean, 1) == board.best(column)
    others = [board.average(other, shots) for other in board.lines if other.is_rated]
    return round(figure.mean, 1) == max(round(other.mean, 1) for other in others if other is not None)


def sections(board: Board) -> Iterator[tuple[str, list[Line]]]:
    """Yield the lines by section, in order."""
    for title in dict.fromkeys(line.section for line in board.lines):
        yield title, [line for line in board.lines if line.section == title]


def table(board: Board, shots: Sequence[int] | None = None) -> "Table":
    """Return a table for the terminal, with the columns of these shots."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    wanted = [column for column in columns(board) if shots is None or column[0] in shots]
    result = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    result.add_column("method", no_wrap=True)
    for n, name in wanted:
        result.add_column(Text(f"{n}-shot\n{name}"), justify="right", no_wrap=True)
    for title, lines in sections(board):
        result.add_row(Text(title, "bold"), *[""] * len(wanted))
        for line in lines:
            cells = [cell(board, line, column) for column in wanted]
            shown = [Text(text, "bold green" if is_best else "") for text, is_best in cells]
            result.add_row(Text("  " + line.label, "" if line.variant else "dim"), *shown)
    return result


def difference_table(found: Sequence[Difference], targets: Sequence[str]) -> "Table":
    """Return the differences over all targets for the terminal."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    result = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in ("against", "shots", "difference", "95% interval", "p"):
        result.add_column(name, justify="left" if name == "against" else "right", no_wrap=True)
    scope = "all" if len(targets) > 1 else targets[0]
    for one in (one for one in found if one.target == scope):
        style = "" if one.p > 0.05 else "green" if one.mean > 0 else "red"
        result.add_row(Text(one.other), *_shown(one), style=style)
    return result


def _shown(one: Difference) -> tuple[str, str, str, str]:
    interval = "-" if one.low is None or one.high is None else f"{one.low:+.1f} to {one.high:+.1f}"
    return str(one.shots), f"{one.mean:+.1f}", interval, f"{one.p:.4f}"


def markdown(board: Board) -> str:
    """Return the table in Markdown."""
    wanted = columns(board)
    lines = [
        "| method | " + " | ".join(f"{n}-shot {_escaped(name)}" for n, name in wanted) + " |",
        "|---|" + "---:|" * len(wanted),
    ]
    for title, group in sections(board):
        lines.append(f"| **{_escaped(title)}** |" + " |" * len(wanted))
        for line in group:
            cells = [cell(board, line, column) for column in wanted]
            shown = [f"**{text}**" if is_best else text for text, is_best in cells]
            lines.append(f"| {_escaped(line.label)} | " + " | ".join(shown) + " |")
    return "\n".join(lines) + "\n"


def markdown_by_target(board: Board) -> str:
    """Return a table for each of the shots in Markdown, with a row for each target and a column for each line."""
    lines: list[str] = []
    for shots in board.shots:
        names = [_escaped(name_of(line)) for line in board.lines]
        lines += [f"| {shots}-shot | " + " | ".join(names) + " |", "|---|" + "---:|" * len(names)]
        for target in [*board.targets, AVERAGE]:
            cells = [cell(board, line, (shots, target)) for line in board.lines]
            shown = [f"**{text}**" if is_best else text for text, is_best in cells]
            lines.append(f"| {_escaped(target)} | " + " | ".join(shown) + " |")
        lines.append("")
    return "\n".join(lines)


def markdown_differences(found: Sequence[Difference]) -> str:
    """Return all differences in Markdown."""
    lines = [
        "| against | target | shots | difference | 95% interval | p | pairs |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for one in found:
        shots, mean, interval, p = _shown(one)
        lines.append(
            f"| {_escaped(one.other)} | {_escaped(one.target)} | {shots} | {mean} | {interval} | {p} | {one.n} |"
        )
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("_", "\\_")
