"""The live side: what is decided is learned, and what is seen is predicted."""

import gc
from dataclasses import replace

import numpy as np
import pytest

from handful import Tagger
from handful.errors import DataError, StaleError
from handful.text import Document, Span
from handful.text.projects import State
from handful.workbench._quality import cross_validate
from handful.workbench._views import Views
from tagger.toy import NamedEncoder, ToyEncoder

from .made import TEXTS, TYPES, make_project, make_session, settled


@pytest.fixture
def project(tmp_path):
    with make_project(tmp_path / "p.db") as project:
        yield project


@pytest.fixture
def session(project):
    with make_session(project) as session:
        yield settled(session)


@pytest.fixture
def views(session):
    return Views(session)


def by_text(views, start):
    (found,) = [
        one for one in views.queue({"mode": "order", "n": 200})["sentences"] if " ".join(one["words"]).startswith(start)
    ]
    return found


def shown(spans):
    return [(one["start"], one["end"], one["type"]) for one in spans]


def said(session):
    return {id: [(span, span.score) for span in one.spans] for id, one in session.found.items()}


def test_text_is_encoded_fitted_and_predicted(views, session):
    state = views.state()
    assert state["fit"]["status"] == "idle"
    assert (state["fit"]["progress"], state["fit"]["error"]) == (1, None)
    assert state["counts"]["sentences"] == state["counts"]["predicted"] == state["counts"]["new"] == 9
    assert 0.5 < state["o_share"] < 1
    pia = by_text(views, "Then Pia")
    assert shown(pia["predictions"]) == [(1, 2, "PER"), (3, 4, "LOC")]
    assert (pia["labels"], pia["status"], pia["version"]) == (None, "new", 0)
    assert pia["spaces"] == [True] * 5 + [False]


def test_each_sequence_of_words_is_encoded_once(tmp_path):
    with make_project(tmp_path / "p.db") as project:
        encoder = NamedEncoder()
        with make_session(project, encoder=encoder) as session:
            settled(session)
            n_words = encoder.n_words
            assert n_words == sum(len(entry.sentence.words) for entry in session.mirror.entries.values())
            Views(session).decide(1, {"version": 0, "action": "nothing"})
            settled(session)
            assert encoder.n_words == n_words


def test_features_are_in_memory_once(session):
    known = session.learner.encoder.known
    for id, one in session.found.items():
        assert np.shares_memory(one.words.features, known(session.mirror.entries[id].sentence))


def test_garbage_is_looked_for_among_what_came_after_the_first_fit(project):
    gc.unfreeze()
    n_before = len(gc.get_objects())
    with make_session(project) as session:
        settled(session)
        n_after = len(gc.get_objects())
        new = [[] for _ in range(1000)]
        Views(session).decide(1, {"version": 0, "action": "nothing"})
        settled(session)
        looked_at = gc.get_objects()
    gc.unfreeze()
    assert n_after < n_before / 2
    assert any(one is new for one in looked_at)  # what comes later can be freed


def test_a_decision_changes_what_is_predicted(tmp_path):
    with make_project(tmp_path / "p.db") as project, make_session(project, encoder=ToyEncoder()) as session:
        views = Views(session)
        paula, lima = by_text(views, "who is Paula"), by_text(views, "on to Lima")
        labels = [{"start": 2, "end": 3, "type": "PER"}]
        views.decide(paula["id"], {"version": 0, "action": "label", "labels": labels})
        settled(session)
        before = by_text(views, "Then Pia")
        assert "LOC" not in [one["type"] for one in before["predictions"]]
        labels = [{"start": 2, "end": 3, "type": "LOC"}]
        answer = views.decide(lima["id"], {"version": 0, "action": "label", "labels": labels})
        assert (answer["sentence"]["status"], shown(answer["sentence"]["labels"])) == ("labelled", [(2, 3, "LOC")])
        assert answer["sentence"]["version"] == answer["decision"] == views.state()["version"]
        settled(session)
        after = views.sentence(before["id"])
        assert shown(after["predictions"]) == [(1, 2, "PER"), (3, 4, "LOC")]
        assert after["fit"] > before["fit"]
        assert (3, "LOC") in [(one["start"], one["type"]) for one in after["changed"]]
        kinds = [event["kind"] for _, event in session.events.since(0)]
        assert {"labels", "fit", "encode"} <= set(kinds)


