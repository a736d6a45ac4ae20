"""Several people: who has which sentence, what each of them sees, and how far two of them agree."""

import json
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from handful.errors import DataError, StaleError
from handful.text import Sentence, Span, read
from handful.text.projects import State
from handful.workbench import People, agreement
from handful.workbench._agreement import compare, kappa
from handful.workbench._people import AWAY, HELD
from handful.workbench._views import Views

from .made import make_project, make_session, serving, settled

NAMES = ("anna", "ben", "carl")


class Clock:
    """A clock that goes when it is told to."""

    now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def project(tmp_path):
    with make_project(tmp_path / "p.db") as project:
        yield project


def several(project, both, names=NAMES[:2]):
    """Return a session, and what each person sees."""
    session = make_session(project, people=People(names, both))
    return session, [Views(session, name) for name in names]


def first(views):
    return views.queue({"mode": "teach", "n": 1})["sentences"][0]


def label(views, id, *labels, action="label"):
    found = views.sentence(id)
    labels = [{"start": start, "end": end, "type": name} for start, end, name in labels]
    return views.decide(id, {"version": found["version"], "action": action, "labels": labels})


def test_a_sentence_is_kept_until_it_is_freed_or_some_minutes_pass(clock):
    people = People(NAMES, 0, clock)
    assert people.other("anna", 7, is_taken=True) is None
    assert people.other("ben", 7, is_taken=True) == "anna"
    assert people.other("anna", 7) is None
    clock.now += HELD
    assert people.other("ben", 7) == "anna"
    clock.now += 1
    assert people.other("ben", 7, is_taken=True) is None
    people.free("ben", 7)
    assert people.other("anna", 7) is None


def test_who_leaves_keeps_nothing(clock):
    people = People(NAMES, 0, clock)
    with people.here("anna"):
        with people.here("anna"):
            people.other("anna", 7, is_taken=True)
        assert people.present() == ["anna"]
        clock.now += AWAY + 1
        assert people.other("ben", 7) == "anna"  # one of her pages is there still
    assert people.present() == []
    clock.now += AWAY
    assert people.other("ben", 7) == "anna"  # the page may be read again
    clock.now += 1
    assert people.other("ben", 7) is None


def test_a_sentence_for_two_has_two_places(clock):
    people = People(NAMES, 1, clock)
    assert [people.other(name, 7, 2, is_taken=True) for name in NAMES] == [None, None, "anna"]
    assert [people.is_for_two(id) for id in range(50)] == [True] * 50
    third = [People(NAMES, 1 / 3).is_for_two(id) for id in range(3000)]
    assert 900 < sum(third) < 1100
    assert third == [People(NAMES[:2], 1 / 3).is_for_two(id) for id in range(3000)]


@pytest.mark.parametrize("names", [["anna"], ["anna", "Anna"], ["anna", ""], ["anna", "b\n"], ["a", "b" * 41], []])
def test_names_must_tell_people_apart(names):
    with pytest.raises(DataError):
        People(names)


@pytest.mark.parametrize("both", [-0.1, 1.1])
def test_a_share_is_a_share(both):
    with pytest.raises(DataError, match="0 to 1"):
        People(NAMES, both)


def test_each_person_has_a_token_that_stays_the_same():
    tokens = People(NAMES).tokens("secret of the server")
    assert len(set(tokens.values())) == 3
    assert People(NAMES[::-1]).tokens("secret of the server") == tokens
    assert People(NAMES).tokens("another secret") != tokens


