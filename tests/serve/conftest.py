"""Servers on loopback, with toy encoders."""

import contextlib
import threading
from types import SimpleNamespace

import pytest

from handful.serve import Limits

from .made import fitted

TOKEN = "a-token-of-the-tests"


@contextlib.contextmanager
def serving(models, *, token=None, limits=None, label_studio=False, store=None, hosts=frozenset({"localhost"})):
    """Serve models on a free port."""
    httpx = pytest.importorskip("httpx")
    pytest.importorskip("uvicorn")
    from handful.serve._label_studio import Backend
    from handful.serve._server import Service, make_server
    from handful.web.connection import Server
    from handful.web.server import listen

    limits = limits or Limits()

    with listen("127.0.0.1", 0, 0) as listening:
        url = f"http://127.0.0.1:{listening.getsockname()[1]}"
        service = Service(models, limits)
        backend = Backend(service, store) if label_studio else None
        app = make_server(service, token, hosts, more_routes=backend.routes() if backend else ())
        server = Server(app, limits)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            with httpx.Client(base_url=url, timeout=30, trust_env=False) as client:
                yield SimpleNamespace(
                    client=client, url=url, service=service, backend=backend, server=server, httpx=httpx
                )
        finally:
            server.should_exit = True
            thread.join()
            service.batches.stop()
            if backend is not None:
                backend.stop()


@pytest.fixture(scope="module")
def served():
    """Serve two models without a token."""
    with serving({"people": fitted(), "gods": fitted({"GOD": "G gods"})}) as found:
        yield found
