"""Parts of descriptions: F1 with no label, and steering, for several weights c of what they exclude.

    python benchmarks/exclusions.py corpora/mosaic/dev corpora/mosaic/train corpora/mosaic_guidelines/dev

The first folder has labelled files that describe their types: F1 by names alone, mean over files. The other two have
files and their twins (see steering.py). "as it is" reads the whole description as one text; "left out" reads it without
what it excludes. "no borders" reads no rules of borders.
"""

import argparse
import shutil
from collections import Counter
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import numpy as np
from steering import decisions, line

import handful
from handful import Tagger
from handful.encoders import load
from handful.encoders.names import NAMES_FILE, NameHead
from handful.evaluate import score
from handful.tagger.borders import Borders
from handful.text import read

WAYS = {"as it is": None, "left out": -100.0, "c = 0": 0.0, "c = 2": 2.0, "c = 4": 4.0, "no borders": 2.0}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dev", type=Path)
    parser.add_argument("files", type=Path)
    parser.add_argument("twins", type=Path)
    parser.add_argument(
        "--encoder", type=Path, default=Path(handful.__file__).parent / "encoders/en", help="its folder"
    )
    options = parser.parse_args()
    head = NameHead.load(options.encoder / NAMES_FILE)
    dev = [read(path) for path in sorted(options.dev.glob("*.txt"))]
    twins = sorted(options.twins.glob("*__g1.txt"))
    pairs = [[read(options.files / path.name.replace("__g1", "")), read(path)] for path in twins]
    for way, exclusion in WAYS.items():
        with TemporaryDirectory() as folder:
            shutil.copytree(options.encoder, folder, dirs_exist_ok=True)
            replace(head, exclusion=exclusion).save(Path(folder) / NAMES_FILE, "float16")
            without = patch.object(Borders, "of", return_value=None) if way == "no borders" else nullcontext()
            with without:
                print(f"{way:10} {measured(load(folder), dev, pairs)}", flush=True)


def measured(encoder, dev, pairs):
    """Return the mean F1 of the files, the shares of decisions that are right, and the F1 of pairs."""
    f1 = np.mean([f1_of(side, tagged(encoder, side)) for side in dev])
    total, of_pairs = Counter(), []
    for sides in pairs:
        found = [tagged(encoder, side) for side in sides]
        total += decisions(sides, found)
        of_pairs.append([f1_of(side, some) for side, some in zip(sides, found, strict=True)])
    of_files, of_twins = np.mean(of_pairs, axis=0)
    return f"F1 {f1:.1f}   {line(total)}   F1 {of_files:.1f} {of_twins:.1f}"


def tagged(encoder, side):
    """Return the sentences of a file with what a tagger without labels finds."""
    return Tagger(side.types, encoder=encoder).fit().predict_sentences([one.without_labels() for one in side])


def f1_of(side, found):
    return 100 * score(list(side), found).micro.f1


if __name__ == "__main__":
    main()