def test_no_two_get_the_same_open_sentence(project):
    _, (anna, ben) = several(project, 0)
    one = first(anna)["id"]
    anna.take(one, {})
    assert first(ben)["id"] != one
    assert ben.take(one, {})["held"] == "anna"
    assert one not in [found["id"] for found in ben.queue({"mode": "teach", "n": 20})["sentences"]]
    listed = {found["id"]: found["held"] for found in ben.queue({"mode": "order"})["sentences"]}
    assert {id for id, held in listed.items() if held == "anna"} == {one}
    for action in ("nothing", "skip", "unsure", "reset"):
        with pytest.raises(StaleError, match="anna has sentence"):
            ben.decide(one, {"version": 0, "action": action})
    mention = {"sentence": one, "start": 0, "end": 1, "version": 0}
    assert ben.review({"type": "PER", "accept": [mention]})["stale"]
    other = first(ben)["id"]
    anna.take(other, {"leave": one})
    assert ben.take(one, {})["held"] is None
    label(anna, other, action="nothing")
    assert ben.sentence(other)["by"] == "anna"
    assert ben.take(other, {})["held"] is None  # it is decided, and can be looked at by all


def test_everybody_counts_what_counts(project):
    _, (anna, ben) = several(project, 0)
    label(anna, 1, (1, 2, "PER"))
    assert [views.state()["counts"]["labelled"] for views in (anna, ben)] == [1, 1]
    assert [views.state()["project"]["can_undo"] for views in (anna, ben)] == [1, 0]
    assert ben.reverse("undo", {})["undone"] == 0
    label(ben, 1, action="nothing")
    undone = anna.reverse("undo", {})
    assert (undone["undone"], undone["is_left"], undone["left"][0]["by"]) == (0, True, "ben")
    assert ben.sentence(1)["status"] == "none"


def test_the_first_of_two_answers_is_seen_by_nobody_else(project):
    session, (anna, ben) = several(project, 1)
    with session:
        settled(session)
        number = session.number
        label(anna, 1, (1, 2, "PER"))
        assert anna.sentence(1)["status"] == "labelled"
        seen = ben.sentence(1)
        assert (seen["status"], seen["version"], seen["labels"]) == ("new", 0, None)
        assert (seen["by"], seen["held"], seen["answers"]) == (None, None, [])
        assert [views.state()["counts"]["labelled"] for views in (anna, ben)] == [1, 0]
        assert [views.state()["counts"]["waiting"] for views in (anna, ben)] == [1, 1]
        settled(session)
        assert session.number > number
        assert session.mirror.labelled() == []  # no fit learns from it
        assert 1 not in [one["id"] for one in anna.queue({"mode": "teach", "n": 20})["sentences"]]
        assert 1 not in [one["id"] for one in anna.queue({"mode": "order", "part": "open"})["sentences"]]
        assert first(ben)["id"] == 1  # what waits for an answer comes first
        assert anna.answers()["sentences"] == ben.answers()["sentences"] == []
        label(ben, 1, (1, 2, "PER"))
        assert anna.sentence(1)["version"] == ben.sentence(1)["version"] > seen["version"]
        assert anna.state()["counts"] == ben.state()["counts"]
        assert len(session.mirror.labelled()) == 1


def test_both_work_on_a_sentence_for_two_at_the_same_time(project):
    _, (anna, ben, carl) = several(project, 1, NAMES)
    assert anna.take(1, {})["held"] is None
    assert ben.take(1, {})["held"] is None
    assert carl.take(1, {})["held"] == "anna"
    label(anna, 1, (1, 2, "PER"))
    assert carl.take(1, {})["held"] == "ben"
    label(ben, 1, (1, 2, "PER"))
    assert carl.sentence(1)["status"] == "labelled"


