"""Draw supports: sentences that hold a few mentions of every type.

    python benchmarks/sample.py CORPUS --out FOLDER [--shots 5] [--sets 1] [--seed 0] [--fewer] [--to conll]

Types are taken from the rarest to the most frequent, and sentences drawn until the support holds enough mentions of
each (greedy sampling, Yang and Katiyar 2020). The folder, which is new or empty, gets 0.txt, 1.txt and so on.
"""

import argparse
from collections import Counter
from pathlib import Path

from handful import read, write
from handful._util.files import replacing_folder
from handful.evaluate import sample_support


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpus", help="a labelled file")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--shots", type=int, default=5, help="the least number of mentions of each type")
    parser.add_argument("--sets", type=int, default=1, help="how many supports to draw")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--fewer", action="store_true", help="accept types with fewer mentions")
    parser.add_argument("--to", default="conll", help="the format")
    given = parser.parse_args()
    supports = sample_support(read(given.corpus), given.shots, given.seed, sets=given.sets, fewer=given.fewer)
    with replacing_folder(given.out) as folder:
        for i, support in enumerate(supports):
            write(support, folder / f"{i}.txt", given.to)
            print(f"{i}.txt", dict(Counter(span.type for one in support for span in one.spans or ())))


if __name__ == "__main__":
    main()
