"""Words that the encoder cannot read are O, and whoever gives many of them is told."""

import warnings

import numpy as np
import pytest

from handful import Tagger
from handful.errors import HandfulWarning

from .toy import SUPPORT, UNLABELLED, ToyEncoder, fitted, mentions, tagger

CHINESE = ["李明昨天在北京大学参加了会议。", "阿里巴巴公司总部位于杭州。", "世界卫生组织表示流感正在蔓延。"]


class Reader(ToyEncoder):
    """Cannot read words with a q in them."""

    def unreadable(self, sentences):
        return np.array(["q" in word for s in sentences for word in getattr(s, "words", s)], bool)


def silent(call):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return call()


@pytest.mark.parametrize("method", ["paper", "handful"])
def test_a_word_that_cannot_be_read_is_no_mention(method):
    options = {"o_ratio": 0.7, "method": method, "cache": True}
    model = tagger(encoder=Reader(), **options).fit(SUPPORT, UNLABELLED)
    assert model.predict("Pim went to Leiden .") == fitted(**options).predict("Pim went to Leiden .")
    assert mentions(model.predict("we saw Paq in Leiden with Pim and all of us .")) == [
        ("Leiden", "LOC"),
        ("Pim", "PER"),
    ]
    assert mentions(model.predict("then Pim Paq Pam left us here .")) == [("Pim", "PER"), ("Pam", "PER")]
    assert [found.mention["word"] for found in model.explain("so Paq saw Lima again , she said .")] == ["Lima"]
    (sentence,) = model.predict_sentences([["Paq", "saw", "Lima", "and", "left", "it", "to", "us", "all", "."]])
    assert [span.start for span in sentence.spans] == [2]
    wrong = model.evaluate(["then [Paq](PER) went to [Lima](LOC) with all of us there ."]).mistakes
    assert [mistake.kind for mistake in wrong] == ["missed"]


def test_the_summary_does_not_show_what_cannot_be_read():
    text = [
        *UNLABELLED,
        "so Pqq saw Pqqq and Pqqqq of Lqq .",
        "Pqa Pqb Pqc Pqd sat",
        "and nobody else was there with us all day .",
    ]
    with pytest.warns(HandfulWarning, match="cannot read"):
        summary = tagger(encoder=Reader(), o_ratio=0.7).fit(SUPPORT, text).summary_
    assert not any("q" in example for examples in summary.examples.values() for example in examples)
    assert sum(summary.unlabelled_words.values()) < sum(
        tagger(o_ratio=0.7).fit(SUPPORT, text).summary_.unlabelled_words.values()
    )


def test_much_that_cannot_be_read_is_said_once_with_an_example():
    model = silent(lambda: tagger(encoder=Reader(), o_ratio=0.7).fit(SUPPORT, UNLABELLED))
    silent(lambda: model.predict("one qq is rare among all of these words , is it not ?"))
    with pytest.warns(HandfulWarning, match=r"cannot read 21% of the words, such as qq, q, qu: they") as caught:
        model.predict("q qu qx is .")
    assert "handful fit --encoder" in caught[0].message.for_shell
    silent(lambda: model.predict("q qu qx is ."))


def test_a_long_word_that_cannot_be_read_is_shown_in_part():
    model = silent(lambda: tagger(encoder=Reader(), o_ratio=0.7).fit(SUPPORT, UNLABELLED))
    with pytest.warns(HandfulWarning, match=r"such as q{39}…, q, qu: they"):
        model.predict(f"{'q' * 100_000} q qu qx is .")


def test_a_stretch_that_cannot_be_read_is_noticed_late_in_a_stream():
    model = tagger(encoder=Reader(), o_ratio=0.7).fit(SUPPORT, UNLABELLED)
    with pytest.warns(HandfulWarning, match="cannot read"):
        list(model.predict_iter(["all of this can be read ."] * 2000 + ["qa qb qc qd qe ."] * 200))


def test_labels_that_cannot_be_read_are_said():
    more = "it was [Paqs](PER) that day , and not one of us had ever seen so much of it"
    with pytest.warns(HandfulWarning, match=r"cannot read 1 of the 5 labelled mentions, such as Paqs"):
        tagger(encoder=Reader()).fit([*SUPPORT, more])
    model = silent(lambda: tagger(encoder=Reader()).fit(SUPPORT))
    with pytest.warns(HandfulWarning, match="1 of the 5 labelled mentions"):
        model.add([more])


def test_chinese_gives_no_confident_nonsense():
    support = ["[李明](PER) 昨天 在 [北京大学](ORG) 参加了会议。", "[王小红](PER) 从 [上海](LOC) 飞往 [纽约](LOC)。"]
    with pytest.warns(HandfulWarning, match=r"handful-en cannot read \d+% of the words, such as") as caught:
        model = Tagger(names=False, cache=False).fit(support, CHINESE)
    assert not any("looks like" in str(one.message) for one in caught)  # that would say the same
    with pytest.warns(HandfulWarning, match="cannot read"):
        assert model.predict(CHINESE) == [[], [], []]


def test_emoji_change_nothing_else():
    types = {"PER": "names of people", "LOC": "names of places"}
    model = silent(lambda: Tagger(types, cache=False).fit())
    text = "😂 😂 Anna Schmidt moved to Vienna ❤️ !"
    assert mentions(silent(lambda: model.predict(text))) == [("Anna Schmidt", "PER"), ("Vienna", "LOC")]
