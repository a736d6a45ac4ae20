"""What goes into a fit, and what comes out."""

import json
import re
import warnings

import numpy as np
import pytest

from handful import Sentence, Span, Tagger
from handful.cluster import SubspaceKMeans
from handful.encoders import open_encoder
from handful.errors import DataError, EncoderError, FileError, HandfulWarning, RatioError
from handful.text import SOME_ENTITY, Allowed, write

from .toy import SUPPORT, UNLABELLED, ToyEncoder, fitted, mentions, names, tagger

LABELLED = [
    Sentence(("Paul", "went", "to", "London", "with", "me"), (Span(0, 1, "PER"), Span(3, 4, "LOC"))),
    Sentence(("the", "Peter", "of", "Lima", "sleeps", "all", "day"), (Span(1, 2, "PER"), Span(3, 4, "LOC"))),
]
TEXT = "Pim went from Leiden to see Lot ."


def answer(model):
    return [(found["word"], found["entity_group"], found["score"]) for found in model.predict(TEXT)]


def test_finds_what_it_was_shown():
    assert mentions(fitted(o_ratio=0.7).predict(TEXT)) == [("Pim", "PER"), ("Leiden", "LOC"), ("Lot", "LOC")]


def test_every_way_to_give_sentences_gives_the_same(tmp_path):
    records = [
        {"text": "Paul went to London with me", "spans": [
            {"start": 0, "end": 4, "label": "PER"}, {"start": 13, "end": 19, "label": "LOC"}]},
        {"tokens": ["the", "Peter", "of", "Lima", "sleeps", "all", "day"],
         "ner_tags": np.array(["O", "B-PER", "O", "B-LOC", "O", "O", "O"])},
    ]  # fmt: skip
    pair = ("Paul went to London with me", {"entities": [(0, 4, "PER"), (13, 19, "LOC")]})  # spaCy's
    write(LABELLED, tmp_path / "few.conll", "conll")
    (tmp_path / "text.txt").write_text("\n".join(UNLABELLED), encoding="utf-8")
    with (tmp_path / "few.conll").open(encoding="utf-8") as file:
        ways = [
            tagger(o_ratio=0.7).fit(tmp_path / "few.conll", str(tmp_path / "text.txt")),
            tagger(o_ratio=0.7).fit(LABELLED, UNLABELLED),
            tagger(o_ratio=0.7).fit([LABELLED[0], SUPPORT[1]], iter(UNLABELLED)),
            tagger(o_ratio=0.7).fit([pair, SUPPORT[1]], UNLABELLED),
            tagger(o_ratio=0.7).fit([list(pair), records[1]], [(text, {}) for text in UNLABELLED]),
            tagger(o_ratio=0.7).fit(records, [text.split() for text in UNLABELLED]),
            tagger(o_ratio=0.7).fit(file, [{"text": text} for text in UNLABELLED]),
        ]
    expected = answer(fitted(o_ratio=0.7))
    assert [answer(way) for way in ways] == [expected] * len(ways)


def test_the_fit_is_the_estimators_on_the_words_in_order():
    """Labels stand on every unlabelled sentence of the same words, and a support that is not there comes last."""
    texts = [LABELLED[1].without_labels(), *UNLABELLED, LABELLED[1].without_labels()]
    model = tagger(o_ratio=0.7).fit(LABELLED, texts)
    words, y = [], []
    tags = {"O": 0, "LOC": 1, "PER": 2}
    for text in texts:
        words += text.words if isinstance(text, Sentence) else text.split()
        is_known = isinstance(text, Sentence)
        y += [tags[t] for t in ("O", "PER", "O", "LOC", "O", "O", "O")] if is_known else [-1] * len(text.split())
    words += LABELLED[0].words
    y += [2, 0, 0, 1, 0, 0]
    expected = SubspaceKMeans(0.7, o_prototypes=2).fit(ToyEncoder().encode([words]), np.array(y))
    scores = expected.predict_proba(ToyEncoder().encode([TEXT.split()]))
    assert answer(model) == [
        ("Pim", "PER", pytest.approx(scores[0, 2])),
        ("Leiden", "LOC", pytest.approx(scores[3, 1])),
        ("Lot", "LOC", pytest.approx(scores[6, 1])),
    ]
    assert model.summary_.n_unlabelled_words == sum(len(text.split()) for text in UNLABELLED)
    assert model.summary_.o_share == expected.o_share_
    assert model.summary_.objective == pytest.approx(expected.objective_[-1])


