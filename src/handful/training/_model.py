"""The network that is trained: an encoder, and on top of it one head per corpus.

A word's vector x is the mean of its first and last sub-word vectors. A head has one prototype c_j per tag; its
logits are ``-1/2 ||x - c_j||^2``. The part ``-1/2 ||x||^2`` is left out, since it is the same for all tags::

    w_j = <x, c_j> - 1/2 ||c_j||^2

The linear head, for comparison, has ``w_j = <x, c_j> + b_j`` with b_j learned.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from handful.encoders import EMBEDDED
from handful.encoders._load import is_exported
from handful.encoders._pretrained import read_pretrained
from handful.errors import EncoderError

from ._batches import Batch

__all__ = ["Head", "Network", "cut_layers", "digest_weights", "read_base", "set_dropout", "word_vectors"]

_START_SCALE = 0.02  # the scale of the weights of a new layer in the encoders themselves


class Head(nn.Module):
    """Tags of one corpus.

    Parameters
    ----------
    n_tags, dim
        The shape of the prototypes.
    is_linear
        Whether biases are learned, instead of those that distances have.
    generator
        Draws the first prototypes.
    """

    def __init__(self, n_tags: int, dim: int, *, is_linear: bool, generator: torch.Generator) -> None:
        super().__init__()
        self.prototypes = nn.Parameter(torch.randn(n_tags, dim, generator=generator) * _START_SCALE)
        self.bias = nn.Parameter(torch.zeros(n_tags)) if is_linear else None

    def forward(self, x: Tensor) -> Tensor:
        """Return the logits (n_words, n_tags) of vectors (n_words, dim)."""
        bias = -0.5 * self.prototypes.square().sum(1) if self.bias is None else self.bias
        return functional.linear(x, self.prototypes, bias)


class Network(nn.Module):
    """An encoder with its heads.

    Parameters
    ----------
    encoder
        A Hugging Face model.
    n_tags
        The number of tags of each corpus.
    o_weights
        How much an O word counts in the loss, by corpus; other words count 1.
    head
        As in `Recipe`.
    seed
        Seed for the first prototypes.
    """

    def __init__(
        self, encoder: Any, n_tags: Sequence[int], o_weights: Sequence[float], *, head: str, seed: int
    ) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(seed)
        self.encoder = encoder
        dim = encoder.config.hidden_size
        self.heads = nn.ModuleList(Head(n, dim, is_linear=head == "linear", generator=generator) for n in n_tags)
        self._is_weighted = [weight != 1 for weight in o_weights]
        for number, (n, weight) in enumerate(zip(n_tags, o_weights, strict=True)):
            tag_weights = torch.ones(n)
            tag_weights[0] = weight
            self.register_buffer(f"tag_weights_{number}", tag_weights, persistent=False)

    def logits(self, batch: Batch, head: int) -> Tensor:
        """Return logits of shape (n_words, n_tags)."""
        return self.heads[head](word_vectors(self.encoder, batch))  # type: ignore[no-any-return]

    def loss(self, batch: Batch) -> Tensor:
        """Return the negative log-likelihood of the tags of a batch, per word."""
        weights = None
        if self._is_weighted[batch.corpus]:
            weights = self.get_buffer(f"tag_weights_{batch.corpus}")
        total = functional.cross_entropy(self.logits(batch, batch.corpus), batch.tags, weights, reduction="sum")
        return total / batch.n_words


def word_vectors(encoder: Any, batch: Batch) -> Tensor:
    """Return the vectors (n_words, dim) of the words of a batch, in float32; on a GPU the encoder uses bfloat16."""
    device = batch.ids.device
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
        output = encoder(input_ids=batch.ids, attention_mask=batch.mask, return_dict=True)
    hidden = output.last_hidden_state.flatten(0, 1)
    ends: Tensor = hidden.index_select(0, torch.cat((batch.first, batch.last))).float()
    first, last = ends.chunk(2)
    return 0.5 * (first + last)


def read_base(encoder: str, layers: int | None, dropout: float | None) -> tuple[Any, Any, int]:
    """Read the encoder to start from.

    Returns
    -------
    tuple
        The model (cut to `layers`), its tokenizer, and the number of layers that it had.
    """
    if encoder in EMBEDDED or is_exported(Path(encoder)):
        raise EncoderError(
            f"{encoder} is an exported encoder, which cannot be trained; give a Hugging Face folder "
            "(config.json, model.safetensors, tokenizer.json) or hub name"
        )
    model, tokenizer = read_pretrained(encoder)
    if getattr(model.config, "is_encoder_decoder", False):
        raise EncoderError(f"{encoder} is an encoder-decoder model; training needs an encoder alone")
    n_layers = int(model.config.num_hidden_layers)
    if layers is not None:
        cut_layers(model, layers)
    if dropout is not None:
        set_dropout(model, dropout)
    return model, tokenizer, n_layers


def cut_layers(model: Any, layers: int) -> None:
    """Keep only the first `layers` layers of a model, and change its configuration accordingly."""
    n_layers = model.config.num_hidden_layers
    if not 1 <= layers <= n_layers:
        raise EncoderError(f"layers is {layers}, expected 1 to {n_layers}: the encoder has {n_layers} layers")
    stacks = [
        (owner, name)
        for owner in model.modules()
        for name, child in owner.named_children()
        if isinstance(child, nn.ModuleList) and len(child) == n_layers
    ]
    if len(stacks) != 1:
        raise EncoderError(f"cannot cut a {type(model).__name__}: its layers were not found")
    owner, name = stacks[0]
    setattr(owner, name, getattr(owner, name)[:layers])
    model.config.num_hidden_layers = layers
    if getattr(model.config, "layer_types", None):
        model.config.layer_types = model.config.layer_types[:layers]


def set_dropout(model: Any, dropout: float) -> None:
    """Set every dropout of a model; its configuration, which describes the base, is not changed."""
    for module in model.modules():
        if isinstance(module, nn.Dropout):
            module.p = dropout


def digest_weights(model: nn.Module) -> str:
    """Return a digest of the weights of a model."""
    digest = hashlib.sha256()
    for name, tensor in sorted(model.state_dict().items()):
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().float().cpu().contiguous().numpy().data)
    return digest.hexdigest()