def test_disputed_sentences_are_settled(project):
    session, (anna, ben) = several(project, 1)
    label(anna, 1, (1, 2, "PER"), (3, 4, "LOC"))
    label(ben, 1, (1, 2, "PER"), (3, 4, "PER"))
    label(anna, 2, action="nothing")
    label(ben, 2, action="nothing")
    for views in (anna, ben):
        (found,) = views.queue({"mode": "order", "part": "disputed"})["sentences"]
        assert (found["id"], found["status"], views.state()["counts"]["disputed"]) == (1, "disputed", 1)
        assert [(one["person"], len(one["labels"])) for one in found["answers"]] == [("anna", 2), ("ben", 2)]
        assert [one["type"] for one in found["labels"]] == ["PER"]  # what both said
        assert found["predictions"] == []
    assert anna.take(1, {})["held"] is None
    assert ben.take(1, {})["held"] == "anna"  # it is settled by one of them
    version = found["version"]
    anna.review({"type": "LOC", "accept": [{"sentence": 1, "start": 3, "end": 5, "version": version}]})
    begun = anna.sentence(1)
    assert (begun["status"], [one["type"] for one in begun["labels"]]) == ("disputed", ["PER", "LOC"])
    mention = {"sentence": 1, "start": 1, "end": 2, "version": begun["version"]}
    anna.review({"type": "PER", "reject": [mention]})
    assert [one["type"] for one in anna.sentence(1)["labels"]] == ["LOC"]
    label(anna, 1, (1, 2, "PER"), (3, 4, "LOC"))
    assert ben.sentence(1)["by"] == "anna"
    assert anna.state()["counts"]["disputed"] == 0
    assert next(read(session.project.path).__iter__()).spans == (Span(1, 2, "PER"), Span(3, 4, "LOC"))
    rows = ben.answers()["sentences"]
    assert [(row["id"], row["status"], len(row["answers"])) for row in rows] == [(1, "labelled", 2), (2, "none", 2)]
    label(anna, 1, action="reset")
    assert (anna.sentence(1)["status"], ben.sentence(1)["status"]) == ("new", "new")


def test_one_person_sees_answers_that_wait_for_a_second_one(project):
    _, (anna, _) = several(project, 1)
    label(anna, 1, (1, 2, "PER"))
    alone = Views(make_session(project))
    found = alone.sentence(1)
    assert (found["status"], found["held"], found["by"]) == ("new", None, None)
    assert [one["person"] for one in found["answers"]] == ["anna"]
    label(alone, 1, (1, 2, "PER"))
    assert alone.sentence(1)["answers"] == []


def test_one_person_works_as_ever(project):
    views = Views(make_session(project))
    found = label(views, 1, (1, 2, "PER"))["sentence"]
    assert (found["status"], found["held"], found["by"], found["answers"]) == ("labelled", None, None, [])
    state = views.state()
    assert (state["project"]["person"], state["agreement"]) == (None, [])
    assert next(project.documents()).meta == {}
    (entry,) = project._connection.execute("SELECT author, person FROM log WHERE subject = 1").fetchall()
    assert entry == ("anna", None)


@given(st.lists(st.tuples(st.sampled_from("ABO"), st.sampled_from("ABO")), min_size=1))
def test_kappa_is_that_of_scikit_learn(pairs):
    metrics = pytest.importorskip("sklearn.metrics")
    counts = {pair: pairs.count(pair) for pair in pairs}
    if len({tag for pair in pairs for tag in pair}) == 1:
        assert kappa(counts) is None
    else:
        assert kappa(counts) == pytest.approx(metrics.cohen_kappa_score(*zip(*pairs, strict=True)))


def test_agreement_is_about_what_both_have_answered():
    both = frozenset({"PER", "LOC"})
    pia = State("labelled", (Span(1, 2, "PER"),), None, both)
    more = State("labelled", (Span(1, 2, "PER"), Span(3, 4, "LOC")), None, both)
    late = State("labelled", (Span(1, 2, "PER"), Span(4, 5, "DAY")), None, both | {"DAY"})
    answers = {
        1: {"anna": pia, "ben": more},
        2: {"anna": more, "ben": more, "carl": State("partial", (Span(0, 1, "PER"),))},
        3: {"anna": pia, "ben": late},  # there were no days when anna looked
        4: {"ben": State("unsure"), "anna": pia},
        5: {"ben": pia},
    }
    (found,) = compare(answers, lambda id: 6)
    assert (found.people, found.n_sentences, found.n_same) == (("anna", "ben"), 3, 2)
    assert (found.n_words, found.n_aside) == (18, 1)
    assert found.f1 == pytest.approx(2 * 4 / (4 + 5))
    assert found.kappa == pytest.approx((18 * 17 - (14 * 13 + 3 * 3 + 1 * 2)) / (18 * 18 - (14 * 13 + 3 * 3 + 1 * 2)))
    none = State("none", (), None, both)
    (found,) = compare({1: {"anna": none, "ben": none}}, lambda id: 6)
    assert (found.f1, found.kappa, found.n_same) == (None, None, 1)


