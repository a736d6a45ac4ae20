"""``handful serve``: models behind HTTP."""

from pathlib import Path

import typer

from handful._util.options import read_settings
from handful.errors import DataError, number_of

from . import options as opt
from ._common import load, say


def serve(
    models: list[str] | None = opt.argument(
        None, "[MODEL]", "Folders that handful fit wrote; NAME=FOLDER gives a model another name than its folder's."
    ),
    types: opt.Types = None,
    host: opt.Host = "127.0.0.1",
    port: opt.Port = None,
    limits: Path | None = opt.own(
        None,
        "--limits",
        "FILE",
        "A TOML file: how much is taken at once, such as max_texts = 100 or timeout = 60 (docs/serve.md).",
    ),
    label_studio: Path | None = opt.own(
        None,
        "--label-studio",
        "FILE",
        "Also be a backend of Label Studio, at /label-studio; its annotations are kept in the file.",
    ),
    json_logs: bool = opt.own(False, "--json-logs", None, "Log each request on standard error, as a line of JSON."),
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
    handful serve model --label-studio annotations.db
    curl localhost:8480/predict --json '{"text": "Slugs ate the lettuce."}'
    """
    from handful.serve import Limits, load_models, serve_models

    if not models and types is None:
        raise DataError("there is nothing to serve: give the folder of a model, or --types")
    chosen = read_settings(Limits(), limits)
    found = load_models(models or [], encoder=encoder, threads=threads)
    if types is not None:
        if "types" in found:
            raise DataError("a model is called 'types', as that of --types is; give it another name: NAME=FOLDER")
        found["types"] = load("", encoder, threads, types=types, cache=False)
    names = ", ".join(f"{name} ({number_of(len(one.types_), 'type')})" for name, one in found.items())
    say(f"serving {names}; Ctrl-C stops the server", quiet=quiet)
    serve_models(
        found,
        host=host,
        port=port,
        limits=chosen,
        label_studio=label_studio or False,
        json_logs=json_logs,
        say=typer.echo,
    )
