"""How documents are grouped, what progress says, and that a word's score does not depend on its company."""

import threading
from dataclasses import replace

import numpy as np
import pytest

from handful import Tagger
from handful.encoders.cache import FeatureCache
from handful.errors import DataError, EncoderError
from handful.tagger.model import BLOCK_ROWS
from handful.tagger.tagging import batches
from handful.text import Document

from .toy import SUPPORT, UNLABELLED, ToyEncoder, fitted, mentions


class Pipe:
    """Texts that come in groups: between two groups, the next one is not there yet."""

    def __init__(self, groups, share=None):
        self._left = [list(group) for group in groups]
        self.share = share
        self.n_taken = 0

    def __iter__(self):
        return self

    def __next__(self):
        if not self._left:
            raise StopIteration
        if not self._left[0]:
            self._left.pop(0)  # now they are there
            return next(self)
        self.n_taken += 1
        return self._left[0].pop(0)

    def is_ready(self, seconds):
        return not self._left or bool(self._left[0])


def test_what_is_there_does_not_wait_for_what_is_not():
    pipe = Pipe([["a", "b"], ["c"], ["d"] * 600])
    found = list(batches(pipe, len, 256))
    assert [len(batch) for batch in found] == [2, 1, 256, 344]


def test_documents_are_answered_before_the_next_is_waited_for():
    model = fitted(o_ratio=0.7)
    pipe = Pipe([[Document.of("Pim ran")], [Document.of("to Lima"), Document.of("and")], [Document.of("Pam")]])
    found = model.tag(pipe)
    n_taken = [(document.text, pipe.n_taken) for document in found]
    assert n_taken == [("Pim ran", 1), ("to Lima", 3), ("and", 3), ("Pam", 4)]


def test_a_document_without_words_is_answered_in_its_turn():
    model = fitted(o_ratio=0.7)
    empty = replace(Document.of("Pim"), sentences=())
    pipe = Pipe([[empty], [Document.of("to Lima"), empty], [empty, Document.of("Pam")]])
    found = [(document.text, len(document.sentences), pipe.n_taken) for document in model.tag(pipe)]
    assert found == [("Pim", 0, 1), ("to Lima", 1, 3), ("Pim", 0, 3), ("Pim", 0, 5), ("Pam", 1, 5)]


class Held(ToyEncoder):
    """Notes which words it is asked for; stops at one of them until it is let go, or fails there."""

    def __init__(self, stop_at=None, fail_at=None):
        super().__init__()
        self.stop_at, self.fail_at = stop_at, fail_at
        self.is_free, self.has_stopped = threading.Event(), threading.Event()

    def encode(self, sentences, *, progress=None):
        for n_done, sentence in enumerate(sentences):
            if self.fail_at in sentence.words:
                raise EncoderError("this word is too much")
            if self.stop_at in sentence.words:
                self.has_stopped.set()
                assert self.is_free.wait(60)
            if callable(progress):
                progress(n_done, len(sentences))
        return super().encode(sentences)


def with_encoder(encoder):
    """Return a fitted tagger with another encoder, which gives the same vectors."""
    return Tagger(encoder=encoder, cache=False, types=["PER", "LOC"], method="paper", o_ratio=0.7).fit(
        SUPPORT, UNLABELLED
    )


def numbered(n):
    return [f"then Pim went to Lima{i} ." for i in range(n)]


def encoding_threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("handful-encode")]


def test_a_batch_is_encoded_while_the_one_before_it_is_answered():
    encoder = Held(stop_at="Lima200")  # the third batch, or a later one
    model = with_encoder(encoder)
    texts = numbered(2000)
    found = model.predict_iter(texts)
    answers = [next(found) for _ in range(100)]
    assert encoder.has_stopped.wait(60)  # though nobody has asked for its answers yet
    encoder.is_free.set()
    answers += found
    assert answers == with_encoder(ToyEncoder()).predict(texts)
    assert not encoding_threads()


def test_a_generator_that_is_closed_leaves_no_thread():
    encoder = Held(stop_at="Lima300")
    found = with_encoder(encoder).predict_iter(numbered(5000))
    for _ in range(130):
        next(found)
    assert encoding_threads()
    encoder.is_free.set()
    before = encoder.n_words
    del found
    assert not encoding_threads()
    assert encoder.n_words - before < 2_000  # it was told to stop


def test_a_fault_of_the_encoder_comes_after_the_answers_before_it():
    found, answers = with_encoder(Held(fail_at="Lima1000")).predict_iter(numbered(5000)), []
    with pytest.raises(EncoderError, match="this word is too much"):
        answers.extend(found)
    assert 500 < len(answers) <= 1000
    assert not encoding_threads()


