"""What a result was made with: the code, the libraries, the machine."""

import hashlib
import platform
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import handful

__all__ = ["code_digest", "environment", "versions"]

_PACKAGE = Path(handful.__file__).parent
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "tokenizers", "onnxruntime", "torch", "transformers")

# What no figure depends on: how it is shown.
_SHOWING = (
    "cli/", "examples/", "evaluate/__init__.py", "evaluate/board.py", "evaluate/differences.py",
    "evaluate/environment.py", "evaluate/latex.py", "evaluate/plots.py", "evaluate/published.py", "evaluate/report.py",
    "evaluate/settings.py", "evaluate/tables.py",
)  # fmt: skip


def versions() -> dict[str, str]:
    """Return the versions of the libraries that figures depend on, where they are installed."""
    found = {}
    for name in _LIBRARIES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found


def code_digest() -> str:
    """Return a hash of the code and the libraries that figures depend on."""
    total = hashlib.sha256(repr(sorted(versions().items())).encode())
    for path in sorted(_PACKAGE.rglob("*.py")):
        name = path.relative_to(_PACKAGE).as_posix()
        if not name.startswith(_SHOWING):
            total.update(name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()


def environment(command: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is needed to repeat a run on such a machine."""
    return {
        "command": command,
        "options": dict(options),
        "handful": handful.__version__,
        "code": code_digest(),
        "python": platform.python_version(),
        "libraries": versions(),
        "machine": platform.machine(),
        "system": platform.platform(),
        "processors": _processors(),
        "byte_order": sys.byteorder,
    }


def _processors() -> int:
    from handful.encoders._base import usable_threads

    return usable_threads()
