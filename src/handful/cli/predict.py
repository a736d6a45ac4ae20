"""``handful predict``: mentions in texts, streamed."""

import json
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handful.errors import DataError

from .options import (
    Encoding,
    From,
    Given,
    MinScore,
    Model,
    ModelEncoder,
    Quiet,
    Texts,
    Threads,
    counting,
    documents_of,
    is_terminal,
    load,
    one_of,
    say_report,
    sentences_of,
)
from .show import bracketed, has_colours

if TYPE_CHECKING:
    from handful.tagger import Tagger
    from handful.text import Sentence

_TO = (
    "jsonl",
    "conll",
    "html",
    "prodigy",
    "doccano",
    "label-studio",
    "text",
    "inline",
    "spacy",
    "huggingface",
    "lines",
)
_BY_SENTENCE = ("conll", "inline", "huggingface", "lines")  # the others: by document
_BY_SUFFIX = {
    ".jsonl": "jsonl",
    ".json": "jsonl",
    ".ndjson": "jsonl",
    ".conll": "conll",
    ".html": "html",
    ".htm": "html",
    "": "jsonl",
}

_Predicted = Iterator[tuple["Sentence", list[dict[str, Any]]]]
_WithRest = Iterator[tuple["Sentence", list[dict[str, Any]], dict[str, Any]]]


