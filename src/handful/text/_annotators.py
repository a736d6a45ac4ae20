"""Several annotations of the same text: one is chosen, or they become one.

===========  =========================================================================================================
None         they must agree; it is an error if they do not
first        the one that comes first
majority     the mentions that more than half of the annotators marked; all other words are O
agree        the mentions that all of them marked; where they differ, a word may be what any of them says (a partial
             label)
a name       those of one annotator
===========  =========================================================================================================

Annotations of the same text are the ``annotations`` of a Label Studio task, or records of a file. Who made a record is
said by one of the fields `FIELDS`. With None, records are compared if they have the same text, and come from different
annotators or have the same id. With anything else, they are put together if they have the same text.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from handful.errors import Advice, DataError, FormatError, shorten

from ._document import Document
from ._reading import FileReader
from ._sentences import Sentence, Span, relabelled

__all__ = ["RULES", "Annotation", "Annotator", "annotator_of", "choose", "settle_repeated"]

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


def choose(annotations: Sequence[Annotation], how: str | None) -> Sentence | None:
    """Make one of several annotations of a text; None if the annotator who is asked for made none of them."""
    if how is not None and how not in RULES:
        annotations = [one for one in annotations if one.annotator is not None and one.annotator.is_called(how)]
        return annotations[0].sentence if annotations else None
    first = annotations[0].sentence
    if how == "first" or len(annotations) == 1:
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
    python = "" if name is None else f", or the name of one, such as {name!r}"
    shell = "" if name is None else f", or the name of one, such as {name}"
    return Advice(
        f"say annotator='first', 'majority' or 'agree'{python}", f"say --annotator first, majority or agree{shell}"
    )


def settle_repeated(reading: FileReader, found: Iterator[tuple[str, Document]]) -> Iterator[Document]:
    """Yield documents of which no two are annotations of the same text, each of which comes with its place.

    With majority and agree, the file is read to its end first.
    """
    how = reading.options.annotator
    if reading.options.unlabelled:
        return (document for _, document in found)
    if how is None:
        return _checked(reading, found)
    if how == "first":
        return _first(reading, found)
    if how not in RULES:
        return _of_one(reading, found, how)
    return _merged(reading, found, how)


def _annotator(document: Document) -> Annotator | None:
    for field in FIELDS:
        if field in document.meta and (found := annotator_of(document.meta[field])) is not None:
            return found
    return None


def _annotation(document: Document) -> Annotation | None:
    """Return the labels of a document that is one sentence; None where there are none."""
    if len(document.sentences) != 1 or document.is_unlabelled:
        return None
    return Annotation(_annotator(document), document.sentences[0])


def _checked(reading: FileReader, found: Iterator[tuple[str, Document]]) -> Iterator[Document]:
    """Refuse annotations of the same text that do not agree, and leave out those of others that do."""
    seen: dict[int, tuple[str, str | None, int]] = {}  # hashes, so that large files need little memory
    for place, document in found:
        one = _annotation(document)
        has_id = document.id is not None and document.text  # sentences of a document may all have its id
        if one is None or not (one.annotator or has_id) or _is_predicted(one.sentence):
            yield document
            continue
        key = hash((_text(document), None if one.annotator else document.id))
        name = str(one.annotator) if one.annotator else None
        labels = hash((one.sentence.spans, one.sentence.allowed))
        before, other, others = seen.setdefault(key, (place, name, labels))
        if labels != others:
            message = f"the labels{_by(name)} are not those of the same text{_by(other)}, {_spoken(before)}"
            reading.malformed(place, DataError(message, _advice(one)))
        elif name != other:
            reading.report.notes["records in which another annotator said the same were left out"] += 1
        else:
            yield document


def _by(name: str | None) -> str:
    return f" by {name}" if name else ""


def _spoken(place: str) -> str:
    """Return a place as part of a sentence: ``:3`` is "in line 3"."""
    line, _, record = place.removeprefix(":").partition(": ")
    return f"in line {line}" if not record and line.isdecimal() else f"in {(record or line).strip()}"


def _is_predicted(sentence: Sentence) -> bool:
    return any(span.score is not None for span in sentence.spans or ())


def _first(reading: FileReader, found: Iterator[tuple[str, Document]]) -> Iterator[Document]:
    seen: set[int] = set()
    for _, document in found:
        key = hash(_text(document))
        if document.is_unlabelled or key not in seen:
            yield document
        else:
            reading.report.notes["further annotations of the same text were left out"] += 1
        if not document.is_unlabelled:
            seen.add(key)


def _of_one(reading: FileReader, found: Iterator[tuple[str, Document]], name: str) -> Iterator[Document]:
    """Yield what one annotator labelled; `reading.annotators` are those of Label Studio tasks."""
    for _, document in found:
        annotator = None if document.is_unlabelled else _annotator(document)
        if annotator is not None:
            reading.annotators[annotator] = None
            if not annotator.is_called(name):
                reading.report.notes["records of other annotators were left out"] += 1
                continue
        yield document
    if not any(one.is_called(name) for one in reading.annotators):
        there = ", ".join(map(str, reading.annotators))
        raise FormatError(
            f"{reading.source.name}: there is no annotator {name!r}; "
            + (f"there are {shorten(there)}" if there else "no record says who annotated it")
        )


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
        assert settled is not None  # the rule is not a name
        yield document.with_sentences([settled])


def _text(document: Document) -> str:
    return document.text or " ".join(word for sentence in document.sentences for word in sentence.words)
