"""Count what the data sheet of mosaic states (docs/model_card.md).

python tools/mosaic_facts.py
"""

from collections import Counter
from pathlib import Path
from statistics import median

from handful.text import read

FOLDER = Path(__file__).parents[1] / "corpora" / "mosaic"
WORDS = ("he", "she", "they", "£", "$", "€", "colour", "color")


def is_foreign(text: str) -> bool:
    """Tell whether a text has a letter that English keyboards lack."""
    return any(letter.isalpha() and not letter.isascii() for letter in text)


def facts(part: str) -> dict[str, str]:
    """Return figures of a part, by what they are."""
    corpora = [read(file) for file in sorted((FOLDER / part).glob("*.txt"))]
    sentences = [sentence for corpus in corpora for sentence in corpus]
    words = Counter(word.lower() for sentence in sentences for word in sentence.words)
    texts = [" ".join(sentence.words) for sentence in sentences]
    sizes = [len(corpus) for corpus in corpora]
    types = [len(corpus.types) for corpus in corpora]
    counts = [Counter(span.type for one in corpus for span in one.spans or ()) for corpus in corpora]
    mentions = [n[one.name] for corpus, n in zip(corpora, counts, strict=True) for one in corpus.types]
    return {
        "sentences in a file": f"{min(sizes)} to {max(sizes)}, median {median(sizes):g}",
        "files with fewer than sixty sentences": f"{sum(size < 60 for size in sizes)} of {len(sizes)}",
        "types in a file": f"{min(types)} to {max(types)}, median {median(types):g}",
        "types with fewer than eight mentions": f"{sum(n < 8 for n in mentions)} of {len(mentions):,}",
        "words in a sentence": f"median {median(len(sentence.words) for sentence in sentences):g}",
        "sentences without a mention": f"{sum(not sentence.spans for sentence in sentences) / len(sentences):.1%}",
        "sentences with a letter outside ASCII": f"{sum(map(is_foreign, texts)) / len(texts):.1%}",
        "sentences that stand twice or more": f"{len(texts) - len(set(texts)):,}",
        **{f"the word {word}": f"{words[word]:,}" for word in WORDS},
    }


def main() -> None:
    """Print a table."""
    train, dev = facts("train"), facts("dev")
    print("| | train | dev |\n|---|---|---|")
    for name, value in train.items():
        print(f"| {name} | {value} | {dev[name]} |")


if __name__ == "__main__":
    main()
