"""`Guard`: it checks every request before anything else looks at it.

A page of another site must not reach a server of ours through the person's browser. So each request needs the token;
its Host must be a name of this server (else a foreign name was made to point here: DNS rebinding); and an Origin must
be the page's own (else it comes from another site). A server may do without one of them: without a token where only
this machine can reach it, and under any name where the token is demanded, since no other site knows it.
"""

import binascii
import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from html import escape
from secrets import compare_digest
from typing import Any
from urllib.parse import parse_qs, urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse

from ._limits import Limits
from .http import Json, refusal

Scope = MutableMapping[str, Any]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; "
    "connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'"
)

#: Sent with every answer.
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}


@dataclass(frozen=True)
class Guard:
    """An ASGI application that passes allowed requests on, and puts safe headers on every answer.

    Each request must know a token: in the address of the page, in a cookie or in a header. Its scope says under
    ``person`` whose it is. Without tokens, every request is allowed. `hosts` are the names of this server; its number
    is always one, because no foreign name can be a number. Without `hosts`, any name is. `without_token` is the status
    of the answer where the token is missing.
    """

    app: Starlette
    limits: Limits
    tokens: Mapping[str, str] | None  # by the person
    hosts: frozenset[str] | None
    advice: Mapping[int, str]
    without_token: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, and pass it on."""
        headers = Headers(scope=scope)
        wrong = self._wrong(scope, headers)
        scope["person"] = person = None if wrong else self._person(scope, headers)

        async def send_safely(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                answer = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    answer.setdefault(name, value)
                if person is not None and self._in_address(scope) == person:
                    name, value = self._cookie(scope, person)
                    answer.append("set-cookie", f"{name}={value}; Path=/; HttpOnly; SameSite=Strict")
            await send(message)

        if wrong is None:
            await self.app(scope, receive, send_safely)
            return
        status, what = wrong
        more = {"www-authenticate": 'Bearer, Basic realm="handful"'} if status == 401 else None
        advice = self.advice.get(status)
        if scope["path"] == "/" and "text/html" in headers.get("accept", ""):  # a person sees it
            await HTMLResponse(_page(what, advice), status, more)(scope, receive, send_safely)
        else:
            await Json({"error": refusal(what, advice)}, status, more)(scope, receive, send_safely)

    def _wrong(self, scope: Scope, headers: Headers) -> tuple[int, str] | None:
        """Return the status and the reason with which a request is refused; None if it is allowed."""
        size = len(scope["query_string"]) + len(scope["path"]) + sum(len(k) + len(v) for k, v in headers.raw)
        if size > self.limits.max_header:
            return 431, f"the headers have more than {self.limits.max_header:,} bytes"
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
        if scope["path"] != "/health" and self.tokens is not None and self._person(scope, headers) is None:
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

    def _person(self, scope: Scope, headers: Headers) -> str | None:
        """Return whose token a request knows, if it knows one; that in the address comes first."""
        if (found := self._in_address(scope)) is not None:
            return found
        given = headers.get("x-handful-token", ""), _authorised(headers.get("authorization", ""))
        cookies = [one.strip() for one in headers.get("cookie", "").split(";")]
        for person, token in (self.tokens or {}).items():
            name, value = self._cookie(scope, person)
            known = [one for one in cookies if one.startswith(f"{name}=")]
            if any(_same(one, token) for one in given) or any(_same(one, f"{name}={value}") for one in known):
                return person
        return None

    def _cookie(self, scope: Scope, person: str) -> tuple[str, str]:
        """Return the name and the value of the cookie that stands for the token of a person.

        Cookies do not know ports, so a browser sends it to every server on this machine. It is not the token, and it is
        good for this port alone.
        """
        port = (scope.get("server") or ("", 0))[1]
        secret = (self.tokens or {})[person].encode()
        return f"handful-{port}", hmac.digest(secret, f"handful cookie of port {port}".encode(), "sha256").hex()

    def _in_address(self, scope: Scope) -> str | None:
        """Return whose token is in the address, where this is a request for the page."""
        if scope["path"] != "/":
            return None
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        return next((person for person, token in (self.tokens or {}).items() if _same(given, token)), None)


def _page(what: str, advice: str | None) -> str:
    said = [one[:1].upper() + one[1:] + "." for one in (what, advice) if one]
    body = "".join(f"<p>{escape(one)}</p>" for one in said)
    return (
        '<!doctype html>\n<html lang="en">\n<head><meta charset="utf-8"><title>handful</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="color-scheme" content="light dark">'
        f"</head>\n<body><main><h1>handful</h1>{body}</main></body>\n</html>\n"
    )


def _same(one: str, other: str) -> bool:
    return compare_digest(one.encode(), other.encode())


def _authorised(header: str) -> str:
    """Return the token in an Authorization header: a bearer's, or the password of a user of any name."""
    kind, _, value = header.partition(" ")
    if kind.lower() == "bearer":
        return value.strip()
    if kind.lower() != "basic":
        return ""
    try:
        return binascii.a2b_base64(value.strip()).decode("utf-8", "replace").partition(":")[2]
    except ValueError:
        return ""
