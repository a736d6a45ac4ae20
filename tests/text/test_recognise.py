"""Telling formats by their content."""

import pytest

from handful.errors import FormatError
from handful.text import FORMATS, Sentence, Span

from .strategies import read_bytes, written

CORPUS = [
    Sentence(("Ekeus", "heads", "for", "Baghdad", "."), (Span(0, 1, "PER"), Span(3, 4, "LOC"))),
    Sentence(("It", "is", "far"), ()),
]


@pytest.mark.parametrize("format", FORMATS)
def test_what_is_written_is_recognised(format):
    is_json = format in ("prodigy", "huggingface", "gliner", "doccano", "spacy", "label-studio", "jsonl")
    assert read_bytes(written(CORPUS, format)).report.format == ("json" if is_json else format)


@pytest.mark.parametrize("scheme", ["IO", "types", "BIO", "IOB1", "BIOES", "BILOU"])
def test_tags_of_every_scheme_are_recognised(scheme):
    report = read_bytes(written(CORPUS, "conll", scheme=scheme)).report
    # IOB1 is IO where no two mentions are adjacent.
    assert (report.format, report.scheme) == ("conll", "IO" if scheme == "IOB1" else scheme)


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("Ekeus B-PER\n", "conll"),
        ("Ekeus\tPER\nheads\tO\n", "conll"),
        ("It\tO\nis\tO\n", "conll"),
        ("a _\nb LOC|ORG\nc !O\n", "conll"),
        ("-DOCSTART- -X- O O\n\nEU NNP I-NP I-ORG\n. . O O\n", "conll"),
        ("a O\n" * 50 + "damaged\n", "conll"),
        ("two words\nin every\nline here\n", "text"),
        ("one\nword\na line\n", "text"),
        ("The plan for group O is ready.\nWe start on Monday.\nThen we wait.\n", "text"),
        ("John PER\nleft O\n\nKim PER\nis O\nfar O\n", "conll"),
        ("John PER\nis O\nin O\nRome LOC\n. O\n", "conll"),
        ("Kim B-per\nworks O\n", "conll"),
        ("Malcolm B-PER\nX I-PER\n", "conll"),
        ("Kim\tNNP\tB-per\n", "conll"),
        ("Blood type O", "text"),
        ("Type O", "text"),
        ("Type A\nType B\nType O", "text"),
        ("John Smith|New York|NY\nJane Roe|Los Angeles|CA\nJim Beam|San Jose|CA\n", "text"),
        ("John\tA|B\nKim\tC|D\n", "text"),
        ("Roses are red\nO my love", "text"),
        ("slugs !!", "text"),
        ("slugs\n!!", "text"),
        ("The slugs ate my roses !!!", "text"),
        ("Vitamin\nX", "text"),
        ("They have a B-52", "text"),
        ("Send an E-mail", "text"),
        ("We went home\nby the U-Bahn\nand did not\nlook back then\n", "text"),
        ("See [the docs](https://x.org/a) for more.", "text"),
        ("A [name](PER) in a line.\nAnd none here.", "inline"),
        ("A [b](LOC|ORG) c", "inline"),
        ('["Quoted"](PER) words', "inline"),
        ("[brackets] first", "text"),
        ("{curly} first", "text"),
        ('["text", {"entities": []}]', "json"),
        ("[]", "json"),
        ('{"text": "cut off', "json"),
    ],
)
def test_by_content(text, format):
    if format == "json" and "cut off" in text:
        with pytest.raises(FormatError, match=r":1: .* is not a JSON record"):
            read_bytes(text)
    elif "damaged" in text:
        with pytest.raises(FormatError, match=":51: found 1 column in 'damaged'"):
            read_bytes(text)
    else:
        assert read_bytes(text).report.format == format


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        ("", ["is empty"]),
        (" \n\n", ["is empty"]),
        ("Ann A\nBob O\nCid O\nDan O\n", ["not clear", "conll: 75% of the lines end in what may be a tag"]),
        (
            "a B-X\nb O\nthis is not\nthis neither\n",
            ["50%", "'this is not' does not", "format='conll'", "format='text'"],
        ),
        ("abc\0def", ["text: there are NUL characters"]),
    ],
)
def test_when_unsure_an_error_says_what_was_tried(text, messages):
    with pytest.raises(FormatError) as caught:
        read_bytes(text)
    for message in messages:
        assert message in str(caught.value)


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (
            "The [slugs] (PEST) ate it.\n",
            1,
            "'[slugs] (PEST)' has white space between its brackets; write [slugs](PEST)",
        ),
        ("\nNothing.\n[slugs] (pest) ate\n[snails] (pest)\nNo.\nNo.\n", 3, "write [slugs](pest) to mark a mention"),
        ("A line.\nNo.\nThe [slugs](GARDEN PEST) ate.\n", 3, 'write [slugs](GARDEN_PEST) (or [slugs]("GARDEN PEST"))'),
        ("The [slugs](PEST ate it.\n", 1, "no closing round bracket"),
        ("The [slugs]() ate it.\n", 1, "has no type; write [slugs](TYPE)"),
        ("The [](PEST) ate it.\n", 1, "has no words"),
        ("The (slugs)[PEST] ate it.\n", 1, "has its brackets in the wrong order; write [slugs](PEST)"),
    ],
)
def test_a_slip_in_every_mark_is_named(text, line, message):
    with pytest.raises(FormatError) as caught:
        read_bytes(text)
    assert str(caught.value).startswith(f"the open file:{line}: ")
    assert message in str(caught.value)
    assert "--from text" in caught.value.for_shell
    assert read_bytes(text, "text").report.format == "text"
    assert read_bytes(text, unlabelled=True).report.format == "text"


@pytest.mark.parametrize(
    "text",
    [
        "As [1] (Smith) says.\nYes.\n",
        "He [the minister] (a lawyer) left.\nYes.\n",
        "A note [sic] (see below).\nYes.\nNo.\n",
        "See [the docs] (https://x.org/a) and [more](https://x.org).\n",
        "It (all of it)[3] was so.\nYes.\nNo.\n",
        "Only [one] (thing) here.\nYes.\nNo.\nNo.\n",
    ],
)
def test_brackets_of_a_text_are_no_slips(text):
    assert read_bytes(text).report.format == "text"


def test_a_line_longer_than_what_is_looked_at():
    assert len(read_bytes("word " * 19_000)[0].words) == 19_000  # longer ones are cut: test_long_lines.py
    corpus = read_bytes("[" + ", ".join(['{"text": "a b"}'] * 20_000) + "]")
    assert len(corpus) == 20_000


def test_some_marks_are_plain_text_where_no_labels_are_looked_for():
    text = "He left. See [the docs](guide) now.\nAnd [more](LOC|ORG) here.\n"
    assert read_bytes(text).report.format == "inline"
    corpus = read_bytes(text, unlabelled=True)
    assert corpus.report.format == "text"
    assert [s.text for s in corpus] == ["He left.", "See [the docs](guide) now.", "And [more](LOC|ORG) here."]
    (note,) = corpus.report.notes
    assert (str(note)[:27], corpus.report.notes[note]) == ("marks such as [words](TYPE)", 2)
    assert corpus.report.handled()[0].endswith("(format='inline' reads them as labels)")
    assert corpus.report.handled(shell=True)[0].endswith("(--from inline reads them as labels)")
    assert not read_bytes(text, "text", unlabelled=True).report.notes
    assert read_bytes(text, "inline", unlabelled=True).report.format == "inline"
    assert read_bytes("A [b](LOC) c\nd\n" * 4, unlabelled=True).report.format == "inline"
