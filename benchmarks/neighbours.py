"""Mentions of one type side by side: how many of them are kept apart, and what that costs where there are none.

    python benchmarks/neighbours.py corpora/mosaic_neighbours/dev corpora/mosaic/dev [DATA ...] [--text] [--labels N]

A PATH is a folder of small corpora, whose heads describe their types, or a folder with dev.txt and types.txt. A
tagger with no label, or with some of each type, from every other sentence, finds mentions, once as it does, and once
with one tag a word, as if it knew nothing of neighbours. With --text, the sentences that it reads are its unlabelled
text, too. A pair is two mentions of one type with nothing between them. It is kept apart where a mention that was found
ends, or another begins, where the second of them begins, both of words of theirs. F1 is strict.
"""

import argparse
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np

from handful import Tagger
from handful.encoders import load
from handful.evaluate import sample_support, score
from handful.text import read, read_types


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", metavar="PATH", nargs="+", type=Path)
    parser.add_argument("--encoder", default="handful-en")
    parser.add_argument("--text", action="store_true", help="fit on the text, too")
    parser.add_argument("--labels", type=int, default=0, help="of each type")
    parser.add_argument("--sentences", type=int, help="at most so many of a corpus are scored")
    options = parser.parse_args()
    encoder = load(options.encoder)
    print("| | pairs | kept apart | of those found | F1 | F1, one tag a word |\n|---|---|---|---|---|---|")
    for path in options.paths:
        rows = [measured(encoder, *one, options) for one in corpora(path)]
        n, kept, found = np.sum([row[:3] for row in rows], axis=0)
        f1 = np.mean([row[3:] for row in rows], axis=0)
        shares = " | ".join(f"{100 * kept / total:.1f}" if total else "-" for total in (n, found))
        name = f"{path.parent.name}/{path.name}" if path.name == "dev" else path.name
        print(f"| {name} | {n} | {shares} | {f1[0]:.1f} | {f1[1]:.1f} |")


def corpora(path):
    """Yield sentences and types of each corpus of a path."""
    if (path / "types.txt").is_file():
        yield list(read(path / "dev.txt")), read_types(path / "types.txt")
        return
    for file in sorted(path.glob("*.txt")):
        content = read(file)
        yield list(content), content.types


def measured(encoder, sentences, types, options):
    """Return pairs, those kept apart, those of which both mentions were found somehow, and F1 with and without."""
    support = []
    if options.labels:
        support, sentences = sample_support(sentences[::2], options.labels, 0, fewer=True)[0], sentences[1::2]
    sentences = sentences[: options.sentences]
    text = [one.without_labels() for one in sentences]
    tagger = Tagger(types, encoder=encoder).fit(support, text if options.text else None)
    said = tagger.predict_sentences(text)
    merged = [replace(one, spans=tuple(joined(one.spans))) for one in said]
    n = kept = found = 0
    for one, other in zip(sentences, said, strict=True):
        inside = {i: span for span in other.spans for i in range(span.start, span.end)}
        for a, b in pairwise(one.spans):
            if a.end == b.start and a.type == b.type:
                n += 1
                last, first = inside.get(a.end - 1), inside.get(b.start)
                if last and first and last.type == first.type == a.type:
                    found += 1
                    kept += first.start == b.start
    return n, kept, found, *(100 * score(sentences, some).micro.f1 for some in (said, merged))


def joined(spans):
    """Yield mentions, of which those of one type side by side are one."""
    before = None
    for span in spans:
        if before and before.end == span.start and before.type == span.type:
            before = replace(before, end=span.end)
            continue
        if before:
            yield before
        before = span
    if before:
        yield before


if __name__ == "__main__":
    main()