class Reader(NamedEncoder):
    """Cannot read emoji, Chinese and letters of other scripts; the vectors of some such words are like mentions."""

    def unreadable(self, sentences):
        return np.array([max(word) > "\u024f" for one in sentences for word in getattr(one, "words", one)], bool)


def test_words_that_cannot_be_read_are_o_as_in_the_exported_tagger(tmp_path):
    texts = [*TEXTS, "then Pǝʿǝz and Pia saw Lǝx in 密教 😂 and Leeds , with all of us there ."]
    with make_project(tmp_path / "p.db", texts) as project, make_session(project, encoder=Reader()) as session:
        settled(session)
        tagger = session.export_tagger()
        entries = session.mirror.entries
        exported = tagger.predict_sentences([entries[id].sentence for id in session.found])
        for one, expected in zip(session.found.values(), exported, strict=True):
            assert [(span, span.score) for span in one.spans] == [(span, span.score) for span in expected.spans]
        found = {entries[id].sentence.span_text(span) for id, one in session.found.items() for span in one.spans}
        assert {"Pia", "Leeds"} <= found
        assert not any(max(text) > "\u024f" for text in found)


def test_after_undo_the_fit_is_that_of_a_new_session(views, session, project):
    before = said(session)
    views.decide(2, {"version": 0, "action": "label", "labels": [{"start": 1, "end": 2, "type": "PER"}]})
    settled(session)
    assert said(session) != before
    assert views.reverse("undo", {})["undone"] == 1
    settled(session)
    assert said(session) == before
    redone = views.reverse("redo", {"n": 1})
    assert [one["id"] for one in redone["sentences"]] == [2]
    settled(session)
    with make_session(project) as other:
        settled(other)
        assert said(other) == said(session)


def test_an_old_version_is_refused_and_the_new_one_seen(views):
    views.decide(2, {"version": 0, "action": "nothing"})
    with pytest.raises(StaleError):
        views.decide(2, {"version": 0, "action": "skip"})
    assert views.sentence(2)["status"] == "none"


def test_what_another_process_writes_is_seen(views, session, project):
    from handful.workbench import Project

    with Project(project.path, "bob") as other:
        other.decide("label", {2: State("labelled", (Span(1, 2, "LOC"),))}, {2: 0})
    with pytest.raises(StaleError):
        views.decide(2, {"version": 0, "action": "nothing"})
    assert shown(views.sentence(2)["labels"]) == [(1, 2, "LOC")]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"action": "nothing"}, "give version"),
        ({"version": 0, "action": "destroy"}, "expected one of"),
        ({"version": 0, "action": "label", "labels": [{"start": 0, "end": 1}]}, "has start, end and type"),
        ({"version": 0, "action": "label", "labels": [{"start": 0, "end": 99, "type": "PER"}]}, "does not fit"),
        ({"version": 0, "action": "label", "labels": [{"start": "0", "end": 1, "type": "PER"}]}, "numbers of words"),
        ({"version": 0, "action": "label", "labels": [{"start": 0, "end": 1, "type": "ORG"}]}, "no type 'ORG'"),
        ({"version": 0, "action": "label", "labels": "PER"}, "labels are a list"),
        ({"version": 0, "action": "skip", "labels": [{"start": 0, "end": 1, "type": "PER"}]}, "takes no labels"),
    ],
)
def test_impossible_decisions_are_refused(views, given, message):
    with pytest.raises(DataError, match=message):
        views.decide(2, given)
    with pytest.raises(DataError, match="there is no sentence"):
        views.decide(99, {"version": 0, "action": "nothing"})
    assert views.state()["version"] == 1


