"""The training loop and its state.

Everything random is a pure function of the seed and of the epoch (order of the data) or the step (texts of types,
dropout). So on the CPU, a training gives the same weights each time.
"""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from handful.encoders.shapes import has_word_shapes
from handful.errors import DataError, EncoderError
from handful.evaluate import score
from handful.text import Sentence, from_tags

from ._recipe import Recipe
from ._stepping import Stepper
from ._steps import Layout, PlannedStep, StepBuilder, StepCorpus, plan_steps
from ._texts import TypeTexts
from .batches import TokenRows, ahead, collate, on_device
from .corpora import SourceCorpus
from .model import TaggingNetwork, text_means, word_vectors
from .state import OnState, TrainingState

_REPORT_STEPS = 50
_BATCH = 64  # dev sentences


@dataclass(frozen=True)
class Data:
    """All corpora as the loop needs them."""

    corpora: Sequence[SourceCorpus]  # the corpora
    # For each of them, what is trained on, and the sentences to measure on, if there are any
    sources: Sequence[StepCorpus]
    dev: Sequence[TokenRows | None]
    texts: TypeTexts  # the texts of all types
    layout: Layout  # how rows are made


class Training:
    """A training in progress: `step` of `n_steps` are done."""

    def __init__(self, network: TaggingNetwork, data: Data, recipe: Recipe, device: torch.device) -> None:
        self.network = network
        self.recipe = recipe
        self.step = 0
        self.history: list[dict[str, Any]] = []  # of each finished epoch: its mean loss per word, the dev figures
        self.data = data
        self.device = device
        self._builder = StepBuilder(
            data.sources, data.texts, data.layout, contrast=recipe.contrast > 0, seed=recipe.seed
        )
        epoch_steps = [len(self._plan(epoch)) for epoch in range(recipe.epochs)]
        self.n_steps = sum(epoch_steps)
        if not min(epoch_steps):
            raise DataError(f"the weights {dict(recipe.weights)} leave no sentence for an epoch; raise them")
        self._stepper = Stepper(*_groups(network), recipe, n_steps=self.n_steps, seeds=[recipe.seed, 2])
        # Sum over the words of this epoch so far; on the device, so that no step waits for it.
        self._loss = torch.zeros((), dtype=torch.float64, device=device)
        self._n_words = 0

    def run(self, report: OnState) -> None:
        """Train to the end; report every 50 steps and at the end of epochs. A loss that is not finite is an error."""
        devices = [self.device] if self.device.type == "cuda" else []
        with torch.random.fork_rng(devices):
            self.network.train()
            for epoch in range(self.recipe.epochs):
                speed = self._train(epoch, report)
                numbered = enumerate(zip(self.data.corpora, self.data.dev, strict=True))
                dev = {corpus.name: self._measure(n, rows) for n, (corpus, rows) in numbered if rows is not None}
                self.history.append({"loss": round(float(self._loss) / self._n_words, 6), "dev": dev})
                self._loss.zero_()
                self._n_words = 0
                report(self._state(epoch, self.history[-1]["loss"], speed, dev))

    def _train(self, epoch: int, report: OnState) -> float:
        """Take the steps of an epoch; return the speed of the last ones, in words per second."""
        plan, speed = self._plan(epoch), 0.0
        before, last = (0.0, 0, time.monotonic()), self.step + len(plan)
        for step in ahead(lambda planned: on_device(self._builder.build(planned), self.device), plan):
            loss = self._stepper.take(self.step, partial(self.network.loss, step))
            self._loss += loss * step.n_words
            self._n_words += step.n_words
            self.step += 1
            if self.step % _REPORT_STEPS == 0 or self.step == last:
                now = float(self._loss), self._n_words, time.monotonic()
                total, n_words, seconds = (b - a for a, b in zip(before, now, strict=True))
                mean, speed, before = total / max(1, n_words), n_words / max(1e-9, seconds), now
                if not math.isfinite(mean):
                    raise EncoderError(
                        f"the loss became {mean} before step {self.step}: the learning rate "
                        f"{self.recipe.lr:g} is too high for this encoder, or its weights are damaged"
                    )
                report(self._state(epoch, mean, speed))
        return speed

    def _state(self, epoch: int, loss: float, speed: float, dev: Any = None) -> TrainingState:
        return TrainingState(epoch + 1, self.recipe.epochs, self.step, self.n_steps, loss, speed, dev)

    def _plan(self, epoch: int) -> list[PlannedStep]:
        text_tokens = [int(self.data.texts.lengths(source.types).sum()) for source in self.data.sources]
        batch_tokens, seed = self.recipe.batch_tokens, self.recipe.seed
        return plan_steps(self.data.sources, text_tokens, batch_tokens=batch_tokens, seed=seed, epoch=epoch)

    def _measure(self, number: int, rows: TokenRows) -> dict[str, float]:
        """Return strict precision, recall and F1 of mentions, over all types, on the dev sentences of a corpus.

        A word's tag is the one with the highest logit. Neighbouring words with the same type are one mention. As in
        use, types are read by name and description, and O has no shift.
        """
        corpus, types, texts = self.data.corpora[number], self.data.sources[number].types, self.data.texts
        network, device = self.network, self.device
        order = np.argsort(np.diff(rows.tokens), kind="stable")
        plan = [order[i : i + _BATCH] for i in range(0, len(order), _BATCH)]
        names = np.array(["O", *corpus.type_names], object)
        predicted: dict[int, Sentence] = {}
        network.eval()
        with torch.inference_mode():
            chosen = texts.full(types)
            means = text_means(network.encoder, texts.rows, chosen.texts, device)
            owners = torch.from_numpy(chosen.owners).to(device)
            batches = ahead(lambda some: on_device(collate(rows, some), device), plan)
            for sentences, batch in zip(plan, batches, strict=True):
                of_o, of_types = network.head(word_vectors(network.encoder, batch), means, None, owners)
                tags = names[torch.cat((of_o[:, None], of_types), 1).argmax(1).cpu().numpy()].tolist()
                start = 0
                for i in sentences:
                    words = corpus.dev[i].words
                    predicted[i] = from_tags(words, tags[start : start + len(words)], "types")
                    start += len(words)
        network.train()
        found = score(corpus.dev, [predicted[i] for i in range(len(rows))]).micro
        return {name: round(getattr(found, name), 4) for name in ("precision", "recall", "f1")}


def _groups(network: TaggingNetwork) -> tuple[list[nn.Parameter], list[nn.Parameter], list[nn.Parameter]]:
    """Return the parameters as `Stepper` takes them."""
    embeddings = network.encoder.get_input_embeddings()
    new = network.new_parameters()
    new += embeddings.shapes.parameters() if has_word_shapes(network.encoder) else []
    known = set(new)
    encoder = [p for p in network.encoder.parameters() if p not in known]
    known |= set(encoder)
    matrices = [p for p in encoder if p.ndim > 1]
    others = [p for p in encoder if p.ndim <= 1] + [p for p in network.parameters() if p not in known]
    return matrices, others, new
