"""``handful serve``: models behind HTTP."""

from pathlib import Path

import typer

from handful.errors import DataError, number_of

from . import options as opt
from ._common import load, say


def serve(
    models: list[str] | None = typer.Argument(
        None,
        metavar="[MODEL]",
        show_default=False,
        help="Folders that handful fit wrote; NAME=FOLDER gives a model another name than its folder's.",
    ),
    types: opt.Types = None,
    host: opt.Host = "127.0.0.1",
    port: opt.Port = None,
    max_requests: int = typer.Option(
        256, "--max-requests", metavar="N", min=1, help="Requests at once; others are told to come back."
    ),
    max_texts: int = typer.Option(1000, "--max-texts", metavar="N", min=1, help="Texts in a request."),
    max_kib: int = typer.Option(1024, "--max-kib", metavar="N", min=1, help="KiB in a request."),
    timeout: float = typer.Option(
        30.0, "--timeout", metavar="S", min=0.001, help="Seconds until a request is given up."
    ),
    label_studio: bool = typer.Option(
        False, "--label-studio", help="Also be a backend of Label Studio, at /label-studio."
    ),
    store: Path | None = typer.Option(
        None, "--store", metavar="FILE", help="Where annotations from Label Studio are kept; in memory if not set."
    ),
    json_logs: bool = typer.Option(False, "--json-logs", help="Log each request on standard error, as a line of JSON."),
    encoder: opt.ModelEncoder = None,
    quiet: opt.Quiet = False,
    threads: opt.Threads = None,
) -> None:
    """Serve models over HTTP.

    [bold]POST /predict[/bold] with {"text": "..."}, {"words": [...]} or {"texts": [...]} finds mentions, as JSON. Other
    addresses: / (a page to try it), /models/NAME/predict, /info, /health, /metrics (for Prometheus), /openapi.json.
    Requests that come within milliseconds are predicted together. With [bold]--types[/bold] no model is needed.

    The server listens to this machine alone. Elsewhere ([bold]--host[/bold]) it demands a token, which the environment
    variable HANDFUL_TOKEN sets. A signal to end (SIGTERM) finishes what was accepted.

    [bold]Examples[/bold]

    \b
    handful serve model
    handful serve garden kitchen=other/model --port 8480 --json-logs
    handful serve --types types.txt
    HANDFUL_TOKEN=... handful serve model --host 0.0.0.0
    handful serve model --label-studio --store annotations.db
    curl localhost:8480/predict --json '{"text": "Slugs ate the lettuce."}'
    """
    from handful.serve import Limits, load_models, serve_models

    if not models and types is None:
        raise DataError("there is nothing to serve: give the folder of a model, or --types")
    if store is not None and not label_studio:
        raise DataError("--store keeps what comes from Label Studio: give --label-studio, too")
    found = load_models(models or [], encoder=encoder, threads=threads)
    if types is not None:
        if "types" in found:
            raise DataError("a model is called 'types', as that of --types is; give it another name: NAME=FOLDER")
        found["types"] = load("", encoder, threads, types=types, cache=False)
    limits = Limits(max_requests=max_requests, max_texts=max_texts, max_bytes=max_kib * 1024, timeout=timeout)
    names = ", ".join(f"{name} ({number_of(len(one.types_), 'type')})" for name, one in found.items())
    say(f"serving {names}; Ctrl-C stops the server", quiet=quiet)
    if label_studio and store is None:
        say("annotations are kept in memory, and gone when the server ends; --store FILE keeps them", quiet=quiet)
    serve_models(
        found,
        host=host,
        port=port,
        limits=limits,
        label_studio=label_studio,
        store=store,
        json_logs=json_logs,
        say=typer.echo,
    )
