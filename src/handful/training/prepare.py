"""Everything that a training needs: the base encoder, the laid-out corpora, and the network on its device."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from handful.encoders.hugging_face import shape_stride, window_of, word_tokenizer
from handful.encoders.shapes import add_word_shapes, has_word_shapes
from handful.encoders.tokenizer import WordTokenizer
from handful.errors import Advice, DataError
from handful.text import Sentence

from ._heads import FreeHead, NamesHead
from ._negatives import different_types, plain_words
from ._packing import layout_of
from ._recipe import Recipe, of_corpus
from ._steps import Source
from ._texts import lay_out_types
from .batches import Rows, lay_out_corpus
from .corpora import SourceCorpus, io_tags
from .model import Network, digest_weights, read_base
from .training_loop import Data, Training

__all__ = ["Prepared", "device_of", "prepare"]


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
    where = device_of(device)
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
    is_named = recipe.head == "names"
    has_negatives = is_named and recipe.negatives > 0
    texts = None
    if is_named:
        shares = {"name_only": recipe.name_only, "description_only": recipe.description_only}
        texts = lay_out_types(sources, splitter, window, **shares)
    trained = _sources(sources, recipe, splitter, window, plain_words(sources) if has_negatives else set())
    dev = [_rows(corpus, corpus.dev, splitter, window) if corpus.dev else None for corpus in sources]
    data = Data(sources, trained, dev, texts, layout_of(model, window))
    different = different_types(encoder, sources, recipe.negatives, where) if has_negatives else None
    dim, n_types = model.config.hidden_size, sum(len(corpus.types) for corpus in sources)
    head: FreeHead | NamesHead
    if is_named:
        head = NamesHead(len(sources), dim, seed=recipe.seed)
    else:
        head = FreeHead(n_types, len(sources), dim, is_linear=recipe.head == "linear", seed=recipe.seed)
    network = Network(model, head, contrast=recipe.contrast, different=different).to(where)
    return Prepared(sources, recipe, base, model, tokenizer, Training(network, data, recipe, where), where)


def _sources(
    corpora: Sequence[SourceCorpus], recipe: Recipe, tokenizer: WordTokenizer, window: int, plain: set[str]
) -> list[Source]:
    found: list[Source] = []
    first = 0
    for corpus in corpora:
        rows = _rows(corpus, corpus.train, tokenizer, window)
        types = np.arange(first, first + len(corpus.types))
        is_plain = np.array([word.lower() in plain for sentence in corpus.train for word in sentence.words], bool)
        share, o_weight = (of_corpus(each, corpus.name) for each in (recipe.weights, recipe.o_weights))
        found.append(Source(rows, types, share, o_weight, is_plain))
        first += len(types)
    return found


def _rows(corpus: SourceCorpus, sentences: Sequence[Sentence], tokenizer: WordTokenizer, window: int) -> Rows:
    return lay_out_corpus(sentences, io_tags(sentences, corpus.type_names), tokenizer, window, name=corpus.name)


def device_of(name: str | None) -> torch.device:
    """Return the device of this name; None, a GPU where there is one."""
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