def test_labels_of_the_unlabelled_text_are_not_used():
    wrong = [Sentence(tuple(text.split()), (Span(0, 1, "WRONG"),)) for text in UNLABELLED]
    model = tagger(o_ratio=0.7).fit(SUPPORT, wrong)
    assert names(model) == ["LOC", "PER"]
    assert answer(model) == answer(fitted(o_ratio=0.7))
    assert any("5 sentences" in note for note in model.summary_.notes)


def test_same_words_with_other_labels_each_keep_their_own():
    """Labels count for their own sentence; an unlabelled copy may be what either says."""
    ways = ["[Paul](PER) went to [London](LOC) with me", "Paul went to [London](PER) with [me](_)"]
    text = [*UNLABELLED, "Paul went to London with me", "Paul went to London with me"]
    model = tagger(o_ratio=0.6).fit([*ways, SUPPORT[1], ways[0]], text)
    words = model.text_.labelled_words(names(model))  # O, LOC, PER
    by_row = {int(row): words.allowed[i].astype(int).tolist() for i, row in enumerate(words.rows)}
    o, loc, per = [1, 0, 0], [0, 1, 0], [0, 0, 1]
    n = 41  # words of the unlabelled text before the copies
    copies = [[1, 0, 1], o, o, [0, 1, 1], o, o]  # "me": O in one, nothing is said in the other
    assert [by_row[n + i] for i in range(12)] == copies * 2
    assert [by_row[n + 12 + i] for i in range(6)] == [per, o, o, loc, o, o]
    assert [by_row[n + 18 + i] for i in range(6)] == [o, o, o, per, o, [1, 1, 1]]
    assert len(model.text_.features) == n + 12 + 12 + 7
    assert model.summary_.n_support == 3
    assert model.summary_.mentions == {"LOC": 2, "PER": 3}
    (note,) = model.summary_.notes
    assert note.startswith("1 sentence is labelled in more than one way")
    same = tagger().fit([*SUPPORT, SUPPORT[0]])  # the same labels twice: one sentence
    assert answer(same) == answer(tagger().fit(SUPPORT))
    assert same.summary_.notes == []


def test_labels_that_differ_and_do_not_contradict_are_taken_together():
    """What is unknown in one sentence, or left open, another may say."""
    ways = ["[Paul](_) went to [London](LOC|PER) with [me](!O)", "[Paul](PER) went to [London](LOC) with [me](_)"]
    model = tagger().fit([*ways, SUPPORT[1]], ["Paul went to London with me"])
    words = model.text_.labelled_words(names(model))
    assert words.allowed[words.rows < 6].astype(int).tolist() == [
        [0, 0, 1], [1, 0, 0], [1, 0, 0], [0, 1, 0], [1, 0, 0], [0, 1, 1],
    ]  # fmt: skip


def test_of_several_labels_one_that_says_nothing_opens_nothing():
    ways = ["[Paul](PER) went home", "[Paul](LOC) went home", "[Paul](_) went home"]
    model = tagger().fit([*ways, *SUPPORT], ["Paul went home"])
    words = model.text_.labelled_words(names(model))
    assert words.allowed[words.rows == 0].tolist() == [[False, True, True]]


