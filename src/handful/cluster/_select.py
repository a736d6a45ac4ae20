"""Order statistics over blocks of rows: the m-th smallest of n values, exactly, in few passes and little memory."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from handful._util.passes import ByBlock, reduce_rows

Keys = NDArray[np.uint64]
KeysOf = Callable[[slice, Any], Keys]
ValuesOf = Callable[[Any], NDArray[np.float64]]

BITS = 12  # of a key that a pass finds out: the first 12 bits of a double are its sign and exponent
FEW = 1 << 16  # values that are gathered
TOP = np.uint64(1 << 63)


class Cut(NamedTuple):
    """The border of the m smallest values: smaller values are among them, and equal ones up to this row."""

    value: float
    row: int

    def chosen(self, where: slice, values: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Mark the values of a block that are among the m smallest."""
        chosen = values < self.value
        ties = np.flatnonzero(values == self.value)
        chosen[ties[ties <= self.row - where.start]] = True
        return np.asarray(chosen)


def smallest(results: ByBlock[Any], values_of: ValuesOf, m: int, n: int) -> Cut:
    """Find the m smallest (0 < m < n) of the n values that a function takes from results."""
    key, n_wanted, n_ties = _select(results, lambda _, one: _ordered(values_of(one)), m, n)
    value = _value(key)
    if n_wanted == n_ties:
        return Cut(value, n)

    def rows_of(where: slice, one: Any) -> Keys:
        return np.asarray(where.start + np.flatnonzero(values_of(one) == value), np.uint64)

    row, _, _ = _select(results, rows_of, n_wanted, n_ties)
    return Cut(value, int(row))


def mth_smallest(results: ByBlock[Any], values_of: ValuesOf, m: int, n: int) -> float:
    """Return the m-th smallest (from 1) of the n values that a function takes from results."""
    return _value(_select(results, lambda _, one: _ordered(values_of(one)), m, n)[0])


def _select(results: ByBlock[Any], keys_of: KeysOf, m: int, n: int) -> tuple[np.uint64, int, int]:
    """Return the m-th smallest of n keys, its place among those that are equal to it, and how many are.

    Each pass counts keys by their next bits, and so finds the next bits of the key that is looked for. Once few keys
    begin with the bits that are known, they are gathered.
    """
    prefix, n_left = 0, 64  # the bits that are known, and how many more there are
    while n > FEW and n_left:
        step = min(BITS, n_left)
        counts = reduce_rows(partial(_by_next, keys_of, prefix, n_left, step), np.add, results)
        up_to = np.cumsum(counts)
        place = int(np.searchsorted(up_to, m))
        n, m = int(counts[place]), m - int(up_to[place] - counts[place])
        prefix, n_left = prefix << step | place, n_left - step
    if not n_left:
        return np.uint64(prefix), m, n
    gathered = reduce_rows(lambda *block: [_beginning(keys_of(*block), prefix, n_left)], list.__add__, results)
    keys = np.concatenate(gathered)
    key = np.partition(keys, m - 1)[m - 1]
    return key, m - int(np.count_nonzero(keys < key)), int(np.count_nonzero(keys == key))


def _beginning(keys: Keys, prefix: int, n_left: int) -> Keys:
    """Return the keys that begin with some bits, after which `n_left` come."""
    return keys if n_left == 64 else keys[keys >> np.uint64(n_left) == np.uint64(prefix)]


def _by_next(keys_of: KeysOf, prefix: int, n_left: int, step: int, where: slice, one: Any) -> NDArray[np.int64]:
    """Count the keys of a block that begin with some bits by their next bits, (2 ** step,)."""
    keys = _beginning(keys_of(where, one), prefix, n_left)
    next_bits = (keys >> np.uint64(n_left - step)) & np.uint64((1 << step) - 1)
    return np.bincount(next_bits.astype(np.int64), minlength=1 << step)


def _ordered(values: NDArray[np.float64]) -> Keys:
    """Return whole numbers that are in the order of the values: equal where those are, 0 and -0 too."""
    bits = (values + 0.0).view(np.uint64)
    return np.asarray(np.where(bits & TOP, ~bits, bits | TOP))


def _value(key: np.uint64) -> float:
    """Return the value of such a number."""
    bits = key & ~TOP if key & TOP else ~key
    return float(np.array(bits).view(np.float64))
