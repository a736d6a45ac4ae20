"""Projects: what is confirmed is there, whatever happens afterwards."""

import itertools
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drawn import examples
from handful.errors import DataError, FileError, FormatError, StaleError
from handful.text import Document, EntityType, Sentence, Span, read, stream, write
from handful.text.projects import NEW, State
from handful.workbench import Project
from handful.workbench._mirror import Mirror
from handful.workbench._review import decided

from .made import make_project

TEXTS = ["Slugs ate the box. We sprayed soap.", "Aphids again!", "We sprayed soap.", "Nothing here."]
PEST = State("labelled", (Span(0, 1, "PEST"),))
NONE = State("none")


@pytest.fixture
def project(tmp_path):
    with Project(tmp_path / "p.db", "anna") as project:
        project.add(map(Document.of, TEXTS), lambda: [EntityType("PEST", "what harms plants"), EntityType("TOOL")])
        yield project


def states(project):
    return {subject: state for subject, (_, state) in project.states().items() if state != NEW}


def test_a_project_holds_texts_sentences_and_types(project):
    found = list(project.sentences())
    assert [(id, same, text) for id, same, text, _ in found] == [(1, 1, 1), (2, 2, 1), (3, 3, 2), (4, 2, 3), (5, 5, 4)]
    assert found[1][3] == Document.of(TEXTS[0]).sentences[1]
    assert found[1][3].offset == 19
    assert [(one["name"], one["description"], one["key"]) for one in project.types()] == [
        ("PEST", "what harms plants", "1"),
        ("TOOL", "", "2"),
    ]
    assert len({one["colour"] for one in project.types()}) == 2
    assert [document.text for document in project.documents()] == TEXTS


def judged(project):
    return {subject: set(state.judged) for subject, (_, state) in project.states().items() if state.is_label}


def test_a_decision_is_about_the_types_that_there_were(project):
    project.decide("label", {1: PEST, 3: NONE})
    project.change_types("add", "SOAP", ("", None))
    project.decide("label", {5: NONE})
    assert judged(project) == {1: {"PEST", "TOOL"}, 3: {"PEST", "TOOL"}, 5: {"PEST", "TOOL", "SOAP"}}
    assert {one.words[0]: one.judged for one in read(project.path) if one.spans is not None} == {
        "Slugs": {"PEST", "TOOL"},
        "Aphids": {"PEST", "TOOL"},
        "Nothing": {"PEST", "TOOL", "SOAP"},
    }
    project.change_types("rename", "TOOL", "THING")
    project.change_types("remove", "PEST")
    assert judged(project) == {1: {"THING"}, 3: {"THING"}, 5: {"THING", "SOAP"}}
    project.undo(2)
    assert judged(project)[3] == {"PEST", "TOOL"}
    project.decide("label", {3: NONE})
    assert judged(project)[3] == {"PEST", "TOOL", "SOAP"}


def test_labels_that_come_in_are_about_the_types_of_their_file(project, tmp_path):
    for name, text in (
        ("head", "# COLOUR: colours\n# SHAPE: shapes\nThe [red](COLOUR) one\n"),
        ("others", "A [round](FORM) one\n"),
        ("same", "The [moths](PEST) came\n"),
    ):
        (tmp_path / name).write_text(text)
        with stream(tmp_path / name) as documents:
            project.add(documents, lambda documents=documents: documents.types)
    found = [judged(project)[id] for id in sorted(judged(project))]
    assert found[0] == {"COLOUR", "SHAPE"}
    assert found[1] == {"FORM"}
    assert found[2] >= {"PEST"}


