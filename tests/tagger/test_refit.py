"""One more label: what `add` keeps from the last fit, and that its result is that of a fit from scratch."""

import pickle
import tracemalloc

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from handful import Tagger
from handful._util import arrays, parallel
from handful.errors import DataError
from handful.text import Sentence

from .toy import KINDS, SUPPORT, UNLABELLED, NamedEncoder, ToyEncoder

MORE = [
    "[Gap](ORG) sells to [Pia](PER)",
    "a dog and a cat sat there .",  # stands in the text
    "We met [Pablo](PER) near [Lagos](LOC) , not far from [Lyon](LOC) .",  # does, too
    "[Pim](PER) of [Leiden](LOC) was there",
]
RELABELLED = "[Paul](PER) went to London with me"
TYPES = {"PER": "People", "LOC": "Locations", "ORG": "Groups"}


class CountingEncoder(NamedEncoder):
    n_types_read = 0

    def encode_types(self, types):
        self.n_types_read += len(types)
        return super().encode_types(types)


def options(**more):
    return {"cache": False, "types": TYPES} | more


def contents(model, folder):
    """Return all that a fit decided, as bytes."""
    model.save(folder)
    config = (folder / "config.json").read_bytes()
    return (folder / "model.safetensors").read_bytes(), config, (folder / "support.jsonl").read_bytes()


KINDS_OF_FIT = pytest.mark.parametrize(
    ("encoder", "given"),
    [
        (NamedEncoder(), {}),
        (NamedEncoder(), {"o_ratio": 0.7}),
        (NamedEncoder(), {"method": "paper"}),
        (NamedEncoder(), {"overlap": True}),
        (ToyEncoder(), {"o_ratio": None}),
        (ToyEncoder(), {"method": "paper", "o_ratio": 0.7}),
    ],
    ids=["names", "names and a ratio", "names, paper", "names and overlap", "no names", "no names, paper"],
)
REPEATED = UNLABELLED * 4  # so many words that labels are few among them


@pytest.mark.filterwarnings("ignore:o_ratio=0.7 is ignored")
@KINDS_OF_FIT
@pytest.mark.parametrize("text", [UNLABELLED, REPEATED, None], ids=["text", "more text", "no text"])
def test_labels_one_after_the_other_equal_a_fit_from_scratch(encoder, given, text, tmp_path):
    model = Tagger(encoder=encoder, **options(**given)).fit(["[Gus](ORG) is here", *SUPPORT], text)
    for n in range(1, len(MORE) + 1):
        model.add(MORE[n - 1 : n])
        scratch = Tagger(encoder=encoder, **options(**given)).fit(["[Gus](ORG) is here", *SUPPORT, *MORE[:n]], text)
        assert contents(model, tmp_path / "one") == contents(scratch, tmp_path / "two")
    model.add([RELABELLED])
    relabelled = ["[Gus](ORG) is here", RELABELLED, SUPPORT[1], *MORE]
    scratch = Tagger(encoder=encoder, **options(**given)).fit(relabelled, text)
    one, two = contents(model, tmp_path / "one"), contents(scratch, tmp_path / "two")
    assert (one[0], one[2]) == (two[0], two[2])  # the summary says that labels changed


@KINDS_OF_FIT
def test_the_number_of_threads_changes_no_byte(encoder, given, monkeypatch, tmp_path):
    monkeypatch.setattr(arrays, "BLOCK_BYTES", 1 << 10)
    found = set()
    for n in (1, 2):
        monkeypatch.setattr(parallel, "usable_threads", lambda n=n: n)
        with threadpool_limits(n):
            model = Tagger(encoder=encoder, **options(**given)).fit(["[Gus](ORG) is here", *SUPPORT], REPEATED)
            found.add(contents(model.add(MORE[:1]), tmp_path / str(n)))
    assert len(found) == 1


@KINDS_OF_FIT
def test_text_that_comes_later_equals_a_fit_from_scratch(encoder, given, tmp_path):
    model = Tagger(encoder=encoder, **options(**given)).fit(["[Gus](ORG) is here", *SUPPORT], UNLABELLED[:3])
    model.add(MORE[:1], UNLABELLED[3:])
    scratch = Tagger(encoder=encoder, **options(**given)).fit(["[Gus](ORG) is here", *SUPPORT, *MORE[:1]], UNLABELLED)
    assert contents(model, tmp_path / "one") == contents(scratch, tmp_path / "two")


