"""How long reading a CoNLL file takes, compared with a bare loop of ``line.split()`` over the same file.

    python benchmarks/read.py [FILE]

Without a file, one of 250,000 words is made. The last line is the figure that counts: the processor time of `read`
(with spans) divided by that of the bare loop, as the median over rounds in which they take turns. `stream` makes a
document with a text of each sentence.
"""

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from handful.text import read, stream

ROUNDS = 9


def make_file(path: Path, n_words: int = 250_000) -> None:
    """Write made-up sentences of 5 to 35 words, in which about one word in eight is in a mention."""
    draw = random.Random(0)
    vocabulary = ["".join(draw.choices("abcdefghijklmnopqrstuvwxyz", k=draw.randint(1, 11))) for _ in range(20_000)]
    with path.open("w", encoding="utf-8") as file:
        while n_words > 0:
            length = min(draw.randint(5, 35), n_words)
            n_words -= length
            label = "O"
            for _ in range(length):
                if label != "O" and draw.random() < 0.4:
                    label = "I" + label[1:]
                else:
                    label = f"B-{draw.choice(['PER', 'LOC', 'ORG', 'MISC'])}" if draw.random() < 0.08 else "O"
                file.write(f"{draw.choice(vocabulary)}\t{label}\n")
            file.write("\n")


def bare_loop(path: Path) -> int:
    n = 0
    with path.open(encoding="utf-8") as file:
        for line in file:
            if line.split():
                n += 1
    return n


def seconds(function, *arguments) -> float:
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start


def pass_through(path: Path) -> None:
    for _ in stream(path, "conll"):
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("file", nargs="?", type=Path, help="a CoNLL file (default: one is made)")
    path = parser.parse_args().file
    with tempfile.TemporaryDirectory() as folder:
        if path is None:
            path = Path(folder) / "made.conll"
            make_file(path)
        report = read(path).report
        print(report)
        rounds = [(seconds(bare_loop, path), seconds(read, path), seconds(pass_through, path)) for _ in range(ROUNDS)]
    bare, whole, streamed = (statistics.median(column) for column in zip(*rounds, strict=True))
    print(f"bare loop of line.split()  {1000 * bare:8.1f} ms")
    print(f"read (a list)              {1000 * whole:8.1f} ms  {report.n_words / whole / 1e6:.2f} M/s")
    print(f"stream (nothing kept)      {1000 * streamed:8.1f} ms  {report.n_words / streamed / 1e6:.2f} M/s")
    print(f"ratio read / bare loop     {statistics.median(b / a for a, b, _ in rounds):8.2f}")


if __name__ == "__main__":
    main()
