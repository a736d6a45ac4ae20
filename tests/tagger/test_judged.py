"""Labels that were made before a type existed say nothing against it."""

import numpy as np
import pytest

from handful import Sentence, Span, Tagger, read
from handful.errors import DataError
from handful.tagger.evidence import NearestLabel, Prototypes, Regression, TypeNames
from handful.text import Allowed, write

from .toy import SUPPORT, UNLABELLED, NamedEncoder, ToyEncoder

EARLY = ["[Paul](PER) went to London with Gus", "the [Peter](PER) of Lima sleeps all day", "[Pia](PER) left"]
LATE = ["[Pablo](PER) near [Lagos](LOC) not far from [Lyon](LOC)", "a dog saw [Lille](LOC) again"]
TYPES = {"PER": "People", "LOC": "Locations"}
ENCODERS = pytest.mark.parametrize("encoder", [NamedEncoder(), ToyEncoder()], ids=["names", "no names"])


def found(tagger, text="We saw Pim at Lodz and Lund ."):
    return [(one["word"], one["entity_group"]) for one in tagger.predict(text)]


def read_all(lines):
    return Tagger(encoder=ToyEncoder(), cache=False).fit(lines).support_


def judged(tagger):
    return {one.words[0]: set(one.judged) for one in tagger.support_}


@ENCODERS
def test_a_type_that_is_added_is_open_in_earlier_sentences(encoder):
    tagger = Tagger(encoder=encoder, cache=False).fit(EARLY, UNLABELLED).add(LATE)
    assert found(tagger) == [("Pim", "PER"), ("Lodz", "LOC"), ("Lund", "LOC")]
    assert judged(tagger)["Paul"] == {"PER"}
    assert judged(tagger)["Pablo"] == {"PER", "LOC"}


def test_earlier_sentences_speak_against_a_type_if_somebody_looked_for_it():
    late = [one.judged_for(TYPES) for one in Tagger(encoder=ToyEncoder(), cache=False).fit(LATE).support_]
    for types, is_found in ((["PER"], True), (TYPES, False)):
        early = [one.judged_for(types) for one in Tagger(encoder=ToyEncoder(), cache=False).fit(EARLY).support_]
        tagger = Tagger(encoder=ToyEncoder(), cache=False).fit([*early, *late])
        assert [bool(found(tagger, word)) for word in ("London", "Lima")] == [is_found] * 2


def test_added_sentences_are_judged_for_the_types_of_the_tagger():
    tagger = Tagger(TYPES, encoder=NamedEncoder(), cache=False).fit(SUPPORT).add(["Gus left Graz", "[Pim](PER) left"])
    assert judged(tagger)["Gus"] == judged(tagger)["Pim"] == {"PER", "LOC"}


def test_sentences_with_other_types_alone_are_judged_for_these(tmp_path):
    tagger = Tagger(encoder=NamedEncoder(), cache=False).fit(SUPPORT).add(["[Gus](ORG) met Pim in Lodz"])
    assert judged(tagger)["Gus"] == {"ORG"}
    assert judged(tagger)["Paul"] == {"PER", "LOC"}
    tagger.save(tmp_path / "model")
    assert judged(Tagger.load(tmp_path / "model", encoder=NamedEncoder(), cache=False)) == judged(tagger)


def test_the_same_sentence_keeps_labels_of_types_that_nobody_looked_for_again():
    tagger = Tagger(encoder=NamedEncoder(), cache=False).fit(["[Paul](PER) met Gus"]).add(["Paul met [Gus](ORG)"])
    (sentence,) = tagger.support_
    assert [(span.start, span.type) for span in sentence.spans] == [(0, "PER"), (2, "ORG")]
    assert sentence.judged == {"PER", "ORG"}
    tagger.add(["Paul met [Gus](PER)"])
    (sentence,) = tagger.support_
    assert [(span.start, span.type) for span in sentence.spans] == [(2, "PER")]


def test_two_files_with_other_types_are_fitted_together(tmp_path):
    (tmp_path / "people.txt").write_text("# PER: People\n[Paul](PER) saw London\n[Pia](PER) and Lyon\n")
    (tmp_path / "places.txt").write_text("# LOC: Locations\nPaul saw [London](LOC)\nPim of [Lima](LOC)\n")
    both = [*read(tmp_path / "people.txt"), *read(tmp_path / "places.txt")]
    tagger = Tagger(TYPES, encoder=NamedEncoder(), cache=False).fit(both, UNLABELLED)
    assert found(tagger) == [("Pim", "PER"), ("Lodz", "LOC"), ("Lund", "LOC")]
    first = tagger.support_[0]
    assert [(span.start, span.type) for span in first.spans] == [(0, "PER"), (2, "LOC")]  # labelled in both files
    assert first.judged == {"PER", "LOC"}


