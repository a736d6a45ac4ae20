"""The network that is tuned, and its loop: an exported encoder with adapters, and the head that reads names of types.

The logits of a word's vector x are those of `handful.training._heads.NamesHead`, over O and the types; or, where the
encoder does not read names, those of a linear layer. The loss of a word is ``-log sum_t p_t(x)`` over the tags t that
its label allows, so a word of which nothing is known counts nothing. Everything random is a pure function of the seed
and of the epoch (order of sentences) or the step (dropout).
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from handful.encoders import NameHead, NetworkEncoder, export_encoder, load
from handful.encoders.names import text_of
from handful.encoders.opened import is_exported
from handful.encoders.pooling import Inputs
from handful.encoders.thaw import read_graph, thaw
from handful.errors import EncoderError
from handful.text import EntityType, Sentence, to_sentence

from ._graph_network import GraphNetwork
from ._heads import NamesHead
from ._recipe import TuneRecipe
from ._stepping import WEIGHT_DECAY, Stepper, part_of
from .batches import Batch, TokenRows, collate, lay_out_corpus, lay_out_texts, on_device, plan_epoch

__all__ = ["Lesson", "Loop", "Student", "Thawed", "open_source"]

Allowed = npt.NDArray[np.bool_]

_NEVER = -1e9


@dataclass(frozen=True)
class Lesson:
    """What is learned, and from what."""

    parameters: Mapping[str, tuple[nn.Parameter, float]]  # what is trained, by name, and its learning rate
    decay: frozenset[str]  # the names of those that shrink a little at each step
    loss: Callable[[Batch], Tensor]  # of a batch, the mean per word
    rows: TokenRows  # the labelled sentences
    module: nn.Module  # what is put into training mode


class Loop:
    """A training in progress; its number distinguishes trainings with the same seed.

    Attributes
    ----------
    step, n_steps : steps that are done, and all steps
    loss : the mean per word of the last step
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
            export_encoder(folder, exported, layers=1)
            folder = exported
        graph = read_graph(folder / "model.onnx")
        thaw(graph)
        yield Thawed(folder, load(folder), graph)


