"""What the tests of `handful.text` draw from: strange text, labels of every kind, sentences."""

import io

from hypothesis import strategies as st

from drawn import examples
from handful.errors import DataError
from handful.text import Allowed, Sentence, Span, read, stream, to_sentence, write

modest = examples(20)
few = examples(6)  # for tests with many parameters

STRANGE = [
    "\U0001f469\u200d⚕️",  # a joined emoji with a variation selector
    "👍🏽",
    "🇫🇷",
    "e\u0301",  # a combining mark
    "\u0301",
    "שלום",
    "مرحبا\u200f",
    "\u202eabc\u202c",
    "\u200b",
    "\ufeff",
    "\u00a0",
    "\u2028",
    "\x85",
    "\x00",
    "0\x0c",
    "\x1c",
    "東京",
    "O",
    "_",
    "X",
    "B-PER",
    "LOC|ORG",
    "[x](PER)",
    "\\",
    "]",
    '"',
    "{",
    "don't",
    "U.N.",
    "-DOCSTART-",
]

characters = st.characters(exclude_categories=["Cs"])
strange_words = st.one_of(st.text(characters, min_size=1, max_size=6), st.sampled_from(STRANGE))
tame_words = st.one_of(
    st.sampled_from(["Ekeus", "heads", "for", "Baghdad", ".", "U.N.", "don't", "東", "👍🏽", "שלום", "नमस्ते"]),
    st.text(st.characters(categories=["Ll", "Lu"]), min_size=1, max_size=6),
)
strange_texts = st.lists(
    st.one_of(strange_words, st.sampled_from([" ", "  ", "\n", "\t"]), tame_words), min_size=1, max_size=10
).map("".join)

types = st.sampled_from(["PER", "LOC", "art-painting", "B-cell", "型", "x"])
partial_labels = st.one_of(
    st.sampled_from([Allowed.parse(written) for written in ("_", "!O", "LOC|ORG", "O|PER", "!LOC|PER", "!PER")]),
    st.builds(
        Allowed,
        st.frozensets(st.sampled_from(["O", "PER", "art-painting", "型", "x"]), min_size=2, max_size=4),
        st.booleans(),
    ),
)


@st.composite
def labels(draw, n_words, *, partial=True):
    """Draw (spans, allowed) for a number of words."""
    kind = draw(st.sampled_from(["labelled", "labelled", "partial", "unlabelled"]))
    if kind == "unlabelled" and partial:
        return None, None
    spans, allowed, i = [], [None] * n_words, 0
    while i < n_words:
        step = draw(st.integers(1, 3))
        what = draw(st.sampled_from(["O", "span", "span", "partial"]))
        end = min(i + step, n_words)
        if what == "span":
            spans.append(Span(i, end, draw(types)))
        elif what == "partial" and partial and kind == "partial":
            allowed[i:end] = [draw(partial_labels)] * (end - i)
        i = end
    return tuple(spans), tuple(allowed)


@st.composite
def sentences(draw, words=strange_words, *, partial=True):
    """Draw a sentence of words, without a text."""
    drawn = tuple(draw(st.lists(words, min_size=1, max_size=8)))
    return Sentence(drawn, *draw(labels(len(drawn), partial=partial)))


@st.composite
def text_sentences(draw, texts=strange_texts, *, partial=True):
    """Draw a sentence whose words are those that its text gives."""

    def has_words(text):
        try:
            to_sentence(text)
        except DataError:
            return False
        return True

    plain = to_sentence(draw(texts.filter(has_words)))
    spans, allowed = draw(labels(len(plain), partial=partial))
    return Sentence(plain.words, spans, allowed, plain.text, plain.starts)


def written(items, format, **options):
    """Return the bytes that `write` makes."""
    file = io.BytesIO()
    write(items, file, format, **options)
    return file.getvalue()


def read_bytes(data, format=None, **options):
    """Read bytes (or a str, as UTF-8) as a file."""
    return read(io.BytesIO(data.encode() if isinstance(data, str) else data), format, **options)


def stream_bytes(data, format=None, **options):
    """Stream bytes (or a str, as UTF-8) as a file."""
    return stream(io.BytesIO(data.encode() if isinstance(data, str) else data), format, **options)
