"""Words and sentences of 32 languages, measured on mosaic_languages, whose marks are by characters; and the speed.

    python benchmarks/language_words.py [--show borders|sentences] [LANGUAGE ...]

borders: the share of marked mentions that start where a word starts and end where a word ends.
ends: of the lines that end with a mark of punctuation, the share that is cut off from the next one when all lines of a
file are joined (with a space, in Chinese, Japanese and Thai with nothing).
inside: cuts within lines, for 100 lines. A line may have more than one sentence, so they are not all wrong; --show
sentences prints them.
The last line has digests of the words and of the sentences of English text (mosaic, garden, docs), which tell whether a
change of the rules changed any of them, and words per second.
"""

import argparse
import hashlib
from collections import defaultdict
from pathlib import Path

from measure import best_time

from handful.text import to_sentences
from handful.text._markup import parse_marks
from handful.text._words import word_offsets

ROOT = Path(__file__).parents[1]
UNSPACED = ("ja", "th", "zh")
FINAL = ".!?…。！？؟۔।"
CLOSERS = "\"'”’»)」』）"


def lines_of(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("# "):
            yield parse_marks(line)


def borders(lines, show):
    n_right = n_all = 0
    for text, marks in lines:
        offsets = word_offsets(text)
        starts, ends = {start for start, _ in offsets}, {end for _, end in offsets}
        for start, end, *_ in marks:
            n_all += 1
            is_right = start in starts and end in ends
            n_right += is_right
            if show and not is_right:
                around = [text[a:b] for a, b in offsets if a < end and b > start]
                print(f"{text[max(0, start - 15) : start]}[{text[start:end]}]{text[end : end + 10]}  {around}")
    return n_right, n_all


def sentences(lines, glue, show):
    joined, places = "", []
    for text, _ in lines:
        places.append(len(joined))
        joined += text + glue
    cuts = {sentence.offset for sentence in to_sentences(joined)} - {0}
    wanted = {
        place for place, (text, _) in zip(places[1:], lines, strict=False) if text.rstrip(CLOSERS)[-1:] in tuple(FINAL)
    }
    inside = cuts - set(places)
    if show:
        for place in sorted(inside):
            print(f"  in: {joined[max(0, place - 40) : place]}|{joined[place : place + 25]}")
        for place in sorted(wanted - cuts):
            print(f"  no: {joined[max(0, place - 40) : place]}|{joined[place : place + 25]}")
    return len(wanted & cuts), len(wanted), len(inside), len(lines)


def english():
    """Return the lines of mosaic and the garden notes, and the pages of the docs."""
    files = sorted((ROOT / "corpora" / "mosaic").rglob("*.txt"))
    files += sorted((ROOT / "src" / "handful" / "examples").glob("*.txt"))
    texts = [text for path in files for text, _ in lines_of(path)]
    return texts + [path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md"))]


def digest(words):
    return hashlib.sha256("\x1f".join(words).encode()).hexdigest()[:16]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("languages", nargs="*")
    parser.add_argument("--show", choices=("borders", "sentences"))
    options = parser.parse_args()
    files = defaultdict(list)
    for path in sorted((ROOT / "corpora" / "mosaic_languages").glob("*/*.txt")):
        files[path.name[:2]].append(list(lines_of(path)))
    print("language  mentions  borders   ends  inside  words/s")
    for language, corpora in sorted(files.items()):
        if options.languages and language not in options.languages:
            continue
        glue = "" if language in UNSPACED else " "
        found = [borders(lines, options.show == "borders") for lines in corpora]
        right, n = map(sum, zip(*found, strict=True))
        found = [sentences(lines, glue, options.show == "sentences") for lines in corpora]
        ends, n_ends, inside, n_lines = map(sum, zip(*found, strict=True))
        text = "\n".join(text for lines in corpora for text, _ in lines)
        speed = len(word_offsets(text)) / best_time(lambda text=text: to_sentences(text))
        share = f"{100 * ends / n_ends:6.1f}" if n_ends else "     -"
        print(
            f"{language:8}  {n:8}  {100 * right / n:7.2f} {share}  {100 * inside / n_lines:6.1f}  {speed:7,.0f}",
            flush=True,
        )
    texts = english()
    words = [text[start:end] for text in texts for start, end in word_offsets(text)]
    ends = [str(len(sentence.words)) for text in texts for sentence in to_sentences(text)]
    speed = len(words) / best_time(lambda: [to_sentences(text) for text in texts], 7)
    print(f"English: words {digest(words)}, sentences {digest(ends)}, {len(ends):,} of them; {speed:,.0f} words/s")


if __name__ == "__main__":
    main()
