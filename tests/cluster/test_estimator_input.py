"""SubspaceKMeans refuses what is not possible, and reads features of every kind without copying them."""

import tracemalloc

import numpy as np
import pytest
from made_words import MODES, made_words
from sklearn.base import clone
from threadpoolctl import threadpool_limits

from handful._util import arrays, parallel
from handful._util.arrays import Part, Rows
from handful.cluster import Labels, SubspaceKMeans
from handful.errors import DataError, RatioError


def refused(message, X=None, y=None, **parameters):
    good_X, good_y, _ = made_words()
    with pytest.raises(DataError, match=message):
        SubspaceKMeans(**parameters).fit(good_X if X is None else X, good_y if y is None else y)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"o_ratio": 1.5}, "o_ratio=1.5 is not possible: it must be None or a number from 0 to 1"),
        ({"o_ratio": float("nan")}, "o_ratio=nan"),
        ({"o_ratio": True}, "o_ratio=True"),
        ({"assignment": "firm"}, "assignment='firm' is not possible: it must be 'hard' or 'soft'"),
        ({"subspace": "yes"}, "subspace='yes'"),
        ({"o_prototypes": 0}, "o_prototypes=0"),
        ({"type_prototypes": 1.5}, "type_prototypes=1.5"),
        ({"scaling": "none"}, "scaling='none'"),
        ({"shrinkage": 2}, "shrinkage=2"),
        ({"shrinkage": "ledoit"}, "shrinkage='ledoit'"),
        ({"temperature": 0}, "temperature=0"),
        ({"max_iter": 0}, "max_iter=0"),
    ],
)
def test_bad_parameters(parameters, message):
    refused(message, **parameters)


def test_bad_labels():
    X, y, _ = made_words()
    refused("X has 400 rows, y has 399", y=y[:-1])
    refused("no word is labelled", y=np.full(400, -1))
    refused("NaN or infinity at row 3", y=np.where(np.arange(400) == 3, np.nan, y))
    refused("o_ratio=0.5 needs words labelled O.* o_tag=9 .*tags found: 0, 1, 2, 3", y=y, o_ratio=0.5, o_tag=9)
    refused("mixes kinds of tags", y=np.array(["O", 1] * 200, dtype=object))
    with pytest.raises(DataError, match="requires y to be passed"):
        SubspaceKMeans().fit(X, None)


def test_bad_label_matrices():
    _, y, _ = made_words()
    allowed = np.where(y[:, None] == -1, True, y[:, None] == np.arange(4))
    refused("X has 400 rows, y has 399", y=allowed[:-1])
    nothing = allowed.copy()
    nothing[[30, 77]] = False
    refused("no tag at all for 2 words, first at rows 30, 77", y=nothing)
    missing = np.concatenate([allowed, np.full((400, 2), False)], axis=1)
    missing[y == -1] = True
    refused("no word is labelled with tag 4, 5 alone", y=missing)


@MODES
def test_an_impossible_ratio_names_the_range(assignment):
    X, y, _ = made_words()
    with pytest.raises(RatioError, match=r"10 words O and 15 words entities.*between 0.025 and 0.9625"):
        SubspaceKMeans(0.01, assignment=assignment).fit(X, y)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_that_are_not_finite(value):
    X, y, _ = made_words()
    model = SubspaceKMeans().fit(X, y)
    X[17, 2] = value
    refused("row 17, column 2", X=X)
    with pytest.raises(DataError, match="row 17, column 2"):
        model.predict(X)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy's, of the overflow
def test_features_whose_variance_overflows():
    X, _, _ = made_words()
    refused("so large that their variance is not a finite number", X=(X * 1e25).astype(np.float32))


# ---------------------------------------------------------------- memory and precision


