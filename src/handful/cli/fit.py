"""``handful fit``: a tagger from a handful of labels and unlabelled text."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from handful._util.files import expand
from handful.errors import DataError

from ._cluster import PANEL, Address, Workers, cluster
from ._dataclass_options import with_options
from ._texts import check_files
from .options import (
    Encoding,
    From,
    Json,
    Quiet,
    Threads,
    Types,
    number_of,
    one_of,
    progress_of,
    say,
    types_given,
)
from .predict import predict_shards
from .reading import READING, Reading, read_corpus

if TYPE_CHECKING:
    from collections.abc import Sequence

    from distributed import Client
    from rich.console import Console

    from handful.scale import Features
    from handful.tagger import FitSummary
    from handful.text import EntityType, Sentence

Unlabelled = Annotated[
    list[str] | None,
    typer.Option(
        "--unlabelled",
        "-u",
        metavar="FILE",
        show_default=False,
        help="Unlabelled text; may be repeated. Also patterns, as 'news/*.txt', and Parquet files or folders of them.",
    ),
]


@with_options(Reading(), title=READING)
def fit(
    out: Annotated[Path, typer.Option("--out", help="The folder to write.")],
    support: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[SUPPORT]",
            show_default=False,
            help="Files of labelled sentences, in any format, or projects of handful label; - is standard input; "
            "none with --types.",
        ),
    ] = None,
    types: Types = None,
    unlabelled: Unlabelled = None,
    ratio: Annotated[
        str,
        typer.Option(
            "--ratio",
            metavar="SHARE",
            help="The share of words that are in no mention, such as 0.95; auto estimates it, none leaves it open.",
        ),
    ] = "auto",
    method: Annotated[
        str,
        typer.Option(
            "--method", metavar="NAME", callback=one_of("handful", "paper"), help="handful; or paper, as published."
        ),
    ] = "handful",
    encoder: Annotated[
        str, typer.Option("--encoder", metavar="NAME", help="What turns words into vectors: a name or a folder.")
    ] = "handful-en",
    no_names: Annotated[bool, typer.Option("--no-names", help="Do not read what types mean.")] = False,
    include_encoder: Annotated[
        bool, typer.Option("--include-encoder", help="Put the encoder into the folder, to go with it.")
    ] = False,
    assignment: Annotated[
        str, typer.Option("--assignment", metavar="KIND", callback=one_of("hard", "soft"), help="hard or soft.")
    ] = "hard",
    o_prototypes: Annotated[int, typer.Option(metavar="N", min=1, help="Prototypes for O.")] = 10,
    type_prototypes: Annotated[int, typer.Option(metavar="N", min=1, help="Prototypes for each type.")] = 1,
    no_subspace: Annotated[bool, typer.Option("--no-subspace", help="Learn no projection.")] = False,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Keep no features on disk; see handful cache.")] = False,
    dask: Address = None,
    workers: Workers = None,
    features: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            show_default=False,
            rich_help_panel=PANEL,
            help="Where the workers keep the features of the text, for later runs; MODEL.features if not set. One that "
            "handful encode wrote needs no --unlabelled.",
        ),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            show_default=False,
            rich_help_panel=PANEL,
            help="Then tag the unlabelled text, and write shards of JSON lines into this folder.",
        ),
    ] = None,
    from_format: From = None,
    encoding: Encoding = "utf-8",
    *,
    reading: Reading,
    as_json: Json = False,
    quiet: Quiet = False,
    threads: Threads = None,
) -> None:
    """Learn to find mentions: from what types mean, a handful of labelled sentences, and unlabelled text.

    [bold]--types[/bold] names the types, with what each means: a file with [bold]PEST: insects and slugs[/bold] on each
    line, or names alone. That is enough; labels and text make it better.

    Labels may be as simple as [bold]\\[Ekeus](PER) heads for \\[Baghdad](LOC)[/bold], one sentence on each line; label
    whole sentences, 1 to 5 mentions of each type. Tens of thousands of words of unlabelled text of the kind you want
    to tag help; a page or two may not. If you know the share of words that are in no mention, say it; else it is
    estimated, if each type has at least three mentions. Lines such as [bold]# PER: names of people[/bold] before the
    first sentence say what a type means; they are kept with the model.

    [bold]Examples[/bold]

    \b
    handful fit --types types.txt --unlabelled corpus.txt --out model
    handful fit few.txt --out model
    handful fit corpus.db --out model
    handful fit few.txt --unlabelled corpus.txt --ratio 0.95 --out model
    handful fit few.conll more.txt -u a.txt --encoder my-encoder --out model
    handful fit few.txt -u 'news/*.txt' --workers 2 --out model
    """
    from handful.cluster import SubspaceKMeans
    from handful.encoders.loading import check_encoder
    from handful.encoders.opened import encoder_folder
    from handful.tagger import Tagger
    from handful.tagger.saving import check_place

    share = _ratio(ratio)
    check_place(out)  # this and the rest before the work, not after it
    check_encoder(encoder)
    if include_encoder:
        encoder_folder(encoder)
    of_text = reading.text_options(encoding) | {"unlabelled": True}
    check_files(support or (), from_format, reading.options(encoding))
    is_far = dask is not None or workers is not None
    if (features is not None or predictions is not None) and not is_far:
        raise typer.BadParameter("--features and --predictions go with --dask or --workers")
    if predictions is not None:
        from handful.scale.folders import ShardFolder

        ShardFolder(predictions, "predictions").check()
    if not is_far:
        unlabelled = expand(unlabelled or ())
        check_files(unlabelled, None, of_text)
    labelled, described = read_labelled(support or (), types, from_format, reading, encoding, quiet=quiet)
    text = []
    if not is_far:
        text = [sentence for path in unlabelled or () for sentence in read_corpus(path, None, of_text, quiet=quiet)]
    if all(sentence.is_unlabelled for sentence in labelled):  # a project may have types and text alone
        labelled, text = [], [*labelled, *text]
        if text and is_far:
            raise DataError("nothing is labelled in the support, which is text; with --dask or --workers give it as -u")
    clusters = SubspaceKMeans(
        assignment=assignment,
        subspace=not no_subspace,
        o_prototypes=o_prototypes,
        type_prototypes=type_prototypes,
    )
    tagger = Tagger(
        encoder,
        types=described,
        names=not no_names,
        method=method,
        o_ratio=share,
        clusters=clusters,
        threads=threads,
        cache=not no_cache,
    )
    if is_far:
        with cluster(dask, workers, quiet=quiet) as client:
            folder = features or Path(f"{out}.features")
            found = _encoded(client, unlabelled, folder, encoder, threads, of_text, quiet=quiet)
            for line in found.report:
                say(line, quiet=quiet)
            n_words, n_shards = number_of(sum(found.n_words), "word"), number_of(len(found.n_words), "shard")
            say(f"{folder}: {n_words} in {n_shards}; fitting", quiet=quiet)
            tagger.fit(labelled or None, found, progress=progress_of(quiet))
            tagger.save(out, include_encoder=include_encoder)
            if predictions is not None:
                predict_shards(client, tagger, found, predictions, quiet=quiet)
    else:
        tagger.fit(labelled or None, text or None, progress=progress_of(quiet))
        tagger.save(out, include_encoder=include_encoder)
    if as_json:
        typer.echo(json.dumps({"model": str(out)} | tagger.summary_.to_dict(), indent=2, ensure_ascii=False))
    elif not quiet:
        _show(tagger.summary_)
        say(f"\nwrote {out}; try: handful predict {out} FILE")


def _encoded(
    client: "Client | None",
    files: list[str] | None,
    folder: Path,
    encoder: str,
    threads: int | None,
    options: dict[str, Any],
    *,
    quiet: bool,
) -> "Features":
    """Encode text on workers, or return what is there."""
    from handful.scale import encode_texts, open_features

    assert client is not None
    if not files:
        return open_features(folder)
    progress = progress_of(quiet)
    return encode_texts(client, files, folder, encoder=encoder, threads=threads, options=options, progress=progress)


def read_labelled(
    files: "Sequence[str]", types: str | None, format: str | None, reading: Reading, encoding: str, *, quiet: bool
) -> "tuple[list[Sentence], list[EntityType]]":
    """Return the labelled sentences of files, and the types that ``--types`` or the files describe."""
    labelled: list[Sentence] = []
    described: list[EntityType] = list(types_given(types, encoding))
    for path in files:
        corpus = read_corpus(path, format, reading.options(encoding), quiet=quiet)
        if all(sentence.is_unlabelled for sentence in corpus) and corpus.report.format != "project":
            raise DataError(
                f"{corpus.report.name}: no sentence is labelled (it was read as {corpus.report.format}); label "
                "mentions as in [Baghdad](LOC), or name the format; unlabelled text goes with --unlabelled"
            )
        labelled += corpus
        known = {one.name for one in described if one.description}
        described += [one for one in corpus.types if one.name not in known]
    return labelled, described


def _ratio(text: str) -> float | str | None:
    if text in ("auto", "none"):
        return text if text == "auto" else None
    try:
        share = float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither auto, none nor a number", param_hint="--ratio") from None
    if not 0 <= share <= 1:
        raise DataError(f"--ratio {text} is not possible: it must be auto, none or a number from 0 to 1")
    return share


def _show(summary: "FitSummary") -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from .show import colours_of

    console = Console(highlight=False)
    n_mentions = sum(summary.mentions.values())
    names = "what they mean, " if summary.has_names else ""
    console.print(
        f"learned {number_of(len(summary.types), 'type')} from {names}{number_of(n_mentions, 'mention')} in "
        f"{number_of(summary.n_support, 'labelled sentence')}, and "
        f"{number_of(summary.n_unlabelled_words, 'unlabelled word')}"
    )
    verb = "estimated" if summary.is_estimated else "asked"
    asked = "left open" if summary.o_ratio is None else f"{summary.o_ratio:.4g} {verb}"
    if summary.rounds:
        console.print(f"share of O: {asked}, {summary.o_share:.4g} met; {number_of(summary.rounds, 'round')}")
    console.print()
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("type", overflow="fold")
    table.add_column("labelled", justify="right")
    table.add_column("unlabelled words", justify="right")
    table.add_column("such as", overflow="fold")
    for name, colour in colours_of(summary.types).items():
        counts = f"{summary.mentions[name]:,}", f"{summary.unlabelled_words[name]:,}"
        table.add_row(Text(name, colour), *counts, Text("; ".join(summary.examples[name])))
    console.print(table)
    show_notes(console, summary)


def show_notes(console: "Console", summary: "FitSummary") -> None:
    """Print what was handled on the way, and what to try next."""
    from rich.text import Text

    for title, lines in (("notes", summary.notes), ("to try next", [one.shell for one in summary.advice])):
        if lines:
            console.print(f"\n[bold]{title}[/bold]")
        for line in lines:
            console.print(Text(f"- {line}"))
