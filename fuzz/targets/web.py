"""Requests to the servers: ``handful serve``, its backend of Label Studio, and the workbench.

An input is a list of requests, which a server gets one after the other: ``method``, ``path``, ``query``, ``headers``,
and a ``body`` (JSON) or ``raw`` (characters that stand for bytes). They go to the application itself, without a socket.
Three targets take other inputs: the bytes of a connection, lines of paths with queries, and a labelling interface.
"""

import asyncio
import json
import logging
import re
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from fuzz.engine import SEEDS, Case, Run, Target, read_case
from fuzz.mutate import change_bytes, change_json, change_lines, change_query
from handful.errors import HandfulError
from handful.tagger import Tagger
from handful.text.projects import states

from .folders import write_case
from .toy import Toy, fitted

__all__ = ["WEB"]

MOST_REQUESTS = 6
TOKEN = "a-token-of-the-fuzzer"
NAMES = "anna", "ben"
JSON_HEADERS = {"host": "127.0.0.1", "content-type": "application/json", "x-handful-token": TOKEN}

Answer = tuple[int, bytes]


def requests_of(data: bytes) -> list[dict[str, Any]]:
    """Return the requests of an input; what is none is left out."""
    try:
        given = json.loads(data)
    except (ValueError, RecursionError):
        return []
    given = given if isinstance(given, list) else [given]
    return [one for one in given if isinstance(one, dict)][:MOST_REQUESTS]


async def ask(app: Any, request: dict[str, Any]) -> Answer:
    """Send a request to an application, and check what must hold of any answer."""
    headers = JSON_HEADERS | (request["headers"] if isinstance(request.get("headers"), dict) else {})
    body = json.dumps(request.get("body")).encode()
    if isinstance(request.get("raw"), str):
        body = request["raw"].encode("utf-8", "surrogatepass")
    path = str(request.get("path", "/"))
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": str(request.get("method", "POST"))[:20],
        "scheme": "http",
        "path": path,
        "raw_path": path.encode("utf-8", "replace"),
        "root_path": "",
        "query_string": str(request.get("query", "")).encode("utf-8", "replace"),
        "headers": [(_header(name).lower(), _header(value)) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    sent = [{"type": "http.request", "body": body, "more_body": False}]
    came: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        return sent.pop() if sent else {"type": "http.disconnect"}

    async def send(message: dict[str, Any]) -> None:
        came.append(message)

    await asyncio.wait_for(app(scope, receive, send), 60)
    start, *rest = came
    status, answer = start["status"], b"".join(one.get("body", b"") for one in rest)
    names = {name for name, _ in start["headers"]}
    assert status < 500, (status, answer)
    assert {b"content-security-policy", b"x-content-type-options"} <= names
    if status >= 400 and request.get("method") != "HEAD":
        assert isinstance(json.loads(answer)["error"]["what"], str), answer
    return status, answer


@contextmanager
def running_loop() -> Iterator[Callable[[Any, dict[str, Any]], Answer]]:
    """Run an event loop in a thread, as a server does; give a function that asks an application there.

    The threads that answer requests live as long as the loop.
    """
    loop, end = asyncio.new_event_loop(), asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=(end.wait(),), daemon=True)
    thread.start()
    try:
        yield lambda app, request: asyncio.run_coroutine_threadsafe(ask(app, request), loop).result()
    finally:
        loop.call_soon_threadsafe(end.set)
        thread.join()
        loop.close()


def _header(value: Any) -> bytes:
    return str(value).encode("latin-1", "replace").replace(b"\r", b" ").replace(b"\n", b" ")


def kind_of(answer: Answer) -> object:
    """Return what tells answers apart: the status, and the message of an error."""
    status, body = answer
    if status >= 400 and body:
        words = json.loads(body)["error"]["what"].split()
        return status, " ".join(word for word in words if word.isalpha())[:60]
    return status, len(body).bit_length()