def predict(
    model: Model,
    files: Texts = None,
    text: Given = None,
    to: Annotated[
        str | None,
        typer.Option(
            "--to",
            metavar="FORMAT",
            callback=one_of(*_TO),
            show_default=False,
            help=f"{', '.join(_TO)}; if not set, by the ending of --out, or "
            "coloured text on a terminal and jsonl elsewhere.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option("--out", show_default=False, help="The file to write; it appears when complete.")
    ] = None,
    min_score: MinScore = 0.0,
    encoder: ModelEncoder = None,
    from_format: From = None,
    encoding: Encoding = "utf-8",
    as_json: Annotated[bool, typer.Option("--json", help="The same as --to jsonl.")] = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> None:
    """Find mentions in texts.

    Each line of jsonl is a document: its [bold]text[/bold] and its [bold]entities[/bold], each with entity_group,
    score, word, start and end; and, where JSON records are read, what else stands in the record, such as its id. In
    plain text a document is a line, or what stands between blank lines if lines are wrapped. conll, lines, inline and
    huggingface are written a sentence at a time. Files of any size pass through in little memory.

    [bold]Examples[/bold]

    \b
    handful predict model notes.txt
    handful predict model notes.txt --to html > notes.html
    handful predict model --text "Ekeus heads for Baghdad" --json
    zcat huge.txt.gz | handful predict model - --min-score 0.5 > found.jsonl
    """
    if as_json and to not in (None, "jsonl"):
        raise typer.BadParameter(f"--json is --to jsonl; found --to {to} as well")
    to = "jsonl" if as_json else to or _default_format(out)
    tagger = load(model, encoder, threads)
    unfit = None if to in ("jsonl", "html") else _unfit(tagger.types_, "inline" if to == "text" else to)
    if unfit is not None and to != "text":
        raise DataError(f"--to {to} cannot be written with the types of this model: {unfit}; --to jsonl holds any type")
    texts: Iterable[tuple[str | Sentence, dict[str, Any]]]
    if to in _BY_SENTENCE:
        texts = ((sentence, {}) for sentence in sentences_of(files, text, from_format, encoding, quiet=quiet))
    else:
        texts = documents_of(files, text, from_format, encoding, quiet=quiet)
    texts = counting(texts, quiet=quiet or (out is None and is_terminal()))
    every = _predicted(tagger, texts, min_score)
    predicted = ((document, mentions) for document, mentions, _ in every if document.words)
    target = "-" if out is None else out
    if to == "text" and target == "-" and has_colours():
        _print(tagger, predicted)
    elif unfit is not None:  # to be read by people only
        _write(target, (bracketed(_with_mentions(document, mentions)) for document, mentions in predicted))
    elif to == "jsonl":
        _write(target, (_line(*each) for each in every))
    elif to == "html":
        _write(target, _page(tagger, predicted, f"{model.resolve().name} · {', '.join(files or []) or 'text'}"))
    else:  # text without colours: brackets, which handful reads
        from handful.text import write

        labelled = (_with_mentions(document, mentions) for document, mentions in predicted)
        report = write(labelled, target, "inline" if to == "text" else to)
        say_report(report, str(out or "standard output"), quiet=quiet)


def _default_format(out: Path | None) -> str:
    if out is not None:
        suffix = (out.with_suffix("") if out.suffix.lower() == ".gz" else out).suffix.lower()
        if suffix not in _BY_SUFFIX:
            endings = ", ".join(filter(None, _BY_SUFFIX))
            raise typer.BadParameter(
                f"{out.name} ends in {suffix}, which is no format; name the file with {endings}, or say --to"
            )
        return _BY_SUFFIX[suffix]
    return "text" if is_terminal() else "jsonl"


def _unfit(types: list[str], format: str) -> DataError | None:
    """Give what is wrong with the first type that a format cannot hold."""
    from handful.text import Sentence, Span, write

    for name in types:
        try:
            write([Sentence(("word",), (Span(0, 1, name),))], StringIO(), format)
        except DataError as error:
            return error
    return None


def _predicted(
    tagger: "Tagger", texts: "Iterable[tuple[str | Sentence, dict[str, Any]]]", min_score: float
) -> _WithRest:
    """Give each text, as one `Sentence`, with the mentions in it; only those on their way are held."""
    from handful.text import Sentence, to_sentences

    waiting: deque[tuple[Sentence, dict[str, Any]]] = deque()

    def passing() -> "Iterator[str | Sentence]":
        for text, rest in texts:
            if isinstance(text, str):
                found = to_sentences(text, is_whole=True)
                document = found[0] if found else Sentence.trusted((), text=text, starts=())
            else:
                document = text.with_text()
            waiting.append((document, rest))
            if document.words:
                yield text

    def without_words() -> _WithRest:
        while waiting and not waiting[0][0].words:
            document, rest = waiting.popleft()
            yield document, [], rest

    for mentions in tagger.predict_iter(passing(), min_score=min_score):
        yield from without_words()
        document, rest = waiting.popleft()
        yield document, mentions, rest
    yield from without_words()


def _with_mentions(document: "Sentence", mentions: list[dict[str, Any]]) -> "Sentence":
    """Give a document its mentions as spans of words."""
    from handful.text import Span

    offsets = document.offsets or ()
    first = {start: i for i, (start, _) in enumerate(offsets)}
    last = {end: i + 1 for i, (_, end) in enumerate(offsets)}
    spans = tuple(Span(first[m["start"]], last[m["end"]], m["entity_group"]) for m in mentions)
    return replace(document, spans=spans, allowed=None)


def _line(document: "Sentence", mentions: list[dict[str, Any]], rest: dict[str, Any]) -> str:
    return json.dumps({"text": document.text, "entities": mentions} | rest, ensure_ascii=False) + "\n"


def _page(tagger: "Tagger", predicted: _Predicted, title: str) -> Iterator[str]:
    from handful.web._page import CLOSING, marked, opening

    types = tagger.types_
    yield opening(title, types)
    for document, mentions in predicted:
        yield marked(_with_mentions(document, mentions), types, [mention["score"] for mention in mentions])
    yield CLOSING


def _print(tagger: "Tagger", predicted: _Predicted) -> None:
    from rich.console import Console

    from .show import coloured, colours_of

    console = Console(highlight=False, soft_wrap=True)
    colours = colours_of(tagger.types_)
    for document, mentions in predicted:
        console.print(coloured(_with_mentions(document, mentions), colours))


def _write(target: "Path | str", pieces: Iterator[str]) -> None:
    from handful.text._files import write_text

    write_text(target, pieces)
