"""Strict span F1 in many languages: by names alone, with text, and with five labels of each type.

    python benchmarks/languages.py ENCODER [PATH ...] [--only names,text,labels] [--supports 3]

A PATH is a small corpus (NAME.txt, whose head describes its types; NAME.en.types beside it describes them in English),
a folder of these, or a folder with types.txt and dev.txt or test.txt (with --test, test.txt). The default is
corpora/mosaic_languages/dev. With guidelines in two languages there are two lines.

names: the types alone. text: the scored sentences are read, without their labels. labels: a support with five mentions
of each type (or all there are), as a mean over supports; it comes from train.txt if there is one, or else from every
other sentence, and the rest is scored. The means are over corpora, the last ones by language.
"""

import argparse
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np

from handful import Tagger
from handful.encoders import load
from handful.evaluate import sample_support
from handful.text import read, read_types

DEV = Path(__file__).parents[1] / "corpora/mosaic_languages/dev"
HOW = ("names", "text", "labels")


def corpora(paths, split):
    """Yield name, sentences, sentences to take labels from, and the types by the language of their descriptions."""
    for path in paths:
        if (path / "types.txt").is_file():
            splits = [path / f"{one}.txt" for one in ([split] if split else ["dev", "test"])]
            found = next((one for one in splits if one.is_file()), None)
            if found is None:
                raise SystemExit(f"{path}: has no {' and no '.join(one.name for one in splits)}")
            train = path / "train.txt"
            yield (
                path.name,
                list(read(found)),
                list(read(train)) if train.is_file() else [],
                {"given": read_types(path / "types.txt")},
            )
            continue
        for file in sorted(path.glob("*.txt")) if path.is_dir() else [path]:
            content = read(file)
            types = {"own": content.types}
            if (english := file.with_suffix(".en.types")).is_file():
                types["English"] = read_types(english)
            yield file.stem, list(content), [], types


def bare(sentences):
    return [replace(sentence, spans=None) for sentence in sentences]


def f1(tagger, sentences):
    return 100 * tagger.evaluate(sentences).f1


def measured(encoder, types, sentences, labelled, how, n_supports):
    """Return F1 for each way."""
    found = {}
    new = {"encoder": encoder, "cache": False}
    if "names" in how:
        found["names"] = f1(Tagger(types, **new).fit(), sentences)
    if "text" in how:
        found["text"] = f1(Tagger(types, **new).fit(unlabelled=bare(sentences)), sentences)
    if "labels" in how:
        given, scored = (labelled, sentences) if labelled else (sentences[::2], sentences[1::2])
        supports = [sample_support(given, 5, seed, fewer=True)[0] for seed in range(n_supports)]
        runs = [f1(Tagger(types, **new).fit(support, unlabelled=bare(scored)), scored) for support in supports]
        found["labels"] = float(np.mean(runs))
    return found


def line(name, guidelines, found, how):
    print(f"{name:28} {guidelines:8}" + "".join(f"{found[one]:8.1f}" for one in how), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder", metavar="ENCODER")
    parser.add_argument("paths", metavar="PATH", nargs="*", type=Path, default=[DEV])
    parser.add_argument("--only", default=",".join(HOW), help="names, text, labels, with commas")
    parser.add_argument("--supports", type=int, default=3)
    parser.add_argument("--test", action="store_true", help="score on test.txt, not on dev.txt")
    args = parser.parse_args()
    how = [one for one in HOW if one in args.only.split(",")]
    encoder = load(args.encoder)
    every, by_language = defaultdict(list), defaultdict(list)
    print(f"{'corpus':28} {'types in':8}" + "".join(f"{one:>8}" for one in how))
    for name, sentences, labelled, types in corpora(args.paths, "test" if args.test else None):
        for guidelines, known in types.items():
            found = measured(encoder, known, sentences, labelled, how, args.supports)
            line(name, guidelines, found, how)
            every[guidelines].append(found)
            by_language[name[:2], guidelines].append(found)
    for groups in (every, by_language):
        for group, rows in sorted(groups.items()):
            label, guidelines = ("mean", group) if groups is every else group
            line(f"{label} of {len(rows)}", guidelines, {one: np.mean([row[one] for row in rows]) for one in how}, how)


if __name__ == "__main__":
    main()
