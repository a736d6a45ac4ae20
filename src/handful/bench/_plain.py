"""The loop that people write with transformers to get one vector per word: what ours is compared with."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["made_network", "plain_loop", "plain_tokenizer"]

_BATCH = 32


def plain_loop(model: Any, tokenizer: Any, device: str = "cpu") -> Callable[..., NDArray[np.float32]]:
    """Return a function of sentences (lists of words), and of whether to sort them by length, that encodes them.

    Batches of 32 sentences, padded, in the order given or by length. A word that is cut off, or of which the tokenizer
    leaves nothing, gets no vector (NaN).

    Parameters
    ----------
    model : a Hugging Face model
    tokenizer : its tokenizer, one of the fast ones
    device : where to run it
    """
    import torch

    model = model.eval().to(device)
    options = {"is_split_into_words": True, "padding": True, "truncation": True, "max_length": 512}

    def encode(sentences: Sequence[Sequence[str]], *, is_sorted: bool = False) -> NDArray[np.float32]:
        order = list(range(len(sentences)))
        if is_sorted:
            order.sort(key=lambda i: len(sentences[i]))
        found: list[list[Any]] = [[] for _ in sentences]
        for start in range(0, len(order), _BATCH):
            chosen = order[start : start + _BATCH]
            batch = tokenizer([list(sentences[i]) for i in chosen], return_tensors="pt", **options)
            with torch.no_grad():
                inputs = {name: batch[name].to(device) for name in ("input_ids", "attention_mask")}
                hidden = model(**inputs).last_hidden_state.float().cpu().numpy()
            for row, i in enumerate(chosen):
                places: list[list[int]] = [[] for _ in sentences[i]]
                for position, word in enumerate(batch.word_ids(row)):
                    if word is not None:
                        places[word].append(position)
                missing = np.full(hidden.shape[-1], np.nan, np.float32)
                found[i] = [(hidden[row, p[0]] + hidden[row, p[-1]]) / 2 if p else missing for p in places]
        return np.array([vector for vectors in found for vector in vectors])

    return encode


def plain_tokenizer(path: Any) -> Any:
    """Return a tokenizer.json as a tokenizer of transformers."""
    import transformers

    kind: Any = transformers.PreTrainedTokenizerFast
    return kind(tokenizer_file=str(path), pad_token="<pad>", unk_token="[UNK]")


def made_network(kind: str, n_layers: int, n_tokens: int) -> Any:
    """Return a network with random weights, which are as fast as others.

    Parameters
    ----------
    kind : "MPNet" or "Bert", with 768 numbers per token
    n_layers : how many layers it has
    n_tokens : how many tokens it knows
    """
    import transformers

    config = getattr(transformers, f"{kind}Config")(num_hidden_layers=n_layers, vocab_size=n_tokens)
    return getattr(transformers, f"{kind}Model")(config)
