"""``results.jsonl``: one row per run, on disk as soon as the run is finished, so that nothing is run twice."""

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from handful._util.files import naming, replacing
from handful.errors import FormatError

Row = dict[str, Any]


def key_of(identity: Row) -> str:
    """Return a hash of everything that determines a result."""
    text = json.dumps(identity, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


class Results:
    """The finished rows of a report folder, which is made if it does not exist.

    ``results.jsonl`` has the rows of the present command. Other rows that are found there, from a command with other
    methods or other code, move to ``earlier.jsonl`` and are used again when a command needs them.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "results.jsonl"
        self.earlier = folder / "earlier.jsonl"
        with naming(folder, "cannot be made"):
            folder.mkdir(parents=True, exist_ok=True)
        self.rows: dict[str, Row] = {}
        for path in (self.earlier, self.path):
            self.rows |= {row["key"]: row for row in _read(path)}

    def add(self, row: Row) -> None:
        """Keep a finished row: it is on disk when this returns."""
        with naming(self.path, "cannot be written"), self.path.open("a", encoding="utf-8") as file:
            file.write(_line(row))
            file.flush()
            os.fsync(file.fileno())
        self.rows[row["key"]] = row

    def keep(self, keys: Iterable[str]) -> list[Row]:
        """Write the rows of these keys, in this order, as ``results.jsonl``, all others as ``earlier.jsonl``."""
        wanted = dict.fromkeys(keys)
        chosen = [self.rows[key] for key in wanted if key in self.rows]
        others = [row for key, row in sorted(self.rows.items()) if key not in wanted]
        if others or self.earlier.exists():
            _replace(self.earlier, others)  # first, so that no row is ever in neither file
        _replace(self.path, chosen)
        return chosen


def _read(path: Path) -> list[Row]:
    """Read rows, and cut off a last line that an interruption left incomplete."""
    if not path.exists():
        return []
    with naming(path):
        content = path.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        with naming(path, "cannot be written"), path.open("r+b") as file:
            file.truncate(len(whole))
    rows = []
    for number, line in enumerate(whole.splitlines(), 1):
        try:
            row = json.loads(line)
            rows.append({**row, "key": str(row["key"])})
        except (ValueError, TypeError, KeyError):
            raise FormatError(
                f"{path}:{number}: is not a row of results; move the file away, or name another folder for the report"
            ) from None
    return rows


def _line(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False) + "\n"


def _replace(path: Path, rows: Iterable[Row]) -> None:
    with replacing(path) as temporary:
        temporary.write_text("".join(map(_line, rows)), encoding="utf-8")
