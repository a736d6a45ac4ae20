"""F1 of the source tagging on dev sentences: how well the heads know their own corpora."""

from typing import Any

import numpy as np
import torch

from handful.evaluate import score
from handful.text import TagReader

from ._batches import Rows, prefetch
from ._corpora import SourceCorpus
from ._model import Network

__all__ = ["measure"]

_BATCH = 64


def measure(network: Network, number: int, corpus: SourceCorpus, rows: Rows, device: torch.device) -> dict[str, float]:
    """Give strict precision, recall and F1 of mentions, over all types, on a corpus' dev sentences.

    A word's tag is that of the highest logit, a run of words with the same type one mention.
    """
    order = np.argsort(np.diff(rows.tokens), kind="stable")
    plan: list[tuple[int, Any]] = [(0, order[i : i + _BATCH]) for i in range(0, len(order), _BATCH)]
    names = np.array(["O", *corpus.types], object)
    reader = TagReader("types")
    predicted: list[Any] = [()] * len(rows)
    was_training = network.training
    network.eval()
    with torch.inference_mode():
        for (_, sentences), batch in zip(plan, prefetch([rows], plan, device), strict=True):
            tags = names[network.logits(batch, number).argmax(1).cpu().numpy()].tolist()
            start = 0
            for i in sentences:
                end = start + int(rows.words[i + 1] - rows.words[i])
                predicted[i], _ = reader.read(tags[start:end])
                start = end
    network.train(was_training)
    found = score(corpus.dev, predicted).micro
    return {name: round(getattr(found, name), 4) for name in ("precision", "recall", "f1")}
