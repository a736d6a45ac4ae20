"""`read` and `stream`, and what they return: the sentences of a file, or its documents one after the other."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from handful._util.files import AnyFile
from handful.errors import Advice, FormatError

from ._document import Document, sentences_of
from ._options import ReadOptions
from ._reading import FileReader, Item
from ._recognise import RECOGNISERS, Head
from ._reports import ReadReport
from ._sentences import Sentence
from ._source import InputFile
from .formats import TABLE
from .types import ABOUT_CORPUS, EntityType, judged_together, type_names, types_in, types_of


class _Described(ABC):
    """Something that was read from a file; its `head` describes types, and the corpus itself."""

    head: tuple[EntityType, ...]

    @abstractmethod
    def _found(self) -> list[str]:
        """Return the names of the types that labels have."""

    @property
    def types(self) -> tuple[EntityType, ...]:
        """The types that the file describes, marked or not, and then those that are found in labels only."""
        found = self._found()
        head = (one for one in self.head if one.name not in ABOUT_CORPUS or one.name in found)
        return types_of([*head, *map(EntityType, found)])

    @property
    def meta(self) -> dict[str, str]:
        """The ``domain`` and the ``register`` of the corpus, as far as the head of the file says them."""
        about = set(ABOUT_CORPUS) - set(self._found())
        return {one.name: one.description for one in self.head if one.name in about}


class Corpus(_Described, list[Sentence]):
    """A list of sentences that were read from a file.

    Parameters
    ----------
    sentences : they are taken as they are
    report : what reading the file found
    head : what the head of the file describes: types, and the corpus itself
    """

    def __init__(self, sentences: Iterable[Sentence], report: ReadReport, head: Iterable[EntityType] = ()) -> None:
        super().__init__(sentences)
        self.report = report
        self.head = tuple(head)

    def _found(self) -> list[str]:
        return types_in(self)


class Stream(_Described, Iterator[Document]):
    """The documents of a file, one after the other, in little memory.

    It closes the file at its end, when it is used in a ``with`` statement, and when it is thrown away. Its `report` is
    complete at the end; its `head` is what the head of the file describes: types, and the corpus itself.
    """

    def __init__(self, reading: FileReader, items: Iterator[Item]) -> None:
        self.report = reading.report
        self.head = reading.types.types(reading.described) if reading.types else reading.described
        self.is_by_line = reading.is_by_line  # whether each line is a document, so that the file can be cut there
        self.n_row_groups = reading.n_row_groups  # of a Parquet file
        self._source = reading.source
        self._names: set[str] = set()
        self._items = _counted(reading, items)  # does not know this object, which can therefore be thrown away

    def __next__(self) -> Document:
        item = next(self._items)
        document = item if isinstance(item, Document) else Document.of(item)
        if document.sentences and document.sentences[0].text is None:  # words that came without a text are one sentence
            document = Document.of(document.sentences[0], id=document.id, meta=document.meta)
        for sentence in document.sentences:
            if sentence.spans:
                self._names |= type_names(sentence)
        return document

    def _found(self) -> list[str]:
        return sorted(self._names)

    def is_ready(self, seconds: float) -> bool:
        """Whether the next document can be had without waiting longer than this; only a pipe makes one wait."""
        with self._source.errors():
            return self._source.is_ready(seconds)

    @property
    def share(self) -> float | None:
        """The share of the file that was read so far; None where its size is not known."""
        return self._source.share

    def corpus(self) -> Corpus:
        """Read all sentences that are left; documents without a word are passed over and counted."""
        found: list[Sentence] = []
        for item in self._items:
            found += sentences_of(item)
            if isinstance(item, Document) and not item.sentences:
                self.report.notes["records without a word were passed over"] += 1
        corpus = Corpus(found, self.report, self.head)
        if len(self.head) > len(corpus.meta):  # it says which types were looked for
            corpus[:] = judged_together(corpus, [one.name for one in corpus.types])
        return corpus

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    def __enter__(self) -> "Stream":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()


def _counted(reading: FileReader, items: Iterator[Item]) -> Iterator[Sentence | Document]:
    """Pass on what is read, and count it; close the file at the end."""
    report = reading.report
    if reading.options.judged is not None:
        items = (_judged_for(item, reading.options.judged) for item in items)
    try:
        with reading.source.errors():
            for item in items:
                if isinstance(item, Sentence):
                    report.n_sentences += 1
                    report.n_words += len(item.words)
                else:
                    report.n_sentences += len(item.sentences)
                    report.n_words += item.n_words
                yield item
    finally:
        report.scheme, report.n_broken = reading.tags.scheme, reading.tags.n_broken
        report.notes.update(reading.types.unused())
        reading.source.close()


def _judged_for(item: Item, types: Sequence[str]) -> Item:
    def judged(one: Sentence) -> Sentence:
        return one if one.is_unlabelled else one.judged_for({*types, *type_names(one)})

    if isinstance(item, Document):
        return item.with_sentences(map(judged, item.sentences))
    return judged(item)


def read(path: AnyFile, format: str | None = None, **options: Any) -> Corpus:
    """Return the sentences of a file, labelled or not: a list of `Sentence`, with the `report` of what reading found.

    Its ``types`` are those that the file describes or marks, its ``meta`` is what the file says about itself. Documents
    without a word are passed over and counted. Where the head of a file describes types, its labelled sentences were
    judged for all of them.

    Parameters
    ----------
    path : ``-`` is standard input. Gzip is recognised.
    format : one of `FORMATS` or `READ_ONLY`; ``None`` recognises it by the content
    **options : see `ReadOptions`

    Raises
    ------
    FileError : the file cannot be read
    FormatError : the content is not what the format asks for; the message says where, and what was found and expected
    DataError : an option that does not exist
    """
    return stream(path, format, **options).corpus()


def stream(path: AnyFile, format: str | None = None, **options: Any) -> Stream:
    """Read a file document by document, so that one larger than memory passes through.

    Parameters and errors are those of `read`. The result is an iterator of `Document`. Its ``types``, ``meta`` and
    ``report`` are those of a `Corpus`; they are complete at its end. A line or a block of plain text, or a JSON record,
    is a document; elsewhere each sentence is one. JSON records without a word have no sentences.
    """
    chosen = ReadOptions.of(format, options)
    source = InputFile(path, chosen.encoding)
    try:
        with source.errors():
            reading = FileReader(source, chosen, ReadReport(source.name, _format_of(source, chosen)))
            return Stream(reading, TABLE[reading.report.format].read(reading))
    except BaseException:
        source.close()
        raise


def _format_of(source: InputFile, chosen: ReadOptions) -> str:
    """Return the format, recognised if none is named; an error if the file is empty, or could be several things.

    Nothing on standard input, to be tagged, is plain text.
    """
    of_bytes = (one.name for one in TABLE.values() if one.first_bytes and source.first.startswith(one.first_bytes))
    found = next(of_bytes, None)
    if found == "project" and chosen.format not in (None, "project"):
        raise FormatError(f"{source.name}: this is a project of handful label, not {chosen.format}")
    if chosen.format is not None or found is not None:
        return chosen.format or found or ""
    head, tried = Head(source, is_unlabelled=chosen.unlabelled, text_field=chosen.text_field), []
    if not head.lines:
        if chosen.unlabelled and source.is_standard_input:
            return "text"
        raise FormatError(f"{source.name}: is empty, there is no text in it")
    for name, (recogniser, sign) in RECOGNISERS.items():
        answer = recogniser(head)
        if answer is True:
            return name
        head.has_doubts |= bool(answer)
        tried.append(f"{name}: {answer or f'there is no {sign}'}")
    raise FormatError(
        f"{source.name}: the format is not clear. Tried {'; '.join(tried)}",
        Advice.of(
            "name it, for example {} to be told what is wrong where, or {} if it is plain text",
            ("format='conll'", "--from conll"),
            ("format='text'", "--from text"),
        ),
    )
