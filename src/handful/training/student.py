"""The network that is tuned, and its loop: an exported encoder with adapters, and the head that reads names of types.

The logits of a word's vector x are those of `handful.training._heads.NamesHead`, over O and the types; or, where the
encoder does not read names, those of a linear layer. The loss of a word is ``-log sum_t p_t(x)`` over the tags t that
its label allows, so a word of which nothing is known counts nothing. Everything random is a pure function of the seed
and of the epoch (order of sentences) or the step (dropout).
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from handful.encoders import export_encoder, load
from handful.encoders.names import NameHead, text_of
from handful.encoders.opened import NetworkEncoder, is_exported
from handful.encoders.pooling import Inputs
from handful.encoders.thaw import read_graph, thaw
from handful.errors import EncoderError
from handful.text import EntityType, Sentence, to_sentence
from handful.text.guidelines import guideline_of

from ._graph_network import GraphNetwork
from ._heads import NEVER, NamesHead
from ._recipe import TuneRecipe
from ._stepping import Stepper
from .batches import Batch, Ints, TokenRows, collate, lay_out_corpus, lay_out_texts, on_device, plan_epoch
from .model import text_means, word_vectors

Allowed = npt.NDArray[np.bool_]


class Loop:
    """A training of a student in progress: `loss` (the mean per word of a batch) falls on labelled sentences.

    In a batch, the tag of a word is its number among the words of all sentences. The number of the training
    distinguishes those with the same seed. `step` of `n_steps` are done; `loss` is now that of the last step.
    """

    def __init__(
        self, student: "Student", sentences: Sequence[Sentence], loss: Callable[[Batch], Tensor], number: int = 0
    ) -> None:
        self._student, self._compute, self._number = student, loss, number
        self._recipe, encoder = student.recipe, student.source.encoder
        n_words = sum(len(sentence.words) for sentence in sentences)
        self._rows = lay_out_corpus(sentences, np.arange(n_words), encoder.tokenizer, encoder.window, name="the labels")
        self.step, self.n_steps, self.loss = 0, self._recipe.n_steps(len(sentences)), math.nan
        trained = student.trained().items()
        of_network, of_head = (
            [one for name, one in trained if name.startswith(part)] for part in ("network.", "head.")
        )
        matrices, others = ([one for one in of_network if (one.dim() > 1) == is_matrix] for is_matrix in (True, False))
        seeds = [self._recipe.seed, number]
        self._stepper = Stepper(matrices, others, of_head, self._recipe, n_steps=self.n_steps, seeds=seeds)
        self._plan: list[Ints] = []
        self._epoch = -1

    def take(self) -> None:
        """Take the next step."""
        self._student.train()
        batch = on_device(collate(self._rows, self._sentences()), self._student.device)
        self.loss = float(self._stepper.take(self.step, lambda: self._compute(batch)))
        if not math.isfinite(self.loss):
            raise EncoderError(
                f"the loss became {self.loss}: the learning rate is too high, or the weights are damaged"
            )
        self.step += 1

    def _sentences(self) -> Any:
        per_epoch = -(-len(self._rows) // self._recipe.batch)
        epoch, place = divmod(self.step, per_epoch)
        if epoch != self._epoch:
            seed = self._recipe.seed + 1000 * self._number
            self._plan = plan_epoch(self._rows, batch=self._recipe.batch, seed=seed, epoch=epoch)
            self._epoch = epoch
        return self._plan[place]


@dataclass(frozen=True)
class Thawed:
    """An exported encoder in floats, to start from."""

    folder: Path  # where it is
    encoder: NetworkEncoder  # as it is
    graph: Any  # its graph, in floats


@contextmanager
def open_source(folder: Path) -> Iterator[Thawed]:
    """Give an encoder in floats; one in the Hugging Face layout is exported first, to a folder for the time being."""
    with TemporaryDirectory() as scratch:
        if not is_exported(folder):
            exported = Path(scratch) / "encoder"
            export_encoder(folder, exported)
            folder = exported
        graph = read_graph(folder / "model.onnx")
        thaw(graph)
        yield Thawed(folder, load(folder), graph)


class Student(nn.Module):
    """An encoder with its head, to be trained to find types.

    With `is_named`, types are read by their names; if not, each has a vector of its own. With `has_adapters`, adapters
    are trained and the weights stay; if not, all weights are trained.
    """

    def __init__(
        self,
        source: Thawed,
        types: Sequence[EntityType],
        recipe: TuneRecipe,
        device: torch.device,
        *,
        is_named: bool,
        has_adapters: bool = True,
    ) -> None:
        super().__init__()
        self.network = GraphNetwork(source.graph)
        self.network.dropout = recipe.dropout
        if has_adapters:
            self.network.add_adapters(recipe.rank, recipe.seed)
        self.head: NamesHead | nn.Linear
        dim, n_tags = source.encoder.dim, 1 + len(types)
        names = source.encoder.names
        self._texts: TokenRows | None = None
        if is_named and names is not None:
            self.head = _names_head(names, recipe.seed)
            has_parts = names.exclusion is not None
            excluded = [guideline_of(one.description).excludes if has_parts else () for one in types]
            texts = [text_of(one, has_parts=has_parts) for one in types]
            texts += [part.text for parts in excluded for part in parts]
            words = [to_sentence(text).words for text in texts]
            self._texts = lay_out_texts(words, source.encoder.tokenizer, source.encoder.window)
            self._owners = torch.from_numpy(np.repeat(np.arange(len(types)), list(map(len, excluded))))
        else:
            linear: nn.Linear = nn.utils.skip_init(nn.Linear, dim, n_tags)  # type: ignore[no-untyped-call]
            nn.init.normal_(linear.weight, std=0.02, generator=torch.Generator().manual_seed(recipe.seed))
            nn.init.zeros_(linear.bias)
            self.head = linear
        self.source, self.recipe, self.device = source, recipe, device
        self.to(device)

    def trained(self) -> dict[str, nn.Parameter]:
        """Return the parameters to train, by their names."""
        of_network = self.network.adapters() or dict(self.network.named_parameters())
        found = {f"network.{name}": one for name, one in of_network.items()}
        # The shifts are those of corpora, which are not used here.
        return found | {f"head.{name}": one for name, one in self.head.named_parameters() if name != "shifts"}

    def loss_of(self, allowed: Sequence[Allowed]) -> Callable[[Batch], Tensor]:
        """Return the loss where the words of each sentence may have the tags `allowed`, (n_words, n_tags)."""
        may_be = torch.from_numpy(np.concatenate(allowed)).to(self.device)

        def loss(batch: Batch) -> Tensor:
            logits = self.logits(batch)
            of_allowed = logits.masked_fill(~may_be[batch.tags], NEVER).logsumexp(1)
            return (logits.logsumexp(1) - of_allowed).mean()

        return loss

    def logits(self, batch: Batch) -> Tensor:
        """Return the logits of O and of the types, (n_words, n_tags)."""
        x = word_vectors(self.network, batch)
        if isinstance(self.head, nn.Linear):
            return self.head(x)  # type: ignore[no-any-return]
        assert self._texts is not None
        means = text_means(self.network, self._texts, np.arange(len(self._texts)), self.device)
        of_o, of_types = self.head(x, means, None, self._owners.to(self.device))
        return torch.cat((of_o[:, None], of_types), 1)

    def encoder(self, share: float) -> NetworkEncoder:
        """Return an encoder that runs this network, as far as it was changed. It is right until it is trained on."""
        self.eval()
        own = self.source.encoder
        return NetworkEncoder(
            _Running(self, share),
            own.tokenizer,
            dim=own.dim,
            window=own.window,
            transitions=own.transitions,
            names=self.names(share),
        )

    def names(self, share: float) -> NameHead | None:
        """Return the head that reads names, as far as it was changed; the one it had if none was trained."""
        if isinstance(self.head, nn.Linear):
            return self.source.encoder.names
        before, after = self.source.encoder.names, self.head.trained()
        of = ("weight", "bias", "o_prototypes", "beta", *(["exclusion"] if self.head.exclusion is not None else []))
        start, end = ([getattr(head, name) for name in of] for head in (before, after))
        moved = NameHead(*(a + share * (b - a) for a, b in zip(start, end, strict=True)))
        return replace(moved, border=before.border)  # type: ignore[union-attr]

    def weights(self, share: float) -> dict[str, npt.NDArray[np.float32]]:
        """Return the weights by the names of the graph, as far as they were changed."""
        self.network.share = share
        return {name: weight.cpu().numpy() for name, weight in self.network.merged().items()}


class _Running:
    """A network of `NetworkEncoder`: what torch computes, in float32."""

    def __init__(self, student: Student, share: float) -> None:
        self._student, self._share = student, share

    def identity(self) -> bytes:
        """Return bytes that no other encoder has; nothing is kept under them."""
        return f"tuning {id(self)}".encode()

    @torch.inference_mode()
    def run(self, inputs: Inputs) -> npt.NDArray[np.float32]:
        """Return hidden vectors of shape (n_rows, n_tokens, dim)."""
        known = {name: torch.from_numpy(array).to(self._student.device) for name, array in inputs.items()}
        self._student.network.share = self._share
        hidden = self._student.network(**known).last_hidden_state
        found: npt.NDArray[np.float32] = hidden.float().cpu().numpy()
        return found


def _names_head(names: NameHead, seed: int) -> NamesHead:
    head = NamesHead(1, names.dim, seed=seed, has_parts=names.exclusion is not None)
    head.o_prototypes = nn.Parameter(torch.from_numpy(names.o_prototypes.copy()))
    with torch.no_grad():
        head.linear.weight.copy_(torch.from_numpy(names.weight))
        head.linear.bias.copy_(torch.from_numpy(names.bias))
        head.beta.fill_(names.beta)
        if head.exclusion is not None:
            head.exclusion.fill_(names.exclusion or 0.0)
    return head