def test_an_equal_fit_from_what_a_tagger_was_fitted_to(tmp_path):
    tagger = Tagger(encoder=NamedEncoder(), cache=False).fit(EARLY, UNLABELLED).add(LATE)
    write(tagger.support_, tmp_path / "support.jsonl", "jsonl")
    again = Tagger(encoder=NamedEncoder(), cache=False).fit(tmp_path / "support.jsonl", UNLABELLED)
    assert judged(again) == judged(tagger)
    assert found(again) == found(tagger)


def test_mentions_of_types_that_nobody_looked_for_do_not_count(tmp_path):
    tagger = Tagger(TYPES, encoder=NamedEncoder(), cache=False).fit()
    (tmp_path / "test.txt").write_text("# PER: People\n[Pim](PER) of Lodz met [Pia](PER) in Lund\n")
    (tmp_path / "all.txt").write_text("[Pim](PER) of Lodz met [Pia](PER) in Lund\n")
    some, everything = (tagger.evaluate(tmp_path / name) for name in ("test.txt", "all.txt"))
    assert (some.strict.micro.f1, some.n_unjudged) == (1, 2)
    assert "2 mentions of types that nobody looked for in the sentence: not counted" in some.notes
    assert (everything.strict.micro.precision, everything.n_unjudged, everything.notes) == (0.5, 0, [])
    assert some.to_dict()["n_unjudged"] == 2


def test_sentences_where_nobody_looked_for_a_type_do_not_hold_its_name_back():
    late = read_all(["[Pablo](PER) near [Lagos](LOC)", *(f"a [L{i}](LOC) and thing {i}" for i in range(3))])
    early = read_all([f"[P{i}](PER) and one other thing{i} here{i} or{i} there{i}" for i in range(20)])
    held_back = []
    for types in (["PER"], TYPES):
        labels = [one.judged_for(types) for one in early] + [one.judged_for(TYPES) for one in late]
        model = Tagger(TYPES, encoder=NamedEncoder(noise=1.0), cache=False).fit(labels).model_
        held_back.append(dict(zip(model.tags[1:], model.piece(TypeNames).doubts, strict=True))["LOC"])
    assert held_back[0] > -0.1
    assert held_back[1] < -1


OF_LETTERS = {"P": "PER", "L": "LOC", "G": "ORG"}


def drawn(seed):
    """Return sentences in which somebody looked for one type or two, and one in which for all, with random words."""
    rng = np.random.default_rng(seed)
    labels = []
    for types in [*(rng.choice([*OF_LETTERS.values()], rng.integers(1, 3), replace=False) for _ in range(5)), None]:
        types = set(OF_LETTERS.values() if types is None else types.tolist())
        words = [f"{letter}{rng.integers(99)}" for letter in [*rng.choice([*"PLGxxxx"], 7), *"PLGx"]]
        spans = tuple(Span(i, i + 1, OF_LETTERS[w[0]]) for i, w in enumerate(words) if OF_LETTERS.get(w[0]) in types)
        labels.append(Sentence(words, spans).judged_for(types))
    return labels