def test_the_queue(views, session):
    asked = [one["id"] for one in views.queue({})["sentences"]]
    assert sorted(asked) == sorted(session.mirror.entries)  # sentences with the same words once
    views.decide(asked[0], {"version": 0, "action": "nothing"})
    views.decide(asked[1], {"version": 0, "action": "skip"})
    left = [one["id"] for one in views.queue({"mode": "teach", "n": 20, "skip": str(asked[2])})["sentences"]]
    assert sorted(left) == sorted(asked[3:])
    ordered = views.queue({"mode": "order", "n": 3, "after": 2})
    assert ([one["id"] for one in ordered["sentences"]], ordered["total"]) == ([3, 4, 5], 9)
    found = views.queue({"mode": "search", "q": "LIMA", "n": 5})
    assert (found["total"], ["Lima" in one["words"] for one in found["sentences"]]) == (2, [True, True])
    for mode, q, n in (("best", "", 1), ("search", "", 1), ("order", "", 0), ("order", "", 10_000)):
        with pytest.raises(DataError):
            views.queue({"mode": mode, "q": q, "n": n})


def test_types_are_added_renamed_and_removed_while_the_session_runs(views, session):
    views.decide(2, {"version": 0, "action": "label", "labels": [{"start": 1, "end": 2, "type": "PER"}]})
    answer = views.change_types({"action": "rename", "name": "PER", "to": "PERSON", "preview": True})
    assert (answer["labels_changed"], answer["sentences_changed"]) == (1, 1)
    assert [one["name"] for one in answer["types"]] == ["PER", "LOC"]
    views.change_types({"action": "rename", "name": "PER", "to": "PERSON"})
    views.change_types({"action": "remove", "name": "LOC"})
    views.change_types({"action": "add", "name": "GOD", "description": "G gods", "colour": 7})
    god = {
        "name": "GOD",
        "description": "G gods",
        "colour": 7,
        "key": "2",
        "n_labels": 0,
        "n_looks": 1,
        "understood": [],
    }
    assert views.state()["types"][1] == god
    settled(session)
    found = {span.type for one in session.found.values() for span in one.spans}
    assert found == {"PERSON"}


def test_a_wording_is_checked_against_labels(views, session):
    assert views.check_type({"type": "PER", "description": "P people"}) == {"examples": [], "guideline": None}
    for id, words in ((1, [1]), (5, [0, 2]), (8, [0])):
        labels = [{"start": i, "end": i + 1, "type": "PER"} for i in words]
        views.decide(id, {"version": 0, "action": "label", "labels": labels})
    found = views.check_type({"type": "PER", "description": "Gods and men"})  # the toy encoder reads the first letter
    assert sorted(words for words, _ in found["examples"]) == ["Pam", "Pat", "Paul", "Pia"]
    assert (found["guideline"]["n_words"], found["guideline"]["found"]["both"]) == (4, 0)
    assert found["guideline"]["found"]["name"] == 4
    assert set(found["guideline"]["misses"]) == {"Pam", "Pat", "Paul", "Pia"}
    assert views.check_type({"type": "PER", "description": "P people"})["guideline"]["found"]["both"] == 4
    assert [one["description"] for one in views.state()["types"]] == ["P people", "L places"]  # nothing is changed
    with pytest.raises(DataError, match="no type"):
        views.check_type({"type": "nobody"})


def test_several_changes_of_types_are_one_request(views, session):
    changes = [
        {"action": "describe", "name": "PER", "description": "P persons"},
        {"action": "split", "name": "LOC", "to": ["CITY", "LAND"]},
        {"action": "colour", "name": "PER", "colour": 9},
    ]
    answer = views.change_types({"changes": changes})
    assert [(one["name"], one["colour"] == 9) for one in answer["types"]] == [
        ("PER", True),
        ("CITY", False),
        ("LAND", False),
    ]
    views.reverse("undo", {})
    assert [one["name"] for one in views.state()["types"]] == ["PER", "LOC"]
    for wrong in ({"changes": [{"changes": []}]}, {"changes": ["x"]}, {"changes": [{"action": "several", "name": ""}]}):
        with pytest.raises(DataError):
            views.change_types(wrong)