@MODES
@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_x_is_never_copied_whole(assignment, dtype):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60_000, 256), dtype=np.float32).astype(dtype)
    y = np.full(len(X), -1)
    y[:30] = np.arange(30) % 3
    model = SubspaceKMeans(0.8, assignment=assignment, o_prototypes=2, max_iter=2)
    tracemalloc.start()
    try:
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.8 * X.astype(np.float32).nbytes
    if dtype == np.float32:
        assert model.transform(X[:5]).dtype == np.float32


@MODES
def test_memory_mapped_and_half_precision_features_give_the_same_answer(assignment, tmp_path):
    X, y, truth = made_words(n=3000)
    X = X.astype(np.float16)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    model = SubspaceKMeans(0.7, assignment=assignment, o_prototypes=2)
    from_half, from_map = clone(model).fit(X, y), clone(model).fit(mapped, y)
    from_single = clone(model).fit(X.astype(np.float32), y)
    assert from_half.prototypes_.tobytes() == from_map.prototypes_.tobytes() == from_single.prototypes_.tobytes()
    assert (from_half.predict(mapped) == truth).mean() > 0.97


@MODES
def test_single_precision_agrees_with_double(assignment):
    X, y, _ = made_words(n=2000, apart=2.0)
    model = SubspaceKMeans(0.7, assignment=assignment, max_iter=3)
    single, double = clone(model).fit((X + 20).astype(np.float32), y), clone(model).fit(X + 20, y)
    assert (single.tags_ == double.tags_).mean() > 0.995
    np.testing.assert_allclose(single.prototypes_, double.prototypes_, atol=0.02)


@MODES
def test_rows_in_several_arrays_give_the_same_answer_as_in_one(assignment):
    X, y, _ = made_words(n=2000, apart=2.0)
    weights = np.where(y < 0, 1.0, 5.0)
    parts = [Part(X[:1200]), Part(X[1200:1203]), Part(X[1203:])]
    model = SubspaceKMeans(0.7, assignment=assignment, max_iter=5)
    one = clone(model).fit(X, y, sample_weight=weights)
    several = clone(model).fit(Rows(parts), y, sample_weight=weights)
    again = clone(model).fit(Rows(parts), y, sample_weight=weights)
    np.testing.assert_allclose(several.prototypes_, one.prototypes_, atol=1e-8)
    assert (several.labels_ == one.labels_).all()
    assert several.n_features_in_ == 8
    assert again.prototypes_.tobytes() == several.prototypes_.tobytes()
    assert again.projection_.tobytes() == several.projection_.tobytes()


@MODES
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_the_number_of_threads_changes_no_byte(assignment, dtype, monkeypatch):
    monkeypatch.setattr(arrays, "BLOCK_BYTES", 1 << 16)
    X, y, _ = made_words(n=5000, d=32, apart=1.0)
    found = set()
    for n in (1, 2, 3):
        monkeypatch.setattr(parallel, "usable_threads", lambda n=n: n)
        with threadpool_limits(n):
            model = SubspaceKMeans(0.7, assignment=assignment).fit(X.astype(dtype), y)
        found.add((model.prototypes_.tobytes(), model.projection_.tobytes(), model.labels_.tobytes()))
    assert len(found) == 1


def test_whole_numbers_are_read_as_floats():
    X, y, _ = made_words()
    whole = np.round(10 * X).astype(int)
    assert (SubspaceKMeans().fit(whole, y).tags_ == SubspaceKMeans().fit(whole.astype(float), y).tags_).all()


def test_labels_say_the_same_as_the_matrix_they_are_made_of():
    X, y, _ = made_words()
    allowed = np.where(y[:, None] < 0, True, y[:, None] == np.arange(4))
    allowed[np.flatnonzero(y < 0)[0]] = [False, True, True, False]
    one = SubspaceKMeans(0.7).fit(X, allowed)
    other = SubspaceKMeans(0.7).fit(X, Labels.from_matrix(allowed))
    np.testing.assert_array_equal(one.prototypes_, other.prototypes_)
    np.testing.assert_array_equal(one.labels_, other.labels_)
