"""The whole state of a training in one file: tensors in safetensors, the rest as JSON in its header."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from handful._util.files import replacing
from handful.errors import FileError, ModelError

__all__ = ["read_checkpoint", "write_checkpoint"]

_KEY = "handful training"


def write_checkpoint(path: Path, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    """Write a checkpoint; the previous one is replaced when the new one is complete."""
    contents = {name: tensor.detach().contiguous().cpu() for name, tensor in tensors.items()}
    with replacing(path, sync=True) as temporary:
        try:
            save_file(contents, temporary, metadata={_KEY: json.dumps(state)})
        except SafetensorError as error:
            raise FileError(f"{path}: cannot be written: {error}") from None


def read_checkpoint(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read a checkpoint: its tensors, and the rest of its state."""
    try:
        with safe_open(path, "pt") as file:
            state = json.loads((file.metadata() or {})[_KEY])
            return {name: file.get_tensor(name) for name in file.keys()}, state  # noqa: SIM118
    except (OSError, SafetensorError, KeyError, ValueError) as error:
        raise ModelError(f"{path} is not a checkpoint that training can go on from ({error}); remove it") from None
