"""Libraries and public names that are imported when they are asked for: nothing is loaded for the sake of others."""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec

from handful.errors import MissingExtraError


def check_libraries(what: str, *libraries: str) -> None:
    """Refuse to begin without libraries of the extra ``transformers``; to import them would take seconds."""
    for name in libraries:
        if find_spec(name) is None:
            raise MissingExtraError(f"{what} needs {name}: pip install 'handful[transformers]'")


def lazy(room: str, **modules: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a room; each of its modules is given with its names, as one string."""
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> object:
        if name in homes:
            return getattr(import_module(f"{room}.{homes[name]}"), name)
        raise AttributeError(f"module {room!r} has no attribute {name!r}")

    return get, lambda: sorted(import_module(room).__all__)