def test_review_of_all_mentions_of_a_type(views, session):
    listed = views.mentions({"type": "PER"})
    assert listed["total"] == len(listed["mentions"]) == 7
    scores = [one["score"] for one in listed["mentions"]]
    assert scores == sorted(scores, reverse=True)
    pia = next(one for one in listed["mentions"] if one["text"] == "Pia")
    assert (pia["left"], pia["right"], pia["confirmed"]) == ("Then ", " saw Leeds again .", False)
    pat, pam = (next(one for one in listed["mentions"] if one["text"] == name) for name in ("Pat", "Pam"))
    mention = ("sentence", "start", "end", "version")
    accept = [{key: one[key] for key in mention} for one in (pia, pat)]
    reject = [{key: pam[key] for key in mention}]
    answer = views.review({"type": "PER", "accept": accept, "reject": reject})
    assert (answer["accepted"], answer["rejected"], answer["stale"]) == (2, 1, [])
    sentence = views.sentence(pat["sentence"])
    assert (sentence["status"], shown(sentence["labels"])) == ("partial", [(0, 1, "PER")])
    assert not [one for one in sentence["predictions"] if one["start"] == 2 and one["type"] == "PER"]
    known = session.mirror.state(pat["sentence"])[1].on(session.mirror.entries[pat["sentence"]].sentence)
    assert [str(one) for one in known.constraints()][:4] == ["PER", "_", "!PER", "_"]
    settled(session)
    after = views.mentions({"type": "PER"})["mentions"]
    assert [one["text"] for one in after if one["confirmed"]] == ["Pia", "Pat"]
    assert "Pam" not in [one["text"] for one in after]
    again = views.review({"type": "PER", "accept": reject, "reject": []})
    assert (again["accepted"], len(again["stale"]), again["decision"]) == (0, 1, None)
    assert views.reverse("undo", {})["undone"] == 1  # all of the review is one step
    assert views.sentence(pat["sentence"])["status"] == "new"


def test_a_review_changes_sentences_that_are_decided(views):
    views.decide(2, {"version": 0, "action": "label", "labels": [{"start": 1, "end": 2, "type": "PER"}]})
    version = views.sentence(2)["version"]
    place = {"sentence": 2, "start": 1, "end": 2, "version": version}
    views.review({"type": "PER", "reject": [place]})
    assert views.sentence(2)["status"] == "none"
    place = {"sentence": 2, "start": 1, "end": 3, "version": views.sentence(2)["version"]}
    views.review({"type": "LOC", "accept": [place]})
    assert shown(views.sentence(2)["labels"]) == [(1, 3, "LOC")]


def test_a_review_moves_the_borders_of_what_it_confirmed(views, session):
    def review(accept, reject=()):
        version = views.sentence(2)["version"]
        places = [
            [{"sentence": 2, "start": a, "end": b, "version": version} for a, b in one] for one in (accept, reject)
        ]
        views.review({"type": "PER", "accept": places[0], "reject": places[1]})
        known = session.mirror.state(2)[1].on(session.mirror.entries[2].sentence)
        return [str(one) for one in known.constraints()][:5]

    assert review([(1, 4)]) == ["_", "PER", "PER", "PER", "_"]
    assert review([(1, 2)]) == ["_", "PER", "_", "_", "_"]
    assert review([(1, 4)]) == ["_", "PER", "PER", "PER", "_"]
    assert review([(2, 3)], [(1, 2), (3, 4)]) == ["_", "!PER", "PER", "!PER", "_"]
    assert shown(views.sentence(2)["labels"]) == [(2, 3, "PER")]


def test_without_types_the_session_says_what_is_missing(tmp_path):
    with make_project(tmp_path / "p.db", types=None) as project, make_session(project) as session:
        views = Views(settled(session))
        error = views.state()["fit"]["error"]
        assert "there is no type to find" in error["what"]
        assert views.queue({"n": 3})["sentences"][0]["predictions"] is None
        views.change_types({"action": "add", "name": "PER", "description": "P people"})
        settled(session)
        assert views.state()["fit"]["error"] is None
        assert shown(by_text(views, "Then Pia")["predictions"]) == [(1, 2, "PER")]


def test_an_encoder_that_reads_no_names_learns_from_labels(tmp_path):
    with make_project(tmp_path / "p.db") as project, make_session(project, encoder=ToyEncoder()) as session:
        views = Views(settled(session))
        assert views.state()["fit"]["error"]["what"].startswith("there are no labels")
        pia = by_text(views, "Then Pia")
        labels = [{"start": 1, "end": 2, "type": "PER"}, {"start": 3, "end": 4, "type": "LOC"}]
        views.decide(pia["id"], {"version": 0, "action": "label", "labels": labels})
        settled(session)
        assert shown(by_text(views, "Paul went")["predictions"]) == [(0, 1, "PER"), (3, 4, "LOC")]


