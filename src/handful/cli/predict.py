"""``handful predict``: mentions in texts, streamed."""

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import typer

from handful._util.files import check_file, write_text
from handful.errors import number_of
from handful.text import ENDINGS, FORMATS, Document, EntityType, write

from . import options as opt
from ._common import cluster, least_score, load, progress_of, say, say_report
from .reading import Documents

_TO = ("html", *FORMATS)
_BY_SUFFIX = {**ENDINGS, ".html": "html", ".htm": "html", "": "jsonl"}


def predict(
    model: str | None = opt.argument(
        None, "[MODEL]", "The folder that handful fit wrote; none with --types, where all are texts."
    ),
    files: opt.Texts = None,
    types: opt.Types = None,
    text: opt.Given = None,
    to: str | None = opt.own(
        None,
        "--to",
        "FORMAT",
        f"{', '.join(_TO)}; if not set, by the ending of --out, or coloured text on a terminal and jsonl elsewhere.",
        callback=opt.one_of(*_TO),
    ),
    out: opt.OutFile = None,
    min_score: opt.MinScore = "0",
    find: opt.Find = None,
    overlap: opt.Overlap = False,
    keep_features: opt.KeepFeatures = False,
    encoder: opt.ModelEncoder = None,
    from_format: opt.From = None,
    text_field: opt.TextField = None,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
    skip_malformed: opt.SkipMalformed = False,
    dask: opt.Dask = None,
    workers: opt.Workers = None,
) -> None:
    """Find mentions in texts.

    With [bold]--types[/bold] there is no model: mentions are found by what the types mean, with no label at all.

    Each line of jsonl is a document: its [bold]text[/bold] and its [bold]entities[/bold], each with entity_group,
    score, word, start and end; and, where JSON records are read, what else is in the record, such as its id. In
    plain text a document is a line, or a block between blank lines if lines are wrapped. A table keeps its columns; csv
    and tsv add one with the entities as JSON. conll, inline, huggingface and gliner are written one sentence at
    a time. Files of any size pass through in little memory; lines from a pipe are answered as they come.

    Texts are files, patterns such as 'news/*.jsonl', and Parquet files or folders of them. With [bold]--dask[/bold] or
    [bold]--workers[/bold], several processes share the work, and [bold]--out[/bold] is a folder of shards (jsonl).
    A run that was stopped goes on where it was.

    [bold]--find more[/bold] finds more mentions, some of them wrong; [bold]--find sure[/bold] finds fewer, most of them
    right. [bold]handful evaluate[/bold] shows how precision and recall change with it.

    Text that [bold]handful fit[/bold] has read is not encoded again. With [bold]--keep-features[/bold] the same holds
    for this text, the next time.

    [bold]Examples[/bold]

    \b
    handful predict --types "person, place, disease" notes.txt
    handful predict model notes.txt
    handful predict model notes.txt --find more
    handful predict model notes.txt --to html > notes.html
    handful predict model --text "Ekeus heads for Baghdad" --to jsonl
    handful predict model notes.txt --keep-features > found.jsonl
    handful predict model reviews.csv --text-field body --out found.csv
    zcat huge.txt.gz | handful predict model - --min-score 0.5 > found.jsonl
    tail -f log | handful predict model -
    handful predict model 'news/*.jsonl' --workers 4 --out found
    """
    is_far = dask is not None or workers is not None
    to = to or ("jsonl" if is_far else _default_format(out))
    if model is None and types is None:
        raise typer.BadParameter("name a model, or the types to find (--types)")
    if types is not None:
        files = [*([] if model is None else [model]), *(files or [])]
    options = {"text_field": text_field, "malformed": "skip" if skip_malformed else "error"}
    least = least_score(min_score)
    if is_far:
        if out is None or text or not files or to != "jsonl":
            raise typer.BadParameter("--dask and --workers need files, --out FOLDER, and --to jsonl")
    else:
        if out is not None:
            check_file(out)
        documents = Documents(files, text, from_format, quiet=quiet, **options)
    cache, beginning = "all" if keep_features else True, None if is_far else documents.beginning
    tagger = load(model or "", encoder, threads, types=types, find=find, overlap=overlap, cache=cache, text=beginning)
    if is_far:
        from handful.scale import predict_texts

        how: dict[str, Any] = {"min_score": least, "format": from_format, "options": options}
        with cluster(dask, workers, quiet=quiet) as client:
            assert client is not None
            assert out is not None
            totals = predict_texts(client, tagger, files or [], out, progress=progress_of(quiet), **how)
        counts = (totals.mentions, "mention"), (totals.documents, "document"), (totals.words, "word")
        for line in [*totals.report, f"{out}: {', '.join(number_of(n, noun) for n, noun in counts)}"]:
            say(line, quiet=quiet)
        return
    is_shown = out is None and sys.stdout.isatty()  # the texts themselves show how far it is
    tagged = tagger.tag(documents, min_score=least, progress=progress_of(quiet or is_shown))
    target = "-" if out is None else out
    if to == "html":
        title = ", ".join(types or ()) or Path(str(model)).resolve().name
        write_text(target, _page(tagged, tagger.types_, f"{title} · {', '.join(files or []) or 'text'}"))
    elif to != "text":
        say_report(write(tagged, target, to, is_predicted=True), str(out or "standard output"), quiet=quiet)
    elif out is not None or not _print(tagged, tagger.types_):
        write_text(target, (one.inline() + "\n" for one in tagged if one.sentences))


def _default_format(out: Path | None) -> str:
    if out is None:
        return "text" if sys.stdout.isatty() else "jsonl"
    suffix = (out.with_suffix("") if out.suffix.lower() == ".gz" else out).suffix.lower()
    if suffix not in _BY_SUFFIX:
        endings = ", ".join(filter(None, _BY_SUFFIX))
        raise typer.BadParameter(
            f"{out.name} ends in {suffix}, which is not a format; name the file with {endings}, or say --to"
        )
    return _BY_SUFFIX[suffix]


def _page(documents: "Iterable[Document]", types: "list[EntityType]", title: str) -> Iterator[str]:
    from handful.web import CLOSING, marked, opening

    yield opening(title, types)
    for document in documents:
        if (whole := document.as_sentence()) is not None:
            yield marked(whole, types)
    yield CLOSING


def _print(documents: "Iterable[Document]", types: "list[EntityType]") -> bool:
    """Print texts in colour; False, and nothing is printed, if there are none: in a pipe, or with NO_COLOR."""
    from .show import Console, coloured, colours_of

    console = Console(soft_wrap=True)
    if console.color_system is None:
        return False
    colours = colours_of(types)
    for document in documents:
        if (whole := document.as_sentence()) is not None:
            console.print(coloured(whole, colours))
    return True
