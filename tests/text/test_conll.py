"""CoNLL columns, and lines of words over lines of tags."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from handful.errors import DataError, FormatError
from handful.text import Allowed, Sentence, Span, from_tags

from .strategies import modest, read_bytes, written

EKEUS = Sentence(("Ekeus", "heads", "for", "Baghdad"), (Span(0, 1, "PER"), Span(3, 4, "LOC")))
TWO = "Ekeus\tB-PER\nheads\tO\nfor\tO\nBaghdad\tB-LOC\n\nYes\tO\n"


@pytest.mark.parametrize(
    "text",
    [
        TWO,
        TWO.replace("\t", " "),
        TWO.replace("\t", "   "),
        TWO.replace("\n", "\r\n"),
        TWO.replace("\n", "\r"),
        "\ufeff" + TWO,
        "\n\n\n" + TWO + "\n\n\n",
        TWO.rstrip("\n"),
        TWO.replace("\n\n", "\n\n\n\n"),
        TWO.replace("\n\n", "\n \t\n"),
        TWO.replace("\n\n", "\n\t\n"),
        TWO.replace("\t", "\tNNP\tB-NP\t"),
        TWO.replace("\t", " NNP B-NP "),
        TWO.replace("O\n", "O \n"),
        TWO.replace("O\n", "O\t\n"),
        TWO.replace("Ekeus\t", "Ekeus \t"),
        TWO.replace("heads\t", "heads "),
        TWO.replace("B-", ""),
        TWO.replace("B-", "S-"),
        TWO.replace("B-", "I-"),
        "-DOCSTART-\tO\n\n" + TWO,
        "-DOCSTART-\n" + TWO,
        "-DOCSTART- -X- -X- O\n\n" + TWO.replace("\n\n", "\n-DOCSTART-\tO\n"),
    ],
)
def test_the_same_two_sentences_however_they_are_written(text):
    for format in ("conll", None):
        assert read_bytes(text, format) == [EKEUS, Sentence(("Yes",), ())]


def test_docstart_lines_are_counted():
    report = read_bytes("-DOCSTART- -X- O O\n\n" + TWO.replace("\t", " x x ")).report
    assert dict(report.notes) == {"-DOCSTART- lines were passed over": 1}
    assert report.n_sentences == 2


def test_a_word_may_hold_spaces_between_tabs():
    assert read_bytes("New York\tB-LOC\n\u00a0\tO\n", "conll") == [from_tags(["New York", "\u00a0"], ["B-LOC", "O"])]
    assert read_bytes("a\u00a0b O\n\u00a0 O\n", "conll") == [Sentence(("a\u00a0b", "\u00a0"), ())]


def test_partial_labels():
    text = "a B-PER\nb _\nc LOC|ORG\nd !O\ne !LOC\nf O\n\ng _\n"
    one, two = read_bytes(text)
    assert one.spans == (Span(0, 1, "PER"),)
    assert one.allowed == (None, *map(Allowed.parse, ["_", "LOC|ORG", "!O", "!LOC"]), None)
    assert two.is_unlabelled
    assert written([one, two], "conll").decode() == text.replace(" ", "\t") + "\n"


def test_broken_tags_are_counted_and_the_scheme_is_named():
    report = read_bytes("a\tI-PER\nb\tI-LOC\n\nc\tB-PER\n").report
    assert (report.scheme, report.n_broken) == ("BIO", 2)
    assert "2 tags break the scheme" in str(report)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\tO\n\nb\tO\nword\nc\tO\n", "the open file:4: found 1 column in 'word', expected 2 as in line 1"),
        ("New York B-LOC\n\nnew O\n", "the open file:3: found 2 columns in 'new O', expected 3 as in line 1"),
        ("a\tO\n\n\n\tO\n", "the open file:4: the word before the tag 'O' is empty"),
        ("word\n", "the open file:1: found 'word', expected a word and, after a tab or a space, its tag"),
        ("a\tO\nb\tB-\n", "the open file:2: 'B-' is not a tag of any scheme .the word is 'b'."),
        ("a\tB-X\n\nb\tO\nc\tY\n", "the open file:4: the tags mix .* .the word is 'c'."),
        # Columns that are wrong in two lines in ways that make up for each other.
        ("a\tO\n\nb\nc\tx\tO\n", "the open file:3: found 1 column"),
    ],
)
def test_malformed_lines_are_an_error_that_says_where(text, message):
    with pytest.raises(FormatError, match=message):
        read_bytes(text, "conll")


def test_malformed_lines_can_be_skipped_with_their_sentence():
    corpus = read_bytes("a O\nb O\n\nc O\nspoilt\nd O\n\ne O\nf B-\n\ng O\n", "conll", malformed="skip")
    assert [sentence.words for sentence in corpus] == [("a", "b"), ("g",)]
    assert corpus.report.n_skipped == 2
    assert str(corpus.report.skipped[0]).startswith("the open file:5: found 1 column in 'spoilt'")


def test_a_mix_of_tags_that_is_skipped_does_not_spoil_the_rest():
    corpus = read_bytes("a B-X\n\nb Y\n\nc B-Z\n", "conll", malformed="skip")
    assert [sentence.words for sentence in corpus] == [("a",), ("c",)]


def test_unmarked_words_can_be_unknown():
    (sentence,) = read_bytes("a B-X\nb O\n", unmarked="unknown")
    assert str(sentence.allowed) == "(None, Allowed('_'))"
    assert sentence.spans == (Span(0, 1, "X"),)


rows = st.lists(
    st.tuples(
        st.text(st.sampled_from("ab -DOCSTR\u00a0é"), max_size=3),
        st.sampled_from(["\t", "\t", "\t", " ", "\t\t", "", "\tx\t"]),
        st.sampled_from(["O", "O", "B-X", "I-X", "", "O "]),
    ),
    max_size=6,
)


def slow_columns(text):
    """Read tab-separated columns line by line; None for anything out of the ordinary."""
    found, words, tags = [], [], []
    for line in [*text.split("\n"), ""]:
        if not line.strip():
            if words:
                found.append(from_tags(words, tags))
            words, tags = [], []
        else:
            columns = line.split("\t")
            if len(columns) != 2 or not all(columns) or " " in line or line.startswith("-DOCSTART-"):
                return None
            words.append(columns[0])
            tags.append(columns[1])
    return found


@given(st.lists(rows, max_size=4))
@example([[("a", "\t", "O")], [("b", "", ""), ("c", "\tx\t", "O")]])
@modest
def test_reading_blocks_at_once_agrees_with_reading_line_by_line(sentences):
    text = "a\tO\n\n" + "\n\n".join(
        "\n".join(word + separator + tag for word, separator, tag in rows) for rows in sentences
    )
    expected = slow_columns(text)
    if expected is not None:
        assert read_bytes(text, "conll") == expected


@pytest.mark.parametrize("word", ["a\tb", "a\nb", "a\r", " a", "a ", "-DOCSTART-"])
def test_conll_refuses_words_that_it_cannot_hold(word):
    with pytest.raises(DataError, match="CoNLL cannot hold"):
        written([Sentence((word,))], "conll")


NUMBERED = "1\tEkeus\tN\tB-PER\n2\theads\tV\tO\n3\tfor\tP\tO\n4\tBaghdad\tN\tB-LOC\n\n1\tYes\tI\tO\n"
COMMENTS = "# doc\n# text = Ekeus heads for Baghdad\n" + NUMBERED.replace("\n\n", "\n\n# text = Yes\n")


@pytest.mark.parametrize(
    ("text", "n_comments", "n_ranges"),
    [
        (NUMBERED, 0, 0),
        (NUMBERED.replace("\t", " "), 0, 0),
        ("\n".join(str(int(line[0]) - 1) + line[1:] if line else "" for line in NUMBERED.split("\n")), 0, 0),
        ("-DOCSTART- X X O\n\n" + NUMBERED, 0, 0),
        (COMMENTS, 3, 0),
        (COMMENTS.replace("\t", " "), 3, 0),
        (NUMBERED.replace("2\t", "2-3\theads for\t_\t_\n2\t"), 0, 1),
    ],
)
def test_a_column_that_counts_words_is_passed_over(text, n_comments, n_ranges):
    for format in ("conll", None):
        corpus = read_bytes(text, format)
        assert corpus == [EKEUS, Sentence(("Yes",), ())]
        notes = corpus.report.notes
        assert notes["sentences count their words in the first column; the second was taken for the words"] == 2
        assert notes["comment lines were passed over"] == n_comments
        assert notes["lines whose number is not that of a single word were passed over"] == n_ranges


def test_numbers_that_are_words():
    two_columns = "1\tO\n2\tO\n3\tO\n\n1\tO\n2\tO\n"
    assert [s.words for s in read_bytes(two_columns)] == [("1", "2", "3"), ("1", "2")]
    no_count = "1\tx\tO\n5\tx\tO\n\n#\tx\tO\n2\tx\tO\n"
    assert [s.words for s in read_bytes(no_count)] == [("1", "5"), ("#", "2")]
    hash_word = NUMBERED.replace("1\tYes", "1\t#").replace("I\tO\n", "I\tO\n2\t#\tx\tO\n")
    assert read_bytes(hash_word)[1].words == ("#", "#")