def test_support_without_labels_counts_as_text():
    model = tagger(o_ratio=0.7).fit([*LABELLED, *[{"text": text} for text in UNLABELLED]])
    assert answer(model) == answer(fitted(o_ratio=0.7))
    assert model.summary_.n_support == 2
    assert any("5 sentences without labels from the support" in note for note in model.summary_.notes)


def test_no_unlabelled_text_ignores_the_ratio_and_says_so():
    with pytest.warns(HandfulWarning, match="o_ratio=0.5 is ignored"):
        model = tagger(o_ratio=0.5).fit(SUPPORT)
    assert answer(model) == answer(tagger().fit(SUPPORT))
    assert "(unlabelled=)" in str(model.summary_.advice[0])
    assert "(--unlabelled)" in model.summary_.advice[0].shell


def test_partial_labels_bind_the_fit():
    """Of a word that may be LOC or ORG, the fit says which; a word that may be anything is free."""
    partial = Sentence(
        ("Gent", "and", "Leuven", "call"), (), (Allowed.parse("LOC|ORG"), None, SOME_ENTITY, Allowed.parse("!LOC"))
    )
    model = tagger().fit([*SUPPORT, "the [Gap](ORG) sells to [Gucci](ORG)", partial])
    assert names(model) == ["LOC", "ORG", "PER"]
    words = model.text_.labelled_words(names(model))
    allowed = words.allowed[words.places[:, 0] == 3]  # O, LOC, ORG, PER
    assert allowed.astype(int).tolist() == [[0, 1, 1, 0], [1, 0, 0, 0], [0, 1, 1, 1], [1, 0, 1, 1]]
    assert mentions(model.predict("Gent and Leuven call")) == [("Gent", "ORG"), ("Leuven", "LOC")]
    assert model.summary_.mentions == {"LOC": 2, "ORG": 2, "PER": 2}


def test_mentions_marked_only_as_some_entity_become_one_type():
    model = tagger().fit(["[Paul](!O) went to [London](!O) with me"], UNLABELLED)
    assert names(model) == ["ENTITY"]
    assert mentions(model.predict(TEXT)) == [("Pim", "ENTITY"), ("Leiden", "ENTITY"), ("Lot", "ENTITY")]


def test_some_entity_among_types_is_resolved_by_the_fit():
    model = tagger().fit([*SUPPORT, "[Pelle](!O) and [Lund](!O) again"])
    assert mentions(model.predict("Pelle and Lund again")) == [("Pelle", "PER"), ("Lund", "LOC")]


@pytest.mark.parametrize(
    ("support", "message"),
    [
        (["nothing is marked here"], "no mention is marked, and no type is named"),
        ([{"text": "no labels"}], "no mention is marked, and no type is named"),
        ([], "no mention is marked, and no type is named"),
        (["[Paul](PER)", "[London](LOC)"], "no word that is O for certain"),
        (["[Paul](PER) [saw](_) [London](LOC)"], r"unknown \(_\); add a sentence or two in which every mention is"),
        (["[Paul](PER) saw [Gent](LOC|ORG) and [Lima](LOC)"], "no mention is labelled as ORG alone"),
        (["[Paul](PER) saw [it](!PER|O)"], "'it' may be none of the tags"),
        ([None], "item 0: found NoneType"),
        ([SUPPORT[0], {"text": 3}], "'text' is 3, expected a string"),
        ([{"text": {1}}], "item 0: not a JSON record"),
        (["[Paul](PER) saw [Lo](LOC)ndon"], "item 0:1: the span"),
        (Sentence(("Paul",)), "put it in a list"),
        ({"text": "x"}, "put it in a list"),
        (3, "must be a path or a list"),
    ],
)
def test_a_support_that_cannot_be_used_is_refused(support, message):
    encoder = ToyEncoder()
    with pytest.raises(ValueError, match=message):
        tagger(encoder=encoder).fit(support)


def test_a_str_names_a_file():
    with pytest.raises(FileError, match="give texts in a list"):
        tagger().fit("[Paul](PER) went home")


