"""The server: each address is a small function that answers in JSON."""

import asyncio
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from handful import __version__
from handful.tagger import Tagger
from handful.text import Prediction
from handful.web.guard import Guard
from handful.web.http import Json, read_json, read_static, static_file

from ._asked import read_asked
from ._batches import Batches, Busy, Job
from ._errors import HANDLERS
from ._metrics import Metrics
from ._models import describe
from ._openapi import openapi
from ._settings import Settings
from ._watch import Watch

__all__ = ["Service", "make_server"]

Record = dict[str, Any]


class Service:
    """Models, the queue before them, and what is counted.

    Parameters
    ----------
    models : dict
        Taggers by name; the first one answers where no model is named.
    settings : Settings
    """

    def __init__(self, models: dict[str, Tagger], settings: Settings) -> None:
        self.models = models
        self.settings = settings
        self.n_under_way = 0
        self.metrics = Metrics(__version__, lambda: len(self.batches), lambda: self.n_under_way)
        self.batches = Batches(settings, self.metrics.batch)

    def warm_up(self) -> None:
        """Predict once with each model, so that the first request need not wait for what is made then."""
        for tagger in self.models.values():
            job = Job(tagger._ready(), ["One sentence, to be ready."])
            self.batches.submit(job)
            job.answer.result()

    def stop(self) -> None:
        """Finish what was accepted."""
        self.batches.stop()

    def tagger(self, request: Request) -> tuple[str, Tagger]:
        """Return the model that a request is for, and its name."""
        name = request.path_params.get("name", next(iter(self.models)))
        if name not in self.models:
            raise HTTPException(404, f"there is no model {name[:100]!r}; there are {', '.join(self.models)}")
        return name, self.models[name]

    async def predict(self, job: Job) -> list[list[Prediction]]:
        """Wait for the answer to a job, no longer than is allowed."""
        self.batches.submit(job)
        return await asyncio.wait_for(asyncio.wrap_future(job.answer), self.settings.timeout)

    async def read(self, request: Request) -> Any:
        """Read a body of JSON within the limits."""
        settings = self.settings
        return await read_json(request, settings.max_bytes, seconds=settings.body_timeout)

    def under_way(self) -> "_UnderWay":
        """Count a request, from before its body is read; too many are refused."""
        return _UnderWay(self)


class _UnderWay:
    """A request is under way."""

    def __init__(self, service: Service) -> None:
        self.service = service

    def __enter__(self) -> None:
        if self.service.n_under_way >= self.service.settings.max_requests:
            raise Busy
        self.service.n_under_way += 1

    def __exit__(self, *error: object) -> None:
        self.service.n_under_way -= 1


def make_server(
    service: Service,
    token: str | None,
    hosts: frozenset[str] | None,
    *,
    is_logging: bool = False,
    more_routes: "list[Route] | None" = None,
) -> Watch:
    """Return the application: watched, then guarded.

    Parameters
    ----------
    service : Service
    token, hosts
        As for `Guard`.
    is_logging : bool
        Whether each request is logged.
    more_routes : list of Route
        Those of Label Studio.
    """
    static = read_static(__package__ or "")
    description = openapi(service.models, service.settings, needs_token=token is not None)
    settings = service.settings
    info = {
        "version": __version__,
        "models": [describe(name, tagger) for name, tagger in service.models.items()],
        "limits": {name: getattr(settings, name) for name in ("max_bytes", "max_texts", "max_requests")},
    }

    async def page(request: Request) -> Response:
        return static_file(static, "try.html")

    async def file(request: Request) -> Response:
        return static_file(static, request.path_params["name"])

    async def predict(request: Request) -> Response:
        name, tagger = service.tagger(request)
        with service.under_way():
            asked = read_asked(await service.read(request), tagger, settings)
            job = Job(tagger._ready(), asked.texts, asked.min_score)
            request.state.model, request.state.texts = name, len(asked.texts)
            found = await service.predict(job)
            request.state.words = job.n_words
        if asked.is_one:
            return Json({"model": name, "entities": found[0]})
        return Json({"model": name, "results": [{"entities": one} for one in found]})

    async def health(request: Request) -> Response:
        return Json({"status": "ok"})

    async def show_info(request: Request) -> Response:
        return Json(info)

    async def metrics(request: Request) -> Response:
        return PlainTextResponse(service.metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    async def describe_all(request: Request) -> Response:
        return Json(description)

    routes = [
        Route("/", page),
        Route("/static/{name}", file),
        Route("/predict", predict, methods=["POST"]),
        Route("/models/{name}/predict", predict, methods=["POST"]),
        Route("/health", health),
        Route("/info", show_info),
        Route("/metrics", metrics),
        Route("/openapi.json", describe_all),
        *(more_routes or []),
    ]
    app = Starlette(routes=[_known(route) for route in routes], exception_handlers=HANDLERS)
    app.router.redirect_slashes = False
    advice = "send the token as Authorization: Bearer TOKEN" if token else "use the address that handful serve printed"
    guard = Guard(app, token, hosts, advice=advice, without_token=401, is_open=frozenset({"/health"}))
    return Watch(guard, service.metrics, is_logging=is_logging)


def _known(route: Route) -> Route:
    """Return a route whose requests know its pattern, for the counts."""
    inner = route.app

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope.setdefault("state", {})["route"] = route.path
        await inner(scope, receive, send)

    route.app = app
    return route
