"""Batches: requests that come together are predicted together; there are never too many; and a stop loses none."""

import gc
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.exceptions import HTTPException

from handful import Tagger
from handful.errors import HandfulWarning
from handful.serve import Limits
from handful.serve._batches import Batches, Job, ready_of
from handful.text import Sentence

from .conftest import serving
from .made import TEXT, FaultyEncoder, SlowEncoder, fitted, words


def until(is_true):
    """Wait until something is true."""
    end = time.monotonic() + 20
    while not is_true():
        assert time.monotonic() < end, "it did not come true"
        time.sleep(0.005)


@pytest.fixture
def gate():
    gate = threading.Event()
    gate.set()
    yield gate
    gate.set()


def test_what_waits_is_encoded_in_one_call_and_answered_as_alone(gate):
    tagger = fitted(encoder=SlowEncoder(gate))
    texts = [f"so P{i}a met L{i}o in G{i} ." for i in range(12)]
    alone = tagger.predict(texts)
    gate.clear()
    encoder, calls = tagger.encoder, len(tagger.encoder.calls)
    batches = Batches(Limits(), wait=0.0)
    jobs = [Job(ready_of(tagger), [text], min_score=0.0) for text in texts]
    batches.submit(jobs[0])
    until(lambda: len(encoder.calls) == calls + 1)
    for job in jobs[1:]:
        batches.submit(job)
    gate.set()
    assert [job.answer.result(20)[0] for job in jobs] == alone
    assert encoder.calls[calls:] == [1, 11]
    assert [job.n_words for job in jobs] == [7] * 12
    batches.stop()


def test_a_moment_is_waited_for_as_many_as_came_the_last_time(gate):
    tagger = fitted(encoder=SlowEncoder(gate))
    seen = []
    batches = Batches(Limits(), lambda *batch: seen.append(batch[:2]), wait=5.0)

    def ask(n):
        jobs = [Job(ready_of(tagger), [TEXT]) for _ in range(n)]
        for job in jobs:
            batches.submit(job)
        return jobs

    def answers(jobs):
        return {str(job.answer.result(20)) for job in jobs}

    gate.clear()
    first = ask(1)
    until(lambda: tagger.encoder.calls)
    several = ask(5)  # they gather while the first is at work
    gate.set()
    assert len(answers(first + several)) == 1
    answers(ask(3) + ask(2))  # five again
    batches.stop()
    assert seen == [(1, 12), (5, 60), (5, 60)]


def test_a_batch_is_of_one_model_and_not_too_large(gate):
    gate.clear()
    first, second = fitted(), fitted({"GOD": "G gods"})
    seen = []
    batches = Batches(Limits(), lambda *batch: seen.append(batch[:2]), wait=0.2, batch_words=30)
    jobs = [Job(ready_of(one), [TEXT]) for one in (first, second, first, first, first)]
    for job in jobs:
        batches.submit(job)
    assert [len(job.answer.result(20)[0]) for job in jobs] == [4, 0, 4, 4, 4]
    batches.stop()
    assert len(seen) >= 3
    assert max(n_words for _, n_words in seen) <= 30 + 6  # the last sentence may be one more
    assert sum(n_words for _, n_words in seen) == 60


def test_a_large_job_lets_small_ones_through_and_is_answered_as_at_once(gate):
    tagger = fitted(encoder=SlowEncoder(gate))
    large, small = [f"so P{i}a met L{i}o in G{i} ." for i in range(200)], "so Pia left"
    alone = tagger.predict(large)
    gate.clear()
    batches, order = Batches(Limits(), wait=0.0, batch_words=70), []
    first, second = Job(ready_of(tagger), [*large, ""]), Job(ready_of(tagger), [small])
    first.answer.add_done_callback(lambda _: order.append("large"))
    second.answer.add_done_callback(lambda _: order.append("small"))
    calls = len(tagger.encoder.calls)
    batches.submit(first)
    until(lambda: len(tagger.encoder.calls) > calls)
    batches.submit(second)
    gate.set()
    assert first.answer.result(20) == [*alone, []]
    batches.stop()
    assert order == ["small", "large"]
    assert max(tagger.encoder.calls[calls:]) <= 11


def test_a_text_of_many_sentences_is_cut_as_it_is_its_turn():
    """Else others wait until all of it is cut, and for collections of garbage that look at all its sentences."""

    def n_sentences():
        return sum(type(one) is Sentence for one in gc.get_objects())

    before = n_sentences()
    job = Job(ready_of(fitted()), ["So Pia left. " * 2000])
    taken = [*job.take(50), *job.take(50)]
    assert n_sentences() < before + 100
    assert (sum(len(one.words) for one in taken), job.n_words) == (104, 104)
    assert 4900 < job.size < 5500
    assert not job.is_over


