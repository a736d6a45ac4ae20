"""A workbench on a toy encoder, served as it is for people."""

import socket
import threading
from types import SimpleNamespace

import pytest

from .made import make_project, make_session

TOKEN = "a-token-of-the-tests"


@pytest.fixture
def served(tmp_path):
    """Serve a project on a free port; the client knows the token."""
    httpx = pytest.importorskip("httpx")
    uvicorn = pytest.importorskip("uvicorn")
    from handful.workbench._server import make_server

    listening = socket.socket()
    listening.bind(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    with make_project(tmp_path / "p.db") as project, make_session(project) as session:
        app = make_server(session, TOKEN, frozenset({"localhost"}))
        config = uvicorn.Config(app, log_level="warning", lifespan="off", timeout_graceful_shutdown=1)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        url = f"http://127.0.0.1:{port}"
        with httpx.Client(base_url=url, headers={"X-Handful-Token": TOKEN}, timeout=60, trust_env=False) as client:
            yield SimpleNamespace(
                client=client, session=session, project=project, url=url, port=port, token=TOKEN, httpx=httpx
            )
        server.should_exit = True
        thread.join()
    listening.close()