def test_labels_that_share_words_are_refused(project, tmp_path):
    (tmp_path / "nested").write_text("The [[slugs](PEST) of Spain](KIND)\n")
    with stream(tmp_path / "nested") as documents, pytest.raises(DataError, match="keep one layer"):
        project.add(documents, lambda: documents.types)
    assert [document.text for document in project.documents()] == TEXTS
    labels = [{"start": 0, "end": 2, "type": "PEST"}, {"start": 0, "end": 1, "type": "TOOL"}]
    with pytest.raises(DataError, match=r"'Slugs ate' \(PEST\) and 'Slugs' \(TOOL\) share a word"):
        decided(Document.of(TEXTS[0]).sentences[0], "label", labels, ["PEST", "TOOL"])


def test_a_decision_counts_for_sentences_with_the_same_words(project):
    project.decide("label", {2: State("labelled", (Span(2, 3, "TOOL"),))}, {2: 0})
    labelled = [sentence for document in project.documents() for sentence in document.sentences if sentence.spans]
    assert [sentence.span_text(sentence.spans[0]) for sentence in labelled] == ["soap", "soap"]
    assert len(list(project.documents(only_decided=True))) == 2


def test_what_somebody_else_changed_is_not_overwritten(project):
    with Project(project.path, "bob") as other:
        version = project.decide("label", {1: PEST}, {1: 0})
        with pytest.raises(StaleError, match="sentence 1 was changed in the meantime"):
            other.decide("nothing", {3: NONE, 1: NONE}, {3: 0, 1: 0})
        assert states(project) == {1: PEST}  # none of it was written
        other.decide("nothing", {1: NONE}, {1: version})
        assert states(project) == {1: NONE}


def test_a_decision_that_changes_nothing_is_no_entry(project):
    version = project.decide("label", {1: PEST}, {1: 0})
    assert project.decide("label", {1: PEST}, {1: version}) == version
    assert project.decide("reset", {3: NEW}) == version
    assert project.count_undo() == (1, 0)


def test_undo_and_redo(project):
    project.decide("label", {1: PEST})
    project.decide("review", {1: NONE, 3: PEST})
    undone = project.undo()
    assert (undone.n_steps, sorted(undone.sentences), states(project)) == (1, [1, 3], {1: PEST})
    assert project.undo(5).n_steps == 1
    assert (states(project), project.count_undo()) == ({}, (0, 2))
    assert project.redo(5).n_steps == 2
    assert states(project) == {1: NONE, 3: PEST}
    project.undo()
    project.decide("nothing", {5: NONE})
    assert (project.redo().n_steps, states(project)) == (0, {1: PEST, 5: NONE})


def test_undo_outlives_the_process(project):
    project.decide("label", {1: PEST})
    project.decide("nothing", {3: NONE})
    project.undo()
    with Project(project.path, "bob") as other:
        assert other.count_undo() == (1, 1)
        assert other.undo().sentences == [1]
        assert other.redo(2).n_steps == 2
    assert states(project) == {1: PEST, 3: NONE}


def test_what_the_project_began_with_cannot_be_undone(tmp_path):
    with Project(tmp_path / "p.db") as project:
        project.add([Document.of(Sentence(("Slugs", "!"), (Span(0, 1, "PEST"),)))], lambda: [EntityType("PEST")])
        assert project.undo().n_steps == 0
        project.add([Document.of(Sentence(("Aphids", "!"), (Span(0, 1, "BUG"),)))], lambda: [EntityType("BUG")])
        undone = project.undo()
        assert (undone.sentences, undone.has_types) == ([2], True)
        assert [one["name"] for one in project.types()] == ["PEST"]
        assert len(list(project.sentences())) == 2


