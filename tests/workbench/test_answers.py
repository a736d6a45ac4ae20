"""Several people at one project: whose decision counts, what two answers make of a sentence, what may be undone."""

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from handful.errors import FormatError, StaleError
from handful.text import Document, EntityType, Span, read
from handful.text.projects import NEW, State, answers
from handful.workbench import Project

TEXTS = ["Slugs ate the box. We sprayed soap.", "Aphids again!", "Nothing here."]
PEST = State("labelled", (Span(0, 1, "PEST"),))
BOTH = State("labelled", (Span(0, 1, "PEST"), Span(1, 2, "TOOL")))
NONE = State("none")


def make(folder):
    project = Project(Path(folder) / "p.db", "jo")
    project.add(map(Document.of, TEXTS), lambda: [EntityType("PEST", "what harms plants"), EntityType("TOOL")])
    return project, project.by("anna"), project.by("ben")


@pytest.fixture
def people(tmp_path):
    project, anna, ben = make(tmp_path)
    with project:
        yield project, anna, ben


def states(project):
    return {subject: state for subject, (_, state) in project.states().items() if state != NEW}


def given_by(project):
    return answers(project._connection)


def log(project):
    return project._connection.execute("SELECT author, action, subject, person FROM log WHERE subject > 0").fetchall()


def test_the_log_says_who_decided(people):
    project, anna, ben = people
    anna.decide("label", {1: PEST})
    ben.decide("nothing", {3: NONE}, own=[3])
    assert log(project) == [("anna", "label", 1, None), ("ben", "nothing", 3, "ben")]


def test_the_same_answer_of_two_counts(people):
    project, anna, ben = people
    first = anna.decide("label", {1: PEST}, {1: 0}, own=[1])
    assert states(project) == {}  # nobody else sees it, and no fit learns from it
    ben.decide("label", {1: PEST}, {1: 0}, own=[1])  # the version that he knows is not hers
    assert states(project) == {1: PEST}
    assert given_by(project) == {1: {"anna": PEST, "ben": PEST}}
    with pytest.raises(StaleError):
        anna.decide("nothing", {1: NONE}, {1: first})


def test_other_answers_are_disputed_until_somebody_settles_them(people):
    project, anna, ben = people
    anna.decide("label", {1: PEST}, own=[1])
    ben.decide("label", {1: BOTH}, own=[1])
    assert states(project) == {1: State("disputed", PEST.spans)}  # both have marked the pest
    assert not any(sentence.spans for sentence in read(project.path))
    anna.decide("label", {1: BOTH})
    assert states(project) == {1: BOTH}
    assert given_by(project)[1]["anna"] == PEST  # agreement is that of what each said alone


@pytest.mark.parametrize("status", ["unsure", "skipped"])
def test_who_does_not_know_answers_too(people, status):
    project, anna, ben = people
    anna.decide("unsure", {1: State(status)}, own=[1])
    ben.decide("label", {1: PEST}, own=[1])
    assert states(project)[1].status == "disputed"
    anna.decide("unsure", {3: State(status)}, own=[3])
    ben.decide("unsure", {3: State(status)}, own=[3])
    assert states(project)[3].status == status


def test_a_part_of_an_answer_is_none(people):
    project, anna, ben = people
    anna.decide("review", {1: State("partial", PEST.spans, (None, *[None] * 4))}, own=[1])
    ben.decide("label", {1: BOTH}, own=[1])
    assert states(project) == {}
    anna.decide("label", {1: BOTH}, own=[1])
    assert states(project) == {1: BOTH}


def test_a_sentence_that_is_reset_is_asked_anew(people):
    project, anna, ben = people
    for one in (anna, ben):
        one.decide("label", {1: PEST}, own=[1])
    ben.decide("reset", {1: NEW})
    assert (states(project), given_by(project)) == ({}, {})
    ben.undo()
    assert (states(project), given_by(project)) == ({1: PEST}, {1: {"anna": PEST, "ben": PEST}})


