"""How long a command takes to start: `handful --help`, and a cold `handful predict` of one sentence.

    python benchmarks/start.py

Each command runs in a new process, which is timed from outside. One run warms the page cache. Then there are the best
and the median time of several runs, and the least processor time of a run ("busy"), which other work on the machine
hardly changes. The model is fitted first, on sentences of the example in the package. The last lines show which
packages are loaded, and how long their imports take.
"""

import argparse
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from importlib.resources import as_file, files
from pathlib import Path

from measure import describe_machine

RUN = "from handful.cli import main; main()"
TEXT = "Gave the roses a good soak and found slugs under every pot."
HEAVY = ("sklearn", "scipy", "numpy", "onnxruntime", "tokenizers", "torch", "transformers", "rich", "typer", "handful")


def timed(arguments, environment):
    """Return the seconds of a run by the clock, and its seconds of processor time."""
    started, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", RUN, *arguments], check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.perf_counter() - started, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def imports(arguments, environment):
    """Return the milliseconds that each large package took to import, without the other packages that it imports."""
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-c", RUN, *arguments], capture_output=True, text=True, env=environment
    )
    found = {}
    for line in done.stderr.splitlines():
        match = re.match(r"import time:\s+(\d+) \|\s+\d+ \|\s+(\S+)", line)
        if match:
            package = match[2].split(".")[0]
            found[package] = found.get(package, 0) + int(match[1]) / 1000
    return {name: found[name] for name in HEAVY if name in found}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--encoder", default="handful-en")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        environment = os.environ | {"HANDFUL_CACHE": str(Path(folder) / "cache"), "PYTHONWARNINGS": "error"}
        model = str(Path(folder) / "model")
        with as_file(files("handful") / "examples" / "support.txt") as support:
            timed(["fit", str(support), "--encoder", options.encoder, "--out", model], environment)
        print(describe_machine())
        print(f"{'command':<40}{'best':>8}{'median':>8}{'busy':>8}{'limit':>8}")
        commands = {
            "handful --help": (["--help"], 0.4),
            "handful predict, cold, one sentence": (["predict", model, "--text", TEXT], 2.5),
        }
        for name, (arguments, limit) in commands.items():
            timed(arguments, environment)
            times, busy = zip(*[timed(arguments, environment) for _ in range(options.repeats)], strict=True)
            figures = (min(times), statistics.median(times), min(busy))
            print(f"{name:<40}" + "".join(f"{figure:>7.2f}s" for figure in figures) + f"{limit:>7.1f}s")
        for name, (arguments, _) in commands.items():
            parts = ", ".join(f"{package} {ms:.0f}" for package, ms in imports(arguments, environment).items())
            print(f"{name}: imports, ms: {parts}")


if __name__ == "__main__":
    main()
