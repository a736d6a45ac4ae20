"""Models to serve: their names, and the encoder that they share."""

import pytest

from handful import Tagger
from handful.errors import DataError, FileError
from handful.serve import load_models


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("models")
    tagger = Tagger({"PEST": "insects and slugs"}, cache=False).fit()
    tagger.save(folder / "garden")
    tagger.save(folder / "a name")
    return folder


def test_models_are_called_as_their_folders_are_or_as_is_said(folder):
    models = load_models([folder / "garden", f"other={folder / 'a name'}", f"third={folder / 'garden'}"])
    assert list(models) == ["garden", "other", "third"]
    encoders = {id(one.encoder_) for one in models.values()}
    assert len(encoders) == 1
    assert models["other"].predict("slugs") == models["garden"].predict("slugs")


def test_names_that_are_not_possible(folder):
    with pytest.raises(DataError, match="two models are called 'garden'"):
        load_models([folder / "garden", folder / "garden"])
    with pytest.raises(DataError, match="cannot be the name of a model in an address"):
        load_models([folder / "a name"])
    with pytest.raises(FileError, match="no such folder"):
        load_models([folder / "nothing"])
