"""Files as people have them: other encodings, arrays of texts, labels given twice, labels of some types only."""

import codecs
import json

import pytest

from handful.errors import FormatError
from handful.text import read, read_types, write


@pytest.mark.parametrize("text", ['["Ekeus left.", "He went to Baghdad."]', '[\n  "Ekeus left.",\n  "He went"\n]\n'])
def test_an_array_of_strings_is_texts(tmp_path, text):
    path = tmp_path / "texts.json"
    path.write_text(text, encoding="utf-8")
    corpus = read(path)
    assert corpus.report.format.startswith("json")
    assert [one.text for one in corpus] == json.loads(text)
    assert all(one.is_unlabelled for one in corpus)


def test_text_with_quotes_in_brackets_is_no_array(tmp_path):
    (tmp_path / "a.txt").write_text('["Yes", "No"] were the answers .\n', encoding="utf-8")
    assert read(tmp_path / "a.txt").report.format == "text"


@pytest.mark.parametrize(
    "record",
    [
        {"text": "Ekeus left", "entities": [[0, 5, "PER"], [0, 5, "PER"]]},
        {"tokenized_text": ["Ekeus", "left"], "ner": [[0, 0, "PER"], [0, 0, "PER"]]},
    ],
)
def test_a_span_that_is_given_twice_counts_once(tmp_path, record):
    (tmp_path / "a.jsonl").write_text(json.dumps(record), encoding="utf-8")
    corpus = read(tmp_path / "a.jsonl")
    assert [span.type for span in corpus[0].spans] == ["PER"]
    assert corpus.report.notes["spans were given twice and count once"] == 1
    assert corpus.report.n_skipped == 0


def test_the_hint_names_the_encoding_that_the_bytes_fit(tmp_path):
    (tmp_path / "a.txt").write_bytes("It cost 9 €.\n".encode("cp1252"))
    with pytest.raises(FormatError, match="encoding='cp1252'"):
        read(tmp_path / "a.txt")
    (tmp_path / "a.txt").write_bytes(b"caf\xe9 \x81\n")
    with pytest.raises(FormatError, match="encoding='latin-1'"):
        read(tmp_path / "a.txt")


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [(codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"), (codecs.BOM_UTF32_LE, "utf-32-le")],
)
def test_a_byte_order_mark_says_the_encoding(tmp_path, mark, encoding):
    (tmp_path / "a.txt").write_bytes(mark + "[Zoë](PER) heads for [Łódź](LOC) .\n".encode(encoding))
    assert read(tmp_path / "a.txt")[0].words == ("Zoë", "heads", "for", "Łódź", ".")
    (tmp_path / "t.txt").write_bytes(mark + "PER: people\n".encode(encoding))
    assert read_types(tmp_path / "t.txt")[0].name == "PER"


def test_judged_types_are_said(tmp_path):
    (tmp_path / "a.txt").write_text("[Zoë](PER) left\nno [DATE](X) here\n", encoding="utf-8")
    corpus = read(tmp_path / "a.txt", judged=["PER", "LOC"])
    assert [set(one.judged) for one in corpus] == [{"PER", "LOC"}, {"PER", "LOC", "X"}]
    write(corpus, tmp_path / "b.jsonl", "jsonl")
    assert [set(one.judged) for one in read(tmp_path / "b.jsonl")] == [{"PER", "LOC"}, {"PER", "LOC", "X"}]