def test_texts_go_out_and_come_in_again(project):
    def there(of=project):
        return [document.text for document in of.documents()]

    project.decide("label", {2: PEST})
    project.remove([1, 3])
    assert there() == [TEXTS[1], TEXTS[3]]
    assert read(project.path) == [sentence for document in project.documents() for sentence in document.sentences]
    mirror = Mirror(project)
    assert (list(mirror.entries), mirror.count_labels()["PEST"]) == ([3, 5], 0)
    project.undo()
    assert mirror.follow() == ([], False, True)
    assert (list(mirror.entries), mirror.count_labels()["PEST"]) == ([1, 2, 3, 5], 1)
    project.remove([1])
    mirror.follow()
    assert (list(mirror.entries), mirror.entries[2].text_id) == ([2, 3, 5], 3)  # its words are in another text
    assert project.add([Document.of(TEXTS[0])]).n_known == 1  # as when the command is started again
    assert TEXTS[0] not in there()
    added = project.add(map(Document.of, [TEXTS[0], "Bees came."]), is_step=True)
    assert (added.n_texts, added.n_sentences, added.n_known) == (2, 3, 0)
    assert there() == [*TEXTS, "Bees came."]
    assert project.undo().n_texts == 2
    assert there() == TEXTS[1:]
    project.redo()
    with Project(project.path) as again:
        assert there(again) == [*TEXTS, "Bees came."]


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("decide"), st.sampled_from([1, 2, 3, 5]), st.sampled_from([PEST, NONE, NEW])),
        st.tuples(st.just("rename"), st.sampled_from(["PEST", "BUG"]), st.just(0)),
        st.tuples(st.just("undo"), st.integers(1, 3), st.just(0)),
        st.tuples(st.just("redo"), st.integers(1, 3), st.just(0)),
    ),
    max_size=12,
)


@examples(15)
@given(STEPS)
def test_undo_is_that_of_a_stack(steps):
    """The oracle keeps whole copies of everything; the project only its log."""
    with tempfile.TemporaryDirectory() as folder, Project(Path(folder) / "p.db") as project:
        project.add(map(Document.of, TEXTS), lambda: [EntityType("PEST")])

        def everything():
            return [one["name"] for one in project.types()], states(project)

        past, future = [], []
        for action, what, state in steps:
            before = everything()
            if action == "undo":
                project.undo(what)
                for _ in range(min(what, len(past))):
                    future.append(before)
                    before = past.pop()
                assert everything() == before
            elif action == "redo":
                project.redo(what)
                for _ in range(min(what, len(future))):
                    past.append(before)
                    before = future.pop()
                assert everything() == before
            else:
                if action == "decide":
                    project.decide("label", {what: state})
                elif (what in before[0]) and len(before[0]) == 1:
                    project.change_types("rename", what, "BUG" if what == "PEST" else "PEST")
                if everything() != before:
                    past.append(before)
                    future.clear()
            assert project.count_undo() == (len(past), len(future))


def test_the_log_only_grows(project):
    project.decide("label", {1: PEST})
    connection = sqlite3.connect(project.path)
    for statement in ("UPDATE log SET after = NULL", "DELETE FROM log"):
        with pytest.raises(sqlite3.IntegrityError, match="the log only grows"):
            connection.execute(statement)
    author, action = connection.execute("SELECT author, action FROM log ORDER BY seq DESC LIMIT 1").fetchone()
    assert (author, action) == ("anna", "label")
    connection.close()


DECIDE_FOR_EVER = """
import sys
from handful.text import Span
from handful.text.projects import State
from handful.workbench import Project

project, n = Project(sys.argv[1], "victim"), int(sys.argv[2])
while True:
    n += 1
    seq = project.decide("label", {n % 4 + 1: State("labelled", (Span(0, 1, f"T{n}"),))})
    print(seq, n % 4 + 1, f"T{n}", flush=True)
"""


