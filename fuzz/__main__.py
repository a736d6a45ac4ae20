"""``python -m fuzz``: try changed inputs on everything that reads what others wrote."""

import argparse
import sys
import time
from pathlib import Path

from .engine import read_case
from .processes import FOUND, fuzz, missing, replay
from .targets import TARGETS

HEAD = ["target", "inputs", "results", "errors of ours", "kinds", "faults", "inputs per second", "slowest (ms)"]


def main() -> int:
    """Run targets, print a table, and return 1 if there was a fault."""
    parser = argparse.ArgumentParser("python -m fuzz", description=__doc__)
    parser.add_argument(
        "--target", action="append", choices=list(TARGETS), metavar="NAME", help="only this one; may be given again"
    )
    parser.add_argument("--list", action="store_true", help="list the targets")
    parser.add_argument("--seconds", type=float, help="how long, over all targets; 120 if --inputs is not given")
    parser.add_argument("--inputs", type=int, help="how many inputs for each target")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="for the same inputs again")
    parser.add_argument(
        "--replay", type=Path, metavar="FOLDER", help="try a saved input on the one target that is given"
    )
    given = parser.parse_args()
    chosen = [TARGETS[name] for name in given.target or TARGETS]
    if given.list:
        for target in chosen:
            print(f"{target.name:24} {target.about}")
        return 0
    if given.replay:
        if len(chosen) != 1:
            parser.error("say with --target what to try it on")
        kind, fault = replay(chosen[0], read_case(given.replay))
        print(kind if fault is None else f"{fault.key}\n{fault.what}")
        return int(fault is not None)
    seconds = (120.0 if given.inputs is None else float("inf")) if given.seconds is None else given.seconds
    print(f"--seed {given.seed}\n\n| {' | '.join(HEAD)} |\n|{'---|' * len(HEAD)}", flush=True)
    n_faults = 0
    for target in chosen:
        if lacking := missing(target):
            print(f"| {target.name} | not tried: {', '.join(lacking)} is not installed |", flush=True)
            continue
        outcome, took = fuzz(target, n=given.inputs or sys.maxsize, seconds=seconds / len(chosen), seed=given.seed)
        n_faults += len(outcome.faults)
        row = [
            target.name,
            f"{outcome.n_inputs:,}",
            f"{outcome.n_results:,}",
            f"{outcome.n_errors:,}",
            len(outcome.kinds),
        ]
        row += [len(outcome.faults), f"{outcome.n_inputs / max(took, 1e-9):,.0f}", f"{1000 * outcome.slowest:,.0f}"]
        print(f"| {' | '.join(map(str, row))} |", flush=True)
        for key in outcome.faults:
            print(f"    {key}", flush=True)
    if n_faults:
        print(f"\n{n_faults} kinds of faults; {FOUND} has their inputs, and how to try them again")
    return int(n_faults > 0)


if __name__ == "__main__":
    sys.exit(main())
