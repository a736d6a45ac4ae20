"""Everything that a training needs: the base encoder, the laid-out corpora, and the network on its device."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from handful.encoders.hugging_face import shape_stride, weights_digest, window_of, word_tokenizer
from handful.encoders.shapes import add_word_shapes, has_word_shapes
from handful.encoders.tokenizer import WordTokenizer
from handful.errors import Advice, DataError
from handful.text import Sentence

from ._heads import NamesHead
from ._recipe import Recipe, of_corpus
from ._steps import StepCorpus, layout_of
from ._texts import lay_out_types
from .batches import TokenRows, lay_out_corpus
from .corpora import SourceCorpus, io_tags
from .model import TaggingNetwork, read_base, text_means
from .training_loop import Data, Training

_BATCH = 64
_LEAST_COUNT = 100  # occurrences of a word, to judge it
_LARGEST_SHARE = 0.03  # of them inside mentions


@dataclass(frozen=True)
class PreparedTraining:
    """A training that can start."""

    base: dict[str, Any]  # what the encoder was before training, for the card
    tokenizer: Any
    training: Training


def prepare(sources: Sequence[SourceCorpus], encoder: str, recipe: Recipe, device: str | None) -> PreparedTraining:
    """Read the base encoder, lay the corpora out, and put the network on its device."""
    where = device_of(device)
    model, tokenizer, n_layers = read_base(encoder, recipe.layers)
    base = {
        "encoder": encoder,
        "type": model.config.model_type,
        "layers": n_layers,
        "layers_kept": model.config.num_hidden_layers,
        "sha256": weights_digest(model),
    }
    if recipe.shapes and not has_word_shapes(model):
        add_word_shapes(model)
    splitter, window = word_tokenizer(tokenizer, shape_stride(model)), window_of(model, tokenizer)
    has_negatives, twins = recipe.negatives > 0, find_twins(sources)
    texts = lay_out_types(sources, splitter, window, recipe, twins)
    trained = _sources(sources, recipe, splitter, window, twins)
    dev = [_rows(corpus, corpus.dev, splitter, window) if corpus.dev else None for corpus in sources]
    data = Data(sources, trained, dev, texts, layout_of(model, window))
    different = different_types(encoder, sources, recipe.negatives, where) if has_negatives else None
    has_borders = any((source.rows.tags < 0).any() for source in trained)
    dim, seed = model.config.hidden_size, recipe.seed
    head = NamesHead(len(sources), dim, seed=seed, has_parts=recipe.parts, has_borders=has_borders)
    network = TaggingNetwork(model, head, contrast=recipe.contrast, different=different).to(where)
    return PreparedTraining(base, tokenizer, Training(network, data, recipe, where))


def different_types(encoder: str, corpora: Sequence[SourceCorpus], share: float, device: torch.device) -> torch.Tensor:
    """Return for each pair of types whether it is among the `share` of pairs that are least similar.

    A person in a text whose types do not include persons is not a counterexample of PERSON. So a mention of type s is
    one of type t only if the texts of s and t are very different to the base encoder, and an O word only if it is O
    nearly everywhere (`plain_words`).

    Similarity is the cosine of the mean vectors of the texts, by all layers of the encoder before training. The share
    is one of the pairs in corpora that are trained on.
    """
    model, tokenizer, _ = read_base(encoder)
    splitter = word_tokenizer(tokenizer, shape_stride(model))
    texts = lay_out_types(corpora, splitter, window_of(model, tokenizer))
    model = model.to(device).eval()
    n_types = sum(len(corpus.types) for corpus in corpora)
    vectors = torch.empty(n_types, model.config.hidden_size, device=device)
    order = np.argsort(texts.lengths(np.arange(n_types)), kind="stable")
    with torch.inference_mode():
        for i in range(0, n_types, _BATCH):
            types = order[i : i + _BATCH]
            chosen = texts.full(types).texts
            vectors[torch.from_numpy(types).to(device)] = text_means(model, texts.rows, chosen, device)
    vectors = functional.normalize(vectors)
    similar = vectors @ vectors.T
    is_trained = np.repeat([bool(corpus.train) for corpus in corpora], [len(corpus.types) for corpus in corpora])
    trained = torch.from_numpy(np.flatnonzero(is_trained)).to(device)
    pairs = similar[trained][:, trained][tuple(torch.triu_indices(len(trained), len(trained), 1, device=device))]
    if not len(pairs):
        return torch.zeros_like(similar, dtype=torch.bool)
    return similar < pairs.sort().values[int(share * len(pairs))]


def plain_words(corpora: Sequence[SourceCorpus]) -> set[str]:
    """Return the words, in lower case, that are frequent in the training sentences and nearly always O."""
    seen: Counter[str] = Counter()
    marked: Counter[str] = Counter()
    for corpus in corpora:
        for sentence in corpus.train:
            seen.update(word.lower() for word in sentence.words)
            for span in sentence.spans or ():
                marked.update(word.lower() for word in sentence.words[span.start : span.end])
    return {word for word, n in seen.items() if n >= _LEAST_COUNT and marked[word] <= _LARGEST_SHARE * n}


def find_twins(corpora: Sequence[SourceCorpus]) -> dict[int, int]:
    """Return the corpora that are trained on and have the same sentences as an earlier one, with the number of that."""
    first: dict[tuple[tuple[str, ...], ...], int] = {}
    found: dict[int, int] = {}
    for number, corpus in enumerate(corpora):
        if corpus.train and (earlier := first.setdefault(tuple(one.words for one in corpus.train), number)) != number:
            found[number] = earlier
    return found


def _sources(
    corpora: Sequence[SourceCorpus], recipe: Recipe, tokenizer: WordTokenizer, window: int, twins: Mapping[int, int]
) -> list[StepCorpus]:
    plain = plain_words(corpora) if recipe.negatives > 0 else set()
    found: list[StepCorpus] = []
    first = 0
    for number, corpus in enumerate(corpora):
        rows = _rows(corpus, corpus.train, tokenizer, window)
        types = np.arange(first, first + len(corpus.types))
        is_plain = np.array([word.lower() in plain for sentence in corpus.train for word in sentence.words], bool)
        share, o_weight = (of_corpus(each, corpus.name) for each in (recipe.weights, recipe.o_weights))
        found.append(StepCorpus(rows, types, share, o_weight, is_plain, twins.get(number)))
        first += len(types)
    return found


def _rows(corpus: SourceCorpus, sentences: Sequence[Sentence], tokenizer: WordTokenizer, window: int) -> TokenRows:
    return lay_out_corpus(sentences, io_tags(sentences, corpus.type_names), tokenizer, window, name=corpus.name)


def device_of(name: str | None) -> torch.device:
    """Return the device of this name; None, a GPU where there is one."""
    if name is None:
        name = "cuda" if torch.cuda.is_available() else "cpu"
    if name.partition(":")[0] not in ("cpu", "cuda"):
        raise DataError(f"device is {name!r}, expected cpu or cuda")
    device = torch.device(name)
    if device.type == "cuda" and not torch.cuda.is_available():
        raise DataError(
            "there is no GPU here that torch can use", Advice("say device='cpu' or leave it out", "leave out --device")
        )
    return device
