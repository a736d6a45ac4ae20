"""Count the lines of the package by room: ``python tools/lines.py`` prints the table of docs/decisions/0016-size.md."""

import sys
from collections import Counter
from pathlib import Path

MOST = 32_000
PACKAGE = Path(__file__).resolve().parents[1] / "src" / "handful"


def count() -> Counter[str]:
    """Return the lines of Python of each room; modules beside the rooms count as one."""
    rooms: Counter[str] = Counter()
    for path in PACKAGE.rglob("*.py"):
        inside = path.relative_to(PACKAGE).parts
        name = inside[0] if len(inside) > 1 else "the package itself"
        rooms[name] += len(path.read_text(encoding="utf-8").splitlines())
    return rooms


def main() -> None:
    """Print the table, the largest room first."""
    rooms = count()
    rows = [(f"`{room}`" if room.isidentifier() else room, n) for room, n in rooms.most_common()]
    lines = ["| room | lines |", "|---|--:|", *(f"| {room} | {n:,} |" for room, n in (*rows, ("all", rooms.total())))]
    sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
