"""The server: each address is a function of `Views`, and answers in JSON.

Bodies are read up to a limit, everything else happens in threads, and no part of a request becomes a path on the disk.
"""

import asyncio
import gzip
import json
import os
import secrets
import tempfile
import webbrowser
import zipfile
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from threading import Timer
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from handful.errors import DataError, HandfulError, StaleError
from handful.text import FORMATS, stream, write
from handful.web import Limits
from handful.web.server import (
    Guard,
    Json,
    address_of,
    application,
    check_token,
    listen,
    names_of,
    read_body,
    read_json,
    refusal,
    run,
)

from ._session import Session
from ._views import Record, Views

FIRST_PORT = 8470
LIMITS = Limits(body_timeout=60.0, grace=2.0)  # a file to import may take a while
HEARTBEAT = 15.0  # seconds
GZIP = b"\x1f\x8b"  # the first bytes of such a file

_ENDINGS = {"conll": "conll", "lines": "txt", "inline": "txt", "text": "txt", "label-studio": "json", "gliner": "json"}
_ENDINGS |= {"csv": "csv", "tsv": "tsv", "docbin": "spacy"}  # all others: jsonl


def serve(
    session: Session,
    *,
    host: str = "127.0.0.1",
    port: int | None = None,
    open_browser: bool = False,
    say: Callable[[str], object] | None = None,
) -> None:
    """Serve a session until Ctrl-C or a signal to end.

    Parameters
    ----------
    session : Session
        It runs while this does.
    host, port
        Where to listen; without a port, 8470 or the next one that is free.
    open_browser : bool
        Whether to open the page.
    say : function
        Called with the address; None, it is not said.
    """
    token = check_token(os.environ.get("HANDFUL_TOKEN") or secrets.token_urlsafe(24), host)
    with listen(host, port, FIRST_PORT) as listening, session:
        address = f"{address_of(host, listening)}?token={token}"
        if say is not None:
            say(address)
        timer = Timer(0.3, webbrowser.open, (address,))
        timer.daemon = True
        if open_browser:
            timer.start()
        try:  # when it ends, pages are told first, and no longer listen
            run(make_server(session, token, names_of(host)), listening, LIMITS, session.stop)
        finally:
            timer.cancel()


def make_server(session: Session, token: str | None, hosts: frozenset[str], limits: Limits = LIMITS) -> Guard:
    """Return the application, guarded."""
    views = Views(session)

    def get(function: Callable[[Any], Record]) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            return Json(await run_in_threadpool(function, request.query_params))

        return answer

    def post(path: str, function: Callable[[Request, Record], Record]) -> Route:
        async def answer(request: Request) -> Response:
            return Json(await run_in_threadpool(function, request, await read_json(request, limits)))

        return Route(path, answer, methods=["POST"])

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
        body = await read_body(request, "application/octet-stream", limits.max_import, limits.body_timeout)
        format = request.query_params.get("format") or None
        return Json(await run_in_threadpool(_import, session, body, format, request.query_params.get("name")))

    async def export(request: Request) -> Response:
        format = request.query_params.get("format", "")
        only = request.query_params.get("only") == "labelled"
        return await run_in_threadpool(_export, session, format, only_labelled=only)

    async def tagger(request: Request) -> Response:
        return await run_in_threadpool(_tagger, session)

    routes = [
        Route("/api/state", get(lambda query: views.state())),
        Route("/api/events", events),
        Route("/api/queue", get(queue)),
        Route("/api/sentences/{id:int}", sentence),
        post("/api/sentences/{id:int}/decision", decide),
        post("/api/undo", lambda request, given: views.reverse("undo", given.get("n", 1))),
        post("/api/redo", lambda request, given: views.reverse("redo", given.get("n", 1))),
        Route("/api/mentions", get(mentions)),
        post("/api/mentions/review", lambda request, given: views.review(given)),
        post("/api/types", lambda request, given: views.change_types(given)),
        Route("/api/map", get(lambda query: views.map(_int(query.get("n", "2000"), "n")))),
        Route("/api/import", bring_in, methods=["POST"]),
        Route("/api/export", export),
        Route("/api/tagger", tagger),
    ]

    def stale(request: Request, error: StaleError) -> Response:
        record = {"error": refusal(error)}
        if "id" in request.path_params:
            record["sentence"] = views.sentence(request.path_params["id"])
        return Json(record, 409)

    advice = dict.fromkeys((403, 421), "open the address that handful label printed")
    advice[500] = "what was decided is stored; try again"
    return application(
        __package__,
        "index.html",
        routes,
        limits,
        token=token,
        hosts=hosts,
        advice=advice,
        without_token=403,
        handlers={StaleError: stale},
    )


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
    if body[:2] == GZIP:
        body = _unpacked(body, LIMITS.max_import)
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


def _unpacked(body: bytes, most: int) -> bytes:
    """Unpack a gzip file, no further than a limit: a few bytes can stand for very many."""
    try:
        unpacked = gzip.GzipFile(fileobj=BytesIO(body)).read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"the gzip file is damaged: {error}") from None
    if len(unpacked) > most:
        raise DataError(f"the gzip file holds more than {most // 1024:,} KiB; unpack it, and bring in parts of it")
    return unpacked


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
        return Json({"error": refusal(error)}, 409)
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
    if len(text) > 18 or not text.removeprefix("-").isdecimal():
        raise DataError(f"{name} is a number, found {text!r:.50}")
    return int(text)
