"""Mentions that share words at the workbench: stored, learned, undone, compared and exported each by itself."""

import pytest

from handful import Tagger
from handful.errors import DataError
from handful.text import Document, EntityType, Sentence, Span, read
from handful.text.projects import NEW, State
from handful.workbench import Project, agreement
from handful.workbench._review import accepted, decided, fitting, rejected

from .made import TYPES, NamedEncoder, serving, settled

WORDS = ["the", "Peter", "of", "Lima", "sleeps", "all", "day"]
OUTER, INNER = Span(1, 4, "PER"), Span(3, 4, "LOC")
NESTED = Document.of(Sentence(tuple(WORDS), (OUTER, INNER)))
OTHERS = ["Paul went to London with me", "on to Lima , and home", "who is Paula ?"]
SENTENCE = Sentence(tuple(WORDS))


@pytest.fixture
def shared(tmp_path):
    with serving(tmp_path / "p.db", [NESTED, *OTHERS]) as found:
        settled(found.session)
        yield found


def review(served, id, **said):
    version = served.client.get(f"/api/sentences/{id}").json()["version"]
    for kind in ("accept", "reject"):
        said[kind] = [{"sentence": id, "version": version, **one} for one in said.get(kind, ())]
    answer = served.client.post("/api/mentions/review", json=said)
    assert answer.status_code == 200, answer.text
    return served.client.get(f"/api/sentences/{id}").json()


def labels(sentence):
    return [(one["start"], one["end"], one["type"]) for one in sentence["labels"] or []]


def test_a_project_of_labels_that_share_words_keeps_and_learns_them(shared):
    client, session = shared.client, shared.session
    assert client.get("/api/state").json()["project"]["overlap"]
    assert labels(client.get("/api/sentences/1").json()) == [(1, 4, "PER"), (3, 4, "LOC")]
    assert session.learner.tagger.overlap
    assert session.export_tagger().overlap


def test_a_mention_is_marked_inside_and_across_another(shared):
    sentence = review(shared, 2, type="PER", accept=[{"start": 0, "end": 4}])
    assert labels(sentence) == [(0, 4, "PER")]
    sentence = review(shared, 2, type="LOC", accept=[{"start": 3, "end": 4}])
    assert labels(sentence) == [(0, 4, "PER"), (3, 4, "LOC")]
    sentence = review(shared, 2, type="LOC", accept=[{"start": 3, "end": 6}])
    assert labels(sentence) == [(0, 4, "PER"), (3, 6, "LOC"), (3, 4, "LOC")]
    assert sentence["status"] == "partial"


def test_one_takes_the_place_of_another_and_others_stay(shared):
    instead = {"start": 3, "end": 4, "type": "LOC"}
    sentence = review(shared, 1, type="LOC", accept=[{"start": 2, "end": 4, "instead": instead}])
    assert labels(sentence) == [(1, 4, "PER"), (2, 4, "LOC")]
    sentence = review(shared, 1, type="PER", reject=[{"start": 1, "end": 4}])
    assert labels(sentence) == [(2, 4, "LOC")]
    undone = shared.client.post("/api/undo", json={"n": 2}).json()["sentences"][0]
    assert labels(undone) == [(1, 4, "PER"), (3, 4, "LOC")]
    redone = shared.client.post("/api/redo", json={"n": 2}).json()["sentences"][0]
    assert labels(redone) == [(2, 4, "LOC")]


@pytest.mark.parametrize("instead", ["LOC", [], {}, {"start": 3, "end": 4}, {"start": 3, "end": 99, "type": "LOC"}])
def test_what_is_no_mention_takes_no_place(shared, instead):
    one = {"sentence": 1, "version": 1, "start": 2, "end": 4, "instead": instead}
    version = shared.client.get("/api/sentences/1").json()["version"]
    answer = shared.client.post("/api/mentions/review", json={"type": "LOC", "accept": [{**one, "version": version}]})
    assert answer.status_code == 422


def test_a_decision_on_all_takes_them(shared):
    given = [{"start": 3, "end": 4, "type": "LOC"}, {"start": 0, "end": 4, "type": "PER"}]
    answer = shared.client.post("/api/sentences/2/decision", json={"version": 0, "action": "label", "labels": given})
    assert labels(answer.json()["sentence"]) == [(0, 4, "PER"), (3, 4, "LOC")]