class Student(nn.Module):
    """An encoder with its head, to be trained.

    Parameters
    ----------
    types : those to find
    is_named : whether types are read by their names; if not, each has a vector of its own
    has_adapters : whether adapters are trained, and the weights stay; if not, all weights are trained
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
            words = [to_sentence(text_of(one)).words for one in types]
            self._texts = lay_out_texts(words, source.encoder.tokenizer, source.encoder.window)
        else:
            linear: nn.Linear = nn.utils.skip_init(nn.Linear, dim, n_tags)  # type: ignore[no-untyped-call]
            nn.init.normal_(linear.weight, std=0.02, generator=torch.Generator().manual_seed(recipe.seed))
            nn.init.zeros_(linear.bias)
            self.head = linear
        self._source, self._recipe, self._device = source, recipe, device
        self.to(device)

    def lesson(self, sentences: Sequence[Sentence], allowed: Sequence[Allowed]) -> Lesson:
        """Return what is to be learned from sentences; words may have the tags `allowed`, (n_words, n_tags)."""
        encoder = self._source.encoder
        n_words = sum(len(sentence.words) for sentence in sentences)
        rows = lay_out_corpus(sentences, np.arange(n_words), encoder.tokenizer, encoder.window, name="the labels")
        may_be = torch.from_numpy(np.concatenate(allowed)).to(self._device)

        def loss(batch: Batch) -> Tensor:
            logits = self.logits(batch)
            of_allowed = logits.masked_fill(~may_be[batch.tags], _NEVER).logsumexp(1)
            return (logits.logsumexp(1) - of_allowed).mean()

        slow = self.network.adapters() or dict(self.network.named_parameters())
        parameters = {f"network.{name}": (one, self._recipe.lr) for name, one in slow.items()}
        for name, one in self.head.named_parameters():
            if name != "shifts":  # of corpora, which are not used here
                parameters[f"head.{name}"] = (one, self._recipe.head_lr)
        decay = frozenset(
            name for name, (one, _) in parameters.items() if name.startswith("network.") and one.dim() > 1
        )
        return Lesson(parameters, decay, loss, rows, self)

    def words(self, batch: Batch) -> Tensor:
        """Return the vectors (n_words, dim) of the words of a batch."""
        hidden = self._hidden(batch)
        return 0.5 * (hidden.index_select(0, batch.first) + hidden.index_select(0, batch.last))

    def logits(self, batch: Batch) -> Tensor:
        """Return the logits of O and of the types, (n_words, n_tags)."""
        x = self.words(batch)
        if isinstance(self.head, nn.Linear):
            return self.head(x)  # type: ignore[no-any-return]
        assert self._texts is not None
        texts = on_device(collate(self._texts, np.arange(len(self._texts))), self._device)
        n_words = torch.from_numpy(np.diff(self._texts.words))
        starts = (n_words.cumsum(0) - n_words).to(self._device)
        of_o, of_types = self.head(x, functional.embedding_bag(texts.first, self._hidden(texts), starts))
        return torch.cat((of_o[:, None], of_types), 1)

    def encoder(self, share: float) -> NetworkEncoder:
        """Return an encoder that runs this network, as far as it was changed. It is right until it is trained on."""
        self.eval()
        own = self._source.encoder
        return NetworkEncoder(
            _Running(self, share, self._device),
            own.tokenizer,
            dim=own.dim,
            window=own.window,
            pooling=own.pooling,
            transitions=own.transitions,
            names=self.names(share),
        )

    def names(self, share: float) -> NameHead | None:
        """Return the head that reads names, as far as it was changed; the one it had if none was trained."""
        if isinstance(self.head, nn.Linear):
            return self._source.encoder.names
        before, after = self._source.encoder.names, self.head.trained()
        of = ("weight", "bias", "o_prototypes", "beta")
        start, end = ([getattr(head, name) for name in of] for head in (before, after))
        return NameHead(*(a + share * (b - a) for a, b in zip(start, end, strict=True)))

    def weights(self, share: float) -> dict[str, npt.NDArray[np.float32]]:
        """Return the weights by the names of the graph, as far as they were changed."""
        self.network.share = share
        return {name: weight.cpu().numpy() for name, weight in self.network.merged().items()}

    def _hidden(self, batch: Batch) -> Tensor:
        known = {"input_ids": batch.ids, "attention_mask": batch.mask}
        with torch.autocast(self._device.type, torch.bfloat16, enabled=self._device.type == "cuda"):
            hidden = self.network(known)
        found: Tensor = hidden.flatten(0, 1).float()
        return found


class _Running:
    """A network of `NetworkEncoder`: what torch computes, in float32."""

    def __init__(self, student: Student, share: float, device: torch.device) -> None:
        self._student, self._share, self._device = student, share, device

    def identity(self) -> bytes:
        """Return bytes that no other encoder has; nothing is kept under them."""
        return f"tuning {id(self)}".encode()

    @torch.inference_mode()
    def run(self, inputs: Inputs) -> npt.NDArray[np.float32]:
        """Return hidden vectors of shape (n_rows, n_tokens, dim)."""
        known = {name: torch.from_numpy(array).to(self._device) for name, array in inputs.items()}
        self._student.network.share = self._share
        hidden = self._student.network(known)
        found: npt.NDArray[np.float32] = hidden.float().cpu().numpy()
        return found


def _names_head(names: NameHead | None, seed: int) -> NamesHead:
    assert names is not None
    head = NamesHead(1, names.dim, seed=seed)
    head.o_prototypes = nn.Parameter(torch.from_numpy(names.o_prototypes.copy()))
    with torch.no_grad():
        head.linear.weight.copy_(torch.from_numpy(names.weight))
        head.linear.bias.copy_(torch.from_numpy(names.bias))
        head.beta.fill_(names.beta)
    return head
