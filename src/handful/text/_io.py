"""`read`, `stream` and `write`: the way in and out for files."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from handful.errors import DataError, FormatError

from ._bytes import ByteSource, first_bytes
from ._document import Document
from ._entity_types import EntityType, types_of
from ._options import ReadOptions, check_choice, check_names
from ._recognise import recognise
from ._schemes import check_scheme, count_adjacent
from ._source import Source
from ._writing import WriteReport, Writing
from .corpus import Corpus, Stream
from .files import AnyFile, write_text
from .formats import FORMATS, TABLE, Format
from .projects import ProjectSource, is_project
from .reading import Reading, ReadReport
from .sentences import Sentence, shorten

__all__ = ["read", "stream", "write"]


def stream(path: AnyFile, format: str | None = None, **options: Any) -> Stream:
    """Read a file document by document, so that one larger than memory passes through.

    Parameters
    ----------
    path : path, "-" or open file
        ``-`` is standard input. Gzip is recognised.
    format : str or None
        One of `FORMATS` or `READ_ONLY`; ``None`` recognises it by the content.
    **options
        See `ReadOptions`.

    Returns
    -------
    Stream
        An iterator of `Document`. Its ``types`` are those that the file describes or marks, its ``meta`` what the file
        says about itself, its ``report`` what reading found; they are complete at its end. A line or a block of plain
        text, or a JSON record, is a document; elsewhere each sentence is one. JSON records without a word have no
        sentences.

    Raises
    ------
    FileError
        The file cannot be read.
    FormatError
        The content is not what the format asks for; the message says where, and what was found and expected.
    DataError
        An option that does not exist.
    """
    chosen = ReadOptions.of(format, options)
    of_bytes = _of_bytes(path, chosen.format)
    source: Any
    if is_project(path):
        source = ProjectSource(path)
    else:
        source = Source(path, chosen.encoding) if of_bytes is None else ByteSource(path)
    try:
        with source.errors():
            name = of_bytes or _format_of(source, chosen)
            reading = Reading(source, chosen, ReadReport(source.name, name))
            return Stream(reading, TABLE[name].read(reading))
    except BaseException:
        source.close()
        raise


def read(path: AnyFile, format: str | None = None, **options: Any) -> Corpus:
    """Read the sentences of a file, labelled or not.

    Parameters
    ----------
    path : path, "-" or open file
        ``-`` is standard input. Gzip is recognised.
    format : str or None
        One of `FORMATS` or `READ_ONLY`; ``None`` recognises it by the content.
    **options
        See `ReadOptions`.

    Returns
    -------
    Corpus
        A list of `Sentence`. Its ``types`` are those that the file describes or marks, its ``meta`` what the file says
        about itself, its ``report`` what reading found. Documents without a word are passed over and counted.

    Raises
    ------
    FileError, FormatError, DataError
        See `stream`.
    """
    return stream(path, format, **options).corpus()


def write(
    items: Iterable[Sentence | Document],
    path: AnyFile,
    format: str,
    *,
    scheme: str = "BIO",
    names: Sequence[str] | None = None,
    types: Any = None,
    is_predicted: bool | None = None,
) -> WriteReport:
    """Write documents or sentences to a file; all of it, or nothing.

    Formats with one sentence per line or block (conll, lines, inline, huggingface) get the sentences of documents one
    after the other. The others get one record per document, with its whole text, its id and its meta; a sentence is a
    document of its own.

    Parameters
    ----------
    items : iterable of Document or Sentence
        May be a stream.
    path : path, "-" or open file
        ``-`` is standard output. A path that ends in ``.gz`` is compressed.
    format : str
        One of `FORMATS`.
    scheme : str
        The tag scheme, where the format has tags.
    names : sequence of str or None
        Write Hugging Face tags as numbers, by their place in this list.
    types : names, dict of descriptions, list of EntityType, or None
        The types to describe at the head of an inline file (see `types_of`). If None, those that `items` describes,
        where it is a `Corpus` or a `Stream`.
    is_predicted : bool or None
        Whether labels were predicted, which Label Studio keeps apart from what people marked. If None, mentions with a
        score were.

    Returns
    -------
    WriteReport

    Raises
    ------
    FileError
        The file cannot be written.
    DataError
        Words or labels that the format cannot hold.
    """
    check_choice("format", format, FORMATS)
    check_scheme(scheme)
    check_names(names)
    chosen, report = TABLE[format], WriteReport()
    head = _head(items, types)
    if head and format != "inline":
        report.notes["descriptions were not written: only inline files hold them"] += len(head)
    writing = Writing(scheme, names, head, is_predicted, report.notes)
    given = _counted(items, report, chosen, merges=chosen.has_tags and scheme in ("IO", "types"))
    if chosen.by_sentence and "fields" not in chosen.holds:
        parts: Iterator[Any] = (one for item in given for one in _sentences(item))
    else:
        parts = map(Document.of, given)
    assert chosen.write is not None  # it is one of FORMATS
    write_text(path, chosen.write(parts, writing))
    return report


def _format_of(source: Source | ProjectSource, chosen: ReadOptions) -> str:
    """Return the format, recognised if none is named; nothing on standard input, to be tagged, is plain text."""
    if isinstance(source, ProjectSource):
        if chosen.format not in (None, "project"):
            raise FormatError(f"{source.name}: this is a project of handful label, not {chosen.format}")
        return "project"
    if chosen.format is not None:
        return chosen.format
    if chosen.unlabelled and source.is_empty_input:
        return "text"
    return recognise(source, _recognisers(), is_unlabelled=chosen.unlabelled, text_field=chosen.text_field)


def _of_bytes(path: AnyFile, format: str | None) -> str | None:
    """Return the format of a file that is not text, as it is named or as its first bytes tell."""
    for one in TABLE.values():
        first = one.first_bytes
        if first and (format == one.name or (format is None and first_bytes(path, len(first)) == first)):
            return one.name
    return None


def _recognisers() -> dict[str, Any]:
    return {one.name: (one.recognise, one.sign) for one in TABLE.values() if one.recognise is not None}


def _head(items: object, types: Any) -> tuple[EntityType, ...]:
    """Return what is to be described at the head of a file."""
    head = items.head if isinstance(items, Corpus | Stream) else ()
    if types is not None:
        about = items.meta if isinstance(items, Corpus | Stream) else {}
        head = (*types_of(about), *types_of(types))
    return tuple(one for one in head if one.description)


def _counted(
    items: Iterable[Sentence | Document], report: WriteReport, format: Format, *, merges: bool
) -> Iterator[Sentence | Document]:
    """Pass on what is written, and count it, and what the format cannot hold."""
    has_fields, has_scores = "fields" in format.holds, "scores" in format.holds
    for item in items:
        if not isinstance(item, Sentence | Document):
            raise DataError(f"what is written is a Sentence or a Document, not {shorten(repr(item))}")
        report.n_documents += 1
        if not has_fields and isinstance(item, Document) and (item.id is not None or item.meta):
            report.notes[f"documents were written without their id and other fields: {_no_place(format)}"] += 1
        for sentence in _sentences(item):
            report.n_sentences += 1
            if merges:
                report.n_merged += count_adjacent(sentence.spans)
            if not has_scores and (n := sum(span.score is not None for span in sentence.spans or ())):
                report.notes[f"mentions were written without their scores: {_no_place(format)}"] += n
        yield item


def _no_place(format: Format) -> str:
    return f"{format.name} has no place for them"


def _sentences(item: Sentence | Document) -> tuple[Sentence, ...]:
    return (item,) if isinstance(item, Sentence) else item.sentences
