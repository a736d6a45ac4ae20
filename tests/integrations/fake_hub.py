"""A small hub on loopback: repositories in memory, and the few addresses that huggingface_hub asks for."""

import base64
import hashlib
import json
import re
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote, urlsplit


class FakeHub(ThreadingHTTPServer):
    """Repositories by name, each a dict of branches; a commit is a dict of files, by its hash.

    ``requests`` has the method and the path of all that was asked for.
    """

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.repos, self.commits, self.requests, self.created, self.cards = {}, {}, [], [], []
        self.lock = threading.Lock()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}"

    def files(self, repo, revision="main"):
        return self.commits[self.repos[repo][revision]]

    def commit(self, repo, revision, files):
        sha = hashlib.sha1(repr(sorted(files.items())).encode()).hexdigest()
        self.commits[sha] = files
        self.repos[repo][revision] = sha
        return sha


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def answer(self, status, body=b"", **headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_any(self):
        path = unquote(urlsplit(self.path).path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with self.server.lock:
            self.server.requests.append((self.command, path))
            for pattern, method in ROUTES:
                if found := re.fullmatch(pattern, path):
                    return method(self, body, *found.groups())
        return self.answer(404, {"error": f"nothing at {path}"})

    do_GET = do_POST = do_HEAD = handle_any  # noqa: N815

    def missing(self, what="RepoNotFound"):
        self.answer(404, {"error": what}, X_Error_Code=what, X_Error_Message=what)

    def sha_of(self, repo, revision):
        branches = self.server.repos.get(repo)
        if branches is None:
            self.missing()
            return None
        sha = branches.get(revision, revision if revision in self.server.commits else None)
        if sha is None:
            self.missing("RevisionNotFound")
        return sha

    def create(self, body):
        asked = json.loads(body)
        if self.headers.get("Authorization") != "Bearer hf_good":
            return self.answer(401, {"error": "Invalid username or password."})
        repo = f"{asked['organization']}/{asked['name']}" if asked.get("organization") else f"user/{asked['name']}"
        self.server.created.append(asked)
        if repo in self.server.repos:
            return self.answer(
                409, {"error": "You already created this model repo", "url": f"{self.server.url}/{repo}"}
            )
        self.server.repos[repo] = {}
        self.server.commit(repo, "main", {".gitattributes": b"*.safetensors filter=lfs\n"})
        return self.answer(200, {"url": f"{self.server.url}/{repo}", "id": repo})

    def branch(self, body, repo, name):
        self.server.repos[repo][name] = self.server.repos[repo]["main"]
        self.answer(200, {})

    def validate(self, body):
        self.server.cards.append(json.loads(body)["content"])
        self.answer(200, {"errors": [], "warnings": []})

    def preupload(self, body, repo, revision):
        files = [
            {"path": one["path"], "uploadMode": "regular", "shouldIgnore": False} for one in json.loads(body)["files"]
        ]
        self.answer(200, {"files": files})

    def push(self, body, repo, revision):
        files = dict(self.server.files(repo, revision))
        for line in body.splitlines():
            one = json.loads(line)
            value = one["value"]
            if one["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif one["key"] == "deletedFile":
                del files[value["path"]]
        sha = self.server.commit(repo, revision, files)
        self.answer(200, {"commitOid": sha, "commitUrl": f"{self.server.url}/{repo}/commit/{sha}", "success": True})

    def info(self, body, repo, revision="main"):
        if (sha := self.sha_of(repo, revision)) is not None:
            siblings = [{"rfilename": path} for path in self.server.commits[sha]]
            self.answer(
                200, {"id": repo, "modelId": repo, "sha": sha, "siblings": siblings, "private": False, "tags": []}
            )

    def tree(self, body, repo, revision):
        if (sha := self.sha_of(repo, revision)) is not None:
            files = self.server.commits[sha].items()
            found = [{"type": "file", "path": p, "size": len(c), "oid": hashlib.sha1(c).hexdigest()} for p, c in files]
            self.answer(200, found)

    def resolve(self, body, repo, revision, path):
        if (sha := self.sha_of(repo, revision)) is not None:
            content = self.server.commits[sha].get(path)
            if content is None:
                return self.missing("EntryNotFound")
            etag = f'"{hashlib.sha1(content).hexdigest()}"'
            self.answer(200, content, ETag=etag, X_Repo_Commit=sha)
        return None


NAME = r"([^/]+/[^/]+)"
ROUTES = [
    (r"/api/repos/create", Handler.create),
    (r"/api/validate-yaml", Handler.validate),
    (rf"/api/models/{NAME}/branch/([^/]+)", Handler.branch),
    (rf"/api/models/{NAME}/preupload/([^/]+)", Handler.preupload),
    (rf"/api/models/{NAME}/commit/([^/]+)", Handler.push),
    (rf"/api/models/{NAME}/revision/([^/]+)", Handler.info),
    (rf"/api/models/{NAME}/tree/([^/]+)", Handler.tree),
    (rf"/api/models/{NAME}", Handler.info),
    (rf"/{NAME}/resolve/([^/]+)/(.+)", Handler.resolve),
]


@contextmanager
def running():
    """Run a hub on a port of its own."""
    hub = FakeHub()
    thread = threading.Thread(target=hub.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield hub
    finally:
        hub.shutdown()
        thread.join()
        hub.server_close()
