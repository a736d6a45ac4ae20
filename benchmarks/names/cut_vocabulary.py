"""Cut the vocabulary of a SentencePiece encoder for many languages before it is trained; handful-xx began in this way.

    python benchmarks/names/cut_vocabulary.py BASE OUT CORPUS ... --pieces 140000 [--words sw=FILE]

Sub-words are chosen as `vocabulary.py` says, but not only by what the corpora use: small ones have few of the words of
a language. The word lists of wordfreq count, too (`pip install
wordfreq`; it has most languages of handful-xx), each as a language of its own, and so do files with a word and its
count, or a word alone, on each line. These lists are counted and not kept. A table says for each language of the
corpora how many sub-words a word has before and after, and how many words are spelled with more sub-words than before.
"""

import argparse
from collections import defaultdict
from pathlib import Path

from vocabulary import cut_encoder, uses_in, uses_of

from handful.encoders.hugging_face import word_tokenizer
from handful.text.languages import NAMES, guess_language
from handful.training.corpora import read_corpora
from handful.training.model import read_base

MOST = 60_000  # words of a list


def listed(language):
    """Return the words of a language that wordfreq knows, with their shares; none if it does not know the language."""
    from wordfreq import available_languages, get_frequency_dict

    if language not in available_languages():
        return []
    words = get_frequency_dict(language, wordlist="best")
    return sorted(words.items(), key=lambda one: -one[1])[:MOST]


def counted(path):
    """Return the words of a file with their counts."""
    lines = (line.rstrip("\n").split("\t") for line in path.open(encoding="utf-8"))
    return [(parts[0], float(parts[1]) if len(parts) > 1 else 1.0) for parts in lines if parts[0].strip()][:MOST]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("base")
    parser.add_argument("out", type=Path)
    parser.add_argument("corpora", nargs="+")
    parser.add_argument("--types")
    parser.add_argument("--pieces", type=int, default=140_000)
    parser.add_argument("--words", action="append", default=[], metavar="LANGUAGE=FILE")
    given = parser.parse_args()
    sources = read_corpora(given.corpora, types=given.types)
    model, tokenizer, _ = read_base(given.base)
    lists = {language: listed(language) for language in NAMES}
    lists |= {language: counted(Path(path)) for language, path in (one.split("=", 1) for one in given.words)}
    print("without a list:", " ".join(language for language, words in lists.items() if not words) or "none")
    uses = uses_in(tokenizer, sources)
    first = {language: ["、"] if language in ("ja", "th", "zh") else [] for language in lists}  # then no space follows
    of_lists = uses_of(
        tokenizer, {one: [([*first[one], word], n) for word, n in words] for one, words in lists.items()}
    )
    uses = {piece: max(uses.get(piece, 0.0), of_lists.get(piece, 0.0)) for piece in uses.keys() | of_lists.keys()}
    before = {}
    texts = defaultdict(list)
    for corpus in sources:
        texts[guess_language(corpus.train) or ""] += [word for sentence in corpus.train for word in sentence.words]
    split = word_tokenizer(tokenizer)
    for language, words in texts.items():
        before[language] = [len(pieces) for pieces in split(words)]
    print(f"{len(uses):,} of {len(tokenizer):,} sub-words are used")
    cut_encoder(model, tokenizer, uses, given.pieces)
    model.config.vocab_size = model.get_input_embeddings().num_embeddings
    model.save_pretrained(given.out)
    tokenizer.save_pretrained(given.out)
    split = word_tokenizer(tokenizer)
    print("| language | words | sub-words a word, before | after | words with more |\n|---|--:|--:|--:|--:|")
    for language in sorted(texts):
        after = [len(pieces) for pieces in split(texts[language])]
        n, more = len(after), sum(b > a for a, b in zip(before[language], after, strict=True))
        row = f"{sum(before[language]) / n:.2f} | {sum(after) / n:.2f} | {100 * more / n:.1f} %"
        print(f"| {language or 'not told'} | {n:,} | {row} |")


if __name__ == "__main__":
    main()
