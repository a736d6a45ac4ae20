"""Whether an encoder reads several sentences in one row as it reads each alone."""

from typing import Any

import torch

from ._steps import Layout

__all__ = ["layout_of"]

_TOLERANCE = 1e-3  # of the length of the vectors, in float32
_LONGEST = 256


def layout_of(model: Any, window: int) -> Layout:
    """Return how sentences are laid out for a model, which is on the CPU; it is tried out.

    Sentences are not packed if the model has no use for positions and masks that are given to it, if it reads its
    neighbours (convolutions), or if it makes masks of its own (windows of attention).
    """
    first = _first_position(model)
    was_training = model.training
    model.eval()
    try:
        is_packed = _is_same(model, window, first)
    except (TypeError, ValueError, RuntimeError, IndexError):
        is_packed = False
    model.train(was_training)
    return Layout(window, first, is_packed)


def _first_position(model: Any) -> int:
    """Return 0, or for RoBERTa and models like it the position behind the one of padding."""
    table = next((m for n, m in model.named_modules() if n.endswith("position_embeddings")), None)
    padding = getattr(table, "padding_idx", None)
    return 0 if padding is None else padding + 1


def _is_same(model: Any, window: int, first: int) -> bool:
    length = min(window, _LONGEST)
    long, short = length - length // 4, length // 4
    n_ids = min(2000, int(model.config.vocab_size))
    ids = torch.randint(n_ids // 2, n_ids, (1, length), generator=torch.Generator().manual_seed(0))
    sequences = torch.tensor([[0] * long + [1] * short])
    mask = torch.zeros(1, 1, length, length).masked_fill_(sequences[0, :, None] != sequences[0], -1e9)
    positions = torch.cat((torch.arange(long), torch.arange(short)))[None] + first
    with torch.inference_mode():
        packed = model(input_ids=ids, attention_mask=mask, position_ids=positions).last_hidden_state[0]
        alone = torch.cat(
            [
                model(input_ids=part, attention_mask=torch.ones_like(part)).last_hidden_state[0]
                for part in (ids[:, :long], ids[:, long:])
            ]
        )
    return packed.shape == alone.shape and bool((packed - alone).norm() <= _TOLERANCE * alone.norm())
