"""SubspaceKMeans: the whole loop, its contract and its errors."""

import doctest
import hashlib
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from made_words import MODES, SEEDS, made_words
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.utils.estimator_checks import check_classifiers_predictions, parametrize_with_checks

from drawn import examples
from handful.cluster import Round, SubspaceKMeans
from handful.cluster import _estimator as estimator
from handful.errors import DataError, HandfulWarning, RatioError


@parametrize_with_checks(
    [SubspaceKMeans(), SubspaceKMeans(assignment="soft"), SubspaceKMeans(subspace=False, type_prototypes=2)],
    expected_failed_checks=lambda _: {
        "check_classifiers_classes": "it uses -1 as a class; here, as in sklearn.semi_supervised, -1 means unlabelled"
    },
)
def test_scikit_learn_contract(estimator, check, monkeypatch):
    monkeypatch.setenv("SCIPY_ARRAY_API", "1")  # without it, scikit-learn skips its check of arrays
    check(estimator)


@MODES
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("names", [np.array([0, 1, 2]), np.array(["one", "two", "three"]), ["one", "two", "three"]])
def test_what_check_classifiers_classes_asks_without_a_class_of_minus_one(assignment, n_classes, names):
    X, truth = make_blobs(n_samples=30, random_state=0, cluster_std=0.1)
    X, truth = X[truth < n_classes], truth[truth < n_classes]
    tags = np.array(names, dtype=object if isinstance(names, list) else None)[truth]
    check_classifiers_predictions(X, tags, "SubspaceKMeans", SubspaceKMeans(assignment=assignment))


# ---------------------------------------------------------------- the score, and what searches by it


def test_the_score_leaves_unlabelled_words_out():
    X, y, truth = made_words(apart=1.0)
    model = SubspaceKMeans().fit(X, y)
    known = np.arange(0, len(y), 7)
    some = np.full(len(y), -1)
    some[known] = truth[known]
    right = model.predict(X)[known] == truth[known]
    assert 0 < right.mean() < 1
    assert model.score(X, some) == right.mean()
    weights = np.arange(len(y)) % 3
    assert model.score(X, some, sample_weight=weights) == pytest.approx(np.average(right, weights=weights[known]))
    names = np.array(["O", "LOC", "ORG", "PER"], dtype=object)
    by_name = SubspaceKMeans(o_tag="O").fit(X, np.where(y == -1, -1, names[y]))
    assert by_name.score(X, np.where(some == -1, -1, names[some])) == (by_name.predict(X) == names[truth])[known].mean()


def test_the_score_of_partial_labels_counts_words_of_one_tag():
    X, y, truth = made_words(apart=1.0)
    model = SubspaceKMeans().fit(X, y)
    allowed = truth[:, None] == np.arange(4)
    allowed[1::2, 0] = True  # odd words may be O as well; those that are O stay sure
    sure = allowed.sum(axis=1) == 1
    assert 0 < sure.sum() < len(y)
    assert model.score(X, allowed) == (model.predict(X) == truth)[sure].mean()


def test_a_score_without_a_labelled_word_is_refused():
    X, y, _ = made_words()
    model = SubspaceKMeans().fit(X, y)
    with pytest.raises(DataError, match="no word is labelled"):
        model.score(X, np.full(len(y), -1))
    with pytest.raises(DataError, match="no word of one tag alone"):
        model.score(X, np.ones((len(y), 4), bool))


def test_a_grid_search_counts_labelled_words_alone():
    X, _, truth = made_words(apart=1.0)
    y = np.where(np.arange(len(truth)) % 4 == 0, truth, -1)
    splits = list(StratifiedKFold(3).split(X, y))
    search = GridSearchCV(SubspaceKMeans(), {"o_prototypes": [1, 5]}, cv=splits).fit(X, y)
    for i, n in enumerate((1, 5)):
        for j, (train, test) in enumerate(splits):
            known = test[y[test] != -1]
            model = SubspaceKMeans(o_prototypes=n).fit(X[train], y[train])
            expected = (model.predict(X[known]) == y[known]).mean()
            assert search.cv_results_[f"split{j}_test_score"][i] == pytest.approx(expected)


