"""What is public is offered by `dir`, and is there."""

from importlib import import_module
from pathlib import Path

import pytest

import handful

PACKAGE = Path(handful.__file__).parent
ROOMS = ["handful", "handful.errors", "handful.encoders.cache"] + [
    f"handful.{file.parent.name}"
    for file in sorted(PACKAGE.glob("*/__init__.py"))
    if not file.parent.name.startswith("_")
]


@pytest.mark.parametrize("room", ROOMS)
def test_what_is_public_is_offered_and_there(room):
    module = import_module(room)
    assert set(module.__all__) <= set(dir(module))
    assert [name for name in module.__all__ if name.startswith("_")] == (["__version__"] if room == "handful" else [])
    missing = object()
    assert not [name for name in module.__all__ if getattr(module, name, missing) is missing]
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        module.nothing  # noqa: B018


def test_all_rooms_are_looked_at():
    assert {"handful.cluster", "handful.text", "handful.tagger", "handful.training", "handful.cli"} <= set(ROOMS)
