"""spaCy's binary format, ``docbin``; it needs spaCy. docs/formats.md says where labels, scores and fields are.

A `Doc` is a document. Its words are the tokens that are not white space, its sentences those of the `Doc`, if it has
any. Words with a partial label are missing among the entities. A file is read and written as a whole.
"""

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from handful._util.lazy import check_libraries
from handful.errors import DataError, FormatError, shorten

from ._document import Document
from ._labels import Span
from ._reading import FileReader
from ._sentences import Sentence
from ._words import word_offsets
from ._writing import Writing, partial_spans, with_words
from .layers import flattened

FIRST_BYTES = b"\x78\x9c"  # of what zlib packs; no text in UTF-8 starts so
_PARTIAL, _CLASSES, _SCORE = "partial", "cats", ("._.", "score")
_ALL = "sc"  # the key of all mentions, where some share words; the name that spaCy uses


def _spacy() -> Any:
    check_libraries("the format docbin", "spacy")
    import spacy.tokens
    import spacy.vocab

    return spacy


def read_docbin(reading: FileReader) -> Iterator[Document]:
    """Yield the documents of a DocBin."""
    spacy = _spacy()
    data = reading.source.read_bytes()
    try:
        docs = list(spacy.tokens.DocBin().from_bytes(data).get_docs(spacy.vocab.Vocab()))
    except Exception as error:  # spaCy and what it reads with have no error of their own for this
        raise _damaged(reading, error) from None
    for number, doc in enumerate(docs, 1):
        identifier = None
        try:
            identifier, meta = _fields(reading, doc)
            sentences = reading.check_words(doc.text, list(_sentences(reading, doc)))
        except DataError as error:
            shown = "" if identifier is None else f" (id {shorten(identifier, 40)})"
            reading.malformed(f": record {number}{shown}", error)
        except Exception as error:  # spaCy reads some parts of a document when they are asked for
            raise _damaged(reading, error) from None
        else:
            yield Document(doc.text, sentences, identifier, meta)


def _damaged(reading: FileReader, error: Exception) -> FormatError:
    shown = shorten(repr(error), 200)
    return FormatError(f"{reading.source.name}: this is not a DocBin of spaCy, or it is damaged ({shown})")


def _fields(reading: FileReader, doc: Any) -> tuple[str | int | None, dict[str, Any]]:
    fields = {key: _lists(value) for key, value in doc.user_data.items() if isinstance(key, str)}
    if n_others := sum(not isinstance(key, str) and key[:2] != _SCORE for key in doc.user_data):
        reading.report.notes["extension attributes of spaCy were not taken"] += n_others
    if doc.cats:
        fields[_CLASSES] = dict(doc.cats)
    identifier = fields.get("id")
    if isinstance(identifier, str | int) and not isinstance(identifier, bool):
        del fields["id"]
        return identifier, fields
    return None, fields


def _lists(value: Any) -> Any:
    """Return a value with lists in the place of tuples, which it has after reading."""
    if isinstance(value, dict):
        return {key: _lists(item) for key, item in value.items()}
    return [_lists(item) for item in value] if isinstance(value, list | tuple) else value


def _sentences(reading: FileReader, doc: Any) -> Iterator[Sentence]:
    spans = _spans(doc)
    starts = [0]
    if doc.has_annotation("SENT_START"):
        inside = {i for span in doc.ents for i in range(span.start + 1, span.end)}
        starts += [sent.start for sent in doc.sents if sent.start and sent.start not in inside]
    for first, last in pairwise([*starts, len(doc)]):
        tokens = [token for token in doc[first:last] if word_offsets(token.text)]
        if not tokens:
            continue
        start, end = tokens[0].idx, tokens[-1].idx + len(tokens[-1])
        if len(starts) == 1:
            start, end = 0, len(doc.text)
        sentence = Sentence(
            tuple(token.text for token in tokens),
            text=doc.text[start:end],
            starts=tuple(token.idx - start for token in tokens),
            offset=start,
        )
        if spans is None:
            yield sentence
            continue
        places = {token.i: i for i, token in enumerate(tokens)}
        found = []
        for span in spans:
            words = [places[i] for i in range(span.start, span.end) if i in places]
            if words:
                found.append(Span(words[0], words[-1] + 1, span.type, span.score))
        yield reading.from_spans(sentence, found)


