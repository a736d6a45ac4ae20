"""`write`: documents and sentences to a file."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from handful._util.files import AnyFile, write_text
from handful.errors import DataError, shorten

from ._document import Document, sentences_of
from ._json_write import RECORDS
from ._reports import WriteReport
from ._schemes import check_scheme, count_adjacent
from ._sentences import Sentence
from ._stream import Corpus, Stream
from ._writing import Writing
from .formats import FORMATS, TABLE, Format
from .types import ABOUT_CORPUS, EntityType, judged_together, types_in, types_of


def write(
    items: Iterable[Sentence | Document],
    path: AnyFile,
    format: str,
    *,
    scheme: str = "BIO",
    types: Any = None,
    is_predicted: bool | None = None,
) -> WriteReport:
    """Write documents or sentences to a file; all of it, or nothing. A `DataError` says what the format cannot hold.

    Formats with one sentence per line or block (conll, inline, huggingface) get the sentences of documents one
    after the other. The others get one record per document, with its whole text, its id and its meta; a sentence is a
    document of its own. Cells of a table that a spreadsheet would run, such as ``=HYPERLINK(...)``, get a ``'`` before
    them, which reading takes away.

    Parameters
    ----------
    items : may be a stream
    path : ``-`` is standard output. A path that ends in ``.gz`` is compressed.
    format : one of `FORMATS`
    scheme : the tag scheme, where the format has tags
    types : the types to describe at the head of an inline file (see `types_of`). If None, those that `items` describes,
        where it is a `Corpus` or a `Stream`.
    is_predicted : whether labels were predicted, which Label Studio keeps apart from what people marked. If None,
        mentions with a score were.
    """
    if format not in FORMATS:
        raise DataError(f"format is {format!r}, expected one of {', '.join(FORMATS)}")
    check_scheme(scheme)
    chosen, report = TABLE[format], WriteReport()
    head, about = (items.head, items.meta) if isinstance(items, Corpus | Stream) else ((), {})
    if types is not None:
        head = (*types_of(about), *types_of(types))
    head = tuple(one for one in head if one.description)
    if head and format != "inline":
        report.notes["descriptions were not written: only inline files hold them"] += len(head)
    known = _known(items, head if format == "inline" else ())
    has_field = format in RECORDS or (format == "inline" and types is not None)  # or the caller says what it is about
    writing = Writing(scheme, head, is_predicted, known, report.notes)
    counted = _counted(items, report, chosen, merges=chosen.has_tags and scheme in ("IO", "types"))
    looked_for = _known((), items.head) if isinstance(items, Stream) else frozenset()
    given = _judged(counted, known, looked_for if format in RECORDS else frozenset(), has_field=has_field)
    if chosen.by_sentence and "fields" not in chosen.holds:
        parts: Iterator[Any] = (one for item in given for one in sentences_of(item))
    else:
        parts = map(Document.of, given)
    assert chosen.write is not None  # it is one of FORMATS
    write_text(path, chosen.write(parts, writing))
    if isinstance(items, Stream) and items._names and format not in (*RECORDS, "inline", "text"):
        note = "types without a mention were left out: only inline files and JSON say that somebody looked for them"
        report.notes += Counter({note: len(looked_for - items._names)})
    return report


def _known(items: object, head: Sequence[EntityType]) -> frozenset[str]:
    """Return the types that a reader of the file will find: those that it describes, and those that it marks."""
    known = {one.name for one in head if one.name not in ABOUT_CORPUS}
    if isinstance(items, list | tuple):
        own = [item for item in items if isinstance(item, Sentence | Document)]
        known |= set(types_in(one for item in own for one in sentences_of(item)))
    return frozenset(known)


def _judged(
    items: Iterable[Sentence | Document], known: frozenset[str], looked_for: frozenset[str], *, has_field: bool
) -> Iterator[Sentence | Document]:
    """Pass on items; where sentences were judged for other types than a reader will find, partial labels say so.

    Those that do not say it themselves were judged for the types `looked_for`.
    """
    for item in items:
        if looked_for and isinstance(item, Document):
            item = item.with_sentences(judged_together(item.sentences, looked_for))
        said = {one.judged for one in sentences_of(item) if not one.is_unlabelled}
        if said <= {None, known} or (has_field and len(said) == 1):
            yield item
        elif isinstance(item, Sentence):
            yield item.opened()
        else:
            yield item.with_sentences(one.opened() for one in item.sentences)


def _counted(
    items: Iterable[Sentence | Document], report: WriteReport, format: Format, *, merges: bool
) -> Iterator[Sentence | Document]:
    """Pass on what is written; count it, and count what the format cannot hold."""
    has_fields, has_scores = "fields" in format.holds, "scores" in format.holds
    no_place = f"{format.name} has no place for them"
    for item in items:
        if not isinstance(item, Sentence | Document):
            raise DataError(f"write takes a Sentence or a Document, not {shorten(repr(item))}")
        report.n_documents += 1
        if not has_fields and isinstance(item, Document) and (item.id is not None or item.meta):
            report.notes[f"documents were written without their id and other fields: {no_place}"] += 1
        for sentence in sentences_of(item):
            report.n_sentences += 1
            if merges:
                report.n_merged += count_adjacent(sentence.spans)
            if not has_scores and (n := sum(span.score is not None for span in sentence.spans or ())):
                report.notes[f"mentions were written without their scores: {no_place}"] += n
        yield item
