"""Everything that a training needs: the base encoder, the laid-out corpora, and the network on its device."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from handful.encoders._shapes import add_word_shapes, has_word_shapes
from handful.encoders._tokenizer import WordTokenizer
from handful.encoders._transformers import shape_stride, window_of, word_tokenizer
from handful.errors import Advice, DataError
from handful.text import Sentence

from ._batches import Rows, lay_out_corpus
from ._corpora import SourceCorpus, io_tags
from ._model import Network, digest_weights, read_base
from ._recipe import Recipe
from ._train import Data, Training

__all__ = ["Prepared", "prepare"]


@dataclass(frozen=True)
class Prepared:
    """A training that can start.

    Attributes
    ----------
    sources : the corpora
    recipe : how to train
    base : what the encoder was before training, for the card
    model, tokenizer : the encoder
    training : the training itself
    device : where it runs
    """

    sources: Sequence[SourceCorpus]
    recipe: Recipe
    base: dict[str, Any]
    model: Any
    tokenizer: Any
    training: Training
    device: torch.device

    def identity(self) -> dict[str, Any]:
        """Return everything that the weights depend on, in types that JSON has."""
        return {
            "recipe": self.recipe.to_dict(),
            "corpora": [corpus.summary() for corpus in self.sources],
            "base": self.base,
        }


def prepare(sources: Sequence[SourceCorpus], encoder: str, recipe: Recipe, device: str | None) -> Prepared:
    """Read the base encoder, lay the corpora out, and put the network on its device."""
    where = _device(device)
    model, tokenizer, n_layers = read_base(encoder, recipe.layers, recipe.dropout)
    base = {
        "encoder": encoder,
        "type": model.config.model_type,
        "layers": n_layers,
        "layers_kept": model.config.num_hidden_layers,
        "sha256": digest_weights(model),
    }
    if recipe.shapes and not has_word_shapes(model):
        add_word_shapes(model)
    splitter, window = word_tokenizer(tokenizer, shape_stride(model)), window_of(model, tokenizer)
    data = [_lay_out(corpus, splitter, window) for corpus in sources]
    network = Network(
        model,
        [len(corpus.types) + 1 for corpus in sources],
        [recipe.o_weights.get(corpus.name, 1.0) for corpus in sources],
        head=recipe.head,
        seed=recipe.seed,
    ).to(where)
    training = Training(network, data, recipe, where)
    return Prepared(sources, recipe, base, model, tokenizer, training, where)


def _lay_out(corpus: SourceCorpus, tokenizer: WordTokenizer, window: int) -> Data:
    def rows(sentences: list[Sentence]) -> Rows:
        tags = io_tags(sentences, corpus.type_names)
        return lay_out_corpus(sentences, tags, tokenizer, window, name=corpus.name)

    return Data(corpus, rows(corpus.train), rows(corpus.dev) if corpus.dev else None)


def _device(name: str | None) -> torch.device:
    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError:
        raise DataError(f"device is {name!r}, expected cpu or cuda") from None
    if device.type not in ("cpu", "cuda"):
        raise DataError(f"device is {name!r}, expected cpu or cuda")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise DataError(
            "there is no GPU here that torch can use", Advice("say device='cpu' or leave it out", "leave out --device")
        )
    return device
