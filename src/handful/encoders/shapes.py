"""How words are written (lower case, Title, CAPITALS, numbers), for encoders whose tokenizer drops it.

An uncased tokenizer reads "Apple" and "apple" alike. An encoder trained with word shapes adds a learned vector for
the shape of its word to the embedding of every sub-word. The shape travels inside the token id::

    id = sub-word + stride * shape        stride = the number of rows of the table of embeddings

so nothing between the tokenizer and the embeddings has to know about it. Special tokens have shape 0, whose vector
is zero at the start of training.
"""

from pathlib import Path
from typing import Any

from handful.errors import EncoderError

N_SHAPES = 9

#: Holds the table of shape vectors, beside the other files of a Hugging Face folder.
SHAPES_FILE = "word_shapes.safetensors"


def word_shape(word: str) -> int:
    """Return the shape of a word, 1 to 8; a leading # or @ does not count.

    >>> [word_shape(w) for w in ("apple", "Apple", "#NASA", "I", "iPhone", "B2B", "1,234", "?!")]
    [1, 2, 3, 4, 5, 6, 7, 8]
    """
    letters = [c for c in word if c.isalpha()]
    has_digit = any(c.isdigit() for c in word)
    if not letters:
        return 7 if has_digit else 8
    if has_digit:
        return 6
    n_upper = sum(c.isupper() for c in letters)
    if n_upper == 0:
        return 1
    if n_upper == len(letters):
        return 3 if len(letters) > 1 else 4
    return 2 if n_upper == 1 and word.lstrip("#@")[:1].isupper() else 5


def add_word_shapes(model: Any, weight: Any = None) -> int:
    """Make a Hugging Face model read ids with shapes in them; return the stride.

    Its new input embeddings add the shape's vector, a row of `weight` (N_SHAPES, dim); None, zeros, to be trained.
    """
    import torch

    words = model.get_input_embeddings()
    stride, dim = words.weight.shape

    class ShapedEmbeddings(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = words
            start = torch.zeros(N_SHAPES, dim) if weight is None else weight
            self.shapes = torch.nn.Embedding(N_SHAPES, dim, _weight=start)  # draws no random numbers

        def forward(self, ids: Any) -> Any:
            return self.words(ids % stride) + self.shapes(ids // stride)

    model.set_input_embeddings(ShapedEmbeddings())
    return int(stride)


def has_word_shapes(model: Any) -> bool:
    """Tell whether `add_word_shapes` was applied."""
    try:
        return hasattr(model.get_input_embeddings(), "shapes")
    except NotImplementedError:  # a model without a table of tokens, such as one that reads characters
        return False


def remove_word_shapes(model: Any) -> Any:
    """Undo `add_word_shapes`; return the table of shapes, a tensor of shape (N_SHAPES, dim)."""
    embeddings = model.get_input_embeddings()
    model.set_input_embeddings(embeddings.words)
    return embeddings.shapes.weight.detach()


def load_word_shapes(model: Any, folder: Path) -> int:
    """Apply a folder's table of shapes to its model, if it has one; return the stride, or 0."""
    path = folder / SHAPES_FILE
    if not path.is_file():
        return 0
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        weight = load_file(path)["weight"]
    except (SafetensorError, KeyError, OSError) as error:
        raise EncoderError(f"broken encoder: {path} cannot be read: {error}") from None
    expected = (N_SHAPES, model.get_input_embeddings().weight.shape[1])
    if tuple(weight.shape) != expected:
        raise EncoderError(f"broken encoder: {path} holds shape {tuple(weight.shape)}, expected {expected}")
    return add_word_shapes(model, weight)
