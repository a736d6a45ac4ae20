"""The loop of tuning: an encoder learns from labelled sentences, in small steps that can be stopped and gone on with.

What is trained, and how a batch is scored, is up to a `Lesson`. Everything random is a pure function of the seed and of
the epoch (order of sentences) or the step (dropout).
"""

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from handful.errors import EncoderError

from ._stepping import WEIGHT_DECAY, Stepper, part_of
from ._tune_recipe import TuneRecipe
from .batches import Batch, Rows, collate, on_device, plan_epoch

__all__ = ["Lesson", "Loop", "Pace", "TuneState"]


@dataclass(frozen=True)
class TuneState:
    """How far tuning is.

    Attributes
    ----------
    what : what is trained now
    step, n_steps : of all trainings together, counted from 1
    loss : the mean per word since the last report
    seconds_left : at the speed so far
    dev : always None
    """

    what: str
    step: int
    n_steps: int
    loss: float
    seconds_left: float
    dev: None = None

    def __str__(self) -> str:
        minutes, seconds = divmod(round(self.seconds_left), 60)
        return f"{self.what} · step {self.step:,}/{self.n_steps:,} · loss {self.loss:.4f} · {minutes}:{seconds:02} left"


@dataclass(frozen=True)
class Lesson:
    """What is learned, and from what.

    Attributes
    ----------
    parameters : what is trained, by name, and its learning rate
    decay : the names of those that shrink a little at each step
    loss : of a batch, the mean per word
    rows : the labelled sentences
    module : what is put into training mode
    """

    parameters: Mapping[str, tuple[nn.Parameter, float]]
    decay: frozenset[str]
    loss: Callable[[Batch], Tensor]
    rows: Rows
    module: nn.Module


class Loop:
    """A training in progress.

    Parameters
    ----------
    lesson
        What is learned.
    recipe
        How.
    device
        Where.
    number
        Distinguishes trainings with the same seed.

    Attributes
    ----------
    step, n_steps
        Steps that are done, and all steps.
    loss
        The mean per word of the last step.
    """

    def __init__(self, lesson: Lesson, recipe: TuneRecipe, device: torch.device, number: int = 0) -> None:
        self.step, self.n_steps, self.loss = 0, recipe.n_steps(len(lesson.rows)), math.nan
        self._lesson, self._recipe, self._device, self._number = lesson, recipe, device, number
        groups: dict[tuple[float, bool], list[nn.Parameter]] = {}
        for name, (parameter, rate) in lesson.parameters.items():
            groups.setdefault((rate, name in lesson.decay), []).append(parameter)
        self._stepper = Stepper(
            [
                {"params": some, "lr": rate, "weight_decay": WEIGHT_DECAY if shrinks else 0.0}
                for (rate, shrinks), some in groups.items()
            ],
            [parameter for parameter, _ in lesson.parameters.values()],
            n_steps=self.n_steps,
            warmup=recipe.warmup,
            seeds=[recipe.seed, number],
        )
        self._plan: list[np.ndarray[Any, np.dtype[np.int64]]] = []
        self._epoch = -1

    def take(self) -> None:
        """Take the next step."""
        self._lesson.module.train()
        batch = on_device(collate(self._lesson.rows, self._sentences()), self._device)
        self.loss = float(self._stepper.take(self.step, lambda: self._lesson.loss(batch)))
        if not math.isfinite(self.loss):
            raise EncoderError(
                f"the loss became {self.loss}: the learning rate is too high, or the weights are damaged"
            )
        self.step += 1

    def state(self) -> dict[str, Tensor]:
        """Return all that a checkpoint needs, besides `step`."""
        weights = {f"weights.{name}": one.detach() for name, (one, _) in self._lesson.parameters.items()}
        return weights | self._stepper.state()

    @torch.no_grad()
    def restore(self, tensors: Mapping[str, Tensor], step: int) -> None:
        """Go back to a state."""
        for name, tensor in part_of(tensors, "weights").items():
            self._lesson.parameters[name][0].copy_(tensor)
        self._stepper.restore(tensors)
        self.step = step

    def _sentences(self) -> Any:
        """Return the sentences of the next step."""
        per_epoch = -(-len(self._lesson.rows) // self._recipe.batch)
        epoch, place = divmod(self.step, per_epoch)
        if epoch != self._epoch:
            seed = self._recipe.seed + 1000 * self._number
            plan = plan_epoch([self._lesson.rows], batch=self._recipe.batch, seed=seed, epoch=epoch)
            self._plan, self._epoch = [sentences for _, sentences in plan], epoch
        return self._plan[place]


class Pace:
    """Reports how far several trainings are together.

    Parameters
    ----------
    n_steps
        Of all of them.
    report
        Called with each `TuneState`.
    """

    def __init__(self, n_steps: Sequence[int], report: Callable[[Any], None], done: int = 0) -> None:
        self._total, self._done, self._report = sum(n_steps), done, report
        self._start, self._before = time.monotonic(), done

    def step(self, what: str, loss: float) -> None:
        """Count a step."""
        self._done += 1
        taken = time.monotonic() - self._start
        left = taken / max(1, self._done - self._before) * (self._total - self._done)
        self._report(TuneState(what, self._done, self._total, loss, left))
