"""Mentions that share words: fitted, found, explained, scored, saved, and never with one tag a word."""

import numpy as np
import pytest

from handful import Tagger
from handful.errors import DataError
from handful.evaluate import evaluate
from handful.text import Sentence, Span, flattened, read, write

FEW = [
    "The [University of [Oslo](GPE)](ORG) has many students .",
    "She left the [Bank of [Norway](GPE)](ORG) for [Paris](GPE) .",
    "[The mother of [the old man](PER)](PER) went to [Bergen](GPE)",
    "[The sister of [Anna](PER)](PER) sleeps .",
]
TYPES = {"ORG": "company, school or institution", "GPE": "country or city", "PER": "person, also as a noun phrase"}
TEXT = "The brother of Maria was in the Bank of England ."


def found(tagger, text):
    return [(one["entity_group"], one["word"]) for one in tagger.predict(text)]


@pytest.fixture(scope="module")
def tagger():
    return Tagger(TYPES, overlap=True, cache=False).fit(FEW)


def test_labels_inside_others_come_back(tagger):
    evaluation = tagger.evaluate(FEW)
    assert evaluation.f1 == 1
    assert [(one.n_gold, one.n_correct) for one in evaluation.levels] == [(6, 6), (4, 4)]
    assert "level 1  P 1.000  R 1.000  F1 1.000" in str(evaluation)
    assert evaluation.to_dict()["levels"][1]["n_gold"] == 4


def test_new_mentions_are_found_inside_others_and_inside_their_own_type(tagger):
    inside = [("PER", "The brother of Maria"), ("PER", "Maria"), ("ORG", "Bank of England"), ("GPE", "England")]
    assert found(tagger, TEXT) == inside
    assert [(one.mention["entity_group"], one.mention["word"]) for one in tagger.explain(TEXT)] == inside


def test_explanations_say_what_the_layer_says(tagger):
    of_type, inner = tagger.explain(TEXT)[0], tagger.explain(TEXT)[3]
    assert "prototypes" in of_type.evidence
    assert "prototypes" not in inner.evidence
    assert inner.runner_up == "O"
    assert inner.mention["score"] == pytest.approx(np.mean([one.score for one in inner.words]), abs=1e-12)


def test_a_word_that_a_layer_found_is_said_to_be_found(tagger):
    (answer,) = tagger.explain_word(TEXT, "England", "GPE")
    assert answer.tags == ["ORG"]
    (mention,) = [one for one in tagger.predict(TEXT) if one["word"] == "England"]
    assert answer.known == [f"it is found as GPE, {mention['score']:.3f}, see explain"]
    assert not tagger.explain_word(TEXT, "brother")[0].known


def test_names_alone_find_them():
    both = Tagger(TYPES, overlap=True, cache=False).fit()
    flat = Tagger(TYPES, cache=False).fit()
    text = "He lived in the American University of Beirut ."
    assert found(flat, text) == [("ORG", "American University of Beirut")]
    assert found(both, text) == [("ORG", "American University of Beirut"), ("GPE", "Beirut")]


ASKED = TYPES | {"ORG": f"{TYPES['ORG']}, also inside other mentions"}
PHYSICS = "The Department of Physics of the University of Oslo opened ."


def test_a_guideline_asks_for_those_inside_others_of_their_type():
    text = "The department was in Anna Berg 's house ."
    without, asked = (Tagger(types, overlap=True, cache=False).fit() for types in (TYPES, ASKED))
    assert found(without, PHYSICS) == [("ORG", "Department of Physics of the University of Oslo")]
    inner = [("ORG", "the University of Oslo"), ("ORG", "Oslo")]
    assert found(asked, PHYSICS) == [*found(without, PHYSICS), *inner]
    assert found(asked, text) == found(without, text)
    assert found(Tagger(ASKED, cache=False).fit(), PHYSICS) == found(without, PHYSICS)  # a word has one tag
    said = [one.known for one in asked.explain(PHYSICS)]
    line = "inside another one of ORG, as its description asks: 'also inside other mentions'"
    assert said == [[], [line], [line]]


def test_what_a_guideline_asks_for_does_not_depend_on_other_sentences():
    tagger = Tagger(ASKED, overlap=True, cache=False).fit()
    texts = [PHYSICS, "He lived in the American University of Beirut .", "It rained ."]
    assert tagger.predict(texts) == [tagger.predict(text) for text in texts]
    assert found(tagger, texts[1]) == [("ORG", "American University of Beirut"), ("GPE", "Beirut")]


def test_mentions_by_tags_stay_as_they_are_without_layers(tagger):
    flat = Tagger(TYPES, cache=False).fit([flattened(one) for one in tagger.support_])
    outer = {(one["start"], one["end"], one["entity_group"], one["score"]) for one in flat.predict(TEXT)}
    assert outer <= {(one["start"], one["end"], one["entity_group"], one["score"]) for one in tagger.predict(TEXT)}


