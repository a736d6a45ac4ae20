"""F1 in many languages: by names, with text, with one and five labels of each type; coverage, speed and calibration.

    python benchmarks/languages.py ENCODER [PATH ...] [--only names,english,text,1,5,coverage] [--most 500]

A PATH is a small corpus (NAME.txt, whose head describes its types; NAME.en.types beside it describes them in English),
a folder of these, or a folder with types.txt and dev.txt or test.txt (with --test, test.txt). The default is
corpora/mosaic_languages/dev. The table is in Markdown, with a row for each corpus, and the means by language and of
all. F1 is strict.

names: the types alone, described as the corpus does. english: described in English. text: names, and the scored
sentences without their labels. 1, 5: text, and a support with so many mentions of each type (or all there are), as a
mean over --supports; it comes from train.txt if there is one, or else from every other sentence, and the rest is
scored. of bytes: the share of words with letters that the vocabulary can only spell by bytes, in part at least. pieces:
sub-words of a word. words/s: of encoding, on --threads. calibration: the mean score of all mentions found, the share of
them that are right, and the expected calibration error in ten bins.
"""

import argparse
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
from tokenizers import Tokenizer

from handful import Tagger
from handful.encoders import CachedEncoder, load
from handful.encoders.cache import FeatureCache
from handful.encoders.shipped import folder_of
from handful.encoders.tokenizer import BYTE
from handful.evaluate import sample_support
from handful.text import read, read_types

DEV = Path(__file__).parents[1] / "corpora/mosaic_languages/dev"
F1 = ("names", "english", "text", "1", "5")
COVERAGE = ("of bytes", "pieces", "words/s")


def corpora(paths, split):
    """Yield name, sentences, sentences to take labels from, types, and types described in English if they are not."""
    for path in paths:
        if (path / "types.txt").is_file():
            splits = [path / f"{one}.txt" for one in ([split] if split else ["dev", "test"])]
            found = next((one for one in splits if one.is_file()), None)
            if found is None:
                raise SystemExit(f"{path}: has no {' and no '.join(one.name for one in splits)}")
            train = path / "train.txt"
            labelled = list(read(train)) if train.is_file() else []
            yield path.name, list(read(found)), labelled, read_types(path / "types.txt"), None
            continue
        for file in sorted(path.glob("*.txt")) if path.is_dir() else [path]:
            content = read(file)
            english = file.with_suffix(".en.types")
            yield file.stem, list(content), [], content.types, read_types(english) if english.is_file() else None


