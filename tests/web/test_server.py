"""What the servers share: who may ask, how long a header may be and take, and how many connections there may be."""

import asyncio
import contextlib
import gc
import logging
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from growth import grows_as
from handful.errors import DataError
from handful.web import Limits

pytest.importorskip("uvicorn")
httpx = pytest.importorskip("httpx")

from starlette.responses import StreamingResponse  # noqa: E402
from starlette.routing import Route  # noqa: E402
from uvicorn.server import ServerState  # noqa: E402

from handful.web.connection import Server  # noqa: E402
from handful.web.server import application, check_token, listen, run  # noqa: E402

TOKEN = "a-token-of-the-tests"

TOLD_EARLY = """
import os, signal, uvicorn
from handful.web import Limits
from handful.web.server import application, listen, run

begin = uvicorn.Server.run
uvicorn.Server.run = lambda *args, **options: (os.kill(os.getpid(), signal.SIGTERM), begin(*args, **options))
limits = Limits()
app = application("handful.serve", "try.html", (), limits, token=None, hosts=None, advice={})
with listen("127.0.0.1", 0, 0) as listening:
    run(app, listening, limits, lambda: print("pages are told"))
print("ended")
"""


def make(limits=None, token=TOKEN, routes=()):
    names = frozenset({"localhost"})
    return application(
        "handful.serve", "try.html", routes, limits or Limits(), token=token, hosts=names, advice={401: "ask for it"}
    )


def ask(app, headers=(), path="/info", query=b"", port=80):
    """Send a request to an application, and return the status and the headers of its answer."""
    came = []

    async def send(message):
        came.append(message)

    async def receive():
        return {"type": "http.disconnect"}

    scope = {"type": "http", "method": "GET", "scheme": "http", "path": path, "query_string": query, "state": {}}
    given = [(b"host", b"localhost"), *((name.encode(), value.encode("latin-1")) for name, value in headers)]
    asyncio.run(app(scope | {"headers": given, "server": ("127.0.0.1", port), "root_path": ""}, receive, send))
    return came[0]["status"], dict(came[0]["headers"])


@contextlib.contextmanager
def serving(limits, routes=()):
    with listen("127.0.0.1", 0, 0) as listening:
        server = Server(make(limits, None, routes), limits)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()
        finally:
            server.should_exit = True
            thread.join()


def is_well(place):
    return httpx.get(f"http://127.0.0.1:{place[1]}/health", trust_env=False, timeout=5).status_code == 200


def has_ended(connection, seconds=5):
    connection.settimeout(seconds)
    with contextlib.suppress(ConnectionError):
        while connection.recv(1000):
            pass
    return True


@pytest.mark.parametrize("cookie", ['a="{}"', "{}", "a={};", '"{}'])
@pytest.mark.parametrize("part", [r"\1", ";", "=", '"', "a=b; ", "\\", "handful-80=x;"])
def test_a_cookie_is_read_in_linear_time(cookie, part):
    app = make(Limits(max_header=1 << 20))
    power = grows_as(lambda value: ask(app, [("cookie", value)]), lambda n: cookie.format(part * n), 500)
    assert power < 1.5


@pytest.mark.parametrize("name", ["host", "origin", "authorization", "x-handful-token", "sec-fetch-site"])
@pytest.mark.parametrize("part", ["a", "[", "@", ":", ".", "/", "%41", "=", "1.", "Basic ", "YQ=="])
def test_headers_are_read_in_linear_time(name, part):
    app = make(Limits(max_header=1 << 22))
    starts = {"authorization": "Basic ", "host": "localhost"}
    power = grows_as(lambda value: ask(app, [(name, value)]), lambda n: starts.get(name, "") + part * n, 2000)
    assert power < 1.5


@pytest.mark.parametrize("part", ["&", "a=b&", "%41", "token=&", ";", "=", "+", "%"])
def test_queries_are_read_in_linear_time(part):
    app = make(Limits(max_header=1 << 22))
    assert grows_as(lambda query: ask(app, path="/", query=query), lambda n: part.encode() * n, 2000) < 1.5


def test_headers_have_a_limit():
    app = make(Limits(max_header=2000))
    assert ask(app, [("cookie", "a" * 1800)])[0] == 401
    assert ask(app, [("cookie", "a" * 2000)])[0] == 431
    assert ask(app, [(f"x-{i}", "a" * 40) for i in range(50)])[0] == 431
    assert ask(app, path="/", query=b"a" * 2000)[0] == 431
    with serving(Limits(max_header=2000)) as place, socket.create_connection(place) as connection:
        connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * 2000)
        assert connection.recv(1000).startswith(b"HTTP/1.1 400")
        assert has_ended(connection)


