"""Files of every format, types, tag schemes and marks in a text (`handful.text`)."""

import io
import json
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz.engine import Case, Run, Target
from fuzz.mutate import (
    Mutator,
    change_bytes,
    change_docbin,
    change_gzip,
    change_json,
    change_json_lines,
    change_lines,
    change_parquet,
)
from handful.errors import DataError
from handful.tagger.known import KnownWords
from handful.text import (
    FORMATS,
    SCHEMES,
    Document,
    EntityType,
    Sentence,
    Span,
    from_tags,
    read,
    read_tag_names,
    read_types,
    stream,
    to_sentence,
    to_sentences,
    to_tags,
    types_of,
    write,
)
from handful.text._json_read import LABEL_KEYS
from handful.text._schemes import count_adjacent
from handful.text.borders import borders_of
from handful.text.formats import TABLE
from handful.text.guidelines import guideline_of, understood
from handful.text.types import compiled

__all__ = ["TEXT", "check_document"]

# What reading may be told, each of it now and then.
OPTIONS: dict[str, list[Any]] = {
    "malformed": ["skip"],
    "misaligned": ["widen"],
    "unmarked": ["unknown"],
    "tag_names": [["O", "B-PER", "I-PER"]],
    "scheme": list(SCHEMES),
    "annotator": ["first", "agree", "majority", "anna"],
    "rename": [{"PER": "LOC", "LOC": "PER"}, {"PER": "O"}],
    "keep": [["LOC"]],
    "drop": [["PER"]],
    "text_field": ["text", "id", "body"],
    "label_field": ["spans", "entities", "label"],
    "unlabelled": [True],
    "encoding": ["latin-1", "utf-16", "utf-7", "cp1252", "shift_jis"],
    "wrapped": [True, False],
}


def change_options(rng: Random, data: bytes) -> bytes:
    """Choose other options for reading."""
    names = rng.sample(list(OPTIONS), rng.choice((0, 1, 1, 2, 3)))
    return json.dumps({name: rng.choice(OPTIONS[name]) for name in names}).encode()


def as_run(function: Run) -> Callable[[Path], AbstractContextManager[Run]]:
    """Return what opens a target that needs no preparation."""

    @contextmanager
    def opened(folder: Path) -> Iterator[Run]:
        if find_spec("spacy") is not None:
            with warnings.catch_warnings():  # what it imports warns of itself
                warnings.simplefilter("ignore")
                import_module("spacy.tokens")
        yield function

    return opened


def check_document(document: Document) -> None:
    """Check what must hold of any document."""
    for sentence in document.sentences:
        # The checks that a reader goes round must hold all the same.
        parts = sentence.words, sentence.spans, sentence.allowed, sentence.text, sentence.starts, sentence.offset
        assert Sentence(*parts) == sentence
        text = sentence.text or ""
        assert document.text[sentence.offset : sentence.offset + len(text)] == text
        for word, start in zip(sentence.words, sentence.starts or (), strict=True):
            assert text[start : start + len(word)] == word
    for mention in document.predictions():
        assert document.text[mention["start"] : mention["end"]] == mention["word"]
        assert mention["word"]


def written(documents: Iterable[Any], format: str) -> bytes:
    """Return the bytes that writing makes."""
    file = io.BytesIO()
    write(documents, file, format)
    return file.getvalue()


def reader(format: str | None) -> Run:
    """Return what reads a file in a format, and what was read once more after writing it."""

    def run(case: Case) -> object:
        options = json.loads(case["options.json"])
        with stream(io.BytesIO(case["file"]), format, **options) as found:
            documents = list(found)
            report, types = found.report, found.types
        for document in documents:
            check_document(document)
        assert report.n_sentences == sum(len(document.sentences) for document in documents)
        assert report.n_words == sum(document.n_words for document in documents)
        corpus = read(io.BytesIO(case["file"]), format, **options)
        assert [one.words for one in corpus] == [one.words for each in documents for one in each.sentences]
        again = {"json": "jsonl", "parquet": "jsonl", None: "jsonl"}.get(format, format)
        came = not options.get("unlabelled") and came_back(documents, again or "jsonl", options.get("text_field"))
        return report.format, len(documents), len(types), sorted(report.notes, key=str), report.scheme, came

    return run