def test_the_agreement_of_a_project_is_that_of_its_session(project):
    _, (anna, ben) = several(project, 1)
    label(anna, 1, (1, 2, "PER"), (3, 4, "LOC"))
    label(ben, 1, (1, 2, "PER"))
    (shown,) = anna.state()["agreement"]
    (found,) = agreement(project.path)
    assert (shown["people"], shown["f1"], shown["kappa"]) == (found.people, found.f1, found.kappa)
    assert found.f1 == pytest.approx(2 / 3)


@pytest.fixture
def served(tmp_path):
    with serving(tmp_path / "p.db", people=People(NAMES[:2], 0)) as found:
        yield found


def client_of(served, name):
    headers = {"X-Handful-Token": served.tokens[name]}
    return served.httpx.Client(base_url=served.url, headers=headers, timeout=60, trust_env=False)


def test_a_token_says_who_asks(served):
    for name in NAMES[:2]:
        with client_of(served, name) as client:
            assert client.get("/api/state").json()["project"]["person"] == name
    with served.httpx.Client(base_url=served.url, trust_env=False) as browser:
        assert browser.get("/api/state").status_code == 403
        for name in ("ben", "anna"):
            assert browser.get("/", params={"token": served.tokens[name]}).status_code == 200
            assert browser.get("/api/state").json()["project"]["person"] == name
        for given in ({"headers": {"X-Handful-Person": "ben"}}, {"params": {"person": "ben"}}):
            answer = browser.get("/api/state", **given)
            assert answer.status_code == 403
            assert answer.json()["error"]["what"] == "this page belongs to ben, the browser now to anna"
    assert served.httpx.get(f"{served.url}/?token={served.token or 'a-token-of-the-tests'}").status_code == 403


def test_who_is_there_is_told(served):
    last = settled(served.session).events.last
    with client_of(served, "ben") as ben, client_of(served, "anna") as anna:
        with ben.stream("GET", f"/api/events?since={last}") as listening:
            lines = listening.iter_lines()
            assert json.loads(next(line for line in lines if line.startswith("data: "))[6:])["kind"] == "people"
            assert anna.get("/api/state").json()["project"]["people"] == ["ben"]
            one = ben.get("/api/queue", params={"mode": "teach", "n": 1}).json()["sentences"][0]["id"]
            ben.post(f"/api/sentences/{one}/take", json={})
            answer = anna.post(f"/api/sentences/{one}/decision", json={"version": 0, "action": "nothing"})
            assert (answer.status_code, answer.json()["sentence"]["held"]) == (409, "ben")
        waiting = threading.Event()
        while anna.get("/api/state").json()["project"]["people"]:
            waiting.wait(0.02)


def test_answers_and_imports_have_their_author(served):
    with client_of(served, "ben") as ben:
        headers = {"content-type": "application/octet-stream"}
        ben.post("/api/import", content=b"so [Pia](PER) left\n", params={"format": "inline"}, headers=headers)
        ben.post("/api/types", json={"action": "add", "name": "DAY"})
        assert ben.get("/api/answers").json() == {"agreement": [], "sentences": []}
        authors = served.project._connection.execute("SELECT DISTINCT author FROM log WHERE seq > 1").fetchall()
        assert authors == [("ben",)]
        with client_of(served, "anna") as anna:
            assert anna.post("/api/undo", json={}).json()["undone"] == 0
        assert ben.post("/api/undo", json={"n": 2}).json()["undone"] == 2


def test_sentences_have_the_words_of_their_answers(project):
    session, (anna, ben) = several(project, 1)
    label(anna, 1, (1, 2, "PER"))
    label(ben, 1, (1, 2, "LOC"))
    (row,) = anna.answers()["sentences"]
    assert Sentence(tuple(row["words"])).words == session.mirror.entries[1].sentence.words
    assert [one["labels"][0]["type"] for one in row["answers"]] == ["PER", "LOC"]
