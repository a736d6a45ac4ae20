"""Cut the vocabulary of a SentencePiece (Unigram) encoder to the sub-words that its languages use.

Most weights of a small encoder for many languages are embeddings of sub-words that its texts never have. A sub-word is
worth keeping if it is frequent in *one* of the languages::

    use(piece) = max over languages of (occurrences of the piece in the language / of all pieces in the language)

Single characters are all kept, whatever their use, so that every word can still be spelled; the words of dropped
sub-words are split into smaller ones by the same scores. Characters that the vocabulary never had become their bytes in
UTF-8, 256 new sub-words, instead of an unknown.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

from handful.encoders.hugging_face import word_tokenizer
from handful.encoders.names import readable
from handful.encoders.tokenizer import BYTE
from handful.errors import DataError, EncoderError
from handful.text import to_sentence
from handful.text.languages import guess_language
from handful.training.corpora import SourceCorpus

_NEVER = -1000.0  # score of a byte: it is not found by the way it is written


def cut_vocabulary(tokenizer: Any, uses: Mapping[int, float], n_pieces: int) -> tuple[list[int], str]:
    """Choose the `n_pieces` sub-words to keep, special ones and bytes included; fewer if no more are used.

    `uses` has the use of each sub-word, see `uses_of`. Return the rows of the table of embeddings that are kept, in
    order, before 256 new ones; and the tokenizer in JSON.
    """
    settings = json.loads(tokenizer.backend_tokenizer.to_str()) if tokenizer.is_fast else {"model": {}}
    model = settings["model"]
    if model.get("type") != "Unigram" or model.get("byte_fallback"):
        raise EncoderError("only the vocabulary of a SentencePiece (Unigram) tokenizer without bytes can be cut")
    pieces: list[list[Any]] = model["vocab"]
    special = {token["id"] for token in settings["added_tokens"]} | {model["unk_id"]}
    kept = {i for i, (piece, _) in enumerate(pieces) if len(piece) == 1} | special
    if n_pieces < len(kept) + 256:
        raise DataError(
            f"vocabulary is {n_pieces}, expected {len(kept) + 256} or more: all single characters, {len(special)} "
            "special sub-words and 256 bytes are kept"
        )
    # Equal uses: the sub-word that the base finds likelier.
    by_use = sorted(uses.keys() - kept, key=lambda i: (-uses[i], -pieces[i][1], i))
    kept |= set(by_use[: n_pieces - 256 - len(kept)])
    rows = sorted(kept)
    new = {old: i for i, old in enumerate(rows)}
    model["vocab"] = [pieces[i] for i in rows] + [[BYTE % byte, _NEVER] for byte in range(256)]
    model["unk_id"], model["byte_fallback"] = new[model["unk_id"]], True
    for token in settings["added_tokens"]:
        token["id"] = new[token["id"]]
    _renumber(settings.get("post_processor"), new)
    return rows, json.dumps(settings, ensure_ascii=False)


def uses_of(tokenizer: Any, texts: Mapping[str, Iterable[tuple[Sequence[str], float]]]) -> dict[int, float]:
    """Return for each sub-word its share among those of a language, the largest over all languages.

    `texts` has for each language its texts, each as a list of words and how often it occurs.
    """
    split = word_tokenizer(tokenizer)
    uses: dict[int, float] = {}
    for of_language in texts.values():
        own: dict[int, float] = defaultdict(float)
        for words, n in of_language:
            for i in chain.from_iterable(split(words)):
                own[i] += n
        total = sum(own.values())
        for i, n in own.items():
            uses[i] = max(uses.get(i, 0.0), n / total)
    return uses


def uses_in(tokenizer: Any, corpora: Iterable[SourceCorpus]) -> dict[int, float]:
    """Return the uses of sub-words in what corpora are trained on: sentences, and the texts of their types.

    Their language is guessed; those of which it cannot be told are one more.
    """
    texts: dict[str, list[tuple[Sequence[str], float]]] = defaultdict(list)
    for corpus in corpora:
        if corpus.train:
            of_types = [
                to_sentence(f"{corpus.called.get(one.name) or readable(one.name)}: {one.description}")
                for one in corpus.types
            ]
            for sentences in (corpus.train, of_types):
                texts[guess_language(sentences) or ""] += [(sentence.words, 1.0) for sentence in sentences]
    return uses_of(tokenizer, texts)


def _renumber(setting: Any, new: Mapping[int, int]) -> None:
    """Change the ids of special tokens wherever a post-processor has them."""
    if isinstance(setting, list):
        for each in setting:
            _renumber(each, new)
    elif isinstance(setting, dict):
        for key, value in setting.items():
            if key == "ids":
                setting[key] = [new[i] for i in value]
            else:
                _renumber(value, new)


def cut_encoder(model: Any, tokenizer: Any, uses: Mapping[int, float], n_pieces: int) -> None:
    """Cut the vocabulary of a model and of its tokenizer, in place; bytes start near the mean of what is kept."""
    import torch
    from tokenizers import Tokenizer

    kept, settings = cut_vocabulary(tokenizer, uses, n_pieces)
    tokenizer._tokenizer = Tokenizer.from_str(settings)
    old = model.get_input_embeddings()
    with torch.no_grad():
        rows = old.weight[torch.tensor(kept)]
        noise = torch.randn(256, rows.shape[1], generator=torch.Generator().manual_seed(0))
        table = torch.cat((rows, rows.mean(0) + noise * rows.std(0)))
        padding = None if old.padding_idx is None else kept.index(old.padding_idx)
        embedding = torch.nn.Embedding(len(table), table.shape[1], padding_idx=padding)
        embedding.weight.copy_(table)
        model.set_input_embeddings(embedding)
    model.config.vocab_size = len(table)
    for name in ("pad_token_id", "bos_token_id", "eos_token_id"):
        if (number := getattr(model.config, name, None)) is not None:
            setattr(model.config, name, kept.index(number))
