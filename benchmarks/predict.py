"""`handful predict` on text that is new, on text that was kept, from a pipe, and on one very long line.

    python benchmarks/predict.py

The text is that of corpora/mosaic/dev, 20,000 words, one sentence per line. The model is fitted on the labels of the
package's example. Each run is a new process; its seconds, its processor time ("busy") and its peak memory are those
that the system reports. With `--line MB`, the last runs tag one line of that size without a line feed, as plain text
and as a JSON record; that takes minutes.

    python benchmarks/predict.py --ratio 5 [--text FILE]

compares prediction with encoding alone, in one process: the words of the same text per second, the best of so many
rounds of each, in turns; and the processor time of each.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import tempfile
import time
from importlib.resources import as_file, files
from pathlib import Path

from measure import describe_machine

from handful.text import read

RUN = "from handful.cli import main; main()"
CORPORA = Path(__file__).parents[1] / "corpora" / "mosaic" / "dev"


def sentences(n_words):
    """Yield the texts of sentences until there are enough words."""
    for file in sorted(CORPORA.glob("*.txt")):
        for sentence in read(file):
            if n_words <= 0:
                return
            n_words -= len(sentence.words)
            yield sentence.text


def taken(lines, n_words):
    """Yield lines until there are enough words, about."""
    for line in filter(None, map(str.strip, lines)):
        if n_words <= 0:
            return
        n_words -= len(line.split())
        yield line


def run(arguments, environment, stdin=None):
    """Return seconds, seconds to the first line of output, processor seconds, peak memory in MB and the output."""
    started = time.perf_counter()
    with subprocess.Popen(
        [sys.executable, "-c", RUN, *map(str, arguments)], stdin=stdin, stdout=subprocess.PIPE, env=environment
    ) as process:
        first = process.stdout.readline()
        to_first = time.perf_counter() - started
        output = first + process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    seconds = time.perf_counter() - started
    return seconds, to_first, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, output


def compare(model, path, rounds):
    """Print how fast encoding and prediction are, and their ratio."""
    from handful import Tagger
    from handful.text import stream, write

    tagger = Tagger.load(model, cache=False)
    given = [sentence for document in stream(path, "text") for sentence in document.sentences]
    n_words = sum(len(sentence.words) for sentence in given)
    ways = {
        "encode": lambda: tagger.encoder_.encode(given, progress=False),
        "predict": lambda: write(tagger.tag(stream(path, "text")), os.devnull, "jsonl", is_predicted=True),
    }
    wall, busy = {name: [] for name in ways}, {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            started, worked = time.perf_counter(), time.process_time()
            way()
            wall[name].append(time.perf_counter() - started)
            busy[name].append(time.process_time() - worked)
    for name in ways:
        print(f"{name:<10}{n_words / min(wall[name]):>8,.0f} words/s{min(busy[name]):>8.2f}s busy")
    fast, lean = (min(times["encode"]) / min(times["predict"]) for times in (wall, busy))
    print(f"predict has {fast:.0%} of the speed of encoding, and encoding {lean:.0%} of its processor time")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--words", type=int, default=20_000)
    parser.add_argument("--ratio", type=int, metavar="ROUNDS", help="compare with encoding alone, in one process")
    parser.add_argument("--text", type=Path, metavar="FILE", help="text to take the words from, for --ratio")
    parser.add_argument("--line", type=float, metavar="MB", help="also tag one line of this size")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        environment = os.environ | {"HANDFUL_CACHE": str(place / "cache")}
        with as_file(files("handful") / "examples" / "support.txt") as support:
            run(["fit", support, "--out", place / "model", "-q", "--no-cache"], environment)
        if options.text:
            opened = gzip.open if options.text.suffix == ".gz" else open
            with opened(options.text, "rt", encoding="utf-8") as text:
                lines = list(taken(text, options.words))
        else:
            lines = list(sentences(options.words))
        (place / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
        print(describe_machine())
        print(f"{options.words:,} words in {len(lines):,} lines")
        if options.ratio:
            compare(place / "model", place / "text.txt", options.ratio)
            return
        print(f"{'':<40}{'seconds':>9}{'to the first':>14}{'busy':>8}{'peak':>9}")

        def measure(name, *arguments, stdin=None):
            *figures, output = run(["predict", place / "model", *arguments], environment, stdin)
            seconds, to_first, busy, peak = figures
            print(f"{name:<40}{seconds:>8.1f}s{to_first:>13.1f}s{busy:>7.1f}s{peak:>6.0f} MB", flush=True)
            return output

        cold = measure("a file, new", place / "text.txt")
        with (place / "text.txt").open("rb") as text:
            pipe = subprocess.Popen(["cat"], stdin=text, stdout=subprocess.PIPE)
        assert measure("the same through a pipe", "-", stdin=pipe.stdout) == cold
        pipe.wait()
        assert measure("a file, new, with --keep-features", place / "text.txt", "--keep-features") == cold
        assert measure("the same again", place / "text.txt") == cold
        kept = sum(file.stat().st_size for file in (place / "cache").rglob("*.sqlite"))
        print(f"kept: {kept / 1e6:.1f} MB")
        if options.line:
            n_characters = int(options.line * 1_000_000)
            whole = " ".join(sentences(10**9))
            line = (whole + " ") * (n_characters // len(whole) + 1)
            (place / "line.txt").write_text(line[:n_characters], encoding="utf-8")
            (place / "line.jsonl").write_text(json.dumps({"text": line[:n_characters]}) + "\n", encoding="utf-8")
            measure(f"one line of {options.line:g} MB", place / "line.txt")
            measure("the same as a JSON record", place / "line.jsonl")


if __name__ == "__main__":
    main()
