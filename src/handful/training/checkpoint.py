"""The whole state of a training in one file: tensors in safetensors, the rest as JSON in its header."""

import json
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor, uint8

from handful._util.files import failed, replacing
from handful.errors import ModelError

__all__ = ["read_checkpoint", "write_checkpoint"]

_KEY, _CHECKSUM = "handful training", "checksum"


def write_checkpoint(path: Path, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    """Write a checkpoint; the previous one is replaced when the new one is complete."""
    contents = {name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()}
    with replacing(path, sync=True) as temporary:
        try:
            text = json.dumps(state)
            save_file(contents, temporary, metadata={_KEY: text, _CHECKSUM: _checksum(contents, text)})
        except SafetensorError as error:
            raise failed(path, error) from None


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a checkpoint: its tensors, and the rest of its state."""
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            state = json.loads(about[_KEY])
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        if about[_CHECKSUM] != _checksum(tensors, about[_KEY]):
            raise ValueError("it does not match its checksum")
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelError(f"{path} is not a checkpoint that training can go on from ({error}); remove it") from None
    return tensors, state


def _checksum(tensors: Mapping[str, Tensor], text: str) -> str:
    crc = zlib.crc32(text.encode())
    for name, tensor in sorted(tensors.items()):
        crc = zlib.crc32(name.encode(), crc)
        crc = zlib.crc32(tensor.reshape(-1).view(uint8).numpy().data, crc)
    return f"{crc:08x}"