def test_parameters_are_checked_before_the_text_is_encoded():
    encoder = ToyEncoder()
    with pytest.raises(DataError, match="o_ratio=2"):
        tagger(encoder=encoder, o_ratio=2).fit(SUPPORT, UNLABELLED)
    assert encoder.n_words == 0


def test_a_ratio_that_labels_make_impossible():
    with pytest.raises(RatioError, match=r"0\.99"):
        fitted(o_ratio=0.99)


MORE = ["the dog sat there with all of us and then it ran off again"]


def test_a_ratio_that_contradicts_the_labels_is_said_before_the_text_is_encoded():
    """Of 27 labelled words 4 are in mentions, 15%: a ratio of 0.97 leaves a fifth of that."""
    message = r"a ratio of 0\.97 leaves 0\.03 of all words to mentions, but 0\.15 of the labelled words"
    with pytest.warns(HandfulWarning, match=message) as found:
        tagger(o_ratio=0.97).fit([*SUPPORT, *MORE], UNLABELLED * 4)
    assert "only if 80% of the sentences have no mention" in str(found[0].message)
    assert "--o-ratio auto" in found[0].message.for_shell
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(HandfulWarning, match="a ratio"):
            tagger(o_ratio=0.97, encoder=(unread := ToyEncoder())).fit([*SUPPORT, *MORE], UNLABELLED * 4)
        assert unread.n_words == 0
        model = tagger(o_ratio=0.96).fit([*SUPPORT, *MORE], UNLABELLED * 4)  # as where sentences were picked
        model.o_ratio = 0.97
        with pytest.raises(HandfulWarning, match="a ratio"):
            model.add(["and so on"])


def test_only_a_number_that_decides_something_contradicts_the_labels():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for o_ratio in (None, "auto"):
            tagger(o_ratio=o_ratio).fit([*SUPPORT, *MORE], UNLABELLED)
        tagger(o_ratio=0.95).fit(SUPPORT, UNLABELLED * 4)  # 13 words say little
        words = "[Paul](PER) [or](_) [so](_) [it](_) [is](_) [said](_) went to [Lima](LOC) with all of us again"
        tagger(o_ratio=0.95).fit([words, "we [saw](_) [it](_) [Paul](!O) again"], UNLABELLED * 4)  # 11 are known
    with pytest.warns(HandfulWarning, match="ignored"):  # nothing else is said
        tagger(o_ratio=0.97).fit([*SUPPORT, *MORE])


def test_encoders_that_are_none():
    with pytest.raises(EncoderError, match="has no dim and no fingerprint"):
        tagger(encoder=object()).fit(SUPPORT)
    broken = ToyEncoder()
    broken.encode = lambda sentences, progress=None: np.zeros((1, 8))
    with pytest.raises(EncoderError, match=r"shape \(13, 8\)"):
        tagger(encoder=broken).fit(SUPPORT)


def test_adding_equals_fitting_with_all_and_encodes_only_what_is_new():
    encoder = ToyEncoder()
    more = ["[Gap](ORG) sells to [Pia](PER)", "a dog and a cat sat there ."]  # the second stands in the text
    model = tagger(encoder=encoder, o_ratio=0.7).fit(SUPPORT, UNLABELLED)
    before = encoder.n_words
    assert model.add(more) is model
    assert encoder.n_words == before + 4
    assert [sorted(one.judged) for one in model.support_] == [["LOC", "PER"]] * 2 + [["LOC", "ORG", "PER"]] * 2
    expected = tagger(o_ratio=0.7).fit(model.support_, UNLABELLED)
    assert names(model) == ["LOC", "ORG", "PER"]
    assert answer(model) == answer(expected)
    assert model.summary_ == expected.summary_


