"""The tagger as people first meet it: with the encoder that is inside the package."""

import subprocess
import sys
import warnings

import pytest

import handful
from handful import Tagger
from handful.encoders import EMBEDDED
from handful.errors import DataError, HandfulWarning
from handful.tagger._per_call import _tagger

from .test_language import FOREIGN
from .toy import mentions

SUPPORT = [
    "[Ekeus](PER) heads for [Baghdad](LOC) on Thursday .",
    "In [Delhi](LOC) , [Rao](PER) met the press .",
    "[Anna Schmidt](PER) moved from [Vienna](LOC) to [Graz](LOC) last year .",
]
UNLABELLED = [
    "The minister flew to Cairo, where John Porter was waiting for him.",
    "Maria Lopez said that the road to Lisbon was closed.",
    "It rained all week, and nobody went out.",
    "A train left Oslo at noon with Erik Hansen on board.",
]

pytestmark = pytest.mark.skipif(
    not EMBEDDED["handful-en"].is_dir(), reason="the encoder handful-en is not in this build of the package"
)


@pytest.fixture(scope="module")
def model():
    return Tagger(o_ratio=0.8, cache=False).fit(SUPPORT, UNLABELLED)


def test_finds_people_and_places_it_has_not_seen(model):
    text = "Yesterday Peter Novak drove to Prague."
    found = model.predict(text)
    assert mentions(found) == [("Peter Novak", "PER"), ("Prague", "LOC")]
    assert all(text[m["start"] : m["end"]] == m["word"] for m in found)


def test_hardly_english_is_said_once(model, tmp_path):
    model.save(tmp_path / "model")
    again = Tagger.load(tmp_path / "model", cache=False)
    with pytest.warns(HandfulWarning, match="looks like "):
        again.predict(5 * FOREIGN["German"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again.predict(5 * FOREIGN["German"])


def test_strange_text_goes_through(model):
    text = "👩🏽‍💻 naïve\u0301 Ω≈ç√ \u202eABC\u202c 𝔘𝔫𝔦𝔠𝔬𝔡𝔢 " + "x" * 3000 + " \u0600\u0601 🇫🇷 中文 Prague"
    found = model.predict(text)
    assert all(text[m["start"] : m["end"]] == m["word"] for m in found)


def test_prediction_loads_no_scikit_learn(model, tmp_path):
    model.save(tmp_path / "model")
    code = f"""
import sys
import handful
from handful import Tagger
assert Tagger.load({str(tmp_path / "model")!r}).predict("Rao is in Delhi .")
print(*sys.modules)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"sklearn", "torch", "transformers"} & set(run.stdout.split())


def test_types_per_call_need_no_fit_and_are_remembered():
    text, types = "Anna Berg flew to Paris.", {"PER": "names of people", "LOC": "names of places"}
    found = handful.predict(text, types)
    assert found == handful.Tagger(types, cache=False).fit().predict(text)
    assert handful.predict([text], "city") != [found]  # other types, other mentions
    _tagger.cache_clear()
    for _ in range(3):
        assert handful.predict(text, types) == found
    assert (_tagger.cache_info().hits, _tagger.cache_info().misses) == (2, 1)
    with pytest.raises(DataError, match="there is no type to find"):
        handful.predict(text, {})


@pytest.mark.filterwarnings("ignore:the text is hardly English")  # names alone, in small letters
def test_a_sentence_that_is_repeated_without_an_end_is_read_each_time():
    once = "anna berg met john smith in leeds yesterday "
    found = [len(handful.predict(n * once, "person, city")) for n in (20, 60)]
    assert found[0] == 60
    assert found[1] >= 0.6 * 180
