"""Types that the head of an inline file describes."""

import io

import pytest

from handful.errors import FormatError
from handful.text import Corpus, EntityType, Sentence, Span, read, stream, write

from .strategies import read_bytes, stream_bytes, written

FILE = """\
# domain: notes of a small boat yard, with nicknames
# register: short, [sic], some jokes: dry
# BOAT: a vessel by name, not its kind
# bio:part: a part, as in [keel](bio:part)

The [Anna](BOAT) is back, [keel](bio:part) cracked.
# 3: nothing to do with a head
Nothing on Friday for [Olaf](PERSON).
"""
BOAT = EntityType("BOAT", "a vessel by name, not its kind")
PART = EntityType("bio:part", "a part, as in [keel](bio:part)")
META = {"domain": "notes of a small boat yard, with nicknames", "register": "short, [sic], some jokes: dry"}


@pytest.mark.parametrize(
    "text", [FILE, "\ufeff" + FILE, FILE.replace("\n", "\r\n"), FILE.replace("# ", "#  "), FILE.replace("\n\n", "\n")]
)
def test_the_head_describes_types_and_the_corpus(text):
    for format in (None, "inline"):
        corpus = read_bytes(text, format)
        assert corpus.report.format == "inline"
        assert corpus.types == (BOAT, PART, EntityType("PERSON"))
        assert corpus.meta == META
        assert [sentence.text.split()[0] for sentence in corpus] == ["The", "#", "Nothing"]
        assert corpus.report.handled() == ["2 types are described at the head of the file"]


def test_a_stream_knows_the_head_from_the_start():
    with stream_bytes(FILE) as documents:
        assert (documents.types, documents.meta) == ((BOAT, PART), META)
        assert next(documents).text == "The Anna is back, keel cracked."
        assert documents.types == (BOAT, PART)
        assert len(list(documents)) == 2
        assert documents.types == (BOAT, PART, EntityType("PERSON"))


def test_types_that_are_described_but_not_marked():
    corpus = read_bytes("# A: one\n# B: two\n\n[x](B) y\n")
    assert corpus.types == (EntityType("A", "one"), EntityType("B", "two"))
    assert corpus.meta == {}


def test_domain_may_be_a_type():
    text = "# domain: an Internet domain\n# register: chat\n\nSee [x.org](domain).\n"
    corpus = read_bytes(text)
    assert corpus.types == (EntityType("domain", "an Internet domain"),)
    assert corpus.meta == {"register": "chat"}
    with stream_bytes(text) as documents:
        list(documents)
    assert (documents.types, documents.meta) == (corpus.types, corpus.meta)
    assert read_bytes(written(corpus, "inline"), "inline").types == corpus.types


@pytest.mark.parametrize(
    "text",
    [
        "#sale: [Acme](ORG) shoes\n",
        "# sale: [Acme](ORG) shoes\n",
        "# 1 in sales is [Acme](ORG)\n",
        "# Acme:\n[Acme](ORG)\n",
        "\n# A: after a blank line\n[Acme](ORG)\n",
        "[Acme](ORG)\n# A: after a sentence\n",
    ],
)
def test_what_is_not_a_head(text):
    corpus = read_bytes(text, "inline")
    assert len(corpus) == len(text.strip().split("\n"))
    assert corpus.types == (EntityType("ORG"),)
    assert not corpus.report.notes


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "# garden tool: a hoe",
            "the open file:2: found '# garden tool: a hoe' in the head of the file, expected '# NAME",
        ),
        ("#", "the open file:2: found '#'"),
        ("# A: another", "the open file:2: the type A has two descriptions"),
        ("# O: outside", "the open file:2: a type cannot be called 'O'"),
    ],
)
def test_a_head_that_is_wrong(line, message):
    text = f"# A: one\n{line}\n# B: two\n\n[x](B) y\n"
    for reading in (read_bytes, stream_bytes):
        with pytest.raises(FormatError, match=message):
            reading(text)
    corpus = read_bytes(text, malformed="skip")
    assert [one.name for one in corpus.types] == ["A", "B"]
    assert corpus.report.n_skipped == 1


def test_a_head_does_not_hide_marks_in_text_to_tag():
    head = "".join(f"# T{i}: a type\n" for i in range(30))
    corpus = read_bytes(f"{head}\n" + "a [b](T1)\n" * 5, unlabelled=True)
    assert (corpus.report.format, len(corpus), len(corpus.types)) == ("inline", 5, 30)


def test_the_head_is_written(tmp_path):
    corpus = read_bytes(FILE)
    assert written(corpus, "inline").decode() == FILE
    assert written(stream_bytes(FILE), "inline").decode() == FILE
    path = tmp_path / "file"
    path.write_text(FILE, encoding="utf-8")
    write(stream(path), path, "inline")
    assert (read(path).types, read(path).meta) == (corpus.types, META)


def test_types_can_be_given():
    sentence = Sentence(("Anna",), (Span(0, 1, "BOAT"),))
    assert written([sentence], "inline", types=[BOAT, "CREW"]) == (
        b"# BOAT: a vessel by name, not its kind\n\n[Anna](BOAT)\n"
    )
    text = written(read_bytes(FILE), "inline", types={"CREW": "people"}).decode()
    assert text.startswith(f"# domain: {META['domain']}\n# register: {META['register']}\n# CREW: people\n\nThe [")
    text = written([sentence], "inline", types={"a b": "two words"}).decode()
    assert text == '# "a b": two words\n\n[Anna](BOAT)\n'
    assert read_bytes(text).types == (EntityType("a b", "two words"), EntityType("BOAT"))


def test_other_formats_say_that_descriptions_are_lost():
    report = write(read_bytes(FILE), io.BytesIO(), "conll")
    assert report.handled() == ["4 descriptions were not written: only inline files hold them"]


def test_a_sentence_that_looks_like_a_head_comes_back():
    corpus = [Sentence(("#", "sale", ":", "shoes"), (), None, "# sale: shoes", (0, 2, 6, 8)), Sentence(("a",), ())]
    back = read_bytes(written(corpus, "inline"), "inline")
    assert [sentence.text for sentence in back] == ["# sale: shoes", "a"]
    assert back.types == ()


def test_a_corpus_is_a_list():
    corpus = read_bytes(FILE)
    assert corpus == list(corpus)
    assert isinstance(corpus, Corpus)
