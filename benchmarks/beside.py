"""Fits and predictions with this code beside those with other code, on the same text, in the same run.

    git worktree add ../before 163b5e1
    python benchmarks/beside.py ../before/src [--words 20000] [--rounds 9]

Each code has a process of its own, which reads the features of the words once and keeps them in memory. The two take
turns, and in every other round the second begins. Figures are seconds of the processor without the encoder, the best
of all rounds and the middle one; the change is that of the best. The text is that of corpora/mosaic/dev, the types and
labels are the garden notes of the package. The last rows are this code with `overlap`, if it has it.
"""

import argparse
import os
import subprocess
import sys
import time
from importlib.resources import files
from pathlib import Path
from statistics import median

from measure import describe_machine
from predict import CORPORA, sentences

NAMES = "fit", "predict", "fit, overlap", "predict, overlap"


def work(n_words):
    """Do what is asked for on standard input, and answer with seconds of the processor."""
    from handful import Tagger
    from handful.encoders import load
    from handful.encoders.cache import RememberingEncoder
    from handful.text import read, read_types, to_sentence

    folder = files("handful") / "examples"
    types, labels = read_types(folder / "types.txt"), read(folder / "support.txt")
    text = [to_sentence(one) for one in sentences(n_words)]
    encoder = RememberingEncoder(load("handful-en"))
    encoder.encode([*labels, *text], progress=False)
    taggers = {}
    print("ready", flush=True)
    for line in sys.stdin:
        what, _, overlap = line.strip().partition(", ")
        options = {"overlap": True} if overlap else {}
        started = time.process_time()
        if what == "fit":
            taggers[overlap] = Tagger(types, encoder=encoder, cache=False, **options).fit(labels, text, progress=False)
        else:
            taggers[overlap].predict_sentences(text)
        print(time.process_time() - started, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("other", metavar="SRC", nargs="?", type=Path, help="the folder that holds the other handful")
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        return work(options.words)
    places = {"this": Path(__file__).parents[1] / "src", "other": options.other}
    codes = {name: start(place, options.words) for name, place in places.items() if place is not None}
    seconds = {}
    for i in range(options.rounds):
        for what in NAMES:
            for name in sorted(codes, reverse=i % 2 == 0):
                if name == "this" or "overlap" not in what:
                    seconds.setdefault((what, name), []).append(ask(codes[name], what))
    for code in codes.values():
        code.stdin.close()
        code.wait()
    print(f"{describe_machine()}; {options.words:,} words of {CORPORA.name}, {options.rounds} rounds")
    print("| | this: best | median | other: best | median | change |\n|---|---|---|---|---|---|")
    for what in NAMES:
        this, other = (seconds.get((what, name)) for name in ("this", "other"))
        figures = f"| {what} | {min(this):.3f} | {median(this):.3f} "
        beside = (
            f"| {min(other):.3f} | {median(other):.3f} | {min(this) / min(other) - 1:+.1%} |" if other else "| | | |"
        )
        print(figures + beside)
    return None


def start(src, n_words):
    """Start a process with some code; it is ready when this returns."""
    environment = os.environ | {"PYTHONPATH": f"{src.absolute()}{os.pathsep}{CORPORA.parents[2]}"}
    command = [sys.executable, __file__, "--work", "--words", str(n_words)]
    code = subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert code.stdout.readline() == "ready\n"
    return code


def ask(code, what):
    """Let a process do something, and return its seconds."""
    code.stdin.write(f"{what}\n")
    code.stdin.flush()
    return float(code.stdout.readline())


if __name__ == "__main__":
    main()
