"""Whatever wraps an encoder answers as the encoder inside; what a user gives becomes an `Encoder` at the door."""

import inspect
import pickle

import numpy as np
import pytest

from handful.encoders import CachedEncoder, Encoder, TypeVectors, open_encoder
from handful.encoders.cache import FeatureCache, RememberingEncoder
from handful.encoders.encoder import WrappedEncoder
from handful.errors import EncoderError
from handful.text import Transitions, types_of

#: Everything that the rest of the package may ask of an encoder.
ASKED = {name for name in (*Encoder.__annotations__, *vars(Encoder)) if not name.startswith("_")}
SENTENCES = [["a", "quiet", "day"], ["😂"], ["in", "Rome"]]
TYPES = {"PER": "people", "LOC": "places"}


class Plain:
    """Answers everything otherwise than `Encoder` does by default, and is none."""

    dim, fingerprint, name, reference, precision = 3, "plain", "somebody's", "/some/folder", "float16"
    transitions = Transitions(start_type=0.1, o_type=0.1, type_o=0.5, type_other=0.1)
    has_names = True
    languages = ("de", "en")
    border = (0.5,) * 7

    def __init__(self):
        self.n_words = 0

    def encode(self, sentences, *, progress=None):
        self.n_words += sum(map(len, sentences))
        return np.array([[len(word), len(sentence), 1] for sentence in sentences for word in sentence], np.float32)

    def encode_types(self, types):
        types = types_of(types)
        ones = np.ones((len(types), 3), np.float32)
        return TypeVectors(types, ones, ones[:, 0], ones[:1], ones[:1, 0])

    def unreadable(self, sentences):
        return np.array([word == "😂" for sentence in sentences for word in sentence], bool)


class Own(Plain, Encoder):
    """The same as an `Encoder`."""


def wrapped(kind, encoder, tmp_path):
    if kind is CachedEncoder:
        return kind(encoder, FeatureCache(tmp_path))
    return open_encoder(Plain()) if kind is open_encoder else kind(encoder)


def answer(encoder, name):
    found = getattr(encoder, name)
    if not inspect.ismethod(found):
        return found
    return found(TYPES).scores(np.eye(3)).tolist() if name == "encode_types" else found(SENTENCES).tolist()


def all_subclasses(kind):
    return {kind, *(one for sub in kind.__subclasses__() for one in all_subclasses(sub))}


def test_every_wrapper_is_tried_here():
    ours = {one for one in all_subclasses(WrappedEncoder) if one.__module__.startswith("handful.")}
    assert ours == {WrappedEncoder, CachedEncoder, RememberingEncoder}


@pytest.mark.parametrize("name", sorted(ASKED))
@pytest.mark.parametrize("kind", [WrappedEncoder, CachedEncoder, RememberingEncoder, open_encoder])
def test_a_wrapper_answers_as_the_encoder_inside(kind, name, tmp_path):
    encoder = Own()
    found = wrapped(kind, encoder, tmp_path)
    assert isinstance(found, Encoder)
    for _ in range(2):  # the second time out of the memory
        assert answer(found, name) == answer(encoder, name)
    if name not in ("dim", "fingerprint", "encode"):
        default = inspect.getattr_static(Encoder, name)
        assert inspect.getattr_static(type(found), name) is not default or name in vars(found)


class Bare:
    dim, fingerprint = 3, "x"

    def __init__(self, shape=None):
        self.shape = shape

    def encode(self, sentences, *, progress=None):
        return np.zeros(self.shape or (sum(map(len, sentences)), 3), np.float32)


def test_what_an_object_lacks_is_as_by_default():
    encoder = open_encoder(Bare())
    assert (encoder.name, encoder.reference, encoder.precision, encoder.transitions) == ("Bare", None, None, None)
    assert not encoder.has_names
    assert encoder.unreadable(SENTENCES).tolist() == [False] * 6
    with pytest.raises(EncoderError, match="the encoder Bare does not read the names of types"):
        encoder.encode_types(TYPES)
    assert pickle.loads(pickle.dumps(encoder)).encode(SENTENCES).shape == (6, 3)
    assert encoder.encode([]).shape == (0, 3)


def test_an_encoder_is_opened_as_it_is():
    encoder = Own()
    assert open_encoder(encoder) is encoder


def test_the_features_of_an_object_are_checked():
    with pytest.raises(EncoderError, match=r"must give floats of shape \(6, 3\), found float32 \(5, 3\)"):
        open_encoder(Bare((5, 3))).encode(SENTENCES)
    for lacking in ("dim", "fingerprint", "encode"):
        names = {"dim": 3, "fingerprint": "x", "encode": Bare.encode}
        names.pop(lacking)
        with pytest.raises(EncoderError, match=f"which has no {lacking}; give the name"):
            open_encoder(type("Odd", (), names)())
