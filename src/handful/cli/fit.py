"""``handful fit``: a tagger from a handful of labels and unlabelled text."""

from pathlib import Path
from typing import Any

import typer

from handful.errors import DataError, number_of
from handful.text import Sentence

from . import options as opt
from ._common import cluster, find_of, print_json, progress_of, say
from .reading import read_training


def fit(
    out: opt.OutFolder,
    support: list[str] | None = opt.argument(
        None,
        "[SUPPORT]",
        "Files of labelled sentences, in any format, or projects of handful label; - is standard input; "
        "none with --types.",
    ),
    types: opt.Types = None,
    unlabelled: opt.Unlabelled = None,
    o_ratio: str = opt.own(
        "auto",
        "--o-ratio",
        "SHARE",
        "The share of words that are in no mention, such as 0.95; auto estimates it, none leaves it open.",
    ),
    find: opt.Find = None,
    overlap: opt.Overlap = False,
    encoder: opt.Encoder = "handful-en",
    no_names: bool = opt.own(False, "--no-names", None, "Do not read the names and the descriptions of types."),
    replace: bool = opt.own(
        False, "--replace", None, "Replace a model that has more labelled sentences than this one will have."
    ),
    include_encoder: bool = opt.own(
        False, "--include-encoder", None, "Put the encoder into the folder, to go with it."
    ),
    no_cache: opt.NoCache = False,
    from_format: opt.From = None,
    text_field: opt.TextField = None,
    skip_malformed: opt.SkipMalformed = False,
    as_json: opt.Json = False,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
    dask: opt.Dask = None,
    workers: opt.Workers = None,
    features: Path | None = opt.own(
        None,
        "--features",
        "FOLDER",
        "The folder in which workers keep the features of the text, for later runs; MODEL.features if not set.",
        rich_help_panel=opt.WORKERS,
    ),
) -> None:
    """Learn to find mentions: from what types mean, a handful of labelled sentences, and unlabelled text.

    [bold]--types[/bold] names the types, with what each means: a file with [bold]PEST: insects and slugs[/bold] on each
    line, or names alone. That is enough; labels and text make it better.

    Labels may be as simple as [bold]\\[Ekeus](PER) heads for \\[Baghdad](LOC)[/bold], one sentence on each line; label
    whole sentences, 1 to 5 mentions of each type. Bring labels of other kinds into shape with [bold]handful
    convert[/bold]. Unlabelled text of the kind you want to tag helps where names say little. Lines such as [bold]# PER:
    names of people[/bold] before the first sentence say what a type means; they are kept with the model.

    [bold]--find[/bold] is saved with the model; [bold]predict[/bold] and [bold]evaluate[/bold] may say it anew.

    With [bold]--dask[/bold] or [bold]--workers[/bold], several processes encode the unlabelled text.

    [bold]Examples[/bold]

    \b
    handful fit --types types.txt --unlabelled corpus.txt --out model
    handful fit few.txt --out model
    handful fit corpus.db --out model
    handful fit few.txt --unlabelled corpus.txt --o-ratio 0.95 --out model
    handful fit few.conll more.txt -u a.txt --encoder my-encoder --out model
    handful fit few.txt -u 'news/*.txt' --workers 2 --out model
    """
    from handful import scale
    from handful.encoders.languages import AUTO
    from handful.encoders.opened import check_encoder, encoder_folder
    from handful.tagger import Tagger
    from handful.tagger.saving import check_place

    is_far = dask is not None or workers is not None
    if features is not None and not is_far:
        raise typer.BadParameter("--features goes with --dask or --workers")
    if is_far and not unlabelled:
        raise typer.BadParameter("--dask and --workers are for unlabelled text: give it with --unlabelled")
    share, setting = _share(o_ratio), find_of(find)
    check_place(out)  # this and the rest before the work, not after it
    if is_far or encoder != AUTO:
        check_encoder(encoder)
        if include_encoder:
            encoder_folder(encoder)
    near = [] if is_far else unlabelled or []
    reading: dict[str, Any] = {"text_field": text_field, "malformed": "skip" if skip_malformed else "error"}
    labelled, text, described = read_training(support or [], near, types, from_format, quiet=quiet, **reading)
    if not replace:
        _check_labels(out, labelled)
    how: dict[str, Any] = {
        "names": not no_names,
        "o_ratio": share,
        "find": setting,
        "overlap": overlap,
        "cache": not no_cache,
    }
    tagger = Tagger(described, encoder=encoder, threads=threads, **how)
    with cluster(dask, workers, quiet=quiet) as client:
        if client is None:
            tagger.fit(labelled or None, text or None, progress=progress_of(quiet))
        else:
            folder, shown = features or Path(f"{out}.features"), progress_of(quiet)
            given: dict[str, Any] = {"encoder": encoder, "threads": threads, "options": reading}
            found = scale.encode_texts(client, unlabelled or [], folder, progress=shown, **given)
            for line in found.report:
                say(line, quiet=quiet)
            n_words, n_shards = number_of(sum(found.n_words), "word"), number_of(len(found.n_words), "shard")
            say(f"{folder}: {n_words} in {n_shards}; fitting", quiet=quiet)
            scale.fit(tagger, labelled or None, found, progress=progress_of(quiet))
        tagger.save(out, include_encoder=include_encoder)
    if as_json:
        print_json({"model": str(out)} | tagger.summary_.to_dict())
    elif not quiet:
        say(tagger.summary_.text(shell=True), err=False)
        say(f"\nwrote {out}; try: handful predict {out} FILE")


def _check_labels(out: Path, labelled: "list[Sentence]") -> None:
    """Refuse to replace a model that has more labelled sentences than are given now."""
    from handful.tagger.saving import CONFIG, read_config

    n_new = len({one.words for one in labelled if not one.is_unlabelled})
    n_old = read_config(out)["summary"]["n_support"] if (out / CONFIG).is_file() else 0
    if n_old > n_new:
        raise DataError(
            f"{out}: this model has {number_of(n_old, 'labelled sentence')}, and the new one would have {n_new:,}; add "
            f"to it (handful add {out} FILE), write elsewhere (--out), or say --replace to lose its labels"
        )


def _share(text: str) -> float | str | None:
    if text in ("auto", "none"):
        return text if text == "auto" else None
    try:
        share = float(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is neither auto, none nor a number", param_hint="--o-ratio") from None
    if not 0 <= share <= 1:
        raise DataError(f"--o-ratio {text} is not possible: it must be auto, none or a number from 0 to 1")
    return share
