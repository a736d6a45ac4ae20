"""Tables in the paper's layout, in Markdown, which the terminal shows, too."""

from collections.abc import Iterable, Sequence

from ._board import AVERAGE, MANY, Board, Line

RANGE = "range"  # the column of the lowest and the highest mean


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
    figure = board.figure(line, column)
    if figure is None:
        return "-", False
    others = (board.figure(one, column) for one in board.lines)
    best = max((round(one.mean, 1) for one in others if one is not None), default=None)
    return str(figure), round(figure.mean, 1) == best


def markdown(board: Board, shots: int | None = None) -> str:
    """Return the table in Markdown; the columns of some shots alone, if these are given."""
    wanted = [column for column in columns(board) if shots in (None, column[0])]
    rows = []
    for title in dict.fromkeys(line.section for line in board.lines):
        group = [line for line in board.lines if line.section == title]
        rows.append([f"**{_escaped(title)}**", *[""] * len(wanted)])
        rows += [[_escaped(line.label), *_bold_cells(board, ((line, column) for column in wanted))] for line in group]
    return _in_markdown(["method", *(f"{n}-shot {_escaped(name)}" for n, name in wanted)], rows)


def markdown_by_target(board: Board) -> str:
    """Return a table for each of the shots in Markdown, with a row for each target and a column for each line."""
    tables = []
    for n in board.shots:
        rows = [
            [_escaped(target), *_bold_cells(board, ((line, (n, target)) for line in board.lines))]
            for target in [*board.targets, AVERAGE]
        ]
        tables.append(_in_markdown([f"{n}-shot", *(_escaped(line.name) for line in board.lines)], rows))
    return "\n".join(tables)


def _bold_cells(board: Board, places: Iterable[tuple[Line, tuple[int, str]]]) -> list[str]:
    cells = [cell(board, line, column) for line, column in places]
    return [f"**{text}**" if is_best else text for text, is_best in cells]


def _in_markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column is aligned to the left."""
    lines = [f"| {' | '.join(row)} |" for row in (head, *rows)]
    lines.insert(1, "|---|" + "---:|" * (len(head) - 1))
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("_", "\\_")
