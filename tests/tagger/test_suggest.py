"""Which sentences are chosen to be labelled next."""

import io
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest

from handful import Document, Sentence, Tagger
from handful.errors import DataError
from handful.tagger import suggesting
from handful.tagger.suggesting import suggest
from handful.tagger.tagging import TaggedWords
from handful.text import write

from .toy import SUPPORT, UNLABELLED, ToyEncoder, fitted, names, tagger


def tagged(words, doubts, features=None, tags=None, second=None, n_tags=3):
    """Make a sentence with these doubts about its words; the second-best tag is the first type unless said."""
    n = len(words)
    tags = np.zeros(n, np.intp) if tags is None else np.array(tags)
    scores = np.zeros((n, n_tags))
    scores[range(n), [1] * n if second is None else second] = 0.01
    scores[range(n), tags] = 1 - np.array(doubts)
    features = np.eye(8, dtype=np.float32)[[hash_of(word) for word in words]] if features is None else features
    return TaggedWords(Sentence(tuple(words), ()), features, scores, tags)


def hash_of(word):
    return sum(map(ord, word)) % 8


def chosen(found, n, labelled=(), mentions=(0, 0)):
    return [" ".join(one.words) for one in suggest(found, labelled, mentions, n)]


def test_doubt_comes_first_and_length_does_not_count():
    sure = tagged(["a"] * 40, [0.1] * 40)
    unsure = tagged(["b", "b"], [0.05, 0.6])
    very = tagged(["c", "c", "c"], [0.3, 0.3, 0.3])
    assert chosen([sure, unsure, very], 3, mentions=[0]) == ["c c c", "b b", " ".join("a" * 40)]


def test_types_take_turns_the_one_with_the_fewest_labels_first():
    of_one = [tagged(["a", f"a{i}"], [0.0, 0.9 - 0.1 * i], second=[1, 1]) for i in range(3)]
    of_two = [tagged(["b", f"b{i}"], [0.0, 0.5 - 0.1 * i], tags=[0, 2], second=[1, 0]) for i in range(3)]
    found = chosen([*of_one, *of_two], 4, mentions=[5, 2])
    assert [text[0] for text in found] == ["b", "a", "b", "a"]
    assert found[0] == "b b0"
    assert found[1] == "a a0"


def test_what_is_like_a_labelled_or_chosen_one_comes_later():
    def at(number, doubt, slant=0.0):
        place = np.zeros((1, 8), np.float32)
        place[0, number], place[0, (number + 1) % 8] = 1, slant
        return tagged([f"w{number}{slant}"], [doubt], place)

    known = at(0, 0.0)
    found = [at(0, 0.9, 0.1), at(1, 0.8), at(1, 0.79, 0.1), at(2, 0.5), at(3, 0.4)]
    assert chosen(found, 3, [known], [0]) == ["w10.0", "w20.0", "w30.0"]
    assert chosen(found, 1, (), [0]) == ["w00.1"]  # if nothing is labelled, nothing is like it


def test_nothing_is_chosen_twice_and_nothing_that_is_labelled():
    twice = [tagged(["a", "b"], [0.9, 0.9]), tagged(["a", "b"], [0.9, 0.9]), tagged(["c"], [0.1])]
    assert chosen(twice, 5) == ["a b", "c"]
    assert chosen(twice, 5, [tagged(["a", "b"], [0.0, 0.0])]) == ["c"]
    assert chosen([], 5) == []


def test_of_equals_the_first_is_taken_and_sure_ones_by_what_is_new():
    found = [tagged([f"{letter}{i}"], [0.0]) for i in range(3) for letter in "ab"]
    assert chosen(found, 2) == chosen(found, 2) == ["a0", "b0"]