def evenly(sentences, most):
    """Return at most so many sentences, from all parts of a file."""
    n = len(sentences)
    return [sentences[i * n // most] for i in range(most)] if n > most else sentences


def bare(sentences):
    return [replace(sentence, spans=None) for sentence in sentences]


class Measure:
    """Measures corpora with an encoder, and keeps the scores of all mentions that it finds."""

    def __init__(self, encoder, how, n_supports):
        self.encoder, self.how, self.n_supports = encoder, how, n_supports
        self.scores = defaultdict(list)  # by how: the score of a mention that was found, and whether it is right

    def f1(self, how, types, sentences, **fit):
        """Return the strict F1 of a fit."""
        tagger = Tagger(types, encoder=self.encoder, cache=False).fit(**fit)
        n_found = n_right = 0
        for gold, found in zip(sentences, tagger.predict_sentences(bare(sentences)), strict=True):
            right = {(one.start, one.end, one.type) for one in gold.spans}
            are_right = [(one.start, one.end, one.type) in right for one in found.spans]
            self.scores[how] += [(one.score, is_right) for one, is_right in zip(found.spans, are_right, strict=True)]
            n_found += len(are_right)
            n_right += sum(are_right)
        n_gold = sum(len(one.spans) for one in sentences)
        return 200 * n_right / max(1, n_found + n_gold)

    def corpus(self, sentences, labelled, types, english):
        """Return the figures of a corpus by name."""
        found = {}
        text = {"unlabelled": bare(sentences)}
        if "coverage" in self.how:
            found |= self.coverage(sentences)
        if "names" in self.how:
            found["names"] = self.f1("names", types, sentences)
        if "english" in self.how and english is not None:
            found["english"] = self.f1("english", english, sentences)
        if "text" in self.how:
            found["text"] = self.f1("text", types, sentences, **text)
        given, scored = (labelled, sentences) if labelled else (sentences[::2], sentences[1::2])
        for shots in (one for one in self.how if one.isdigit()):
            supports = [sample_support(given, int(shots), seed, fewer=True)[0] for seed in range(self.n_supports)]
            text = {"unlabelled": bare(scored)}
            runs = [self.f1(shots, types, scored, support=support, **text) for support in supports]
            found[shots] = float(np.mean(runs))
        return found

    def coverage(self, sentences):
        """Return how words are spelled, and words per second."""
        network = self.encoder.encoder
        start = time.perf_counter()
        n = len(self.encoder.encode(sentences, progress=False))
        found = {"words/s": n / (time.perf_counter() - start)}
        split = network.tokenizer
        tokenizer = Tokenizer.from_file(str((folder_of(network.name) or Path(network.name)) / "tokenizer.json"))
        spelled = {tokenizer.token_to_id(BYTE % byte) for byte in range(256)} | {split.unknown_id}
        pieces = [
            ids
            for sentence in sentences
            for word, ids in zip(sentence.words, split(sentence.words), strict=True)
            if any(map(str.isalpha, word))
        ]
        found["of bytes"] = 100 * np.mean([not spelled.isdisjoint(ids) for ids in pieces])
        return found | {"pieces": np.mean([len(ids) for ids in pieces])}

    def calibration(self, how):
        """Return the mean score, the share that is right, and the expected calibration error."""
        scores, are_right = np.array(self.scores[how], float).T
        bins = np.minimum((scores * 10).astype(int), 9)
        gaps = [abs((scores - are_right)[bins == i].sum()) for i in range(10)]
        return scores.mean(), are_right.mean(), sum(gaps) / len(scores)


def row(name, found, columns):
    style = {"pieces": "{:.2f}", "words/s": "{:,.0f}", "sentences": "{:,.0f}"}
    cells = [style.get(one, "{:.1f}").format(found[one]) if one in found else "" for one in columns]
    print(f"| {name} | {' | '.join(cells)} |", flush=True)


def mean(rows):
    names = dict.fromkeys(name for one in rows for name in one if name != "sentences")
    means = {name: float(np.mean([one[name] for one in rows if name in one])) for name in names}
    return means | {"sentences": sum(one["sentences"] for one in rows)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("encoder", metavar="ENCODER")
    parser.add_argument("paths", metavar="PATH", nargs="*", type=Path, default=[DEV])
    parser.add_argument("--only", default=",".join((*F1, "coverage")), help="columns, with commas")
    parser.add_argument("--supports", type=int, default=3)
    parser.add_argument("--most", type=int, default=500, help="sentences of a corpus, from all its parts; 500")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--test", action="store_true", help="score on test.txt, not on dev.txt")
    args = parser.parse_args()
    how = args.only.split(",")
    if strange := [one for one in how if one not in (*F1, "coverage") and not one.isdigit()]:
        raise SystemExit(f"--only {strange[0]}: choose from {', '.join((*F1, 'coverage'))}, and numbers of labels")
    columns = ["sentences", *(one for one in how if one != "coverage")]
    columns += COVERAGE if "coverage" in how else ()
    by_language = defaultdict(list)
    with tempfile.TemporaryDirectory() as place:
        encoder = CachedEncoder(load(args.encoder, threads=args.threads), FeatureCache(place))
        measure = Measure(encoder, how, args.supports)
        print(f"| corpus | {' | '.join(columns)} |\n|---|{'--:|' * len(columns)}")
        for name, sentences, labelled, *types in corpora(args.paths, "test" if args.test else None):
            scored = evenly(sentences, args.most)
            found = {"sentences": len(scored)} | measure.corpus(scored, labelled, *types)
            row(name, found, columns)
            by_language[name[:2]].append(found)
    for language, rows in sorted(by_language.items()):
        if len(rows) > 1:
            row(f"{language}, mean of {len(rows)}", mean(rows), columns)
    every = [one for rows in by_language.values() for one in rows]
    row(f"all, mean of {len(every)}", mean(every), columns)
    if measure.scores:
        print("\n| calibration | mentions found | mean score | right | expected error |\n|---|--:|--:|--:|--:|")
        for one in measure.scores:
            score, right, error = measure.calibration(one)
            print(f"| {one} | {len(measure.scores[one]):,} | {score:.3f} | {right:.3f} | {error:.3f} |")


if __name__ == "__main__":
    main()
