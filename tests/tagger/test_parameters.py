"""Parameters as scikit-learn's estimators have them."""

import subprocess
import sys

import pytest
from sklearn.base import clone

from handful import EntityType, SubspaceKMeans, Tagger
from handful.errors import DataError

from .toy import SUPPORT, UNLABELLED, ToyEncoder, fitted, tagger

TEXT = "Pim went from Leiden to see Lot ."
PARAMETERS = {
    "encoder": "handful-en",
    "types": {"PER": "names of people"},
    "names": False,
    "overlap": True,
    "method": "paper",
    "o_ratio": 0.9,
    "find": "more",
    "clusters": SubspaceKMeans(o_prototypes=3),
    "threads": 1,
    "cache": False,
}


def test_parameters_are_given_back_as_they_were_given():
    model = Tagger(**PARAMETERS)
    assert model.get_params(deep=False) == PARAMETERS
    assert list(model.get_params(deep=False)) == sorted(PARAMETERS)
    assert all(getattr(model, name) is value for name, value in PARAMETERS.items())
    assert model.get_params() == PARAMETERS
    assert set(Tagger().get_params()) == set(PARAMETERS)


def test_the_types_come_first_and_an_encoder_in_their_place_is_refused():
    assert Tagger("PER, LOC").types == "PER, LOC"
    with pytest.raises(DataError, match=r"types are names, a dict of descriptions or a list of these, found <.*Toy"):
        Tagger(ToyEncoder())


def test_parameters_can_be_set():
    model = Tagger()
    assert model.set_params(**PARAMETERS) is model
    assert model.get_params(deep=False) == PARAMETERS
    model.set_params(clusters={"max_iter": 3}, o_ratio=None)
    assert (model.clusters, model.o_ratio) == ({"max_iter": 3}, None)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ratio": 0.9}, r"Tagger has no parameter ratio; it has cache, clusters, encoder"),
        ({"o_ratio": 0.5, "clusters__max_iter": 3}, r"Tagger has no parameter clusters__max_iter"),
    ],
)
def test_a_parameter_that_does_not_exist_is_refused_before_any_is_set(parameters, message):
    model = Tagger()
    with pytest.raises(DataError, match=message):
        model.set_params(**parameters)
    assert model.o_ratio == "auto"


def test_a_clone_has_the_parameters_and_not_the_fit():
    model = fitted(o_ratio=0.7, types=iter([EntityType("PER", "names of people")]), max_iter=7)
    again = clone(model)
    assert again.get_params(deep=False).keys() == model.get_params(deep=False).keys()
    assert again.types == model.types == [EntityType("PER", "names of people")]
    assert again.clusters is not model.clusters
    assert again.clusters.max_iter == 7
    with pytest.raises(DataError, match="not fitted"):
        again.predict(TEXT)
    assert again.fit(SUPPORT, UNLABELLED).predict(TEXT) == model.predict(TEXT)


def test_a_saved_tagger_is_cloned_too(tmp_path):
    model = fitted(o_ratio=0.7)
    model.save(tmp_path / "model")
    again = clone(Tagger.load(tmp_path / "model", encoder=ToyEncoder(), cache=False))
    assert again.fit(SUPPORT, UNLABELLED).predict(TEXT) == model.predict(TEXT)


def test_another_encoder_makes_the_fit_void():
    model = fitted(o_ratio=0.7)
    before = model.predict(TEXT)
    assert model.set_params(o_ratio=None, threads=2).predict(TEXT) == before  # until the next fit
    other = ToyEncoder(noise=0.1)
    model.set_params(encoder=other)
    with pytest.raises(DataError, match="not fitted"):
        model.predict(TEXT)
    assert model.fit(SUPPORT, UNLABELLED).predict(TEXT) == tagger(encoder=other).fit(SUPPORT, UNLABELLED).predict(TEXT)
    assert other.n_words > 0


def test_parameters_load_no_scikit_learn():
    code = "import sys; from handful import Tagger; Tagger().set_params(o_ratio=0.9).get_params(); print(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"sklearn", "scipy", "onnxruntime"} & set(run.stdout.split())
