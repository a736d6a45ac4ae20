"""Which sentences an encoder was trained on."""

import json
import shutil
from pathlib import Path

import pytest

import handful.encoders
from handful import Sentence, Span, read
from handful.encoders import CachedEncoder, export_encoder, load
from handful.encoders.cache import FeatureCache
from handful.encoders.card import SEEN, count_seen, write_seen
from handful.errors import EncoderError

MOSAIC = Path(__file__).parents[2] / "corpora" / "mosaic"
TRAINED = [["the", "quick", "fox"], Sentence(("in", "Paris"), (Span(1, 2, "LOC"),)), ["the", "quick", "fox"]]


@pytest.fixture
def trained(source, tmp_path):
    folder = shutil.copytree(source("bert"), tmp_path / "trained")
    write_seen(folder / SEEN, TRAINED)
    return folder


def test_sentences_are_known_by_their_words(trained, tmp_path):
    export_encoder(trained, tmp_path / "exported")
    some = [["the", "quick", "fox"], ["the", "quick fox"], ["thequickfox"], ["fox"], Sentence(("in", "Paris"))]
    for folder in (trained, tmp_path / "exported"):
        encoder = load(folder)
        assert count_seen(encoder, some) == 2
        assert count_seen(CachedEncoder(encoder, FeatureCache(tmp_path / "cache")), some) == 2
        assert count_seen(encoder, []) == 0
    assert (trained / SEEN).stat().st_size == 8


def test_an_encoder_that_does_not_say(source):
    assert count_seen(load(source("bert")), TRAINED) is None


def test_a_file_that_is_cut_off_is_an_error(trained):
    (trained / SEEN).write_bytes(b"abcde")
    with pytest.raises(EncoderError, match=r"sentences\.bin is cut off"):
        count_seen(load(trained), TRAINED)


def test_the_embedded_encoder_knows_its_corpora():
    encoder = load("handful-en")
    card = json.loads((Path(handful.encoders.__file__).parent / "en" / "training.json").read_text(encoding="utf-8"))
    names = {corpus["name"].removeprefix("mosaic/") for corpus in card["corpora"]}
    files = sorted(path for path in (MOSAIC / "train").glob("*.txt") if path.stem in names)
    assert len(files) > 700
    train = [sentence for path in files[::40] for sentence in read(path)]
    dev = [sentence for path in sorted((MOSAIC / "dev").glob("*.txt"))[::4] for sentence in read(path)]
    assert count_seen(encoder, train) == len(train) > 300
    assert count_seen(encoder, dev) < 0.02 * len(dev)
