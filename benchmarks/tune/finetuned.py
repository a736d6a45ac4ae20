"""`FineTuned`: token classification on the encoder of handful, as people do it with a few hundred labels.

    PYTHONPATH=benchmarks/tune handful bench transfer DATA/btc --methods tuned,finetuned:FineTuned --report report

A new linear layer, all weights trained, the learning rate of the `Trainer` of transformers falling from 5e-5. It makes
more passes than the three that are usual with large corpora: with a few dozen sentences three passes learn nothing.
"""

import numpy as np
import torch

from handful.baselines import Baseline
from handful.baselines._base import FittedBaseline, tag_log_scores
from handful.encoders.opened import encoder_folder, open_encoder
from handful.training import TuneRecipe
from handful.training.prepare import device_of
from handful.training.student import Loop, Student, open_source

RECIPE = TuneRecipe(lr=5e-5, head_lr=5e-5, warmup=0.0)


class FineTuned(Baseline):
    """All weights and a new linear layer are trained on the labelled words."""

    def _learn(self, support, progress):
        student = self._train(support)
        weight, bias = (one.detach().float().cpu().numpy() for one in (student.head.weight, student.head.bias))

        def log_scores(features):
            return tag_log_scores(-(np.asarray(features, np.float64) @ weight.T + bias))

        return FittedBaseline(student.encoder(1.0), support.types, log_scores)

    def _train(self, support, loss=None):
        device = device_of(None)
        tags, n_tags = support.tags(), 1 + len(support.types)
        allowed = np.eye(n_tags, dtype=bool)[np.maximum(tags, 0)]
        allowed[tags < 0] = True
        folder = encoder_folder(open_encoder(self.encoder).reference)
        with open_source(folder) as source, torch.random.fork_rng():
            student = Student(source, support.types, RECIPE, device, is_named=False, has_adapters=False)
            known = torch.from_numpy(tags).to(device)
            of_batch = student.loss_of([allowed]) if loss is None else lambda batch: loss(student, batch, known)
            loop = Loop(student, support.sentences, of_batch)
            while loop.step < loop.n_steps:
                loop.take()
        return student
