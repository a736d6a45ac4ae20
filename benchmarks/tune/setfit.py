"""`SetFit` (Tunstall et al. 2022), word by word, on the encoder of handful, for `curves.py` and ``handful bench``.

    PYTHONPATH=benchmarks/tune handful bench transfer DATA/btc --methods tuned,setfit:SetFit --report report

Words with the same tag are drawn together by cosine and others apart; then a logistic regression on the tuned vectors.
"""

import torch
from finetuned import FineTuned
from torch.nn import functional

from handful.baselines import RegressionBaseline
from handful.training.model import word_vectors

TEMPERATURE = 0.1  # of cosines
MOST_MENTIONS = 512  # words in mentions that are compared in a step; as many O words are


class SetFit(FineTuned):
    """Words of a tag are drawn together; then a logistic regression on the tuned vectors."""

    def _learn(self, support, progress):
        encoder = self._train(support, _contrast).encoder(1.0)
        return RegressionBaseline(encoder)._learn(support, progress)


def _contrast(student, batch, known):
    """Return ``-log`` of the share that words of the same tag have in the nearness of a word, the mean over words."""
    tags = known[batch.tags]
    mentions = (tags > 0).nonzero()[:MOST_MENTIONS, 0]
    others = (tags == 0).nonzero()[:, 0]
    n_others = max(16, len(mentions))
    chosen = torch.cat((mentions, others[torch.randperm(len(others))[:n_others].to(others.device)]))
    unit, own = functional.normalize(word_vectors(student.network, batch)[chosen], dim=1), tags[chosen]
    is_self = torch.eye(len(own), dtype=torch.bool, device=own.device)
    near = (unit @ unit.T / TEMPERATURE).masked_fill(is_self, -1e9)
    is_partner = (own[:, None] == own) & ~is_self
    of_partners = (near - near.logsumexp(1, keepdim=True)).masked_fill(~is_partner, 0.0).sum(1)
    has_partner = is_partner.any(1)
    return -(of_partners / is_partner.sum(1).clamp(min=1)).sum() / has_partner.sum().clamp(min=1)
