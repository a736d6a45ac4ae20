"""An encoder that several files share."""

import sys
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """Make a very small encoder of the usual kind, in the Hugging Face layout."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "encoders"))
    from models import bert

    folder = tmp_path_factory.mktemp("bert")
    bert(folder)
    return folder
