"""The types that a sentence was judged for: from files and back."""

import pytest

from handful.text import FORMATS, Document, Sentence, Span, read, stream, write
from handful.text.type_choice import TypeChoice
from handful.text.types import judged_together

PEOPLE = Sentence(("Pia", "has", "flu"), (Span(0, 1, "PER"),), judged={"PER", "LOC"})
ILLNESS = Sentence(("Flu", "in", "Rome"), (Span(0, 1, "DIS"),), judged={"DIS"})


def may_be(sentence, name):
    """Return for each word whether it may be of a type, given what its sentence was judged for."""
    return [name in entry for entry in sentence.opened().constraints()]


def test_a_head_says_which_types_were_looked_for(tmp_path):
    (tmp_path / "a.txt").write_text("# PER: people\n# LOC: places\n[Pia](PER) has flu\nnothing here\n")
    (tmp_path / "b.txt").write_text("[Pia](PER) has flu\nnothing here\n")
    assert [one.judged for one in read(tmp_path / "a.txt")] == [{"PER", "LOC"}] * 2
    assert [one.judged for one in read(tmp_path / "b.txt")] == [None] * 2


@pytest.mark.parametrize("format", [format for format in FORMATS if format != "text"])
def test_sentences_that_were_judged_for_other_types_come_back_as_such(tmp_path, format):
    write([PEOPLE, ILLNESS], tmp_path / "file", format)
    back = read(tmp_path / "file", format)
    for name in ("PER", "LOC", "DIS", "new"):
        assert [may_be(one, name) for one in back] == [may_be(one, name) for one in (PEOPLE, ILLNESS)]


@pytest.mark.parametrize(("format", "n_lost"), [("jsonl", 0), ("label-studio", 0), ("inline", 0), ("conll", 1)])
def test_a_head_that_names_a_type_without_a_mention_is_kept_where_files_pass_through(tmp_path, format, n_lost):
    (tmp_path / "a.txt").write_text("# PER: people\n# LOC: places\n[Pia](PER) has flu\nnothing here\n")
    with stream(tmp_path / "a.txt") as documents:
        notes = write(documents, tmp_path / "b", format).notes
    back = [one.judged for one in judged_together(read(tmp_path / "b"))]
    assert back == [{"PER"} if n_lost else {"PER", "LOC"}] * 2
    assert sum(n for note, n in notes.items() if "looked for" in note) == n_lost


@pytest.mark.parametrize("format", ["jsonl", "conll", "inline"])
def test_nothing_is_written_where_all_were_judged_for_the_types_of_the_file(tmp_path, format):
    write([Sentence(PEOPLE.words, PEOPLE.spans)], tmp_path / "plain", format)
    write([PEOPLE.judged_for(["PER"])], tmp_path / "judged", format)
    assert (tmp_path / "plain").read_text() == (tmp_path / "judged").read_text()


def test_sentences_of_a_document_that_differ_keep_all(tmp_path):
    two = Document.of("Pia left. Flu in Rome.")
    one, other = two.sentences
    two = two.with_sentences(
        [one.with_labels((Span(0, 1, "PER"),)).judged_for(["PER"]), other.with_labels(()).judged_for(["PER", "DIS"])]
    )
    write([two], tmp_path / "file", "jsonl")
    (back,) = read(tmp_path / "file")
    assert may_be(back, "DIS") == [False, True, True, False, False, False, False]
    assert may_be(back, "PER") == [True, False, False, False, False, False, False]


def test_a_field_of_another_kind_stays_with_the_record(tmp_path):
    (tmp_path / "file").write_text('{"text": "Pia left", "spans": [], "judged": true}\n')
    (sentence,) = read(tmp_path / "file")
    assert sentence.judged is None


def test_sentences_that_come_together():
    marked, unmarked = Sentence(("Pia", "left"), (Span(0, 1, "PER"),)), Sentence(("a", "dog"), ())
    both = [marked, unmarked, ILLNESS, Sentence(("not", "labelled"))]
    assert [one.judged for one in judged_together(both)] == [{"PER", "DIS"}, {"PER", "DIS"}, {"DIS"}, None]
    assert [one.judged for one in judged_together([marked, unmarked], known=["LOC"])] == [{"PER"}] * 2  # others alone
    assert [one.judged for one in judged_together([marked], known=["LOC", "PER"])] == [{"PER", "LOC"}]
    assert [one.judged for one in judged_together([unmarked], known=["LOC"])] == [{"LOC"}]
    assert [one.judged for one in judged_together([unmarked])] == [None]


def test_types_that_are_renamed_merged_or_left_out():
    sentence = Sentence(("Pia", "left"), (Span(0, 1, "PER"),), judged={"PER", "LOC", "GPE"})
    assert TypeChoice(rename={"PER": "HUMAN"}).sentence(sentence).judged == {"HUMAN", "LOC", "GPE"}
    assert TypeChoice(rename={"GPE": "LOC"}).sentence(sentence).judged == {"PER", "LOC"}
    assert TypeChoice(rename={"GPE": "LOC", "FAC": "LOC"}).sentence(sentence).judged == {
        "PER"
    }  # FAC was not looked for
    assert TypeChoice(drop=["LOC"]).sentence(sentence).judged == {"PER", "GPE"}
    assert TypeChoice(keep=["PER"]).sentence(sentence).judged == {"PER"}


def test_other_labels_text_and_no_labels():
    assert PEOPLE.with_labels(()).judged == PEOPLE.with_text().judged == {"PER", "LOC"}
    assert PEOPLE.without_labels().judged is None
    assert Sentence(("a",), judged=None).opened() == Sentence(("a",))