@pytest.mark.parametrize("format", ["jsonl", "prodigy", "doccano", "spacy", "label-studio", "gliner", "inline", "csv"])
def test_they_are_exported(shared, tmp_path, format):
    answer = shared.client.get("/api/export", params={"format": format, "only": "decided"})
    (tmp_path / "labels").write_bytes(answer.content)
    assert [one.spans for one in read(tmp_path / "labels", format) if one.spans] == [(OUTER, INNER)]


def test_a_format_of_tags_says_why_it_cannot(shared):
    answer = shared.client.get("/api/export", params={"format": "conll"})
    assert answer.status_code == 422
    assert "share a word" in answer.text


def test_a_project_that_is_asked_to_share_words_remembers_it(tmp_path):
    with Project(tmp_path / "p.db", "jo") as project:
        project.add(map(Document.of, OTHERS), lambda: [EntityType("PER")])
        assert not project.overlap
        with pytest.raises(DataError, match="share a word"):
            project.add([NESTED])
        project.share_words()
        project.share_words()
        assert project.count_undo() == (0, 0)
        project.add([NESTED])
        assert [one["name"] for one in project.types()] == ["PER", "LOC"]
    with Project(tmp_path / "p.db") as project:
        assert project.overlap
        assert [state.spans for _, state in project.states().values()] == [(OUTER, INNER)]


def test_a_tagger_learns_from_the_file(shared, tmp_path):
    tagger = Tagger(TYPES, encoder=NamedEncoder(), overlap=True, cache=False).fit(shared.project.path)
    assert [one.spans for one in tagger.support_] == [(OUTER, INNER)]
    with pytest.raises(DataError, match="share a word"):
        Tagger(TYPES, encoder=NamedEncoder(), cache=False).fit(shared.project.path)


def test_a_flat_project_refuses_them():
    given = [{"start": 3, "end": 4, "type": "LOC"}, {"start": 0, "end": 4, "type": "PER"}]
    with pytest.raises(DataError, match="share a word"):
        decided(SENTENCE, "label", given, ["LOC", "PER"])
    state = accepted(State("labelled", (OUTER,)), SENTENCE, INNER)
    assert state.spans == (INNER,)


def test_what_is_refused_is_not_shown_again_and_says_nothing_of_others():
    inside = Span(3, 4, "PER")
    state = rejected(NEW, SENTENCE, inside, shares=True)
    assert state.status == "partial"
    assert fitting([OUTER, INNER, inside], state, SENTENCE, shares=True) == [OUTER, INNER]
    assert state.on(SENTENCE).constraints()[3].among(["O", "PER", "LOC"]) == (True, False, True)
    state = accepted(state, SENTENCE, OUTER, shares=True)
    assert fitting([OUTER, INNER, inside], state, SENTENCE, shares=True) == [INNER]
    assert State.parse(state.written()) == state
    assert accepted(state, SENTENCE, inside, shares=True).refused == ()


def test_words_that_are_cut_off_are_not_of_the_type():
    state = accepted(NEW, SENTENCE, Span(0, 4, "PER"), shares=True)
    state = accepted(state, SENTENCE, OUTER, Span(0, 4, "PER"), shares=True)
    assert state.spans == (OUTER,)
    assert not state.on(SENTENCE).constraints()[0].among(["PER"])[0]
    assert state.on(SENTENCE).constraints()[5].among(["PER"])[0]


def test_a_sentence_of_one_mention_stays_open_for_more():
    state = accepted(NEW, Sentence(("Lima",)), Span(0, 1, "LOC"), shares=True)
    assert state.status == "partial"
    assert fitting([Span(0, 1, "PER")], state, Sentence(("Lima",)), shares=True) == [Span(0, 1, "PER")]


def test_two_people_agree_on_each_mention_by_itself(tmp_path):
    with Project(tmp_path / "p.db", "jo") as project:
        project.add([Document.of(" ".join(WORDS))], lambda: [EntityType("PER"), EntityType("LOC")])
        project.share_words()
        anna, ben = project.by("anna"), project.by("ben")
        anna.decide("label", {1: State("labelled", (OUTER, INNER))}, own=[1])
        ben.decide("label", {1: State("labelled", (OUTER,))}, own=[1])
        (found,) = agreement(project.path)
    assert found.f1 == pytest.approx(2 / 3)
    assert found.n_same == 0
    # three words are PER for anna, one of them LOC, too, and three are PER for ben: 6 of 7 agree
    assert found.kappa == pytest.approx((6 / 7 - (4 * 4 + 2 * 3) / 49) / (1 - (4 * 4 + 2 * 3) / 49))