def test_everybody_undoes_their_own(people):
    project, anna, ben = people
    anna.decide("label", {1: PEST})
    ben.decide("nothing", {3: NONE})
    assert (anna.count_undo(), ben.count_undo()) == ((1, 0), (1, 0))
    assert anna.undo(5).sentences == [1]
    assert states(project) == {3: NONE}
    ben.decide("nothing", {4: NONE})
    assert anna.redo().sentences == [1]  # what another has decided does not end it
    assert states(project) == {1: PEST, 3: NONE, 4: NONE}
    assert project.by("carl").undo().n_steps == 0


def test_what_somebody_else_has_decided_since_is_not_undone(people):
    project, anna, ben = people
    anna.decide("review", {1: PEST, 3: NONE})
    ben.decide("label", {1: BOTH})
    undone = anna.undo()
    assert (undone.sentences, undone.left, states(project)) == ([3], {1}, {1: BOTH})
    assert (anna.redo().left, states(project)) == ({1}, {1: BOTH, 3: NONE})
    anna.decide("label", {4: PEST})
    ben.decide("nothing", {4: NONE})
    undone = anna.undo()
    assert (undone.n_steps, undone.left, states(project)[4]) == (0, {4}, NONE)
    ben.undo()  # and then it is hers again
    with Project(project.path) as again:
        assert (again.by("anna").undo().sentences, states(again)) == ([4], {1: BOTH, 3: NONE})


def test_an_answer_that_was_compared_is_not_undone(people):
    project, anna, ben = people
    anna.decide("label", {1: PEST}, own=[1])
    ben.decide("label", {1: BOTH}, own=[1])
    assert (anna.undo().left, states(project)[1].status) == ({1}, "disputed")
    assert ben.undo().sentences == [1]  # his was the last
    assert (states(project), given_by(project)) == ({}, {1: {"anna": PEST}})
    ben.redo()
    anna.decide("label", {1: PEST})
    assert (ben.undo().left, states(project)) == ({1}, {1: PEST})


def test_an_undone_answer_does_not_come_back_beside_another_one(people):
    project, anna, ben = people
    anna.decide("label", {1: PEST}, own=[1])
    anna.undo()
    ben.decide("label", {1: PEST}, own=[1])
    assert (anna.redo().left, given_by(project)) == ({1}, {1: {"ben": PEST}})
    anna.decide("label", {1: PEST}, own=[1])
    assert states(project) == {1: PEST}


def test_a_change_of_types_is_undone_as_a_whole_or_not_at_all(people):
    project, anna, ben = people
    anna.decide("label", {1: PEST})
    anna.change_types("rename", "PEST", "BUG")
    ben.decide("label", {3: State("labelled", (Span(0, 1, "BUG"),))})
    undone = anna.undo()
    assert (undone.n_steps, undone.has_types) == (0, False)
    assert [one["name"] for one in project.types()] == ["BUG", "TOOL"]
    assert {span.type for state in states(project).values() for span in state.spans} == {"BUG"}
    ben.undo()
    assert project.by("anna").undo().has_types
    assert states(project) == {1: PEST}


def test_no_undo_brings_back_a_type_that_is_gone(people):
    project, anna, ben = people
    anna.decide("label", {1: BOTH})
    anna.decide("label", {1: PEST})
    ben.change_types("rename", "TOOL", "THING")
    assert (anna.undo().left, states(project)) == ({1}, {1: PEST})
    ben.change_types("add", "SOAP", ("", None))
    anna.decide("label", {3: PEST})
    ben.change_types("add", "WEED", ("", None))
    assert anna.undo().sentences == [3]  # types that came are no hindrance


def test_types_are_changed_in_answers_too(people):
    project, anna, ben = people
    anna.decide("label", {1: PEST}, own=[1])
    ben.change_types("rename", "PEST", "BUG")
    ben.decide("label", {1: State("labelled", (Span(0, 1, "BUG"),))}, own=[1])
    assert states(project)[1] == State("labelled", (Span(0, 1, "BUG"),))


