"""The server: each address is a small function that answers in JSON."""

import asyncio
import json
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from importlib.resources import files
from pathlib import Path
from typing import Any

from prometheus_client import generate_latest
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from handful import __version__
from handful.errors import DataError
from handful.tagger import Tagger
from handful.tagger.finding import odds_of
from handful.tagger.predictor import check_min_score
from handful.tagger.tagging import MinScore
from handful.text import Prediction
from handful.web import Limits
from handful.web.http import Json, later, read_json
from handful.web.server import address_of, application, check_token, listen, names_of, run

from ._access import AccessLog, Metrics
from ._batches import Batches, Job, ready_of

FIRST_PORT = 8480
FIELDS = ("text", "words", "texts")  # a body of /predict has one of them


def serve_models(
    models: dict[str, Tagger],
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    token: str | None = None,
    limits: Limits | None = None,
    label_studio: str | Path | bool = False,
    json_logs: bool = False,
    say: Callable[[str], object] | None = None,
) -> None:
    """Serve models until Ctrl-C or a signal to end; what was accepted is finished first.

    Parameters
    ----------
    models : fitted taggers by name, as `load_models` returns them. The first one answers where no model is named.
    host, port : where to listen; without a port, 8480 or the next one that is free
    token : what each request must know; the environment variable HANDFUL_TOKEN if not given. It is optional on this
        machine alone (127.0.0.1), and demanded elsewhere.
    limits : how much the server takes, and how long it waits
    label_studio : whether to be a machine-learning backend of Label Studio, too, under ``/label-studio``: the file in
        which its annotations are kept, or True, in memory
    json_logs : whether each request is logged on standard error, as a line of JSON
    say : called with the address; None, it is not said
    """
    if not models:
        raise DataError("there is no model to serve")
    limits = limits or Limits()
    token = check_token(token or os.environ.get("HANDFUL_TOKEN") or None, host)
    with ExitStack() as stack:
        listening = stack.enter_context(listen(host, port, FIRST_PORT))
        service = Service(models, limits)
        stack.callback(service.batches.stop)
        routes: list[Route] = []
        if label_studio:
            from ._label_studio import Backend

            store = None if label_studio is True else label_studio
            backend = Backend(service, store, is_logging=json_logs)
            stack.callback(backend.stop)
            routes = backend.routes()
        hosts = names_of(host) if token is None else None
        app = make_server(service, token, hosts, is_logging=json_logs, more_routes=routes)
        service.warm_up()
        if say is not None:
            say(address_of(host, listening))
        run(app, listening, limits)


class Service:
    """Models by name, the queue before them, and counts. The first model answers where no model is named."""

    def __init__(self, models: dict[str, Tagger], limits: Limits, *, wait: float = 0.002) -> None:
        self.models = models
        self.limits = limits
        self.n_under_way = 0
        self.metrics = Metrics(lambda: len(self.batches), lambda: self.n_under_way)
        self.batches = Batches(limits, self.metrics.batch, wait=wait)

    def warm_up(self) -> None:
        """Predict once with each model, so that the first request need not wait longer than others."""
        for tagger in self.models.values():
            job = Job(ready_of(tagger), ["One sentence, to be ready."])
            self.batches.submit(job)
            job.answer.result()

    def tagger(self, request: Request) -> tuple[str, Tagger]:
        """Return the model that a request is for, and its name."""
        name = request.path_params.get("name", next(iter(self.models)))
        if name not in self.models:
            raise HTTPException(404, f"there is no model {name[:100]!r}; there are {', '.join(self.models)}")
        request.state.model = name
        return name, self.models[name]

    def checked(self, texts: list[Any]) -> list[Any]:
        """Return the texts of a request; an error where there are too many."""
        if len(texts) > self.limits.max_texts:
            raise DataError(
                f"there are {len(texts):,} texts, but at most {self.limits.max_texts:,} can be sent at once"
            )
        return texts

    async def predict(self, job: Job, request: Request) -> list[list[Prediction]]:
        """Wait for the answer to a job, no longer than is allowed."""
        request.state.texts = len(job.texts)
        self.batches.submit(job)
        found = await asyncio.wait_for(asyncio.wrap_future(job.answer), self.limits.timeout)
        request.state.words = job.n_words
        return found

    @contextmanager
    def under_way(self) -> Iterator[None]:
        """Count a request, from before its body is read; too many are refused."""
        if self.n_under_way >= self.limits.max_requests:
            raise later(429, "there is too much to do already")
        self.n_under_way += 1
        try:
            yield
        finally:
            self.n_under_way -= 1