def test_a_corpus_with_more_words_than_are_wanted(tmp_path):
    texts = [f"Then Pia{i} saw Leeds{i} again ." for i in range(40)]
    with make_project(tmp_path / "p.db", texts) as project, make_session(project, most_words=60) as session:
        views = Views(settled(session))
        assert views.state()["counts"] | {"sentences": 40, "predicted": 10} == views.state()["counts"]
        unseen = next(id for id in session.mirror.entries if id not in session.found)
        views.sentence(unseen)
        settled(session)
        assert shown(views.sentence(unseen)["predictions"]) == [(1, 2, "PER"), (3, 4, "LOC")]


def test_a_new_type_while_sentences_beyond_the_text_were_seen(tmp_path):
    """What was predicted before the type came does not know it, and is not ranked with the rest."""
    texts = [f"Then Pia{i} saw Leeds{i} again ." for i in range(20)]
    with make_project(tmp_path / "p.db", texts) as project, make_session(project, most_words=60) as session:
        views = Views(settled(session))
        views.queue({"mode": "order", "n": 20})
        settled(session)
        session._visible.clear()
        views.change_types({"action": "add", "name": "GOD", "description": "G gods"})
        settled(session)
        assert session.ranked == session.number
        assert {one.fit for one in session.found.values()} != {session.number}
        asked = [one["fit"] for one in views.queue({"n": 4})["sentences"]]  # the fifth is drawn from all text
        assert asked == [session.number] * 4
        assert views.state()["fit"]["error"] is None


def test_texts_that_come_later(views, session):
    added = session.project.add([Document.of("Petra left Lodz .")], is_step=True)
    session.follow()
    assert added.n_texts == 1
    settled(session)
    assert shown(by_text(views, "Petra")["predictions"]) == [(0, 1, "PER"), (2, 3, "LOC")]


def test_quality_is_estimated_and_kept(views, session, project):
    assert views.state()["quality"] is None
    for start in ("Then Pia", "a dog", "Pat and", "the Peter", "Paul went", "who is"):
        one = by_text(views, start)
        labels = [{key: mention[key] for key in ("start", "end", "type")} for mention in one["predictions"]]
        views.decide(one["id"], {"version": 0, "action": "label", "labels": labels})
    settled(session)
    quality = views.state()["quality"]
    n = sum(one["n_labels"] for one in views.state()["types"])
    rule_of_three = pytest.approx((n - 3) / n)
    assert (quality["f1"], quality["low"], quality["high"]) == (1, rule_of_three, 1)
    assert quality["curve"][-1] == [6, 1, quality["low"], 1]


def test_one_in_five_of_the_queue_is_drawn_at_random_and_the_sample_is_what_was_decided_of_them(tmp_path):
    texts = [f"then Pia{i} saw Leeds" for i in range(60)]
    with make_project(tmp_path / "p.db", texts) as project, make_session(project) as session:
        views = Views(settled(session))
        order = list(session._in_random_order)
        assert sorted(order) == list(session.mirror.entries)
        assert order != sorted(order)
        asked = []
        for _ in range(30):
            (one,) = views.queue({"mode": "teach", "n": 1})["sentences"]
            asked.append(one["id"])
            views.decide(one["id"], {"version": 0, "action": "nothing"})
        reached = next(i for i, id in enumerate(order) if id not in asked)
        assert reached >= 6
        assert session._sample() == set(order[:reached])
        for n in range(4, 30, 5):
            assert asked[n] == next(id for id in order if id not in asked[:n])


