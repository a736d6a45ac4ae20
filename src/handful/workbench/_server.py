"""The server: each address is a function of `Views`, and answers in JSON.

Bodies are read up to a limit, everything else happens in threads, and no part of a request becomes a path on the disk.
"""

import asyncio
import json
import tempfile
import zipfile
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from handful.errors import DataError, HandfulError, StaleError
from handful.text import FORMATS, stream, write
from handful.web.guard import Guard, refusal
from handful.web.http import Json, read_body, read_json, read_static, static_file

from ._session import Session
from ._views import Record, Views, error_of

__all__ = ["make_server"]

MOST_JSON, MOST_IMPORT = 1 << 20, 64 << 20  # bytes in the body of a request
HEARTBEAT = 15.0  # seconds

_ENDINGS = {"conll": "conll", "lines": "txt", "inline": "txt", "text": "txt", "label-studio": "json", "gliner": "json"}
_ENDINGS |= {"csv": "csv", "tsv": "tsv", "docbin": "spacy"}  # all others: jsonl


def make_server(session: Session, token: str, hosts: frozenset[str]) -> Guard:
    """Return the application, guarded."""
    views = Views(session)
    static = read_static(__package__ or "")

    def page(request: Request) -> Response:
        return static_file(static, "index.html")

    def file(request: Request) -> Response:
        return static_file(static, request.path_params["name"])

    def get(function: Callable[[Any], Record]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            return Json(await run_in_threadpool(function, request.query_params))

        return answer

    def post(function: Callable[[Request, Record], Record]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            given = await read_json(request, MOST_JSON)
            if not isinstance(given, dict):
                raise HTTPException(400, "the body is not a JSON object")
            return Json(await run_in_threadpool(function, request, given))

        return answer

    def decide(request: Request, given: Record) -> Record:
        return views.decide(request.path_params["id"], given)

    def queue(query: Any) -> Record:
        skip = [_int(one, "skip") for one in query.get("skip", "").split(",") if one]
        return views.queue(
            query.get("mode", "teach"),
            query.get("q", ""),
            _int(query.get("n", "20"), "n"),
            _int(query.get("after") or "0", "after"),
            skip,
            undecided=query.get("undecided") == "1",
        )

    def mentions(query: Any) -> Record:
        try:
            least = float(query.get("least") or 0)
        except ValueError:
            raise DataError("least is a number from 0 to 1") from None
        n, after = _int(query.get("n", "200"), "n"), _int(query.get("after") or "0", "after")
        return views.mentions(query.get("type", ""), least, n, max(after, 0))

    async def sentence(request: Request) -> Response:
        return Json(await run_in_threadpool(views.sentence, request.path_params["id"]))

    async def events(request: Request) -> Response:
        last = request.headers.get("last-event-id") or request.query_params.get("since") or str(session.events.last)
        return StreamingResponse(_events(session, _int(last, "since")), media_type="text/event-stream")

    async def bring_in(request: Request) -> Response:
        body = await read_body(request, "application/octet-stream", MOST_IMPORT)
        format = request.query_params.get("format") or None
        return Json(await run_in_threadpool(_import, session, body, format, request.query_params.get("name")))

    async def export(request: Request) -> Response:
        format = request.query_params.get("format", "")
        only = request.query_params.get("only") == "labelled"
        return await run_in_threadpool(_export, session, format, only_labelled=only)

    async def tagger(request: Request) -> Response:
        return await run_in_threadpool(_tagger, session)

    routes = [
        Route("/", page),
        Route("/static/{name}", file),
        Route("/api/state", get(lambda query: views.state())),
        Route("/api/events", events),
        Route("/api/queue", get(queue)),
        Route("/api/sentences/{id:int}", sentence),
        Route("/api/sentences/{id:int}/decision", post(decide), methods=["POST"]),
        Route("/api/undo", post(lambda request, given: views.reverse("undo", given.get("n", 1))), methods=["POST"]),
        Route("/api/redo", post(lambda request, given: views.reverse("redo", given.get("n", 1))), methods=["POST"]),
        Route("/api/mentions", get(mentions)),
        Route("/api/mentions/review", post(lambda request, given: views.review(given)), methods=["POST"]),
        Route("/api/types", post(lambda request, given: views.change_types(given)), methods=["POST"]),
        Route("/api/map", get(lambda query: views.map(_int(query.get("n", "2000"), "n")))),
        Route("/api/import", bring_in, methods=["POST"]),
        Route("/api/export", export),
        Route("/api/tagger", tagger),
    ]

    def stale(request: Request, error: Exception) -> Response:
        assert isinstance(error, StaleError)
        record = {"error": error_of(error)}
        if "id" in request.path_params:
            record["sentence"] = views.sentence(request.path_params["id"])
        return Json(record, 409)

    handlers: dict[Any, Any] = {
        StaleError: stale,
        HandfulError: lambda request, error: Json({"error": error_of(error)}, 400),
        HTTPException: lambda request, error: Json(refusal(error.detail, None), error.status_code),
        Exception: lambda request, error: Json(
            refusal(f"a fault of the server: {type(error).__name__}", "what was decided is stored; try again"), 500
        ),
    }
    return Guard(Starlette(routes=routes, exception_handlers=handlers), token, hosts)


async def _events(session: Session, last: int) -> AsyncIterator[bytes]:
    """Yield the events after one, and those to come; a line now and then, so that a lost page is noticed."""
    loop, happened = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(happened.set)

    stop = session.events.listen(wake)
    try:
        yield b"retry: 1000\n\n"
        is_over = session.is_stopped
        while not is_over:
            happened.clear()
            for number, event in session.events.since(last):
                last = number
                yield f"id: {number}\ndata: {json.dumps(event)}\n\n".encode()
                is_over |= event["kind"] == "stop"
            if is_over:
                break
            try:
                await asyncio.wait_for(happened.wait(), HEARTBEAT)
            except TimeoutError:
                yield b": still here\n\n"
    finally:
        stop()


def _import(session: Session, body: bytes, format: str | None, name: str | None) -> Record:
    if format is not None and format not in FORMATS:
        raise DataError(f"the format is {format!r:.50}, expected one of {', '.join(FORMATS)}")
    source = BytesIO(body)
    source.name = (name or "the file")[:200]
    with stream(source, format) as documents:
        added = session.add(documents, lambda: documents.types)
    return {
        "texts": added.n_texts,
        "sentences": added.n_sentences,
        "labelled": added.n_labelled,
        "notes": [*documents.report.handled(), *added.notes()],
    }


def _export(session: Session, format: str, *, only_labelled: bool) -> Response:
    if format not in FORMATS:
        raise DataError(f"the format is {format!r:.50}, expected one of {', '.join(FORMATS)}")
    out = BytesIO()
    types = session.mirror.entity_types()
    write(session.project.documents(only_labelled=only_labelled), out, format, types=types)
    kind = "application/octet-stream" if format == "docbin" else "text/plain; charset=utf-8"
    return _download(out.getvalue(), kind, f"labels.{_ENDINGS.get(format, 'jsonl')}")


def _tagger(session: Session) -> Response:
    try:
        tagger = session.export_tagger()
    except HandfulError as error:
        return Json({"error": error_of(error)}, 409)
    out = BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        tagger.save(Path(folder) / "tagger")
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
            for path in sorted(Path(folder).rglob("*")):
                archive.write(path, path.relative_to(folder))
    return _download(out.getvalue(), "application/zip", "tagger.zip")


def _download(body: bytes, kind: str, name: str) -> Response:
    return Response(body, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})


def _int(text: str, name: str) -> int:
    if len(text) > 18 or not text.lstrip("-").isdecimal():
        raise DataError(f"{name} is a number, found {text!r:.50}")
    return int(text)
