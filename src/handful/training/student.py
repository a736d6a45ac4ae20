"""The network that is tuned: an exported encoder with adapters, and the head that reads the names of types.

The logits of a word's vector x are those of `handful.training._heads.NamesHead`, over O and the types; or, where the
encoder does not read names, those of a linear layer. The loss of a word is ``-log sum_t p_t(x)`` over the tags t that
its label allows, so a word of which nothing is known counts nothing.
"""

from collections.abc import Iterator, Sequence
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

from handful.encoders import NameHead, NetworkEncoder, load
from handful.encoders.exporting import export_encoder
from handful.encoders.loading import is_exported
from handful.encoders.network_encoder import Inputs
from handful.encoders.thaw import read_graph, thaw
from handful.encoders.type_texts import text_of
from handful.text import EntityType, Sentence, to_sentence

from ._graph_network import GraphNetwork
from ._heads import NamesHead
from ._tune_recipe import TuneRecipe
from .batches import Batch, Rows, collate, lay_out_corpus, lay_out_texts, on_device
from .lessons import Lesson

__all__ = ["Student", "Thawed", "open_source"]

Allowed = npt.NDArray[np.bool_]

_NEVER = -1e9


@dataclass(frozen=True)
class Thawed:
    """An exported encoder in floats, to start from.

    Attributes
    ----------
    folder : where it is
    encoder : as it is
    graph : its graph, in floats
    """

    folder: Path
    encoder: NetworkEncoder
    graph: Any


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
    source
        What it starts from.
    types
        Those to find.
    recipe
        How it is trained.
    device
        Where.
    is_named
        Whether types are read by their names; if not, each has a vector of its own.
    has_adapters
        Whether adapters are trained, and the weights stay; if not, all weights are trained.
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
        self._texts: Rows | None = None
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
        """Return what is to be learned from labelled sentences.

        Parameters
        ----------
        sentences
            The sentences.
        allowed
            For each of them which tags its words may have, (n_words, n_tags).
        """
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
