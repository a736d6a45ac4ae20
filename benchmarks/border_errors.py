"""Mentions that are found with wrong borders, by kind, with no label and with a few.

    OMP_NUM_THREADS=1 python benchmarks/border_errors.py corpora/mosaic/dev/*.txt DATA/wnut17 DATA/ncbi_disease

Corpora are cut in two as in benchmarks/name_weights.py, with at most 6,000 words in a half; no text. A mention that is
found has wrong borders if it overlaps a labelled one of its type, and is none. Each is of the first kind that fits.
"""

import argparse
from collections import Counter
from pathlib import Path
from typing import Any

import name_weights
from name_weights import task_of

from handful import Tagger, encoders
from handful.encoders import CachedEncoder
from handful.evaluate import sample_support
from handful.text import Sentence, Span

SHOTS, MOST = (0, 1, 5), 6_000
ARTICLES = {"the", "a", "an"}
TITLES = {
    "mr", "mrs", "ms", "miss", "dr", "prof", "professor", "sir", "captain", "capt", "king", "queen", "lord",
    "lady", "president", "minister", "st", "sgt", "col", "gen", "rev", "coach", "aunt", "uncle",
}  # fmt: skip
FUNCTION_WORDS = {
    "the", "a", "an", "of", "in", "on", "at", "to", "for", "from", "by", "with", "and", "or", "as", "that",
    "is", "was", "his", "her", "its", "their", "my", "our", "your", "this", "these", "than", "but", "near",
}  # fmt: skip


def kind_of(words: list[str], found: Span, gold: Span) -> str:
    """Return the kind of a wrong border."""
    small = [word.lower().rstrip(".") for word in words]
    more = [*range(found.start, gold.start), *range(gold.end, found.end)]
    less = [*range(gold.start, found.start), *range(found.end, gold.end)]
    beside = {small[i] for i in more + less}
    if found.end != gold.end and small[found.end - 1] in FUNCTION_WORDS:
        return "ends in a function word"
    if found.start != gold.start and small[found.start] in FUNCTION_WORDS - ARTICLES:
        return "begins with a function word"
    if beside <= ARTICLES:
        return "article"
    if beside <= TITLES:
        return "title"
    if any(any(letter.isdigit() for letter in word) for word in beside):
        return "number or its unit"
    if not any(letter.isalnum() for word in beside for letter in word):
        return "a sign, such as a bracket"
    if less and not more and all(words[i][:1].isupper() for i in range(gold.start, gold.end)):
        return "a name is broken off"
    if more and not less:
        return "too long"
    return "too short" if less and not more else "shifted"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", nargs="+", help="inline files, or folders with dev.txt, train.txt and types.txt")
    parser.add_argument("--encoder", default="handful-en")
    given = parser.parse_args()
    encoder: Any = CachedEncoder(encoders.load(given.encoder))
    name_weights.MOST = MOST
    kinds: dict[int, Counter[str]] = {shots: Counter() for shots in SHOTS}
    for place in map(Path, given.corpora):
        task = task_of(place)
        for shots in SHOTS:
            support = sample_support(task.pool, shots, 0, sets=1, fewer=True)[0] if shots else None
            tagger = Tagger(task.types, encoder=encoder, cache=False).fit(support, progress=False)
            for gold, found in zip(task.scored, tagger.predict_sentences(task.scored, progress=False), strict=True):
                kinds[shots].update(errors_of(gold, found))
    print(f"{'labels of each type':32}" + "".join(f"{shots:7}" for shots in SHOTS))
    for kind, _ in sum(kinds.values(), Counter()).most_common():
        print(f"{kind:32}" + "".join(f"{kinds[shots][kind]:7}" for shots in SHOTS))


def errors_of(gold: Sentence, found: Sentence) -> list[str]:
    """Return the kinds of a sentence's mentions that are found, a wrong border among them."""
    kinds = []
    for span in found.spans or ():
        same = [one for one in gold.spans or () if one.type == span.type]
        over = [one for one in same if one.start < span.end and span.start < one.end]
        if any((one.start, one.end) == (span.start, span.end) for one in same):
            kinds.append("(right)")
        elif over:
            kinds += ["(wrong border)", kind_of(list(gold.words), span, over[0])]
        else:
            kinds.append("(no such mention)")
    return kinds


if __name__ == "__main__":
    main()
