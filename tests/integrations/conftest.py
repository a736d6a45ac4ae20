"""A tagger for garden notes, fitted and saved once."""

import pytest

from handful import Tagger, examples, read
from handful.text import read_types


@pytest.fixture(scope="session")
def garden(made_once):
    """Return the folder of a tagger with a few labels and the encoder of the package."""

    def make(folder):
        support = list(read(examples.SUPPORT))[:8]
        Tagger(read_types(examples.TYPES), cache=False, threads=1).fit(support).save(folder)

    return made_once("garden", make)


@pytest.fixture(scope="session")
def tagger(garden):
    return Tagger.load(garden, cache=False, threads=1)
