"""Inline markup and plain text."""

import io

import pytest

from handful.errors import FormatError
from handful.text import Allowed, Sentence, Span, read, types_of, write

from .strategies import read_bytes, stream_bytes, written


def test_inline_markup():
    for format in ("inline", None):
        one, two = read_bytes("[Ekeus](PER) heads for [New York](LOC).\n\nYes.\n", format)
        assert one.text == "Ekeus heads for New York."
        assert one.spans == (Span(0, 1, "PER"), Span(3, 5, "LOC"))
        assert [one.span_text(span) for span in one.spans] == ["Ekeus", "New York"]
        assert two.is_labelled
        assert two.spans == ()


def test_inline_partial_labels_and_unknown_words():
    (sentence,) = read_bytes("[a](LOC|ORG) [b c](!O) d [e](PER)", "inline", unmarked="unknown")
    assert sentence.allowed == (*map(Allowed.parse, ["LOC|ORG", "!O", "!O", "_"]), None)


def test_inline_escapes_and_links():
    text = r"see \[x](PER) or C:\dir \\ [docs](https://x.org) a \[b] (c) [1] e [\[d\]](Y)"
    (sentence,) = read_bytes(text, "inline")
    assert sentence.text == r"see [x](PER) or C:\dir \ [docs](https://x.org) a [b] (c) [1] e [d]"
    assert [sentence.span_text(span) for span in sentence.spans] == ["[d]"]
    (back,) = read_bytes(written([sentence], "inline"), "inline")
    assert back == sentence


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            "[Lon](LOC)don",
            "the span 0:3 'Lon' .LOC. does not fall on word borders; the nearest words are 0:6 'London'",
        ),
        ("[ ](LOC) a", "covers no word"),
        ("[a](O)", "cannot be called 'O'"),
        ("[a](X||Y)", "empty name"),
    ],
)
def test_malformed_markup(line, message):
    with pytest.raises(FormatError, match=f"the open file:2: .*{message}"):
        read_bytes(f"fine\n{line}\n", "inline")
    assert read_bytes(f"fine\n{line}\n", "inline", malformed="skip").report.n_skipped == 1


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("The [slugs](GARDEN PEST) ate", "white space in its type; write [slugs](GARDEN_PEST)"),
        ("The [slugs](PEST ate", "no closing round bracket after its type; write [slugs](PEST)"),
        ("The [slugs] (PEST) ate", "white space between its brackets; write [slugs](PEST)"),
        ("The [](PEST) ate", "no words; write [words](PEST)"),
        ("The [slugs]() ate", "no type; write [slugs](TYPE)"),
        ("The [slugs](PEST(1)) ate", "a round bracket in its type; write [slugs](PEST)"),
        (r"The [slugs\]](A B) ate", r"white space in its type; write [slugs\]](A_B)"),
        ("The [[slugs]](PEST) ate", "'](PEST) ate [roses](PLANT)' ends a mark that does not begin"),
        ("The slugs](PEST) ate", "'](PEST) ate [roses](PLANT)' ends a mark that does not begin"),
    ],
)
def test_what_is_nearly_a_mark_is_an_error(line, message):
    with pytest.raises(FormatError) as caught:
        read_bytes(f"[roses](PLANT) grow\n{line} [roses](PLANT)\n")
    assert str(caught.value).startswith("the open file:2: ")
    assert message in str(caught.value)
    assert r"\[" in str(caught.value)


@pytest.mark.parametrize(
    "line",
    ["as in [1] and [2], (see below)", "(a) [b] c", "a](https://x.org)", "[a] (see https://x.org)", r"\[a](b c)"],
)
def test_ordinary_brackets_stay_in_the_text(line):
    (sentence,) = read_bytes(f"{line} [roses](PLANT)\n", "inline")
    assert sentence.text == line.replace("\\", "") + " roses"


def test_a_type_may_start_with_a_digit():
    corpus = read_bytes("a [film](3D) here\n")
    assert (corpus.report.format, corpus[0].spans) == ("inline", (Span(1, 2, "3D"),))


def test_inline_widens():
    corpus = read_bytes("[Lon](LOC)don\n", misaligned="widen")
    assert corpus[0].spans == (Span(0, 1, "LOC"),)
    assert corpus.report.n_widened == 1
    with pytest.raises(FormatError, match="overlap once widened"):
        read_bytes("[Lon](LOC)[don](PER)\n", misaligned="widen")


