"""Types that come late: F1 by stage, where each stage labels more sentences and looks for more types.

    python benchmarks/stages.py DATA/wnut17 DATA/bc5cdr corpora/mosaic/dev/{ship_log,vet_emails,postmortems}.txt

A target is a folder with dev.txt, test.txt and types.txt, or one labelled file that describes its types, of which every
second sentence is scored on. Its types are dealt into three groups. In each of three stages some sentences are
labelled, in the first for the types of the first group, in the second for two groups, in the third for all. Sentences
of earlier stages are not looked at again. The table has the F1 on the types that are known at a stage, mean over draws:

- `start`: as if all sentences had been labelled for all types of the stage, which is the most that can be hoped for
- `could know`: the same, but words of mentions of later types in earlier sentences are unknown, so no label of a later
  type is there that nobody could have given; all other words are known to be O, which `judged` does not know
- `judged`: a sentence says nothing of types that nobody looked for in it
- `stage alone`: only the sentences of the stage itself, labelled for all of its types
- `O for all`: a word that is not marked is O for all types, as with other taggers
- `names`: no label at all
- `regression`: a linear classifier on the same features, where a word that is not marked is O, too
"""

import argparse
from dataclasses import replace
from pathlib import Path
from random import Random

import numpy as np

from handful import Tagger
from handful.baselines import RegressionBaseline
from handful.encoders import CachedEncoder, load
from handful.evaluate import evaluate
from handful.text import Allowed, read, read_types, types_in, types_of

STAGES, MOST_WORDS = 3, 12_000
WAYS = ("start", "could know", "judged", "stage alone", "O for all", "names", "regression")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="+", type=Path)
    parser.add_argument("--draws", type=int, default=5)
    parser.add_argument("--sentences", type=int, default=8, help="labelled in each stage, each with a mention")
    parser.add_argument("--text", action="store_true", help="with the other sentences as unlabelled text")
    options = parser.parse_args()
    encoder = CachedEncoder(load("handful-en"))
    print(
        f"{'target':22}{'stage':>6}"
        + "".join(f"{way:>12}" for way in WAYS)
        + f"{'judged - start':>16}{'- could know':>14}"
    )
    below = []
    for target in options.targets:
        pool, scored, types = read_target(target)
        rows = np.mean([run(encoder, pool, scored, types, draw, options) for draw in range(options.draws)], axis=0)
        for stage, row in enumerate(rows):
            figures = "".join(f"{value:12.1f}" for value in row)
            below.append(row[2] - row[:2])
            print(f"{target.stem:22}{stage + 1:6}{figures}{below[-1][0]:16.1f}{below[-1][1]:14.1f}", flush=True)
    lowest = np.min(below, axis=0)
    print(f"the lowest of judged - start: {lowest[0]:.1f}, of judged - could know: {lowest[1]:.1f}")


def run(encoder, pool, scored, types, draw, options):
    """Return the F1 of each way, for each stage of one draw."""
    rng = Random(draw)
    names = [one.name for one in types]
    rng.shuffle(names)
    groups = [names[i::STAGES] for i in range(STAGES)]
    some = [sentence for sentence in pool if sentence.spans]
    rng.shuffle(some)
    drawn = [some[i * options.sentences : (i + 1) * options.sentences] for i in range(STAGES)]
    text = [sentence.without_labels() for sentence in pool] if options.text else None
    rows = []
    known = []
    labelled = []  # as they were at the time
    for stage in range(STAGES):
        known += groups[stage]
        if not known or not groups[stage]:
            rows.append(rows[-1] if rows else [np.nan] * len(WAYS))
        labelled += [only(sentence, known) for sentence in drawn[stage]]
        if not groups[stage]:
            continue
        whole = [only(sentence, known) for part in drawn[: stage + 1] for sentence in part]
        gold = [replace(only(sentence, known), judged=None) for sentence in scored]
        described = [one for one in types if one.name in known]
        supports = {
            "start": whole,
            "could know": [without(sentence, one.judged) for sentence, one in zip(whole, labelled, strict=True)],
            "judged": labelled,
            "stage alone": labelled[-len(drawn[stage]) :],
            "O for all": [replace(sentence, judged=frozenset(known)) for sentence in labelled],
            "names": None,
        }

        def f1(support, described=described, gold=gold):
            tagger = Tagger(described, encoder=encoder, cache=False).fit(support, text, progress=False)
            return measure(tagger, gold)

        row = [f1(support) for support in supports.values()]
        plain = RegressionBaseline(encoder).fit([replace(one, judged=None) for one in labelled], progress=False)
        rows.append([*row, measure(plain, gold)])
    return rows


def measure(tagger, gold):
    return 100 * evaluate(gold, tagger.predict_sentences(gold, progress=False)).strict.micro.f1


def only(sentence, names):
    """Return a sentence as somebody labels it who looks for these types."""
    spans = tuple(span for span in sentence.spans if span.type in names)
    return replace(sentence, spans=spans, judged=frozenset(names))


def without(sentence, names):
    """Return a sentence that was judged for all types, but the words of types that are not among these are unknown."""
    unknown = {i for span in sentence.spans if span.type not in names for i in range(span.start, span.end)}
    either = Allowed(frozenset({"O"} | sentence.judged - names))
    allowed = tuple(either if i in unknown else None for i in range(len(sentence.words)))
    spans = tuple(span for span in sentence.spans if span.type in names)
    return replace(sentence, spans=spans, allowed=allowed if unknown else None)


def read_target(target):
    if target.is_file():
        corpus = read(target)
        return corpus[::2], corpus[1::2], corpus.types
    pool, test = read(target / "dev.txt"), read(target / "test.txt")
    described = read_types(target / "types.txt") if (target / "types.txt").is_file() else types_of(types_in(pool))
    return first_words(pool), first_words(test), described


def first_words(corpus):
    n = np.searchsorted(np.cumsum([len(sentence.words) for sentence in corpus]), MOST_WORDS)
    return list(corpus[:n])


if __name__ == "__main__":
    main()
