"""``handful serve``: models behind HTTP."""

from pathlib import Path
from typing import Annotated

import typer

from handful.errors import DataError

from .options import Encoding, ModelEncoder, Quiet, Threads, Types, number_of, say, types_given


def serve(
    models: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[MODEL]",
            show_default=False,
            help="Folders that handful fit wrote; NAME=FOLDER gives a model another name than its folder's.",
        ),
    ] = None,
    types: Types = None,
    host: Annotated[
        str,
        typer.Option("--host", metavar="ADDRESS", help="Where to listen; 0.0.0.0 lets other machines in."),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(
            "--port", metavar="N", min=0, max=65535, show_default=False, help="The port; 8480 or the next free one."
        ),
    ] = None,
    wait: Annotated[
        float, typer.Option("--wait", metavar="MS", min=0, help="Milliseconds that requests wait for each other.")
    ] = 2.0,
    max_requests: Annotated[
        int, typer.Option("--max-requests", metavar="N", min=1, help="Requests at once; others are told to come back.")
    ] = 256,
    max_texts: Annotated[int, typer.Option("--max-texts", metavar="N", min=1, help="Texts in a request.")] = 1000,
    max_kib: Annotated[int, typer.Option("--max-kib", metavar="N", min=1, help="KiB in a request.")] = 1024,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="S", min=0.001, help="Seconds until a request is given up.")
    ] = 30.0,
    label_studio: Annotated[
        bool, typer.Option("--label-studio", help="Also be a backend of Label Studio, at /label-studio.")
    ] = False,
    store: Annotated[
        Path | None,
        typer.Option(
            "--store",
            metavar="FILE",
            show_default=False,
            help="Where annotations from Label Studio are kept; in memory if not set.",
        ),
    ] = None,
    json_logs: Annotated[
        bool, typer.Option("--json-logs", help="Log each request on standard error, as a line of JSON.")
    ] = False,
    encoder: ModelEncoder = None,
    encoding: Encoding = "utf-8",
    quiet: Quiet = False,
    threads: Threads = None,
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
    from handful.tagger import Tagger

    if not models and types is None:
        raise DataError("there is nothing to serve: give the folder of a model, or --types")
    if store is not None and not label_studio:
        raise DataError("--store keeps what comes from Label Studio: give --label-studio, too")

    found = load_models(models or [], encoder=encoder, threads=threads)
    if types is not None:
        if "types" in found:
            raise DataError("a model is called 'types', as that of --types is; give it another name: NAME=FOLDER")
        given = types_given(types, encoding)
        found["types"] = Tagger(encoder or "handful-en", types=given, threads=threads, cache=False).fit()
    limits = Limits(
        max_requests=max_requests,
        max_texts=max_texts,
        max_bytes=max_kib * 1024,
        timeout=timeout,
    )
    names = ", ".join(f"{name} ({number_of(len(one.types_), 'type')})" for name, one in found.items())
    say(f"serving {names}; Ctrl-C stops the server", quiet=quiet)
    if label_studio and store is None:
        say("annotations are kept in memory, and gone when the server ends; --store FILE keeps them", quiet=quiet)
    serve_models(
        found,
        host=host,
        port=port,
        limits=limits,
        wait=wait / 1000,
        label_studio=label_studio,
        store=store,
        json_logs=json_logs,
        say=typer.echo,
    )