def test_adding_unlabelled_text_equals_fitting_with_all_of_it():
    model = tagger(o_ratio=0.7).fit(SUPPORT, UNLABELLED[:3])
    model.add([], UNLABELLED)  # of which three are there already
    assert model.summary_.n_unlabelled_words == fitted(o_ratio=0.7).summary_.n_unlabelled_words
    for (word, label, score), (*expected, about) in zip(answer(model), answer(fitted(o_ratio=0.7)), strict=True):
        assert [word, label] == expected
        assert score == pytest.approx(about)


def test_adding_known_words_changes_their_labels():
    model = fitted(o_ratio=0.7).add(["[Paul](GOD) went to [London](LOC) with me"])
    assert names(model) == ["GOD", "LOC", "PER"]
    assert model.summary_.notes == ["1 sentence got new labels"]
    assert model.summary_.n_support == 2


def test_adding_one_sentence_labelled_in_two_ways_equals_fitting_with_it():
    ways = ["[Pia](PER) and [Pip](LOC) sat", "[Pia](LOC) and [Pip](LOC) sat"]
    model = fitted(o_ratio=0.6).add(ways)
    expected = tagger(o_ratio=0.6).fit([*SUPPORT, *ways], UNLABELLED)
    assert answer(model) == answer(expected)
    assert model.summary_ == expected.summary_
    model.add(ways[:1])  # new labels for both
    assert model.summary_.n_support == 3
    assert model.summary_.notes == ["1 sentence got new labels"]


def test_a_fit_that_fails_leaves_the_tagger_as_it_was():
    model = fitted(o_ratio=0.7)
    before, summary = answer(model), model.summary_
    with pytest.raises(RatioError):
        model.add(["[Pa Pb Pc Pd Pe Pf Pg Ph Pi Pj Pk Pl Pm Pn Po Pp Pq Pr Ps Pt Pu](PER) now"])
    assert answer(model) == before
    assert model.summary_ is summary


def test_summary_says_what_was_learned():
    summary = fitted(o_ratio=0.7).summary_
    assert [one.name for one in summary.types] == ["LOC", "PER"]
    assert summary.mentions == {"LOC": 2, "PER": 2}
    assert (summary.n_support, summary.n_support_words, summary.n_unlabelled_words) == (2, 13, 41)
    assert summary.o_ratio == 0.7
    assert summary.o_share == 38 / 54
    assert sum(summary.unlabelled_words.values()) == 54 - 38 - 4
    assert set(summary.examples["LOC"]) <= {"Leeds", "Lagos", "Lyon", "Lille"}
    assert set(summary.examples["PER"]) <= {"Pia", "Pablo", "Pat", "Pam"}
    assert len(summary.examples["LOC"]) == 3
    assert any("label more mentions" in str(advice) and "LOC (2)" in advice.shell for advice in summary.advice)
    assert json.loads(json.dumps(summary.to_dict())) == summary.to_dict()
    assert re.search(r"^LOC +2 ", str(summary), flags=re.MULTILINE)


def test_advice_for_a_missing_ratio_names_the_supports_own():
    advice = fitted().summary_.advice
    assert any(
        "o_ratio=" in line.python and "--o-ratio" in line.shell and "0.69" in line.shell for line in advice
    )  # 9 of 13 words


def test_two_fits_are_equal_and_nothing_warns():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert answer(fitted(assignment="soft", o_ratio=0.7)) == answer(fitted(assignment="soft", o_ratio=0.7))


def test_features_are_kept_on_disk_if_asked(tmp_path, monkeypatch):
    monkeypatch.setenv("HANDFUL_CACHE", str(tmp_path))
    first, second = ToyEncoder(), ToyEncoder()
    expected = answer(tagger(encoder=first, o_ratio=0.7, cache=True).fit(SUPPORT, UNLABELLED))
    model = tagger(encoder=second, o_ratio=0.7, cache=True).fit(SUPPORT, UNLABELLED)
    assert (first.n_words, second.n_words) == (54 + len(TEXT.split()), 0)
    assert answer(model) == expected  # which encodes the text: predictions are not kept
    assert second.n_words == len(TEXT.split())


