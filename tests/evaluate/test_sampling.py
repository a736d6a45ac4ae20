"""Greedy k-shot supports."""

import random
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.errors import DataError
from handful.evaluate import sample_support
from handful.text import Allowed, Sentence, Span
from text.strategies import modest

FROZEN = [("D0", "B1"), ("D0", "C1"), ("B0", "B1", "A2", "D3"), ("B0", "C1", "B2", "A3"), ("C0", "A1")]


def made(*mentions):
    """Make a sentence with a mention of one word for each letter."""
    words = tuple(f"{mention}{i}" for i, mention in enumerate(mentions)) or ("none",)
    return Sentence(words, tuple(Span(i, i + 1, label) for i, label in enumerate(mentions)))


def corpus(seed=1, n=60):
    draw = random.Random(seed).random  # the only numbers that Python promises to keep
    return [made(*("AAAABBBCCD"[int(10 * draw())] for _ in range(int(5 * draw())))) for _ in range(n)]


def by_hand(sentences, shots, seed):
    """Draw a support by the description alone, with a list that is filtered anew for each draw."""
    draw = random.Random(seed)
    total = Counter(span.type for sentence in sentences for span in sentence.spans)
    support = []
    for label in sorted(total, key=lambda label: (total[label], label)):
        while sum(span.type == label for i in support for span in sentences[i].spans) < shots:
            left = [
                i
                for i, sentence in enumerate(sentences)
                if i not in support and any(span.type == label for span in sentence.spans)
            ]
            support.append(left[int(draw.random() * len(left))])
    return [sentences[i] for i in support]


@given(st.integers(0, 10_000), st.integers(1, 5))
@modest
def test_draws_as_described(seed, shots):
    sentences = corpus()
    assert sample_support(sentences, shots, seed) == [by_hand(sentences, shots, seed)]


@given(st.integers(0, 10_000), st.integers(1, 5))
@modest
def test_has_enough_of_every_type_and_nothing_to_spare(seed, shots):
    (support,) = sample_support(corpus(), shots, seed)
    count = Counter(span.type for sentence in support for span in sentence.spans)
    assert all(count[label] >= shots for label in "ABCD")
    # When its last sentence was drawn, some type was still short.
    without_last = count - Counter(span.type for span in support[-1].spans)
    assert any(without_last[label] < shots for label in "ABCD")


def test_types_go_from_rare_to_frequent_and_ties_by_name():
    sentences = [made("Z"), made("B"), made("A"), made("C", "C"), made("C")]
    first = {sample_support(sentences, 1, seed)[0][0].words for seed in range(20)}
    assert first == {("A0",)}


def test_a_seed_gives_the_same_support_for_ever():
    (support,) = sample_support(corpus(), 3, 0)
    assert [sentence.words for sentence in support] == FROZEN
    # Another process has other hashes.
    code = (
        f"from {__name__} import corpus; from handful.evaluate import sample_support;"
        "print([s.words for s in sample_support(corpus(), 3, 0)[0]])"
    )
    for hash_seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": ":".join(path for path in sys.path if path)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == str(FROZEN)


def test_several_sets():
    sentences = corpus()
    sets = sample_support(sentences, 2, 7, sets=10)
    assert len(sets) == 10
    assert sets[:1] == sample_support(sentences, 2, 7)
    assert sets[:3] == sample_support(sentences, 2, 7, sets=3)
    assert len({tuple(support) for support in sets}) > 5


def test_what_there_is_of_rare_types():
    sentences = [made("A"), made("A"), made("A"), made("B"), made("C", "C")]
    (support,) = sample_support(sentences, 3, 0, fewer=True)
    assert sorted(map(str, support)) == sorted(map(str, sentences))
    assert sample_support(sentences, 1, 0, fewer=True) == sample_support(sentences, 1, 0)


def test_errors_name_what_is_wrong():
    sentences = [made("A", "A", "A"), made("B"), made("C", "C")]
    with pytest.raises(DataError, match=r"3 shots .* too few of B \(1\), C \(2\)"):
        sample_support(sentences, 3, 0)
    with pytest.raises(DataError, match="no mention"):
        sample_support([made()], 1, 0)
    with pytest.raises(DataError, match="sentence 1 is not wholly labelled"):
        sample_support([made("A"), Sentence(("a",))], 1, 0)
    with pytest.raises(DataError, match="sentence 0 is not wholly labelled"):
        sample_support([Sentence(("a",), (), (Allowed.parse("!O"),))], 1, 0)
    for arguments in ({"shots": 0, "seed": 0}, {"shots": 1, "seed": -1}, {"shots": 1, "seed": 0, "sets": 0}):
        with pytest.raises(DataError, match="expected a whole number"):
            sample_support(sentences, **arguments)