def test_kill_9_loses_nothing_that_was_confirmed(tmp_path):
    path = tmp_path / "p.db"
    with Project(path) as project:
        project.add([Document.of(f"Text number {i} ends here.") for i in range(4)])
    confirmed = {}
    n = 0
    for seed in range(4):
        process = subprocess.Popen(
            [sys.executable, "-c", DECIDE_FOR_EVER, str(path), str(n)], stdout=subprocess.PIPE, text=True
        )
        for line in itertools.islice(process.stdout, random.Random(seed).randrange(3, 40)):
            seq, subject, name = line.split()
            confirmed[int(subject)] = (int(seq), name)
        process.send_signal(signal.SIGKILL)
        rest, _ = process.communicate()
        for line in rest.splitlines():
            if len(parts := line.split()) == 3:
                confirmed[int(parts[1])] = (int(parts[0]), parts[2])
        assert process.returncode == -signal.SIGKILL
        n += 1000
        with Project(path) as project:
            assert project._one("PRAGMA integrity_check") == "ok"
            found = project.states()
            last = max(seq for seq, _ in confirmed.values())
            assert last <= project.version <= last + 1  # one may have been written, and not said
            for subject, (seq, name) in confirmed.items():
                assert found[subject][0] >= seq
                if found[subject][0] == seq:
                    assert found[subject][1].spans[0].type == name