def came_back(documents: list[Document], format: str, text_field: str | None) -> bool:
    """Whether a format can hold documents; if so, they must come back from it as they were."""
    documents = [one for one in documents if one.sentences]
    if not all(to_sentences(one.text) for one in documents):
        return False  # a word may be a space that does not break, but a text of nothing else is refused
    if any({*LABEL_KEYS["json"], "annotations"} & set(one.meta) for one in documents):
        return False  # other fields that are called as labels are, such as classes, would be read as labels
    if len({one.text_field for one in documents}) > 1:
        return False  # reading takes one name for the field of the text
    try:
        first = written(documents, format)
    except DataError:
        return False
    options: dict[str, Any] = {"wrapped": False, "misaligned": "widen"}
    if format in ("jsonl", "csv", "tsv") and documents:  # others have a name of their own for it
        options["text_field"] = documents[0].text_field
    elif format == "label-studio":
        options["text_field"] = text_field
    try:
        back = list(stream(io.BytesIO(first), format, **options))
    except Exception as error:
        raise AssertionError(f"what was written cannot be read: {error}\n{first[:2000]!r}") from error
    holds = TABLE[format].holds
    if "words" in holds:
        assert words_of(back) == words_of(documents), "other words or mentions came back"
    elif "partial labels" in holds and not changes_words(documents):
        assert marks_of(back) == marks_of(documents), "other mentions came back"
    return True


def words_of(documents: Iterable[Document]) -> list[Any]:
    """Return the words and labels of all sentences, joined over documents."""
    found: list[Any] = []
    for document in documents:
        for sentence in document.sentences:
            for i, word in enumerate(sentence.words):
                span = next((one for one in sentence.spans or () if one.start <= i < one.end), None)
                found.append((word, span and span.type, span is not None and span.start == i))
    return found


def marks_of(documents: Iterable[Document]) -> list[Any]:
    """Return the mentions of all documents: what they say, and their types."""
    return [
        (" ".join(one["word"].split()), one["entity_group"])
        for document in documents
        if document.sentences
        for one in document.predictions()
    ]


def changes_words(documents: Iterable[Document]) -> bool:
    """Whether the words are not those that would be found in the text; then mentions may be widened."""
    return any(
        [(one.offset, one.words) for one in document.sentences]
        != [(one.offset, one.words) for one in to_sentences(document.text)]
        for document in documents
    )


def parsed(data: bytes) -> dict[str, Any]:
    """Return a JSON object; an empty one where there is none."""
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        given = None
    return given if isinstance(given, dict) else {}


def run_types(case: Case) -> object:
    """Read a file of types, and what was read once more after writing it."""
    found = read_types(io.BytesIO(case["file"]), encoding=json.loads(case["options.json"]).get("encoding", "utf-8"))
    assert types_of(found) == found
    lines = "".join(map(_lines_of, found))
    assert read_types(io.StringIO(lines)) == found, lines
    sentence = Sentence(("Ann", "ate", "12", "-", "34", "aaaa", "bbbb", "!", "!", "!", "at", "NEW", "York"))
    many = Sentence(("ab",) * 50, text="ab" * 50, starts=tuple(range(0, 100, 2)))
    n_matches = [len(np.flatnonzero(KnownWords(1.0, found).logits([one]))) for one in (sentence, many)]
    return len(found), sum(bool(one.description) for one in found), sum(len(one.words) for one in found), n_matches


def run_descriptions(case: Case) -> object:
    """Read a description in parts; no word of a part is another word. Its parts may also have fields of their own."""
    description = case["file"].decode("utf-8", "replace")
    (one,) = types_of([{"name": "PER", "description": description}])
    guideline, rules = guideline_of(one.description), borders_of(one.description)
    words = set(re.findall(r"\w+", one.description))
    for part in (guideline.meaning, *(text for each in guideline.excludes for text in (each.text, each.said))):
        assert words.issuperset(re.findall(r"\w+", part)), part
    assert all(rule.said in one.description and (rule.first or rule.last) for rule in rules)
    lines = description.splitlines()
    (fields,) = types_of([{"name": "PER", "not": lines[:2], "such as": lines[2:4]}])
    return len(guideline.excludes), len(rules), len(understood(fields.description)), len(guideline.meaning) // 20


def _lines_of(one: EntityType) -> str:
    """Write a type as a file says it."""
    first = f"{one.name}: {one.description}\n" if one.description else f"{one.name}\n"
    words = [f"  words: {word}\n" if compiled(word) else f"  words: {word},\n" for word in one.words]
    return "".join([first, *words, f"  weight: {one.weight:.400f}\n"])


def run_names(case: Case) -> object:
    """Read a file with the names of tags."""
    found = read_tag_names(io.BytesIO(case["file"]))
    assert all(isinstance(one, str) for one in found)
    return len(found)


