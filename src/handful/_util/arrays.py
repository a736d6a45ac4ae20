"""Kinds of arrays, and passes over them by blocks of rows."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

__all__ = ["Float", "row_blocks"]

Float = NDArray[np.floating]

BLOCK_BYTES = 1 << 23  # a block and a scratch copy of it stay in the last cache of most machines


def row_blocks(X: Float) -> Iterator[tuple[slice, Float]]:  # noqa: N803
    """Yield (slice, rows) over X (n, d); float16 rows come as float32, other floats as they are, never copied."""
    n, d = X.shape
    rows = max(64, BLOCK_BYTES // (max(4, X.itemsize) * max(1, d)))
    for start in range(0, n, rows):
        part = slice(start, min(start + rows, n))
        block = X[part]
        yield part, block.astype(np.float32) if block.dtype == np.float16 else block