def test_a_stream_is_chosen_from_as_its_best_would_be(monkeypatch):
    """Those that are kept on the way are the best for each type, whatever order they come in."""
    rng = np.random.default_rng(0)
    places = rng.normal(size=(2_000, 1, 8)).astype(np.float32)
    doubts, tags, second = rng.random(2_000), rng.integers(0, 3, 2_000), rng.integers(1, 3, 2_000)
    found = [tagged([f"w{i}"], [doubts[i]], places[i], [tags[i]], [second[i]]) for i in range(2_000)]
    monkeypatch.setattr(suggesting, "LEAST_POOL", 30)
    pool = suggesting._best(iter(found), set(), 2, 30)
    values = np.stack([suggesting.values_of(one, [1, 2]) for one in found])
    expected = {i for t in range(2) for i in sorted(range(2_000), key=lambda i: (-values[i, t], i))[:30]}
    assert [one.sentence.words for one in pool] == [found[i].sentence.words for i in sorted(expected)]


def test_memory_does_not_grow_with_the_text():
    def endless(n):
        for i in range(n):
            features = np.full((2, 300), i % 7 + 1, np.float32)
            yield tagged([f"a{i}", f"b{i}"], [(i % 97) / 100, 0.2], features)

    peaks = []
    for n in (2_000, 20_000):
        tracemalloc.start()
        suggest(endless(n), (), [0, 0], 20)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.2 * peaks[0]


def test_a_tagger_suggests_sentences_with_what_it_finds():
    model = fitted(method="handful", o_ratio=0.7)
    texts = [*UNLABELLED, "Gaia and Glaukos sleep .", "Pim saw Lyon . Nobody knows why ."]
    found = model.suggest(texts, 3)
    assert len(found) == 3
    assert found == model.predict_sentences(found)
    assert "Gaia and Glaukos sleep ." in [one.text for one in found]  # of which it knows nothing
    assert model.suggest(texts, 3) == found
    everything = model.suggest(texts, 100)
    assert len(everything) == len(texts) + 1  # a document is cut into sentences
    assert everything[:3] == found
    again = model.add([write_inline(one) for one in found])
    assert not {one.words for one in again.suggest(texts, 100)} & {one.words for one in found}


def write_inline(sentence):
    file = io.StringIO()
    write([sentence], file, "inline")
    return file.getvalue().strip()


def test_what_can_be_chosen_from(tmp_path):
    model = fitted(o_ratio=0.7)
    (tmp_path / "corpus.txt").write_text("\n".join(UNLABELLED))
    expected = [one.words for one in model.suggest(UNLABELLED, 2)]
    for texts in (
        tmp_path / "corpus.txt",
        str(tmp_path / "corpus.txt"),
        iter(UNLABELLED),
        [Document.of(text) for text in UNLABELLED],
        io.StringIO("\n".join(UNLABELLED)),
    ):
        assert [one.words for one in model.suggest(texts, 2)] == expected
    for wrong, message in (
        ("no such file", "a str names a file; give texts in a list"),
        (Sentence(("a",)), "must be a list of texts"),
        ([3], "text 0 .*found int"),
    ):
        with pytest.raises((DataError, OSError), match=message):
            model.suggest(wrong)
    for n in (0, -1, True, 2.0, "3"):
        with pytest.raises(DataError, match=r"n is .* at least 1"):
            model.suggest(UNLABELLED, n)
    with pytest.raises(DataError, match="not fitted"):
        tagger().suggest(UNLABELLED)


def test_batches_do_not_change_what_is_chosen():
    model = Tagger(encoder=ToyEncoder(dim=96), cache=False).fit(SUPPORT, UNLABELLED)
    texts = [f"then P{a}{b} met L{b}{a} near G{a} with {b} men" for a in "abcdefgh" for b in "ijklmnop"]
    whole = model.suggest(texts, 10)
    assert model.suggest([" . ".join(texts[:1]), *texts[1:]], 10) == whole
    assert [one.words for one in whole] == [one.words for one in model.suggest(iter(texts), 10)]
    assert all(a != b for a, b in pairwise(one.words for one in whole))
    assert names(model) == ["LOC", "PER"]
