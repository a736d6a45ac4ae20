"""F1 of the source tagging on dev sentences: how well the heads know their own corpora."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from handful.text import Sentence

from .batches import Ints, Rows, prefetch
from .corpora import SourceCorpus
from .model import Network

__all__ = ["measure", "runs"]

_BATCH = 64


def runs(tags: Ints, starts: Ints) -> set[tuple[int, int, int]]:
    """Read mentions off IO tags: a run of words of the same type in a sentence is one mention.

    Parameters
    ----------
    tags
        Shape (n_words,); 0 is O.
    starts
        Where each sentence starts among the words, and the end of all.

    Returns
    -------
    set of tuple
        First word, one past the last word, tag.
    """
    is_start = np.empty(len(tags), bool)
    is_start[:1] = True
    is_start[1:] = tags[1:] != tags[:-1]
    is_start[starts[:-1]] = True
    begin = np.flatnonzero(is_start)
    end = np.append(begin[1:], len(tags))
    kept = tags[begin] > 0
    return set(zip(begin[kept].tolist(), end[kept].tolist(), tags[begin[kept]].tolist(), strict=True))


def measure(
    network: Network, number: int, corpus: SourceCorpus, rows: Rows, device: torch.device
) -> dict[str, float]:
    """Give strict precision, recall and F1 of mentions, over all types, on a corpus' dev sentences."""
    order = np.argsort(np.diff(rows.tokens), kind="stable")
    plan: list[tuple[int, Any]] = [(0, order[i : i + _BATCH]) for i in range(0, len(order), _BATCH)]
    found = np.zeros(len(rows.tags), np.int64)
    was_training = network.training
    network.eval()
    with torch.inference_mode():
        for (_, sentences), batch in zip(plan, prefetch([rows], plan, device), strict=True):
            predicted = network.logits(batch, number).argmax(1).cpu().numpy()
            where = [np.arange(rows.words[i], rows.words[i + 1]) for i in sentences]
            found[np.concatenate(where)] = predicted
    network.train(was_training)
    return f1(runs(found, rows.words), _gold(corpus, corpus.dev, rows))


def _gold(corpus: SourceCorpus, sentences: Sequence[Sentence], rows: Rows) -> set[tuple[int, int, int]]:
    return {
        (int(start) + span.start, int(start) + span.end, corpus.types.index(span.label) + 1)
        for start, sentence in zip(rows.words[:-1], sentences, strict=True)
        for span in sentence.spans or ()
    }


def f1(found: set[tuple[int, int, int]], gold: set[tuple[int, int, int]]) -> dict[str, float]:
    """Compare mentions: precision, recall and F1, each 0 where it has nothing to divide by."""
    n_right = len(found & gold)
    scores = {
        "precision": n_right / max(1, len(found)),
        "recall": n_right / max(1, len(gold)),
        "f1": 2 * n_right / max(1, len(found) + len(gold)),
    }
    return {name: round(score, 4) for name, score in scores.items()}
