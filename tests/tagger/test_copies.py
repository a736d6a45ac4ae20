"""Taggers that are pickled and copied, as joblib, multiprocessing and web servers do."""

import copy
import multiprocessing
import pickle
import shutil

import joblib
import pytest

from handful import Tagger
from handful.errors import ModelError

from .toy import SUPPORT, UNLABELLED, ToyEncoder, fitted, names, tagger

TEXT = "Pim went from Leiden to see Lot ."
MORE = ["[Gap](ORG) sells to [Pia](PER)"]

pytestmark = [
    pytest.mark.filterwarnings("ignore:the text looks like"),
    pytest.mark.filterwarnings("ignore:.* cannot read"),  # a very small encoder has few sub-words
]


def pickled(model):
    return pickle.loads(pickle.dumps(model))


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("HANDFUL_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.mark.parametrize("copied", [pickled, copy.deepcopy])
@pytest.mark.parametrize("cache", [True, False])
@pytest.mark.parametrize("encoder", ["handful-en", ToyEncoder()], ids=["name", "object"])
def test_a_copy_is_as_good_as_the_original(tmp_path, copied, cache, encoder):
    model = tagger(encoder=encoder, cache=cache).fit(SUPPORT, UNLABELLED)
    model.explain(TEXT)
    model.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model", encoder=encoder, cache=cache)
    loaded.explain(TEXT)
    for one in (model, loaded):
        again = copied(one)
        assert again.predict(TEXT) == one.predict(TEXT)
        assert again.explain(TEXT) == one.explain(TEXT)
        again.save(tmp_path / "again")
        assert (tmp_path / "again" / "config.json").read_bytes() == (tmp_path / "model" / "config.json").read_bytes()
        again.add(MORE, UNLABELLED)
        assert (names(again), names(one)) == (["LOC", "ORG", "PER"], ["LOC", "PER"])
        assert again.predict(TEXT) == copied(one).add(MORE, UNLABELLED).predict(TEXT)


def test_a_tagger_that_is_not_fitted_is_copied_too():
    for model in (Tagger(), tagger()):
        assert pickled(model).__dict__.keys() == copy.deepcopy(model).__dict__.keys() == model.__dict__.keys()
    assert pickled(tagger()).fit(SUPPORT, UNLABELLED).predict(TEXT) == fitted().predict(TEXT)


def test_a_copy_opens_its_encoder_when_needed_and_in_the_precision_of_the_fit(source, tmp_path, monkeypatch):
    from handful.encoders import load

    def there(*args, **options):  # a machine on which this precision is the default
        return load(*args, **options | {"precision": options["precision"] or "bfloat16"})

    monkeypatch.chdir(source.parent)
    with monkeypatch.context() as patch:
        patch.setattr("handful.encoders.opened.load", there)
        model = tagger(encoder=source.name).fit(SUPPORT, UNLABELLED)
        expected = model.predict(TEXT)
    monkeypatch.chdir(tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr("handful.encoders.opened.load", None)
        again = pickled(pickled(model))
    assert again.predict(TEXT) == expected


def test_a_copy_whose_encoder_has_changed_says_so(source, tmp_path):
    from models import bert

    shutil.copytree(source, tmp_path / "encoder")
    copies = [pickled(tagger(encoder=tmp_path / "encoder").fit(SUPPORT, UNLABELLED)) for _ in range(2)]
    copies[0].predict(TEXT)
    shutil.rmtree(tmp_path / "encoder")
    bert(tmp_path / "encoder")  # of the same shape, with other weights
    with pytest.raises(ModelError, match="no longer the one"):
        copies[1].predict(TEXT)


@pytest.mark.exhaustive
def test_processes_share_the_work():
    model = tagger(encoder="handful-en", threads=1).fit(SUPPORT, UNLABELLED)
    texts = [TEXT, UNLABELLED[0]]
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map(model.predict, texts) == model.predict(texts)
    parallel = joblib.Parallel(n_jobs=2)
    assert parallel(joblib.delayed(model.predict)(text) for text in texts) == model.predict(texts)
