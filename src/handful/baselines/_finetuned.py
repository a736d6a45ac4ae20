"""Fine-tuning of the same encoder, as people do it with a few hundred labels (extra ``transformers``).

`FineTuned` is token classification as in transformers: a new linear layer, all weights trained, the learning rate of
its `Trainer` falling from 5e-5. It makes more passes than the three that are usual with large corpora: with a few dozen
sentences three passes learn nothing.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from handful._util.progress import Progress
from handful.encoders.opened import encoder_folder, is_object, open_encoder
from handful.errors import EncoderError
from handful.training import TuneRecipe

from ._base import Baseline, FittedBaseline, LabelledSupport, tag_log_scores

if TYPE_CHECKING:
    from handful.training.student import Student

RECIPE = TuneRecipe(lr=5e-5, head_lr=5e-5, warmup=0.0)


class FineTuned(Baseline):
    """Token classification: all weights and a new linear layer are trained on the labelled words."""

    def _learn(self, support: LabelledSupport, progress: Progress) -> FittedBaseline:
        student = self._train(support)
        head: Any = student.head
        weight, bias = (one.detach().float().cpu().numpy() for one in (head.weight, head.bias))

        def log_scores(features: Any) -> Any:
            return tag_log_scores(-(np.asarray(features, np.float64) @ weight.T + bias))

        return FittedBaseline(student.encoder(1.0), support.types, log_scores)

    def _train(self, support: LabelledSupport, loss: Callable[["Student", Any, Any], Any] | None = None) -> "Student":
        if is_object(self.encoder):
            raise EncoderError("the encoder is an object, which cannot be trained; give the name or path of an encoder")
        import torch

        from handful.training.prepare import device_of
        from handful.training.student import Loop, Student, open_source

        reference = open_encoder(self.encoder).reference
        device = device_of(None)
        tags, n_tags = support.tags(), 1 + len(support.types)
        allowed = np.eye(n_tags, dtype=bool)[np.maximum(tags, 0)]
        allowed[tags < 0] = True
        with open_source(encoder_folder(reference)) as source, torch.random.fork_rng():
            student = Student(source, support.types, RECIPE, device, is_named=False, has_adapters=False)
            known = torch.from_numpy(tags).to(device)
            of_batch = student.loss_of([allowed]) if loss is None else lambda batch: loss(student, batch, known)
            loop = Loop(student, support.sentences, of_batch)
            while loop.step < loop.n_steps:
                loop.take()
        return student
