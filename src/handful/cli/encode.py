"""``handful encode``: text to shards of features, on several workers."""

from pathlib import Path
from typing import Any

from handful.errors import number_of

from . import options as opt
from ._common import cluster, progress_of, say


def encode(
    files: list[str] = opt.argument(
        ..., "FILE", "Texts in any format, patterns such as 'news/*.jsonl', and Parquet datasets; local, or s3://..."
    ),
    out: Path = opt.own(..., "--out", "FOLDER", "The folder to write; what it has already is kept."),
    encoder: opt.Encoder = "handful-en",
    precision: str = opt.own(
        "float32",
        "--precision",
        "KIND",
        "How numbers are kept: float32; or float16, which takes half of the room.",
        callback=opt.one_of("float32", "float16"),
    ),
    from_format: opt.From = None,
    text_field: opt.TextField = None,
    skip_malformed: opt.SkipMalformed = False,
    dask: opt.Dask = None,
    workers: opt.Workers = None,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
) -> None:
    """Encode texts into shards of features, which handful fit and handful predict use.

    All texts are read first: what is malformed is an error before anything is written. Then workers encode them, piece
    by piece. A run that was stopped goes on where it was.

    [bold]Examples[/bold]

    \b
    handful encode corpus.txt --workers 2 --out features
    handful encode 'news/*.jsonl' --dask tcp://10.0.0.1:8786 --out features
    handful fit few.txt --features features --workers 2 --out model
    """
    from handful.scale import encode_texts

    if dask is None and workers is None:
        workers = 1
    options = {"text_field": text_field, "malformed": "skip" if skip_malformed else "error"}
    with cluster(dask, workers, quiet=quiet) as client:
        assert client is not None
        how: dict[str, Any] = {"dtype": precision, "format": from_format, "options": options}
        found = encode_texts(client, files, out, encoder=encoder, threads=threads, progress=progress_of(quiet), **how)
    for line in found.report:
        say(line, quiet=quiet)
    n_bytes = sum(found.n_words) * found.dim * (4 if found.dtype == "float32" else 2)
    say(
        f"{out}: {number_of(sum(found.n_words), 'word')} in {number_of(sum(found.n_sentences), 'sentence')}, "
        f"{number_of(len(found.n_words), 'shard')}, {n_bytes / 2**30:.2f} GiB",
        quiet=quiet,
    )
