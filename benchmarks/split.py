"""Cut one labelled file into train, dev and test parts: 80, 10 and 10 percent of its sentences.

    python benchmarks/split.py DATA/fewnerd_inter/test.txt fewnerd17

The part of a sentence depends only on its words (the first 8 bytes of their SHA-256). So the same words are never in
two parts, and every run cuts the same way. Lines are copied as they are.
"""

import argparse
import hashlib
from pathlib import Path

PARTS = (("train", 0.8), ("dev", 0.9), ("test", 1.0))


def part_of(words):
    digest = hashlib.sha256("\n".join(words).encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    return next(name for name, end in PARTS if place < end or end == 1)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=Path, help="token, tab, tag; a blank line between sentences")
    parser.add_argument("out", type=Path, help="the folder to write train.txt, dev.txt and test.txt into")
    options = parser.parse_args()

    parts = {name: [] for name, _ in PARTS}
    for block in options.file.read_text(encoding="utf-8").split("\n\n"):
        if lines := [line for line in block.split("\n") if line]:
            parts[part_of([line.split("\t")[0] for line in lines])].append("\n".join(lines))
    options.out.mkdir(parents=True, exist_ok=True)
    for name, sentences in parts.items():
        (options.out / f"{name}.txt").write_text("\n\n".join(sentences) + "\n", encoding="utf-8")
        print(f"{name}: {len(sentences)} sentences, {sum(s.count(chr(10)) + 1 for s in sentences)} words")


if __name__ == "__main__":
    main()
