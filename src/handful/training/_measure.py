"""F1 on dev sentences: by names alone, or by the vectors of the corpus' own tags."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from handful.evaluate import score
from handful.text import Sentence, from_tags

from ._heads import NamesHead
from ._texts import TypeTexts
from .batches import Ints, Rows, prefetch
from .corpora import SourceCorpus
from .model import Network, text_means, word_vectors

__all__ = ["measure"]

_BATCH = 64


def measure(
    network: Network,
    corpus: SourceCorpus,
    rows: Rows,
    number: int,
    types: Ints,
    texts: TypeTexts | None,
    device: torch.device,
) -> dict[str, float]:
    """Return strict precision, recall and F1 of mentions, over all types, on the dev sentences of a corpus.

    A word's tag is the one with the highest logit. Neighbouring words with the same type are one mention. Types that
    are read are read by name and description, and O has no shift, as in use.

    Parameters
    ----------
    network
        On its device.
    corpus, rows
        The corpus, and its dev sentences laid out.
    number, types
        The numbers of the corpus and of its types.
    texts
        The texts of all types, if they are read.
    device
        Where the network is.
    """
    order = np.argsort(np.diff(rows.tokens), kind="stable")
    plan: list[tuple[int, Any]] = [(0, order[i : i + _BATCH]) for i in range(0, len(order), _BATCH)]
    names = np.array(["O", *corpus.type_names], object)
    predicted: dict[int, Sentence] = {}
    was_training = network.training
    network.eval()
    with torch.inference_mode():
        columns = torch.from_numpy(types).to(device)
        if texts is not None:
            columns = text_means(network.encoder, texts.rows, texts.full(types), device)
        for (_, sentences), batch in zip(plan, prefetch([rows], plan, device), strict=True):
            logits = _logits(network, word_vectors(network.encoder, batch), columns, number)
            tags = names[logits.argmax(1).cpu().numpy()].tolist()
            start = 0
            for i in sentences:
                words = corpus.dev[i].words
                predicted[i] = from_tags(words, tags[start : start + len(words)], "types")
                start += len(words)
    network.train(was_training)
    found = score(corpus.dev, [predicted[i] for i in range(len(rows))]).micro
    return {name: round(getattr(found, name), 4) for name in ("precision", "recall", "f1")}


def _logits(network: Network, x: Tensor, columns: Tensor, number: int) -> Tensor:
    """Return logits (n_words, n_tags); `columns` are the means of texts, or numbers of types."""
    if isinstance(network.head, NamesHead):
        of_o, of_types = network.head(x, columns)
    else:
        of_o, of_types = network.head(x, columns, torch.full((len(x),), number, device=x.device))
    return torch.cat((of_o[:, None], of_types), 1)