@contextmanager
def open_serve(folder: Path) -> Iterator[Run]:
    """Ask a server with a model for predictions."""
    from handful.serve import Limits
    from handful.serve._server import Service, make_server

    service = Service({"people": fitted()}, Limits(), wait=0)
    guard = make_server(service, None, frozenset({"localhost"})).app

    def run(case: Case) -> object:
        kinds = []
        for request in requests_of(case["requests.json"]):
            status, body = send(guard, request)
            kinds.append(kind_of((status, body)))
            if status == 200 and str(request.get("path", "")).endswith("predict"):
                check_predictions(json.loads(body), request)
        return kinds

    with running_loop() as send:
        try:
            yield run
        finally:
            service.batches.stop()


def check_predictions(found: Any, request: dict[str, Any]) -> None:
    """Check that mentions are where they are said to be."""
    asked: Any = json.loads(request["raw"]) if isinstance(request.get("raw"), str) else request.get("body")
    if "text" in asked or "words" in asked:
        pairs = [(asked.get("text", asked.get("words")), found["entities"])]
    else:
        pairs = [(text, one["entities"]) for text, one in zip(asked["texts"], found["results"], strict=True)]
    for text, entities in pairs:
        text = text if isinstance(text, str) else " ".join(text)
        for one in entities:
            assert text[one["start"] : one["end"]] == one["word"]


@contextmanager
def open_label_studio(folder: Path) -> Iterator[Run]:
    """Send tasks and annotations as Label Studio does, to a new backend each time; wait for what it learns."""
    from handful.serve import Limits
    from handful.serve._label_studio import Backend
    from handful.serve._server import Service, make_server

    models: dict[str, Tagger] = {"people": fitted()}

    def run(case: Case) -> object:
        service = Service(models, Limits(), wait=0)
        backend = Backend(service)
        guard = make_server(service, None, frozenset({"localhost"}), more_routes=backend.routes()).app
        learned: list[Any] = []
        backend.projects._report = lambda key, trained: learned.append(trained)
        kinds = []
        try:
            for request in requests_of(case["requests.json"]):
                kinds.append(kind_of(send(guard, request)))
            for done in list(backend.projects._asked.values()):
                done.result(15)
        finally:
            backend.stop()
            service.batches.stop()
        for one in learned:
            if isinstance(one, Exception) and not isinstance(one, HandfulError):
                raise one
        return kinds, len(learned)

    with running_loop() as send:
        for seed in (SEEDS / "label-studio").iterdir():
            run(read_case(seed))  # what the first fit imports takes seconds
        yield run


@contextmanager
def open_workbench(folder: Path, names: tuple[str, ...] = ()) -> Iterator[Run]:
    """Label in a new copy of a project each time; now and then do what the worker would do afterwards.

    With names, several people do: a request says whose it is, and a version `now` stands for the one that there is.
    """
    from handful.encoders.cache import RememberingEncoder
    from handful.workbench import People
    from handful.workbench._learner import Learner
    from handful.workbench._server import make_server
    from handful.workbench._session import Session
    from handful.workbench._store import Project

    class Alone(Session):
        """A session without its thread."""

        def work(self) -> None:
            """Do all that there is to do."""
            self.learner = self.learner or Learner(RememberingEncoder(Toy()))
            while (step := self._next_step()) is not None:
                step()

    (small,) = [read_case(path)["file"] for path in (SEEDS / "project").iterdir()]
    path = folder / "p.db"

    def run(case: Case) -> object:
        write_case(folder, {"p.db": small})
        kinds = []
        with Project(path, "anna") as project:
            people = People(names, 0.5) if names else None
            session = Alone(project, Toy(), cache=False, people=people)
            tokens = people.tokens(TOKEN) if people else TOKEN
            guard = make_server(session, tokens, frozenset({"localhost"}))
            if zlib.crc32(case["requests.json"]) % 64 == 0:
                session.work()
            for request in requests_of(case["requests.json"]):
                if str(request.get("path", "")).startswith("/api/events"):
                    continue  # it does not end
                if isinstance(tokens, dict):
                    request = as_person(request, tokens, partial(send, guard))
                kinds.append(kind_of(send(guard, request)))
            if zlib.crc32(case["requests.json"]) % 64 <= 1:
                session.work()
            check_project(path, session)
        return kinds

    with running_loop() as send:
        for seed in (SEEDS / ("people" if names else "workbench")).iterdir():
            run(read_case(seed))  # what the first request of a kind imports takes seconds
        yield run


