"""The report: a folder with results, tables and the environment, and a page that shows them together."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from handful._util.files import replacing

from ._board import MANY, Board, Line
from ._results import Row
from .tables import all_columns, markdown, markdown_by_target

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

    def to_dict(self) -> dict[str, Any]:
        """Return the report as dicts, lists, strings and numbers, without its rows, which are in the folder."""
        return {
            "title": self.title,
            "folder": str(self.folder),
            "lines": [_line(self.board, line) for line in self.board.lines],
            "notes": self.notes,
        }


def write_report(report: Report) -> None:
    """Write everything but ``results.jsonl``, which is there already."""
    written = {
        "report.json": json.dumps(report.to_dict(), indent=2, ensure_ascii=False) + "\n",
        "environment.json": json.dumps(report.environment, indent=2, ensure_ascii=False) + "\n",
        "README.md": _page(report),
    }
    for name, text in written.items():
        with replacing(report.folder / name) as temporary:
            temporary.write_text(text, encoding="utf-8")


def _page(report: Report) -> str:
    parts = [
        f"# {report.title}\n",
        f"{CAPTION}\n",
        f"    {report.environment['command']}\n",
        markdown(report.board),
        "- `results.jsonl`: one row per run, with everything that determines it\n"
        "- `report.json`: the tables of this page, for programs\n"
        "- `environment.json`: code, libraries, machine\n",
    ]
    if report.notes:
        parts.append("Notes:\n\n" + "".join(f"- {note}\n" for note in report.notes))
    if len(report.board.targets) > MANY:
        parts += ["## By target\n", markdown_by_target(report.board)]
    return "\n".join(parts)


def _line(board: Board, line: Line) -> dict[str, Any]:
    cells = []
    for shots, name in all_columns(board):
        figure = board.figure(line, (shots, name))
        found = {"mean": None, "std": None} if figure is None else asdict(figure)
        cells.append({"shots": shots, "target": name, **found})
    return {"section": line.section, "label": line.label, **asdict(line.variant), "cells": cells}
