"""The server: each address is a function of `Views`, and answers in JSON.

Bodies are read up to a limit, everything else happens in threads, and no part of a request becomes a path on the disk.
"""

import asyncio
import gzip
import json
import os
import re
import secrets
import shutil
import tempfile
import webbrowser
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import nullcontext, suppress
from dataclasses import replace
from functools import partial
from io import BytesIO
from pathlib import Path
from threading import Timer
from urllib.parse import unquote

from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from handful.errors import Advice, DataError, HandfulError, StaleError
from handful.text import FORMATS, Document, stream, write
from handful.web import Limits
from handful.web.guard import Guard
from handful.web.http import Json, read_body, read_json, refusal
from handful.web.server import address_of, application, check_token, listen, names_of, run

from ._records import Record, number
from ._session import Session
from ._views import Views

FIRST_PORT = 8470
LIMITS = Limits(body_timeout=60.0, grace=2.0)  # a file to import may take a while
HEARTBEAT = 15.0  # seconds
GZIP, ZLIB = b"\x1f\x8b", b"\x78\x9c"  # the first bytes of such files; a DocBin of spaCy is packed with zlib

_ENDINGS = {"conll": "conll", "inline": "txt", "text": "txt", "label-studio": "json", "gliner": "json"}
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
    session : it runs while this does
    host, port : where to listen; without a port, 8470 or the next one that is free
    open_browser : whether to open the page; that of several people is not opened
    say : called with the address, or with the name and the address of each person; None, it is not said
    """
    token = check_token(os.environ.get("HANDFUL_TOKEN") or secrets.token_urlsafe(24), host) or ""
    tokens = {"": token} if session.people is None else session.people.tokens(token)
    with listen(host, port, FIRST_PORT) as listening, session:
        address = address_of(host, listening)
        for person, one in tokens.items():
            if say is not None:
                say(f"{person}{': ' if person else ''}{address}?token={one}")
        timer = Timer(0.3, webbrowser.open, (f"{address}?token={token}",))
        timer.daemon = True
        if open_browser and session.people is None:
            timer.start()
        try:  # when it ends, pages are told first, and no longer listen
            run(make_server(session, tokens, names_of(host)), listening, LIMITS, session.stop)
        finally:
            timer.cancel()


def make_server(
    session: Session, token: str | Mapping[str, str] | None, hosts: frozenset[str], limits: Limits = LIMITS
) -> Guard:
    """Return the application, guarded. Several people have a token each, by their names."""
    views = {person: Views(session, person) for person in (token if isinstance(token, Mapping) else ("",))}

    def asked(request: Request) -> Views:
        """Return what the person who asks sees; refuse a page of another one, whose token the browser has lost."""
        person = request.scope["person"] or ""
        claimed = request.headers.get("x-handful-person") or request.query_params.get("person")
        if claimed is not None and unquote(claimed) != person:
            raise HTTPException(403, f"this page belongs to {unquote(claimed)[:100]}, the browser now to {person}")
        return views[person]

    def route(method: str, path: str, function: Callable[[Views, Record], Record | Response]) -> Route:
        """Let a function answer in a thread; it gets the body or the query, with the names in the path."""

        async def answer(request: Request) -> Response:
            view = asked(request)
            given = await read_json(request, limits) if method == "POST" else dict(request.query_params)
            found = await run_in_threadpool(function, view, {**given, **request.path_params})
            return found if isinstance(found, Response) else Json(found)

        return Route(path, answer, methods=[method])

    async def events(request: Request) -> Response:
        view = asked(request)
        last = request.headers.get("last-event-id") or request.query_params.get("since")
        since = number(last, "since", session.events.last)
        return StreamingResponse(_events(session, view.person, since), media_type="text/event-stream")

    async def bring_in(request: Request) -> Response:
        view = asked(request)
        body = await read_body(request, "application/octet-stream", limits.max_import, limits.body_timeout)
        return Json(await run_in_threadpool(_import, view, body, dict(request.query_params)))

    routes = [
        route("GET", "/api/state", lambda view, given: view.state()),
        Route("/api/events", events),
        route("GET", "/api/queue", Views.queue),
        route("GET", "/api/sentences/{id:int}", lambda view, given: view.sentence(given["id"])),
        route("POST", "/api/sentences/{id:int}/take", lambda view, given: view.take(given["id"], given)),
        route("POST", "/api/sentences/{id:int}/decision", lambda view, given: view.decide(given["id"], given)),
        route("GET", "/api/sentences/{id:int}/why", lambda view, given: view.why(given["id"], given)),
        route("POST", "/api/undo", lambda view, given: view.reverse("undo", given)),
        route("POST", "/api/redo", lambda view, given: view.reverse("redo", given)),
        route("GET", "/api/mentions", Views.mentions),
        route("POST", "/api/mentions/review", Views.review),
        route("POST", "/api/types", Views.change_types),
        route("POST", "/api/types/check", Views.check_type),
        route("POST", "/api/find", Views.set_find),
        route("POST", "/api/texts/remove", Views.remove),
        Route("/api/import", bring_in, methods=["POST"]),
        route("GET", "/api/export", lambda view, given: _export(session, given)),
        route("GET", "/api/answers", lambda view, given: _download_json(view.answers(), "answers.json")),
        route("GET", "/api/tagger", lambda view, given: _tagger(session)),
    ]

    def stale(request: Request, error: StaleError) -> Response:
        record = {"error": refusal(error)}
        if "id" in request.path_params:
            record["sentence"] = asked(request).sentence(request.path_params["id"])
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


async def _events(session: Session, person: str | None, last: int) -> AsyncIterator[bytes]:
    """Yield the events after one, and those to come; a line now and then, so that a lost page is noticed."""
    loop, happened = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with suppress(RuntimeError):  # the server has ended
            loop.call_soon_threadsafe(happened.set)

    here = nullcontext() if person is None or session.people is None else session.people.here(person)
    with here, session.events.listen(wake):
        yield b"retry: 1000\n\n"
        is_over = session.is_stopped
        while not is_over:
            happened.clear()
            for seq, event in session.events.since(last):
                last = seq
                yield f"id: {last}\ndata: {json.dumps(event)}\n\n".encode()
                is_over |= event["kind"] == "stop"
            if is_over:
                break
            try:
                await asyncio.wait_for(happened.wait(), HEARTBEAT)
            except TimeoutError:
                yield b": still here\n\n"


def _import(view: Views, body: bytes, given: Record) -> Record:
    format = _format(given) if given.get("format") else None
    if body[:2] == GZIP:
        body = _unpacked("gzip file", gzip.GzipFile(fileobj=BytesIO(body)).read, LIMITS.max_import)
        if body[:2] == GZIP:  # it would be unpacked as it is read, without a limit
            raise DataError("the gzip file holds another gzip file; unpack it first")
    if body[:2] == ZLIB or format == "docbin":
        _unpacked("DocBin", partial(zlib.decompressobj().decompress, body), LIMITS.max_import)
    source = BytesIO(body)
    source.name = (given.get("name") or "the file")[:200]
    try:
        with stream(source, format) as documents:
            is_called_json = re.search(r"\.(json|jsonl|ndjson)(\.gz)?$", source.name, re.IGNORECASE)
            if format is None and documents.report.format == "text" and is_called_json:
                raise DataError(
                    f"{source.name}: its name says JSON, and its content does not; mend it, or choose the format text"
                )
            added = view.project.add(documents, lambda: documents.types, is_step=True)
            view.session.follow()
    except HandfulError as error:
        if error.advice is not None and "--" in error.advice.shell:  # the page has no options
            shell = f"bring in what handful convert writes of it: {error.advice.shell}"
            raise type(error)(error.message, Advice(error.advice.python, shell)) from None
        raise
    return {
        "texts": added.n_texts,
        "sentences": added.n_sentences,
        "labelled": added.n_labelled,
        "notes": [*documents.report.handled(), *added.notes(view.session.encoder)],
    }


def _unpacked(kind: str, read: Callable[[int], bytes], most: int) -> bytes:
    """Unpack a file, no further than a limit: a few bytes can stand for very many."""
    try:
        unpacked = read(most + 1)
    except (OSError, EOFError, zlib.error) as error:
        raise DataError(f"the {kind} is damaged: {error}") from None
    if len(unpacked) > most:
        raise DataError(f"the {kind} holds more than {most // 1024:,} KiB; bring in parts of it")
    return unpacked


def _format(given: Record) -> str:
    format = given.get("format", "")
    if format not in FORMATS:
        raise DataError(f"the format is {format!r:.50}, expected one of {', '.join(FORMATS)}")
    return str(format)


def _export(session: Session, given: Record) -> Response:
    format, out = _format(given), BytesIO()
    only = given.get("only") or ""
    if only not in ("", "decided", "mentions"):
        raise DataError(f"only is {only!r:.50}, expected decided, mentions, or nothing")
    documents = session.project.documents(only_decided=only == "decided")
    if only == "mentions":
        documents = map(_mentions_alone, documents)
    write(documents, out, format, types=session.mirror.entity_types())
    kind = "application/octet-stream" if format == "docbin" else "text/plain; charset=utf-8"
    return _download(out.getvalue(), kind, _name(format))


def _mentions_alone(document: Document) -> Document:
    """Return a text with the mentions that were decided, and nothing that says which words are open."""
    sentences = [replace(one, spans=one.spans or (), allowed=None, judged=None) for one in document.sentences]
    return document.with_sentences(sentences)


def _name(format: str) -> str:
    """Return the name of a file of labels, which no other format has."""
    ending = _ENDINGS.get(format, "jsonl")
    return f"labels.{ending}" if format == ending else f"labels-{format}.{ending}"


def _tagger(session: Session) -> Response:
    try:
        tagger = session.export_tagger()
    except HandfulError as error:
        return Json({"error": refusal(error)}, 409)
    with tempfile.TemporaryDirectory() as folder:
        tagger.save(Path(folder) / "tagger")
        archive = shutil.make_archive(str(Path(folder) / "packed"), "zip", folder, "tagger")
        return _download(Path(archive).read_bytes(), "application/zip", "tagger.zip")


def _download_json(record: Record, name: str) -> Response:
    return _download(json.dumps(record, ensure_ascii=False, indent=1).encode(), "application/json", name)


def _download(body: bytes, kind: str, name: str) -> Response:
    return Response(body, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
