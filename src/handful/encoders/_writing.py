"""Where vectors go: into an array, or into a file that appears when it is complete."""

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from handful.errors import DataError, FileError

from ._pooling import Float32

__all__ = ["check_out", "fill", "write"]


def check_out(out: npt.NDArray[Any], shape: tuple[int, int]) -> None:
    """Refuse an array that cannot take the vectors."""
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
    """Write chunks one after the other: mapped pages would count as memory in use."""
    if not path.name:
        raise FileError(f"cannot write vectors to {os.fspath(path)!r}: it names no file")
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    header = {
        "descr": np.lib.format.dtype_to_descr(np.dtype(np.float32)),
        "fortran_order": False,
        "shape": shape,
    }
    try:
        with temporary.open("wb") as file:
            np.lib.format.write_array_header_1_0(file, header)
            for vectors in chunks:
                file.write(vectors.data)
                del vectors
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        raise FileError(f"cannot write vectors to {path}: {error}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
    return np.load(path, mmap_mode="r") if shape[0] else np.load(path)  # type: ignore[no-any-return]