@ENCODERS
@pytest.mark.parametrize("seed", range(8))
def test_unmarked_words_say_as_much_of_a_type_that_nobody_looked_for_as_unlabelled_words_do(encoder, seed):
    types = {name: letter for letter, name in OF_LETTERS.items()}
    labels, words = drawn(seed), [[f"{letter}{i}" for letter in "PLGx" for i in range(9)]]
    features = encoder.encode(words)
    whole = Tagger(types, encoder=encoder, cache=False, o_ratio=0.7).fit(labels, UNLABELLED).model_
    for name in types:
        either = Allowed(frozenset({"O", *types}))  # nothing is known of these words but that they are in the text
        without = []
        for one in labels:
            marked = {i for span in one.spans for i in range(span.start, span.end)}
            free = tuple(None if i in marked else either for i in range(len(one.words)))
            without.append(one if name in one.judged else one.with_labels(one.spans, free).judged_for(one.judged))
        other = Tagger(types, encoder=encoder, cache=False, o_ratio=0.7).fit(without, UNLABELLED).model_
        tag = whole.tags.index(name)
        for kind in ("names", "regression", "nearest"):
            leads = [
                found[kind][:, tag] - found[kind][:, 0]
                for found in (one.contributions(features, Sentence(words[0])) for one in (whole, other))
                if kind in found
            ]
            assert not leads or leads[0] == pytest.approx(leads[1], abs=0.002 * np.abs(leads[1]).max())
    said = []  # the same in partial labels
    for one in labels:
        either = Allowed(frozenset({"O", *types} - one.judged))
        marked = {span.start for span in one.spans}
        partial = tuple(None if i in marked or one.judged >= {*types} else either for i in range(len(one.words)))
        said.append(one.with_labels(one.spans, partial).judged_for(one.judged))
    other = Tagger(types, encoder=encoder, cache=False, o_ratio=0.7).fit(said, UNLABELLED).model_
    assert np.array_equal(*(one.piece(Prototypes).prototypes for one in (whole, other)))


@ENCODERS
def test_a_saved_tagger_knows_which_words_are_open(tmp_path, encoder):
    tagger = Tagger(encoder=encoder, cache=False).fit(EARLY, UNLABELLED).add(LATE)
    tagger.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model", encoder=encoder, cache=False)
    assert tagger.model_.piece(NearestLabel).is_open.any()
    features = encoder.encode([UNLABELLED[2].split()])
    assert loaded.model_.logits(features).tobytes() == tagger.model_.logits(features).tobytes()


def test_explain_word_shows_no_word_of_a_sentence_where_nobody_looked_for_the_type():
    labels = [one.judged_for(["PER"]) for one in read_all(["[Paul](PER) saw xylem", "[Pia](PER) saw Xerxes"])]
    labels += [one.judged_for(TYPES) for one in read_all(["[Pim](PER) went to [Lyon](LOC) with xyster"])]
    tagger = Tagger(TYPES, encoder=NamedEncoder(), cache=False).fit(labels)
    (found,) = tagger.explain_word("We saw xylem", "xylem", type="LOC")
    assert {one.sentence for one in found.nearest} == {"Pim went to Lyon with xyster"}


@pytest.mark.parametrize("seed", range(8))
def test_labels_say_of_a_type_what_the_sentences_that_were_judged_for_it_say_alone(seed):
    encoder, types = NamedEncoder(noise=1.0), {name: letter for letter, name in OF_LETTERS.items()}
    labels, words = drawn(seed), Sentence([f"{letter}{i}" for letter in "PLGx" for i in range(9)])
    whole = Tagger(types, encoder=encoder, cache=False).fit(labels).model_
    for name in types:
        some = Tagger(types, encoder=encoder, cache=False).fit([one for one in labels if name in one.judged]).model_
        tag, features = whole.tags.index(name), encoder.encode([words.words])
        for kind in ("regression", "nearest"):
            found, alone = (model.contributions(features, words)[kind] for model in (whole, some))
            leads = alone[:, tag] - alone[:, 0]
            assert found[:, tag] - found[:, 0] == pytest.approx(leads, abs=0.01 * np.abs(leads).max())


def test_labels_of_a_type_without_a_sentence_where_nothing_is_marked_never_speak_against_it():
    words, tags = np.eye(4, dtype=np.float32), np.array([0, 0, 1, 2])
    is_open = np.zeros((4, 3), bool)
    is_open[:2, 1] = True
    for piece in (Regression, NearestLabel):
        make = piece.fit if piece is Regression else piece.of
        logits = make(words, tags, 3, is_open=is_open).logits(words)
        assert (logits[:, 1] >= logits[:, 0]).all()
        assert logits[0, 2] < logits[0, 0]
    assert logits[2, 1] == 1


def test_a_type_that_is_ruled_out_is_not_open():
    lines = ["[Paul](PER) saw Lima", "[Pia](PER) left [Leeds](!LOC) and [Lyon](_)"]
    labels = [one.judged_for(["PER"]) for one in read_all(lines)]
    text = Tagger(TYPES, encoder=NamedEncoder(), cache=False).fit(labels).text_
    assert text.labelled_words(["LOC", "PER"]).is_open[:, 1].tolist() == [True] * 5 + [False, True, True]


