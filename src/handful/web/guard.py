"""`Guard`: what every request must have before anything else looks at it.

A page of another site must not reach a server of ours through the person's browser. So each request needs the token;
its Host must be a name of this server (else a foreign name was made to point here: DNS rebinding); and an Origin must
be the page's own (else it comes from another site). A server may do without one of them: without a token where only
this machine can reach it, and under any name where the token is demanded, since no other site knows it.
"""

import binascii
import ipaddress
import json
from collections.abc import Awaitable, Callable, MutableMapping
from hashlib import sha256
from http.cookies import CookieError, SimpleCookie
from secrets import compare_digest
from typing import Any
from urllib.parse import parse_qs, urlsplit

__all__ = ["HEADERS", "Guard", "refusal"]

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)

#: Sent with every answer.
HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


class Guard:
    """An ASGI application that lets through what is allowed, and puts safe headers on every answer.

    Parameters
    ----------
    app : the application inside
    token : what each request must know, in the address of the page, in a cookie or in a header; None, nothing
    hosts : names of this server, besides numbers, which no foreign name can be; None, any name
    advice : what to do where a request is refused
    without_token : the status of an answer to a request that does not know the token
    is_open : paths that need no token
    """

    def __init__(
        self,
        app: Any,
        token: str | None,
        hosts: frozenset[str] | None,
        *,
        advice: str = "open the address that handful label printed",
        without_token: int = 403,
        is_open: frozenset[str] = frozenset(),
    ) -> None:
        self.app = app
        self.token = token
        self.hosts = hosts
        self.advice = advice
        self.without_token = without_token
        self.is_open = is_open
        number = sha256((token or "").encode()).hexdigest()[:12]
        self.cookie = f"handful-{number}"  # ports share cookies: one name for each

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and pass it on."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # there are no web sockets here
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        wrong = self.wrong(scope, headers)

        async def send_safely(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                given = {name.lower() for name, _ in message.get("headers", [])}
                more = [(k.encode(), v.encode()) for k, v in HEADERS.items() if k.encode() not in given]
                if wrong is None and self._in_address(scope):
                    value = f"{self.cookie}={self.token}; Path=/; HttpOnly; SameSite=Strict"
                    more.append((b"set-cookie", value.encode()))
                message = {**message, "headers": [*message.get("headers", []), *more]}
            await send(message)

        if wrong is None:
            await self.app(scope, receive, send_safely)
        else:
            await _answer(send_safely, *wrong, self.advice)

    def wrong(self, scope: Scope, headers: dict[str, str]) -> tuple[int, str] | None:
        """Return what is wrong with a request: the status, and what it is; None if nothing is."""
        host = headers.get("host", "")
        if not self._is_own(host):
            return 421, f"this server is not called {host[:100]!r}"
        origin = headers.get("origin")
        schemes = ("http", "https") if self.hosts is None else (scope.get("scheme", "http"),)  # a proxy may encrypt
        if origin is not None and origin not in [f"{scheme}://{host}" for scheme in schemes]:
            return 403, "the request comes from another site"
        is_page = scope["path"] == "/" and scope["method"] in ("GET", "HEAD")
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and not is_page:
            return 403, "the request comes from another site"
        if scope["path"] not in self.is_open and not self._knows_token(scope, headers):
            return self.without_token, "the token is missing or wrong"
        return None

    def _is_own(self, host: str) -> bool:
        try:
            parts = urlsplit(f"//{host}")
            name, _ = parts.hostname or "", parts.port
        except ValueError:
            return False
        if parts.netloc != host or "@" in host or parts.path or parts.query or parts.fragment:
            return False
        if self.hosts is None or name in self.hosts:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _knows_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        if self.token is None or self._in_address(scope):
            return True
        token = self.token
        given = [headers.get("x-handful-token", ""), _authorised(headers.get("authorization", ""))]
        try:
            cookies = SimpleCookie(headers.get("cookie", ""))
        except CookieError:
            cookies = SimpleCookie()
        if self.cookie in cookies:
            given.append(cookies[self.cookie].value)
        return any(compare_digest(one.encode(), token.encode()) for one in given)

    def _in_address(self, scope: Scope) -> bool:
        """Whether this is a request for the page, with the token in its address."""
        if scope["path"] != "/" or self.token is None:
            return False
        given = parse_qs(scope.get("query_string", b"").decode("latin-1")).get("token", [""])[0]
        return compare_digest(given.encode(), self.token.encode())


def _authorised(header: str) -> str:
    """Return the token in an Authorization header: a bearer's, or the password of a user of any name."""
    kind, _, value = header.partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    if kind.lower() == "basic":
        try:
            return binascii.a2b_base64(value.strip()).decode("utf-8", "replace").partition(":")[2]
        except (ValueError, binascii.Error):
            return ""
    return ""


def refusal(what: str, advice: str | None) -> dict[str, Any]:
    """Return an error as pages know it."""
    return {"error": {"what": what, "advice": advice}}


async def _answer(send: Send, status: int, what: str, advice: str) -> None:
    body = json.dumps(refusal(what, advice)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if status == 401:
        headers.append((b"www-authenticate", b'Bearer, Basic realm="handful"'))
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
