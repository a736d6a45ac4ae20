"""The training loop, its state, and how it continues where it stopped.

Everything random is a pure function of the seed and of the epoch (order of the data) or the step (texts of types,
dropout). So on the CPU, a training that was stopped and continued gives the same weights as one that was not.
"""

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from handful.encoders.shapes import has_word_shapes
from handful.errors import Advice, DataError, EncoderError, ModelError

from ._measure import measure
from ._recipe import Recipe
from ._steps import Layout, PlannedStep, Source, Step, StepBuilder, plan_steps
from ._texts import TypeTexts
from .batches import Rows, ahead, on_device
from .checkpoint import read_checkpoint, write_checkpoint
from .corpora import SourceCorpus
from .model import Network
from .state import OnState, TrainingState

__all__ = ["CLIP", "WEIGHT_DECAY", "Data", "Training", "interrupts"]

WEIGHT_DECAY = 0.01  # for matrices in the encoder; not for biases, norms and heads
CLIP = 1.0  # the largest norm of the gradient

_REPORT_STEPS = 50


@dataclass(frozen=True)
class Data:
    """All corpora as the loop needs them.

    Attributes
    ----------
    corpora : the corpora
    sources, dev : for each of them, what is trained on, and the sentences to measure on, if there are any
    texts : the texts of all types; None if types are not read
    layout : how rows are made
    """

    corpora: Sequence[SourceCorpus]
    sources: Sequence[Source]
    dev: Sequence[Rows | None]
    texts: TypeTexts | None
    layout: Layout