def test_a_ratio_may_leave_words_to_types_that_nobody_looked_for():
    early, late = ([one.judged_for(types) for one in read_all(EARLY)] + read_all(LATE) for types in (["PER"], TYPES))
    tagger = Tagger(TYPES, encoder=NamedEncoder(), cache=False, o_ratio=0.5)
    assert tagger.fit(early, UNLABELLED[:1]).summary_.o_share == pytest.approx(0.5, abs=0.02)
    with pytest.raises(DataError, match=r"o_ratio=0\.5"):
        tagger.fit(late, UNLABELLED[:1])


def test_a_type_that_is_named_beside_one_of_nearly_the_same_name_is_noted():
    tagger = Tagger({"PERSON": "People", "PERSN": ""}, encoder=NamedEncoder(), cache=False)
    note = "PERSN and PERSON are two types: if they are meant to be one, give them one name"
    assert note in tagger.fit(["[Paul](PERSON) saw us"]).summary_.notes
    assert len([one for one in tagger.fit().summary_.notes if "are two types" in one]) == 1
    tagger.set_params(types=["PERSON", "LOC"])
    assert tagger.fit().summary_.notes == []


def test_another_fit_knows_nothing_of_the_types_of_the_fit_before():
    tagger = Tagger(encoder=NamedEncoder(), cache=False).fit(SUPPORT)
    assert [one.name for one in tagger.fit(["the [Gap](ORG) sleeps"]).types_] == ["ORG"]
    assert [one.name for one in tagger.add(["[Paul](PER) sleeps"]).types_] == ["ORG", "PER"]


def together(people, places):
    """Return lines as sentences in which somebody looked for people alone, and others for places alone."""
    sentences = read_all([*people, *places, "[Paul](PER) [Lima](LOC)"])
    n = len(people)
    return [one.judged_for(["PER"] if i < n else ["LOC"]) for i, one in enumerate(sentences[:-1])]


@pytest.mark.parametrize("seed", range(8))
def test_without_names_and_a_word_that_is_o_for_all_types_clusters_take_no_unmarked_word_for_o(seed):
    rng = np.random.default_rng(seed)
    early = [f"[P{n}](PER) saw " + " ".join(f"{rng.choice([*'Lxyz'])}{n}{i}" for i in range(5)) for n in range(4)]
    tagger = Tagger(encoder=ToyEncoder(), cache=False, o_ratio=None)
    tagger.fit(together(early, [f"[L{n}](LOC)" for n in rng.integers(99, size=3)]), UNLABELLED)
    words = [word for one in tagger.text_.sentences for word in one.words]
    assert {w[0] for w, tag in zip(words, tagger._fit.clusters.tags_, strict=True) if tag == 1} == {"L"}
    assert {w[0] for w, tag in zip(words, tagger._fit.clusters.tags_, strict=True) if tag != 1} >= {"P", "x", "y"}
    assert found(tagger) == [("Pim", "PER"), ("Lodz", "LOC"), ("Lund", "LOC")]


def test_without_names_all_unmarked_words_may_be_like_labels_of_types_that_nobody_looked_for():
    labels = together(["[Paul](PER) London", "[Pia](PER) Lodz"], ["[Lima](LOC) Peter", "[Leeds](LOC) Pam"])
    tagger = Tagger(encoder=ToyEncoder(), cache=False).fit(labels, UNLABELLED)
    assert {"PER", "LOC"} == {name for _, name in found(tagger)}


@ENCODERS
@pytest.mark.parametrize("places", [["[Lima](LOC) Peter", "[Leeds](LOC) Pam"], ["[Lima](LOC)", "[Leeds](LOC)"]])
def test_a_tagger_is_saved_where_every_unmarked_word_is_like_a_type_that_nobody_looked_for(tmp_path, encoder, places):
    tagger = Tagger(TYPES, encoder=encoder, cache=False).fit(
        together(["[Paul](PER) London", "[Pia](PER) Lodz"], places)
    )
    tagger.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model", encoder=encoder, cache=False)
    assert found(loaded) == found(tagger) != []


def test_a_tagger_is_saved_where_all_words_are_in_mentions(tmp_path):
    tagger = Tagger(TYPES, encoder=NamedEncoder(), cache=False).fit(["[Paul](PER) [Lima](LOC)", "[Lodz](LOC)"])
    tagger.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model", encoder=NamedEncoder(), cache=False)
    assert found(loaded) == found(tagger) == [("Pim", "PER"), ("Lodz", "LOC"), ("Lund", "LOC")]
