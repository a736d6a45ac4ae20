"""A project on a toy encoder, its server, and ways to wait for its session."""

import threading
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from handful.text import Document, types_of
from handful.workbench import Project, Session
from tagger.toy import NamedEncoder

TOKEN = "a-token-of-the-tests"
TYPES = {"PER": "P people", "LOC": "L places"}
TEXTS = [
    "Then Pia saw Leeds again .",
    "a dog and a cat sat there .",
    "We met Pablo near Lagos , not far from Lyon . Nothing else is known of her .",
    "Pat and Pam wrote to us from Lille .",
    "Then Pia saw Leeds again .",
    "the Peter of Lima sleeps all day",
    "Paul went to London with me",
    "on to Lima , and home",
    "who is Paula ?",
]


def make_project(path, texts=TEXTS, types=TYPES):
    project = Project(path, "anna")
    project.add(map(Document.of, texts), lambda: types_of(types))
    return project


def make_session(project, **options):
    return Session(project, options.pop("encoder", None) or NamedEncoder(), cache=False, **options)


@contextmanager
def serving(path, texts=TEXTS, types=TYPES, **options):
    """Serve a project on a free port; the client knows the token."""
    httpx = pytest.importorskip("httpx")
    pytest.importorskip("uvicorn")
    from handful.web.connection import Server
    from handful.web.server import listen
    from handful.workbench._server import LIMITS, make_server

    listening = listen("127.0.0.1", 0, 0)
    port = listening.getsockname()[1]
    with make_project(path, texts, types) as project, make_session(project, **options) as session:
        tokens = session.people.tokens(TOKEN) if session.people else {"": TOKEN}
        app = make_server(session, tokens, frozenset({"localhost"}))
        server = Server(app, LIMITS)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        url = f"http://127.0.0.1:{port}"
        headers = {"X-Handful-Token": next(iter(tokens.values()))}
        try:
            with httpx.Client(base_url=url, headers=headers, timeout=60, trust_env=False) as client:
                about = {"client": client, "session": session, "project": project, "url": url, "port": port}
                yield SimpleNamespace(**about, token=tokens.get(""), tokens=tokens, httpx=httpx)
        finally:
            session.stop()  # pages no longer listen
            server.should_exit = True
            thread.join()
    listening.close()


def settled(session):
    """Wait until the worker has nothing left to do, and return the session."""
    done = threading.Event()
    while True:
        with session._awake:
            if session._next_step() is None and session.status == "idle" and session.learner is not None:
                return session
        assert session._thread.is_alive(), session.error
        done.wait(0.01)