def make_server(
    service: Service,
    token: str | None,
    hosts: frozenset[str] | None,
    *,
    is_logging: bool = False,
    more_routes: Sequence[Route] = (),
) -> AccessLog:
    """Return the application: guarded, then counted, and logged if `is_logging`; `more_routes` are of Label Studio."""
    limits = service.limits
    info = {
        "version": __version__,
        "models": [
            {
                "name": name,
                "types": [{"name": one.name, "description": one.description} for one in tagger.types_],
                "encoder": {
                    "name": tagger.encoder_.name or type(tagger.encoder_).__name__,
                    "fingerprint": tagger.encoder_.fingerprint,
                    "dim": int(tagger.encoder_.dim),
                },
            }
            for name, tagger in service.models.items()
        ],
        "limits": {name: getattr(limits, name) for name in ("max_bytes", "max_texts", "max_requests")},
    }
    description = _openapi(service.models, limits, needs_token=token is not None)

    async def predict(request: Request) -> Response:
        name, tagger = service.tagger(request)
        with service.under_way():
            given = await read_json(request, limits)
            texts, is_one, min_score = _read_asked(given, tagger)
            ready = ready_of(tagger, given.get("find"))
            found = await service.predict(Job(ready, service.checked(texts), min_score), request)
        if is_one:
            return Json({"model": name, "entities": found[0]})
        return Json({"model": name, "results": [{"entities": one} for one in found]})

    async def show_info(request: Request) -> Response:
        return Json(info)

    async def metrics(request: Request) -> Response:
        return Response(generate_latest(service.metrics.registry), media_type="text/plain; version=0.0.4")

    async def describe_all(request: Request) -> Response:
        return Json(description)

    routes = [
        Route("/predict", predict, methods=["POST"]),
        Route("/models/{name}/predict", predict, methods=["POST"]),
        Route("/info", show_info),
        Route("/metrics", metrics),
        Route("/openapi.json", describe_all),
        *more_routes,
    ]
    refused = "send the token as Authorization: Bearer TOKEN" if token else "use the address that handful serve printed"
    unknown = "GET /openapi.json says what there is"
    advice = dict.fromkeys((401, 403, 421), refused) | dict.fromkeys((404, 405), unknown)
    guard = application(__package__, "try.html", routes, limits, token=token, hosts=hosts, advice=advice)
    return AccessLog(guard, service.metrics, is_logging)


def _openapi(models: dict[str, Tagger], limits: Limits, *, needs_token: bool) -> dict[str, Any]:
    """Return the description, as it is at ``/openapi.json``."""
    record: dict[str, Any] = json.loads((files(__package__) / "openapi.json").read_text(encoding="utf-8"))
    record["info"]["version"] = __version__
    paths, schemas = record["paths"], record["components"]["schemas"]
    post, asked = paths.pop("/predict")["post"], schemas.pop("Asked")
    addresses = {"/predict": (next(iter(models)), "predict")}
    addresses |= {f"/models/{name}/predict": (name, f"predict-{name}") for name in models}
    of_models: dict[str, Any] = {}
    for address, (name, operation) in addresses.items():
        own = deepcopy(post) | {"summary": f"Find mentions with the model {name}", "operationId": operation}
        own["requestBody"]["description"] = f"At most {limits.max_bytes:,} bytes."
        own["requestBody"]["content"]["application/json"]["schema"]["$ref"] = f"#/components/schemas/Asked-{name}"
        of_models[address] = {"post": own}
    for name, tagger in models.items():
        schemas[f"Asked-{name}"] = own = deepcopy(asked)
        for one in own["oneOf"]:
            share, by_type = one["properties"]["min_score"]["oneOf"]
            by_type["properties"] = {each.name: share for each in tagger.types_}
        own["oneOf"][-1]["properties"]["texts"]["maxItems"] = limits.max_texts
    record["paths"] = of_models | paths
    if not needs_token:
        del record["security"], record["components"]["securitySchemes"]
        for operation in (one for path in record["paths"].values() for one in path.values()):
            operation["responses"].pop("401", None)
    return record


def _read_asked(given: dict[str, Any], tagger: Tagger) -> tuple[list[Any], bool, MinScore]:
    """Return the texts to look into, whether one was given and not a list, and the least score of mentions."""
    if strange := sorted(given.keys() - {*FIELDS, "min_score", "find"}):
        raise DataError(f"{strange[0]!r:.80} is not a field; the fields are {', '.join(FIELDS)}, min_score and find")
    fields = [name for name in FIELDS if name in given]
    if len(fields) != 1:
        raise DataError(f"give one of {', '.join(FIELDS)}, found {' and '.join(fields) or 'none'}")
    (field,) = fields
    value = given[field]
    min_score = given.get("min_score", 0.0)
    check_min_score(min_score, tagger.types_)
    if "find" in given:
        odds_of(given["find"])
    if field == "texts":
        if not isinstance(value, list):
            raise DataError(f"texts is {_kind(value)}, expected a list of texts")
        for i, text in enumerate(value):
            _check_text(text, f"text {i} (from 0)", "a string or a list of words", str, list)
        return value, False, min_score
    _check_text(value, field, "a string" if field == "text" else "a list of words", str if field == "text" else list)
    return [value], True, min_score


def _check_text(text: Any, where: str, expected: str, *kinds: type) -> None:
    if not isinstance(text, kinds):
        raise DataError(f"{where} is {_kind(text)}, expected {expected}")
    words: list[Any] = text if type(text) is list else [text]
    for word in words:
        if not isinstance(word, str):
            raise DataError(f"{where} has {_kind(word)} among its words, expected strings")
        if not word and word is not text:
            raise DataError(f"{where} has an empty word")
        if not word.isascii() and any("\ud800" <= character <= "\udfff" for character in word):
            raise DataError(f"{where} has half of a surrogate pair in it, which is not a character")


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a string", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")