def test_two_writers_lose_nothing(tmp_path):
    """Each adds one to a counter in the same sentence: if one overwrote the other, the sum would be less."""
    path = tmp_path / "p.db"
    with Project(path) as project:
        project.add([Document.of("one two three")])
    n_each, n_stale = 25, [0, 0]

    def work(which):
        with Project(path, str(which)) as project:
            done = 0
            while done < n_each:
                version, state = project.states().get(1, (0, NEW))
                count = int(state.spans[0].type[1:]) if state.spans else 0
                try:
                    project.decide("label", {1: State("labelled", (Span(0, 1, f"T{count + 1}"),))}, {1: version})
                    done += 1
                except StaleError:
                    n_stale[which] += 1

    threads = [threading.Thread(target=work, args=(which,)) for which in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with Project(path) as project:
        assert project.states()[1][1].spans[0].type == f"T{2 * n_each}"
        assert project.count_undo() == (2 * n_each, 0)


def test_types_are_changed_in_all_labels(project):
    project.decide("label", {1: State("labelled", (Span(0, 1, "PEST"), Span(3, 4, "TOOL"))), 3: PEST})
    preview = project.change_types("rename", "PEST", "BUG", preview=True)
    assert (preview.n_labels, sorted(preview.states), [one["name"] for one in project.types()]) == (
        2,
        [1, 3],
        ["PEST", "TOOL"],
    )
    project.change_types("rename", "PEST", "BUG")
    assert [span.type for span in states(project)[1].spans] == ["BUG", "TOOL"]
    project.change_types("remove", "BUG")
    assert states(project) == {1: State("labelled", (Span(3, 4, "TOOL"),)), 3: NONE}
    undone = project.undo(2)
    assert (undone.has_types, states(project)[3]) == (True, PEST)
    for action, name, value in (
        ("add", "PEST", ("", None)),
        ("rename", "PEST", "TOOL"),
        ("rename", "PEST", "O"),
        ("add", "A|B", ("", None)),
        ("add", " A", ("", None)),
        ("add", "A", ("", -1)),
        ("add", "A", (7, None)),
        ("remove", "nobody", None),
        ("colour", "PEST", 360),
        ("colour", "PEST", "red"),
        ("colour", "PEST", None),
        ("paint", "PEST", 3),
        ("add", "x" * 101, ("", None)),
        ("describe", "PEST", 7),
    ):
        with pytest.raises(DataError):
            project.change_types(action, name, value)


def test_partial_labels_follow_their_types(tmp_path):
    words = "The box and the slug sat here ."
    tags = ["_", "TOOL|PLANT", "_", "!TOOL", "TOOL", "!O", "O|TOOL", "O"]
    path = tmp_path / "x.conll"
    path.write_text("".join(f"{w} {t}\n" for w, t in zip(words.split(), tags, strict=True)), encoding="utf-8")
    with Project(tmp_path / "p.db") as project:
        documents = stream(path, "conll", scheme="types")
        project.add(documents, lambda: documents.types)
        before = states(project)[1]
        assert before.status == "partial"
        project.change_types("rename", "TOOL", "GEAR")
        project.change_types("rename", "GEAR", "TOOL")
        assert states(project)[1] == before
        project.change_types("remove", "TOOL")
        (sentence,) = next(project.documents()).sentences
        assert [str(one) for one in sentence.constraints()] == ["_", "O|PLANT", "_", "_", "O", "_", "O", "O"]


def test_a_type_becomes_a_part_of_another_one(project):
    both = State("labelled", (Span(0, 1, "PEST"), Span(3, 4, "TOOL")))
    project.decide("label", {1: both})
    project.change_types("add", "BUG", ("small animals", None))
    project.decide("label", {3: State("labelled", (Span(0, 1, "BUG"),))})
    change = project.change_types("merge", "BUG", "PEST")
    assert (change.n_labels, list(change.states)) == (1, [1, 3])
    assert states(project)[3].spans == (Span(0, 1, "PEST"),)
    assert judged(project) == {1: {"TOOL"}, 3: {"PEST", "TOOL"}}  # nobody has looked for bugs in the first sentence
    assert [one["name"] for one in project.types()] == ["PEST", "TOOL"]
    project.undo()
    assert states(project)[3].spans == (Span(0, 1, "BUG"),)
    project.change_types("merge", "PEST", "BUG")
    assert judged(project) == {1: {"TOOL"}, 3: {"TOOL", "BUG"}}
    assert states(project)[1].spans == (Span(0, 1, "BUG"), Span(3, 4, "TOOL"))
    for value in ("BUG", "nobody", None, ["TOOL"]):
        with pytest.raises(DataError, match="name another type"):
            project.change_types("merge", "BUG", value)


def test_a_type_becomes_one_of_several(project):
    project.decide("label", {1: State("labelled", (Span(0, 1, "PEST"), Span(3, 4, "TOOL"))), 3: PEST})
    project.decide("unsure", {5: State("unsure", (Span(0, 1, "PEST"), Span(1, 2, "TOOL")))})
    change = project.change_types("split", "PEST", ["PEST", "MOLLUSC"])
    assert change.n_labels == 3
    assert [(one["name"], one["key"]) for one in project.types()] == [("PEST", "1"), ("TOOL", "2"), ("MOLLUSC", "3")]
    open_word = states(project)[1]
    assert (open_word.status, open_word.spans) == ("partial", (Span(3, 4, "TOOL"),))
    assert [str(one) for one in open_word.allowed if one] == ["MOLLUSC|PEST"]
    assert states(project)[5] == State("unsure", (Span(1, 2, "TOOL"),))
    assert list(project.documents(only_decided=True)) == []
    project.undo()
    assert states(project)[3] == PEST
    for value in (["PEST"], ["A", "TOOL"], ["A", "tool"], "AB", None, ["A", 7]):
        with pytest.raises(DataError):
            project.change_types("split", "PEST", value)


def test_several_changes_of_types_are_one_step(project):
    project.decide("label", {3: PEST})
    steps = [("describe", "PEST", "bugs"), ("rename", "PEST", "BUG"), ("merge", "TOOL", "BUG")]
    assert project.change_types("several", "", steps, preview=True).n_labels == 1
    project.change_types("several", "", steps)
    assert [(one["name"], one["description"]) for one in project.types()] == [("BUG", "bugs")]
    assert states(project)[3].spans[0].type == "BUG"
    with pytest.raises(DataError, match="no type"):
        project.change_types("several", "", [("rename", "BUG", "FLY"), ("remove", "BUG", None)])
    assert [one["name"] for one in project.types()] == ["BUG"]  # all of it, or none
    project.undo()
    assert [one["name"] for one in project.types()] == ["PEST", "TOOL"]


def test_texts_come_in_once_and_bring_labels_where_there_are_none(project):
    project.decide("label", {3: PEST})
    bug = Sentence(("Aphids", "again", "!"), (Span(0, 1, "BUG"),), None, "Aphids again!", (0, 7, 12))
    none = Document.of("Nothing here.")
    labelled = none.with_sentences([State("none").on(none.sentences[0])])
    added = project.add([Document.of(bug), labelled, Document.of("New."), Document("  ", ())])
    assert (added.n_texts, added.n_sentences, added.n_labelled, added.n_known, added.n_kept) == (1, 1, 1, 2, 1)
    assert states(project) == {3: PEST, 5: NONE}
    assert len(added.notes("handful-en")) == 2


def test_a_malformed_file_adds_nothing(project, tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text('{"text": "One."}\n{"text": \n', encoding="utf-8")
    with pytest.raises(FormatError), stream(path) as documents:
        project.add(documents)
    assert len(list(project.documents())) == 4
    with pytest.raises(DataError, match="surrogate"):
        project.add([Document.of(["a\ud800b"])])
    assert len(list(project.documents())) == 4


def test_every_format_reads_what_a_project_writes(project, tmp_path):
    project.decide("label", {1: PEST, 5: NONE})
    project.decide("unsure", {3: State("unsure", (Span(0, 1, "PEST"),))})
    from_project = read(project.path)
    assert (from_project.report.format, from_project.report.n_sentences) == ("project", 5)
    assert [str(one) for one in from_project.types] == ["PEST", "TOOL"]
    assert from_project[2].is_unlabelled  # nobody was sure
    for format in ("conll", "prodigy", "huggingface", "doccano", "spacy", "label-studio", "jsonl", "inline"):
        write(project.documents(), tmp_path / "out", format)
        again = read(tmp_path / "out", format, **({"scheme": "BIO"} if format == "conll" else {}))
        assert [s.spans[0].type for s in again if s.spans] == ["PEST"], format


def test_documents_keep_their_ids_and_what_came_with_them(tmp_path):
    source = tmp_path / "in.jsonl"
    source.write_text('{"text": "Slugs!", "id": 7, "weather": {"rain": true}}\n', encoding="utf-8")
    with Project(tmp_path / "p.db") as project, stream(source) as documents:
        project.add(documents)
        (document,) = project.documents()
    assert (document.id, document.meta) == (7, {"weather": {"rain": True}})


@pytest.mark.parametrize(
    ("table", "column", "value"),
    [
        *(
            ("sentences", "words", value)
            for value in ("", "[", "{}", "[]", "[0]", '["a", 1]', "[0, 99]", "[4, -1]", "[1.0, 1]")
        ),
        *(("sentences", "words", value) for value in ("[5, 0, 5, 2]", "[0, 0]", None, b"\xff", "[" * 100_000)),
        *(("sentences", "start", value) for value in (-1, 10**6, "x")),
        ("sentences", "stop", 10**6),
        *(("texts", "meta", value) for value in ("", "[]", b"\xff")),
        *(("texts", "name", value) for value in ("{", "[]")),
        ("texts", "text", b"\xff"),
        *(("log", "after", value) for value in ("", "[]", "{}", '{"status": "odd"}', '{"status": []}', b"\xff")),
        *(
            ("log", "after", f'{{"status": "labelled", "spans": {spans}}}')
            for spans in ("3", "[3]", '[[0, 99, "PEST"]]')
        ),
        *(
            ("log", "after", f'{{"status": "labelled", "spans": {spans}}}')
            for spans in ('[["0", 1, "PEST"]]', "[[0, 1, 3]]", "[[0, 1, []]]")
        ),
        ("log", "after", '{"status": "partial", "allowed": [3]}'),
        ("log", "subject", "x"),
        *(("types", "after", value) for value in ("[3]", "3", '[{"name": "PEST"}]', "[[]]", b"\xff")),
        ("types", "after", '[{"name": "PEST", "description": "", "colour": "red", "key": null}]'),
        *(("text", "after", value) for value in ("", "3", b"\xff", None)),
        ("undone", "undoes", 99),
        ("undone", "step", "x"),
    ],
)
def test_a_project_that_somebody_has_changed_is_said_to_be_damaged(project, table, column, value):
    project.decide("label", {1: PEST})
    project.decide("label", {2: PEST})
    project.undo()
    project.remove([2])
    project.close()
    table, rows = {
        "text": ("log", "subject = -2"),
        "log": ("log", "subject = 1"),
        "types": ("log", "subject = 0"),
        "undone": ("log", "undoes IS NOT NULL"),
    }.get(table, (table, "true"))
    connection = sqlite3.connect(project.path, isolation_level=None)
    connection.execute("DROP TRIGGER log_only_grows")
    connection.execute("PRAGMA ignore_check_constraints = ON")
    if value is None:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET sql = replace(sql, 'words TEXT NOT NULL', 'words TEXT')")
        connection.close()
        connection = sqlite3.connect(project.path, isolation_level=None)
    connection.execute(f"UPDATE {table} SET {column} = ? WHERE {rows}", (value,))
    connection.close()

    def use():
        with Project(project.path) as again:
            Mirror(again).labelled()
            list(again.documents())
            again.types()
            again.count_undo()

    with pytest.raises(FormatError, match=r"p\.db: the project is damaged"):
        use()
    if column not in ("undoes", "step"):  # which reading does not look at
        with pytest.raises(FormatError, match=r"p\.db: the project is damaged"):
            read(project.path)


def test_an_index_that_contradicts_its_table_is_damage(project):
    project.decide("label", {1: PEST})
    project.close()
    for before, after in (("subject, seq", "seq, subject"), ("seq, subject", "subject, seq")):
        with closing(sqlite3.connect(project.path, isolation_level=None)) as connection:
            connection.execute("PRAGMA writable_schema = ON")
            connection.execute(
                "UPDATE sqlite_master SET sql = replace(sql, ?, ?) WHERE type = 'index'", (before, after)
            )
        if before == "subject, seq":
            with closing(sqlite3.connect(project.path, isolation_level=None)) as connection:
                connection.execute("REINDEX log_of_subject")
    with pytest.raises(FormatError, match=r"damaged: row 1 missing from index .*; go back to an earlier copy"):
        Project(project.path)
    with pytest.raises(FormatError, match="damaged: row 1 missing from index"):
        read(project.path)


def test_an_error_does_not_keep_a_damaged_project_locked(project):
    project.close()
    with closing(sqlite3.connect(project.path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode = DELETE")
        connection.execute("UPDATE sentences SET words = '[' WHERE id = 1")
    with pytest.raises(FormatError, match="is damaged") as kept:
        read(project.path)
    with closing(sqlite3.connect(project.path, isolation_level=None, timeout=0)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
    assert kept.value


def test_half_of_a_surrogate_pair_is_not_stored(project):
    with pytest.raises(DataError, match="half of a surrogate pair"):
        project.change_types("add", "NEW", ("\ud800", None))
    assert "NEW" not in [one["name"] for one in project.types()]
    n_texts = len(list(project.documents()))
    with pytest.raises(DataError, match="half of a surrogate pair"):
        project.add([Document.of("a new text"), Document.of("so \ud800 left")])
    assert len(list(project.documents())) == n_texts


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such pipes")
@pytest.mark.parametrize("make", [lambda path: os.mkfifo(path), Path.mkdir, lambda path: path.symlink_to("/dev/zero")])
def test_pipes_folders_and_devices_are_no_projects(tmp_path, make):
    make(tmp_path / "p.db")
    with pytest.raises(FileError, match="is not a project"):
        Project(tmp_path / "p.db")


def test_what_is_not_a_project_is_refused(tmp_path):
    text, other, newer = tmp_path / "a.txt", tmp_path / "other.db", tmp_path / "newer.db"
    text.write_text("text", encoding="utf-8")
    with pytest.raises(FileError, match="is not a project"):
        Project(text)
    with pytest.raises(FormatError, match="not a project"):
        read(text, "project")
    connection = sqlite3.connect(other)
    connection.execute("CREATE TABLE a (b)")
    connection.close()
    with pytest.raises(FormatError, match="not a project"):
        read(other)
    Project(newer).close()
    with pytest.raises(FormatError, match="not conll"):
        read(newer, "conll")
    connection = sqlite3.connect(newer)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(FormatError, match="has format 99"):
        Project(newer)
    damaged = tmp_path / "damaged.db"
    damaged.write_bytes(b"SQLite format 3\0" + b"\xff" * 200)
    with pytest.raises((FormatError, FileError), match=r"damaged\.db"):
        read(damaged)
    with pytest.raises(FileError, match="cannot be"):
        Project(tmp_path / "nowhere" / "p.db")


def test_a_full_disk_refuses_a_decision_and_keeps_those_before(tmp_path):
    with make_project(tmp_path / "p.db") as project:
        first = next(id for id, *_ in project.sentences())
        project.decide("nothing", {first: State("none")})
        before = project.states()
        project._connection.execute("PRAGMA max_page_count = 1")
        with pytest.raises(FileError, match="is full; make room on the disk, and try again"):
            project.add([Document.of("A long text. " * 20_000)])
        assert project.states() == before
    with Project(tmp_path / "p.db") as project:
        assert project.states() == before


def test_a_project_is_read_like_any_other_file(project):
    with stream(project.path) as documents:
        assert [documents.is_ready(0) for _ in documents] == [True] * len(TEXTS)
        assert documents.share is None


FOREVER = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i AS id, '', NULL, '{}', x'' FROM n"


@pytest.mark.parametrize(
    "change",
    [
        f"DROP TABLE texts; CREATE VIEW texts (id, text, name, meta, digest) AS {FOREVER}",
        "CREATE TRIGGER more AFTER INSERT ON log BEGIN UPDATE texts SET text = printf('%.*c', 900000000, 'x'); END",
        "ALTER TABLE texts ADD COLUMN more TEXT GENERATED ALWAYS AS (printf('%.*c', 900000000, 'x')) VIRTUAL",
        "CREATE INDEX more ON texts (printf('%.*c', 1000, text))",
        "CREATE TABLE more (a)",
        "DROP INDEX log_of_step",
        "PRAGMA writable_schema = ON; INSERT INTO sqlite_master VALUES ('trigger', 'sqlite_more', 'log', 0, "
        "'CREATE TRIGGER sqlite_more AFTER INSERT ON log BEGIN SELECT 1; END')",
    ],
)
def test_tables_that_are_not_ours_are_refused_before_they_are_read(tmp_path, change):
    """What is in a project of a stranger could compute for ever, or fill the disk."""
    make_project(tmp_path / "p.db").close()
    connection = sqlite3.connect(tmp_path / "p.db")
    connection.executescript(change)
    connection.close()
    size = (tmp_path / "p.db").stat().st_size
    with pytest.raises(FormatError, match=r"handful did not make|is missing"):
        Project(tmp_path / "p.db")
    with pytest.raises(FormatError, match=r"handful did not make|is missing"):
        read(tmp_path / "p.db")
    assert (tmp_path / "p.db").stat().st_size == size


def test_a_language_that_the_encoder_does_not_know_is_said_when_text_comes(tmp_path):
    lines = [
        "wir sind heute morgen mit dem zug nach hause gefahren und haben freunde getroffen.",
        "dort gab es einen markt, auf dem man brot und obst kaufen kann, aber wir hatten nicht viel zeit.",
        "sie haben uns von der reise nach ulm erzählt, und wir haben bei ihnen gegessen.",
    ]
    with Project(tmp_path / "a.db", "me") as project:
        added = project.add([Document.of(line) for line in lines])
        (note,) = added.notes("handful-en")
        assert note.startswith("the text looks like German, and handful-en knows English only: expect little; fit with")
        assert added.notes("some/folder") == []  # it does not say what it knows