def test_doctest():
    assert doctest.testmod(estimator).attempted > 0
    assert doctest.testmod(estimator).failed == 0


# ---------------------------------------------------------------- what is computed


@MODES
@pytest.mark.parametrize("subspace", [False, True])
@pytest.mark.parametrize("with_ratio", [False, True])
@pytest.mark.parametrize("scaling", ["within", "total"])
def test_a_handful_of_labels_finds_the_groups(assignment, subspace, with_ratio, scaling):
    X, y, truth = made_words()
    ratio = (truth == 0).mean() if with_ratio else None
    model = SubspaceKMeans(ratio, assignment=assignment, subspace=subspace, scaling=scaling, o_prototypes=2).fit(X, y)
    assert (model.predict(X) == truth).mean() > 0.97
    assert (model.tags_ == truth).mean() > 0.97
    assert model.score(X, truth) == (model.predict(X) == truth).mean()


@MODES
@given(seed=SEEDS, ratio=st.floats(0.1, 0.87))
@examples(10)
def test_labels_hold_and_the_ratio_is_met(assignment, seed, ratio):
    X, y, _ = made_words(seed, n=120, apart=1.0)
    model = SubspaceKMeans(ratio, assignment=assignment, max_iter=4).fit(X, y)
    is_labelled = y != -1
    assert (model.tags_[is_labelled] == y[is_labelled]).all()
    is_o = model.prototype_tags_ == 0
    if assignment == "hard":
        assert (model.tags_ == 0).sum() == np.floor(ratio * len(X) + 0.5)
    else:
        A = model.responsibilities_
        np.testing.assert_allclose(A.sum(axis=1), 1, rtol=1e-12)
        assert A[:, is_o].sum() == pytest.approx(ratio * len(X), rel=1e-9)
        assert not A[np.ix_(y == 0, ~is_o)].any()
        assert not A[np.ix_(y > 0, is_o)].any()
    assert model.o_share_ == pytest.approx(ratio, abs=0.5 / len(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # the oracle's, stopped on purpose
@given(SEEDS)
@examples(10)
def test_without_ratio_labels_and_projection_it_is_lloyds_k_means(seed):
    rng = np.random.default_rng(seed)
    centres = 4 * rng.normal(size=(4, 3))
    X = np.r_[centres, 2 * rng.normal(size=(86, 3)) + centres[rng.integers(0, 4, 86)]]
    y = np.full(90, -1)
    y[:4] = range(4)
    for n_rounds in range(1, 7):
        lloyd = KMeans(4, init=X[:4], n_init=1, max_iter=n_rounds, tol=0, algorithm="lloyd").fit(X)
        assume((lloyd.labels_[:4] == range(4)).all())  # else the labels would bind in the next round
    model = SubspaceKMeans(subspace=False, o_prototypes=1, max_iter=6).fit(X, y)
    assume(model.n_empty_ == 0)
    np.testing.assert_allclose(model.prototypes_, lloyd.cluster_centers_, atol=1e-10)


@MODES
@pytest.mark.parametrize("ratio", [None, 0.6])
@given(seed=SEEDS)
@examples(5)
def test_at_a_fixed_projection_no_round_raises_the_objective(assignment, ratio, seed):
    X, y, _ = made_words(seed, n=150, apart=1.0)
    model = SubspaceKMeans(ratio, assignment=assignment, subspace=False, max_iter=30).fit(X, y)
    assert (np.diff(model.objective_) <= 1e-9 * np.abs(model.objective_[1:])).all()


@MODES
@pytest.mark.parametrize("subspace", [False, True])
def test_the_objective_is_the_mean_of_a_times_d_plus_entropy(assignment, subspace):
    X, y, _ = made_words(2, apart=1.5)
    model = SubspaceKMeans(
        0.7, assignment=assignment, subspace=subspace, scaling="total", shrinkage=None, temperature=0.7, max_iter=3
    ).fit(X, y)
    A = np.eye(len(model.prototypes_))[model.labels_] if assignment == "hard" else model.responsibilities_
    projection = np.eye(X.shape[1]) if model.projection_ is None else model.projection_
    difference = (X[:, None, :] - model.prototypes_) @ projection
    direct = (A * (difference**2).sum(axis=2)).sum() / len(X)
    if assignment == "soft":
        direct += 0.7 * sum(a * np.log(a) for a in A.ravel() if a > 0) / len(X)
    assert model.objective_[-1] == pytest.approx(direct, rel=1e-6)


@MODES
@given(seed=SEEDS)
@examples(5)
def test_permuting_the_words_permutes_the_answer(assignment, seed):
    X, y, _ = made_words(seed, n=150, apart=2.0)
    order = np.random.default_rng(seed).permutation(len(X))
    model = SubspaceKMeans(0.7, assignment=assignment, o_prototypes=1, max_iter=3)
    first, second = clone(model).fit(X, y), clone(model).fit(X[order], y[order])
    np.testing.assert_allclose(first.prototypes_, second.prototypes_, atol=1e-6)
    assert (first.tags_[order] == second.tags_).all()


def test_it_stops_when_a_round_changes_nothing():
    X, y, _ = made_words(apart=8.0)
    rounds = []
    model = SubspaceKMeans(0.7, max_iter=50).fit(X, y, callback=rounds.append)
    assert model.n_iter_ == len(rounds) < 50
    assert rounds[-1].n_changed == 0
    longer = SubspaceKMeans(0.7, max_iter=model.n_iter_ - 1).fit(X, y)
    assert (longer.prototypes_ == model.prototypes_).all()


def test_soft_rounds_stop_when_nothing_moves():
    X, y, _ = made_words(apart=8.0)
    rounds = []
    model = SubspaceKMeans(assignment="soft", max_iter=500).fit(X, y, callback=rounds.append)
    assert model.n_iter_ < 500
    assert rounds[-1].change <= 1e-6 < rounds[-2].change


@MODES
def test_the_callback_sees_every_round(assignment):
    X, y, _ = made_words(apart=1.0)
    rounds = []
    model = SubspaceKMeans(0.7, assignment=assignment, max_iter=4).fit(X, y, callback=rounds.append)
    assert [r.number for r in rounds] == [1, 2, 3, 4]
    assert [r.objective for r in rounds] == model.objective_.tolist()
    assert all(isinstance(r, Round) and r.counts.sum() == pytest.approx(len(X)) for r in rounds)
    assert rounds[0].n_changed == len(X)
    assert rounds[-1].o_share == model.o_share_ == pytest.approx(0.7)


def test_one_round_learns_a_projection_too():
    X, y, _ = made_words()
    model = SubspaceKMeans(max_iter=1).fit(X, y)
    assert model.projection_.shape[0] == 8
    assert 1 <= model.projection_.shape[1] <= min(8, len(model.prototypes_) - 1)


def test_attributes_agree_with_each_other():
    X, y, _ = made_words()
    model = SubspaceKMeans(0.7, o_prototypes=4, type_prototypes=2).fit(X, y)
    k = len(model.prototypes_)
    assert k == 4 + 3 * 2
    assert model.prototype_tags_.tolist() == [0] * 4 + [1, 1, 2, 2, 3, 3]
    assert model.classes_.tolist() == [0, 1, 2, 3]
    assert (model.tags_ == model.prototype_tags_[model.labels_]).all()
    assert not hasattr(model, "responsibilities_")
    np.testing.assert_allclose(model.transform(X), X @ model.projection_)
    distances = ((X[:, None] - model.prototypes_) @ model.projection_) ** 2
    nearest = distances.sum(axis=2).argmin(axis=1)
    assert (model.predict(X) == model.prototype_tags_[nearest]).all()
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (model.classes_[proba.argmax(axis=1)] == model.predict(X)).all()
    by_tag = np.stack([distances.sum(axis=2)[:, model.prototype_tags_ == t].min(axis=1) for t in range(4)], axis=1)
    weights = np.exp(-by_tag)
    np.testing.assert_allclose(proba, weights / weights.sum(axis=1, keepdims=True), atol=1e-9)


def test_a_refit_from_soft_to_hard_leaves_no_responsibilities():
    X, y, _ = made_words()
    model = SubspaceKMeans(assignment="soft").fit(X, y)
    assert hasattr(model, "responsibilities_")
    model.set_params(assignment="hard").fit(X, y)
    assert not hasattr(model, "responsibilities_")


# ---------------------------------------------------------------- labels of every kind


@MODES
def test_partial_labels_are_respected(assignment):
    X, y, _ = made_words(apart=1.0)
    allowed = np.ones((len(X), 4), bool)
    for i in np.flatnonzero(y != -1):
        allowed[i] = np.arange(4) == y[i]
    free = np.flatnonzero(y == -1)
    some_entity, not_one, two_or_three = free[:20], free[20:40], free[40:60]
    allowed[some_entity, 0] = False
    allowed[not_one, 1] = False
    allowed[two_or_three, :2] = False
    model = SubspaceKMeans(0.6, assignment=assignment).fit(X, allowed)
    assert (model.tags_[some_entity] != 0).all()
    assert (model.tags_[not_one] != 1).all()
    assert (model.tags_[two_or_three] >= 2).all()
    assert model.classes_.tolist() == [0, 1, 2, 3]


@MODES
def test_a_matrix_of_whole_labels_is_the_same_as_tags(assignment):
    X, y, _ = made_words(apart=1.0)
    allowed = np.where(y[:, None] == -1, True, y[:, None] == np.arange(4))
    model = SubspaceKMeans(0.7, assignment=assignment)
    first, second = clone(model).fit(X, y), clone(model).fit(X, allowed)
    assert first.prototypes_.tobytes() == second.prototypes_.tobytes()
    assert first.tags_.tobytes() == second.tags_.tobytes()


def test_tags_may_be_strings_with_minus_one_for_unlabelled():
    X, y, truth = made_words()
    names = np.array(["O", "LOC", "ORG", "PER"], dtype=object)
    tags = names[y]
    tags[y == -1] = -1
    model = SubspaceKMeans(0.7, o_tag="O", o_prototypes=2).fit(X, tags)
    assert model.classes_.tolist() == ["LOC", "O", "ORG", "PER"]
    assert (model.predict(X) == names[truth]).mean() > 0.97
    assert model.prototype_tags_.tolist().count("O") == 2


def test_tags_need_not_be_consecutive():
    X, y, truth = made_words()
    codes = np.array([7, 3, 11, 5])
    model = SubspaceKMeans(0.7, o_tag=7, o_prototypes=2).fit(X, np.where(y == -1, -1, codes[y]))
    assert (model.predict(X) == codes[truth]).mean() > 0.97
    assert model.o_share_ == pytest.approx(0.7)


def test_data_without_o_are_clustered_without_it():
    X, y, _ = made_words()
    keep = y > 0
    model = SubspaceKMeans().fit(X[keep], y[keep])
    assert len(model.prototypes_) == 3
    assert model.o_share_ == 0


def test_a_single_tag_is_predicted_everywhere():
    X, y, _ = made_words()
    only = np.where(y == 0, 0, -1)
    model = SubspaceKMeans().fit(X, only)
    assert (model.predict(X) == 0).all()
    assert (model.predict_proba(X) == 1).all()


@MODES
@pytest.mark.parametrize("ratio", [1.0, 0.98])
def test_a_ratio_that_leaves_types_their_labels_alone(assignment, ratio):
    X, y, _ = made_words(n=800)
    if ratio == 1.0:
        with pytest.raises(RatioError, match="15 words entities"):
            SubspaceKMeans(ratio, assignment=assignment).fit(X, y)
    else:
        model = SubspaceKMeans(ratio, assignment=assignment).fit(X, y)
        assert model.o_share_ == pytest.approx(0.98, abs=0.001)


@pytest.mark.parametrize("shrinkage", ["oas", 0.3, None])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@MODES
def test_labelled_words_alone_and_fewer_than_dimensions(shrinkage, dtype, assignment):
    X, y, truth = made_words(d=60, apart=2.0)
    known = y != -1
    model = SubspaceKMeans(shrinkage=shrinkage, assignment=assignment, o_prototypes=2)
    model.fit(X[known].astype(dtype), y[known])
    assert (model.tags_ == y[known]).all()
    assert (model.predict(X.astype(dtype)) == truth).mean() > 0.9


def test_the_ratio_is_ignored_with_a_word_where_every_word_is_labelled():
    X, _, truth = made_words()
    with pytest.warns(HandfulWarning, match="o_ratio=0.3 is ignored: every word is labelled") as warned:
        model = SubspaceKMeans(0.3).fit(X, truth)
    assert [one.filename for one in warned] == [__file__]
    assert model.o_share_ == (truth == 0).mean()


def test_prototypes_that_lose_every_word_keep_their_place():
    X = np.array([[0.0], [0.2], [10.0], [10.2], [5.0], [0.1], [0.15], [10.1]])
    allowed = np.ones((8, 2), bool)
    allowed[:4] = [[True, False]] * 4
    allowed[4] = [False, True]
    # type 1 holds only the word at 5; O's two prototypes hold the rest; asked for as many prototypes as words
    model = SubspaceKMeans(subspace=False, o_prototypes=4, max_iter=5).fit(X, allowed)
    assert np.isfinite(model.prototypes_).all()
    assert model.n_empty_ == len(model.prototypes_) - len(set(model.labels_.tolist()))


def test_empty_prototypes_are_counted_and_finite():
    # The type's two prototypes start at -1 and 1; both labelled words may then only choose between them, and the
    # ratio leaves them alone there; a free word at 0 is taken by O. Moving O's mean never empties the others,
    # so an O prototype is emptied instead: its one word is nearer to the other once that has moved.
    X = np.array([[0.0, 0], [1.0, 0], [10.0, 0], *[[0.9, 0]] * 50, [20.0, 0]])
    y = np.array([0, 0, 0, *[-1] * 50, 1])
    model = SubspaceKMeans(subspace=False, o_prototypes=3, max_iter=10).fit(X, y)
    assert np.isfinite(model.prototypes_).all()
    assert np.isfinite(model.objective_).all()
    counts = np.bincount(model.labels_, minlength=len(model.prototypes_))
    assert model.n_empty_ == (counts == 0).sum()


FINGERPRINT = """
import hashlib, sys
sys.path[:0] = sys.argv[1:]
from test_estimator import fingerprint
print(fingerprint())
"""


def fingerprint():
    digest = hashlib.sha256()
    X, y, _ = made_words(n=2000, apart=1.0)
    for assignment in ("hard", "soft"):
        model = SubspaceKMeans(0.7, assignment=assignment).fit(X.astype(np.float32), y)
        for value in (model.prototypes_, model.projection_, model.labels_, model.objective_, model.predict_proba(X)):
            digest.update(np.ascontiguousarray(value).tobytes())
    return digest.hexdigest()


@pytest.mark.exhaustive
def test_two_processes_with_different_hash_seeds_give_the_same_bytes():
    here = os.path.dirname(__file__)
    folders = [here, os.path.dirname(here)]
    runs = [
        subprocess.run(
            [sys.executable, "-c", FINGERPRINT, *folders],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert len(runs[0].strip()) == 64
    assert runs[0] == runs[1]


@pytest.mark.parametrize("assignment", ["hard", "soft"])
def test_a_ratio_needs_a_word_of_a_type(assignment):
    X, y = np.arange(12.0).reshape(6, 2), np.array([0, 0, -1, -1, -1, -1])
    with pytest.raises(DataError, match=r"o_ratio=0.5 needs a word of another tag than 0; label one"):
        SubspaceKMeans(o_ratio=0.5, assignment=assignment).fit(X, y)