def test_exports_say_who_decided(people):
    project, anna, ben = people
    anna.decide("label", {1: PEST, 2: NONE})
    assert [document.meta for document in project.documents()] == [{}, {}, {}]  # one person: as ever
    ben.decide("nothing", {3: NONE})
    anna.decide("label", {4: PEST}, own=[4])
    ben.decide("label", {4: PEST}, own=[4])
    ben.decide("nothing", {2: PEST})
    fields = [document.meta for document in project.documents()]
    assert fields == [{"decided_by": ["anna", "ben"]}, {"decided_by": ["ben"]}, {"decided_by": ["anna", "ben"]}]
    ben.undo()
    anna.change_types("rename", "PEST", "BUG")
    ben.change_types("remove", "TOOL")
    fields = [document.meta for document in project.documents(only_decided=True)]
    assert fields[0] == {"decided_by": ["anna"]}
    ben.decide("reset", {1: NEW})
    alone = [document.meta for document in project.documents(only_decided=True)]
    assert alone == [{"decided_by": ["anna"]}, {"decided_by": ["ben"]}, {"decided_by": ["anna", "ben"]}]
    anna.decide("unsure", {4: State("unsure")})
    anna.decide("label", {4: PEST})
    assert list(project.documents())[2].meta == {"decided_by": ["anna"]}


def test_an_answer_of_nobody_is_damage(people):
    project, anna, _ = people
    anna.decide("label", {1: PEST}, own=[1])
    project._connection.execute("DROP TRIGGER log_only_grows")
    project._connection.execute("UPDATE log SET person = x'ff' WHERE person = 'anna'")
    with pytest.raises(FormatError, match="an answer is that of"):
        project.change_types("rename", "PEST", "BUG")


STEPS = st.lists(
    st.tuples(
        st.sampled_from([0, 1]),
        st.sampled_from(["decide", "answer", "rename", "undo", "redo"]),
        st.sampled_from([1, 3, 4]),
        st.sampled_from(["PEST", "TOOL", "none", "reset"]),
    ),
    max_size=14,
)


@examples(25)
@given(STEPS)
def test_nobody_loses_a_decision_by_what_another_undoes(steps):
    """Whatever two people do, in any order: an undo of one changes no sentence that the other has decided last."""
    with tempfile.TemporaryDirectory() as folder:
        project, *people = make(folder)
        with project:
            history = {}  # by sentence, who decided what counts, one after the other
            for who, action, subject, what in steps:
                one, names = people[who], [one["name"] for one in project.types()]
                before = states(project)
                is_open = before.get(subject, NEW) == NEW
                state = {"none": NONE, "reset": NEW}.get(what) or State("labelled", (Span(0, 1, what),))
                done = None
                if action in ("undo", "redo"):
                    done = one.undo() if action == "undo" else one.redo()
                elif action == "rename" and what in names:
                    one.change_types("rename", what, {"PEST": "TOOLS", "TOOL": "PESTS"}[what])
                    continue
                elif {span.type for span in state.spans} <= set(names):
                    one.decide("label", {subject: state}, own=[subject] if action == "answer" and is_open else [])
                now = states(project)
                for id in {id for id in {*before, *now} if before.get(id) != now.get(id)}:
                    if done is None or action == "redo":
                        history.setdefault(id, []).append(who)
                    elif not done.has_types:
                        assert history[id].pop() == who
                    assert done is None or id not in done.left
                types = {one["name"] for one in project.types()}
                theirs = [state for given in given_by(project).values() for state in given.values()]
                assert {span.type for state in [*now.values(), *theirs] for span in state.spans} <= types
                for id, given in given_by(project).items():
                    assert id in now or sum(one.is_answer for one in given.values()) < 2
            Project(project.path).count_undo()


def test_texts_in_which_somebody_else_has_decided_do_not_go(people):
    project, anna, ben = people
    for text in ("Whitefly came.", "Soap helped."):
        anna.add([Document.of(text)], is_step=True)
    ben.decide("nothing", {6: NONE})
    assert (anna.undo().n_texts, project.gone()) == (0, set())
    assert (anna.undo().n_texts, project.gone()) == (1, {4})
    ben.undo()
    assert (project.by("anna").undo().n_texts, project.gone()) == (1, {4, 5})