def test_the_sample_counts_for_the_text_and_other_decisions_for_themselves():
    """By hand: what somebody chose is right, and what was drawn is missed; of 100 sentences 10 were chosen."""
    tagger = lambda: Tagger(TYPES, encoder=NamedEncoder(), cache=False)  # noqa: E731
    make = lambda text, *spans: replace(Document.of(text).sentences[0], spans=spans)  # noqa: E731
    easy = [make(f"Then Pia{i} slept", Span(1, 2, "PER")) for i in range(10)]
    missed = [make(f"Then dog{i} slept", Span(1, 2, "LOC")) for i in range(5)]
    is_drawn = [False] * 10 + [True] * 5
    found = cross_validate([*easy, *missed], tagger, is_drawn=is_drawn, n_text=100)
    alike = cross_validate([*easy, *missed], tagger)
    right, given = 10, 10 + 90
    assert found.f1 <= 2 * right / (right + given) + 0.02
    assert alike.f1 > 0.5 > found.f1
    assert (found.n_drawn, alike.n_drawn) == (5, 0)
    assert (found.weakest, found.n_more) == ("LOC", 5)
    assert found.low < found.f1 < found.high


def test_a_type_that_nobody_looked_for_is_no_mistake():
    tagger = lambda: Tagger(TYPES, encoder=NamedEncoder(), cache=False)  # noqa: E731
    texts = [Document.of(f"Then Pia{i} saw Leeds").sentences[0] for i in range(10)]
    labelled = [replace(one, spans=(Span(1, 2, "PER"),)).judged_for({"PER"}) for one in texts]
    assert cross_validate(labelled, tagger).f1 == 1


def test_quality_is_that_of_held_out_sentences():
    """By hand: the labels of one fold contradict what can be learned, so all mentions in it are missed."""
    tagger = lambda: Tagger(TYPES, encoder=NamedEncoder(), cache=False)  # noqa: E731
    right = [tagger().fit().predict_sentences([Document.of(f"Then Pia{i} slept").sentences[0]])[0] for i in range(10)]
    assert cross_validate(right[:4], tagger) is None
    assert cross_validate(right, tagger).f1 == 1
    assert cross_validate(right, tagger, lambda: False) is None
    wrong = [*right[:-1], State("labelled", (Span(0, 1, "LOC"),)).on(right[-1].without_labels())]
    quality = cross_validate(wrong, tagger)
    assert quality.f1 == pytest.approx(2 * 9 / (10 + 10))
    assert quality.low < quality.f1 <= quality.high <= 1


def test_the_exported_tagger_is_one_of_its_own(views, session, tmp_path):
    views.decide(2, {"version": 0, "action": "label", "labels": [{"start": 1, "end": 2, "type": "PER"}]})
    settled(session)
    tagger = session.export_tagger()
    tagger.save(tmp_path / "model")
    loaded = Tagger.load(tmp_path / "model", encoder=NamedEncoder())
    sentence = session.mirror.entries[2].sentence
    assert loaded.predict_sentences([sentence])[0].spans == session.found[2].spans
    assert len(TEXTS) == 9


def test_relabel_takes_the_place_of_all_labels():
    first, second = "[Paul](PER) went to [London](LOC) with me", "the [Peter](PER) of [Lima](LOC) sleeps all day"
    text = ["Then Pia saw Leeds again .", "a dog and a cat sat there ."]
    tagger = Tagger(TYPES, encoder=NamedEncoder(), cache=False).fit([first], text)
    tagger.relabel([second])
    assert (tagger.summary_.n_support, tagger.summary_.mentions) == (1, {"LOC": 1, "PER": 1})
    assert tagger.relabel([]).summary_.n_support == 0


def test_how_much_to_find_is_chosen_on_the_page(views, session):
    usual = said(session)
    counts = {}
    for find in ("sure", "more", 0.001, 1000, "usual"):
        assert views.set_find({"find": find}) == {"find": find}
        settled(session)
        assert views.state()["find"] == find
        counts[find] = sum(map(len, said(session).values()))
        tagger = session.export_tagger()
        assert tagger.find == find
        sentences = [entry.sentence for entry in session.mirror.entries.values()]
        assert [session.found[id].spans for id in session.mirror.entries] == [
            one.spans for one in tagger.predict_sentences(sentences)
        ]
    assert counts[0.001] < counts["usual"] < counts[1000]
    assert said(session) == usual
    for wrong in ("all", None, 0, ["more"]):
        with pytest.raises(DataError, match="find is"):
            views.set_find({"find": wrong})
    assert session.find == "usual"
