"""The report: a folder with results, and a page with tables in the paper's layout, which the terminal shows, too."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from handful._util.files import replacing

from ._board import AVERAGE, MANY, Board, Line
from ._results import Row

CAPTION = (
    "Strict span F1 (micro, times 100), mean and standard deviation over supports; without labels there is one run."
)


@dataclass
class Report:
    """The result of a protocol."""

    title: str  # what was done, in one line
    folder: Path  # where the report was written
    board: Board  # the lines of the table
    rows: list[Row]  # one per run, as in ``results.jsonl``
    environment: dict[str, Any]  # what the report was made with
    notes: list[str] = field(default_factory=list)  # what a reader of the figures must know


def write_report(report: Report) -> None:
    """Write everything but ``results.jsonl``, which is there already."""
    made_with = json.dumps(report.environment, indent=2, ensure_ascii=False) + "\n"
    for name, text in (("environment.json", made_with), ("README.md", _page(report))):
        with replacing(report.folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _page(report: Report) -> str:
    parts = [
        f"# {report.title}\n",
        f"{CAPTION}\n",
        f"    {report.environment['command']}\n",
        markdown(report.board),
        "- `results.jsonl`: one row per run, with everything that determines it\n"
        "- `environment.json`: code, libraries, machine\n",
    ]
    if report.notes:
        parts.append("Notes:\n\n" + "".join(f"- {note}\n" for note in report.notes))
    return "\n".join(parts)


def columns(board: Board) -> list[tuple[int, str]]:
    """Return the columns: for each of the shots the targets, unless they are many, and the average of several."""
    targets = board.targets if len(board.targets) <= MANY else []
    names = [*targets, AVERAGE] if len(board.targets) > 1 else targets
    return [(shots, name) for shots in board.shots for name in names]


def cell(board: Board, line: Line, column: tuple[int, str]) -> str:
    """Return the text of a cell; the best of its column is in bold."""
    figure = board.figure(line, column)
    if figure is None:
        return "-"
    others = (board.figure(one, column) for one in board.lines)
    best = max((round(one.mean, 1) for one in others if one is not None), default=None)
    return f"**{figure}**" if round(figure.mean, 1) == best else str(figure)


def markdown(board: Board, shots: int | None = None) -> str:
    """Return the table in Markdown; the columns of some shots alone, if these are given."""
    wanted = [column for column in columns(board) if shots in (None, column[0])]
    rows = [["method", *(f"{n}-shot {_escaped(name)}" for n, name in wanted)], ["---", *["---:"] * len(wanted)]]
    for title in dict.fromkeys(line.section for line in board.lines):
        rows.append([f"**{_escaped(title)}**", *[""] * len(wanted)])
        group = (line for line in board.lines if line.section == title)
        rows += [[_escaped(line.label), *(cell(board, line, column) for column in wanted)] for line in group]
    return "".join(f"| {' | '.join(row)} |\n" for row in rows)


def _escaped(text: str) -> str:
    return text.replace("|", "\\|").replace("_", "\\_")
