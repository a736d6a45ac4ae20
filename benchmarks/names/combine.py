"""Write corpora with combined guidelines: types of a small corpus that are merged, or taken out of one another.

    python benchmarks/names/combine.py corpora/mosaic/train combined

For each file, pairs of its types A and B are drawn. One of these takes their place, and the marks follow:

- "A or B": both, under one name
- "A or B; not B": A alone; B is a type of its own no more
- "A, including B": both, under the name of A

The encoder learns from them how the parts of a guideline weigh against each other.
"""

import argparse
from pathlib import Path
from random import Random

from handful.text import EntityType, read, write
from handful.text.guidelines import guideline_of
from handful.text.types import TypeChoice

ABOUT = ("domain", "register")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    options.out.mkdir(parents=True)
    n = 0
    for path in sorted(options.files.glob("*.txt")):
        corpus, rng = read(path), Random(f"{options.seed} {path.stem}")
        # what has parts already, or is long, would be hard to read in combination
        simple = [one for one in corpus.types if one.description and is_simple(one)]
        rng.shuffle(simple)
        pairs = list(zip(simple[::2], simple[1::2], strict=False))
        if pairs:
            sentences, types = combined(corpus, pairs, rng)
            write(sentences, options.out / f"{path.stem}__c{options.seed}.txt", "inline", types=types)
            n += 1
    print(f"{n} files in {options.out}")


def is_simple(one):
    parts = guideline_of(one.description)
    return all(part.is_border for part in (*parts.includes, *parts.excludes)) and len(one.description.split()) <= 14


def combined(corpus, pairs, rng):
    """Return the sentences and the types of a file in which each pair of types is combined in one of the ways."""
    heads = {one.name: one.description for one in corpus.types}
    rename, drop = {}, []
    for one, other in pairs:
        first, second = (guideline_of(each.description).meaning.rstrip(" .;,") for each in (one, other))
        borders = [part.said for part in guideline_of(one.description).excludes]
        del heads[other.name]
        way = rng.choice(("or", "not", "including", "not", "only"))
        if way == "or":
            rename[other.name] = one.name
            heads[one.name] = f"{first}, or {second}"
        elif way == "including":
            rename[other.name] = one.name
            heads[one.name] = f"{first}; including {second}"
        else:
            drop.append(other.name)
            both = f"{first}, or {second}" if rng.random() < 0.5 else f"{second}, or {first}"
            heads[one.name] = f"{both if way == 'not' else first}; not {second}"
        if borders and way in ("not", "only"):
            heads[one.name] += "; " + "; ".join(dict.fromkeys(borders))
    choice = TypeChoice(drop=drop, rename=rename)
    return [choice.sentence(one) for one in corpus], [EntityType(name, text) for name, text in heads.items()]


if __name__ == "__main__":
    main()
