"""`read`, `stream` and `write`: the way in and out for files.

============  ====================================================  =====  ====  =======  =========
format        what it is                                            words  text  partial  unlabelled
============  ====================================================  =====  ====  =======  =========
conll         a word a line, its tag last                           yes    no    yes      yes
lines         a line of words, a line of tags, ``X`` for unknown    yes    no    yes      yes
prodigy       JSON Lines: text, tokens, spans                       yes    yes   yes      yes
huggingface   JSON Lines: tokens, ner_tags                          yes    no    yes      yes
doccano       JSON Lines: text, label                               no     yes   yes      yes
spacy         JSON Lines: text, entities                            no     yes   yes      yes
label-studio  a JSON array of tasks                                 no     yes   yes      yes
inline        ``[Ekeus](PER) heads for [Baghdad](LOC)``             no     yes   yes      yes
text          plain text                                            no     yes   no       always
conll-2012    OntoNotes as CoNLL-2012 wrote it; to read only        yes    no    no       no
============  ====================================================  =====  ====  =======  =========

The columns say what a format can hold. Where it does not hold the words, they are found again in the text;
where it does not hold the text, a sentence has none. JSON may also be an array, or one record a line, in
any of its dialects; when no format is named, each record's dialect is seen by its keys, and the format is
called ``json``.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from handful.errors import DataError

from ._conll import read_conll, read_lines, write_conll, write_lines
from ._files import AnyFile, Source, write_text
from ._inline import read_inline, read_text, write_inline, write_text_lines
from ._json_read import read_json
from ._json_write import write_json
from ._ontonotes import read_conll_2012
from ._reading import Corpus, Reading, ReadReport, Stream, named_documents
from ._recognise import recognise
from ._schemes import check_scheme, count_adjacent
from ._types import Sentence

__all__ = ["FORMATS", "READ_ONLY", "WriteReport", "read", "stream", "write"]

FORMATS = (
    "conll",
    "lines",
    "prodigy",
    "huggingface",
    "doccano",
    "spacy",
    "label-studio",
    "inline",
    "text",
)
"""The formats that can be named, to read and to write."""

READ_ONLY = ("json", "conll-2012")
"""Formats that can be named to read, besides `FORMATS`."""

_READERS: dict[str, Callable[[Reading], Iterator[Sentence | None]]] = {
    "conll": read_conll,
    "conll-2012": read_conll_2012,
    "lines": read_lines,
    "inline": read_inline,
    "text": read_text,
}


@dataclass
class WriteReport:
    """What writing a file could not do as asked.

    Parameters
    ----------
    n_sentences : int
        How many were written.
    n_merged : int
        Mentions that the scheme (IO, types) could not keep apart from the one before them.
    notes : Counter of str
        Whatever else was changed or left out, and how often.
    """

    n_sentences: int = 0
    n_merged: int = 0
    notes: Counter[str] = field(default_factory=Counter)


def stream(
    path: AnyFile,
    format: str | None = None,
    *,
    scheme: str | None = None,
    unmarked: Literal["O", "unknown"] = "O",
    misaligned: Literal["error", "widen"] = "error",
    malformed: Literal["error", "skip"] = "error",
    unnamed: Literal["keep", "skip"] = "keep",
    names: Sequence[str] | None = None,
    encoding: str = "utf-8",
    unlabelled: bool = False,
    whole: bool = False,
) -> Stream:
    """Read a file sentence by sentence, so that one larger than memory passes through.

    Takes what `read` takes, and `whole`: whether plain text comes as whole documents, each one long `Sentence`, instead
    of cut into sentences. Of unlabelled JSON, records without a word then come too, as a `Sentence` without words.

    Returns
    -------
    Stream
        An iterator of `Sentence`, whose ``report`` is complete at its end.
    """
    _check_choice("format", format, (None, *READ_ONLY, *FORMATS))
    _check_choice("unmarked", unmarked, ("O", "unknown"))
    _check_choice("misaligned", misaligned, ("error", "widen"))
    _check_choice("malformed", malformed, ("error", "skip"))
    _check_choice("unnamed", unnamed, ("keep", "skip"))
    _check_names(names)
    if scheme is not None:
        check_scheme(scheme)
    source = Source(path, encoding)
    try:
        found = format or recognise(source, is_unlabelled=unlabelled)
    except BaseException:
        source.close()
        raise
    reading = Reading(
        source,
        ReadReport(source.name, found),
        scheme=scheme,
        is_unmarked_unknown=unmarked == "unknown",
        is_widening=misaligned == "widen",
        is_skipping=malformed == "skip",
        is_whole=whole,
        names=names,
        is_by_document=unnamed == "skip",
        is_unlabelled=unlabelled,
        is_counting_marks=unlabelled and format is None,
    )
    sentences: Iterator[Any] = _READERS[found](reading) if found in _READERS else read_json(reading, found)
    return Stream(reading, named_documents(reading, sentences) if reading.is_by_document else sentences)


def read(
    path: AnyFile,
    format: str | None = None,
    *,
    scheme: str | None = None,
    unmarked: Literal["O", "unknown"] = "O",
    misaligned: Literal["error", "widen"] = "error",
    malformed: Literal["error", "skip"] = "error",
    unnamed: Literal["keep", "skip"] = "keep",
    names: Sequence[str] | None = None,
    encoding: str = "utf-8",
    unlabelled: bool = False,
) -> Corpus:
    """Read a file of sentences, labelled or not.

    Parameters
    ----------
    path : path, "-" or open file
        ``-`` is standard input. Gzip is recognised.
    format : str or None
        One of `FORMATS`, "json" for any JSON dialect, or "conll-2012"; ``None`` recognises it by the content.
    scheme : str or None
        The tag scheme, where there are tags (see `handful.text._schemes`); ``None`` reads any.
    unmarked : "O" or "unknown"
        What words are that no mention covers (or that are tagged O).
    misaligned : "error" or "widen"
        What to do with spans of characters that end within a word.
    malformed : "error" or "skip"
        What to do with lines or records that are not as the format asks. Skipping is counted; in CoNLL the
        line's whole sentence is left out. A JSON array that is broken is an error all the same.
    unnamed : "keep" or "skip"
        What to do with documents in which nothing is marked, as in parts of OntoNotes that nobody annotated. A
        document begins at ``-DOCSTART-`` (conll) or ``#begin document`` (conll-2012); elsewhere the file is one.
        Those skipped are counted.
    names : sequence of str or None
        The tags' names, for Hugging Face tags that are numbers.
    encoding : str
        The text's encoding.
    unlabelled : bool
        Whether this is text to tag, or to learn from without labels. Then some ``[words](TYPE)`` in a file of no named
        format are plain text (unless half of its lines have them), and JSON records without a word are passed over.

    Returns
    -------
    Corpus
        A list of `Sentence`, whose ``report`` says what was met with and counts whatever was not simply taken.

    Raises
    ------
    FileError
        The file cannot be read.
    FormatError
        The content is not what the format asks for; the message says where, what was found and expected.
    DataError
        An option that does not exist.
    """
    return Corpus(
        stream(
            path,
            format,
            scheme=scheme,
            unmarked=unmarked,
            misaligned=misaligned,
            malformed=malformed,
            unnamed=unnamed,
            names=names,
            encoding=encoding,
            unlabelled=unlabelled,
        )
    )


def write(
    sentences: Iterable[Sentence],
    path: AnyFile,
    format: str,
    *,
    scheme: str = "BIO",
    names: Sequence[str] | None = None,
) -> WriteReport:
    """Write sentences to a file; all of it, or none.

    Parameters
    ----------
    sentences : iterable of Sentence
        May be a stream.
    path : path, "-" or open file
        ``-`` is standard output. A path that ends in ``.gz`` is compressed.
    format : str
        One of `FORMATS`.
    scheme : str
        The tag scheme, where the format has tags.
    names : sequence of str or None
        Write Hugging Face tags as numbers, by their place in this list.

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
    _check_choice("format", format, FORMATS)
    check_scheme(scheme)
    _check_names(names)
    report = WriteReport()
    merges = scheme in ("IO", "types") and format in ("conll", "lines", "huggingface")

    def counted() -> Iterator[Sentence]:
        for sentence in sentences:
            if not isinstance(sentence, Sentence):
                raise DataError(f"sentences to write are Sentence objects, not {sentence!r}")
            report.n_sentences += 1
            if merges:
                report.n_merged += count_adjacent(sentence.spans)
            yield sentence

    if format == "conll":
        pieces = write_conll(counted(), scheme)
    elif format == "lines":
        pieces = write_lines(counted(), scheme)
    elif format == "inline":
        pieces = write_inline(counted(), report.notes)
    elif format == "text":
        pieces = write_text_lines(counted(), report.notes)
    else:
        pieces = write_json(counted(), format, scheme, names, report.notes)
    write_text(path, pieces)
    return report


def _check_choice(name: str, value: object, choices: Sequence[str | None]) -> None:
    if value not in choices:
        raise DataError(f"{name} is {value!r}, expected one of {', '.join(str(choice) for choice in choices)}")


def _check_names(names: object) -> None:
    if names is None:
        return
    if isinstance(names, str) or not isinstance(names, Sequence) or not all(isinstance(n, str) for n in names):
        raise DataError(f"names is {names!r}, expected a sequence of tags such as ['O', 'B-PER', 'I-PER']")