def test_a_fault_of_the_text_comes_after_the_answers_before_it():
    def texts():
        yield from map(Document.of, numbered(1000))
        raise DataError("line 1001 is damaged")

    answers = []
    with pytest.raises(DataError, match="line 1001 is damaged"):
        answers.extend(with_encoder(ToyEncoder()).tag(texts()))
    assert len(answers) == 1000
    assert not encoding_threads()


def test_progress_counts_words_and_estimates_the_rest():
    model = fitted(o_ratio=0.7)
    texts = ["then Pim went to Lima ."] * 2_000
    reports = []
    assert len(model.predict(texts, progress=lambda *words: reports.append(words))) == 2_000
    done = [n for n, _ in reports]
    assert done == sorted(done)
    assert reports[-1] == (12_000, 12_000)
    assert len(reports) > 5
    assert all(total == pytest.approx(12_000, rel=0.01) for _, total in reports)
    reports.clear()
    list(model.predict_iter(iter(texts), progress=lambda *words: reports.append(words)))
    assert {total for _, total in reports[:-1]} == {0}  # nobody knows how many there are
    assert reports[-1] == (12_000, 12_000)
    reports.clear()
    model.predict_sentences([text.split() for text in texts], progress=lambda *words: reports.append(words))
    assert reports[-1] == (12_000, 12_000)
    reports.clear()
    model.predict("Pim ran", progress=lambda *words: reports.append(words))
    assert reports == [(2, 2)]


def test_a_bar_for_people(capsys):
    model = fitted(o_ratio=0.7)
    model.predict(["then Pim went to Lima ."] * 500, progress=True)
    shown = capsys.readouterr().err
    assert "tagging" in shown
    assert "3,000 words" in shown
    model.predict(["Pim ran"])
    assert capsys.readouterr().err == ""


class Wide(ToyEncoder):
    """So many numbers for a word that the order of sums matters."""

    def vector(self, word):
        vector = np.random.default_rng(len(word)).standard_normal(self.dim)
        return vector + np.resize(super().vector(word), self.dim)


def test_a_score_does_not_depend_on_what_else_is_tagged():
    model = Tagger(encoder=Wide(dim=300), cache=False).fit(SUPPORT, UNLABELLED)
    texts = [f"then Pim{'x' * (i % 40)} went to Lima{i} with {i} men" for i in range(BLOCK_ROWS // 2)]
    together = model.predict(texts)
    assert together == [model.predict(text) for text in texts]
    assert together == [found for start in range(0, len(texts), 7) for found in model.predict(texts[start : start + 7])]
    assert [one.mention for one in model.explain(texts[5])] == together[5]
    assert sum(map(len, together)) > len(texts)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("HANDFUL_CACHE", str(tmp_path))
    return FeatureCache()


def test_prediction_looks_up_what_was_kept(cache):
    encoder = ToyEncoder(dim=384)
    model = Tagger(encoder=encoder).fit(SUPPORT, UNLABELLED)
    kept = cache.contents()[0].n_words
    encoder.n_words = 0
    known = model.predict(UNLABELLED)
    assert encoder.n_words == 0
    mixed = [*UNLABELLED, "Then Pablo saw Lima ."]
    found = model.predict(mixed)
    assert found[:-1] == known
    assert encoder.n_words == 5
    assert mentions(found[-1]) == [("Pablo", "PER"), ("Lima", "LOC")]
    assert cache.contents()[0].n_words == kept
    model.cache = "all"
    assert model.predict(mixed) == found
    assert cache.contents()[0].n_words == kept + 5
    encoder.n_words = 0
    assert model.predict(mixed) == found
    model.cache = True
    assert model.predict(mixed) == found
    assert encoder.n_words == 0
    model.cache = False
    assert model.predict(mixed) == found
    assert encoder.n_words == sum(len(Document.of(text).sentences[0].words) for text in mixed)


def test_an_encoder_of_another_precision_can_still_predict(cache):
    class Double(ToyEncoder):
        def encode(self, sentences, **options):
            return super().encode(sentences, **options).astype(np.float64)

    model = Tagger(encoder=Double(), cache=False).fit(SUPPORT)
    found = model.predict(UNLABELLED)
    model.cache = True
    assert model.predict(UNLABELLED) == found


def test_what_the_cache_may_be():
    with pytest.raises(DataError, match="cache is 'some', expected True, False or 'all'"):
        Tagger(cache="some")
