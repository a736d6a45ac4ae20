"""Paired differences between methods of a report: bootstrap intervals and a sign-flip test.

    python benchmarks/differences.py REPORT [--seed 0]

REPORT is a folder that `handful bench transfer` wrote. Our default (or our best line, if the default was not run) is
compared with each other line on the same supports, and the table is in Markdown: points of F1.

With d_ts the difference in F1 on support s of target t, the figure is the mean over targets of the mean over supports.
The bootstrap draws supports with replacement within each target. The test asks how often the figure would be as far
from zero if the sign of each d_ts were random: all combinations of signs are tried where there are few differences, and
a random sample of them otherwise.
"""

import argparse
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from handful.bench._board import Board, Line, make_board
from handful.bench._methods import Variant

N_DRAWS = 10_000
MOST_EXACT = 14  # the most differences for which all 2^n combinations of signs are tried
LEVEL = 0.95


@dataclass(frozen=True)
class Difference:
    """How much better one method is than another, in points of F1."""

    # The two lines
    method: str
    other: str
    shots: int  # those of the supports
    target: str  # the name of a target, or "all"
    mean: float  # the difference
    # A bootstrap interval of 95%; None where no target has more than one pair, as without labels
    low: float | None
    high: float | None
    p: float  # of the sign-flip test, two-sided
    n: int  # the number of pairs


def compare(groups: Sequence[Sequence[float]], seed: int = 0) -> tuple[float, float, float, float]:
    """Return mean, low, high and p of paired differences: for each target, one per support."""
    arrays = [np.asarray(group, dtype=float) for group in groups]
    weights = np.concatenate([np.full(len(d), 1 / (len(d) * len(arrays))) for d in arrays])
    flat = np.concatenate(arrays) * weights
    mean = float(flat.sum())
    rng = np.random.default_rng(seed)
    draws = np.zeros(N_DRAWS)
    for d in arrays:
        draws += d[rng.integers(len(d), size=(N_DRAWS, len(d)))].mean(axis=1) / len(arrays)
    low, high = np.quantile(draws, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    return mean, float(low), float(high), _sign_flip(flat, rng)


def _sign_flip(flat: NDArray[np.float64], rng: np.random.Generator) -> float:
    n = len(flat)
    is_exact = n <= MOST_EXACT
    if is_exact:
        signs = 1 - 2 * ((np.arange(2**n)[:, None] >> np.arange(n)) & 1)
    else:
        signs = 1 - 2 * rng.integers(2, size=(N_DRAWS, n))
    sums = np.abs(signs @ flat)
    n_far = int(np.count_nonzero(sums >= abs(flat.sum()) - 1e-12))
    return n_far / len(sums) if is_exact else (n_far + 1) / (N_DRAWS + 1)


def reference_line(board: Board) -> Line | None:
    """Return the line that others are compared with: our default, or otherwise our best line on average."""
    ours = [line for line in board.lines if line.variant.is_ours and line.figures]
    default = [line for line in ours if (line.variant.method, line.variant.text) == ("handful", "all")]
    if default:
        return default[0]
    return max(ours, key=lambda line: np.mean([figure.mean for figure in line.figures.values()]), default=None)


def differences(board: Board, seed: int = 0) -> list[Difference]:
    """Compare the reference line with every other line that was run, by shots, on each target and on all together."""
    line = reference_line(board)
    found: list[Difference] = []
    if line is None:
        return found
    for other in board.lines:
        if other is line:
            continue
        for shots in board.shots:
            pairs = _pairs(line, other, shots)
            scopes = {name: [d] for name, d in pairs.items()}
            if pairs and len(board.targets) > 1:
                scopes["all"] = list(pairs.values())
            for target, groups in scopes.items():
                mean, low, high, p = compare(groups, seed)
                n = sum(map(len, groups))
                has_interval = n > len(groups)
                found.append(
                    Difference(
                        line.name, other.name, shots, target, mean,
                        low if has_interval else None, high if has_interval else None, p, n,
                    )
                )  # fmt: skip
    return found


def _pairs(line: Line, other: Line, shots: int) -> dict[str, list[float]]:
    """Return differences in points, by target, for targets on which both have the same supports."""
    both = ((target, one, other.values.get((n, target), {})) for (n, target), one in line.values.items() if n == shots)
    return {
        target: [100 * (one[name] - two[name]) for name in sorted(one)]
        for target, one, two in both
        if one and one.keys() == two.keys()
    }


def read_board(folder: Path) -> Board:
    """Return the lines of a report."""
    rows = [json.loads(line) for line in (folder / "results.jsonl").read_text(encoding="utf-8").splitlines()]
    options = json.loads((folder / "environment.json").read_text(encoding="utf-8"))["options"]
    variants = dict.fromkeys(Variant(row["method"], row["o_ratio"], row["text"]) for row in rows)
    return make_board(rows, list(variants), list(dict.fromkeys(options["shots"])), options["targets"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("report", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print("| method | against | target | shots | difference | 95% interval | p | pairs |")
    print("|---|---|---|---:|---:|---:|---:|---:|")
    for one in differences(read_board(given.report), given.seed):
        interval = "-" if one.low is None or one.high is None else f"{one.low:+.1f} to {one.high:+.1f}"
        print(
            f"| {one.method} | {one.other} | {one.target} | {one.shots} | {one.mean:+.1f} | {interval} | {one.p:.4f} | "
            f"{one.n} |"
        )


if __name__ == "__main__":
    main()