def run_schemes(case: Case) -> object:
    """Read tags; write and read them in every scheme."""
    given = parsed(case["file"])
    tags, scheme = given.get("tags"), given.get("scheme")
    if not isinstance(tags, list) or not all(isinstance(one, str) for one in tags) or scheme not in (None, *SCHEMES):
        return "not tags"
    sentence = from_tags([f"w{i}" for i in range(len(tags))], tags, scheme)
    held = []
    for name in SCHEMES:
        try:
            new = to_tags(sentence, name)
        except DataError:
            continue
        back = from_tags(sentence.words, new, name)
        expected = merged(sentence) if name in ("IO", "types") else sentence
        assert back == expected, (name, new)
        assert to_tags(back, name) == new
        if name != "types":  # any other scheme is recognised
            assert from_tags(sentence.words, new) == expected, (name, new)
        held.append(name)
    if scheme is not None and sentence.spans is not None:
        assert scheme in held or scheme == "types", scheme
    return held, len(sentence.spans or ()), sentence.allowed is not None, count_adjacent(sentence.spans)


def merged(sentence: Sentence) -> Sentence:
    """Return a sentence as IO tags hold it: mentions of a type side by side are one."""
    if sentence.spans is None:
        return sentence
    spans: list[Span] = []
    for span in sentence.spans:
        if spans and spans[-1].end == span.start and spans[-1].type == span.type:
            span = Span(spans.pop().start, span.end, span.type)
        spans.append(span)
    return Sentence(sentence.words, tuple(spans), sentence.allowed)


def run_marks(case: Case) -> object:
    """Mark mentions in a text, and read the marks."""
    given = parsed(case["file"])
    text, spans = given.get("text"), given.get("spans")
    if not isinstance(text, str) or not isinstance(spans, list):
        return "no text"
    plain = to_sentence(text)
    marks = [Span(*one) if isinstance(one, list) and len(one) == 3 else Span(0, 1, "X") for one in spans]
    sentence = Sentence(plain.words, tuple(marks), None, plain.text, plain.starts)
    data = written([sentence], "inline")
    (back,) = read(io.BytesIO(data), "inline")
    if not set("\r\n") & set(text):
        assert back == sentence, data
    else:
        assert [one.type for one in back.spans or ()] == [one.type for one in sentence.spans or ()], data
    return len(marks), text == back.text, data.count(b"\\") > 0


def run_words(case: Case) -> object:
    """Cut a text into sentences and words."""
    text = case["file"].decode("utf-8", "surrogateescape")
    sentences = to_sentences(text)
    check_document(Document(text, tuple(sentences)))
    at = 0
    for sentence in sentences:  # nothing that can be seen is lost
        assert not text[at : sentence.offset].strip().isalnum()
        at = sentence.offset + len(sentence.text or "")
    assert not text[at:].strip().isalnum()
    return len(sentences), sum(map(len, sentences)) // 4


_LINES: tuple[Mutator, ...] = (change_bytes, change_bytes, change_lines)
_CHANGES: dict[str, tuple[Mutator, ...]] = {
    **dict.fromkeys(("gliner", "label-studio"), (change_json, change_json, change_bytes)),
    **dict.fromkeys(
        ("prodigy", "huggingface", "doccano", "spacy", "jsonl", "json"),
        (change_json_lines, change_json_lines, change_json, change_bytes, change_lines),
    ),
    "docbin": (change_docbin, change_docbin, change_bytes),
    "parquet": (change_parquet, change_parquet, change_bytes),
    "any": (*_LINES, change_json, change_json_lines, change_gzip),
}


def _reader(format: str | None) -> Target:
    name = format or "any"
    mutators = {"file": _CHANGES.get(name, _LINES) * 4, "options.json": (change_options,)}
    mutators["file"] = (*mutators["file"], change_gzip)
    about = f"a file of the format {format}" if format else "a file whose format is not named"
    needs = ("spacy",) if format in ("docbin", None) else ("pyarrow",) if format == "parquet" else ()
    return Target(f"read-{name}", about, as_run(reader(format)), mutators, needs, {"options.json": b"{}"})


def _small(name: str, about: str, run: Run, *mutators: Mutator) -> Target:
    changes = {"file": mutators, "options.json": (change_options,)}
    return Target(name, about, as_run(run), changes, more={"options.json": b"{}"})


TEXT: list[Target] = [
    *map(_reader, (None, "json", "parquet", *FORMATS)),
    _small("types", "a file of types", run_types, *_LINES),
    _small("descriptions", "a description of a type, in parts", run_descriptions, *_LINES),
    _small("tag-names", "a file with the names of tags", run_names, *_LINES, change_json),
    _small("schemes", "tags in every scheme", run_schemes, change_json),
    _small("marks", "marks in a text", run_marks, change_json),
    _small("words", "a text, cut into sentences and words", run_words, *_LINES),
]
