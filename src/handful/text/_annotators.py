"""Several annotations of the same text: one is chosen, or they become one, as docs/formats.md says.

Annotations of the same text are the ``annotations`` of a Label Studio task, or records of a file. Who made a record is
said by one of the fields `FIELDS`. With None, records are compared if they have the same text, and come from different
annotators or have the same id; it is an error if they differ. With anything else, they are put together if they have
the same text.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from handful.errors import Advice, DataError, FormatError, shorten

from ._document import Document
from ._labels import Span
from ._reading import FileReader
from ._sentences import Sentence, relabelled

RULES = ("first", "majority", "agree")
FIELDS = ("_annotator_id", "_session_id", "annotator", "annotator_id")


class Annotator(NamedTuple):
    """Who made an annotation, under all names that are known; the first one is for messages."""

    names: tuple[str, ...]

    def __str__(self) -> str:
        return self.names[0]

    def is_called(self, name: str) -> bool:
        """Whether this is a name of the annotator; Prodigy puts the name of the dataset and a hyphen before it."""
        return any(one == name or one.endswith(f"-{name}") for one in self.names)


class Annotation(NamedTuple):
    """The labels that one annotator gave to a text."""

    annotator: Annotator | None
    sentence: Sentence


def annotator_of(value: Any) -> Annotator | None:
    """Return the annotator whom a field names: by a name, a number, or an object with an ``email`` or an ``id``."""
    names = [value.get(key) for key in ("email", "username", "id")] if isinstance(value, Mapping) else [value]
    found = tuple(str(name) for name in names if type(name) in (str, int) and name != "")
    return Annotator(found) if found else None


def choose(annotations: Sequence[Annotation], how: str | None) -> Sentence:
    """Make one of several annotations of a text; where `how` is the name of an annotator, they are all his or hers."""
    first = annotations[0].sentence
    if how not in (None, "majority", "agree") or len(annotations) == 1:
        return first
    if any(one.sentence.words != first.words for one in annotations):
        raise DataError("the annotations of the text do not have the same words")
    if how is None:
        _refuse_difference(annotations)
        return first
    return _majority(annotations) if how == "majority" else _agreement(annotations)


def _majority(annotations: Sequence[Annotation]) -> Sentence:
    most = len(annotations) / 2
    first = annotations[0].sentence
    marked = Counter(span for one in annotations for span in one.sentence.spans or ())
    said = zip(*(one.sentence.allowed or [None] * len(first.words) for one in annotations), strict=True)
    entries = [next((entry for entry, n in Counter(word).items() if entry and n > most), None) for word in said]
    return relabelled(first, [_plain(span) for span, n in marked.items() if n > most], entries)


def _agreement(annotations: Sequence[Annotation]) -> Sentence:
    first = annotations[0].sentence
    agreed = [span for span in first.spans or () if all(span in (one.sentence.spans or ()) for one in annotations)]
    rows = zip(*(one.sentence.constraints() for one in annotations), strict=True)
    entries = [reduce(or_, row) for row in rows]
    covered = {i for span in agreed for i in range(span.start, span.end)}
    return relabelled(first, map(_plain, agreed), [None if i in covered else one for i, one in enumerate(entries)])


def _plain(span: Span) -> Span:
    """Return a span without a score: it is a label now."""
    return Span(span.start, span.end, span.type)


def _refuse_difference(annotations: Sequence[Annotation]) -> None:
    (who, first), *others = annotations
    for other, sentence in others:
        if (sentence.spans, sentence.allowed) == (first.spans, first.allowed):
            continue
        for one, two, a, b in ((who, other, first, sentence), (other, who, sentence, first)):
            span = next((span for span in a.spans or () if span not in (b.spans or ())), None)
            if span is not None:
                what = f"{shorten(a.span_text(span))!r} ({span.type})"
                found = f"{one} marks {what}, {two} does not" if one and two else f"one marks {what}, one does not"
                break
        else:
            found = "their partial labels differ"
        raise DataError(f"{len(annotations)} annotations do not agree: {found}", _advice(*annotations))


def _advice(*annotations: Annotation) -> Advice:
    name = next((str(one.annotator) for one in annotations if one.annotator is not None), None)
    rules = ("annotator='first', 'majority' or 'agree'", "handful convert --annotator first, majority or agree")
    more = "" if name is None else ", or the name of one, such as {}"
    return Advice.of(f"say {{}}{more}", rules, (repr(name), str(name)))


def settle_repeated(reading: FileReader, found: Iterator[tuple[str, Document]]) -> Iterator[Document]:
    """Yield documents of which no two are annotations of the same text, each of which comes with its place.

    With majority and agree, the file is read to its end first.
    """
    how = reading.options.annotator
    if reading.options.unlabelled:
        return (document for _, document in found)
    if how in ("majority", "agree"):
        return _merged(reading, found, how)
    if how in (None, "first"):
        return _checked(reading, found, is_first=how == "first")
    return _of_one(reading, found, how)


def _annotator(document: Document) -> Annotator | None:
    given = (annotator_of(document.meta[field]) for field in FIELDS if field in document.meta)
    return next((one for one in given if one is not None), None)


def _annotation(document: Document) -> Annotation | None:
    """Return the labels of a document that is one sentence; None where there are none."""
    if len(document.sentences) != 1 or document.is_unlabelled:
        return None
    return Annotation(_annotator(document), document.sentences[0])


def _checked(reading: FileReader, found: Iterator[tuple[str, Document]], *, is_first: bool) -> Iterator[Document]:
    """Pass on the first annotation of each text; refuse others that do not agree with it, unless `is_first`."""
    seen: dict[int, tuple[str, str | None, int]] = {}  # hashes, so that large files need little memory
    notes = reading.report.notes
    for place, document in found:
        one = _annotation(document)
        # Labels that were predicted need not be those of the same text elsewhere; and sentences may share an id.
        is_said = one is not None and all(span.score is None for span in one.sentence.spans or ())
        has_id = document.id is not None and document.text != ""
        if one is None or not (is_first or (is_said and (one.annotator is not None or has_id))):
            yield document
            continue
        key = hash((_text(document), None if is_first or one.annotator else document.id))
        name = str(one.annotator) if one.annotator else None
        labels = hash((one.sentence.spans, one.sentence.allowed))
        is_new = key not in seen
        before, other, others = seen.setdefault(key, (place, name, labels))
        if is_new or (not is_first and (name, labels) == (other, others)):
            yield document
        elif is_first:
            notes["further annotations of the same text were left out"] += 1
        elif labels == others:
            notes["records in which another annotator said the same were left out"] += 1
        else:
            message = (
                f"the labels{_by(name)} are not those of the same text{_by(other)}, at {reading.source.name}{before}"
            )
            reading.malformed(place, DataError(message, _advice(one)))


def _by(name: str | None) -> str:
    return f" by {name}" if name else ""


def _of_one(reading: FileReader, found: Iterator[tuple[str, Document]], name: str) -> Iterator[Document]:
    """Yield what one annotator labelled; `reading.annotators` are those of Label Studio tasks."""
    for _, document in found:
        annotator = None if document.is_unlabelled else _annotator(document)
        if annotator is not None:
            reading.annotators[annotator] = None
        if annotator is None or annotator.is_called(name):
            yield document
        else:
            reading.report.notes["records of other annotators were left out"] += 1
    if not any(one.is_called(name) for one in reading.annotators):
        there = ", ".join(map(str, reading.annotators))
        there = f"there are {shorten(there)}" if there else "no record says who annotated it"
        raise FormatError(f"{reading.source.name}: there is no annotator {name!r}; {there}")


def _merged(reading: FileReader, found: Iterator[tuple[str, Document]], how: str) -> Iterator[Document]:
    groups: dict[tuple[str, int | None], list[tuple[str, Document, Annotation | None]]] = {}
    for number, (place, document) in enumerate(found):
        one = _annotation(document)
        groups.setdefault((_text(document), number if one is None else None), []).append((place, document, one))
    for group in groups.values():
        place, document, _ = group[0]
        annotations = [one for _, _, one in group if one is not None]
        if len(annotations) < 2:
            yield document
            continue
        try:
            settled = choose(annotations, how)
        except DataError as error:
            reading.malformed(place, error)
            continue
        reading.report.notes["annotations of the same text were put together"] += len(annotations)
        yield document.with_sentences([settled])


def _text(document: Document) -> str:
    return document.text or " ".join(word for sentence in document.sentences for word in sentence.words)
