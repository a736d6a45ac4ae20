"""Events: in order, each once, and one that says so where some are gone."""

from handful.workbench._events import KEPT, Events


def test_events_after_one_of_them():
    events = Events()
    assert events.since(0) == []
    for i in range(3):
        events.add("fit", fit=i)
    assert [event["fit"] for _, event in events.since(1)] == [1, 2]
    assert events.since(3) == []


def test_who_is_too_far_behind_starts_again():
    events = Events()
    for i in range(KEPT + 5):
        events.add("fit", fit=i)
    assert events.since(2) == [(KEPT + 5, {"kind": "reset"})]
    assert len(events.since(5)) == KEPT
    assert events.since(KEPT + 99) == [(KEPT + 5, {"kind": "reset"})]  # of another server


def test_listeners_are_woken_until_they_stop():
    events, woken = Events(), []
    with events.listen(lambda: woken.append(1)):
        events.add("fit")
    events.add("fit")
    assert woken == [1]
