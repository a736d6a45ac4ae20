"""Each family's encoder is made and exported once a run."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from models import FAMILIES

from handful.encoders._export import export_encoder


@pytest.fixture(scope="session")
def source(tmp_path_factory):
    """Return a function from a family's name to a Hugging Face folder."""
    folders = {}

    def make(family):
        if family not in folders:
            folders[family] = tmp_path_factory.mktemp(family)
            FAMILIES[family](folders[family])
        return folders[family]

    return make


@pytest.fixture(scope="session")
def exported(source, tmp_path_factory):
    """Return a function from a family's name and whether it is int8 to an exported folder."""
    folders = {}

    def make(family, *, int8=False):
        if (family, int8) not in folders:
            folder = tmp_path_factory.mktemp("exported") / f"{family}-{int8}"
            export_encoder(source(family), folder, int8=int8)
            folders[family, int8] = folder
        return folders[family, int8]

    return make
