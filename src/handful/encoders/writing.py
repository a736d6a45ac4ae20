"""Where vectors go: into an array, or into a file that appears when it is complete."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from handful._util.files import replacing
from handful.errors import DataError

from .pooling import Float32

__all__ = ["check_out", "fill", "new_mapped", "write", "write_mapped"]


def check_out(out: Any, shape: tuple[int, int]) -> None:
    """Refuse an ``out`` that cannot take the vectors: it must be None, a path or an array."""
    if out is None or isinstance(out, str | os.PathLike):
        return
    if not isinstance(out, np.ndarray):
        raise DataError(f"out must be an array, a path or None, found {type(out).__name__}")
    if out.shape != shape or out.dtype not in (np.float16, np.float32):
        raise DataError(f"out must be float16 or float32 of shape {shape}, found {out.dtype} of shape {out.shape}")
    if not out.flags.writeable:
        raise DataError("out must be an array that can be written to; this one is read-only")


def fill(out: npt.NDArray[Any], chunks: Iterable[Float32]) -> npt.NDArray[Any]:
    """Put chunks into an array, one after the other."""
    start = 0
    for vectors in chunks:
        if out.dtype == np.float16 and np.abs(vectors).max() > np.finfo(np.float16).max:
            raise DataError("a value is too large for float16: use float32")
        out[start : start + len(vectors)] = vectors
        start += len(vectors)
    return out


def write(path: Path, chunks: Iterable[Float32], shape: tuple[int, int]) -> npt.NDArray[Any]:
    """Write chunks to an .npy file, one after the other: mapped pages would count as memory in use."""
    header = {
        "descr": np.lib.format.dtype_to_descr(np.dtype(np.float32)),
        "fortran_order": False,
        "shape": shape,
    }
    with replacing(path, sync=True) as temporary, temporary.open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        for vectors in chunks:
            file.write(vectors.data)
            del vectors
    return np.load(path, mmap_mode="r") if shape[0] else np.load(path)  # type: ignore[no-any-return]


def write_mapped(path: Path, shape: tuple[int, int], fill: Callable[[npt.NDArray[Any]], None]) -> npt.NDArray[Any]:
    """Write an .npy file in any order: `fill` gets it mapped into memory; return it mapped, read-only."""
    with replacing(path) as temporary:
        rows = new_mapped(temporary, shape, "float32")
        fill(rows)
        rows.flush()
        del rows
    return np.lib.format.open_memmap(path, "r")


def new_mapped(path: Path, shape: tuple[int, int], dtype: str) -> "np.memmap[Any, np.dtype[Any]]":
    """Return an array in a new file, mapped into memory; a full disk is an error now, not a crash later."""
    rows = np.lib.format.open_memmap(path, "w+", np.dtype(dtype), shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as file:
            os.posix_fallocate(file.fileno(), 0, os.fstat(file.fileno()).st_size)
    return rows
