"""Libraries and public names that are imported when they are asked for: nothing is loaded for the sake of others."""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType

from handful.errors import MissingExtraError

_EXTRAS = {"distributed": "dask", "pyarrow": "dask", "huggingface_hub": "hub", "spacy": "spacy"}
_EXTRAS |= dict.fromkeys(("starlette", "uvicorn", "prometheus_client"), "web")


def check_libraries(what: str, *libraries: str) -> None:
    """Refuse to begin without libraries of an extra; to import them could take seconds."""
    for name in libraries:
        if find_spec(name) is None:
            extra = _EXTRAS.get(name, "transformers")
            raise MissingExtraError(f"{what} needs {name}, which is not installed: pip install 'handful[{extra}]'")


def lazy(
    room: str, needs: Mapping[str, Sequence[str]] = MappingProxyType({}), /, **modules: str
) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a room; each of its modules is given with its names, as one string.

    For some modules, `needs` has what `check_libraries` is given before.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def get(name: str) -> object:
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        if homes[name] in needs:
            check_libraries(*needs[homes[name]])
        return getattr(import_module(f"{room}.{homes[name]}"), name)

    return get, lambda: sorted(import_module(room).__all__)