@pytest.mark.parametrize("label", ["GARDEN PEST", "a)", "x://y", '"quoted"', 'a "b"', "\\[", " a ", '5"'])
def test_inline_holds_any_type_in_quotes(label):
    sentence = Sentence(("a", "b"), (Span(0, 1, label),), text="a b", starts=(0, 2))
    assert read_bytes(written([sentence], "inline"), "inline") == [sentence]
    assert read_bytes(written([sentence], "inline") + b"[c](X)\n")[0] == sentence
    open_label = Sentence(("a", "b"), (), (Allowed(frozenset({label, "X"})), None), "a b", (0, 2))
    assert read_bytes(written([open_label], "inline"), "inline") == [open_label]


def test_quoted_types_as_people_type_them():
    (sentence,) = read_bytes('The [slugs]("GARDEN PEST") ate [it]("A B|C").\n')
    assert sentence.spans == (Span(1, 2, "GARDEN PEST"),)
    assert sentence.allowed[3] == Allowed.parse("A B|C")
    assert read_bytes("The [keel](bio:part) cracked.\n").report.format == "inline"
    with pytest.raises(FormatError, match=r':1: ".q" is not a type in double quotes'):
        read_bytes(r'a [b]("\q") c', "inline")


def test_each_line_of_plain_text_is_a_document():
    for format in ("text", None):
        corpus = read_bytes("He left. She stayed.\nno stop here\nlower again\n\nlast", format)
        assert [s.text for s in corpus] == ["He left.", "She stayed.", "no stop here", "lower again", "last"]
        assert [s.offset for s in corpus] == [0, 9, 0, 0, 0]
        assert all(s.is_unlabelled for s in corpus)


def test_each_block_of_wrapped_plain_text_is_a_document():
    corpus = read_bytes("A first line that\ngoes on here. And\nends.\n\nA second block on\nseveral lines.\n")
    assert [s.text for s in corpus] == [
        "A first line that\ngoes on here.",
        "And\nends.",
        "A second block on\nseveral lines.",
    ]
    long_lines = f"{'word ' * 30}end.\nNext paragraph.\n\nAnother article.\nMore.\n"
    assert [len(s.words) for s in read_bytes(long_lines)] == [32, 3, 3, 2]


def test_documents_of_plain_text_have_the_whole_line():
    text = " He left.  She stayed. \nnext\n"
    with stream_bytes(text, "text") as documents:
        first, second = documents
    assert (first.text, len(first.sentences), second.text) == (" He left.  She stayed. ", 2, "next")
    assert [first.text[s.offset :][: len(s.text)] for s in first.sentences] == ["He left.", "She stayed."]
    block = "A first line that\ngoes on here. And\nends.\n\nA second block on\nseveral lines.\n"
    assert [document.text for document in stream_bytes(block)] == block.rstrip("\n").split("\n\n")


def test_lines_of_invisible_characters_are_counted():
    corpus = read_bytes("one\n\u200b\u200e\n\ntwo\n", "text")
    assert len(corpus) == 2
    assert corpus.report.notes.total() == 1


def test_writing_plain_text_says_what_is_lost():
    file = io.StringIO()
    sentence = Sentence(("New York", "a"), (Span(0, 1, "LOC"),), text="New York\na", starts=(0, 9))
    report = write([sentence], file, "text")
    assert file.getvalue() == "New York a\n"
    assert report.n_sentences == 1
    assert report.notes == {
        "mentions were not written: plain text has no labels": 1,
        "texts will be read with other words: the format holds the text, not the words": 1,
        "line breaks were written as spaces": 1,
    }


@pytest.mark.parametrize("name", ["ব্যক্তি", "स्थान", "บุคคลสำคัญ", "நபர்", "مُدَّعٍ", "ခရီး", "PERSÓN", "e\u0301tat"])
def test_names_of_types_are_in_any_script(tmp_path, name):
    path = tmp_path / "some.txt"
    path.write_text(f"# {name}: x\n# OTHER: y\n\n[Pia]({name}) saw [Leeds]({name}|OTHER) .\n", encoding="utf-8")
    corpus = read(path)
    assert [one.name for one in corpus.types] == [name, "OTHER"]
    assert [(span.start, span.end, span.type) for span in corpus[0].spans] == [(0, 1, name)]
    assert [one.name for one in types_of(f"OTHER: y; {name}: x")] == ["OTHER", name]


def test_a_mention_around_others_may_have_a_bracket_that_nothing_closes():
    (sentence,) = read_bytes('[[Anna](PER) saw \\[slugs]("GARDEN PEST") there .\n', "inline")
    assert sentence.words == ("Anna", "saw", "[", "slugs", "there", ".")
    assert sentence.spans == (Span(0, 4, "GARDEN PEST"), Span(0, 1, "PER"))
    assert written([sentence], "inline") == b'[[Anna](PER) saw \\[slugs]("GARDEN PEST") there .\n'
