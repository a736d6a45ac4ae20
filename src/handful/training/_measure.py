"""F1 of the source tagging on dev sentences: how well the heads know their own corpora."""

from typing import Any

import numpy as np
import torch

from handful.evaluate import score
from handful.text import Sentence, from_tags

from ._batches import Rows, prefetch
from ._corpora import SourceCorpus
from ._model import Network

__all__ = ["measure"]

_BATCH = 64


def measure(network: Network, number: int, corpus: SourceCorpus, rows: Rows, device: torch.device) -> dict[str, float]:
    """Return strict precision, recall and F1 of mentions, over all types, on the dev sentences of a corpus.

    A word's tag is the one with the highest logit. Neighbouring words with the same type are one mention.
    """
    order = np.argsort(np.diff(rows.tokens), kind="stable")
    plan: list[tuple[int, Any]] = [(0, order[i : i + _BATCH]) for i in range(0, len(order), _BATCH)]
    names = np.array(["O", *corpus.type_names], object)
    predicted: dict[int, Sentence] = {}
    was_training = network.training
    network.eval()
    with torch.inference_mode():
        for (_, sentences), batch in zip(plan, prefetch([rows], plan, device), strict=True):
            tags = names[network.logits(batch, number).argmax(1).cpu().numpy()].tolist()
            start = 0
            for i in sentences:
                words = corpus.dev[i].words
                predicted[i] = from_tags(words, tags[start : start + len(words)], "types")
                start += len(words)
    network.train(was_training)
    found = score(corpus.dev, [predicted[i] for i in range(len(rows))]).micro
    return {name: round(getattr(found, name), 4) for name in ("precision", "recall", "f1")}
