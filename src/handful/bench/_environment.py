"""The code, the libraries and the machine that a result was made with."""

import hashlib
import platform
import sys
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import handful
from handful._util.processor import usable_threads

_PACKAGE = Path(handful.__file__).parent
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "tokenizers", "onnxruntime", "torch", "transformers")

# Code that only shows figures, so that no figure depends on it.
_SHOWING = (
    "cli/", "examples/", "web/", "bench/__init__.py", "bench/_board.py",
    "bench/_environment.py", "bench/report.py", "bench/settings.py",
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
    """Return what is needed to repeat a run on a machine like this one."""
    return {
        "command": command,
        "options": dict(options),
        "handful": handful.__version__,
        "code": code_digest(),
        "python": platform.python_version(),
        "libraries": versions(),
        "machine": platform.machine(),
        "system": platform.platform(),
        "processors": usable_threads(),
        "byte_order": sys.byteorder,
    }
