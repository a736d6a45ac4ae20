"""spaCy's DocBin, with spaCy itself."""

import gzip
import io
import os
import subprocess
import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st
from spacy.tokens import Doc, DocBin
from spacy.tokens import Span as SpacySpan
from spacy.vocab import Vocab

from handful.errors import DataError, FormatError, MissingExtraError
from handful.text import Allowed, Document, Sentence, Span, read, stream, write

from .strategies import modest, read_bytes, stream_bytes, text_sentences, written


def packed(*docs, **options):
    return DocBin(docs=docs, **options).to_bytes()


def docs_in(data):
    return list(DocBin().from_bytes(data).get_docs(Vocab()))


def test_what_spacy_writes(tmp_path):
    vocab = Vocab()
    doc = Doc(
        vocab, words=["Ekeus", "heads", "for", "\n", "New", "York", "."], ents=["B-PER", *"OOO", "B-GPE", "I-GPE", "O"]
    )
    doc.cats = {"news": 1.0}
    other = Doc(vocab, words=["Nobody", "looked"])
    DocBin(docs=[doc, other]).to_disk(tmp_path / "train.spacy")
    with stream(tmp_path / "train.spacy") as documents:
        first, second = documents
    assert documents.report.format == "docbin"
    assert first.text == doc.text == "Ekeus heads for \n New York . "
    (sentence,) = first.sentences
    assert sentence.words == ("Ekeus", "heads", "for", "New", "York", ".")
    assert sentence.spans == (Span(0, 1, "PER"), Span(3, 5, "GPE"))
    assert first.meta == {"cats": {"news": 1.0}}
    assert second.is_unlabelled
    assert read(tmp_path / "train.spacy", rename={"GPE": "LOC"}, keep=["LOC"])[0].spans == (Span(3, 5, "LOC"),)


def test_what_spacy_reads():
    text = "Dr. Ekeus  left.\n\nHe went to New York."
    one = Document.of(text, id="x7", meta={"page": {"n": [1]}})
    first, second = one.sentences
    first = Sentence(first.words, (Span(1, 2, "Head of State", 0.5),), None, first.text, first.starts, first.offset)
    second = Sentence(second.words, (Span(3, 5, "LOC"),), None, second.text, second.starts, second.offset)
    (doc,) = docs_in(written([one.with_sentences([first, second])], "docbin"))
    assert doc.text == text
    assert [(ent.text, ent.label_) for ent in doc.ents] == [("Ekeus", "Head of State"), ("New York", "LOC")]
    assert [sent.text.strip() for sent in doc.sents] == ["Dr. Ekeus  left.", "He went to New York."]
    assert doc.user_data["id"] == "x7"
    if not SpacySpan.has_extension("score"):
        SpacySpan.set_extension("score", default=None)
    assert [ent._.score for ent in doc.ents] == [0.5, None]


def test_words_that_are_not_labelled_are_missing_entities():
    sentence = Sentence(("a", "b", "c"), (Span(0, 1, "X"),), (None, None, Allowed.parse("_")))
    (doc,) = docs_in(written([sentence], "docbin"))
    assert [token.ent_iob_ for token in doc] == ["B", "O", ""]
    (doc,) = docs_in(written([Sentence(("a", "b"))], "docbin"))
    assert not doc.has_annotation("ENT_IOB")


def test_everything_comes_back():
    text = "Dr. Ekeus  left.\n\nHe went to New York."
    one = Document.of(text, id=3, meta={"page": [1, {"n": None}], "cats": {"x": 0.5}})
    first, second = one.sentences
    first = Sentence(
        first.words, (), (None, Allowed.parse("A B|C"), None, None), first.text, first.starts, first.offset
    )
    one = one.with_sentences([first, second])
    (back,) = stream_bytes(written([one], "docbin"))
    assert (back.text, back.id, back.meta) == (one.text, one.id, one.meta)
    assert [(s.words, s.text, s.offset) for s in back.sentences] == [(s.words, s.text, s.offset) for s in one.sentences]
    assert back.sentences[0] == first
    assert back.sentences[1].is_unlabelled