class Training:
    """A training in progress.

    Parameters
    ----------
    network
        On its device.
    data
        The corpora.
    recipe
        How to train.
    device
        Where to train.

    Attributes
    ----------
    step, n_steps
        Steps that are done, and all steps.
    history
        One entry per finished epoch: its mean loss per word, and the dev figures by corpus.
    """

    def __init__(self, network: Network, data: Data, recipe: Recipe, device: torch.device) -> None:
        self.network = network
        self.recipe = recipe
        self.step = 0
        self.history: list[dict[str, Any]] = []
        self._data = data
        self._device = device
        self._builder = StepBuilder(
            data.sources, data.texts, data.layout, contrast=recipe.contrast > 0, seed=recipe.seed
        )
        self._epoch_steps = [len(self._plan(epoch)) for epoch in range(recipe.epochs)]
        self.n_steps = sum(self._epoch_steps)
        if not min(self._epoch_steps):
            raise DataError(f"the weights {dict(recipe.weights)} leave no sentence for an epoch; raise them")
        self._optimizer = _optimizer(network, recipe, device)
        self._rates = [group["lr"] for group in self._optimizer.param_groups]
        self._parameters = dict(network.named_parameters())
        self._average: dict[str, Tensor] = {}
        self._best: dict[str, Tensor] = {}
        self._best_f1 = -1.0
        # Sum over the words of this epoch so far; on the device, so that no step waits for it.
        self._loss = torch.zeros((), dtype=torch.float64, device=device)
        self._n_words = 0

    def run(self, checkpoint: Path, what: Mapping[str, Any], *, every: float, report: OnState) -> None:
        """Train to the end, starting from the checkpoint where there is one.

        Parameters
        ----------
        checkpoint
            The file to continue from, and to write to; the caller removes it at the end.
        what
            Everything that the weights depend on, in types that JSON has. A checkpoint of anything else is an error.
        every
            Seconds between checkpoints.
        report
            Called after every 50 steps, and at the end of an epoch.

        Raises
        ------
        KeyboardInterrupt
            On an interrupt, when the step is done and the checkpoint is written.
        """
        if checkpoint.exists():
            self._restore(checkpoint, what)
        devices = [self._device] if self._device.type == "cuda" else []
        with torch.random.fork_rng(devices), interrupts() as interrupted:
            self.network.train()
            saved = time.monotonic()
            for _ in self._steps(report):
                if interrupted():
                    self._save(checkpoint, what)
                    raise KeyboardInterrupt(
                        f"stopped after step {self.step} of {self.n_steps}; "
                        f"the same call again continues from there (state in {checkpoint})"
                    )
                if self.step < self.n_steps and time.monotonic() - saved >= every:
                    self._save(checkpoint, what)
                    saved = time.monotonic()

    def finish(self) -> int:
        """Put the weights to keep into the network; return the number of their epoch, from 1."""
        if self.recipe.keep == "best":
            _fill(self._parameters, self._best)
            return 1 + max(range(len(self.history)), key=lambda epoch: self._mean_f1(epoch))
        _fill(self._parameters, self._average)
        return self.recipe.epochs

    def _steps(self, report: OnState) -> Iterator[None]:
        """Take the steps that are left; a loss that is not finite is an error."""
        for epoch in range(len(self.history), self.recipe.epochs):
            before = sum(self._epoch_steps[:epoch])
            plan = self._plan(epoch)[self.step - before :]
            clock = _Clock(self._loss, self._n_words)
            for step in ahead(lambda planned: on_device(self._builder.build(planned), self._device), plan):
                self._take(step)
                if self.step % _REPORT_STEPS == 0 or self.step == before + self._epoch_steps[epoch]:
                    loss, speed = clock.read(self._loss, self._n_words)
                    if not math.isfinite(loss):
                        raise EncoderError(
                            f"the loss became {loss} before step {self.step}: the learning rate "
                            f"{self.recipe.lr:g} is too high for this encoder, or its weights are damaged"
                        )
                    report(self._state(epoch, loss, speed))
                if self.step < before + self._epoch_steps[epoch]:
                    yield
            self._end_epoch()
            report(self._state(epoch, self.history[-1]["loss"], speed, self.history[-1]["dev"]))
            yield

    def _state(self, epoch: int, loss: float, speed: float, dev: Any = None) -> TrainingState:
        return TrainingState(epoch + 1, self.recipe.epochs, self.step, self.n_steps, loss, speed, dev)

    def _take(self, step: Step) -> None:
        """Take one step."""
        torch.manual_seed(int(np.random.SeedSequence([self.recipe.seed, 2, self.step]).generate_state(1)[0]))
        factor = self._factor(self.step)
        for group, rate in zip(self._optimizer.param_groups, self._rates, strict=True):
            group["lr"] = rate * factor
        loss = self.network.loss(step)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(self._parameters.values(), CLIP)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        self._loss += loss.detach() * step.n_words
        self._n_words += step.n_words
        self.step += 1
        n_averaged = self.step - math.floor(self.n_steps * (1 - self.recipe.average))
        if self.recipe.average and n_averaged > 0:
            now = {name: parameter.detach() for name, parameter in self._parameters.items()}
            if not self._average:
                self._average = {name: tensor.clone() for name, tensor in now.items()}
            else:
                torch._foreach_lerp_(list(self._average.values()), list(now.values()), 1 / n_averaged)

    def _factor(self, step: int) -> float:
        """Return the share of the full learning rate at a step: it rises during the warm-up, then falls to 0."""
        n_warmup = math.ceil(self.recipe.warmup * self.n_steps)
        if step < n_warmup:
            return (step + 1) / n_warmup
        return (self.n_steps - step) / max(1, self.n_steps - n_warmup)

    def _plan(self, epoch: int) -> list[PlannedStep]:
        texts = self._data.texts
        text_tokens = [0 if texts is None else int(texts.lengths(source.types).sum()) for source in self._data.sources]
        batch_tokens, seed = self.recipe.batch_tokens, self.recipe.seed
        return plan_steps(self._data.sources, text_tokens, batch_tokens=batch_tokens, seed=seed, epoch=epoch)

    def _end_epoch(self) -> None:
        """Measure on the dev sentences, with the weights that would be kept if this were the last epoch."""
        now = {name: parameter.detach().clone() for name, parameter in self._parameters.items()}
        _fill(self._parameters, self._average)
        dev = {}
        for number, (corpus, rows) in enumerate(zip(self._data.corpora, self._data.dev, strict=True)):
            if rows is not None:
                types = self._data.sources[number].types
                dev[corpus.name] = measure(self.network, corpus, rows, number, types, self._data.texts, self._device)
        self.history.append({"loss": round(float(self._loss) / self._n_words, 6), "dev": dev})
        if self.recipe.keep == "best" and self._mean_f1(-1) > self._best_f1:
            self._best_f1 = self._mean_f1(-1)
            self._best = {name: parameter.detach().clone() for name, parameter in self._parameters.items()}
        _fill(self._parameters, now)
        self._loss.zero_()
        self._n_words = 0

    def _mean_f1(self, epoch: int) -> float:
        scores: list[float] = [figures["f1"] for figures in self.history[epoch]["dev"].values()]
        return sum(scores) / len(scores)

    def _save(self, path: Path, what: Mapping[str, Any]) -> None:
        tensors = {f"network.{name}": tensor for name, tensor in self.network.state_dict().items()}
        for number, values in self._optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer.{number}.{name}": value for name, value in values.items()}
        tensors |= {f"average.{name}": tensor for name, tensor in self._average.items()}
        tensors |= {f"best.{name}": tensor for name, tensor in self._best.items()}
        tensors["loss"] = self._loss
        state = {
            "what": what,
            "step": self.step,
            "n_words": self._n_words,
            "best_f1": self._best_f1,
            "history": self.history,
        }
        write_checkpoint(path, tensors, state)

    def _restore(self, path: Path, what: Mapping[str, Any]) -> None:
        tensors, state = read_checkpoint(path)
        differing = [key for key in what if state.get("what", {}).get(key) != what[key]]
        if differing:
            raise ModelError(
                f"{path} is the checkpoint of another training, with different {' and '.join(differing)}",
                Advice(
                    "remove it, say restart=True, or write to another folder",
                    "remove it, say --restart, or write to another folder",
                ),
            )
        parts: dict[str, dict[str, Tensor]] = {"network": {}, "optimizer": {}, "average": {}, "best": {}}
        for key, tensor in tensors.items():
            part, _, name = key.partition(".")
            if name:
                parts[part][name] = tensor
        self.network.load_state_dict(parts["network"])
        moments: dict[int, dict[str, Tensor]] = {}
        for key, tensor in parts["optimizer"].items():
            number, _, name = key.partition(".")
            moments.setdefault(int(number), {})[name] = tensor
        groups = self._optimizer.state_dict()["param_groups"]
        self._optimizer.load_state_dict({"state": moments, "param_groups": groups})
        self._average = {name: tensor.to(self._device) for name, tensor in parts["average"].items()}
        self._best = {name: tensor.to(self._device) for name, tensor in parts["best"].items()}
        # The dict has the order of the file; the loop needs the order of the network.
        self._average = {name: self._average[name] for name in self._parameters if name in self._average}
        self._loss.copy_(tensors["loss"])
        self.step, self._n_words = state["step"], state["n_words"]
        self._best_f1, self.history = state["best_f1"], state["history"]