@KINDS_OF_FIT
def test_a_tagger_from_disk_is_given_its_text_again_and_then_keeps_it(encoder, given, tmp_path):
    Tagger(encoder=encoder, **options(**given)).fit(["[Gus](ORG) is here", *SUPPORT], REPEATED).save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model", encoder=encoder, cache=False)
    loaded.add(MORE[:1], REPEATED).add(MORE[1:2])
    scratch = Tagger(encoder=encoder, **options(**given)).fit(["[Gus](ORG) is here", *SUPPORT, *MORE[:2]], REPEATED)
    assert contents(loaded, tmp_path / "one") == contents(scratch, tmp_path / "two")


def test_a_label_that_brings_a_new_type_equals_a_fit_from_scratch(tmp_path):
    model = Tagger(encoder=NamedEncoder(), cache=False).fit(SUPPORT, REPEATED).add(MORE[:1])
    scratch = Tagger(encoder=NamedEncoder(), cache=False).fit(
        model.support_, REPEATED
    )  # they know which types they are for
    assert contents(model, tmp_path / "one") == contents(scratch, tmp_path / "two")


def test_what_types_mean_is_read_once(tmp_path):
    encoder = CountingEncoder()
    model = Tagger(encoder=encoder, **options()).fit(SUPPORT, UNLABELLED).add(MORE[:1]).add(MORE[1:])
    assert encoder.n_types_read == 3
    model.save(tmp_path / "model")
    assert encoder.n_types_read == 9  # the summary compares each name, and each description, with the labels
    Tagger.load(tmp_path / "model", encoder=encoder, cache=False).add([RELABELLED], UNLABELLED)
    assert encoder.n_types_read == 9


def test_other_types_are_read_again():
    encoder = CountingEncoder()
    model = Tagger(encoder=encoder, cache=False).fit(SUPPORT, UNLABELLED)
    assert encoder.n_types_read == 2
    model.add(MORE[:1])
    assert encoder.n_types_read == 5


def test_the_summary_is_that_of_its_fit_whenever_it_is_asked_for():
    model = Tagger(encoder=NamedEncoder(), **options()).fit(SUPPORT, UNLABELLED)
    copied = pickle.loads(pickle.dumps(model))
    first = model.summary_
    assert model.summary_ is first
    assert copied.summary_ == first
    later = model.add(MORE).summary_
    assert (first.n_support, later.n_support) == (2, 6)
    with pytest.raises(DataError, match="not fitted"):
        _ = Tagger(encoder=NamedEncoder()).summary_


class WideEncoder(NamedEncoder):
    """Features that take much more memory than words do."""

    def __init__(self):
        super().__init__(dim=512)

    def vector(self, word):
        vector = np.zeros(self.dim)
        vector[KINDS.get(word[0], 0)] += 4
        vector[5 + sum(map(ord, word)) % 400] += 1
        return vector


@pytest.mark.parametrize("encoder", [WideEncoder, NamedEncoder])
def test_the_text_is_neither_copied_nor_read_whole_into_another_array(encoder):
    text = [Sentence(tuple(f"{'PLxyzstuvw'[i * j % 19 % 10]}{i % 97}{j}" for j in range(20))) for i in range(1000)]
    model = Tagger(encoder=encoder(), **options()).fit(["[Gus](ORG) is here", *SUPPORT], text)
    rows = model.text_.features.parts[0].array
    model.add(MORE[:1])
    assert np.shares_memory(rows, model.text_.features.parts[0].array)
    if encoder is WideEncoder:
        tracemalloc.start()
        try:
            model.add(MORE[3:])
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
        assert peak < 0.7 * rows.nbytes


@KINDS_OF_FIT
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("new", [MORE[2], MORE[3]], ids=["in the text", "elsewhere"])
def test_clusters_that_are_kept_are_those_of_the_fit_before(tmp_path, encoder, given, new):
    types = {name: TYPES[name] for name in ("PER", "LOC")}  # each has a label
    tagger = Tagger(encoder=encoder, **options(types=types, **given)).fit(SUPPORT, REPEATED)
    before = contents(tagger, tmp_path / "a")
    text = " ".join(MORE[2].replace("[", "").replace("]", "").split())
    found = tagger.predict(text)
    again = contents(tagger.relabel(SUPPORT, keeps_clusters=True), tmp_path / "b")
    assert again == before  # the same labels, so nothing has changed
    assert tagger.predict(text) == found
    more = [*SUPPORT, new]
    with_more = tagger.relabel(more, keeps_clusters=True).model_
    kept = tagger.summary_
    whole = tagger.relabel(more).model_
    assert (kept.n_support, kept.n_unlabelled_words) == (3, tagger.summary_.n_unlabelled_words)
    pieces = [{type(one).__name__: one.save() for one in model.evidence} for model in (with_more, whole)]
    for name in pieces[1]:
        is_same = all(np.array_equal(array, pieces[1][name][key]) for key, array in pieces[0][name].items())
        assert is_same == (name != "Prototypes" or "paper" in given.values()), name
