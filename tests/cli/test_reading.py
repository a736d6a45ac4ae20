"""How odd files are brought into shape, and tables in and out."""

import csv
import io
import json

import pytest
from commands import SUPPORT, failed, run

from handful.text import read, stream

LINE = "[Ekeus](PERSON) heads for [Baghdad](GPE) on Thursday .\n"
NUMBERS = {"tokens": ["Ekeus", "heads", "for", "Baghdad"], "ner_tags": [1, 0, 0, 3]}
NAMES = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC"]


@pytest.fixture
def news(tmp_path):
    path = tmp_path / "news.txt"
    path.write_text(LINE * 3)
    return path


@pytest.fixture
def converted(tmp_path):
    """Return a function that converts a file, and counts the mentions in the result."""

    def convert(file, *options):
        result = run("convert", file, tmp_path / "converted.txt", "--to", "conll", *options)
        assert result.exit_code == 0
        (figures,) = json.loads(run("stats", tmp_path / "converted.txt", "--json").stdout)
        return figures["mentions"]

    return convert


def convert(file, *options):
    """Convert a file to standard output."""
    return run("convert", file, "-", "--to", "conll", *options)


def test_types_are_chosen_and_renamed(news, converted):
    assert converted(news) == {"GPE": 3, "PERSON": 3}
    assert converted(news, "--keep", "GPE") == {"GPE": 3}
    assert converted(news, "--drop", "GPE") == {"PERSON": 3}
    assert converted(news, "--rename", "GPE=LOC,PERSON=PER") == {"LOC": 3, "PER": 3}
    assert converted(news, "--rename", "GPE=X,PERSON=X") == {"X": 6}
    assert converted(news, "--keep", "LOC", "--rename", "GPE=LOC") == {"LOC": 3}
    noted = convert(news, "--keep", "LOC").stderr
    assert "1 type of --keep, --drop and --rename is not in the file: LOC (it has GPE, PERSON)" in noted


def test_renaming_needs_two_names(news):
    for odd in ("GPE", "GPE=", "=LOC"):
        assert convert(news, "--rename", odd).exit_code == 2
    assert failed(convert(news, "--keep", "GPE", "--drop", "GPE"), "'GPE' cannot be both kept and dropped")


@pytest.mark.parametrize(
    "content", ["\n".join(NAMES), json.dumps(NAMES), json.dumps({"id2label": dict(enumerate(NAMES))})]
)
def test_numbers_for_tags_have_names(tmp_path, converted, content):
    (tmp_path / "tags.jsonl").write_text(json.dumps(NUMBERS))
    message = "as in handful convert --tag-names O,B-PER,I-PER, or give a file"
    assert failed(run("stats", tmp_path / "tags.jsonl"), message)
    assert converted(tmp_path / "tags.jsonl", "--tag-names", ",".join(NAMES)) == {"LOC": 1, "PER": 1}
    (tmp_path / "names").write_text(content)
    assert converted(tmp_path / "tags.jsonl", "--tag-names", tmp_path / "names") == {"LOC": 1, "PER": 1}
    (tmp_path / "names").write_text("{}")
    result = convert(tmp_path / "tags.jsonl", "--tag-names", tmp_path / "names")
    assert failed(result, "there are no names of tags")


def test_several_annotators(tmp_path, converted):
    records = [
        {"text": "Ekeus left", "_session_id": f"x-{name}", "spans": spans}
        for name, spans in (("anna", [{"start": 0, "end": 5, "label": "PER"}]), ("ben", []))
    ]
    (tmp_path / "two.jsonl").write_text("\n".join(map(json.dumps, records)))
    assert failed(run("stats", tmp_path / "two.jsonl"), "handful convert --annotator first, majority or agree")
    assert converted(tmp_path / "two.jsonl", "--annotator", "anna") == {"PER": 1}
    assert converted(tmp_path / "two.jsonl", "--annotator", "ben") == {}
    assert failed(convert(tmp_path / "two.jsonl", "--annotator", "cleo"), "there are x-anna, x-ben")


def test_text_in_another_encoding(tmp_path):
    (tmp_path / "old.txt").write_bytes("die Käfer in Zürich\n".encode("latin-1"))
    assert failed(run("stats", tmp_path / "old.txt"), "handful convert --encoding cp1252")
    arguments = ["convert", tmp_path / "old.txt", tmp_path / "new.txt", "--to", "text"]
    assert run(*arguments, "--encoding", "latin-1").exit_code == 0
    assert (tmp_path / "new.txt").read_text(encoding="utf-8") == "die Käfer in Zürich\n"


def test_errors_in_an_array_name_the_record(tmp_path):
    records = [{"id": "a", "text": "x", "label": []}, {"id": "b7", "text": "y", "label": [[0, 9, "X"]]}]
    (tmp_path / "a.json").write_text(json.dumps(records))
    assert failed(run("stats", tmp_path / "a.json"), "a.json: record 2 (id b7): the span 0:9 (X) is not in the text")
    (tmp_path / "a.json").write_text(json.dumps(records, indent=1))
    assert failed(run("stats", tmp_path / "a.json"), "a.json:7: record 2 (id b7): the span")


def test_a_slip_in_every_mark_is_named(tmp_path):
    (tmp_path / "few.txt").write_text(SUPPORT.replace("](", "] ("))
    for command in (["stats"], ["fit", "--out", tmp_path / "out"]):
        result = run(*command, tmp_path / "few.txt")
        assert failed(result, "few.txt:1: '[Ekeus] (PER)' has white space between its brackets; write [Ekeus](PER)")


