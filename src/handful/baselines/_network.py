"""CONTaiNER as a network: an encoder and its Gaussian heads, trained together.

With h the encoder's vector of a word, its Gaussian has the means mu and the variances s, both of length `SIZE`::

    mu = W_mu relu(h) + b_mu          s = ELU(W_s relu(h) + b_s) + 1 + EPSILON

The distance of two words is the mean of both Kullback-Leibler divergences, in which the logarithms cancel (all sums
over the entries)::

    d(p, q) = 1/4 sum [ s_p / s_q + s_q / s_p + (mu_p - mu_q)^2 (1 / s_p + 1 / s_q) - 2 ]

or, with "euclidean", ``d(p, q) = sum (mu_p - mu_q)^2``.
"""

import copy
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from handful.encoders import Encoder
from handful.encoders.hugging_face import TorchNetwork, as_encoder, shape_stride, window_of, word_tokenizer
from handful.errors import EncoderError
from handful.text import Sentence, types_in
from handful.training.batches import Batch, TokenRows, lay_out_corpus, plan_epoch, prefetch
from handful.training.corpora import io_tags
from handful.training.model import read_base, word_vectors
from handful.training.state import TrainingState, showing

from ._base import LabelledSupport

Distance = Literal["kl", "euclidean"]

EPSILON = float(np.exp(-14))
SIZE = 128  # the length of means and variances
SENTENCES = 32  # in a batch
MOST_ROUNDS = 100  # over the support
EPOCHS = 1  # over the source
RATE = 5e-5  # of AdamW, for encoder and heads, on source and support
CLIP = 1.0  # the largest norm of the gradient


class GaussianNetwork(nn.Module):
    """A Hugging Face model, and two linear layers over its rectified word vectors."""

    def __init__(self, encoder: Any) -> None:
        super().__init__()
        self.encoder = encoder
        dim = encoder.config.hidden_size
        self.means, self.variances = nn.Linear(dim, SIZE), nn.Linear(dim, SIZE)

    def loss(self, batch: Batch, distance: Distance) -> Tensor:
        """Return the contrastive loss of the words of a batch whose tag is not -1."""
        known = batch.tags >= 0
        x = functional.relu(word_vectors(self.encoder, batch)[known])
        return contrastive(
            self.means(x), functional.elu(self.variances(x)) + (1 + EPSILON), batch.tags[known], distance
        )


class TrainedContainer(NamedTuple):
    """A network after its training on the source, and its tokenizer."""

    network: GaussianNetwork
    tokenizer: Any


def contrastive(mu: Tensor, s: Tensor, tags: Tensor, distance: Distance) -> Tensor:
    """Return the contrastive loss of words with means mu (n, l), variances s (n, l) and tags (n,).

    A word's partners are the other words with its tag. With the mean over the words p that have partners::

        loss = mean_p  -log [ (1 / n_p) sum_{q partner of p} exp(-d(p, q)) / sum_{q != p} exp(-d(p, q)) ]

    Words without partners still count among the q. A batch in which no word has a partner has loss 0.
    """
    itself = torch.eye(len(tags), dtype=torch.bool, device=tags.device)
    is_partner = (tags[:, None] == tags) & ~itself
    n_partners = is_partner.sum(1)
    has_partner = n_partners > 0
    if not bool(has_partner.any()):
        return 0.0 * (mu.sum() + s.sum())
    logits = (-_distances(mu, s, distance)).masked_fill(itself, -torch.inf)[has_partner]
    of_partners = logits.masked_fill(~is_partner[has_partner], -torch.inf).logsumexp(1)
    return (logits.logsumexp(1) - of_partners + n_partners[has_partner].log()).mean()


def _distances(mu: Tensor, s: Tensor, distance: Distance) -> Tensor:
    mu = mu - mu.mean(0).detach()
    square = mu.square()
    if distance == "euclidean":
        norms = square.sum(1)
        return norms[:, None] - 2 * mu @ mu.T + norms
    v = 1 / s
    one_way = (s + square) @ v.T - 2 * (mu * v) @ mu.T + (square * v).sum(1)[:, None]
    return (one_way + one_way.T) / 4 - mu.shape[1] / 2


def train_network(folder: str, corpora: Sequence[Sequence[Sentence]], progress: bool | None = None) -> TrainedContainer:
    """Train an encoder and new heads on source corpora, in batches of sentences, each from one corpus."""
    model, tokenizer, _ = read_base(folder, None, None)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    rows = [
        _rows(corpus, io_tags(corpus, types_in(corpus)), model, tokenizer, f"corpus {number} of the source")
        for number, corpus in enumerate(corpora)
    ]
    plans = [plan_epoch(rows, batch=SENTENCES, seed=0, epoch=epoch) for epoch in range(EPOCHS)]
    with _seeded(device), showing(progress) as report:
        network = GaussianNetwork(model).to(device).train()
        optimizer = torch.optim.AdamW(network.parameters(), lr=RATE)
        step, n_steps = 0, sum(map(len, plans))
        for epoch, plan in enumerate(plans, 1):
            for batch in prefetch(rows, plan, device):
                started = time.monotonic()
                loss = _step(network, optimizer, batch, "kl")
                step += 1
                speed = batch.n_words / (time.monotonic() - started)
                report(TrainingState(epoch, EPOCHS, step, n_steps, loss, speed))
    return TrainedContainer(network, tokenizer)


def tune(trained: TrainedContainer, support: LabelledSupport, distance: Distance) -> Encoder:
    """Train a copy of a network further on a support, and return its encoder.

    Training goes over the support again and again until the loss no longer falls, or `MOST_ROUNDS` rounds are done. The
    weights before the round with the lowest loss are kept.
    """
    network = copy.deepcopy(trained.network).train()
    device = next(network.parameters()).device
    rows = _rows(support.sentences, support.tags(), network.encoder, trained.tokenizer, "the support")
    optimizer = torch.optim.AdamW(network.parameters(), lr=RATE)
    lowest, kept = float("inf"), _weights(network.encoder)
    with _seeded(device):
        for number in range(MOST_ROUNDS):
            before = _weights(network.encoder)
            plan = plan_epoch([rows], batch=SENTENCES, seed=0, epoch=number)
            total = sum(_step(network, optimizer, b, distance) * b.n_words for b in prefetch([rows], plan, device))
            if not total < lowest:
                break
            lowest, kept = total, before
    network.encoder.load_state_dict(kept)
    return as_encoder(TorchNetwork(network.encoder.eval()), trained.tokenizer)


def _rows(sentences: Sequence[Sentence], tags: Any, model: Any, tokenizer: Any, name: str) -> TokenRows:
    splitter, window = word_tokenizer(tokenizer, shape_stride(model)), window_of(model, tokenizer)
    return lay_out_corpus(sentences, tags, splitter, window, name=name)


def _step(network: GaussianNetwork, optimizer: torch.optim.Optimizer, batch: Batch, distance: Distance) -> float:
    loss = network.loss(batch, distance)
    value = float(loss.detach())
    if not np.isfinite(value):
        raise EncoderError(f"the contrastive loss became {value}: the encoder's weights are damaged or overflow")
    loss.backward()  # type: ignore[no-untyped-call]
    torch.nn.utils.clip_grad_norm_(network.parameters(), CLIP)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return value


def _weights(model: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}


@contextmanager
def _seeded(device: torch.device) -> Iterator[None]:
    """Start torch's random numbers from 0 inside, and leave those outside unchanged."""
    with torch.random.fork_rng([device] if device.type == "cuda" else []):
        torch.manual_seed(0)
        yield
