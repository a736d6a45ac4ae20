"""Which sentences an encoder was trained on: a file of hashes beside its weights, which holds no text.

The file has a number of 32 bits for each sentence, little-endian and sorted. A sentence that was not seen is taken for
one that was with a chance of the number of hashes / 2^32: 3 in 100,000 for handful-en.
"""

from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from handful.errors import EncoderError

from .encoder import Encoder, words_of
from .loading import EMBEDDED

__all__ = ["SEEN", "count_seen", "write_seen"]

#: The file of the hashes, in a Hugging Face folder and in an exported one.
SEEN = "sentences.bin"

_HASH = np.dtype("<u4")


def write_seen(path: Path, sentences: Iterable[Any]) -> None:
    """Write the hashes of the sentences that an encoder was trained on."""
    path.write_bytes(np.unique(_hashes(sentences)).tobytes())


def count_seen(encoder: Encoder, sentences: Sequence[Any]) -> int | None:
    """Return how many of the sentences an encoder was trained on, by their words; None if its folder does not say."""
    reference = encoder.reference
    path = None if reference is None else EMBEDDED.get(reference, Path(reference)) / SEEN
    if path is None or not path.is_file():
        return None
    content = path.read_bytes()
    if len(content) % _HASH.itemsize:
        raise EncoderError(f"broken encoder: {path} is cut off")
    return int(np.isin(_hashes(sentences), np.frombuffer(content, _HASH)).sum())


def _hashes(sentences: Iterable[Any]) -> npt.NDArray[np.uint32]:
    """Return a number for each sentence, which depends on its words alone."""
    texts = ("\x1f".join(words_of(sentence, i)) for i, sentence in enumerate(sentences))
    digests = (blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_HASH.itemsize).digest() for text in texts)
    return np.frombuffer(b"".join(digests), _HASH)
