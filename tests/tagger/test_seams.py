"""Mentions of one type side by side: where the encoder and the labels say that a new one begins."""

import json
from itertools import pairwise

import numpy as np
import pytest

from handful import Tagger
from handful.errors import ModelError
from handful.tagger.decoding import decode
from handful.text import to_tags

from .toy import NamedEncoder, ToyEncoder, names

DIM = 8
TYPES = {"PER": "P", "LOC": "L"}
TEXT = "then PA Pa Pb and LA came"  # words in capitals begin a mention, says the border of `Bordered`


class Bordered(NamedEncoder):
    """Capitals raise the last number of a vector; a mention begins where the second of two words has it."""

    border = np.array([*[0] * DIM, *[0] * (DIM - 1), 4, -6], np.float32)

    def vector(self, word):
        vector = super().vector(word)
        vector[-1] = 3 if word[1:].isupper() else 0
        return vector


def found(tagger, text):
    return [(one["word"], one["entity_group"]) for one in tagger.predict(text)]


def test_mentions_side_by_side_are_kept_apart_where_the_encoder_says_so():
    tagger = Tagger(TYPES, encoder=Bordered(noise=0), cache=False).fit()
    assert found(tagger, "Pia PA Pb saw LA LB .") == [("Pia", "PER"), ("PA Pb", "PER"), ("LA", "LOC"), ("LB", "LOC")]
    assert found(tagger, "Pia Pa Pb saw La Lb .") == [("Pia Pa Pb", "PER"), ("La Lb", "LOC")]
    (sentence,) = tagger.predict_sentences([["PA", "PB", "x"]])
    assert to_tags(sentence) == ["B-PER", "B-PER", "O"]
    plain = Tagger(TYPES, encoder=NamedEncoder(noise=0), cache=False).fit()
    assert found(plain, "Pia PA Pb saw LA LB .") == [("Pia PA Pb", "PER"), ("LA LB", "LOC")]


def test_each_mention_has_the_score_of_its_own_words():
    scores = np.array([[0.1, 0.9], [0.3, 0.7], [0.4, 0.6], [0.8, 0.2]])
    begins = np.array([False, False, True, False])
    spans = decode(scores, [4], ["PER"], np.array([1, 1, 1, 0]), begins)
    assert [(one.start, one.end, round(one.score, 9)) for one in spans[0]] == [(0, 2, 0.8), (2, 3, 0.6)]


def test_labels_teach_how_ready_a_mention_begins():
    """The border alone finds none; labels in which every word is a mention, or none begins inside, say how it is."""

    class Unsure(Bordered):
        border = np.array([*[0] * DIM, *[0] * (DIM - 1), 0, -0.4], np.float32)

    triples = [f"P{a} P{b} P{c}".split() for a, b, c in ("abc", "bcd", "cde", "def", "efg", "fgh", "ghj", "hja")]
    every = [" ".join(f"[{word}](PER)" for word in some) + " sang" for some in triples]
    joined = [f"[{' '.join(some)}](PER) sang" for some in triples]
    options = {"encoder": Unsure(noise=0), "cache": False}
    assert found(Tagger(TYPES, **options).fit(), "then Pi Pk came") == [("Pi Pk", "PER")]
    tagger = Tagger(TYPES, **options).fit(every)
    assert found(tagger, "then Pi Pk came") == [("Pi", "PER"), ("Pk", "PER")]
    assert not any("learned as one" in note for note in tagger.summary_.notes)
    assert found(Tagger(TYPES, **options).fit(joined), "then Pi Pk came") == [("Pi Pk", "PER")]


def test_text_says_how_often_mentions_stand_side_by_side():
    """The border is not sure; lists in the text say that it is right, long mentions there that it is not."""

    class Half(Bordered):
        border = np.array([*[0] * DIM, *[0] * (DIM - 1), 2.5, -6.5], np.float32)  # log odds of 1 where it may be one

    lists = [f"P{a} P{b} P{c} sang" for a, b, c in ("ABC", "BCD", "CDE", "DEF", "EFG", "FGH", "GHI", "HIA")]
    options = {"encoder": Half(noise=0), "cache": False}
    assert found(Tagger(TYPES, **options).fit(), "then PA PB came") == [("PA PB", "PER")]
    assert found(Tagger(TYPES, **options).fit(None, lists), "then PA PB came") == [("PA", "PER"), ("PB", "PER")]
    long = [one.replace("P", "Px") for one in lists for _ in range(3)]
    assert found(Tagger(TYPES, **options).fit(None, lists[:2] + long), "then PA PB came") == [("PA PB", "PER")]


def test_the_method_of_the_paper_has_one_tag_a_word():
    tagger = Tagger(encoder=Bordered(noise=0), cache=False, method="paper", names=False)
    tagger.fit(["[PA](PER) [PB](PER) sang", "[LA](LOC) is far away"])
    assert found(tagger, "PC PD sang") == [("PC PD", "PER")]
    assert "1 mention beside one of the same type: learned as one with it" in tagger.summary_.notes


def test_a_saved_tagger_keeps_mentions_apart(tmp_path):
    encoder = Bordered(noise=0)
    labels = ["[PA](PER) [PB](PER) [PC](PER) sang", "[PD Pa](PER) left"]
    tagger = Tagger(TYPES, encoder=encoder, cache=False).fit(labels)
    tagger.save(tmp_path / "model")
    again = Tagger.load(tmp_path / "model", encoder=encoder)
    assert again.predict(TEXT) == tagger.predict(TEXT)
    assert again.model_.seams.shift == tagger.model_.seams.shift != 0
    config = tmp_path / "model" / "config.json"
    said = json.loads(config.read_text())
    said["model"]["seams"]["shift"] = "far"
    config.write_text(json.dumps(said))
    with pytest.raises(ModelError, match="the shift of seams is 'far', expected a number"):
        Tagger.load(tmp_path / "model", encoder=encoder)


def test_a_border_does_not_depend_on_what_else_is_tagged():
    tagger = Tagger(TYPES, encoder=Bordered(), cache=False).fit()
    sentences = [["PA", "PB", "x"], ["La", "LB"], ["so", "PC", "Pd", "PE"]] * 30
    together = tagger.predict_sentences(sentences)
    assert together == [tagger.predict_sentences([one])[0] for one in sentences]
    assert any(one.end == other.start for found in together for one, other in pairwise(found.spans))


def test_encoders_without_a_border_are_as_before():
    assert getattr(ToyEncoder(), "border", None) is None
    tagger = Tagger(encoder=ToyEncoder(noise=0), cache=False).fit(["[PA](PER) [PB](PER) sang", "[LA](LOC) is far"])
    assert names(tagger) == ["LOC", "PER"]
    assert found(tagger, "PC PD sang") == [("PC PD", "PER")]
