"""Published figures, which can be printed beside ours; none of them was measured here.

``published.json`` has them by part: quoted by the paper, the paper's by the unlabelled text, and others'. A figure is a
mean and perhaps a standard deviation, by corpus and shots.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ._board import Figure, Line


def published_lines(
    targets: Sequence[str], texts: Sequence[str] = ("all",), shots: Sequence[int] = (1, 5)
) -> list[Line]:
    """Return the published lines that have a figure for one of these targets.

    A target whose name begins with that of a published corpus, such as mit_movie, is taken for it. Figures without
    labels are at 0 shots; where the table does not have these, at all shots.
    """
    parts = ["quoted", *texts, "labels and names", "no labels", "all labels"]
    columns = {"no labels": [0] if 0 in shots else shots, "all labels": [n for n in shots if n > 0]}
    found = []
    for part in parts:
        for line in (one for one in _read()["lines"] if one["part"] == part):
            figures = {
                (n, target): Figure(*figure)
                for name, by_shots in line["figures"].items()
                for key, figure in by_shots.items()
                for n in (columns[part] if key == "any" else [int(key)])
                for target in targets
                if _is(target, name)
            }
            found.append(Line(line["section"], line["label"], figures=figures))
    return [line for line in found if line.figures]


def sources(lines: Sequence[Line]) -> list[str]:
    """Return where published lines come from, and what is known to differ."""
    known = _read()["sources"]
    notes = [known[section] for section in dict.fromkeys(line.section for line in lines)]
    is_on_btc = any(_is(target, "btc") for line in lines for _, target in line.figures)
    return notes + ([known["btc"]] if is_on_btc else [])


def _read() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name("published.json").read_text(encoding="utf-8"))
    return found


def _is(target: str, name: str) -> bool:
    return target.lower().replace("_", "").replace("-", "").startswith(name)