class _Clock:
    """Loss and speed since the last reading."""

    def __init__(self, loss: Tensor, n_words: int) -> None:
        self._loss = float(loss)
        self._n_words = n_words
        self._time = time.monotonic()

    def read(self, loss: Tensor, n_words: int) -> tuple[float, float]:
        """Return the mean loss per word, and words per second."""
        total, now = float(loss), time.monotonic()
        n_new = max(1, n_words - self._n_words)
        result = (total - self._loss) / n_new, n_new / max(1e-9, now - self._time)
        self._loss, self._n_words, self._time = total, n_words, now
        return result


def _optimizer(network: Network, recipe: Recipe, device: torch.device) -> torch.optim.AdamW:
    embeddings = network.encoder.get_input_embeddings()
    new = network.new_parameters()
    new += embeddings.shapes.parameters() if has_word_shapes(network.encoder) else []
    known = set(new)
    encoder = [p for p in network.encoder.parameters() if p not in known]
    known |= set(encoder)
    matrices = [p for p in encoder if p.ndim > 1]
    others = [p for p in encoder if p.ndim <= 1] + [p for p in network.parameters() if p not in known]
    groups = [
        {"params": matrices, "lr": recipe.lr, "weight_decay": WEIGHT_DECAY},
        {"params": others, "lr": recipe.lr, "weight_decay": 0.0},
        {"params": new, "lr": recipe.head_lr, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(groups, fused=device.type == "cuda")


@torch.no_grad()
def _fill(parameters: Mapping[str, Tensor], values: Mapping[str, Tensor]) -> None:
    for name, value in values.items():
        parameters[name].copy_(value)


@contextmanager
def interrupts() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C and SIGTERM wait for the end of a step; a second one does not wait.

    Yields a function that tells whether one came. Outside the main thread, Python does not deliver signals.
    """
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield lambda: False
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def note(number: int, frame: object) -> None:
        came.append(number)
        for each, handler in before.items():
            signal.signal(each, handler)

    for number in before:
        signal.signal(number, note)
    try:
        yield lambda: bool(came)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