def _spans(doc: Any) -> list[Span] | None:
    """Return the entities and the partial labels of a Doc, as spans of its tokens; None if it is unlabelled."""
    partial = [Span(one.start, one.end, one.label_) for one in doc.spans.get(_PARTIAL, ())]
    more = doc.spans.get(_ALL, ())
    is_tagged = doc.has_annotation("ENT_IOB")
    if not is_tagged and not partial and not more:
        return None
    known = {i for one in partial for i in range(one.start, one.end)}
    missing = [Span(token.i, token.i + 1, "_") for token in doc if token.ent_iob == 0 and token.i not in known]
    missing = missing if is_tagged or not more else []
    entities = [Span(one.start, one.end, one.label_, _score(doc, one)) for one in doc.ents]
    if {(one.start, one.end, one.label_) for one in doc.ents} <= {(one.start, one.end, one.label_) for one in more}:
        entities = [Span(one.start, one.end, one.label_, _score(doc, one)) for one in more]
    return [*entities, *partial, *missing]


def _score(doc: Any, span: Any) -> float | None:
    """Return the score of a span; mentions of the same words have one each, by their types."""
    place = (*_SCORE, span.start_char, span.end_char)
    score: float | None = doc.user_data.get((*place, span.label_), doc.user_data.get(place))
    return score


def write_docbin(documents: Iterable[Document], writing: Writing) -> Iterator[bytes]:
    """Yield the bytes of a DocBin."""
    spacy = _spacy()
    vocab = spacy.vocab.Vocab()
    packed = spacy.tokens.DocBin(attrs=["ENT_IOB", "ENT_TYPE", "SENT_START"], store_user_data=True)
    for document, sentence in with_words(documents, writing):
        try:
            packed.add(_doc(spacy, vocab, document, sentence))
        except (TypeError, ValueError, OverflowError) as error:
            raise DataError(f"a DocBin cannot hold the document {shorten(document.text)!r}: {error}") from None
    yield packed.to_bytes()


def _doc(spacy: Any, vocab: Any, document: Document, sentence: Sentence) -> Any:
    blank = next((word for word in sentence.words if not word_offsets(word)), None)
    if blank is not None:
        raise DataError(f"a DocBin cannot hold the word {blank!r}: a token of white space is a gap there")
    tokens, spaces, places = _tokens(sentence)
    doc = spacy.tokens.Doc(vocab, words=tokens, spaces=spaces)
    fields = {key: value for key, value in document.meta.items() if key != document.text_field}
    if isinstance(fields.get(_CLASSES), dict):
        doc.cats = fields.pop(_CLASSES)
    doc.user_data.update(fields if document.id is None else fields | {"id": document.id})

    def made(span: Span) -> Any:
        return spacy.tokens.Span(doc, places[span.start], places[span.end - 1] + 1, label=span.type)

    if sentence.spans is None:
        doc.set_ents([], default="missing")
    else:
        partial = [made(span) for span in partial_spans(sentence)]
        entities = [made(span) for span in sentence.spans]
        outermost = [made(span) for span in flattened(sentence).spans or ()]
        doc.set_ents(outermost, missing=partial, default="outside")
        if len(outermost) < len(entities):  # entities of spaCy share no word, spans may
            doc.spans[_ALL] = entities
        if any(one.label_ != "_" for one in partial):
            doc.spans[_PARTIAL] = [one for one in partial if one.label_ != "_"]
        for entity, span in zip(entities, sentence.spans, strict=True):
            if span.score is not None:
                key = (*_SCORE, entity.start_char, entity.end_char)
                doc.user_data[(*key, span.type) if key in doc.user_data else key] = span.score
    if len(document.sentences) > 1:
        starts = {0}
        for part in document.sentences[:-1]:
            starts.add(max(starts) + len(part.words))
        for i, place in enumerate(places):
            doc[place].is_sent_start = i in starts
    return doc


def _tokens(sentence: Sentence) -> tuple[list[str], list[bool], list[int]]:
    """Return the tokens of a text with its words, whether a space follows each, and the places of the words.

    What is between words, other than one space, is a token.
    """
    text = sentence.text or ""
    tokens: list[str] = []
    spaces: list[bool] = []
    places: list[int] = []
    position = 0
    for start, end in (*(sentence.offsets or ()), (len(text), len(text))):
        gap = text[position:start]
        if gap.startswith(" ") and tokens:
            spaces[-1], gap = True, gap[1:]
        for token in filter(None, (gap, text[start:end])):
            tokens.append(token)
            spaces.append(False)
        places.append(len(tokens) - 1)
        position = end
    return tokens, spaces, places[:-1]
