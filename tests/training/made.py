"""What the tests of training make for themselves."""

import json

import tiny

SYLLABLES = ["ka", "to", "mi", "re", "su", "no", "la", "vi"]
ENDINGS = {"PER": ["son", "sen"], "LOC": ["burg", "ville"], "GENE": ["ase", "ine"], "DRUG": ["ol", "cin"]}
PLAIN = ["the", "sees", "near", "and", "walks", "by", "today", "."]
TYPES = ["person", "location", "gene", "drug", ":", "who", "where", "which", "what"]  # words in the texts of types
# Endings of words in corpora that are made by `write_marked`.
MARKS = [a + b for a in "bdfgk" for b in ("ax", "ex", "ix", "ox", "ux")]


def make_corpus(rng, n_sentences, types):
    """Sentences as lists of (word, tag); every name is new, its ending tells its type."""
    sentences = []
    for _ in range(n_sentences):
        sentence = []
        for _ in range(rng.randint(1, 3)):
            sentence += [(rng.choice(PLAIN), "O") for _ in range(rng.randint(1, 3))]
            label = rng.choice(types)
            for i in range(rng.randint(1, 2)):
                stem = "".join(rng.choice(SYLLABLES) for _ in range(2))
                sentence.append((stem + rng.choice(ENDINGS[label]), ("I-" if i else "B-") + label))
        sentences.append([*sentence, (".", "O")])
    return sentences


def write_marked(path, rng, marks, n_sentences=40, n_types=2):
    """Write a small corpus of types T0, T1...: an ending of words, which the description shows.

    Other words with endings of `marks` are O: only who reads the descriptions knows which ones are asked for.
    """
    asked = rng.sample(marks, n_types)
    lines = [f"# T{i}: {rng.choice(SYLLABLES)}{mark}" for i, mark in enumerate(asked)]
    for _ in range(n_sentences):
        words = []
        for _ in range(rng.randint(2, 4)):
            mark = rng.choice(asked) if rng.random() < 0.6 else rng.choice(marks)
            word = rng.choice(SYLLABLES) + mark
            words += [rng.choice(PLAIN[:7]), f"[{word}](T{asked.index(mark)})" if mark in asked else word]
        lines += ["", " ".join(words)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_conll(path, sentences):
    blocks = ["\n".join(f"{word}\t{tag}" for word, tag in sentence) for sentence in sentences]
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8")
    return str(path)


def make_encoder(folder, kind, **sizes):
    """Write a random encoder that knows the parts of the words above."""
    endings = [ending for each in ENDINGS.values() for ending in each]
    pieces = [*PLAIN, *TYPES, *SYLLABLES, *("##" + piece for piece in dict.fromkeys([*SYLLABLES, *endings, *MARKS]))]
    return tiny.make_encoder(folder, pieces, kind, **sizes)


def card_of(folder):
    return json.loads((folder / "handful.json").read_text(encoding="utf-8"))
