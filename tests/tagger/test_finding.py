"""How much to find: mentions come and go as wholes, and the setting is where a user looks for it."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from handful import Tagger
from handful import predict as predict_types
from handful.baselines import RegressionBaseline
from handful.errors import DataError
from handful.tagger.decoding import path_total, runs
from handful.tagger.finding import FIND
from handful.tagger.model import CALIBRATIONS, Lead, Model, Softmax
from handful.text import EntityType, Sentence, Transitions

from .toy import UNLABELLED, ToyEncoder, fitted

TYPES = (EntityType("A"), EntityType("B"))
LOGITS = st.lists(st.lists(st.tuples(*[st.integers(-60, 60)] * 3), min_size=1, max_size=7), min_size=1, max_size=3)


def found(model, logits, n_words):
    """Return the mentions as (start, stop, tag)."""
    tags = model.path(logits, n_words)
    return {(start, stop, int(tags[start])) for _, start, stop, _ in runs(tags, n_words)}


@pytest.mark.parametrize("transitions", [None, Transitions(0.1, 0.1, 0.3, 0.05)])
@settings(max_examples=150)
@given(sentences=LOGITS, less=st.sampled_from([0.9, 0.5, 0.1, 0.01]))
def test_mentions_come_and_go_as_wholes(transitions, sentences, less):
    logits = np.array([word for sentence in sentences for word in sentence], float)
    n_words = list(map(len, sentences))
    usual = Model(TYPES, (), Lead(-1.0, 0.04), transitions, without_prior=4.0)
    there, fewer, more = (found(replace(usual, find=find), logits, n_words) for find in (1, less, 1 / less))
    assert fewer <= there <= more
    assert found(replace(usual, find=less / 2), logits, n_words) <= fewer
    ends = set(np.cumsum(n_words).tolist())  # of sentences
    for start, stop, tag in more - there:
        for a, b, other in there:
            touches = (stop == a and stop not in ends) or (b == start and start not in ends)
            assert not (touches and tag == other)


@given(st.lists(st.tuples(*[st.integers(-60, 60)] * 3), min_size=1, max_size=4), st.sampled_from([2, 5, 30]))
@settings(max_examples=80, deadline=None)
def test_more_mentions_are_those_of_the_best_tags_with_the_points(words, find):
    """By all tags that keep the mentions there are, tried one after the other."""
    logits, n = np.array(words, float), len(words)
    model = Model(TYPES, (), Lead(-1.0, 0.04), Transitions(0.1, 0.1, 0.3, 0.05), find=find)
    points = np.log(find) / 0.04
    base = replace(model, find=1.0).path(logits, [n])
    best = -np.inf
    for number in range(3**n):
        tags = np.array([number // 3**i % 3 for i in range(n)])
        kept = [(base[i] == 0 or base[i] == tags[i]) for i in range(n)]
        grown = [
            base[i] == 0 and tags[i] and tags[i] in [base[j] for j in (i - 1, i + 1) if 0 <= j < n] for i in range(n)
        ]
        if not all(kept) or any(grown):
            continue
        gain = sum(points / 2 for i in range(n) if base[i] == 0 and tags[i])
        gain += sum(points / 2 for i in range(n) if tags[i] and (i == 0 or tags[i - 1] == 0))
        best = max(best, path_total(logits, tags, model.transitions) + gain)
    tags = model.path(logits, [n])
    gain = sum(points / 2 for i in range(n) if base[i] == 0 and tags[i])
    gain += sum(points / 2 for i in range(n) if tags[i] and (i == 0 or tags[i - 1] == 0))
    assert path_total(logits, tags, model.transitions) + gain == pytest.approx(best)


@pytest.mark.parametrize("calibration", [Softmax(2.0), Lead(-1.0, 0.04)], ids=list(CALIBRATIONS))
def test_points_are_by_how_much_the_odds_of_scores_rise(calibration):
    def odds(logit):
        score = calibration.scores(np.array([[logit, 0.0]]))[0, 0]
        return score / (1 - score)

    assert odds(1.5 + calibration.points(3.0)) == pytest.approx(3 * odds(1.5))
    assert calibration.points(1.0) == 0


def test_the_setting_is_a_parameter_and_is_saved(tmp_path):
    tagger = fitted(method="handful", o_ratio=0.7)
    usual = tagger.predict(UNLABELLED)
    counts = {}
    for find in ("sure", "usual", "more", 0.001, 1000):
        tagger.find = find
        counts[find] = sum(map(len, tagger.predict(UNLABELLED)))
        tagger.find = "usual"
        assert counts[find] == sum(map(len, tagger.predict(UNLABELLED, find=find)))
    assert counts[0.001] <= counts["sure"] <= counts["usual"] <= counts["more"] <= counts[1000]
    assert counts[0.001] < counts[1000]
    assert tagger.predict(UNLABELLED) == usual
    tagger.set_params(find=1000)
    tagger.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model", encoder=ToyEncoder(), cache=False)
    assert loaded.find == 1000
    assert loaded.predict(UNLABELLED) == tagger.predict(UNLABELLED) != usual
    assert loaded.predict(UNLABELLED, find="usual") == usual
    assert loaded.set_params(find=FIND["usual"]).predict(UNLABELLED) == usual


@pytest.mark.parametrize("find", ["all", 0, -1, True, None, float("nan"), 1e9, [1]])
def test_other_settings_are_refused(find):
    with pytest.raises(DataError, match=r"find is .*, expected sure, usual, more, or how many times as bad"):
        Tagger(find=find)
    tagger = fitted(method="handful", o_ratio=0.7)
    tagger.find = find
    with pytest.raises(DataError, match="find is"):
        tagger.predict("a text")


def test_other_methods_have_no_such_setting():
    baseline = RegressionBaseline(ToyEncoder()).fit(["[Qim](PER) saw [Leiden](LOC)"])
    assert baseline.predict("Qim saw us", find=1) == baseline.predict("Qim saw us")
    with pytest.raises(DataError, match="find is a setting of a Tagger"):
        baseline.predict("Qim saw us", find="more")


def test_an_evaluation_has_the_curve():
    tagger = fitted(method="handful", o_ratio=0.7)
    gold = [Sentence(("Qim", "saw", "Leiden")).with_labels(()), *tagger.predict_sentences(UNLABELLED_WORDS, find=50)]
    gold = [replace(one, judged=None) for one in gold]
    tagger.find = 5.0
    result = tagger.evaluate(gold)
    assert [one.find for one in result.curve] == [0.1, FIND["sure"], 1.0, FIND["more"], 5.0, 10.0]
    for setting in result.curve:
        tagger.find = setting.find
        assert tagger.evaluate(gold).strict.micro == setting.score
    assert result.find == 5.0
    recalls = [one.score.recall for one in result.curve]
    assert recalls == sorted(recalls)
    assert recalls[0] < recalls[-1]
    assert result.to_dict()["curve"][2]["find"] == 1.0
    assert str(result).count("(now)") == 1


UNLABELLED_WORDS = [
    Sentence(tuple(text.split())) if isinstance(text, str) else Sentence(tuple(text)) for text in UNLABELLED
]


def test_explain_word_says_which_setting_finds_it():
    tagger = Tagger("person, place, device", cache=False).fit()
    text = "The repair van got stuck near Leeds while Anna fixed the oven."
    (oven,) = tagger.explain_word(text, "oven")
    (said,) = [one for one in oven.remedies if one.startswith("find more")]
    find = float(said.split("find=")[1].split(",")[0])
    assert "oven" in [one["word"] for one in tagger.predict(text, find=find)]
    tagger.find = 0.001
    assert tagger.predict(text) == []
    (leeds,) = tagger.explain_word(text, "Leeds")
    assert leeds.remedies == ["find more: a mention with such points is left out with find=0.001, as it is set now"]
    assert "oven" in [one["word"] for one in predict_types(text, "person, place, device", find=find)]
