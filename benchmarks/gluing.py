"""Spaces that an encoder gives back to words, compared with the texts of mosaic_languages, by language.

    python benchmarks/gluing.py [--show] [LANGUAGE ...]

words: the share of words about which `handful.encoders.gluing.glued` is right. sentences: those with no word wrong.
"""

import argparse
from collections import Counter, defaultdict
from pathlib import Path

from handful.encoders.gluing import glued
from handful.text import read

ROOT = Path(__file__).parents[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE")
    parser.add_argument("--show", action="store_true", help="the pairs that are most often wrong")
    args = parser.parse_args()
    n, wrong, right = Counter(), defaultdict(Counter), defaultdict(list)
    for path in sorted(ROOT.glob("corpora/mosaic_languages/*/*.txt")):
        language = path.name[:2]
        if args.languages and language not in args.languages:
            continue
        for sentence in read(path):
            words, starts = sentence.words, sentence.starts
            found = glued(words)
            pairs = [
                (words[i - 1], words[i], "|" if found[i] else " ")
                for i in range(1, len(words))
                if found[i] != (starts[i] == starts[i - 1] + len(words[i - 1]))
            ]
            n[language] += len(words)
            wrong[language].update(pairs)
            right[language].append(not pairs)
    print("language   words sentences")
    for language in sorted(n):
        share = 1 - wrong[language].total() / n[language]
        print(f"{language:8} {share:7.2%} {sum(right[language]) / len(right[language]):9.1%}")
        if args.show:
            for (before, word, between), times in wrong[language].most_common(10):
                print(f"    {times} {before}{between}{word}")


if __name__ == "__main__":
    main()
