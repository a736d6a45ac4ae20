"""Parts of descriptions: F1 with no label, and steering, for several weights c of what they exclude.

    python benchmarks/exclusions.py corpora/mosaic/dev corpora/mosaic/train corpora/mosaic_guidelines/dev

The first folder has labelled files that describe their types: F1 by names alone, mean over files. The other two have
files and their twins (see steering.py). "as it is" reads the whole description as one text; "left out" reads it without
what it excludes. "no borders" reads no rules of borders. With --left-out, other parts are cut from the descriptions.
"""

import argparse
import re
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
from handful.encoders import CachedEncoder, load
from handful.encoders.names import NAMES_FILE, NameHead
from handful.evaluate import score
from handful.tagger.borders import Borders
from handful.text import read

WAYS = {"as it is": None, "left out": -100.0, "c = 0": 0.0, "c = 2": 2.0, "c = 4": 4.0, "no borders": 2.0}
EXAMPLES = re.compile(
    r",? *\b(?:such as|like|for example|e\.g\.) [^;]*?(?=;|$|, not|, no |, (?:with|without|including) )"
)
LEFT_OUT = {
    "nothing": re.compile(r"(?!)"),
    "such as": EXAMPLES,
    "including": re.compile(r",? *\bincluding (?!words|title|the |article)[^;]*?(?=;|$|, not|, no )"),
    "only": re.compile(r"\bonly (?!if|when|where|those|what|the)|,? only$"),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dev", type=Path)
    parser.add_argument("files", type=Path)
    parser.add_argument("twins", type=Path)
    parser.add_argument(
        "--encoder", type=Path, default=Path(handful.__file__).parent / "encoders/en", help="its folder"
    )
    parser.add_argument("--left-out", action="store_true", help="cut other parts than exclusions from descriptions")
    options = parser.parse_args()
    head = NameHead.load(options.encoder / NAMES_FILE)
    dev = [read(path) for path in sorted(options.dev.glob("*.txt"))]
    twins = sorted(options.twins.glob("*__g1.txt"))
    pairs = [[read(options.files / path.name.replace("__g1", "")), read(path)] for path in twins]
    if options.left_out:
        encoder = CachedEncoder(load(options.encoder))
        for way, part in LEFT_OUT.items():
            print(f"{way:15} {measured(encoder, dev, pairs, lambda text, part=part: cut(text, part))}", flush=True)
        print(f"examples first  {measured(encoder, dev, pairs, examples_first)}")
        return
    for way, exclusion in WAYS.items():
        with TemporaryDirectory() as folder:
            shutil.copytree(options.encoder, folder, dirs_exist_ok=True)
            replace(head, exclusion=exclusion).save(Path(folder) / NAMES_FILE, "float16")
            without = patch.object(Borders, "of", return_value=None) if way == "no borders" else nullcontext()
            with without:
                print(f"{way:10} {measured(load(folder), dev, pairs)}", flush=True)


def cut(text, part):
    """Return a description without a part, or as it is where nothing else is left."""
    return re.sub(r"\s+", " ", part.sub(" ", text)).strip(" ,;") or text


def examples_first(text):
    """Return a description with its examples before all else."""
    found = EXAMPLES.search(text)
    return f"{re.sub('such as |like ', '', found[0].strip(' ,'))}; {cut(text, EXAMPLES)}" if found else text


def measured(encoder, dev, pairs, write=str):
    """Return the mean F1 of the files, the shares of decisions that are right, and the F1 of pairs."""
    f1 = np.mean([f1_of(side, tagged(encoder, side, write)) for side in dev])
    total, of_pairs = Counter(), []
    for sides in pairs:
        found = [tagged(encoder, side, write) for side in sides]
        total += decisions(sides, found)
        of_pairs.append([f1_of(side, some) for side, some in zip(sides, found, strict=True)])
    of_files, of_twins = np.mean(of_pairs, axis=0)
    return f"F1 {f1:.1f}   {line(total)}   F1 {of_files:.1f} {of_twins:.1f}"


def tagged(encoder, side, write):
    """Return the sentences of a file with what a tagger without labels finds, by descriptions written in some way."""
    types = [replace(one, description=write(one.description)) for one in side.types]
    return Tagger(types, encoder=encoder).fit().predict_sentences([one.without_labels() for one in side])


def f1_of(side, found):
    return 100 * score(list(side), found).micro.f1


if __name__ == "__main__":
    main()
