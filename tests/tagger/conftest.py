"""An encoder that several files share."""

import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def source(made_once):
    """Make a very small encoder of the usual kind, in the Hugging Face layout."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "encoders"))
    from models import bert

    return made_once("bert", bert)
