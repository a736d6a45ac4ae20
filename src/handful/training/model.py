"""The network that is trained: an encoder, and a head on it that reads types (see `handful.training._heads`).

A word's vector x is the mean of its first and last sub-word vectors. The loss is the cross-entropy of each word's tag
over O and the types of its own corpus, the mean over words. A second loss, with a small weight, wants each word to be
nearest to a word with the same tag; j are the words of the same corpus in other sentences::

    d_ij = e^a ||z_i - z_j||^2 / 2             a is learned
    -log( sum_{j with the tag of i} exp(-d_ij) / sum_j exp(-d_ij) )

A third one, if any corpus has mentions of one type side by side, is the cross-entropy of whether a mention begins at a
word whose type is that of the word before; it is summed over such words, and divided by the number of all words.
"""

from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from handful.encoders.hugging_face import read_pretrained
from handful.encoders.opened import is_exported
from handful.encoders.shipped import folder_of
from handful.errors import EncoderError

from ._heads import NEVER, NamesHead
from ._steps import Step
from .batches import Batch, Ints, TokenRows, collate, on_device

_START_SCALE = -2.0  # of a in the second loss


class TaggingNetwork(nn.Module):
    """An encoder of the Hugging Face layout with its head; `contrast` is the weight of the second loss.

    `different` says for each pair of types, of all corpora, whether a mention of the one is never of the other, shape
    (n_types, n_types): then types of other corpora are wrong answers too. None, only those of the same corpus.
    """

    def __init__(
        self, encoder: Any, head: NamesHead, *, contrast: float = 0.0, different: Tensor | None = None
    ) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head
        self.contrast = contrast
        self.log_scale = nn.Parameter(torch.tensor(_START_SCALE)) if contrast else None
        self.register_buffer("different", different, persistent=False)

    def new_parameters(self) -> list[nn.Parameter]:
        """Return the parameters with the learning rate of prototypes: all but the encoder's and the matrix W."""
        slow = {*self.encoder.parameters(), *self.head.linear.parameters()}
        return [parameter for parameter in self.parameters() if parameter not in slow]

    def loss(self, step: Step) -> Tensor:
        """Return the loss of a step, per word."""
        hidden = _hidden(self.encoder, step)
        x = _middle(hidden, step.first, step.last)
        losses = functional.cross_entropy(self.logits(x, hidden, step), step.tags, reduction="none")
        total: Tensor = (losses * step.weights).sum() / step.n_words
        if self.log_scale is not None and len(step.contrast):
            total = total + self.contrast * self._contrastive(x, step)
        if self.head.border is not None and len(step.follows):
            logits = self.head.of_borders(x.index_select(0, step.follows - 1), x.index_select(0, step.follows))
            found = functional.binary_cross_entropy_with_logits(logits, step.begins, reduction="sum")
            total = total + found / step.n_words
        return total

    def logits(self, x: Tensor, hidden: Tensor, step: Step) -> Tensor:
        """Return the logits of O and of all types of a step, (n_words, 1 + n_columns); types not asked for are low.

        `x` has the vectors of words, (n_words, dim), `hidden` those of all tokens, among them the texts of types.
        """
        means = functional.embedding_bag(step.text_at, hidden, step.text_starts)
        of_o, of_types = self.head(x, means, step.corpora, step.owners)
        is_asked = step.corpora[:, None] == step.type_corpora
        if self.different is not None:
            different = self.get_buffer("different")[step.types][:, step.types]
            of_tag = torch.cat((torch.zeros_like(different[:1]), different))
            is_asked = is_asked | of_tag[step.tags] | (step.is_plain & (step.tags == 0))[:, None]
        return torch.cat((of_o[:, None], of_types.masked_fill(~is_asked, NEVER)), 1)

    def _contrastive(self, x: Tensor, step: Step) -> Tensor:
        """Return the second loss, the mean over the words that have a partner."""
        assert self.log_scale is not None
        of_words = (x, step.tags, step.corpora, step.sentences)
        z, tags, corpora, sentences = (each.index_select(0, step.contrast) for each in of_words)
        half = 0.5 * z.square().sum(1)
        near = self.log_scale.exp() * (z @ z.T - half[:, None] - half)
        is_other = (corpora[:, None] == corpora) & (sentences[:, None] != sentences)
        is_partner = is_other & (tags[:, None] == tags)
        has_partner = is_partner.any(1)
        losses = near.masked_fill(~is_other, NEVER).logsumexp(1) - near.masked_fill(~is_partner, NEVER).logsumexp(1)
        mean: Tensor = (losses * has_partner).sum() / has_partner.sum().clamp(min=1)
        return mean


def _hidden(encoder: Any, step: Step) -> Tensor:
    """Return the vectors (n_tokens, dim) of all tokens of a step, in float32; on a GPU the encoder uses bfloat16."""
    inputs: dict[str, Tensor] = {"input_ids": step.ids}
    if step.is_packed:
        # Each token sees those of its own sentence: 0 is added to their scores, and a large negative number to others.
        is_apart = step.sequences[:, None, :, None] != step.sequences[:, None, None, :]
        inputs["attention_mask"] = torch.zeros(is_apart.shape, device=is_apart.device).masked_fill_(is_apart, NEVER)
        inputs["position_ids"] = step.positions
    else:
        inputs["attention_mask"] = (step.sequences >= 0).long()
    return _run(encoder, inputs)


def _run(encoder: Any, inputs: dict[str, Tensor]) -> Tensor:
    device = inputs["input_ids"].device
    with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
        output = encoder(**inputs, return_dict=True)
    hidden: Tensor = output.last_hidden_state.flatten(0, 1).float()
    return hidden


def _middle(hidden: Tensor, first: Tensor, last: Tensor) -> Tensor:
    return 0.5 * (hidden.index_select(0, first) + hidden.index_select(0, last))


def word_vectors(encoder: Any, batch: Batch) -> Tensor:
    """Return the vectors (n_words, dim) of the words of a batch, in float32; on a GPU the encoder uses bfloat16."""
    hidden = _run(encoder, {"input_ids": batch.ids, "attention_mask": batch.mask})
    return _middle(hidden, batch.first, batch.last)


def text_means(encoder: Any, rows: TokenRows, texts: Ints, device: torch.device) -> Tensor:
    """Return for each text, by its number among laid-out ones, the mean (n_texts, dim) over its sub-words."""
    batch = on_device(collate(rows, texts), device)
    hidden = _run(encoder, {"input_ids": batch.ids, "attention_mask": batch.mask})
    n_words = torch.from_numpy(rows.words[texts + 1] - rows.words[texts])
    return functional.embedding_bag(batch.first, hidden, (n_words.cumsum(0) - n_words).to(device))


def read_base(encoder: str, layers: int | None = None) -> tuple[Any, Any, int]:
    """Read the encoder to start from: the model (cut to `layers`), its tokenizer, and how many layers it had."""
    if is_exported(folder_of(encoder) or Path(encoder)):
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