def test_a_saved_tagger_is_the_same(tagger, tmp_path):
    tagger.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model", cache=False)
    assert loaded.overlap
    assert loaded.predict(TEXT) == tagger.predict(TEXT)
    assert [one.spans for one in loaded.support_] == [one.spans for one in tagger.support_]
    loaded.save(tmp_path / "again")
    for name in ("config.json", "model.safetensors", "support.jsonl"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "model" / name).read_bytes()


def test_more_labels_are_a_fit_with_all(tagger):
    more = "[The aunt of [Eva](PER)](PER) works at [[Oslo](GPE) Hospital](ORG)"
    text = "The aunt of Eva works at Oslo Hospital"
    added = Tagger(TYPES, overlap=True, cache=False).fit(FEW).add([more])
    assert found(added, text) == [("PER", "The aunt of Eva"), ("PER", "Eva"), ("ORG", "Oslo Hospital"), ("GPE", "Oslo")]
    assert added.predict(text) == Tagger(TYPES, overlap=True, cache=False).fit([*FEW, more]).predict(text)


def test_the_labelled_word_near_a_mention_inside_another_is_of_its_type(tagger):
    mentions = tagger.explain("He studied at the University of Bergen .")
    near = {one.mention["entity_group"]: [(word.word, word.tag) for word in one.nearest] for one in mentions}
    assert ("Oslo", "ORG") in near["ORG"]
    assert ("Oslo", "GPE") in near["GPE"]


def test_how_much_to_find_moves_them(tagger):
    n = [sum(len(found) for found in tagger.predict([TEXT, *map(plain, FEW)], find=odds)) for odds in (0.01, 1, 10)]
    assert n[0] < n[1] <= n[2]


def plain(line):
    return read_inline(line).text


def read_inline(line):
    from io import StringIO

    return read(StringIO(line), "inline")[0]


def test_sentences_that_were_judged_for_some_types_say_nothing_of_others():
    first = [one.judged_for(["ORG"]) for one in map(read_inline, ["The [University of Oslo](ORG) has many students ."])]
    second = [one.judged_for(["GPE"]) for one in map(read_inline, ["She came to the University of [Oslo](GPE) ."])]
    tagger = Tagger(TYPES, overlap=True, cache=False).fit([*first, *second])
    expected = [("ORG", "University of Oslo"), ("GPE", "Oslo")]
    assert found(tagger, "The University of Oslo has many students .") == expected


def test_one_tag_a_word_refuses_labels_that_share_words(tmp_path):
    with pytest.raises(DataError, match=r"'University of Oslo' \(ORG\) and 'Oslo' \(GPE\) share a word.*overlap=True"):
        Tagger(TYPES, cache=False).fit(FEW)
    with pytest.raises(DataError, match="overlap=True is not possible with method='paper'"):
        Tagger(TYPES, overlap=True, method="paper", cache=False).fit(FEW)
    with pytest.raises(DataError, match="overlap is 'yes', expected True or False"):
        Tagger(TYPES, overlap="yes")


def test_a_fit_without_them_says_nothing_of_them(tmp_path):
    tagger = Tagger(TYPES, cache=False).fit([flattened(read_inline(line)) for line in FEW])
    tagger.save(tmp_path / "model")
    config = (tmp_path / "model" / "config.json").read_text()
    assert "overlap" not in config
    assert "layers" not in config


def test_predictions_are_written_and_read(tagger, tmp_path):
    (sentence,) = tagger.predict_sentences([TEXT.split()])
    write([sentence], tmp_path / "found.json", "gliner")
    assert read(tmp_path / "found.json")[0].spans == sentence.spans


def test_scores_match_what_is_right_first():
    words = tuple("abcd")
    gold = [Sentence(words, (Span(0, 4, "A"), Span(0, 2, "B"), Span(0, 2, "C")))]
    guess = [Sentence(words, (Span(0, 3, "A"), Span(0, 2, "C"), Span(3, 4, "B")))]
    result = evaluate(gold, guess)
    assert (result.strict.micro.n_gold, result.strict.micro.n_predicted, result.strict.micro.n_correct) == (3, 3, 1)
    assert result.strict.confusion == {("C", "C"): 1, ("B", "O"): 1, ("A", "O"): 1, ("O", "A"): 1, ("O", "B"): 1}
    assert [(one.n_gold, one.n_predicted, one.n_correct) for one in result.levels] == [(1, 2, 0), (2, 1, 1)]
    assert evaluate(gold, gold).f1 == 1
    assert not evaluate(gold, gold).mistakes
