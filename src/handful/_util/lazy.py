"""Public names of a room that are imported when they are asked for: no library is loaded for the sake of others."""

from collections.abc import Callable
from importlib import import_module

__all__ = ["lazy"]


def lazy(room: str, **modules: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a room; each of its modules is given with its names, as one string."""
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> object:
        if name in homes:
            return getattr(import_module(f"{room}.{homes[name]}"), name)
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    return get, lambda: sorted(import_module(room).__all__)