def test_odd_labels_are_converted_for_fit_and_evaluate(inside, tmp_path):
    spans = [{"start": 0, "end": 4, "label": "PERSON"}, {"start": 16, "end": 23, "label": "GPE"}]
    record = {"body": "Ekeus heads for Baghdad on Thursday .", "marks": spans}
    (tmp_path / "odd.jsonl").write_text(json.dumps(record) + '\n{"body": 3}\n')
    (tmp_path / "more.csv").write_text("id,body\n1,The official heads for Paris .\n")
    given = ["--text-field", "body", "--label-field", "marks", "--rename", "PERSON=PER,GPE=LOC"]
    odd, few = tmp_path / "odd.jsonl", tmp_path / "few.conll"
    assert failed(convert(odd, *given), "odd.jsonl:1: the span 0:4 'Ekeu' (PERSON) does not fall on word borders")
    assert failed(run("convert", odd, few, "--to", "conll", *given, "--widen"), "odd.jsonl:2: ")
    result = run("convert", odd, few, "--to", "conll", *given, "--widen", "--skip-malformed")
    assert "1 span was widened" in result.stderr
    assert "1 malformed place was skipped" in result.stderr
    fit = ["fit", few, "-u", tmp_path / "more.csv", "--text-field", "body", "--encoder", "encoder"]
    fitted = run(*fit, "--out", tmp_path / "out", "--json")
    assert fitted.exit_code == 0
    assert json.loads(fitted.stdout)["mentions"] == {"LOC": 1, "PER": 1}
    assert json.loads(fitted.stdout)["n_unlabelled_words"] == 6
    scored = run("evaluate", "model", few, "--json")
    assert set(json.loads(scored.stdout)["scores"]["strict"]["by_type"]) == {"LOC", "PER"}


TABLE = 'when,body,id\nmonday,"Ekeus heads for ""Paris"" ,\nof all places .",7\ntuesday,the rain,8\n'


def test_predict_keeps_the_columns_of_a_table(inside, tmp_path):
    (tmp_path / "in.csv").write_text(TABLE)
    assert failed(run("predict", "model", tmp_path / "in.csv"), "this is a table, and it is not clear which column")
    arguments = ["predict", "model", tmp_path / "in.csv", "--text-field", "body", "--out"]
    for name, separator in (("out.csv", ","), ("out.tsv", "\t")):
        assert run(*arguments, tmp_path / name).exit_code == 0
        found = list(csv.DictReader(io.StringIO((tmp_path / name).read_text(), newline=""), delimiter=separator))
        assert list(found[0]) == ["when", "body", "id", "entities"]
        text = found[0]["body"]
        assert (text, found[1]["id"]) == ('Ekeus heads for "Paris" ,\nof all places .', "8")
        entities = json.loads(found[0]["entities"])
        assert all(text[one["start"] : one["end"]] == one["word"] and one["score"] for one in entities)
        assert [one["word"] for one in entities][:1] == ["Ekeus"]
    assert run(*arguments, tmp_path / "out.jsonl").exit_code == 0
    records = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [(one["when"], one["id"], one["body"][:5]) for one in records] == [
        ("monday", "7", "Ekeus"),
        ("tuesday", "8", "the r"),
    ]


FORMATS = ["jsonl", "prodigy", "doccano", "spacy", "label-studio", "docbin", "huggingface", "gliner", "csv"]


@pytest.mark.parametrize("to", FORMATS)
def test_predict_keeps_what_comes_with_a_record(inside, tmp_path, to):
    record = {"id": "x7", "text": "Ekeus heads for Paris .", "meta": {"from": ["x"]}, "page": 3}
    (tmp_path / "in.jsonl").write_text(json.dumps(record))
    result = run("predict", "model", tmp_path / "in.jsonl", "--to", to, "--out", tmp_path / "out")
    assert result.exit_code == 0
    annotator = "handful" if to == "label-studio" else None
    (back,) = stream(tmp_path / "out", to, annotator=annotator)
    fields = {"meta": {"from": ["x"]}, "page": 3}
    if to == "csv":
        fields = {"meta": '{"from": ["x"]}', "page": "3", "id": "x7", "text": record["text"]}
    if to == "label-studio":
        (task,) = json.loads((tmp_path / "out").read_text())
        fields["predictions"] = task["predictions"]
        assert (task["predictions"][0]["model_version"], "annotations" in task) == ("handful", False)
    assert (back.id, back.meta) == ("x7", fields)
    scores = [span.score for _, _, span in back.mentions()]
    keeps_scores = to not in ("doccano", "spacy", "huggingface", "gliner")
    assert scores
    assert all((score is not None) == keeps_scores for score in scores)
    assert ("mentions were written without their scores" in result.stderr) != keeps_scores


def test_what_is_labelled_is_an_annotation(news, tmp_path):
    assert run("convert", news, tmp_path / "out.json", "--to", "label-studio").exit_code == 0
    tasks = json.loads((tmp_path / "out.json").read_text())
    assert [len(task["annotations"][0]["result"]) for task in tasks] == [2, 2, 2]
    assert not any("predictions" in task for task in tasks)


def test_convert_to_and_from_a_docbin(news, tmp_path):
    assert run("convert", news, tmp_path / "out.spacy", "--to", "docbin").exit_code == 0
    assert [sentence.spans for sentence in read(tmp_path / "out.spacy")] == [sentence.spans for sentence in read(news)]
    result = run("convert", tmp_path / "out.spacy", "-", "--to", "inline")
    assert result.stdout == LINE * 3
    data = (tmp_path / "out.spacy").read_bytes()
    assert json.loads(run("stats", "-", "--json", input=data).stdout)[0]["format"] == "docbin"
