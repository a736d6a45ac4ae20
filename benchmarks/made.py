"""Made text, made labels and a very small encoder: for trials that are about files, processes and memory, not words."""

import random
from pathlib import Path

SYLLABLES = ["ka", "to", "mi", "re", "su", "no", "la", "vi"]
ENDINGS = {"PER": ["son", "sen"], "LOC": ["burg", "ville"]}
PLAIN = ["the", "sees", "near", "and", "walks", "by", "today", "."]
SPECIAL = ["[PAD]", "[CLS]", "[SEP]", "[UNK]"]


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
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers, processors

    endings = [ending for each in ENDINGS.values() for ending in each]
    pieces = [*PLAIN, *SYLLABLES, *(f"##{piece}" for piece in [*SYLLABLES, *endings])]
    vocabulary = {piece: i for i, piece in enumerate([*SPECIAL, *pieces])}
    tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 2), ("[CLS]", 1))
    names = dict(zip(("pad_token", "cls_token", "sep_token", "unk_token"), SPECIAL, strict=True))
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, model_max_length=64, **names)
    config = transformers.BertConfig(
        vocab_size=len(vocabulary),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        max_position_embeddings=64,
        pad_token_id=0,
    )
    torch.manual_seed(0)
    transformers.BertModel(config).save_pretrained(folder)
    fast.save_pretrained(folder)
    return folder


def make_encoder(folder, network=None):
    """Write the same as an encoder that handful runs by itself; return the folder."""
    from handful.encoders import export_encoder

    folder = Path(folder)
    if network is None:
        network = make_network(folder.with_name(f"{folder.name}.network"))
    export_encoder(network, folder)
    return folder