def test_what_types_mean_is_kept(tmp_path):
    described = tmp_path / "few.txt"
    described.write_text("# PER: names of people\n# GOD: names of gods\n\n" + "\n".join(SUPPORT), encoding="utf-8")
    model = tagger(types={"LOC": "names of places"}).fit(described, UNLABELLED)
    assert {one.name: one.description for one in model.types_} == {"LOC": "names of places", "PER": "names of people"}
    assert any("GOD will not be found" in note for note in model.summary_.notes)
    model.save(tmp_path / "model")
    assert Tagger.load(tmp_path / "model", encoder=ToyEncoder()).types_ == model.types_
    model.add(["[Gap](ORG) sells to [Pia](PER)"])
    assert {one.name: one.description for one in model.types_} == {
        "LOC": "names of places",
        "ORG": "",
        "PER": "names of people",
    }


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        (SubspaceKMeans(0.5), "clusters has o_ratio=0.5; give the ratio to the tagger"),
        (SubspaceKMeans(max_iter=0), "max_iter=0 is not possible"),
        ("many", "expected a handful.SubspaceKMeans"),
        ({"max_iter": 0}, "max_iter=0 is not possible"),
        ({"rounds": 3}, "clusters has parameters that a SubspaceKMeans does not have"),
    ],
)
def test_a_clustering_that_cannot_be_used_is_refused_before_the_text_is_encoded(clusters, message):
    encoder = ToyEncoder()
    with pytest.raises(DataError, match=message):
        Tagger(encoder=encoder, clusters=clusters, cache=False).fit(SUPPORT, UNLABELLED)
    assert encoder.n_words == 0


class Waiting(ToyEncoder):
    """An encoder on which nobody should wait in vain."""

    def encode(self, sentences, *, progress=None):
        raise AssertionError("it was asked to encode")


@pytest.mark.parametrize(
    ("support", "options", "message"),
    [
        (["[Paul](PER)"], {}, "no word that is O for certain"),
        (["[Paul](PER|LOC) and [Lima](LOC) too"], {}, "no mention is labelled as PER alone"),
        (["[Paul](PER) in [Lima](LOC) or so"], {"o_ratio": 0.01}, "give a ratio between"),
        (["[Paul](PER) in [Lima](LOC) or so"], {"o_ratio": 0.99}, "give a ratio between"),
        (["[Paul](PER) in [Lima](LOC) or so"], {"clusters": "many"}, "clusters is 'many'"),
    ],
)
def test_what_cannot_be_learned_is_said_before_the_text_is_encoded(support, options, message):
    model = Tagger(encoder=Waiting(), cache=False, **options)
    with pytest.raises(DataError, match=message):
        model.fit(support, UNLABELLED[1:2])
    with pytest.raises(AssertionError, match="asked to encode"):
        model = Tagger(encoder=Waiting(), cache=False).fit(["[Paul](PER) in [Lima](LOC) or so"])


def test_labels_to_add_are_looked_at_before_text_is_encoded():
    model = fitted()
    model._opened = open_encoder(Waiting())
    with pytest.raises(DataError, match="no mention is labelled as GOD alone"):
        model.add(["[Gaia](GOD|LOC) sleeps"], ["a dog ."])


def test_unlabelled_is_spelt_either_way():
    tagger, new = (Tagger(encoder=ToyEncoder(), o_ratio=0.7, cache=False) for _ in range(2))
    tagger.fit(SUPPORT, unlabelled=UNLABELLED)
    assert new.fit(SUPPORT, unlabeled=UNLABELLED).predict(UNLABELLED) == tagger.predict(UNLABELLED)
    assert new.add([], unlabeled=["Pam was there ."]).summary_.n_unlabelled_words > tagger.summary_.n_unlabelled_words
    with pytest.raises(TypeError, match="unlabeled"):
        new.fit(SUPPORT, unlabelled=UNLABELLED, unlabeled=UNLABELLED)