def test_what_is_given_up_is_not_gone_on_with(gate):
    tagger = fitted(encoder=SlowEncoder(gate))
    gate.clear()
    batches = Batches(Limits(), wait=0.0, batch_words=10)
    job, calls = Job(ready_of(tagger), ["so Pia left ."] * 50), len(tagger.encoder.calls)
    batches.submit(job)
    until(lambda: len(tagger.encoder.calls) == calls + 1)
    assert job.answer.cancel()
    gate.set()
    batches.stop()
    assert len(tagger.encoder.calls) == calls + 1


def test_a_job_that_fails_takes_no_other_along():
    tagger = fitted(encoder=FaultyEncoder())
    batches = Batches(Limits(), wait=0.2)
    batches._n_last = 3
    jobs = [Job(ready_of(tagger), [text]) for text in ("so Pia left", "so Pandora left", "so Paul left")]
    for job in jobs:
        batches.submit(job)
    assert words(jobs[0].answer.result(20)[0]) == [("Pia", "PER")]
    assert words(jobs[2].answer.result(20)[0]) == [("Paul", "PER")]
    with pytest.raises(RuntimeError):
        jobs[1].answer.result(20)
    batches.stop()


def test_a_stop_finishes_what_was_taken_and_takes_no_more(gate):
    tagger = fitted(encoder=SlowEncoder(gate))
    gate.clear()
    batches = Batches(Limits(max_requests=3))
    jobs = [Job(ready_of(tagger), [TEXT]) for _ in range(4)]
    batches.submit(jobs[0])
    until(lambda: tagger.encoder.calls)
    for job in jobs[1:]:
        batches.submit(job)
    with pytest.raises(HTTPException, match="429"):
        batches.submit(Job(ready_of(tagger), [TEXT]))
    stopping = threading.Thread(target=batches.stop)
    stopping.start()
    until(lambda: batches._is_stopping)
    with pytest.raises(HTTPException, match="503"):
        batches.submit(Job(ready_of(tagger), [TEXT]))
    gate.set()
    stopping.join()
    assert all(len(job.answer.result(0)[0]) == 4 for job in jobs)


def test_too_many_requests_are_told_to_come_back(gate):
    tagger = fitted(encoder=SlowEncoder(gate))
    with serving({"slow": tagger}, limits=Limits(max_requests=3)) as served, ThreadPoolExecutor(8) as pool:
        gate.clear()
        answers = [pool.submit(served.client.post, "/predict", json={"text": TEXT}) for _ in range(3)]
        until(lambda: served.service.n_under_way == 3)
        refused = served.client.post("/predict", json={"text": TEXT})
        assert refused.status_code == 429
        assert refused.json()["error"]["what"] == "there is too much to do already"
        assert int(refused.headers["retry-after"]) >= 1
        assert served.client.get("/health").status_code == 200
        gate.set()
        assert [one.result().status_code for one in answers] == [200] * 3
        assert served.client.post("/predict", json={"text": TEXT}).status_code == 200


def test_a_slow_answer_is_given_up_and_its_place_is_free_again(gate):
    tagger = fitted(encoder=SlowEncoder(gate))
    with serving({"slow": tagger}, limits=Limits(timeout=0.2)) as served:
        gate.clear()
        answer = served.client.post("/predict", json={"text": TEXT})
        assert answer.status_code == 503
        assert "took too long" in answer.json()["error"]["what"]
        assert "retry-after" in answer.headers
        assert served.service.n_under_way == 0
        gate.set()
        assert served.client.post("/predict", json={"text": TEXT}).status_code == 200


def test_a_slow_body_is_given_up():
    with serving({"people": fitted()}, limits=Limits(body_timeout=0.2)) as served:

        def slow():
            yield b'{"text":'
            time.sleep(0.6)
            yield b'"a"}'

        answer = served.client.post("/predict", content=slow(), headers={"Content-Type": "application/json"})
        assert answer.status_code == 408
        assert served.service.n_under_way == 0


def test_many_clients_get_what_one_gets():
    tagger = fitted()
    texts = [f"so P{i}a met L{i}o in G{i} ." for i in range(60)]
    alone = tagger.predict(texts)
    with serving({"people": tagger}) as served, ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(lambda text: served.client.post("/predict", json={"text": text}), texts))
    assert [one.json()["entities"] for one in answers] == alone


@pytest.mark.parametrize("wrong", [{"max_header": -1}, {"max_requests": 0}, {"timeout": 0}, {"max_bytes": 0}])
def test_limits_that_are_not_possible(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Limits(**wrong)


def test_text_in_a_language_that_the_encoder_does_not_know_is_said_once():
    ready = ready_of(Tagger("person, place", cache=False).fit())
    text = "wir sind heute mit dem zug nach hause gefahren, und dort gab es einen markt, auf dem man brot kaufen kann. "
    batches = Batches(Limits())

    def ask():
        job = Job(ready, [text * 2])
        batches.submit(job)
        return job.answer.result(60)

    with pytest.warns(HandfulWarning, match="looks like German") as caught:
        answers = [ask() for _ in range(4)]
    batches.stop()
    assert (len(answers), len(caught)) == (4, 1)