def as_person(
    request: dict[str, Any], tokens: Mapping[str, str], send: Callable[[dict[str, Any]], Answer]
) -> dict[str, Any]:
    """Return a request with the token of its person, on the version of the sentence that this person sees."""
    token = {"x-handful-token": tokens.get(str(request.get("person")), TOKEN)}
    headers = {**request["headers"], **token} if isinstance(request.get("headers"), dict) else token
    body, place = request.get("body"), re.match(r"/api/sentences/\d+", str(request.get("path")))
    if isinstance(body, dict) and body.get("version") == "now" and place:
        status, answer = send({"method": "GET", "path": place[0], "headers": token})
        body = {**body, "version": json.loads(answer)["version"] if status == 200 else 0}
    return {**request, "headers": headers, "body": body}


def check_project(path: Path, session: Any) -> None:
    """Check that the file says what the session says, and that people agree with themselves."""
    from handful.workbench import agreement

    with closing(sqlite3.connect(path)) as connection:
        found = states(connection)
    for id, (_, state) in found.items():
        assert session.mirror.state(id)[1] == state, id
    for one in agreement(path):
        assert one.f1 is None or 0 <= one.f1 <= 1
        assert one.n_same <= one.n_sentences


class Wire(asyncio.Transport):
    """The other end of a connection: it keeps the bytes that a server writes."""

    def __init__(self) -> None:
        super().__init__({"sockname": ("127.0.0.1", 80), "peername": ("127.0.0.1", 1)})
        self.written = b""
        self.is_over = False

    def write(self, data: Any) -> None:
        self.written += data

    def close(self) -> None:
        self.is_over = True

    def is_closing(self) -> bool:
        return self.is_over

    abort = close
    pause_reading = resume_reading = lambda self: None


async def converse(config: Any, data: bytes) -> bytes:
    """Send bytes to a server, a part at a time as a network does, and return all that it answers."""
    from uvicorn.server import ServerState

    connection, wire = config.http_protocol_class(config, ServerState(), {}), Wire()
    connection.connection_made(wire)
    half = zlib.crc32(data) % (len(data) + 1)
    for part in (data[:half], data[half:]):
        if part and not wire.is_over:
            connection.data_received(part)
        for _ in range(10):
            await asyncio.sleep(0)
    connection.connection_lost(None)
    await asyncio.sleep(0)
    return wire.written


@contextmanager
def open_headers(folder: Path) -> Iterator[Run]:
    """Send bytes to a server whose token no input has, and to one without a token: heads, lines, cookies."""
    from handful.web import Limits
    from handful.web.connection import Server
    from handful.web.server import application

    limits, names = Limits(), frozenset({"localhost"})
    secret, open_to_all = (
        Server(application("handful.serve", "try.html", [], limits, token=token, hosts=names, advice={}), limits).config
        for token in ("9b1d-nobody-knows-this", None)
    )
    secret.load()
    open_to_all.load()
    faults: list[str] = []
    noting = logging.Handler(logging.ERROR)
    noting.emit = lambda record: faults.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("uvicorn.error").addHandler(noting)

    def run(case: Case) -> object:
        locked = answers_of(runner.run(converse(secret, case["request"])))
        for status, _, body in locked:
            assert status >= 400 or body in (b"", b'{"status":"ok"}'), body  # /health alone is open
        free = answers_of(runner.run(converse(open_to_all, case["request"])))
        assert not faults, faults.pop()
        return [(status, sorted(headers), len(body).bit_length()) for status, headers, body in (*locked, *free)]

    with asyncio.Runner() as runner:
        yield run


