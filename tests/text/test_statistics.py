"""Figures about a corpus."""

from handful.text import Allowed, Document, Sentence, Span, describe

CORPUS = [
    Sentence(("a", "b", "c", "d"), (Span(0, 1, "X"), Span(1, 3, "X"), Span(3, 4, "Y"))),
    Sentence(("a", "b", "c"), ()),
    Sentence(("a", "b", "c"), (Span(0, 1, "A"),), (None, Allowed.parse("_"), None)),
    Sentence(("a", "b")),
]


def test_every_figure():
    figures = describe(iter(CORPUS))
    assert (figures.n_sentences, figures.n_words) == (4, 12)
    assert (figures.n_labelled, figures.n_partly_labelled, figures.n_unlabelled) == (2, 1, 1)
    assert (figures.n_known, figures.n_outside) == (9, 4)
    assert figures.o_share == 4 / 9
    assert list(figures.mentions.items()) == [("A", 1), ("X", 2), ("Y", 1)]
    assert figures.n_mentions == 4
    assert figures.n_adjacent == 1


def test_documents_count_by_their_sentences():
    document = Document.of("He left. She stayed.")
    assert (describe([document]).n_sentences, describe([document]).n_words) == (2, 6)
    assert describe(map(Document.of, CORPUS)) == describe(CORPUS)


def test_nothing_known():
    assert describe([]).o_share is None
