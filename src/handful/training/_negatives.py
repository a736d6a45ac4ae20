"""Which types of other corpora are wrong answers for a word, although its own corpus does not ask for them.

A person in a text whose types do not include persons is not a counterexample of PERSON. So a mention of type s is one
of type t only if the texts of s and t are very different to the base encoder, and an O word only if it is O nearly
everywhere.
"""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import torch
from torch.nn import functional

from handful.encoders.hugging_face import shape_stride, window_of, word_tokenizer

from ._texts import lay_out_types
from .corpora import SourceCorpus
from .model import read_base, text_means

__all__ = ["different_types", "plain_words"]

_BATCH = 64
_LEAST_COUNT = 100  # occurrences of a word, to judge it
_LARGEST_SHARE = 0.03  # of them inside mentions


def different_types(encoder: str, corpora: Sequence[SourceCorpus], share: float, device: torch.device) -> torch.Tensor:
    """Return for each pair of types whether it is among the `share` of pairs that are least similar.

    Similarity is the cosine of the mean vectors of the texts, by all layers of the encoder before training. The share
    is one of the pairs in corpora that are trained on.
    """
    model, tokenizer, _ = read_base(encoder, None, None)
    splitter = word_tokenizer(tokenizer, shape_stride(model))
    texts = lay_out_types(corpora, splitter, window_of(model, tokenizer))
    model = model.to(device).eval()
    n_types = sum(len(corpus.types) for corpus in corpora)
    vectors = torch.empty(n_types, model.config.hidden_size, device=device)
    order = np.argsort(texts.lengths(np.arange(n_types)), kind="stable")
    with torch.inference_mode():
        for i in range(0, n_types, _BATCH):
            types = order[i : i + _BATCH]
            vectors[torch.from_numpy(types).to(device)] = text_means(model, texts.rows, texts.full(types), device)
    vectors = functional.normalize(vectors)
    similar = vectors @ vectors.T
    is_trained = np.repeat([bool(corpus.train) for corpus in corpora], [len(corpus.types) for corpus in corpora])
    trained = torch.from_numpy(np.flatnonzero(is_trained)).to(device)
    pairs = similar[trained][:, trained][tuple(torch.triu_indices(len(trained), len(trained), 1, device=device))]
    if not len(pairs):
        return torch.zeros_like(similar, dtype=torch.bool)
    return similar < pairs.sort().values[int(share * len(pairs))]


def plain_words(corpora: Sequence[SourceCorpus]) -> set[str]:
    """Return the words, in lower case, that are frequent in the training sentences and nearly always O."""
    seen: Counter[str] = Counter()
    marked: Counter[str] = Counter()
    for corpus in corpora:
        for sentence in corpus.train:
            seen.update(word.lower() for word in sentence.words)
            for span in sentence.spans or ():
                marked.update(word.lower() for word in sentence.words[span.start : span.end])
    return {word for word, n in seen.items() if n >= _LEAST_COUNT and marked[word] <= _LARGEST_SHARE * n}