def test_the_cookie_is_not_the_token_and_is_good_for_one_port():
    app = make()
    status, headers = ask(app, path="/", query=f"token={TOKEN}".encode(), port=81)
    assert status == 200
    cookie = headers[b"set-cookie"].decode().partition(";")[0]
    assert TOKEN not in cookie
    assert ask(app, [("cookie", f"other=x; {cookie} ;more")], "/static/try.js", port=81)[0] == 200
    assert ask(app, [("cookie", cookie)], "/static/try.js", port=82)[0] == 401
    assert ask(app, [("cookie", cookie.replace("81", "82"))], "/static/try.js", port=82)[0] == 401
    for wrong in (f"handful-81={TOKEN}", cookie[:-1], cookie + "x", f"x{cookie}", "handful-81=", "handful-81"):
        assert ask(app, [("cookie", wrong)], "/static/try.js", port=81)[0] == 401


def test_a_header_that_does_not_come_ends_the_connection():
    with serving(Limits(header_timeout=0.2)) as place:
        for sent in (b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n"):
            with socket.create_connection(place) as connection:
                connection.sendall(sent)
                assert has_ended(connection)
        with socket.create_connection(place) as connection:  # a few bytes now and then are no help
            start = time.monotonic()
            with contextlib.suppress(ConnectionError):
                for byte in b"GET /health HTTP/1.1\r\nX: " + b"a" * 100:
                    connection.sendall(bytes([byte]))
                    time.sleep(0.05)
            assert time.monotonic() - start < 3
        with socket.create_connection(place) as connection:  # nor is a first request
            connection.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /")
            assert connection.recv(12) == b"HTTP/1.1 200"
            connection.sendall(b"h")
            assert has_ended(connection)


@pytest.mark.parametrize("first", [b"", b"2\r\nab\r\n"])
def test_a_body_that_goes_wrong_after_its_answer_ends_the_connection(first, caplog):
    with serving(Limits(header_timeout=0.5)) as place, socket.create_connection(place) as connection:
        connection.sendall(b"POST /health HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + first)
        assert connection.recv(12) == b"HTTP/1.1 405"
        connection.sendall(b"nonsense\r\n")
        assert has_ended(connection)
        assert is_well(place)
    assert [one for one in caplog.records if one.levelname == "ERROR"] == []


@pytest.mark.parametrize("method", [b"GET", b"HEAD"])
def test_a_request_that_goes_wrong_before_its_answer_leaves_no_traceback(method, caplog, monkeypatch):
    with serving(Limits()) as place, socket.create_connection(place) as connection:
        monkeypatch.setattr(logging.getLogger("uvicorn"), "propagate", True)
        connection.sendall(method + b" / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nnonsense\r\n")
        assert connection.recv(12) == b"HTTP/1.1 400"
        assert has_ended(connection)
    assert [one for one in caplog.records if one.levelname == "ERROR"] == []


def test_others_are_answered_between_the_chunks_of_a_body():
    """A body of the smallest chunks, without a token, is read a little at a time."""
    server = Server(make(), Limits())
    server.config.load()
    sizes, original = [], server.config.http_protocol_class.data_received
    server.config.http_protocol_class.data_received = lambda self, data: [sizes.append(len(data)), original(self, data)]
    with listen("127.0.0.1", 0, 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        with socket.create_connection(listening.getsockname()) as connection:
            connection.sendall(b"POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n")
            with contextlib.suppress(ConnectionError):
                connection.sendall(b"1\r\na\r\n" * 50_000)
            assert connection.recv(12) == b"HTTP/1.1 401"
            end = time.monotonic() + 20
            while sum(sizes) < 50_000 and time.monotonic() < end:
                time.sleep(0.01)
        server.should_exit = True
        thread.join()
    assert sum(sizes) > 50_000
    assert max(sizes) <= 1 << 14


class Wire(asyncio.Transport):
    """A transport that goes nowhere."""

    abort = close = lambda self: None


def test_the_time_of_a_connection_does_not_grow_with_their_number():
    server = Server(make(), Limits())
    server.config.load()

    async def come(most):
        kind = type("Few", (server.config.http_protocol_class,), {"most": most, "idle": {}})
        state = ServerState()
        for _ in range(2 * most):
            kind(server.config, state, {}).connection_made(Wire())
        for one in list(state.connections):
            one.connection_lost(None)

    assert grows_as(lambda most: asyncio.run(come(most)), lambda most: most, 300) < 1.5


def test_other_threads_and_collections_of_garbage_do_not_keep_an_answer_waiting(monkeypatch):
    """No time is measured: threads must change often, and what is there before must not be looked at again."""
    gc.unfreeze()
    gc.collect()
    n_before, interval, seen = len(gc.get_objects()), sys.getswitchinterval(), []
    monkeypatch.setattr(Server, "run", lambda self, sockets: seen.append((sys.getswitchinterval(), gc.get_objects())))
    run(make(), None, Limits())
    ((switches, looked_at),) = seen
    assert switches <= 0.001
    assert len(looked_at) < n_before / 10
    assert sys.getswitchinterval() == interval
    assert len(gc.get_objects()) >= n_before


def test_a_request_that_takes_longer_than_its_header_may_is_answered():
    async def slow(request):
        await asyncio.sleep(0.5)
        return StreamingResponse(iter([b"done"]))

    with serving(Limits(header_timeout=0.2), [Route("/slow", slow)]) as place:
        assert httpx.get(f"http://127.0.0.1:{place[1]}/slow", trust_env=False).text == "done"


def test_a_client_that_does_not_read_its_answer_is_given_up():
    ended = threading.Event()

    async def pieces():
        try:
            while True:
                yield b"x" * 100_000
                await asyncio.sleep(0)
        finally:
            ended.set()

    async def much(request):
        return StreamingResponse(pieces())

    with serving(Limits(timeout=0.3), [Route("/much", much)]) as place, socket.create_connection(place) as connection:
        connection.sendall(b"GET /much HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert ended.wait(20)


def test_idle_connections_make_room_and_requests_under_way_do_not():
    started, done = threading.Event(), threading.Event()

    async def slow(request):
        started.set()
        await asyncio.to_thread(done.wait, 20)
        return StreamingResponse(iter([b"done"]))

    with serving(Limits(max_connections=10), [Route("/slow", slow)]) as place, contextlib.ExitStack() as stack:
        worker = stack.enter_context(socket.create_connection(place))
        worker.sendall(b"GET /slow HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert started.wait(20)
        idle = [stack.enter_context(socket.create_connection(place)) for _ in range(40)]
        for one in idle:
            with contextlib.suppress(ConnectionError):
                one.sendall(b"GET / HTTP/1.1\r\nX: ")
        assert is_well(place)
        assert all(has_ended(one) for one in idle[:30])
        done.set()
        assert worker.recv(12) == b"HTTP/1.1 200"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such limit")
def test_descriptors_are_not_exhausted():
    """Serve with few descriptors, and more connections than that which never send a request."""
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128));"
        "from web.test_server import make; from handful.web import Limits; from handful.web.server import listen, run;"
        "s = listen('127.0.0.1', 0, 0); print(s.getsockname()[1], flush=True); run(make(token=None), s, Limits())"
    )
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[1]) as process:
        try:
            place = ("127.0.0.1", int(process.stdout.readline()))
            with contextlib.ExitStack() as stack:
                for _ in range(300):
                    one = stack.enter_context(socket.create_connection(place))
                    with contextlib.suppress(ConnectionError):
                        one.sendall(b"GET / HTTP/1.1\r\nX: ")
                assert is_well(place)
        finally:
            process.terminate()
            assert process.wait(20) == 0


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
@pytest.mark.parametrize("token", ["x", "a" * 15, "a" * 15 + "ä", "a" * 16 + "\n"])
def test_a_token_that_can_be_guessed_is_refused(host, token):
    with pytest.raises(DataError, match="16 or more printable"):
        check_token(token, host)
    assert check_token("a" * 16, host) == "a" * 16
    assert check_token(None, "127.0.0.1") is None
    with pytest.raises(DataError, match="needs a token"):
        check_token(None, "0.0.0.0")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends a process at once")
def test_a_signal_to_end_that_comes_before_the_server_is_ready_ends_it():
    run = subprocess.run([sys.executable, "-c", TOLD_EARLY], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout) == (0, "pages are told\nended\n"), run.stderr
