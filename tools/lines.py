"""Count the lines of the package by room: ``python tools/lines.py`` prints the table of docs/decisions/0016-size.md."""

import sys
from collections import Counter
from pathlib import Path

MOST = 32_000
BEFORE = {  # at 0.2.0
    "text": 6291, "tagger": 5310, "encoders": 4031, "training": 3480, "cli": 3451, "bench": 3079, "workbench": 2320,
    "serve": 1822, "cluster": 1734, "_util": 1502, "scale": 1427, "baselines": 1323, "evaluate": 544, "web": 439,
    "integrations": 430, "the rest": 204,
}  # fmt: skip
PACKAGE = Path(__file__).resolve().parents[1] / "src" / "handful"


def count() -> Counter[str]:
    """Return the lines of Python of each room; examples and the modules beside the rooms are the rest."""
    rooms: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE).parts
        name = inside[0] if inside[0] in BEFORE else "the rest"
        rooms[name] += len(path.read_text(encoding="utf-8").splitlines())
    return rooms


def main() -> None:
    """Print the table, the largest room first."""
    rooms = count()
    rows = [(f"`{room}`" if room.isidentifier() else room, BEFORE[room], n) for room, n in rooms.most_common()]
    rows.append(("all", sum(BEFORE.values()), rooms.total()))
    lines = ["| room | at 0.2.0 | now |", "|---|--:|--:|", *(f"| {room} | {old:,} | {n:,} |" for room, old, n in rows)]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