def answers_of(data: bytes) -> list[tuple[int, set[bytes], bytes]]:
    """Return the status, the names of the headers and the body of each answer; check that nothing else was sent."""
    found = []
    for part in re.split(rb"(?=HTTP/1\.1 \d)", data)[1:]:
        head, _, body = part.partition(b"\r\n\r\n")
        first, *lines = head.split(b"\r\n")
        status, names = int(first.split()[1]), {line.partition(b":")[0].lower() for line in lines}
        assert status < 500, data
        assert names <= KNOWN_HEADERS, names - KNOWN_HEADERS
        if status != 400:  # bytes that are no request never come as far as the guard
            assert {b"content-security-policy", b"x-content-type-options"} <= names
        found.append((status, names, body))
    return found


@contextmanager
def open_queries(folder: Path) -> Iterator[Run]:
    """Ask for everything that a project can show, with queries: one to a line, behind its path."""
    from handful.workbench._server import make_server
    from handful.workbench._session import Session
    from handful.workbench._store import Project

    (small,) = [read_case(path)["file"] for path in (SEEDS / "project").iterdir()]
    write_case(folder, {"p.db": small})

    def run(case: Case) -> object:
        kinds = []
        for line in case["queries"].decode("utf-8", "replace").split("\n")[:MOST_REQUESTS]:
            path, _, query = line.partition("?")
            if not path.startswith("/api/events"):  # they do not end
                method = "POST" if path == "/api/import" else "GET"
                kinds.append(kind_of(send(guard, {"method": method, "path": path, "query": query, "raw": ""})))
        return kinds

    with Project(folder / "p.db", "anna") as project, running_loop() as send:
        guard = make_server(Session(project, Toy(), cache=False), TOKEN, frozenset({"localhost"}))
        for seed in (SEEDS / "queries").iterdir():
            run(read_case(seed))  # the imports of a first request take seconds
        yield run


@contextmanager
def open_interface(folder: Path) -> Iterator[Run]:
    """Read labelling interfaces of Label Studio, and texts of tasks as they say."""
    from handful.serve._label_config import read_config

    def run(case: Case) -> object:
        config = read_config(case["file"].decode("utf-8", "surrogateescape"))
        assert config.types
        assert config.text({"data": {config.field: "Pia left"}}) == "Pia left"
        return len(config.types), config.from_name[:3], [len(one.description) for one in config.types][:3]

    yield run


KNOWN_HEADERS = {
    b"allow", b"cache-control", b"connection", b"content-length", b"content-security-policy", b"content-type",
    b"cross-origin-opener-policy", b"cross-origin-resource-policy", b"date", b"permissions-policy", b"referrer-policy",
    b"set-cookie", b"transfer-encoding", b"www-authenticate", b"x-content-type-options", b"x-frame-options",
}  # fmt: skip

_CHANGES = {"requests.json": (change_json, change_json, change_json, change_json, change_bytes)}
_NEEDS = ("starlette",)

WEB = [
    Target("serve", "requests to handful serve", open_serve, _CHANGES, _NEEDS),
    Target("label-studio", "requests of Label Studio", open_label_studio, _CHANGES, _NEEDS),
    Target("workbench", "requests to the workbench", open_workbench, _CHANGES, _NEEDS),
    Target("people", "requests of several people", partial(open_workbench, names=NAMES), _CHANGES, _NEEDS),
    Target("headers", "bytes of requests", open_headers, {"request": (change_bytes, change_lines)}, ("uvicorn",)),
    Target(
        "queries", "paths and queries", open_queries, {"queries": (change_query, change_bytes, change_lines)}, _NEEDS
    ),
    Target("interface", "labelling interfaces", open_interface, {"file": (change_bytes, change_lines)}, _NEEDS),
]
