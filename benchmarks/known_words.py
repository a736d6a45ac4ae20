"""What a list of known words adds to names, and what labels do to a list that is wrong.

For each file, the most frequent type gets a list, and F1 of the type and of all types is printed:

- none: no list;
- half: the list has half of the phrases that the tested text has of the type. It says what a match is worth, not how
  often the lists of users match;
- wrong: the list has as many other words of the text, none of which is of the type;
- labels, wrong + labels: without a list and with the wrong one, where 20 labelled sentences that have its words say
  otherwise. They are not tested, neither here nor in the other columns.

    python benchmarks/known_words.py                                          # three files of mosaic/dev
    python benchmarks/known_words.py DATA/wnut17/dev.txt --types DATA/wnut17/types.txt
"""

import argparse
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

from handful import Tagger
from handful.encoders import CachedEncoder, load
from handful.text import read, read_types

DEV = Path(__file__).parents[1] / "corpora" / "mosaic" / "dev"
COLUMNS = ("none", "half", "wrong", "labels", "wrong + labels")


def try_file(path, types, encoder):
    """Return the most frequent type, the length of its list, and F1 of the type and of all types for each column."""
    chance = random.Random(0)
    corpus = read(path)
    types = types or corpus.types
    sentences = [one for one in corpus if one.is_labelled]
    chance.shuffle(sentences)
    support, test = sentences[:20], sentences[20:]
    name = Counter(span.type for one in test for span in one.spans).most_common(1)[0][0]
    phrases = sorted({" ".join(s.words[p.start : p.end]) for s in test for p in s.spans if p.type == name})
    half = chance.sample(phrases, (len(phrases) + 1) // 2)
    of_type = {word for s in sentences for p in s.spans if p.type == name for word in s.words[p.start : p.end]}
    others = sorted({word for one in support for word in one.words if len(word) > 3} - of_type)
    wrong = chance.sample(others, min(len(others), len(half)))
    scores = []
    for words, labels in (([], None), (half, None), (wrong, None), ([], support), (wrong, support)):
        given = [replace(one, words=words) if one.name == name else one for one in types]
        tagger = Tagger(given, encoder=encoder, cache=False).fit(labels, progress=False)
        strict = tagger.evaluate(test, progress=False).strict
        scores.append((100 * strict.by_type[name].f1, 100 * strict.micro.f1))
    return name, len(half), scores


def main():
    """Print a row for each file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--types", type=Path, help="a file that says what the types of the files mean")
    given = parser.parse_args()
    encoder = CachedEncoder(load("handful-en"))
    types = given.types and read_types(given.types)
    print(f"{'file':20} {'type':16} {'list':>5}", *(f"{column:>14}" for column in COLUMNS))
    for path in given.files or sorted(DEV.glob("*.txt"))[:3]:
        name, n, scores = try_file(path, types, encoder)
        print(f"{path.stem[:20]:20} {name[:16]:16} {n:5}", *(f"{own:7.1f} {every:6.1f}" for own, every in scores))


if __name__ == "__main__":
    main()
