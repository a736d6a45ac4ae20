"""Bodies that are read up to a limit, and answers in JSON (extra `web`)."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from handful.errors import DataError, HandfulError

from ._limits import Limits

_WORDS = {
    "Not Found": "there is nothing at this address",
    "Method Not Allowed": "this address does not answer to this method",
}
_ADVICE = {413: "send less at once", 429: "try again in 1 second", 503: "try again in 1 second"}


class Json(JSONResponse):
    """An answer in JSON; half of a surrogate pair, which UTF-8 cannot hold, is written by its number."""

    def render(self, content: Any) -> bytes:
        """Return the body."""
        try:
            return super().render(content)
        except UnicodeEncodeError:
            return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


def refusal(error: HandfulError | str, advice: str | None = None) -> dict[str, Any]:
    """Return an error as pages and programs get it."""
    if isinstance(error, HandfulError):
        return {"what": error.message, "advice": None if error.advice is None else error.advice.shell}
    return {"what": error, "advice": advice}


def later(status: int, what: str) -> HTTPException:
    """Return an error that tells a client to come back."""
    return HTTPException(status, what, headers={"retry-after": "1"})


def error_handlers(advice: Mapping[int, str]) -> dict[Any, Any]:
    """Return the handlers of an application: every error is JSON with a status and its advice, never a stack trace."""
    advice = {**_ADVICE, **advice}

    def http(request: Request, error: HTTPException) -> Response:
        what = _WORDS.get(error.detail, error.detail)
        status = error.status_code
        return Json({"error": refusal(what, advice.get(status))}, status, headers=error.headers)

    def fault(request: Request, error: Exception) -> Response:
        return Json({"error": refusal(f"a fault of the server: {type(error).__name__}", advice.get(500))}, 500)

    return {
        HTTPException: http,
        HandfulError: lambda request, error: Json({"error": refusal(error)}, 422),
        TimeoutError: lambda request, _: http(request, later(503, "the answer took too long, and was given up")),
        Exception: fault,
    }


async def read_json(request: Request, limits: Limits) -> dict[str, Any]:
    """Read the body of a request as a JSON object."""
    body = await read_body(request, "application/json", limits.max_bytes, limits.body_timeout)
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise HTTPException(400, "the body is not JSON") from None
    if not isinstance(given, dict):
        raise DataError("the body is not a JSON object")
    return given


async def read_body(request: Request, kind: str, most: int, seconds: float) -> bytes:
    """Read the body of a request, no further than a limit of bytes and no longer than some seconds."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != kind:
        raise HTTPException(415, f"the Content-Type must be {kind}")
    pieces, size = [], 0
    try:
        async with asyncio.timeout(seconds):
            async for piece in request.stream():
                size += len(piece)
                if size > most:
                    raise HTTPException(413, f"at most {most // 1024:,} KiB can be sent at once")
                pieces.append(piece)
    except TimeoutError:
        raise HTTPException(408, f"the body was not there after {seconds:g} seconds") from None
    return b"".join(pieces)