@given(st.lists(text_sentences(), max_size=3))
@modest
def test_any_text_comes_back(corpus):
    data = written(corpus, "docbin")
    assert [doc.text for doc in docs_in(data)] == [sentence.text for sentence in corpus]
    assert [document.as_sentence() for document in stream_bytes(data, "docbin")] == corpus


def test_a_sentence_border_within_a_mention_is_none():
    doc = Doc(Vocab(), words=["a", "b", "c"], ents=["B-X", "I-X", "O"], sent_starts=[True, True, True])
    first, second = read_bytes(packed(doc))
    assert (first.words, first.spans, second.words) == (("a", "b"), (Span(0, 2, "X"),), ("c",))


def test_extension_attributes_are_counted():
    doc = Doc(Vocab(), words=["a"], user_data={"page": 1, ("._.", "other", None, None): 2})
    with stream_bytes(packed(doc, store_user_data=True)) as documents:
        (back,) = documents
    assert back.meta == {"page": 1}
    assert documents.report.notes == {"extension attributes of spaCy were not taken": 1}


def test_what_is_no_docbin_is_one_clear_error(tmp_path):
    data = written([Sentence(("a",), ())], "docbin")
    for damaged in (data[:-9], data[:9] + b"??" + data[11:], b"\x78\x9cno"):
        with pytest.raises(FormatError, match="the open file: this is not a DocBin of spaCy, or it is damaged"):
            read_bytes(damaged)
    with pytest.raises(FormatError, match="this is not a DocBin"):
        read_bytes(b"plain text", "docbin")
    with pytest.raises(FormatError, match="open the file for bytes"):
        read(io.StringIO("text"), "docbin")
    with pytest.raises(DataError, match="open the file for bytes"):
        write([Sentence(("a",), ())], io.StringIO(), "docbin")
    with pytest.raises(DataError, match="a token of white space is a gap there"):
        written([Sentence(("a", "\u200b"), ())], "docbin")
    blank = packed(Doc(Vocab(), words=["\n"], user_data={"id": 5}), store_user_data=True)
    with pytest.raises(FormatError, match=r"file: record 1 \(id 5\): there is no word"):
        read_bytes(blank)
    assert [document.sentences for document in stream_bytes(blank, unlabelled=True)] == [()]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("cats", [3]),
        ("cats", [[3]]),
        ("user_data", [{5: 1}]),
        ("user_data", [{None: 1}]),
        ("span_groups", [{"partial": b"x"}]),
    ],
)
def test_damage_within_a_document_is_an_error_too(name, value):
    import srsly

    tree = srsly.msgpack_loads(zlib.decompress(written([Sentence(("a",), ())], "docbin")))
    tree[name] = [srsly.msgpack_dumps(one) for one in value] if name != "cats" else value
    with pytest.raises(FormatError, match="the open file: this is not a DocBin of spaCy, or it is damaged"):
        read_bytes(zlib.compress(srsly.msgpack_dumps(tree)))


def test_without_spacy_the_error_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "a.spacy").write_bytes(written([Sentence(("a",), ())], "docbin"))
    monkeypatch.setitem(sys.modules, "spacy", None)
    with pytest.raises(MissingExtraError, match=r"docbin needs spacy, .* pip install 'handful\[spacy\]'"):
        read(tmp_path / "a.spacy")
    with pytest.raises(MissingExtraError, match="pip install"):
        write([Sentence(("a",), ())], tmp_path / "b.spacy", "docbin")
    assert [path.name for path in tmp_path.iterdir()] == ["a.spacy"]


def test_spacy_is_loaded_when_it_is_needed():
    code = "import sys, handful.text; handful.text.read('-'); print('spacy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], input="a O\n", capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_a_file_is_recognised_packed_and_in_a_pipe(tmp_path):
    data = written([Sentence(("Ekeus", "left"), (Span(0, 1, "PER"),))], "docbin")
    (tmp_path / "a.gz").write_bytes(gzip.compress(data))
    assert read(tmp_path / "a.gz").report.format == "docbin"
    ours, theirs = os.pipe()
    with open(theirs, "wb") as writer:
        writer.write(data)
    with open(ours, "rb") as reader:
        assert [sentence.words for sentence in read(reader)] == [("Ekeus", "left")]
