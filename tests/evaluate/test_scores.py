"""Span scores, against seqeval and nervaluate."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from nervaluate import Evaluator
from seqeval.metrics import classification_report, f1_score, precision_score, recall_score

from handful.errors import DataError
from handful.evaluate import Score, score
from handful.text import Sentence, Span, to_tags
from text.strategies import modest


@st.composite
def spans(draw, n_words):
    found, i = [], 0
    while i < n_words:
        step = draw(st.integers(1, 3))
        if draw(st.booleans()):
            found.append(Span(i, min(i + step, n_words), draw(st.sampled_from(["PER", "LOC", "ORG"]))))
        i += step
    return Sentence(("w",) * n_words, tuple(found))


@st.composite
def pairs(draw):
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    return [draw(spans(n)) for n in lengths], [draw(spans(n)) for n in lengths]


def tags(sentences):
    return [to_tags(sentence) for sentence in sentences]


@given(pairs())
@modest
def test_strict_is_what_seqeval_says(pair):
    gold, predicted = pair
    scores = score(gold, predicted)
    kwargs = {"zero_division": 0}
    assert scores.micro.precision == pytest.approx(precision_score(tags(gold), tags(predicted), **kwargs))
    assert scores.micro.recall == pytest.approx(recall_score(tags(gold), tags(predicted), **kwargs))
    assert scores.micro.f1 == pytest.approx(f1_score(tags(gold), tags(predicted), **kwargs))
    if not any(sentence.spans for sentence in [*gold, *predicted]):
        return
    report = classification_report(tags(gold), tags(predicted), output_dict=True, **kwargs)
    assert set(scores.by_type) == set(report) - {"micro avg", "macro avg", "weighted avg"}
    for label, one in scores.by_type.items():
        assert one.precision == pytest.approx(report[label]["precision"])
        assert one.recall == pytest.approx(report[label]["recall"])
        assert one.f1 == pytest.approx(report[label]["f1-score"])
        assert one.n_gold == report[label]["support"]
    macro = report["macro avg"]
    assert scores.macro["precision"] == pytest.approx(macro["precision"])
    assert scores.macro["recall"] == pytest.approx(macro["recall"])
    assert scores.macro["f1"] == pytest.approx(macro["f1-score"])


def nervaluate_form(sentences):
    return [
        [{"label": span.type, "start": span.start, "end": span.end - 1} for span in sentence.spans]
        for sentence in sentences
    ]


@given(pair=pairs())
@modest
def test_strict_is_what_nervaluate_says(pair):
    gold, predicted = pair
    evaluator = Evaluator(nervaluate_form(gold), nervaluate_form(predicted), tags=["PER", "LOC", "ORG"], loader="dict")
    result = evaluator.evaluate()
    scores = score(gold, predicted)
    assert set(scores.by_type) == set(result["entities"])
    for ours, theirs in [
        (scores.micro, result["overall"]["strict"]),
        *((scores.by_type[label], result["entities"][label]["strict"]) for label in scores.by_type),
    ]:
        assert ours.n_correct == theirs.correct
        assert ours.n_predicted == theirs.actual
        assert ours.n_gold == theirs.possible
        assert ours.precision == pytest.approx(theirs.precision)
        assert ours.recall == pytest.approx(theirs.recall)
        assert ours.f1 == pytest.approx(theirs.f1)


def test_by_hand():
    gold = [[Span(0, 2, "PER"), Span(3, 4, "LOC"), Span(5, 6, "LOC")]]
    predicted = [[Span(0, 1, "PER"), Span(3, 4, "ORG"), Span(5, 6, "LOC"), Span(7, 8, "LOC")]]
    scores = score(gold, predicted)
    assert scores.micro == Score(n_gold=3, n_predicted=4, n_correct=1)
    assert (scores.micro.precision, scores.micro.recall, scores.micro.f1) == pytest.approx((1 / 4, 1 / 3, 2 / 7))
    assert scores.by_type == {"LOC": Score(2, 2, 1), "ORG": Score(0, 1, 0), "PER": Score(1, 1, 0)}
    assert scores.confusion == {
        ("PER", "O"): 1,
        ("O", "PER"): 1,
        ("LOC", "ORG"): 1,
        ("LOC", "LOC"): 1,
        ("O", "LOC"): 1,
    }


@given(pairs())
@modest
def test_the_confusion_counts_every_mention_once(pair):
    gold, predicted = pair
    scores = score(gold, predicted)
    for label, one in scores.by_type.items():
        assert sum(n for (row, _), n in scores.confusion.items() if row == label) == one.n_gold
        assert sum(n for (_, column), n in scores.confusion.items() if column == label) == one.n_predicted
        assert scores.confusion[label, label] == one.n_correct


def test_nothing_to_score():
    scores = score([()], [()])
    assert (scores.micro.precision, scores.micro.recall, scores.micro.f1, scores.macro["f1"]) == (0, 0, 0, 0)


def test_errors():
    one = Sentence(("a",), ())
    with pytest.raises(DataError, match="1 predicted sentences, but more of the others"):
        score([one, one], [one])
    with pytest.raises(DataError, match="other words"):
        score([one], [Sentence(("b",), ())])
    with pytest.raises(DataError, match="not wholly labelled"):
        score([Sentence(("a",))], [one])
    with pytest.raises(DataError, match="expected a Sentence or Span"):
        score([["PER"]], [one])
