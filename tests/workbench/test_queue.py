"""What comes next: against a slow, direct choice."""

import numpy as np
import pytest

from handful.encoders.cache import RememberingEncoder
from handful.encoders.opened import open_encoder
from handful.tagger.tagging import TaggedWords
from handful.text import Sentence
from handful.workbench._learner import Learner
from handful.workbench._queue import NEXT, most_teaching
from handful.workbench._views import Views

from .made import make_project, make_session

NAMES = [f"P{chr(97 + i % 26)}{chr(97 + i // 26)}" for i in range(60)]


def made(rng, n, n_types, name):
    """Make sentences with scores and features at random."""
    found = []
    for i in range(n):
        scores = rng.dirichlet(np.full(n_types + 1, 0.3), size=rng.integers(3, 20))
        words = tuple(f"{name}{i}_{j}" for j in range(len(scores)))
        features = rng.normal(size=(len(words), 5)).astype(np.float32)
        found.append(TaggedWords(Sentence(words, ()), features, scores, scores.argmax(axis=1)))
    return found


def where(words):
    """Return the place of a sentence: the mean of its words at length 1, weighted by doubt."""
    total = np.zeros(words.features.shape[1])
    for vector, scores, tag in zip(words.features.astype(float), words.scores, words.tags, strict=True):
        total += (1 - scores[tag] + 0.02) * vector / np.linalg.norm(vector)
    return total / np.linalg.norm(total)


def slowly(found, labelled, mentions, n):
    """Choose one after the other, with loops."""
    places = {id: where(words) for id, words in found.items()}
    far = np.median([1 - a @ b for a in places.values() for b in places.values()]) / 2
    density = {id: max(1e-3, np.mean([a @ b for b in places.values()])) ** 2 for id, a in places.items()}
    near = [where(words) for words in labelled]
    turns = [t + 1 for t, count in enumerate(mentions) if count == 0] if len(near) < 2 * len(mentions) else []
    order = []
    for i in range(n):
        worth = {}
        for id, words in found.items():
            doubts = []
            for scores, tag in zip(words.scores, words.tags, strict=True):
                two = sorted(range(len(scores)), key=lambda t: -scores[t])[:2]
                if i >= len(turns) or turns[i] in two:
                    doubts.append(1 - scores[tag])
            news = min([1.0] + [max(0.0, (1 - places[id] @ other) / far) for other in near])
            worth[id] = (sum(sorted(doubts)[-8:]) * density[id] + 1e-6) * (news + 1e-6)
        best = max((id for id in found if id not in order), key=lambda id: worth[id])
        order.append(best)
        near.append(places[best])
    return order


@pytest.mark.parametrize(("n_labelled", "mentions"), [(0, (0, 0, 0)), (2, (1, 0, 4)), (7, (3, 0, 1)), (3, (5,))])
def test_it_is_the_choice_of_a_slow_oracle(n_labelled, mentions):
    rng = np.random.default_rng(n_labelled)
    found = {10 + 3 * i: words for i, words in enumerate(made(rng, 25, len(mentions), "a"))}
    labelled = made(rng, n_labelled, len(mentions), "b")
    queue, candidates = most_teaching(found, labelled, mentions, 12)
    assert queue == slowly(found, labelled, mentions, 12)
    assert set(candidates) == set(found)  # fewer than there may be


def test_few_sentences_are_predicted_anew_before_the_queue_is_ordered_those_in_it_among_them():
    rng = np.random.default_rng(1)
    found = dict(enumerate(made(rng, 4 * NEXT, 2, "a")))
    queue, candidates = most_teaching(found, made(rng, 5, 2, "b"), (3, 1), 60)
    doubts = {id: sum(np.sort(1 - words.scores.max(axis=1))[-8:]) for id, words in found.items()}
    assert candidates[:60] == queue
    assert set(candidates) == {*queue, *sorted(found, key=lambda id: -doubts[id])[:NEXT]}


def test_there_may_be_fewer_than_asked_for_or_none():
    found = dict(enumerate(made(np.random.default_rng(0), 4, 2, "a")))
    assert sorted(most_teaching(found, [], (0, 0), 10)[0]) == [0, 1, 2, 3]
    assert most_teaching({}, [], (0, 0), 10) == ([], [])


@pytest.fixture
def unstarted(tmp_path):
    """Give a session whose work is done step by step, and what a page asks of it."""
    texts = [f"then {name} saw {place} and slept there ." for name in NAMES for place in ("Lima", "Oslo", "the sea")]
    with make_project(tmp_path / "p.db", texts) as project:
        session = make_session(project)
        session.learner = Learner(RememberingEncoder(open_encoder(session.encoder, threads=1)))
        yield session, Views(session)


def decide_next(views):
    """Decide on what the queue gives."""
    first = views.queue({"mode": "teach", "n": 1})["sentences"][0]
    views.decide(first["id"], {"version": first["version"], "action": "nothing"})
    return first["id"]


def test_the_text_is_read_and_the_queue_ordered_where_each_fit_is_followed_by_a_decision_at_once(unstarted):
    session, views = unstarted
    for _ in range(60):
        number = session.number
        while session.number == number:
            session._next_step()()
        decide_next(views)
    state = views.state()
    assert state["counts"]["decisions"] == 60
    assert state["fit"]["progress"] == 1
    assert state["counts"]["predicted"] == state["counts"]["sentences"]
    assert session.number - session.ranked == 1  # it is ordered after each fit


def test_who_decides_faster_than_a_fit_gets_the_queue_by_older_predictions(unstarted):
    session, views = unstarted
    while (step := session._next_step()) is not None:
        step()
    queue = [one["id"] for one in views.queue({"mode": "teach", "n": 4})["sentences"]]
    assert [decide_next(views) for _ in queue] == queue  # nothing was fitted in between
    number = session.number
    session._next_step()()
    assert session.number == number + 1
    rest = views.queue({"mode": "teach", "n": 10})["sentences"]
    assert {one["fit"] for one in rest} == {number}  # none of them was on the page, so none is predicted anew yet
    assert {one["id"] for one in rest}.isdisjoint(queue)
    assert session.ranked == number
    while session.ranked == number:
        session._next_step()()
    assert session.ranked == session.number
