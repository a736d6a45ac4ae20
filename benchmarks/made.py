"""Made text, made labels and a very small encoder: for trials that are about files, processes and memory, not words."""

import random
import sys
from pathlib import Path

SYLLABLES = ["ka", "to", "mi", "re", "su", "no", "la", "vi"]
ENDINGS = {"PER": ["son", "sen"], "LOC": ["burg", "ville"]}
PLAIN = ["the", "sees", "near", "and", "walks", "by", "today", "."]


def sentences(n, seed=0):
    """Yield n sentences as lists of (word, type or None); the ending of a name tells its type."""
    rng = random.Random(seed)
    for _ in range(n):
        words = []
        for _ in range(rng.randint(1, 3)):
            words += [(rng.choice(PLAIN[:7]), None) for _ in range(rng.randint(1, 3))]
            kind = rng.choice(list(ENDINGS))
            stem = "".join(rng.choice(SYLLABLES) for _ in range(rng.randint(1, 3)))
            words.append((stem + rng.choice(ENDINGS[kind]), kind))
        yield [*words, (".", None)]


def line(sentence, *, labelled=False):
    """Return a sentence as text, with its labels if asked."""
    return " ".join(f"[{word}]({kind})" if labelled and kind else word for word, kind in sentence)


def write_texts(folder, n, n_labelled=12):
    """Write text.txt, n lines of text, and few.txt, some labelled sentences."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = "".join(line(one) + "\n" for one in sentences(n))
    (folder / "text.txt").write_text(texts, encoding="utf-8")
    few = "".join(line(one, labelled=True) + "\n" for one in sentences(n_labelled, seed=1))
    (folder / "few.txt").write_text(few, encoding="utf-8")


def make_network(folder):
    """Write an encoder of a few thousand random weights, in the Hugging Face layout."""
    sys.path.append(str(Path(__file__).parents[1] / "tests"))
    import tiny

    endings = [ending for each in ENDINGS.values() for ending in each]
    tiny.make_encoder(folder, [*PLAIN, *SYLLABLES, *(f"##{piece}" for piece in [*SYLLABLES, *endings])])
    return folder


def make_encoder(folder, network=None):
    """Write the same as an encoder that handful runs by itself; return the folder."""
    from handful.encoders import export_encoder

    folder = Path(folder)
    if network is None:
        network = make_network(folder.with_name(f"{folder.name}.network"))
    export_encoder(network, folder)
    return folder
