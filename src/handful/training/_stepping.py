"""Steps of any training: AdamW whose learning rates rise during the warm-up, then fall to 0."""

import math
from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor, nn

from ._recipe import Recipe, TuneRecipe

WEIGHT_DECAY = 0.01  # for matrices in the encoder; not for biases, norms and heads
CLIP = 1.0  # the largest norm of the gradient


class Stepper:
    """Takes steps; the random numbers of a step are a pure function of the seeds and its number.

    `matrices` (those of the encoder), `others` and `new` are all that is trained. The first shrink a little at each
    step; the last have the learning rate of heads.
    """

    def __init__(
        self,
        matrices: Sequence[nn.Parameter],
        others: Sequence[nn.Parameter],
        new: Sequence[nn.Parameter],
        recipe: Recipe | TuneRecipe,
        *,
        n_steps: int,
        seeds: Sequence[int],
    ) -> None:
        self._parameters = [*matrices, *others, *new]
        self._rates = [recipe.lr, recipe.lr, recipe.head_lr]
        decays = (WEIGHT_DECAY, 0.0, 0.0)
        groups = [
            {"params": some, "weight_decay": decay} for some, decay in zip((matrices, others, new), decays, strict=True)
        ]
        self._optimizer = torch.optim.AdamW(groups, fused=self._parameters[0].is_cuda)
        self._n_steps, self._n_warmup = n_steps, math.ceil(recipe.warmup * n_steps)
        self._seeds = list(seeds)

    def take(self, step: int, compute: Callable[[], Tensor]) -> Tensor:
        """Take a step, by its number from 0, down the gradient of the loss that `compute` returns; return the loss."""
        torch.manual_seed(int(np.random.SeedSequence([*self._seeds, step]).generate_state(1)[0]))
        factor = self._factor(step)
        for group, rate in zip(self._optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * factor
        loss = compute()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._parameters, CLIP)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return loss.detach()

    def _factor(self, step: int) -> float:
        """Return the share of the full learning rate at a step."""
        if step < self._n_warmup:
            return (step + 1) / self._n_warmup
        return (self._n_steps - step) / max(1, self._n_steps - self._n_warmup)
