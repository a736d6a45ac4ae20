"""Each family's encoder is made and exported once a run."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from models import FAMILIES

from handful.encoders import export_encoder


@pytest.fixture(scope="session")
def source(made_once):
    """Return a function from a family's name to a Hugging Face folder."""
    return lambda family: made_once(family, FAMILIES[family])


@pytest.fixture(scope="session")
def exported(source, made_once):
    """Return a function from a family's name and whether it is int8 to an exported folder."""

    def make(family, *, int8=False):
        name = f"{family}-int8" if int8 else f"{family}-exported"
        return made_once(name, lambda folder: export_encoder(source(family), folder, int8=int8))

    return make


def pytest_collection_modifyitems(items):
    """Try two families each time, and the others where there is time."""
    for item in items:
        family = getattr(item, "callspec", None) and item.callspec.params.get("family")
        if family in FAMILIES.keys() - {"bert", "mpnet"}:
            item.add_marker(pytest.mark.exhaustive)
