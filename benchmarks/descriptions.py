"""Ways to write what a type means: F1 with no label, and what the check of guidelines is worth.

    python benchmarks/descriptions.py corpora/mosaic/dev/*.txt

A file is a labelled corpus that describes its types. The first table has its F1 with no label, mean over files, where
the encoder reads of each type

- `name`: its name
- `both`: its name and its description, as the file has them
- `description`: the description in the place of the name
- `first phrase`: the name, and the description up to the first comma, semicolon, bracket or relative clause
- `no exclusions`: the name, and the description without what follows "not", "except", "excluding" or "without"
- `nameless`: both, where the name says nothing: TYPE_A, TYPE_B, ...

The second table asks whether to follow the summary: half of the sentences are labelled, a few at a time; where the
summary says that the name alone fits the labels of a type better, its description is dropped. F1 is that of the other
half. With `wrong`, one type of each file has the description of a type of another file.
"""

import argparse
import re
from pathlib import Path
from random import Random

import numpy as np

from handful import Tagger
from handful.encoders import CachedEncoder, load
from handful.text import EntityType, read
from handful.text.type_choice import TypeChoice
from handful.text.types import ABOUT_CORPUS

PHRASE = re.compile(r"[,;(]| (?:that|which|who|whose|where|if|when|with|without|not|as) ")
EXCLUSION = re.compile(r"[,;]? *\b(?:but not|not|except|excluding|without)\b[^;]*")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--sentences", default="10,20,40", help="labelled, in the second table")
    options = parser.parse_args()
    encoder = CachedEncoder(load("handful-en"))
    corpora = [read_corpus(path) for path in options.files]
    rows = {way: [] for way in WAYS}
    for sentences, types in corpora:
        for way, write in WAYS.items():
            rows[way].append(f1_without_labels(encoder, sentences, types, write))
    print("no label        F1  against name  better in")
    for way, figures in rows.items():
        gain = np.subtract(figures, rows["name"])
        print(f"{way:14}{np.mean(figures):6.1f}{gain.mean():+10.1f}{(gain > 0).sum():11} of {len(figures)}", flush=True)
    print("\nsentences  types  spoken of  F1 as it is  F1 as told  better  worse")
    strangers = [types[0].description for _, types in (*corpora[1:], corpora[0])]
    wrong = [
        (sentences, [EntityType(types[0].name, stranger), *types[1:]])
        for (sentences, types), stranger in zip(corpora, strangers, strict=True)
    ]
    for n in map(int, options.sentences.split(",")):
        follow(encoder, corpora, n, options.draws)
        follow(encoder, wrong, n, options.draws, " wrong")


def read_corpus(path):
    """Return the sentences of a file and its types."""
    corpus = read(path)
    return list(corpus), [one for one in corpus.types if one.name not in ABOUT_CORPUS]


def phrase(one):
    """Return a type with the first phrase of its description."""
    return EntityType(one.name, PHRASE.split(one.description)[0])


WAYS = {
    "name": lambda one, i: EntityType(one.name),
    "both": lambda one, i: one,
    "description": lambda one, i: EntityType(one.description.replace("|", "/")),
    "first phrase": lambda one, i: phrase(one),
    "no exclusions": lambda one, i: EntityType(one.name, EXCLUSION.sub("", one.description)),
    "nameless": lambda one, i: EntityType(f"TYPE_{chr(65 + i)}", one.description),
}


def f1_without_labels(encoder, sentences, types, write):
    """Return the F1 of types that are written in one way."""
    written = [write(one, i) for i, one in enumerate(types)]
    renamed = TypeChoice(rename={old.name: new.name for old, new in zip(types, written, strict=True)})
    tagger = Tagger(written, encoder=encoder, cache=False).fit()
    return 100 * tagger.evaluate([renamed.sentence(one) for one in sentences]).strict.micro.f1


def follow(encoder, corpora, n, draws, kind=""):
    """Print a row: fits with n labelled sentences, and the same where what the summary says is done."""
    before, after, n_types, n_spoken = [], [], 0, 0
    for sentences, types in corpora:
        for draw in range(draws):
            shuffled = Random(draw).sample(sentences, len(sentences))
            half = len(shuffled) // 2
            labelled, scored = shuffled[: min(n, half)], shuffled[half:]
            tagger = Tagger(types, encoder=encoder, cache=False).fit(labelled)
            told = {name: one.best for name, one in tagger.summary_.guidelines.items() if one.best == "name"}
            n_types, n_spoken = n_types + len(types), n_spoken + len(told)
            if told:
                other = [EntityType(one.name) if one.name in told else one for one in types]
                again = Tagger(other, encoder=encoder, cache=False).fit(labelled)
                before.append(100 * tagger.evaluate(scored).strict.micro.f1)
                after.append(100 * again.evaluate(scored).strict.micro.f1)
    gain = np.subtract(after, before)
    print(
        f"{f'{n}{kind}':>9}{n_types:7}{n_spoken:11}{np.mean(before):13.1f}{np.mean(after):12.1f}{(gain > 0).sum():8}"
        f"{(gain < 0).sum():7}",
        flush=True,
    )


if __name__ == "__main__":
    main()
